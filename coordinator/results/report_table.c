/*
 * Tables of the text report. Owns nothing beyond a call.
 * Invariant: a column that nothing is known for is not there; a verdict stands in the row of its
 * subject.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/report_text.h"
#include "coordinator/results/table.h"

#define INTERVAL_FROM 3 /* values below which a mean's interval says less than its range */

struct layout_table {
	const struct text *t;
	const struct analysis_run *run;
	const struct result_row *rows;
	size_t n;
	const char *baseline; /* NULL: no column of verdicts */
	int interval, throughput, physical;
	enum { ALL_COLUMNS, WITHOUT_VERDICTS, VERDICTS } part; /* a narrow terminal gets two tables */
	struct table table;
};

/* Of the same trials as the mean beside it: mean bytes over mean time. */
static double throughput(const struct result_row *r)
{
	double bytes = 0;

	for (unsigned i = 0; i < r->listed; i++)
		bytes += (double)r->trials[i]->sum.bytes;
	if (r->metric != METRIC_ELAPSED || r->listed == 0 || bytes <= 0 || !(r->mean > 0))
		return NAN;
	return bytes / r->listed / r->mean;
}

/* What the disks moved the workload's way. */
static double disks_moved(const struct telemetry *t, enum workload_moves moves)
{
	double reads = (double)t->disk_read_bytes, writes = (double)t->disk_write_bytes;

	switch (moves) {
	case MOVES_READS:
		return reads;
	case MOVES_WRITES:
		return writes;
	case MOVES_BOTH:
		return reads + writes;
	default:
		return NAN;
	}
}

/* That over what the workload moved; NaN where a trial has no counters, and where nobody knows which
 * way the workload goes. */
static double physical(const struct analysis_run *run, const struct result_row *r)
{
	enum workload_moves moves = analysis_nature(run, r).moves;
	double moved = 0, asked = 0;

	for (unsigned i = 0; i < r->listed; i++) {
		const struct result_trial *t = r->trials[i];

		if (t->sum.tele.disks == 0)
			return NAN;
		moved += disks_moved(&t->sum.tele, moves);
		asked += (double)t->sum.bytes;
	}
	return asked > 0 ? moved / asked : NAN;
}

static int has_interval(const struct result_row *r)
{
	return !r->summary_only && r->n >= INTERVAL_FROM && !isnan(r->ci95[0]);
}

static const struct result_comparison *comparison_of(
	const struct layout_table *l, const struct result_row *row)
{
	const struct analysis *a = l->t->analysis;

	for (size_t i = 0; i < a->n_comparisons; i++) {
		const struct result_comparison *c = &a->comparisons[i];

		if (c->run == row->run && c->host && c->metric == row->metric &&
			c->workload_index == row->workload_index &&
			strcmp(c->host, row->host) == 0 && strcmp(c->base, l->baseline) == 0 &&
			strcmp(c->subject, row->layout) == 0)
			return c;
	}
	return NULL;
}

/* What the run's layouts are compared with: the side of the first comparison on that host. */
static const char *baseline_of(const struct text *t, const struct analysis_run *r, const char *host)
{
	const struct analysis *a = t->analysis;

	for (size_t i = 0; i < a->n_comparisons; i++) {
		const struct result_comparison *c = &a->comparisons[i];

		if (c->run == r->run->id && c->host && strcmp(c->host, host) == 0)
			return c->base;
	}
	return NULL;
}

static void verdict_heading(struct layout_table *l)
{
	l->table.left |= 1u << l->table.columns;
	if (l->baseline)
		table_cell(&l->table, "vs %s (%g%% CI, all comparisons)", l->baseline,
			analysis_confidence(l->t->analysis, l->run));
}

static void heading(struct layout_table *l, const struct result_row *row, int first)
{
	static const char *const more[] = {"median", "stddev", "cv", "min", "max"};
	struct table *t = &l->table;

	table_row(t);
	table_cell(t, "%s", row->workload);
	if (!first)
		return;
	if (l->part == VERDICTS) {
		verdict_heading(l);
		return;
	}
	table_cell(t, "n");
	table_cell(t, "mean");
	t->left |= 1u << t->columns;
	table_cell(t, "%s", l->interval ? "95% CI" : "[min…max]");
	if (l->throughput)
		table_cell(t, "throughput");
	if (l->physical)
		table_cell(t, "physical/logical");
	for (size_t i = 0; l->t->opt->long_form && i < ARRAY_LEN(more); i++)
		table_cell(t, "%s", more[i]);
	if (l->part == ALL_COLUMNS)
		verdict_heading(l);
}

/* How much of a is printed before b: not its unit, when b has the same. */
static int range_start(const char *a, const char *b)
{
	const char *ua = strchr(a, ' '), *ub = strchr(b, ' ');

	return (int)(ua && ub && strcmp(ua, ub) == 0 ? (size_t)(ua - a) : strlen(a));
}

static void interval_cell(struct layout_table *l, const struct result_row *r)
{
	char a[UNITS_LEN], b[UNITS_LEN];

	if (has_interval(r))
		table_cell(&l->table, "±%.1f%%", 100 * (r->ci95[1] - r->ci95[0]) / 2 / r->mean);
	else if (r->n > 1 && !isnan(r->min) && !isnan(r->max))
		table_cell(&l->table, "[%.*s…%s]",
			range_start(report_value(r->metric, r->min, a),
				report_value(r->metric, r->max, b)),
			a, b);
	else
		table_cell(&l->table, "-");
}

static void long_cells(struct layout_table *l, const struct result_row *r)
{
	char s[UNITS_LEN];

	table_cell(&l->table, "%s", report_value(r->metric, r->median, s));
	table_cell(&l->table, "%s", report_value(r->metric, r->stddev, s));
	if (isnan(r->stddev))
		table_cell(&l->table, "-");
	else
		table_cell(&l->table, "%.1f%%", 100 * r->stddev / r->mean);
	table_cell(&l->table, "%s", report_value(r->metric, r->min, s));
	table_cell(&l->table, "%s", report_value(r->metric, r->max, s));
}

/* The change, padded so that the verdicts of a table stand below each other, and the verdict. */
static void verdict_cell(struct layout_table *l, const struct result_row *row, size_t width)
{
	const struct result_comparison *c = comparison_of(l, row);
	struct buf text = {0};

	if (!c && strcmp(row->layout, l->baseline) == 0)
		table_cell(&l->table, "baseline");
	if (!c)
		return;
	compare_change_text(&c->c, &text);
	for (size_t w = table_width(text.data); width && w < width + 2; w++)
		buf_addc(&text, ' ');
	compare_verdict_text(&c->c, c->margin, &text);
	if (c->invalid.n)
		buf_adds(&text, " [invalid:");
	for (size_t i = 0; i < c->invalid.n; i++)
		buf_addf(&text, " %s%s", c->invalid.v[i], i + 1 < c->invalid.n ? "," : "]");
	table_cell(&l->table, "%s", buf_str(&text));
	buf_free(&text);
}

static size_t change_width(struct layout_table *l)
{
	size_t width = 0;

	for (size_t i = 0; l->baseline && i < l->n; i++) {
		const struct result_comparison *c = comparison_of(l, &l->rows[i]);
		struct buf text = {0};

		if (c)
			compare_change_text(&c->c, &text);
		if (table_width(text.data) > width)
			width = table_width(text.data);
		buf_free(&text);
	}
	return width;
}

static void value_cells(struct layout_table *l, const struct result_row *r)
{
	double rate = throughput(r), part = physical(l->run, r);
	struct table *t = &l->table;
	char s[UNITS_LEN];

	table_cell(t, "%u", r->n);
	table_cell(t, "%s%s", report_value(r->metric, r->mean, s), report_unit_mark(r));
	interval_cell(l, r);
	if (l->throughput)
		table_cell(t, "%s", report_value(METRIC_THROUGHPUT, rate, s));
	if (l->physical && isnan(part))
		table_cell(t, "-");
	else if (l->physical)
		table_cell(t, "%.2f", part);
	if (l->t->opt->long_form)
		long_cells(l, r);
}

static void value_row(struct layout_table *l, const struct result_row *r, size_t width)
{
	table_row(&l->table);
	table_cell(&l->table, "%s", r->layout);
	if (l->part != VERDICTS)
		value_cells(l, r);
	if (l->baseline && l->part != WITHOUT_VERDICTS)
		verdict_cell(l, r, width);
}

/* Fills the table; which of its rows are headings. */
static void fill(struct layout_table *l, size_t width, unsigned char *headings)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct result_row *r = &l->rows[i];
		int first = i == 0 || r->workload_index != r[-1].workload_index;

		if (first)
			headings[l->table.n] = 1;
		if (first)
			heading(l, r, i == 0);
		value_row(l, r, width);
	}
}

static void print_part(struct layout_table *l, size_t width)
{
	const char **before = xcalloc(2 * l->n, sizeof(*before)),
		   **after = xcalloc(2 * l->n, sizeof(*after));
	unsigned char *headings = xcalloc(2 * l->n, 1);

	fill(l, width, headings);
	for (size_t i = 0; i < l->table.n; i++) {
		before[i] = headings[i] ? report_colored(l->t, BOLD) : NULL;
		after[i] = headings[i] ? report_colored(l->t, PLAIN) : NULL;
	}
	table_print(&l->table, before, after, l->t->out);
	table_clear(&l->table);
	free(before);
	free(after);
	free(headings);
}

static int is_too_wide(struct layout_table *l, size_t width)
{
	unsigned char *headings = xcalloc(2 * l->n, 1);
	int wide;

	if (!l->t->opt->width) {
		free(headings);
		return 0;
	}
	fill(l, width, headings);
	wide = table_total(&l->table) > l->t->opt->width;
	table_clear(&l->table);
	free(headings);
	return wide;
}

/* Where the terminal is too narrow, the verdicts stand below in a table of their own; what still does
 * not fit then is what the disks moved, and the rate, which the mean tells as well. */
static void print_layouts(struct layout_table *l)
{
	size_t width = change_width(l);

	if (is_too_wide(l, width)) {
		l->part = l->baseline ? WITHOUT_VERDICTS : ALL_COLUMNS;
		l->physical = l->physical && !is_too_wide(l, width);
		l->throughput = l->throughput && !is_too_wide(l, width);
	}
	print_part(l, width);
	if (l->part == WITHOUT_VERDICTS) {
		l->part = VERDICTS;
		print_part(l, width);
	}
}

void report_tables(
	const struct text *t, const struct analysis_run *r, const struct result_row *rows, size_t n)
{
	size_t from = 0, to;

	for (; from < n; from = to) {
		struct layout_table l = {.t = t,
			.run = r,
			.rows = rows + from,
			.baseline = baseline_of(t, r, rows[0].host)};

		for (to = from; to < n && rows[to].metric == rows[from].metric; to++) {
			l.interval |= has_interval(&rows[to]);
			l.throughput |= !isnan(throughput(&rows[to]));
			l.physical |= !isnan(physical(r, &rows[to]));
		}
		if (from > 0)
			buf_addf(t->out, "%s\n", metric_table[rows[from].metric].name);
		l.n = to - from;
		print_layouts(&l);
	}
}
