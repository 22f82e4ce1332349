/*
 * Trials and summaries -> rows of a report. Owns the rows it makes; names and trials are borrowed
 * from the set. Invariant: a block gives at most one value to a row, from one attempt.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/set.h"
#include "coordinator/results/stats.h"

typedef const struct result_trial *trial_ref;

static int cmp(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_group(trial_ref a, trial_ref b)
{
	int c = cmp(a->run, b->run);

	c = c ? c : strcmp(a->host, b->host);
	c = c ? c : cmp(a->workload, b->workload);
	return c ? c : cmp(a->layout, b->layout);
}

/* Within a group: blocks in order, the newest attempt first, what was tried last within a repeat
 * first. */
static int by_place(const void *pa, const void *pb)
{
	trial_ref a = *(const trial_ref *)pa, b = *(const trial_ref *)pb;
	int c = by_group(a, b);

	c = c ? c : cmp(a->block, b->block);
	c = c ? c : cmp(b->attempt, a->attempt);
	c = c ? c : cmp(a->repeat, b->repeat);
	return c ? c : cmp(b->sum.trial, a->sum.trial);
}

static int counts(trial_ref t)
{
	return t->complete && !t->superseded && t->sum.ok;
}

/* Latencies of a trial that were taken from its histogram, which takes time; rows of other metrics
 * want them again. */
#define LATENCIES (METRIC_LAT_MAX - METRIC_LAT_MEAN + 1)
struct latencies {
	int known;
	double v[LATENCIES];
};
/* Trials of one run, host, workload and layout. */
struct group {
	trial_ref *t;
	struct latencies *latencies; /* of each */
	size_t n;
};

static double value_of(const struct group *g, size_t i, enum metric_id m, double *digit)
{
	struct latencies *known = &g->latencies[i];

	if (m < METRIC_LAT_MEAN || m > METRIC_LAT_MAX || g->t[i]->n_printed)
		return result_trial_metric(g->t[i], m, digit);
	if (!known->known)
		trial_latencies(&g->t[i]->sum, known->v);
	known->known = 1;
	*digit = 0;
	return known->v[m - METRIC_LAT_MEAN];
}

/* Mean of the metric over the repeats of one block, from the trials [*i, n) that belong to it; *i
 * moves behind them. NaN when no trial counts. ret_first: the first repeat's trial; the row's resolution
 * grows to that of the coarsest trial, and trials without a value and those that are there twice are counted
 * in it. */
static double block_value(const struct group *g, size_t *i, enum metric_id m, trial_ref *ret_first,
	unsigned *ret_counted, struct result_row *row)
{
	trial_ref *t = g->t, head = t[*i], taken = NULL, first = NULL;
	double sum = 0, digit;
	unsigned values = 0, counted = 0;
	uint32_t attempt = 0;

	for (; *i < g->n && t[*i]->block == head->block; (*i)++) {
		trial_ref now = t[*i];
		double v;

		if (!counts(now) || (taken && now->attempt != attempt))
			continue;
		if (taken && now->repeat == taken->repeat) {
			row->doubled++;
			continue;
		}
		taken = now;
		attempt = now->attempt;
		first = first ? first : now;
		counted++;
		v = value_of(g, *i, m, &digit);
		if (isnan(v)) {
			row->unmeasured++;
			continue;
		}
		row->resolution = fmax(row->resolution, digit);
		sum += v;
		values++;
	}
	*ret_first = first;
	*ret_counted = counted;
	return values ? sum / values : NAN;
}

static int is_assumed(trial_ref t, enum metric_id m)
{
	for (size_t i = 0; i < t->n_printed; i++)
		if (t->printed[i].metric == m)
			return t->printed[i].unit_assumed;
	return 0;
}

static int by_address(const void *pa, const void *pb)
{
	trial_ref a = *(const trial_ref *)pa, b = *(const trial_ref *)pb;

	return (a > b) - (a < b);
}

static void count_left_out(struct result_row *row, trial_ref *t, size_t n)
{
	size_t cap = 0;

	for (size_t i = 0; i < n; i++) {
		if (t[i]->superseded) {
			row->superseded++;
		} else if (!t[i]->sum.ok) {
			row->failures = xgrow(row->failures, row->failed, &cap, sizeof(*row->failures));
			row->failures[row->failed++] = t[i];
		} else if (!t[i]->complete) {
			row->incomplete++;
		}
	}
	if (row->failed)
		qsort(row->failures, row->failed, sizeof(*row->failures), by_address);
}

/* No metric is ever negative (the verdict procedure takes the logarithm of it), so neither is its mean: of a
 * t interval that a wide spread of few values takes below 0, the part from 0 on holds the mean with
 * the same confidence. */
static void describe(struct result_row *row)
{
	struct stats s;

	stats_describe(row->values, row->n, &s);
	row->mean = s.mean;
	row->median = s.median;
	row->stddev = s.stddev;
	row->min = s.min;
	row->max = s.max;
	memcpy(row->ci95, s.ci95, sizeof(row->ci95));
	memcpy(row->median_ci, s.median_ci, sizeof(row->median_ci));
	if (s.min >= 0 && s.ci95[0] < 0)
		row->ci95[0] = 0;
}

/* One row from a group of n trials. 1: trials counted, but none has the metric. */
static int make_row(const struct group *g, enum metric_id m, struct result_row *row)
{
	trial_ref *t = g->t;
	size_t n = g->n;
	unsigned counted = 0;

	*row = (struct result_row){.run = t[0]->run,
		.host = t[0]->host,
		.layout = t[0]->layout_name,
		.workload = t[0]->workload_name,
		.layout_index = t[0]->layout,
		.workload_index = t[0]->workload,
		.metric = m};
	row->values = xcalloc(n, sizeof(*row->values));
	row->blocks = xcalloc(n, sizeof(*row->blocks));
	row->trials = xcalloc(n, sizeof(*row->trials));
	count_left_out(row, t, n);
	for (size_t i = 0; i < n;) {
		uint32_t block = t[i]->block;
		unsigned some;
		trial_ref first;
		double v = block_value(g, &i, m, &first, &some, row);

		counted += some;
		if (isnan(v))
			continue;
		row->values[row->n] = v;
		row->blocks[row->n] = block;
		row->trials[row->n++] = first;
		row->unit_assumed |= is_assumed(first, m);
	}
	row->listed = row->n;
	describe(row);
	return row->n == 0 && counted > 0;
}

static void row_clear(struct result_row *row)
{
	free(row->values);
	free(row->blocks);
	free(row->trials);
	free(row->failures);
}

void result_rows_free(struct result_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		row_clear(&rows[i]);
	free(rows);
}

static size_t group_end(trial_ref *t, size_t from, size_t n)
{
	size_t i = from;

	while (i < n && by_group(t[from], t[i]) == 0)
		i++;
	return i;
}

/* All groups of one run, host and workload: a metric's rows stand together. */
static size_t section_end(trial_ref *t, size_t from, size_t n)
{
	size_t i = from;

	while (i < n && t[i]->run == t[from]->run && strcmp(t[i]->host, t[from]->host) == 0 &&
		t[i]->workload == t[from]->workload)
		i++;
	return i;
}

struct row_list {
	struct result_row *v;
	size_t n, cap;
};

static void section_rows(
	const struct group *all, size_t from, size_t to, enum metric_id m, struct row_list *rows)
{
	while (from < to) {
		size_t end = group_end(all->t, from, to);
		const struct group g = {all->t + from, all->latencies + from, end - from};

		rows->v = xgrow(rows->v, rows->n, &rows->cap, sizeof(*rows->v));
		if (make_row(&g, m, &rows->v[rows->n]) == 0)
			rows->n++;
		else
			row_clear(&rows->v[rows->n]);
		from = end;
	}
}

static void summary_row(const struct result_summary *m, struct result_row *row)
{
	*row = (struct result_row){.run = m->run,
		.host = m->host,
		.layout = m->layout_name,
		.workload = m->workload_name,
		.layout_index = m->layout,
		.workload_index = m->workload,
		.metric = m->metric,
		.resolution = m->resolution,
		.summary_only = 1,
		.n = m->n,
		.throughput = NAN,
		.mean = m->mean,
		.median = NAN,
		.stddev = m->stddev,
		.stddev_resolution = m->stddev_resolution,
		.unit_assumed = m->unit_assumed,
		.data = m->data,
		.min = m->min,
		.max = m->max,
		.ci95 = {NAN, NAN},
		.median_ci = {NAN, NAN}};
}

struct metric_order {
	unsigned place[METRIC_COUNT];
};

static int by_section(const void *pa, const void *pb, void *order)
{
	const struct result_row *a = pa, *b = pb;
	const struct metric_order *o = order;
	int c = cmp(a->run, b->run);

	c = c ? c : strcmp(a->host, b->host);
	c = c ? c : cmp(a->workload_index, b->workload_index);
	c = c ? c : cmp(o->place[a->metric], o->place[b->metric]);
	c = c ? c : cmp(a->layout_index, b->layout_index);
	return c ? c : cmp((uint64_t)a->summary_only, (uint64_t)b->summary_only);
}

static int by_summary_place(const void *pa, const void *pb)
{
	const struct result_summary *a = *(const struct result_summary *const *)pa,
				    *b = *(const struct result_summary *const *)pb;
	int c = cmp(a->run, b->run);

	c = c ? c : strcmp(a->host, b->host);
	c = c ? c : cmp(a->workload, b->workload);
	return c ? c : cmp(a->layout, b->layout);
}

/* Summaries of times get the throughput of the same trials. */
static void add_throughputs(const struct result_set *s, struct result_row *rows, size_t n_rows)
{
	const struct result_summary **rates = xcalloc(s->n_summaries, sizeof(*rates));
	size_t n = 0;

	for (size_t i = 0; i < s->n_summaries; i++)
		if (s->summaries[i].metric == METRIC_THROUGHPUT)
			rates[n++] = &s->summaries[i];
	if (n)
		qsort(rates, n, sizeof(*rates), by_summary_place);
	for (size_t i = 0; n && i < n_rows; i++) {
		const struct result_summary key = {.run = rows[i].run,
			.host = (char *)rows[i].host,
			.workload = rows[i].workload_index,
			.layout = rows[i].layout_index},
					    *at = &key;
		const struct result_summary **found =
			bsearch(&at, rates, n, sizeof(*rates), by_summary_place);

		if (rows[i].summary_only && rows[i].metric == METRIC_ELAPSED && found &&
			(*found)->n == rows[i].n)
			rows[i].throughput = (*found)->mean;
	}
	free(rates);
}

/* Rows of the summaries go between those of the trials; a layout has one row. */
static void add_summaries(const struct result_set *s, const enum metric_id *metrics,
	size_t n_metrics, struct row_list *rows)
{
	struct metric_order order = {{0}};
	size_t kept = 0;

	for (size_t k = 0; k < n_metrics; k++)
		order.place[metrics[k]] = (unsigned)k + 1;
	for (size_t i = 0; i < s->n_summaries; i++) {
		if ((unsigned)s->summaries[i].metric >= METRIC_COUNT ||
			!order.place[s->summaries[i].metric])
			continue;
		rows->v = xgrow(rows->v, rows->n, &rows->cap, sizeof(*rows->v));
		summary_row(&s->summaries[i], &rows->v[rows->n++]);
	}
	if (rows->n)
		qsort_r(rows->v, rows->n, sizeof(*rows->v), by_section, &order);
	for (size_t i = 0; i < rows->n; i++) {
		struct result_row *last = kept ? &rows->v[kept - 1] : NULL, *now = &rows->v[i];

		if (last && now->summary_only && last->run == now->run &&
			strcmp(last->host, now->host) == 0 && last->metric == now->metric &&
			last->workload_index == now->workload_index &&
			last->layout_index == now->layout_index)
			continue;
		rows->v[kept++] = *now;
	}
	rows->n = kept;
	add_throughputs(s, rows->v, rows->n);
}

int result_rows(const struct result_set *s, const enum metric_id *metrics, size_t n_metrics,
	struct result_row **ret, size_t *ret_n, struct err *e)
{
	struct row_list rows = {0};
	struct group all;
	trial_ref *t;

	for (size_t i = 0; i < n_metrics; i++)
		if ((unsigned)metrics[i] >= METRIC_COUNT)
			return err_set(
				e, ERR_USAGE, "metric %u is not known", (unsigned)metrics[i]);
	t = xcalloc(s->n_trials + 1, sizeof(*t));
	all = (struct group){t, xcalloc(s->n_trials + 1, sizeof(*all.latencies)), s->n_trials};
	for (size_t i = 0; i < s->n_trials; i++)
		t[i] = &s->trials[i];
	if (s->n_trials)
		qsort(t, s->n_trials, sizeof(*t), by_place);
	for (size_t from = 0; from < s->n_trials;) {
		size_t to = section_end(t, from, s->n_trials);

		for (size_t k = 0; k < n_metrics; k++)
			section_rows(&all, from, to, metrics[k], &rows);
		from = to;
	}
	if (s->n_summaries)
		add_summaries(s, metrics, n_metrics, &rows);
	free(t);
	free(all.latencies);
	*ret = rows.v;
	*ret_n = rows.n;
	return 0;
}
