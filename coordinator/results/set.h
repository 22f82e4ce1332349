/*
 * Result sets: one structure for results from our own runs and from imports. Pure: no database, no
 * network. Built from the lines that export.h writes and reads.
 *
 * Imported results are trials like our own where the file listed them, with what it printed of a
 * metric in `printed`, and summaries where it gave nothing but their mean and range.
 */
#ifndef COORDINATOR_RESULTS_SET_H
#define COORDINATOR_RESULTS_SET_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/measure/data_told.h"
#include "common/measure/sample.h"

struct json_t;

enum metric_id { METRIC_ELAPSED, METRIC_THROUGHPUT, METRIC_OPS, METRIC_LAT_MEAN, METRIC_LAT_P50,
	METRIC_LAT_P99, METRIC_LAT_P999, METRIC_LAT_MAX, METRIC_CPU_PER_OP, METRIC_PHYS_READ,
	METRIC_PHYS_WRITE, METRIC_COUNT };

/* A metric as a file printed it; it stands before what the trial's counters give. */
struct result_printed {
	enum metric_id metric;
	double value, resolution; /* resolution: the last printed digit, in the metric's unit */
	int unit_assumed; /* printed with KB, MB or GB, and nothing to tell which powers were meant */
};
/* One of the runs that stand beside each other as the layouts of another (pivot.h). */
struct result_source {
	char *label, *name, *plan_sha256, *plan_text; /* texts "" where there is none */
	char *layout; /* what the layout is called in that plan */
	char *host;   /* where it was measured; "" where there are several hosts or none is named */
	char *cache;  /* as asked for there, or "" */
	struct strv sets;
};
struct result_run {
	uint64_t id;
	char *name, *state, *plan_sha256, *plan_text, *tool_version;
	size_t plan_len; /* of plan_text, while lines are read */
	struct strv sets;
	uint64_t seed;
	int64_t started_wall_ns, finished_wall_ns; /* 0: not yet */
	struct strv layouts, workloads; /* in plan order */
	uint32_t blocks; /* asked for, per layout and host; 0: not known */
	char *cache, *user;
	char *design; /* "random-blocks", "as-written", "once"; of imports "as-written" where the file
			 shows the order, else "" or "unknown": order and builds are not known */
	char *called; /* what hosts of other sources call the only layout of theirs, where that differs;
			 else NULL */
	struct result_source *sources; /* one per layout, of a run made of others; else NULL */
	size_t n_sources;
	int baseline; /* layout index, -1 when the plan asks for pairs */
	double margin;
};
struct result_environment {
	uint64_t run;
	uint32_t source; /* whose it is, from 1, of a run made of others: the layout's; else 0 */
	char *host;
	struct json_t *inventory; /* inventory_json(); owned reference */
};
/* One trial as it was stored; superseded ones are kept and never counted. */
struct result_trial {
	uint64_t run;
	char *host;
	uint32_t attempt, layout, workload, block, repeat, position;
	char *layout_name, *workload_name, *op; /* op: "write", "read", … */
	int superseded; /* a later attempt measured this unit again, or has to */
	int complete;   /* its unit (block x layout) ended well, teardown included */
	uint32_t lost;  /* records lost on the way to the store while it ran: samples are missing */
	char *cache;
	struct data_told data; /* of imports; of our own runs the plan tells it */
	uint64_t usable_bytes; /* 0: not known */
	struct trial_summary sum;
	struct result_printed *printed; /* NULL for our own runs */
	size_t n_printed;
};
/* The trials of one metric of a layout as only their summary tells them; mean, min, max and standard
 * deviation in the metric's unit, as printed; NaN where they are not told. */
struct result_summary {
	uint64_t run;
	char *host;
	uint32_t layout, workload;
	char *layout_name, *workload_name;
	enum metric_id metric;
	unsigned n; /* trials behind it, from 1 */
	double mean, min, max, stddev;
	double resolution; /* the last printed digit; 0: exact */
	double stddev_resolution;
	int unit_assumed; /* as in result_printed */
	struct data_told data;
};
/* A host of a run with `until` that stopped because every comparison was precise enough. */
struct result_stop {
	uint64_t run;
	char *host;
	uint32_t block; /* the last one */
};
/* The label of the run that stands beside others and is described by it; else NULL. Borrowed. */
struct result_set;
const char *result_environment_source(
	const struct result_set *s, const struct result_environment *v);
/* Series of at most 1,000 points per trial: each merges neighbouring samples. */
struct result_point {
	int64_t start_ns, end_ns;
	uint64_t ops, bytes;
	uint64_t p50_ns, p99_ns, max_ns;
	struct telemetry tele;
	struct host_usage host; /* the busiest core of the worst interval; all zero: not told */
};
/* What one disk did in one span of time. */
struct result_disk_use {
	uint64_t read_bytes, write_bytes, busy_ns;
};
struct result_span {
	int64_t start_ns, end_ns;
};
/* disks x spans of a series; of volumes with more disks the spans are longer. */
#define RESULT_DISK_CELLS_MAX 16384
struct result_series {
	uint64_t run;
	char *host;
	uint32_t attempt, trial;
	struct result_point *points;
	size_t n;
	/* Each disk over time: use[span * n_disks + disk], disks as in the trial's evidence. */
	struct result_span *spans;
	struct result_disk_use *use;
	size_t n_spans, n_disks;
};
void result_series_clear(struct result_series *s);
/* A command that an agent executed on its host. */
struct result_step {
	uint64_t run;
	char *host;
	uint32_t attempt, block, layout; /* block 0: outside of any */
	char *layout_name, *phase, *what; /* phase: "build", "cache", "workload", "teardown" */
	struct strv argv;
	int64_t elapsed_ns, at_wall_ns;
	int ok;
	char *output; /* stdout and stderr, cut */
};
/* What the reader compares, where that is other than what the plans say. All zero: as planned. */
enum compare_by { BY_PLAN, BY_LAYOUT, BY_HOST };
struct result_wish {
	enum compare_by by;
	struct strv chosen; /* layouts or hosts, by `by`, the baseline first; empty: all of them */
	enum metric_id metrics[METRIC_COUNT];
	size_t n_metrics;
	int only; /* these metrics instead of those that would be compared anyway */
	int has_margin;
	double margin;
};
struct export_index;
/* Trials and summaries of all files and runs that are read at once: 16,000 hosts, 4 layouts and 15
 * blocks, and about 1.5 GB of memory. */
#define RESULT_SET_MAX 1000000
struct result_set {
	struct result_wish wish;
	struct result_run *runs;
	size_t n_runs, cap_runs;
	struct result_environment *envs;
	size_t n_envs, cap_envs;
	struct result_trial *trials;
	size_t n_trials, cap_trials;
	struct result_summary *summaries;
	size_t n_summaries, cap_summaries;
	struct result_stop *stops;
	size_t n_stops, cap_stops;
	struct result_series *series;
	size_t n_series, cap_series;
	struct result_step *steps; /* in the order in which each host executed them */
	size_t n_steps, cap_steps;
	struct export_index *index; /* while lines are read (export_index.c), else NULL */
};
void result_set_clear(struct result_set *s);
/* ERR_INPUT where that many more trials and summaries are more than RESULT_SET_MAX. */
int result_set_room(const struct result_set *s, size_t more, struct err *e);
/* What an item owns. */
void result_run_clear(struct result_run *r);
void result_trial_clear(struct result_trial *t);
void result_summary_clear(struct result_summary *m);
void result_step_clear(struct result_step *s);
void result_set_unindex(struct result_set *s);
/* The trial's series in a set that export_read_end() has left; NULL where it has none. */
const struct result_series *result_set_series(
	const struct result_set *s, const struct result_trial *t);
/* Orders series as result_set_series() wants them. */
int result_series_compare(const void *a, const void *b);
/* Trials of a set stand by run and host: the index of the first of those, or where it would stand. */
size_t result_first_trial(const struct result_set *s, uint64_t run, const char *host);
/* For a set that a stranger sent, after export_read_end(): that it is one run with results, its
 * names are fit to be shown and fit its lists, and its numbers are what they say they are.
 * ERR_INPUT names what is wrong. */
int result_set_check(const struct result_set *s, struct err *e);

struct metric_info {
	const char *name, *unit; /* as cli.md spells them */
	int higher_is_better;
};
extern const struct metric_info metric_table[METRIC_COUNT];
/* NaN where the trial does not have it (physical bytes unknown, no operations). */
double trial_metric(const struct trial_summary *t, enum metric_id m);
/* Its metrics from METRIC_LAT_MEAN to METRIC_LAT_MAX at once. */
void trial_latencies(const struct trial_summary *t, double ret[METRIC_LAT_MAX - METRIC_LAT_MEAN + 1]);
/* METRIC_COUNT for a name that is none. */
enum metric_id metric_find(const char *name);
/* The printed value where there is one, else trial_metric(). ret_resolution (may be NULL): 0 for
 * what was counted. */
double result_trial_metric(
	const struct result_trial *t, enum metric_id m, double *ret_resolution);

/* One row of a report: a metric of one workload on one layout of one host, over its trials. */
struct result_row {
	uint64_t run;
	const char *host, *layout, *workload; /* borrowed from the set */
	uint32_t layout_index, workload_index;
	enum metric_id metric;
	double resolution; /* the last printed digit, 0 for our own runs; of the coarsest trial */
	int summary_only;  /* mean, min, max and stddev as printed (NaN: not told), no values */
	double stddev_resolution; /* of a summary's stddev */
	double throughput; /* of a summary of times: B/s of the same trials; NaN: not known */
	int unit_assumed;  /* of some trial: see result_printed */
	struct data_told data; /* of a summary; each trial has its own */
	unsigned n;        /* blocks that count (repeats averaged), or trials behind a summary */
	unsigned listed;   /* how many stand in values, blocks and trials: n, or 0 for a summary */
	unsigned failed;     /* trials that failed and were not measured again by a later attempt */
	unsigned superseded; /* trials of attempts that a later one replaced */
	unsigned incomplete; /* trials that went well in a unit that has not ended well (yet) */
	unsigned unmeasured; /* trials that went well and have no value of the metric: took no time */
	unsigned doubled;    /* trials that went well of a block, repeat and attempt that has one already */
	double mean, median, stddev, min, max; /* stddev NaN for n < 2 */
	double ci95[2];      /* of the mean, not below 0; NaN for n < 2 and for summaries */
	double median_ci[2]; /* 95 %; NaN for n < 6 */
	double *values;    /* `listed` values in block order */
	uint32_t *blocks;
	const struct result_trial **trials; /* one per value: the first repeat of the block */
	const struct result_trial **failures; /* the `failed` ones, in the set's order */
};
/* Rows for the metrics given, ordered by run, host, workload, metric, layout (plan order). Only the
 * last complete attempt of a block x layout counts; of trials that were tried again within it, the
 * last one that went well. A layout whose trials all failed has a row with n = 0 (values NaN).
 * Summaries are rows of their own, except where trials of the same layout are listed. */
int result_rows(const struct result_set *s, const enum metric_id *metrics, size_t n_metrics,
	struct result_row **ret, size_t *ret_n, struct err *e);
void result_rows_free(struct result_row *rows, size_t n);

#endif
