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
#include "common/plan/plan.h"
#include "proto/msg.h"

/* A dry run: what a trial would start is told, and nothing is touched. */
struct workload_preview {
	/* argv: of a program, borrowed; empty where the worker itself does it. */
	void (*tell)(void *arg, const struct workload *w, const char *what, const struct strv *argv);
	void *arg;
	struct strv made; /* folders that an engine would have made by now, in this build */
};
/* What an engine is to do; all of it is borrowed and outlives the engine's state. */
struct workload_order {
	const struct msg_worker_spec *spec; /* directory, seed, interval, …; a stream's own numbers */
	const struct plan *plan;            /* NULL for a stream that the spec describes alone */
	const struct workload *w;           /* of the plan, or a member of a parallel one; NULL with it */
	struct workload_preview *preview; /* NULL: in earnest */
	int disks_fd; /* where the descriptors of spec->disks wait to be taken (agent/fdpass.h) */
	int words_fd; /* memory for what a killed worker leaves (agent/last_words.h); 0: none */
	struct trial_detail *told; /* gets what is known of why make or prepare failed; may be NULL */
};
/* Counters that worker threads own, one per thread; merged by whoever cuts samples. */
struct workload_result {
	int64_t started_wall_ns, elapsed_ns, sync_ns;
	uint64_t bytes, ops, errors;
	struct hist hist;
	int has_cpu; /* the engine counted CPU time by itself; else the worker and its children count */
	uint64_t cpu_user_ns, cpu_system_ns;
	struct trial_detail detail; /* also filled on failure: what is known of why */
};
/* Gets one sample of an interval; hist of it is encoded and borrowed for the call. */
typedef void workload_cut(void *arg, const struct sample *s);

struct workload_engine {
	enum workload_kind kind;
	/* Makes the files that the workload reads and nobody else writes, where workload_makes() says
	 * so; in a worker of its own, before the caches are made cold. May be NULL. Does nothing when
	 * they are there. */
	int (*make)(const struct workload_order *order, struct err *e);
	/* Opens, allocates, fills buffers: everything before the timed region. */
	int (*prepare)(const struct workload_order *order, void **ret_state, struct err *e);
	/* Timed: begins at start_ns of CLOCK_MONOTONIC, 0: now. Calls cut() about every
	 * spec->sample_ns; what the samples count adds up to the result. ret is zeroed. */
	int (*run)(void *state, int64_t start_ns, workload_cut *cut, void *arg,
		struct workload_result *ret, struct err *e);
	/* Tells order->preview what make, prepare, run and clear start, in that order, by the code that
	 * starts it. Fails where a program or an input of the host is not such that it can run: in a
	 * process with the workers' rights, which may ask a program for its version. spec: kind,
	 * directory, workload, layout, block and repeat alone. NULL: nothing, or what
	 * workload_programs() knows. */
	int (*preview)(const struct workload_order *order, struct err *e);
	/* Ends what it started, frees. The files in the volume stay. */
	void (*clear)(void *state);
};
const struct workload_engine *workload_find(enum workload_kind kind);
/* What one trial of the order's workload would start, whatever its kind; order->preview is set. */
int workload_preview(const struct workload_order *order, struct err *e);
/* 0: workload_preview cannot fail for it. */
int workload_looks_at_host(const struct workload *w);
/* One trial after its order is known: prepares, says WORKER_READY on fd, waits for WORKER_GO, runs,
 * sends samples and WORKER_DONE, also on failure. 0: all went well. For the worker's main and for
 * members of a parallel workload, which are processes too. */
int worker_trial(int fd, const struct workload_order *order);
/* The worker process's main: returns the exit status. fd: frames to and from the monitor. */
int worker_main(int fd);

#endif
