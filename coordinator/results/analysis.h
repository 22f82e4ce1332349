/*
 * What a result set says: comparisons and findings of all its runs, made once and shown by every
 * report. Pure. An analysis borrows from its set, which must outlive it.
 */
#ifndef COORDINATOR_RESULTS_ANALYSIS_H
#define COORDINATOR_RESULTS_ANALYSIS_H

#include "common/plan/plan.h"
#include "common/plan/workload.h"
#include "coordinator/results/compare.h"
#include "coordinator/results/ranks.h"
#include "coordinator/results/rules.h"
#include "coordinator/results/set.h"

/* A planned comparison; a pair that lacks data is one too, as too-few. */
struct result_comparison {
	uint64_t run;
	const char *host;   /* NULL: over all hosts, or between two of them */
	const char *layout; /* of a comparison between hosts; else NULL */
	const char *workload;
	uint32_t workload_index;
	enum metric_id metric;
	const char *base, *subject; /* layouts, or hosts */
	uint32_t base_index, subject_index; /* of layouts, in the plan; 0 between hosts */
	int between_hosts;
	double alpha, margin;
	unsigned k; /* size of its family */
	struct compared c;
	/* What it compares where both are rows of one host or of two; NULL over all hosts, and where
	 * there is no row. */
	const struct result_row *base_row, *subject_row;
	struct strv invalid; /* ids of rules whose findings make it invalid */
};
/* All comparisons of one workload name over the report. */
struct result_family {
	const char *workload;
	unsigned k;
	double alpha; /* the strictest of its runs */
};
/* A host that stands out from its peers in one layout and workload; or a disk, from all that were
 * scanned on all hosts. */
struct result_outlier {
	uint64_t run;
	const char *host, *layout, *workload;
	enum metric_id metric;
	double ratio; /* its geometric mean over that of its peers */
	const char *disk; /* kernel name; NULL: the host */
};
struct analysis_run {
	const struct result_run *run;
	const struct result_wish *wish; /* the set's */
	struct plan *plan; /* NULL: there is no plan text, or it is not one of this version */
	enum metric_id *headline; /* per workload index */
	struct workload_nature *natures; /* of the plan's workloads; NULL without a plan */
	size_t n_workloads;
	const char **hosts; /* that have trials or an environment, sorted */
	size_t n_hosts;
	size_t first_row, n_rows; /* in rows */
};
struct analysis {
	struct analysis_run *runs; /* one per run of the set, in its order */
	size_t n_runs;
	struct result_row *rows; /* of all metrics that are compared */
	size_t n_rows;
	struct result_comparison *comparisons; /* by run, workload, metric, host, pair */
	size_t n_comparisons;
	struct result_family *families;
	size_t n_families;
	struct result_outlier *outliers;
	size_t n_outliers;
	struct findings findings;
};
/* Plans, hosts, headlines and rows; neither findings nor comparisons. Also to be cleared. */
int analysis_begin(const struct result_set *s, struct analysis *ret, struct err *e);
/* The plan of a run that is made of others; NULL where one has none, or did other work. */
struct plan *analysis_plan_of_sources(const struct result_run *r);
int analysis_make(const struct result_set *s, struct analysis *ret, struct err *e);
void analysis_clear(struct analysis *a);

/* What is known of a row's workload: by the run's plan; without one, by the name of what it did. */
struct workload_nature analysis_nature(const struct analysis_run *r, const struct result_row *row);
/* NULL when there is none. */
const struct result_row *analysis_row(const struct analysis *a, const struct analysis_run *r,
	const char *host, uint32_t workload, enum metric_id m, uint32_t layout);

/* The row as one side of a comparison; empty for NULL. */
struct compare_side analysis_side(const struct result_row *row);
/* Both sides by ranks; 0 where a side lists no values. */
int analysis_ranks(const struct result_comparison *c, struct ranks *ret);
/* What the intervals of the run's comparisons hold together, in percent: 95, or 97 under `until`. */
double analysis_confidence(const struct analysis *a, const struct analysis_run *r);
/* How precise the comparisons are that a run plans for one of its workloads, on one of its hosts:
 * every pair and metric, those that lack data included (se NaN). The family is fixed by the plan and
 * by how many hosts the run has. Caller frees. */
struct compare_precision *analysis_precision(const struct analysis *a, const struct analysis_run *r,
	const char *host, size_t workload, unsigned n_hosts, size_t *ret_n, unsigned *ret_k);
/* Fills comparisons, families and outliers; analysis_make calls it once the rows are there. */
void analysis_compare(struct analysis *a);
/* Adds the disks that stand out; after analysis_compare. */
void analysis_disks(struct analysis *a, const struct result_set *s);
/* Differences below it don't matter to the run. */
double analysis_margin(const struct analysis_run *r);

#endif
