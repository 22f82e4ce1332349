/*
 * Counting and sampling for engines with threads: each thread counts into a lane of its own, one
 * watcher cuts samples out of all lanes and adds them to the result.
 *
 * A thread may own several lanes, of different groups: what a group's lanes counted is also kept
 * apart (reads and writes of one trial).
 *
 * Invariant: the samples of a trial add up to its result, and so do the groups; the last sample ends
 * when the region does.
 */
#ifndef AGENT_WORKLOAD_METER_H
#define AGENT_WORKLOAD_METER_H

#include <stdatomic.h>
#include <stdint.h>

#include "agent/workload/workload.h"
#include "common/base/buf.h"
#include "common/measure/hist.h"

/* On cache lines of its own, and off those that the processor fetches along with a neighbour's. */
struct meter_lane {
	atomic_uchar busy; /* held for one addition, or for one exchange of the histograms */
	unsigned char active;
	unsigned group; /* set between meter_init and meter_start; 0 at first */
	/* of the present interval, guarded by busy; its operations are hist[active].count */
	uint64_t bytes, errors;
	struct hist hist[2]; /* [active] is filled; the other one is the watcher's */
} __attribute__((aligned(128)));
/* What a group's lanes counted up to the last sample. */
struct meter_group {
	uint64_t bytes, errors;
	struct hist hist;
};

struct meter {
	struct meter_lane *lanes;
	unsigned n;
	int done_fd; /* eventfd: each thread adds 1 at its end */
	int64_t sample_ns;
	int64_t start_ns, cut_ns; /* begin of the region (CLOCK_MONOTONIC), end of the last sample */
	workload_cut *cut;
	void *cut_arg;
	struct workload_result *result;
	struct hist *interval;
	struct meter_group *groups; /* meter_keep_groups; else NULL */
	unsigned n_groups;
	struct buf wire;
};

int meter_init(struct meter *m, unsigned lanes, int64_t sample_ns, struct err *e);
/* Keeps n groups apart; every lane's group must be less than n. Before meter_start. */
void meter_keep_groups(struct meter *m, unsigned n);
/* Fine after meter_init failed and on a zeroed one whose done_fd is -1. */
void meter_clear(struct meter *m);
/* Waits for start_ns (0: now) and begins the region. */
void meter_start(struct meter *m, int64_t start_ns, workload_cut *cut, void *arg,
	struct workload_result *ret);
/* By the lane's thread alone, in some nanoseconds: it never waits for a sample to be cut. */
void meter_count(struct meter_lane *l, int64_t latency_ns, uint64_t bytes);
void meter_error(struct meter_lane *l);
/* Bytes that belong to no operation that could be counted. */
void meter_moved(struct meter_lane *l, uint64_t bytes);
/* A thread has ended: its last call. */
void meter_ended(struct meter *m);
/* Cuts samples until `count` threads have called meter_ended. */
void meter_watch(struct meter *m, unsigned count);
/* Runs fn in a thread and cuts samples meanwhile; returns what fn returned (0, or -1 and e). */
int meter_watch_call(
	struct meter *m, int (*fn)(void *arg, struct err *e), void *arg, struct err *e);
/* Ends the region: elapsed, the last sample. */
void meter_stop(struct meter *m);
/* Nanoseconds since the region began. */
int64_t meter_now(const struct meter *m);

#endif
