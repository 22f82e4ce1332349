/*
 * Runs with `trials: {until: T}`: when they may stop, and what reports say about it. Pure.
 *
 * The rule is that of statistics: after complete blocks of all layouts, from the plan's minimum on,
 * when every comparison that the plan makes on this host is as precise as T. What the comparisons
 * come out as is not looked at.
 */
#ifndef COORDINATOR_RESULTS_UNTIL_H
#define COORDINATOR_RESULTS_UNTIL_H

#include "coordinator/results/analysis.h"

struct until_judgement {
	int precise;
	unsigned blocks; /* that are complete in all layouts */
	double widest;   /* half width of the widest interval, as a fraction; NaN: too few to tell */
};
/* Judges a set with one run and the trials of one of its hosts. n_hosts: how many the run has.
 * ERR_INPUT when its plan has no `until`, or can't be read by this version. */
int until_judge(const struct result_set *s, unsigned n_hosts, struct until_judgement *ret,
	struct err *e);

/* "stopped after 7 blocks: every 95% interval within ±2%"; appended. */
void until_stopped_text(uint32_t blocks, double until, struct buf *out);
/* "reached max: 30 blocks"; appended. */
void until_max_text(uint32_t blocks, struct buf *out);
/* What became of a host of the run: one of these two, or how far it is. Nothing for a run without
 * `until`. Appended. */
void until_host_text(const struct result_set *s, const struct analysis_run *r, const char *host,
	struct buf *out);
/* The stop of that host, or NULL. */
const struct result_stop *until_stop(const struct result_set *s, uint64_t run, const char *host);

#endif
