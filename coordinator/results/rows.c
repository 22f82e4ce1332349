/*
 * Trials -> rows of a report. Owns the rows it makes; names and trials are borrowed from the set.
 * Invariant: a block gives at most one value to a row, from one attempt.
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

/* Mean of the metric over the repeats of one block, from the trials [*i, n) that belong to it; *i
 * moves behind them. NaN when no trial counts. ret_first: the first repeat's trial. */
static double block_value(trial_ref *t, size_t n, size_t *i, enum metric_id m, trial_ref *ret_first,
	unsigned *ret_counted)
{
	trial_ref head = t[*i], taken = NULL, first = NULL;
	double sum = 0;
	unsigned values = 0, counted = 0;
	uint32_t attempt = 0;

	for (; *i < n && t[*i]->block == head->block; (*i)++) {
		trial_ref now = t[*i];
		double v;

		if (!counts(now) || (taken && now->attempt != attempt) ||
			(taken && now->repeat == taken->repeat))
			continue;
		taken = now;
		attempt = now->attempt;
		first = first ? first : now;
		counted++;
		v = trial_metric(&now->sum, m);
		if (isnan(v))
			continue;
		sum += v;
		values++;
	}
	*ret_first = first;
	*ret_counted = counted;
	return values ? sum / values : NAN;
}

static void count_left_out(struct result_row *row, trial_ref t)
{
	if (t->superseded)
		row->superseded++;
	else if (!t->sum.ok)
		row->failed++;
	else if (!t->complete)
		row->incomplete++;
}

/* One row from a group of n trials. 1: trials counted, but none has the metric. */
static int make_row(trial_ref *t, size_t n, enum metric_id m, struct result_row *row)
{
	unsigned counted = 0;
	struct stats s;

	*row = (struct result_row){.run = t[0]->run,
		.host = t[0]->host,
		.layout = t[0]->layout_name,
		.workload = t[0]->workload_name,
		.metric = m};
	row->values = xcalloc(n, sizeof(*row->values));
	row->blocks = xcalloc(n, sizeof(*row->blocks));
	row->trials = xcalloc(n, sizeof(*row->trials));
	for (size_t i = 0; i < n; i++)
		count_left_out(row, t[i]);
	for (size_t i = 0; i < n;) {
		uint32_t block = t[i]->block;
		unsigned some;
		trial_ref first;
		double v = block_value(t, n, &i, m, &first, &some);

		counted += some;
		if (isnan(v))
			continue;
		row->values[row->n] = v;
		row->blocks[row->n] = block;
		row->trials[row->n++] = first;
	}
	stats_describe(row->values, row->n, &s);
	row->mean = s.mean;
	row->median = s.median;
	row->stddev = s.stddev;
	row->min = s.min;
	row->max = s.max;
	return row->n == 0 && counted > 0;
}

static void row_clear(struct result_row *row)
{
	free(row->values);
	free(row->blocks);
	free(row->trials);
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
	trial_ref *t, size_t from, size_t to, enum metric_id m, struct row_list *rows)
{
	while (from < to) {
		size_t end = group_end(t, from, to);

		rows->v = xgrow(rows->v, rows->n, &rows->cap, sizeof(*rows->v));
		if (make_row(t + from, end - from, m, &rows->v[rows->n]) == 0)
			rows->n++;
		else
			row_clear(&rows->v[rows->n]);
		from = end;
	}
}

int result_rows(const struct result_set *s, const enum metric_id *metrics, size_t n_metrics,
	struct result_row **ret, size_t *ret_n, struct err *e)
{
	trial_ref *t = xcalloc(s->n_trials, sizeof(*t));
	struct row_list rows = {0};

	for (size_t i = 0; i < n_metrics; i++)
		if ((unsigned)metrics[i] >= METRIC_COUNT) {
			free(t);
			return err_set(
				e, ERR_USAGE, "metric %u is not known", (unsigned)metrics[i]);
		}
	for (size_t i = 0; i < s->n_trials; i++)
		t[i] = &s->trials[i];
	if (s->n_trials)
		qsort(t, s->n_trials, sizeof(*t), by_place);
	for (size_t from = 0; from < s->n_trials;) {
		size_t to = section_end(t, from, s->n_trials);

		for (size_t k = 0; k < n_metrics; k++)
			section_rows(t, from, to, metrics[k], &rows);
		from = to;
	}
	free(t);
	*ret = rows.v;
	*ret_n = rows.n;
	return 0;
}
