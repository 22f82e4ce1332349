/*
 * Starting threads. Owns nothing.
 * Invariant: a thread started here never runs a signal handler.
 */
#include "coordinator/store/thread.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

int thread_start(
	pthread_t *ret, void *(*run)(void *arg), void *arg, const char *what, struct err *e)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(ret, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc == 0)
		return 0;
	errno = rc;
	return err_sys(e, "store: cannot start the %s thread", what);
}

void thread_cond_init(pthread_cond_t *c)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(c, &attr);
	pthread_condattr_destroy(&attr);
}

int thread_cond_wait_ms(pthread_cond_t *c, pthread_mutex_t *lock, unsigned ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	return pthread_cond_timedwait(c, lock, &until) == ETIMEDOUT;
}
