/*
 * Workloads: what a worker process runs. An engine is a const vtable, one file each, in one table.
 *
 * A worker gets one WORKER_SPEC over its descriptor, prepares, answers WORKER_READY, waits for
 * WORKER_GO, runs, sends WORKER_SAMPLE for every interval and WORKER_DONE at the end. It has no
 * other connection to anything and ends when the descriptor does.
 */
#ifndef AGENT_WORKLOAD_WORKLOAD_H
#define AGENT_WORKLOAD_WORKLOAD_H

#include "common/base/err.h"
#include "common/measure/hist.h"
#include "proto/msg.h"

/* Counters that worker threads own, one per thread; merged by whoever cuts samples. */
struct workload_result {
	int64_t started_wall_ns, elapsed_ns, sync_ns;
	uint64_t bytes, ops, errors;
	struct hist hist;
};
struct workload_engine {
	const char *kind; /* "stream" */
	/* Opens, allocates, fills buffers: everything before the timed region. */
	int (*prepare)(const struct msg_worker_spec *spec, void **ret_state, struct err *e);
	/* Timed. Calls cut() about every spec->sample_ns with the interval's sample; hist of the sample
	 * is encoded and borrowed for the call. */
	int (*run)(void *state, int64_t start_ns, void (*cut)(void *arg, const struct sample *s),
		void *arg, struct workload_result *ret, struct err *e);
	void (*clear)(void *state);
};
const struct workload_engine *workload_find(const char *kind);
/* The worker process's main: returns the exit status. fd: frames to and from the monitor. */
int worker_main(int fd);

#endif
