/*
 * Tables of the text report, as wide as the terminal at most where their words allow it. Owns nothing
 * beyond a call.
 * Invariant: a column that nothing is known for is not there; a verdict stands in the row of its
 * subject.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/utf8.h"
#include "coordinator/results/report_text.h"
#include "coordinator/results/table.h"

/* Of a table's columns. */
enum { VALUES = 1, SPREAD = 2, VERDICTS = 4 };

struct layout_table {
	const struct text *t;
	const struct analysis_run *run;
	const struct result_row *rows;
	size_t n;
	const char *baseline; /* NULL: no column of verdicts */
	int interval, range, throughput, physical;
	unsigned parts; /* which of them this table has: a narrow terminal gets several tables */
	size_t change_width;
	struct scale scale, rates;
	size_t found; /* which comparison of the host was asked for last: the next row's is mostly behind it */
	struct table table;
};

/* Of the same trials as the mean beside it: mean bytes over mean time. */
static double throughput(const struct result_row *r)
{
	double bytes = 0;

	if (r->summary_only)
		return r->throughput;
	for (unsigned i = 0; i < r->listed; i++)
		bytes += (double)r->trials[i]->sum.bytes;
	if (r->metric != METRIC_ELAPSED || r->listed == 0 || bytes <= 0 || !(r->mean > 0))
		return NAN;
	return bytes / r->listed / r->mean;
}

/* Of a rate over times that are rounded. */
static double rate_resolution(const struct result_row *r, double rate)
{
	return r->mean > 0 ? rate * report_mean_resolution(r) / r->mean : 0;
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

/* The headline that the row's layout lacks. */
static enum metric_id is_instead_of(const struct layout_table *l, const struct result_row *row)
{
	return row->workload_index < l->run->n_workloads ? l->run->headline[row->workload_index]
							  : METRIC_COUNT;
}

static const struct result_comparison *comparison_of(
	struct layout_table *l, const struct result_row *row)
{
	size_t n;
	const struct analysis_place *of = analysis_of_host(l->t->analysis, row->host, &n);

	while (n && of[n - 1].number >= l->t->analysis->n_comparisons)
		n--;
	for (size_t i = 0, at = l->found; i < n; i++, at++) {
		const struct result_comparison *c;

		at = at < n ? at : 0;
		c = &l->t->analysis->comparisons[of[at].number];
		l->found = at;
		if (c->run == row->run &&
			(c->metric == row->metric || c->metric == is_instead_of(l, row)) &&
			c->workload_index == row->workload_index &&
			strcmp(c->base, l->baseline) == 0 &&
			strcmp(c->subject, row->layout) == 0)
			return c;
	}
	return NULL;
}

const char *report_baseline(const struct text *t, const struct analysis_run *r, const char *host)
{
	size_t n;
	const struct analysis_place *of = analysis_of_host(t->analysis, host, &n);

	for (size_t i = 0; i < n; i++) {
		const struct result_comparison *c = analysis_planned(t->analysis, of[i].number);

		if (c->run == r->run->id)
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
	if (l->parts & VALUES) {
		table_cell(t, "n");
		table_cell(t, "%s", l->scale.name[0] == ' ' ? l->scale.name + 1 : "mean");
		t->left |= 1u << t->columns;
		table_cell(t, "%s%s%s", l->interval ? "95% CI" : "", l->interval && l->range ? " or " : "",
			l->range || !l->interval ? "[min…max]" : "");
		if (l->throughput)
			table_cell(t, "throughput");
		if (l->physical)
			table_cell(t, "physical/logical");
	}
	for (size_t i = 0; l->parts & SPREAD && i < ARRAY_LEN(more); i++)
		table_cell(t, "%s", more[i]);
	if (l->parts & VERDICTS)
		verdict_heading(l);
}

static void interval_cell(struct layout_table *l, const struct result_row *r)
{
	struct buf text = {0};

	report_spread_text(r, &l->scale, &text);
	table_cell(&l->table, "%s", text.data);
	buf_free(&text);
}

static const char *mean_text(const struct layout_table *l, const struct result_row *r, char out[UNITS_LEN])
{
	scale_text_fn *text = l->scale.name[0] == ' ' ? scale_number : scale_text;

	return text(&l->scale, r->mean, report_mean_resolution(r), out);
}

static void long_cells(struct layout_table *l, const struct result_row *r)
{
	double most = report_mean_resolution(r);
	struct buf cv = {0};
	char s[UNITS_LEN];

	table_cell(&l->table, "%s", scale_text(&l->scale, r->median, most, s));
	table_cell(&l->table, "%s", scale_text(&l->scale, r->stddev, most, s));
	report_cv_text(r, &cv);
	table_cell(&l->table, "%s", cv.data);
	buf_free(&cv);
	table_cell(&l->table, "%s", scale_text(&l->scale, r->min, r->resolution, s));
	table_cell(&l->table, "%s", scale_text(&l->scale, r->max, r->resolution, s));
}

/* The change, padded so that the verdicts of a table stand below each other, and the verdict. */
static void verdict_cell(struct layout_table *l, const struct result_row *row)
{
	const struct result_comparison *c = comparison_of(l, row);
	struct buf text = {0};

	if (!c && strcmp(row->layout, l->baseline) == 0)
		table_cell(&l->table, "baseline");
	if (!c)
		return;
	compare_change_text(&c->c, &text);
	for (size_t w = utf8_width(text.data); l->change_width && w < l->change_width + 2; w++)
		buf_addc(&text, ' ');
	report_verdict_text(l->t->set, l->t->opt, c, &text);
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
		if (utf8_width(text.data) > width)
			width = utf8_width(text.data);
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
	table_cell(t, "%s%s", mean_text(l, r, s), report_unit_mark(r));
	interval_cell(l, r);
	if (l->throughput)
		table_cell(t, "%s", scale_text(&l->rates, rate, rate_resolution(r, rate), s));
	if (l->physical && isnan(part))
		table_cell(t, "-");
	else if (l->physical)
		table_cell(t, "%.2f", part);
}

static void value_row(struct layout_table *l, const struct result_row *r)
{
	table_row(&l->table);
	table_cell(&l->table, "%s", r->layout);
	if (l->parts & VALUES)
		value_cells(l, r);
	if (l->parts & SPREAD)
		long_cells(l, r);
	if (l->parts & VERDICTS)
		verdict_cell(l, r);
}

/* Fills the table; which of its rows are headings. */
static void fill(struct layout_table *l, unsigned char *headings)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct result_row *r = &l->rows[i];
		int first = i == 0 || r->workload_index != r[-1].workload_index;

		if (first)
			headings[l->table.n] = 1;
		if (first)
			heading(l, r, i == 0);
		value_row(l, r);
	}
}

static size_t width_of(struct layout_table *l, unsigned parts, unsigned stacked)
{
	unsigned char *headings = xcalloc(2 * l->n, 1);
	size_t width;

	l->parts = parts;
	l->table.stacked = stacked;
	fill(l, headings);
	width = table_total(&l->table);
	table_clear(&l->table);
	free(headings);
	return width;
}

static int fits(struct layout_table *l, unsigned parts, unsigned stacked)
{
	unsigned room = l->t->opt->width;

	return !room || width_of(l, parts, stacked) <= room;
}

/* A table of those parts. Where it does not fit, what the disks moved goes, and the rate, which the
 * mean tells as well; then names get lines of their own. */
static void print_part(struct layout_table *l, unsigned parts)
{
	const char **before = xcalloc(2 * l->n, sizeof(*before)),
		   **after = xcalloc(2 * l->n, sizeof(*after));
	unsigned char *headings = xcalloc(2 * l->n, 1);
	unsigned stacked;

	if (parts & VALUES) {
		l->physical = l->physical && fits(l, parts, 0);
		l->throughput = l->throughput && fits(l, parts, 0);
	}
	stacked = !fits(l, parts, 0) && width_of(l, parts, 1) < width_of(l, parts, 0);
	l->parts = parts;
	l->table.stacked = stacked;
	fill(l, headings);
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

/* The fewest tables that the terminal has room for, one below the other. */
static void print_layouts(struct layout_table *l)
{
	static const unsigned char splits[][3] = {
		{VALUES | SPREAD | VERDICTS}, {VALUES | VERDICTS, SPREAD}, {VALUES | SPREAD, VERDICTS},
		{VALUES, SPREAD, VERDICTS}};
	unsigned all = VALUES | (l->t->opt->long_form ? SPREAD : 0) | (l->baseline ? VERDICTS : 0);
	size_t split = 0, k;

	l->change_width = change_width(l);
	for (; split + 1 < ARRAY_LEN(splits); split++) {
		for (k = 0; k < 3; k++)
			if ((splits[split][k] & all) && !fits(l, splits[split][k] & all, 0))
				break;
		if (k == 3)
			break;
	}
	for (k = 0; k < 3; k++)
		if (splits[split][k] & all)
			print_part(l, splits[split][k] & all);
}

static struct scale scale_of_rates(const struct result_row *rows, size_t n)
{
	struct scale s;

	scale_init(&s, metric_table[METRIC_THROUGHPUT].unit);
	for (size_t i = 0; i < n; i++)
		scale_take(&s, throughput(&rows[i]));
	return s;
}

void report_tables(
	const struct text *t, const struct analysis_run *r, const struct result_row *rows, size_t n)
{
	size_t from = 0, to;

	for (; from < n; from = to) {
		struct layout_table l = {.t = t,
			.run = r,
			.rows = rows + from,
			.baseline = report_baseline(t, r, rows[0].host)};

		for (to = from; to < n && rows[to].metric == rows[from].metric; to++) {
			l.interval |= report_has_interval(&rows[to]);
			l.range |= report_has_range(&rows[to]);
			l.throughput |= !isnan(throughput(&rows[to]));
			l.physical |= !isnan(physical(r, &rows[to]));
		}
		if (from > 0) {
			report_metric_text(rows[from].metric, t->out);
			buf_addc(t->out, '\n');
		}
		l.n = to - from;
		l.scale = report_scale(t->analysis, r, rows[0].host, rows + from, l.n, rows[from].metric);
		l.rates = scale_of_rates(rows + from, l.n);
		print_layouts(&l);
	}
}
