/*
 * One thread of a random trial: picks blocks, moves them, counts. How blocks are moved is the
 * engine's: one at a time (random_thread.c), or several under way (random_uring.c).
 *
 * With a rate, operation k of a thread is due at start + k / rate whether or not earlier ones are
 * done, and its latency counts from there.
 */
#ifndef AGENT_WORKLOAD_RANDOM_THREAD_H
#define AGENT_WORKLOAD_RANDOM_THREAD_H

#include <pthread.h>
#include <stdatomic.h>

#include "agent/workload/meter.h"
#include "agent/workload/random_files.h"
#include "agent/workload/random_pick.h"
#include "agent/workload/uring.h"

enum { RANDOM_LANE_READ, RANDOM_LANE_WRITE, RANDOM_LANES };

struct random_thread {
	/* set before the start */
	const struct work_random *w;
	struct random_files *files;
	struct picker picker;     /* of blocks */
	struct picker chance;     /* of read or write, and of contents */
	uint64_t reads_below;     /* a draw of 64 bits below it is a read; UINT64_MAX: all are */
	struct meter *meter;      /* learns when the thread has ended */
	struct meter_lane *lanes; /* RANDOM_LANES of them */
	atomic_int *stop;         /* set by the first thread that fails */
	char *buffers;            /* depth blocks, each at a multiple of `stride` */
	size_t stride;
	uint64_t ops_left;        /* UINT64_MAX: the end is a time, or the picker's */
	int64_t interval_ns, phase_ns; /* between two of this thread, 0: no rate; of the first */
	struct uring ring;        /* IO_URING */
	/* CLOCK_MONOTONIC; end INT64_MAX: none */
	int64_t start_ns, end_ns;
	/* its own while it runs */
	uint64_t begun; /* operations */
	uint32_t *unsynced; /* writes to each file since its last fsync, with fsync_every */
	struct hist *fsyncs;
	int failed;
	struct err error;
	pthread_t thread;
};

/* One operation on its way. */
struct random_io {
	uint64_t block;
	struct random_place at;
	int is_read;
	int64_t due_ns; /* what its latency counts from */
};

/* ---- of both engines ---- */

/* The next operation's place and kind; its block is busy until random_finish. 0: there is none.
 * due_ns is set where there is a rate. */
int random_begin(struct random_thread *t, struct random_io *op);
/* Fresh contents for a write. */
void random_fill(struct random_thread *t, const struct random_io *op, char *b);
/* Counts, verifies, frees the block. now_ns: when it was done. */
int random_finish(
	struct random_thread *t, const struct random_io *op, const char *b, int64_t now_ns);
/* Says what failed where; error: an errno, 0: the file ended. Returns -1. */
int random_fail(struct random_thread *t, const struct random_io *op, uint64_t moved, int error);
/* Whether a write makes its file's fsync due; the count starts anew. */
int random_fsync_due(struct random_thread *t, const struct random_io *op);
int random_fsync_failed(struct random_thread *t, unsigned file, int error);
static inline int random_is_over(const struct random_thread *t, int64_t now_ns)
{
	return now_ns >= t->end_ns || atomic_load_explicit(t->stop, memory_order_relaxed);
}

/* Until the end by time, count or place, or an error. */
int random_move_pread(struct random_thread *t);
int random_move_uring(struct random_thread *t);

int random_thread_prepare(struct random_thread *t, struct err *e);
/* start_ns and end_ns are set. */
int random_thread_start(struct random_thread *t, struct err *e);
void random_thread_clear(struct random_thread *t);

#endif
