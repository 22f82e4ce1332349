/*
 * One thread of a stream: moves its stretches block by block and counts. For generated data a
 * second thread fills the next blocks meanwhile, so that generating overlaps with writing.
 */
#ifndef AGENT_WORKLOAD_STREAM_THREAD_H
#define AGENT_WORKLOAD_STREAM_THREAD_H

#include <pthread.h>
#include <stdatomic.h>

#include "agent/workload/datagen.h"
#include "agent/workload/meter.h"
#include "agent/workload/stream_files.h"
#include "agent/workload/stream_ring.h"

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
	char *buffer;            /* block_size bytes, page aligned; else */
	int64_t start_ns;        /* CLOCK_MONOTONIC */
	int64_t end_ns;          /* of a timed one */
	int over;                /* that time has come */
	int failed;
	struct err error;
	pthread_t mover, filler;
};

/* Allocates the buffers and fills what can be filled before the clock starts. */
int stream_thread_prepare(struct stream_thread *t, struct err *e);
int stream_thread_start(struct stream_thread *t, struct err *e);
void stream_thread_join(struct stream_thread *t);
void stream_thread_clear(struct stream_thread *t);

#endif
