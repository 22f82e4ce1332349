/*
 * How the reports for people say what a run and a row are. Owns nothing.
 * Invariant: the same run and row have the same words in all of them.
 */
#include <math.h>
#include <string.h>

#include "coordinator/results/report_details.h"
#include "coordinator/results/report_text.h"

#define INTERVAL_FROM 3 /* values below which a mean's interval says less than its range */

const char *report_value(enum metric_id m, double v, char out[UNITS_LEN])
{
	return report_quantity(v, metric_table[m].unit, out);
}

void report_metric_text(enum metric_id m, struct buf *out)
{
	buf_addf(out, "%s, %s is better", metric_table[m].name,
		metric_table[m].higher_is_better ? "more" : "less");
}

int report_has_interval(const struct result_row *r)
{
	return !r->summary_only && r->n >= INTERVAL_FROM && !isnan(r->ci95[0]);
}

int report_has_range(const struct result_row *r)
{
	return !report_has_interval(r) && r->n > 1 && !isnan(r->min) && !isnan(r->max);
}

void report_range_text(const char *from, const char *to, struct buf *out)
{
	const char *a = strchr(from, ' '), *b = strchr(to, ' ');

	buf_addf(out, "%.*s…%s", (int)(a && b && !strcmp(a, b) ? (size_t)(a - from) : strlen(from)),
		from, to);
}

/* As many decimals as show that there is some. */
static void percent_text(double percent, struct buf *out)
{
	int places = units_decimals(percent, 1);

	buf_addf(out, "%.*f%%", places > 1 ? places : 1, percent);
}

void report_cv_text(const struct result_row *r, struct buf *out)
{
	double percent = 100 * r->stddev / r->mean;

	if (isfinite(percent))
		percent_text(percent, out);
	else
		buf_addc(out, '-');
}

void report_spread_text(const struct result_row *r, const struct scale *column, struct buf *out)
{
	int interval = report_has_interval(r);
	double lo = interval ? r->ci95[0] : r->min, hi = interval ? r->ci95[1] : r->max;
	double resolution = interval ? report_mean_resolution(r) : r->resolution;
	scale_text_fn *text = scale_fits(column, lo) && scale_fits(column, hi) && scale_fits(column, r->mean)
				      ? scale_number
				      : scale_text;
	struct scale s = *column;
	char from[UNITS_LEN], to[UNITS_LEN];

	scale_tell_apart(&s, lo, resolution, hi, resolution);
	if (interval && lo > 0) {
		buf_adds(out, "±");
		percent_text(100 * (hi - lo) / 2 / r->mean, out);
	} else if (interval || report_has_range(r)) {
		buf_addf(out, "%c%s…%s%c", interval ? '(' : '[', text(&s, lo, resolution, from),
			text(&s, hi, resolution, to), interval ? ')' : ']');
	} else {
		buf_addc(out, '-');
	}
}

/* A mean of several carries a digit more than each of them; a printed one has what was printed. */
double report_mean_resolution(const struct result_row *r)
{
	return !r->summary_only && r->n > 1 ? r->resolution / 10 : r->resolution;
}

static void take_row(struct scale *s, const struct result_row *row)
{
	scale_take(s, row->mean);
	scale_take(s, row->min);
	scale_take(s, row->max);
}

static int is_decided(const struct result_comparison *c)
{
	return c->c.verdict == VERDICT_FASTER || c->c.verdict == VERDICT_SLOWER;
}

static void tell_apart(struct scale *s, const struct result_comparison *c, uint64_t run, enum metric_id m)
{
	const struct result_row *x = c->base_row, *y = c->subject_row;

	if (c->run == run && c->metric == m && x && y && is_decided(c))
		scale_tell_apart(
			s, x->mean, report_mean_resolution(x), y->mean, report_mean_resolution(y));
}

struct scale report_scale(const struct analysis *a, const struct analysis_run *r, const char *host,
	const struct result_row *rows, size_t n, enum metric_id m)
{
	const struct analysis_place *of = a->by_host;
	size_t n_of = a->n_comparisons + a->n_absent;
	struct scale s;

	scale_init(&s, metric_table[m].unit);
	for (size_t i = 0; i < n; i++)
		if (rows[i].metric == m)
			take_row(&s, &rows[i]);
	if (host)
		of = analysis_of_host(a, host, &n_of);
	for (size_t i = 0; i < n_of; i++)
		tell_apart(&s, analysis_planned(a, of[i].number), r->run->id, m);
	return s;
}

/* Of imported trials it is told beside each, or not at all. */
static int cache_is_known(const struct result_set *s, const struct result_run *r)
{
	size_t told = 0;

	if (*r->cache)
		return 1;
	for (size_t i = 0; i < s->n_trials; i++) {
		if (s->trials[i].run != r->id)
			continue;
		if (!*s->trials[i].cache)
			return 0;
		told++;
	}
	return told > 0;
}

static int order_is_known(const struct result_run *r)
{
	return strcmp(r->design, "once") == 0 || strcmp(r->design, "as-written") == 0 ||
	       strcmp(r->design, "random-blocks") == 0;
}

void report_state_text(const struct result_set *s, const struct result_run *r, struct buf *out)
{
	int order = order_is_known(r), cache = cache_is_known(s, r);

	buf_adds(out, r->state);
	if (strcmp(r->state, "imported") == 0 && !(order && cache))
		buf_addf(out, "; %s%s%s unknown", order ? "" : "order", order || cache ? "" : ", ",
			cache ? "" : "cache");
}

static const char *design_text(const struct result_run *r)
{
	if (strcmp(r->design, "once") == 0)
		return " built once";
	if (strcmp(r->design, "as-written") == 0)
		return " in the order written";
	if (strcmp(r->design, "random-blocks") == 0)
		return " in random order";
	return strcmp(r->state, "imported") == 0 ? "" : " order unknown"; /* the state says it */
}

void report_blocks_text(const struct analysis_run *r, struct buf *out)
{
	const struct result_run *run = r->run;

	if (r->plan && r->plan->until > 0)
		buf_addf(out, "%u…%u blocks%s", r->plan->trials_min, r->plan->trials_max,
			design_text(run));
	else if (run->blocks)
		buf_addf(out, "%u block%s%s", run->blocks, run->blocks == 1 ? "" : "s",
			design_text(run));
}
