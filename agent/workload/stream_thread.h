/*
 * One thread of a stream: moves its stretches block by block and counts. For generated data a
 * second thread fills the next blocks meanwhile, so that generating overlaps with writing. With
 * io_uring several blocks are under way, and the thread fills the next one itself meanwhile.
 */
#ifndef AGENT_WORKLOAD_STREAM_THREAD_H
#define AGENT_WORKLOAD_STREAM_THREAD_H

#include <pthread.h>
#include <stdatomic.h>

#include "agent/workload/datagen.h"
#include "agent/workload/meter.h"
#include "agent/workload/stream_files.h"
#include "agent/workload/stream_ring.h"
#include "agent/workload/uring.h"
#include "common/plan/plan.h"

struct stream_thread {
	/* set before the start */
	const struct msg_worker_spec *spec;
	const struct stream_files *files;
	struct datagen gen;
	struct stretch *stretches;
	size_t n_stretches;
	double rate;             /* bytes/s for this thread, 0: unlimited */
	atomic_int *stop;        /* set by the first thread that fails */
	struct meter *meter;     /* learns when the thread has ended */
	struct meter_lane *lane; /* its counters */
	int timed;               /* goes through its stretches until end_ns */
	int generates;           /* has a filling thread; else `buffer` serves every block */
	struct stream_ring ring; /* where it generates */
	char *buffer;            /* block_size bytes, page aligned; else. IO_URING: depth of them */
	enum io_engine engine;
	unsigned depth;          /* blocks under way, with IO_URING */
	struct uring uring;
	int64_t start_ns;        /* CLOCK_MONOTONIC */
	int64_t end_ns;          /* of a timed one */
	int over;                /* that time has come */
	int failed;
	struct err error;
	pthread_t mover, filler;
};

/* Between the seeds of two rounds of a timed write: odd, so that no two of them are equal. */
#define STREAM_ROUND_STEP 0x9e3779b97f4a7c15ULL

/* What both engines do with a block of a stretch. Bytes of the block at `at`: */
size_t stream_block_bytes(const struct stream_thread *t, const struct stretch *s, uint64_t at);
/* Says what failed there, by errno (0: the file ended). Returns -1. */
int stream_fail_block(struct stream_thread *t, const struct stretch *s, uint64_t at);
/* 0 where nothing is to be verified, too. */
int stream_verify_block(struct stream_thread *t, const struct stretch *s, uint64_t at, const char *b,
	size_t len);
/* Moves all stretches with several blocks under way; 0, or -1 and t->error. */
int stream_move_uring(struct stream_thread *t);

/* Allocates the buffers and fills what can be filled before the clock starts. */
int stream_thread_prepare(struct stream_thread *t, struct err *e);
int stream_thread_start(struct stream_thread *t, struct err *e);
void stream_thread_join(struct stream_thread *t);
void stream_thread_clear(struct stream_thread *t);

#endif
