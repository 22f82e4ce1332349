/*
 * Result sets: one structure for results from our own runs and, later, from imports. Pure: no
 * database, no network. Built from the lines that export.h writes and reads.
 */
#ifndef COORDINATOR_RESULTS_SET_H
#define COORDINATOR_RESULTS_SET_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/measure/sample.h"

struct json_t;

struct result_run {
	uint64_t id;
	char *name, *state, *plan_sha256, *plan_text, *tool_version;
	struct strv sets;
	uint64_t seed;
	int64_t started_wall_ns, finished_wall_ns; /* 0: not yet */
	struct strv layouts, workloads; /* in plan order */
	uint32_t blocks; /* asked for, per layout and host; 0: not known */
	char *cache, *user;
	char *design; /* "random-blocks", "as-written", "once" */
	int baseline; /* layout index, -1 when the plan asks for pairs */
	double margin;
};
struct result_environment {
	uint64_t run;
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
	uint64_t usable_bytes;
	struct trial_summary sum;
};
/* Series of at most 1,000 points per trial: each merges neighbouring samples. */
struct result_point {
	int64_t start_ns, end_ns;
	uint64_t ops, bytes;
	uint64_t p50_ns, p99_ns, max_ns;
	struct telemetry tele;
};
struct result_series {
	uint64_t run;
	char *host;
	uint32_t attempt, trial;
	struct result_point *points;
	size_t n;
};
struct result_set {
	struct result_run *runs;
	size_t n_runs;
	struct result_environment *envs;
	size_t n_envs;
	struct result_trial *trials;
	size_t n_trials;
	struct result_series *series;
	size_t n_series;
};
void result_set_clear(struct result_set *s);

enum metric_id { METRIC_ELAPSED, METRIC_THROUGHPUT, METRIC_OPS, METRIC_LAT_MEAN, METRIC_LAT_P50,
	METRIC_LAT_P99, METRIC_LAT_P999, METRIC_LAT_MAX, METRIC_CPU_PER_OP, METRIC_PHYS_READ,
	METRIC_PHYS_WRITE, METRIC_COUNT };
struct metric_info {
	const char *name, *unit; /* as cli.md spells them */
	int higher_is_better;
};
extern const struct metric_info metric_table[METRIC_COUNT];
/* NaN where the trial does not have it (physical bytes unknown, no operations). */
double trial_metric(const struct trial_summary *t, enum metric_id m);

/* One row of a report: a metric of one workload on one layout of one host, over its trials. */
struct result_row {
	uint64_t run;
	const char *host, *layout, *workload; /* borrowed from the set */
	enum metric_id metric;
	unsigned n;        /* blocks that count (repeats averaged) */
	unsigned failed;     /* trials that failed and were not measured again by a later attempt */
	unsigned superseded; /* trials of attempts that a later one replaced */
	unsigned incomplete; /* trials that went well in a unit that has not ended well (yet) */
	double mean, median, stddev, min, max; /* stddev NaN for n < 2 */
	double *values;    /* n values in block order */
	uint32_t *blocks;
	const struct result_trial **trials; /* one per value: the first repeat of the block */
};
/* Rows for the metrics given, ordered by run, host, workload, metric, layout (plan order). Only the
 * last complete attempt of a block x layout counts; of trials that were tried again within it, the
 * last one that went well. A layout whose trials all failed has a row with n = 0 (values NaN). */
int result_rows(const struct result_set *s, const enum metric_id *metrics, size_t n_metrics,
	struct result_row **ret, size_t *ret_n, struct err *e);
void result_rows_free(struct result_row *rows, size_t n);

#endif
