/*
 * What trials tell beside their counters, summed over the trials of one host, workload and layout:
 * counts of parts add, their histograms merge, facts have a mean and a range, notes that say the
 * same are one. Pure.
 */
#ifndef COORDINATOR_RESULTS_DETAILS_H
#define COORDINATOR_RESULTS_DETAILS_H

#include "coordinator/results/set.h"

struct detail_sum_part {
	const char *name, *kind;
	unsigned trials; /* that have it */
	uint64_t ops, bytes, errors;
	int64_t elapsed_ns; /* of the part, or of its trials where it has none of its own */
	struct hist *hist;  /* NULL: in one of them its latencies are not known */
};
struct detail_sum_fact {
	const char *name, *unit;
	unsigned trials;
	double mean, min, max;
};
struct detail_sum_note {
	const char *name, *text;
	unsigned trials; /* that say the same */
	uint32_t block;  /* of the first */
};
struct detail_sum {
	uint64_t run;
	const char *host, *layout, *workload; /* borrowed from the set, as all names and texts */
	uint32_t layout_index, workload_index;
	unsigned trials; /* that count, as in rows */
	struct detail_sum_part *parts; /* in the order of the first trial */
	size_t n_parts, cap_parts;
	struct detail_sum_fact *facts;
	size_t n_facts, cap_facts;
	struct detail_sum_note *notes;
	size_t n_notes, cap_notes;
};
/* Those that have something to tell, by run, host, workload and layout. */
void result_details(const struct result_set *s, struct detail_sum **ret, size_t *ret_n);
void result_details_free(struct detail_sum *v, size_t n);

/* ns; NaN where it has no histogram with an entry. p 0: the mean. */
double detail_latency(const struct detail_sum_part *p, double percentile);

#endif
