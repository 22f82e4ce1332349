/*
 * The reader threads. Owns their connections and all readings.
 * Invariant: a reading is in exactly one place: waiting for a thread, with a thread, on its way to
 * the loop, or parked by its receiver; only the last two are touched by the loop.
 */
#include "coordinator/store/reader.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "coordinator/store/query.h"
#include "coordinator/store/series.h"
#include "coordinator/store/thread.h"

#define READER_THREADS 2

struct store_reading {
	TAILQ_ENTRY(store_reading) place;
	struct readers *readers;
	struct query query;
	store_chunk chunk;
	void *arg;
	struct buf out;
	struct err err;
	int more;                                    /* of the last step */
	int parked, cancelled, in_callback, resumed; /* loop only */
};
TAILQ_HEAD(reading_list, store_reading);

struct series_want {
	STAILQ_ENTRY(series_want) place;
	struct series_key key;
};
STAILQ_HEAD(want_list, series_want);

struct reader_thread {
	struct readers *readers;
	struct db *db;
	pthread_t thread;
	int started;
};
struct readers {
	struct writer *writer;
	struct event *wake;
	int wake_fd;
	struct log_limit limit; /* under lock */
	struct reader_thread threads[READER_THREADS];
	struct reading_list parked; /* loop only */
	pthread_mutex_t lock;       /* guards everything below */
	pthread_cond_t work;
	struct reading_list waiting, due;
	struct want_list series;
	int closing;
};

static void reading_free(struct store_reading *g)
{
	query_clear(&g->query);
	buf_free(&g->out);
	free(g);
}

static void hand_to_thread(struct store_reading *g)
{
	struct readers *r = g->readers;

	pthread_mutex_lock(&r->lock);
	TAILQ_INSERT_TAIL(&r->waiting, g, place);
	pthread_cond_signal(&r->work);
	pthread_mutex_unlock(&r->lock);
}

static void hand_to_loop(struct store_reading *g)
{
	struct readers *r = g->readers;

	pthread_mutex_lock(&r->lock);
	TAILQ_INSERT_TAIL(&r->due, g, place);
	pthread_mutex_unlock(&r->lock);
	eventfd_write(r->wake_fd, 1);
}

static void make_series(struct reader_thread *t, const struct series_key *key)
{
	struct readers *r = t->readers;
	struct err e = {0};
	unsigned silent;
	int pass;

	if (series_make(t->db, r->writer, key, &e) == 0)
		return;
	pthread_mutex_lock(&r->lock);
	pass = log_limit_pass(&r->limit, &silent);
	pthread_mutex_unlock(&r->lock);
	if (pass)
		log_warning("store",
			"job %llu, attempt %u, trial %u: no series yet, it is made at the "
			"next start: %s",
			(unsigned long long)key->job, key->attempt, key->trial, e.text);
}

static void *reader_main(void *arg)
{
	struct reader_thread *t = arg;
	struct readers *r = t->readers;

	pthread_mutex_lock(&r->lock);
	while (!r->closing) {
		struct store_reading *g = TAILQ_FIRST(&r->waiting);
		struct series_want *s = STAILQ_FIRST(&r->series);

		if (g) {
			TAILQ_REMOVE(&r->waiting, g, place);
			pthread_mutex_unlock(&r->lock);
			buf_reset(&g->out);
			g->more = query_step(&g->query, t->db, &g->out, &g->err);
			hand_to_loop(g);
			pthread_mutex_lock(&r->lock);
		} else if (s) {
			STAILQ_REMOVE_HEAD(&r->series, place);
			pthread_mutex_unlock(&r->lock);
			make_series(t, &s->key);
			free(s);
			pthread_mutex_lock(&r->lock);
		} else {
			pthread_cond_wait(&r->work, &r->lock);
		}
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

/* Gives one chunk to its receiver; the reading goes on, is parked, or is freed. */
static void deliver(struct store_reading *g)
{
	int ended = g->more <= 0, rc;

	if (g->cancelled) {
		reading_free(g);
		return;
	}
	g->in_callback = 1;
	rc = g->chunk(g->arg, buf_str(&g->out), g->out.len, ended, g->more < 0 ? &g->err : NULL);
	g->in_callback = 0;
	if (ended || rc < 0 || g->cancelled) {
		reading_free(g);
	} else if (rc == 0 || g->resumed) {
		g->resumed = 0;
		hand_to_thread(g);
	} else {
		g->parked = 1;
		TAILQ_INSERT_TAIL(&g->readers->parked, g, place);
	}
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
	struct readers *r = arg;
	struct reading_list due = TAILQ_HEAD_INITIALIZER(due);
	struct store_reading *g;
	eventfd_t count;

	(void)what;
	eventfd_read(fd, &count);
	pthread_mutex_lock(&r->lock);
	TAILQ_CONCAT(&due, &r->due, place);
	pthread_mutex_unlock(&r->lock);
	while ((g = TAILQ_FIRST(&due))) {
		TAILQ_REMOVE(&due, g, place);
		deliver(g);
	}
}

struct store_reading *readers_query(
	struct readers *r, enum store_query q, const char *target, store_chunk chunk, void *arg)
{
	struct store_reading *g = xcalloc(1, sizeof(*g));

	g->readers = r;
	g->chunk = chunk;
	g->arg = arg;
	query_init(&g->query, q, target);
	hand_to_thread(g);
	return g;
}

void store_query_resume(struct store_reading *g)
{
	if (g->in_callback) {
		g->resumed = 1;
	} else if (g->parked) {
		g->parked = 0;
		TAILQ_REMOVE(&g->readers->parked, g, place);
		hand_to_thread(g);
	}
}

void store_query_cancel(struct store_reading *g)
{
	g->cancelled = 1;
	if (!g->parked)
		return;
	TAILQ_REMOVE(&g->readers->parked, g, place);
	reading_free(g);
}

void readers_want_series(struct readers *r, const struct job_key *key, uint32_t trial)
{
	struct series_want *s = xcalloc(1, sizeof(*s));

	s->key = (struct series_key){key->job, key->attempt, trial};
	pthread_mutex_lock(&r->lock);
	STAILQ_INSERT_TAIL(&r->series, s, place);
	pthread_cond_signal(&r->work);
	pthread_mutex_unlock(&r->lock);
}

static void free_list(struct reading_list *l)
{
	struct store_reading *g;

	while ((g = TAILQ_FIRST(l))) {
		TAILQ_REMOVE(l, g, place);
		reading_free(g);
	}
}

void readers_stop(struct readers *r)
{
	struct series_want *s;

	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->closing = 1;
	pthread_cond_broadcast(&r->work);
	pthread_mutex_unlock(&r->lock);
	for (size_t i = 0; i < READER_THREADS; i++) {
		if (r->threads[i].started)
			pthread_join(r->threads[i].thread, NULL);
		db_close(r->threads[i].db);
	}
	free_list(&r->waiting);
	free_list(&r->due);
	free_list(&r->parked);
	while ((s = STAILQ_FIRST(&r->series))) {
		STAILQ_REMOVE_HEAD(&r->series, place);
		free(s);
	}
	if (r->wake)
		event_free(r->wake);
	if (r->wake_fd >= 0)
		close(r->wake_fd);
	pthread_cond_destroy(&r->work);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static int start_threads(struct readers *r, const char *path, struct err *e)
{
	for (size_t i = 0; i < READER_THREADS; i++) {
		struct reader_thread *t = &r->threads[i];

		t->readers = r;
		if (db_open(path, DB_READ, &t->db, e) != 0 ||
			thread_start(&t->thread, reader_main, t, "reader", e) != 0)
			return -1;
		db_set_wait(t->db, 5000);
		t->started = 1;
	}
	return 0;
}

int readers_start(const char *path, struct event_base *base, struct writer *writer,
	struct readers **ret, struct err *e)
{
	struct readers *r = xcalloc(1, sizeof(*r));

	r->writer = writer;
	r->limit = (struct log_limit){.burst = 3, .window_ms = 60 * 1000};
	TAILQ_INIT(&r->parked);
	TAILQ_INIT(&r->waiting);
	TAILQ_INIT(&r->due);
	STAILQ_INIT(&r->series);
	pthread_mutex_init(&r->lock, NULL);
	thread_cond_init(&r->work);
	r->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (r->wake_fd < 0) {
		err_sys(e, "store: eventfd");
		goto fail;
	}
	r->wake = event_new(base, r->wake_fd, EV_READ | EV_PERSIST, on_wake, r);
	if (!r->wake || event_add(r->wake, NULL) != 0) {
		err_set(e, ERR_FAILED, "store: the event loop takes no more events");
		goto fail;
	}
	if (start_threads(r, path, e) != 0)
		goto fail;
	*ret = r;
	return 0;
fail:
	readers_stop(r);
	return -1;
}
