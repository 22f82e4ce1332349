/* One thread beside the loop. Owns struct background while its work is under way. */
#include "coordinator/background.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/base/mem.h"

struct background {
	struct coordinator *co;
	pthread_t thread;
	int fd; /* readable when the work is done */
	struct event *ready;
	void (*work)(void *arg);
	void (*done)(void *arg);
	void *arg;
};

static void *thread_main(void *arg)
{
	struct background *b = arg;

	b->work(b->arg);
	(void)eventfd_write(b->fd, 1);
	return NULL;
}

void background_finish(struct coordinator *co)
{
	struct background *b = co->background;

	if (!b)
		return;
	pthread_join(b->thread, NULL);
	co->background = NULL;
	event_free(b->ready);
	close(b->fd);
	b->done(b->arg);
	free(b);
}

static void on_ready(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	background_finish(arg);
}

/* Signals are the loop's: the thread starts with all of them blocked. */
static int start_thread(struct background *b)
{
	sigset_t all, old;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&b->thread, NULL, thread_main, b);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return r;
}

int background_start(struct coordinator *co, void (*work)(void *arg), void (*done)(void *arg),
	void *arg, struct err *e)
{
	struct background *b;
	int r;

	if (co->background)
		return err_set(e, ERR_BUSY, "a backup or check is under way; try again when it is done");
	b = xcalloc(1, sizeof(*b));
	b->co = co;
	b->work = work;
	b->done = done;
	b->arg = arg;
	b->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (b->fd < 0) {
		err_sys(e, "eventfd");
		free(b);
		return -1;
	}
	b->ready = event_new(co->base, b->fd, EV_READ, on_ready, co);
	event_add(b->ready, NULL);
	r = start_thread(b);
	if (r) {
		event_free(b->ready);
		close(b->fd);
		free(b);
		return err_set(e, ERR_FULL, "can't start a thread: %s", strerror(r));
	}
	co->background = b;
	return 0;
}
