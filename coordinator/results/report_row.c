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

static void range_text(enum metric_id m, double lo, double hi, struct buf *out)
{
	char a[UNITS_LEN], b[UNITS_LEN];
	const char *from = report_value(m, lo, a), *to = report_value(m, hi, b);

	report_range_text(from, to, out);
}

void report_spread_text(const struct result_row *r, struct buf *out)
{
	int interval = report_has_interval(r);

	if (interval && r->ci95[0] > 0) {
		buf_addf(out, "±%.1f%%", 100 * (r->ci95[1] - r->ci95[0]) / 2 / r->mean);
	} else if (interval || report_has_range(r)) {
		buf_addc(out, interval ? '(' : '[');
		range_text(r->metric, interval ? r->ci95[0] : r->min, interval ? r->ci95[1] : r->max, out);
		buf_addc(out, interval ? ')' : ']');
	} else {
		buf_addc(out, '-');
	}
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
