/* Between the files of the parallel engine: its members and what it counts. */
#ifndef AGENT_WORKLOAD_PARALLEL_H
#define AGENT_WORKLOAD_PARALLEL_H

#include <sys/types.h>

#include "agent/workload/workload.h"
#include "common/plan/work_parallel.h"
#include "common/plan/workload.h"

struct member {
	const struct workload *w;
	struct msg_worker_spec spec; /* names are its own, the rest is the parent's */
	struct workload_order order;
	pid_t pid; /* 0: none, or reaped */
	int fd;    /* to it; -1: it has ended */
	unsigned cuts;
	int is_done;
	struct msg_worker_done result; /* where is_done */
};
struct parallel {
	struct member *v;
	unsigned n;
	workload_cut *cut;
	void *cut_arg;
	struct sample open; /* what was told since the last cut; its end: the latest of theirs */
	struct hist *open_hist, *one;
	struct buf wire;
	unsigned cuts;
	int64_t cut_ns; /* end of the last sample */
	/* of the members that have ended, since the start */
	int64_t first_end_ns, last_end_ns, last_sync_ns;
	/* whole samples in which all of them ran */
	uint64_t window_bytes;
	int64_t window_ns;
};

/* Each member as a part, its own parts, facts and notes under its name, and the window in which all
 * of them ran. Takes what it tells out of the members. */
void parallel_tell(struct parallel *p, struct trial_detail *ret);
/* Their notes alone: where one was never ready, nothing was counted. */
void parallel_tell_notes(const struct parallel *p, struct trial_detail *ret);

#endif
