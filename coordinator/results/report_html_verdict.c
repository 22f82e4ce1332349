/*
 * First in the HTML report: what was found, and how sure it is. Owns nothing beyond a call.
 * Invariant: what is invalid stands beside the verdict it spoils, wherever that verdict is shown.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "coordinator/results/report_html.h"
#include "coordinator/results/report_text.h"

#define SENTENCES_MAX 8 /* more are counted; the table has them all */

static int is_headline(const struct analysis_run *r, const struct result_comparison *c)
{
	return c->workload_index < r->n_workloads && r->headline[c->workload_index] == c->metric;
}

/* Comparisons that a run is judged by: over all hosts where there are such, else those of each
 * host. */
static int has_overall(const struct html *h, const struct analysis_run *r)
{
	for (size_t i = 0; i < h->analysis->n_comparisons; i++) {
		const struct result_comparison *c = &h->analysis->comparisons[i];

		if (c->run == r->run->id && !c->host && !c->between_hosts && is_headline(r, c))
			return 1;
	}
	return 0;
}

static int is_leading(
	const struct analysis_run *r, const struct result_comparison *c, int overall)
{
	return c->run == r->run->id && is_headline(r, c) &&
	       (!overall || (!c->host && !c->between_hosts));
}

static void change(const struct result_comparison *c, struct buf *out)
{
	compare_change_text(&c->c, out);
}

static void verdict(const struct result_comparison *c, struct buf *out)
{
	compare_verdict_text(&c->c, c->margin, out);
	for (size_t i = 0; i < c->invalid.n; i++)
		buf_addf(out, "%s%s%s", i ? ", " : " [invalid: ", c->invalid.v[i],
			i + 1 < c->invalid.n ? "" : "]");
}

/* "raidz2-10 against raidz2-8" */
static void pair(const struct html *h, const struct result_comparison *c, struct buf *out)
{
	char a[REPORT_HOST_MAX], b[REPORT_HOST_MAX];

	if (c->between_hosts)
		buf_addf(out, "%s against %s", html_host(h, c->subject, a),
			html_host(h, c->base, b));
	else
		buf_addf(out, "%s against %s", c->subject, c->base);
}

static void sentence(struct html *h, const struct result_comparison *c)
{
	struct buf words = {0}, text = {0};
	char host[REPORT_HOST_MAX];

	buf_addf(h->out, "<li class=\"%s%s\"><strong>", verdict_name(c->c.verdict),
		c->invalid.n ? " invalid" : "");
	verdict(c, &words);
	html_text(h->out, words.data);
	buf_adds(h->out, "</strong> ");
	pair(h, c, &text);
	buf_addf(&text, " on %s, %s", c->workload, metric_table[c->metric].name);
	if (c->host)
		buf_addf(&text, ", host %s", html_host(h, c->host, host));
	buf_adds(&text, ": ");
	change(c, &text);
	if (!c->c.n)
		buf_adds(&text, "nothing to compare");
	html_text(h->out, text.data);
	buf_adds(h->out, "</li>\n");
	buf_free(&words);
	buf_free(&text);
}

/* Those that tell a difference come first. */
static void sentences(struct html *h, const struct analysis_run *r, int overall)
{
	static const enum verdict order[] = {
		VERDICT_SLOWER, VERDICT_FASTER, VERDICT_NO_DIFFERENCE, VERDICT_TOO_FEW};
	size_t n = 0;

	buf_adds(h->out, "<ul class=\"verdicts\">\n");
	for (size_t v = 0; v < ARRAY_LEN(order); v++)
		for (size_t i = 0; i < h->analysis->n_comparisons; i++) {
			const struct result_comparison *c = &h->analysis->comparisons[i];

			if (is_leading(r, c, overall) && c->c.verdict == order[v] &&
				n++ < SENTENCES_MAX)
				sentence(h, c);
		}
	buf_adds(h->out, "</ul>\n");
	if (n > SENTENCES_MAX)
		buf_addf(h->out, "<p class=\"hint\">%zu more are in the table below.</p>\n",
			n - SENTENCES_MAX);
}

/* One sentence over all of them. */
static void lead(struct html *h, const struct analysis_run *r, int overall)
{
	static const char *const words[] = {"with too few trials", "without a difference shown",
		"faster", "slower"};
	size_t count[4] = {0}, invalid = 0, n = 0;
	const char *sep = ": ";

	for (size_t i = 0; i < h->analysis->n_comparisons; i++) {
		const struct result_comparison *c = &h->analysis->comparisons[i];

		if (!is_leading(r, c, overall))
			continue;
		count[c->c.verdict]++;
		invalid += c->invalid.n > 0;
		n++;
	}
	buf_addf(h->out, "<p class=\"lead\">%zu comparison%s", n, n == 1 ? "" : "s");
	if (overall)
		buf_addf(h->out, " over %zu hosts", r->n_hosts);
	for (size_t v = 4; v-- > 0;) {
		if (!count[v])
			continue;
		buf_addf(h->out, "%s%zu %s", sep, count[v], words[v]);
		sep = ", ";
	}
	if (invalid)
		buf_addf(h->out, "; %zu of them invalid", invalid);
	buf_adds(h->out, ".</p>\n");
}

static void run_verdict(struct html *h, const struct analysis_run *r)
{
	int overall = has_overall(h, r);
	size_t n = 0;

	for (size_t i = 0; i < h->analysis->n_comparisons; i++)
		n += (size_t)is_leading(r, &h->analysis->comparisons[i], overall);
	if (r->n_rows == 0)
		buf_addf(h->out, "<p class=\"lead\">No trial has ended%s.</p>\n",
			r->run->finished_wall_ns ? "" : " yet");
	else if (n == 0)
		buf_adds(h->out, "<p class=\"lead\">Nothing is compared here.</p>\n");
	else
		lead(h, r, overall);
	if (n)
		sentences(h, r, overall);
}

void html_verdict(struct html *h)
{
	size_t before, n;

	html_section(h, "verdict", "Verdict");
	if (h->analysis->n_runs == 0)
		buf_adds(h->out, "<p class=\"lead\">There is no run in this report.</p>\n");
	for (size_t i = 0; i < h->analysis->n_runs; i++) {
		html_run_heading(h, &h->analysis->runs[i]);
		run_verdict(h, &h->analysis->runs[i]);
	}
	before = h->out->len;
	buf_adds(h->out, "<ul class=\"findings\">\n");
	n = html_findings_list(h, SEVERITY_INVALID);
	buf_adds(h->out, "</ul>\n");
	if (n == 0) { /* take the empty list back */
		h->out->len = before;
		h->out->data[before] = '\0';
	}
	html_section_end(h);
}

static json_t *interval(const struct html *h, const struct result_comparison *c, int many)
{
	struct buf label = {0}, text = {0};
	char host[REPORT_HOST_MAX];
	json_t *o = json_object();

	if (many)
		buf_addf(&label, "%s · ", c->workload);
	if (c->layout)
		buf_addf(&label, "%s · ", c->layout);
	pair(h, c, &label);
	buf_addf(&label, " · %s", c->host ? html_host(h, c->host, host)
				   : c->between_hosts ? "hosts" : "all hosts");
	change(c, &text);
	buf_addf(&text, "%s", text.len ? "  " : "");
	verdict(c, &text);
	html_set(o, "label", json_text(label.data));
	html_set(o, "text", json_text(text.data));
	html_set(o, "d", json_number(c->c.d));
	html_set(o, "lo", json_number(c->c.lo));
	html_set(o, "hi", json_number(c->c.hi));
	html_set(o, "verdict", json_text(verdict_name(c->c.verdict)));
	html_set(o, "invalid", json_boolean(c->invalid.n > 0));
	html_set(o, "overall", json_boolean(!c->host && !c->between_hosts));
	buf_free(&label);
	buf_free(&text);
	return o;
}

/* Within a workload: over all hosts first, then by ratio, which makes a fleet a caterpillar. */
static int by_ratio(const void *pa, const void *pb)
{
	const struct result_comparison *a = *(const struct result_comparison *const *)pa;
	const struct result_comparison *b = *(const struct result_comparison *const *)pb;
	int c = (a->workload_index > b->workload_index) - (a->workload_index < b->workload_index);

	c = c ? c : (a->host != NULL) - (b->host != NULL);
	c = c ? c : strcmp(a->subject, b->subject);
	c = c ? c : isnan(a->c.d) - isnan(b->c.d);
	c = c ? c : (a->c.d > b->c.d) - (a->c.d < b->c.d);
	return c ? c : (a > b) - (a < b);
}

static const struct result_comparison **of_metric(const struct html *h,
	const struct analysis_run *r, enum metric_id m, size_t *ret_n)
{
	const struct analysis *a = h->analysis;
	const struct result_comparison **list = xcalloc(a->n_comparisons + 1, sizeof(*list));
	size_t n = 0;

	for (size_t i = 0; i < a->n_comparisons; i++)
		if (a->comparisons[i].run == r->run->id && a->comparisons[i].metric == m)
			list[n++] = &a->comparisons[i];
	if (n)
		qsort(list, n, sizeof(*list), by_ratio);
	*ret_n = n;
	return list;
}

static void forest(struct html *h, const struct analysis_run *r,
	const struct result_comparison *const *list, size_t n)
{
	const struct metric_info *m = &metric_table[list[0]->metric];
	json_t *plot = html_plot(h, "forest", "Each change with its interval"), *rows;
	double margin = list[0]->margin;

	if (!plot)
		return;
	rows = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(rows, interval(h, list[i], r->n_workloads > 1));
	html_set(plot, "rows", rows);
	html_set(plot, "metric", json_text(m->name));
	html_set(plot, "higher", json_boolean(m->higher_is_better));
	html_set(plot, "margin", margin > 0 ? json_number(log1p(margin)) : json_null());
}

/* One of a pair of layouts and a workload: list[0] and those like it. */
static void histogram(struct html *h, const struct result_comparison *const *list, size_t n)
{
	json_t *plot, *values = json_array(), *outliers = json_array();
	char host[REPORT_HOST_MAX];
	struct buf label = {0};

	buf_addf(&label, "%s: ", list[0]->workload);
	pair(h, list[0], &label);
	plot = html_plot(h, "ratios", "How many hosts have which change");
	for (size_t i = 0; i < n; i++)
		if (!isnan(list[i]->c.d))
			json_array_append_new(values, json_number(list[i]->c.d));
	for (size_t i = 0; i < h->analysis->n_outliers; i++) {
		const struct result_outlier *o = &h->analysis->outliers[i];

		if (o->run == list[0]->run && o->metric == list[0]->metric &&
			strcmp(o->workload, list[0]->workload) == 0 &&
			strcmp(o->layout, list[0]->subject) == 0)
			json_array_append_new(outliers, json_text(html_host(h, o->host, host)));
	}
	html_set(plot, "label", json_text(label.data));
	html_set(plot, "metric", json_text(metric_table[list[0]->metric].name));
	html_set(plot, "values", values);
	html_set(plot, "outliers", outliers);
	buf_free(&label);
}

static int is_same_pair(const struct result_comparison *a, const struct result_comparison *b)
{
	return a->workload_index == b->workload_index && strcmp(a->subject, b->subject) == 0 &&
	       strcmp(a->base, b->base) == 0 && !a->host == !b->host;
}

/* Forest plots of what is over hosts; histograms of what each host has. */
static void fleet(struct html *h, const struct analysis_run *r,
	const struct result_comparison *const *list, size_t n)
{
	const struct result_comparison **overall = xcalloc(n, sizeof(*overall));
	size_t shown = 0, from, to;

	for (size_t i = 0; i < n && shown < HTML_INTERVALS_MAX; i++)
		if (!list[i]->host)
			overall[shown++] = list[i];
	if (shown)
		forest(h, r, overall, shown);
	for (from = 0; from < n; from = to) {
		for (to = from; to < n && is_same_pair(list[from], list[to]);)
			to++;
		if (list[from]->host)
			histogram(h, list + from, to - from);
	}
	free(overall);
}

static void comparisons_table(
	struct html *h, const struct result_comparison *const *list, size_t n)
{
	static const char *const headings[] = {"workload", "host", "comparison",
		"#change (95% CI, all comparisons)", "verdict", "#n", "estimator", NULL};
	char host[REPORT_HOST_MAX];

	html_table(h, n <= HTML_OPEN_ROWS_MAX, "Comparisons", headings);
	for (size_t i = 0; i < n; i++) {
		const struct result_comparison *c = list[i];
		struct buf text = {0};

		html_row(h);
		html_cell(h, "%s", c->workload);
		html_cell(h, "%s", c->host ? html_host(h, c->host, host)
				   : c->between_hosts ? "" : "all hosts");
		if (c->layout)
			buf_addf(&text, "%s: ", c->layout);
		pair(h, c, &text);
		html_cell(h, "%s", text.data);
		buf_reset(&text);
		change(c, &text);
		html_number(h, "%s", buf_str(&text));
		buf_reset(&text);
		verdict(c, &text);
		html_cell(h, "%s", text.data);
		html_number(h, "%u", c->c.n);
		html_cell(h, "%s",
			estimator_name(c->c.estimator) ? estimator_name(c->c.estimator) : "");
		buf_free(&text);
	}
	html_table_end(h);
}

static void value(struct html *h, enum metric_id m, double v)
{
	char s[UNITS_LEN];

	html_number(h, "%s", report_value(m, v, s));
}

static void results_table(struct html *h, const struct analysis_run *r)
{
	static const char *const headings[] = {"workload", "host", "layout", "metric", "#n", "#mean",
		"#95% CI of the mean", "#median", "#min", "#max", NULL};
	char a[UNITS_LEN], b[UNITS_LEN], host[REPORT_HOST_MAX];

	html_table(h, r->n_rows <= HTML_OPEN_ROWS_MAX, "Results", headings);
	for (size_t i = r->first_row; i < r->first_row + r->n_rows; i++) {
		const struct result_row *row = &h->analysis->rows[i];

		html_row(h);
		html_cell(h, "%s", row->workload);
		html_cell(h, "%s", html_host(h, row->host, host));
		html_cell(h, "%s", row->layout);
		html_cell(h, "%s", metric_table[row->metric].name);
		html_number(h, "%u", row->n);
		value(h, row->metric, row->mean);
		if (isnan(row->ci95[0]))
			html_number(h, "-");
		else
			html_number(h, "%s…%s", report_value(row->metric, row->ci95[0], a),
				report_value(row->metric, row->ci95[1], b));
		value(h, row->metric, row->median);
		value(h, row->metric, row->min);
		value(h, row->metric, row->max);
	}
	html_table_end(h);
}

static void run_ratios(struct html *h, const struct analysis_run *r)
{
	html_run_heading(h, r);
	for (unsigned m = 0; m < METRIC_COUNT; m++) {
		const struct result_comparison **list;
		size_t n;

		list = of_metric(h, r, (enum metric_id)m, &n);
		if (n) {
			html_figure(h, "%s, %s is better: change against the baseline; the bar is "
				       "the 95 %% interval over all comparisons%s",
				metric_table[m].name,
				metric_table[m].higher_is_better ? "more" : "less",
				list[0]->margin > 0 ? "; the band is the margin" : "");
			if (n <= HTML_INTERVALS_MAX)
				forest(h, r, list, n);
			else
				fleet(h, r, list, n);
			comparisons_table(h, list, n);
			html_figure_end(h);
		}
		free(list);
	}
	if (r->n_rows)
		results_table(h, r);
}

void html_ratios(struct html *h)
{
	html_section(h, "ratios", "Changes");
	for (size_t i = 0; i < h->analysis->n_runs; i++)
		run_ratios(h, &h->analysis->runs[i]);
	html_section_end(h);
}
