/*
 * The write thread: groups of operations in one transaction each, answers on the event loop.
 *
 * An operation is made on the loop's thread, applied in the write thread (again from the start when
 * its group had to be rolled back), and delivered on the loop's thread after the commit.
 */
#ifndef COORDINATOR_STORE_WRITER_H
#define COORDINATOR_STORE_WRITER_H

#include <event2/event.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "coordinator/store/db.h"

struct write_ctx {
	struct db *db;
	const char *epoch;
	int64_t now_ns; /* wall clock of the group */
};
struct op;
struct write_kind {
	const char *name;
	/* Inside a savepoint. -1: this operation alone is rolled back, its callback gets e. May run
	 * more than once: outputs are set anew each time, inputs stay. */
	int (*apply)(struct op *op, struct write_ctx *w, struct err *e);
	/* Write thread, once, after the commit: memory that delivery does not need. May be NULL. */
	void (*committed)(struct op *op);
	/* e NULL: durable. May be NULL. */
	void (*deliver)(struct op *op, const struct err *e);
	void (*free)(struct op *op); /* NULL: plain free() */
};
struct op {
	const struct write_kind *kind;
	struct op *next;
	size_t bytes;        /* payload, for the size of a group */
	struct err *refused; /* set by the writer when apply failed */
};

struct writer;
/* Takes db over. Starts the thread; callbacks run on base's loop. after_commit (write thread) is
 * told how many pages the WAL has now. */
int writer_start(struct db *db, const char *epoch, struct event_base *base,
	void (*after_commit)(void *arg, int wal_pages), void *arg, struct writer **ret,
	struct err *e);
void writer_submit(struct writer *w, struct op *op);
int writer_is_stalled(const struct writer *w);
/* 1 and *ret, why, while it is stalled; else 0. */
int writer_trouble(struct writer *w, struct err *ret);
/* Commits what is queued (one try), stops, frees; nothing is delivered any more. */
void writer_stop(struct writer *w);

#endif
