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

/* What a side of a comparison lacks; then it is too-few. */
enum result_lack {
	LACK_NOTHING,
	LACK_METRIC,  /* the metric: its results have others */
	LACK_COMMON,  /* and the other side has none of these */
	LACK_RESULTS, /* any trial or summary of the workload */
};
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
	enum result_lack lack;
	const char *lacking; /* base or subject: the one that lacks it */
	struct strv invalid; /* ids of rules whose findings make it invalid */
};
/* What a host has of a layout in a workload: at least a trial. */
struct result_had {
	const char *host;
	uint32_t workload, layout;
	unsigned metrics;     /* of trials that count, and of summaries: analysis_metric_bit() each */
	enum metric_id first; /* of these: what it is shown by where it lacks the headline */
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
	struct result_had *had; /* by host, workload, layout */
	size_t n_had;
	unsigned *metrics; /* per workload index: all that some layout has; 0: nothing counts yet */
	enum metric_id *headline; /* per workload index */
	struct workload_nature *natures; /* of the plan's workloads; NULL without a plan */
	size_t n_workloads;
	const char **hosts; /* that have trials or an environment, sorted */
	size_t n_hosts;
	size_t first_row, n_rows; /* in rows */
};
/* Of a comparison that was planned: its number, and its host (NULL: over hosts, between them). */
struct analysis_place {
	const char *host;
	size_t number; /* as analysis_planned takes it */
};
struct analysis {
	struct analysis_run *runs; /* one per run of the set, in its order */
	size_t n_runs;
	struct result_row *rows; /* of all metrics that are compared */
	size_t n_rows;
	unsigned place[METRIC_COUNT]; /* of a metric among those of rows, from 1; 0: has none */
	struct result_comparison *comparisons; /* by run, workload, metric, host, pair */
	size_t n_comparisons;
	/* Planned ones of which a side has no trial and no summary: they belong to their family, and
	 * there is nothing to show of them but that. */
	struct result_comparison *absent;
	size_t n_absent;
	struct analysis_place *by_host; /* all that was planned, by host, then by number */
	struct result_family *families;
	size_t n_families;
	struct result_outlier *outliers;
	size_t n_outliers;
	struct findings findings;
};
/* Plans, hosts, headlines and rows; neither findings nor comparisons. Also to be cleared. */
int analysis_begin(const struct result_set *s, struct analysis *ret, struct err *e);
/* The run's plan; NULL where there is no plan text, or it is not one of this version. Caller frees. */
struct plan *analysis_plan(const struct result_run *r);
/* The plan of a run that is made of others; NULL where one has none, or did other work. */
struct plan *analysis_plan_of_sources(const struct result_run *r);
int analysis_make(const struct result_set *s, struct analysis *ret, struct err *e);
void analysis_clear(struct analysis *a);

unsigned analysis_metric_bit(enum metric_id m);
/* Fills had and metrics of a run; analysis_begin calls it. */
void analysis_find_had(const struct result_set *s, struct analysis_run *r);
/* NULL when there is no trial and no summary. */
const struct result_had *analysis_had(
	const struct analysis_run *r, const char *host, uint32_t workload, uint32_t layout);
/* Whether the workload has results, and none of them has the metric: then it is not compared by it,
 * whoever asked for it, and no family counts it. */
int analysis_lacks_metric(const struct analysis_run *r, size_t workload, enum metric_id m);
/* Whether reports that show one metric of a layout show this row: it is of the headline, or the layout
 * lacks that and this is what it has instead. */
int analysis_is_shown(const struct analysis_run *r, const struct result_row *row);
/* Sets lack and lacking by what both sides have; NULL: nothing. */
void analysis_find_lack(struct result_comparison *c, const struct result_had *base,
	const struct result_had *subject);
/* The verdict in words, or what is lacking for one; base and lacking as they are to be shown.
 * Appended. */
void analysis_verdict_text(const struct result_comparison *c, const char *base, const char *lacking,
	struct buf *out);

/* What is known of a row's workload: by the run's plan; without one, by the name of what it did. */
struct workload_nature analysis_nature(const struct analysis_run *r, const struct result_row *row);
/* NULL when there is none. */
const struct result_row *analysis_row(const struct analysis *a, const struct analysis_run *r,
	const char *host, uint32_t workload, enum metric_id m, uint32_t layout);

/* All that was planned, by number: the comparisons, then the absent ones. */
const struct result_comparison *analysis_planned(const struct analysis *a, size_t i);
/* What was planned of one host (NULL: of none), by number. */
const struct analysis_place *analysis_of_host(
	const struct analysis *a, const char *host, size_t *ret_n);
/* The row as one side of a comparison; empty for NULL. */
struct compare_side analysis_side(const struct result_row *row);
/* Both sides by ranks; 0 where a side lists no values. */
int analysis_ranks(const struct result_comparison *c, struct ranks *ret);
/* What the intervals of the run's comparisons hold together, in percent: 95, or 97 under `until`. Where a
 * workload is also that of a run with `until`, and others are not: 95, which all of them hold at least. */
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
