/*
 * The write thread. Owns the only write connection, the queue of operations and the list of those
 * whose answers are due.
 * Invariant: an operation is on exactly one of queue, group, done; it reaches done only after the
 * COMMIT of its group returned without error.
 */
#include "coordinator/store/writer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/store/thread.h"

#define GROUP_OPS_MAX 4096
#define GROUP_BYTES_MAX (16 * 1024 * 1024)
#define BACKOFF_FIRST_MS 100
#define BACKOFF_LAST_MS 5000
/* Above this the WAL is brought in by the writer itself: a checkpoint beside a busy writer never
 * reaches the end, and the file would grow without end. */
#define WAL_PAGES_MAX 16384

struct op_list {
	struct op *first, **end;
	size_t n, bytes;
};
struct writer {
	struct write_ctx ctx;
	struct event *wake;
	int wake_fd;
	void (*after_commit)(void *arg, int wal_pages);
	void *arg;
	int wal_pages;
	struct log_limit stall_limit;
	pthread_t thread;
	pthread_mutex_t lock; /* guards everything below */
	pthread_cond_t work;
	struct op_list queue, done;
	int closing;
	struct err why; /* it stalls */
	atomic_int stalled;
};

static void list_init(struct op_list *l)
{
	*l = (struct op_list){0};
	l->end = &l->first;
}

static void list_add(struct op_list *l, struct op *op)
{
	op->next = NULL;
	*l->end = op;
	l->end = &op->next;
	l->n++;
	l->bytes += op->bytes;
}

static struct op *list_pop(struct op_list *l)
{
	struct op *op = l->first;

	if (!op)
		return NULL;
	l->first = op->next;
	if (!l->first)
		l->end = &l->first;
	l->n--;
	l->bytes -= op->bytes;
	return op;
}

static void op_free(struct op *op)
{
	free(op->refused);
	if (op->kind->free)
		op->kind->free(op);
	else
		free(op);
}

static void list_free(struct op_list *l)
{
	struct op *op;

	while ((op = list_pop(l)))
		op_free(op);
}

/* -1: the transaction is lost and the whole group must be tried again. */
static int apply_one(struct writer *w, struct op *op, struct err *e)
{
	struct db *db = w->ctx.db;
	int failed;

	free(op->refused);
	op->refused = NULL;
	if (DB_RUN(db, e, "SAVEPOINT op") != 0)
		return -1;
	failed = op->kind->apply(op, &w->ctx, e) != 0;
	if (failed) {
		if (db_failed_hard(db) || sqlite3_get_autocommit(db_handle(db)))
			return -1;
		op->refused = xmemdup(e, sizeof(*e));
		if (DB_RUN(db, e, "ROLLBACK TO op") != 0)
			return -1;
	}
	return DB_RUN(db, e, "RELEASE op");
}

static int commit_group(struct writer *w, struct op_list *group, struct err *e)
{
	struct db *db = w->ctx.db;

	w->ctx.now_ns = clock_wall_ns();
	if (DB_RUN(db, e, "BEGIN IMMEDIATE") != 0)
		return -1;
	for (struct op *op = group->first; op; op = op->next)
		if (apply_one(w, op, e) != 0)
			goto lost;
	if (DB_RUN(db, e, "COMMIT") == 0)
		return 0;
lost:
	if (!sqlite3_get_autocommit(db_handle(db)))
		sqlite3_exec(db_handle(db), "ROLLBACK", NULL, NULL, NULL);
	return -1;
}

static void take_group(struct writer *w, struct op_list *group)
{
	list_init(group);
	while (w->queue.first && group->n < GROUP_OPS_MAX &&
		(group->n == 0 || group->bytes + w->queue.first->bytes <= GROUP_BYTES_MAX))
		list_add(group, list_pop(&w->queue));
}

static void say_stalled(struct writer *w, size_t n, const struct err *e)
{
	unsigned silent;

	if (log_limit_pass(&w->stall_limit, &silent))
		log_error("store",
			"%s (nothing is lost and no more data is asked for; waiting: %zu)", e->text,
			n);
}

static void set_stalled(struct writer *w, const struct err *why)
{
	pthread_mutex_lock(&w->lock);
	err_copy(&w->why, why);
	pthread_mutex_unlock(&w->lock);
	atomic_store(&w->stalled, 1);
}

/* Sleeps ms; returns early with 1 when the store closes. Each new operation wakes it for nothing.
 */
static int back_off(struct writer *w, unsigned ms)
{
	int64_t until = clock_mono_ns() + ms * NS_PER_MS;
	int closing;

	pthread_mutex_lock(&w->lock);
	while (!w->closing) {
		int64_t left = until - clock_mono_ns();

		if (left <= 0 ||
			thread_cond_wait_ms(&w->work, &w->lock, (unsigned)(left / NS_PER_MS) + 1))
			break;
	}
	closing = w->closing;
	pthread_mutex_unlock(&w->lock);
	return closing;
}

/* 0 when the group is durable, -1 when the store closes and it could not be made so. */
static int commit_with_patience(struct writer *w, struct op_list *group)
{
	unsigned ms = BACKOFF_FIRST_MS;
	struct err e = {0};

	while (commit_group(w, group, &e) != 0) {
		int closing;

		set_stalled(w, &e);
		say_stalled(w, group->n, &e);
		closing = back_off(w, ms);
		ms = ms * 2 < BACKOFF_LAST_MS ? ms * 2 : BACKOFF_LAST_MS;
		if (closing && commit_group(w, group, &e) != 0) {
			log_error("store", "closed, not stored and not acknowledged: %zu: %s",
				group->n, e.text);
			return -1;
		}
		if (closing)
			break;
	}
	if (atomic_exchange(&w->stalled, 0))
		log_info("store", "works again; what waited is stored");
	return 0;
}

static void tend_wal(struct writer *w)
{
	if (w->wal_pages > WAL_PAGES_MAX)
		sqlite3_wal_checkpoint_v2(
			db_handle(w->ctx.db), NULL, SQLITE_CHECKPOINT_FULL, NULL, NULL);
	else if (w->after_commit)
		w->after_commit(w->arg, w->wal_pages);
}

static void hand_back(struct writer *w, struct op_list *group)
{
	struct op *op;

	for (op = group->first; op; op = op->next)
		if (op->kind->committed)
			op->kind->committed(op);
	pthread_mutex_lock(&w->lock);
	while ((op = list_pop(group)))
		list_add(&w->done, op);
	pthread_mutex_unlock(&w->lock);
	eventfd_write(w->wake_fd, 1);
}

static void *write_thread(void *arg)
{
	struct writer *w = arg;
	struct op_list group;

	for (;;) {
		pthread_mutex_lock(&w->lock);
		while (!w->queue.first && !w->closing)
			pthread_cond_wait(&w->work, &w->lock);
		take_group(w, &group);
		pthread_mutex_unlock(&w->lock);
		if (!group.first)
			return NULL;
		if (commit_with_patience(w, &group) != 0) {
			list_free(&group);
			return NULL;
		}
		hand_back(w, &group);
		tend_wal(w);
	}
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
	struct writer *w = arg;
	struct op_list due;
	struct op *op;
	eventfd_t count;

	(void)what;
	eventfd_read(fd, &count);
	list_init(&due);
	pthread_mutex_lock(&w->lock);
	while ((op = list_pop(&w->done)))
		list_add(&due, op);
	pthread_mutex_unlock(&w->lock);
	while ((op = list_pop(&due))) {
		if (op->kind->deliver)
			op->kind->deliver(op, op->refused);
		op_free(op);
	}
}

static int on_wal(void *arg, sqlite3 *handle, const char *name, int pages)
{
	struct writer *w = arg;

	(void)handle;
	(void)name;
	w->wal_pages = pages;
	return SQLITE_OK;
}

static void writer_free(struct writer *w)
{
	list_free(&w->queue);
	list_free(&w->done);
	if (w->wake)
		event_free(w->wake);
	if (w->wake_fd >= 0)
		close(w->wake_fd);
	db_close(w->ctx.db);
	pthread_cond_destroy(&w->work);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

static struct writer *writer_new(struct db *db, const char *epoch)
{
	struct writer *w = xcalloc(1, sizeof(*w));

	w->ctx.db = db;
	w->ctx.epoch = epoch;
	w->stall_limit = (struct log_limit){.burst = 1, .window_ms = 60 * 1000};
	list_init(&w->queue);
	list_init(&w->done);
	pthread_mutex_init(&w->lock, NULL);
	thread_cond_init(&w->work);
	return w;
}

int writer_start(struct db *db, const char *epoch, struct event_base *base,
	void (*after_commit)(void *arg, int wal_pages), void *arg, struct writer **ret,
	struct err *e)
{
	struct writer *w = writer_new(db, epoch);

	w->after_commit = after_commit;
	w->arg = arg;
	sqlite3_wal_hook(db_handle(db), on_wal, w);
	w->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (w->wake_fd < 0) {
		err_sys(e, "store: eventfd");
		goto fail;
	}
	w->wake = event_new(base, w->wake_fd, EV_READ | EV_PERSIST, on_wake, w);
	if (!w->wake || event_add(w->wake, NULL) != 0) {
		err_set(e, ERR_FAILED, "store: the event loop takes no more events");
		goto fail;
	}
	if (thread_start(&w->thread, write_thread, w, "write", e) != 0)
		goto fail;
	*ret = w;
	return 0;
fail:
	w->ctx.db = NULL;
	writer_free(w);
	return -1;
}

void writer_submit(struct writer *w, struct op *op)
{
	pthread_mutex_lock(&w->lock);
	list_add(&w->queue, op);
	pthread_cond_signal(&w->work);
	pthread_mutex_unlock(&w->lock);
}

int writer_is_stalled(const struct writer *w)
{
	return atomic_load(&w->stalled);
}

int writer_trouble(struct writer *w, struct err *ret)
{
	if (!writer_is_stalled(w))
		return 0;
	pthread_mutex_lock(&w->lock);
	err_copy(ret, &w->why);
	pthread_mutex_unlock(&w->lock);
	return 1;
}

void writer_stop(struct writer *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->closing = 1;
	pthread_cond_signal(&w->work);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	writer_free(w);
}
