/* Threads that leave signals to the event loop. */
#ifndef COORDINATOR_STORE_THREAD_H
#define COORDINATOR_STORE_THREAD_H

#include <pthread.h>

#include "common/base/err.h"

/* what: for the message. All signals are blocked in the new thread. */
int thread_start(
	pthread_t *ret, void *(*run)(void *arg), void *arg, const char *what, struct err *e);
/* A condition variable whose timed waits use CLOCK_MONOTONIC. */
void thread_cond_init(pthread_cond_t *c);
/* Waits ms at most; the lock is held. 0: signalled (or woken for nothing), 1: the time is over. */
int thread_cond_wait_ms(pthread_cond_t *c, pthread_mutex_t *lock, unsigned ms);

#endif
