/*
 * Which series of a run a report cannot do without. Most of an export are series; of these a report
 * with plots shows whole ones of a few hosts, and a rule (V26) reads how fast timed writes went on each
 * host. So a report fetches the results first, and then what they tell it to fetch.
 */
#ifndef COORDINATOR_RESULTS_SERIES_WANT_H
#define COORDINATOR_RESULTS_SERIES_WANT_H

#include "coordinator/results/set.h"

enum series_plots {
	PLOTS_NONE,
	PLOTS_OF_FIRST, /* of the first hosts that have results, as the run was planned */
	PLOTS_OF_ANY,   /* it is chosen later which hosts and metrics are compared */
};
/* In words, each "host=NAME" (whole series of that host's trials), "rates=WORKLOAD" (of the trials of
 * the workload with that index, on every host, the columns that tell how fast it went) or "all", added
 * to *ret: of the set's run, which is its only one and stands there with its trials. None: the report
 * needs no series. */
int series_want_of(const struct result_set *s, enum series_plots plots, struct strv *ret, struct err *e);

/* The words again, a line each; what is no such word asks for nothing. Caller frees. */
struct series_want;
struct series_want *series_want_parse(const char *lines);
void series_want_free(struct series_want *w); /* NULL is fine */
int series_want_host(const struct series_want *w, const char *host);
int series_want_rates(const struct series_want *w, uint32_t workload);

#endif
