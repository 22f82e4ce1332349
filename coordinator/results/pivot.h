/*
 * Result sets turned so that other things stand beside each other: what came from several sources
 * (runs, files) becomes the layouts of one comparison. Pure.
 */
#ifndef COORDINATOR_RESULTS_PIVOT_H
#define COORDINATOR_RESULTS_PIVOT_H

#include "coordinator/results/set.h"

struct pivot_source {
	uint64_t run;      /* of the set */
	const char *label; /* what it is called in the comparison; unlike all others */
};

/* Makes of the set's runs, n >= 2 and all of them in v, one run for each of their layouts, in which
 * the sources are the layouts and the first is the baseline. Layouts and hosts belong together when
 * they have one name; where every source has but one of them, these do. The set is after
 * export_read_end; its series go. ERR_INPUT, and nothing done, when no two sources have anything in
 * common. */
int pivot_sources(struct result_set *s, const struct pivot_source *v, size_t n, struct err *e);

/* Makes of the set's runs, n >= 2 and all of them in v, one run, so that their hosts can be compared;
 * where every source has but one layout, these are the same one. The set is after export_read_end.
 * ERR_INPUT, and nothing done, when a host is in two sources or has no name, or when no two sources
 * have a layout and a workload in common. */
int pivot_hosts(struct result_set *s, const struct pivot_source *v, size_t n, struct err *e);

/* Results of the workload `from` are from now on results of `to`: that name stands for both, in every
 * run that has `from`. ERR_INPUT, and nothing done, when no run has the one or the other, or one has
 * both. */
int pivot_same_workload(
	struct result_set *s, const char *to, const char *from, struct err *e);

/* Takes the trials of other layouts (hosts, by wish.by) than the chosen ones out of the set. */
void pivot_choose(struct result_set *s);

#endif
