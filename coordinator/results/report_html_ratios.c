/*
 * Changes in the HTML report: the forest plot, fleets host by host, the tables of comparisons and
 * of results. Owns nothing beyond a call.
 * Invariant: all comparisons of a run are in its tables, whatever is drawn.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "coordinator/results/import.h"
#include "coordinator/results/left_out.h"
#include "coordinator/results/report_html.h"
#include "coordinator/results/report_text.h"

#define ABSENT_MAX 20 /* said; more are counted */

void html_verdict_text(const struct html *h, const struct result_comparison *c, struct buf *out)
{
	report_verdict_text(h->set, h->opt, c, out);
	for (size_t i = 0; i < c->invalid.n; i++)
		buf_addf(out, "%s%s%s", i ? ", " : " [invalid: ", c->invalid.v[i],
			i + 1 < c->invalid.n ? "" : "]");
}

void html_pair_text(const struct html *h, const struct result_comparison *c, struct buf *out)
{
	char a[REPORT_HOST_MAX], b[REPORT_HOST_MAX];

	if (c->between_hosts)
		buf_addf(out, "%s against %s", html_host(h, c->subject, a),
			html_host(h, c->base, b));
	else
		buf_addf(out, "%s against %s", c->subject, c->base);
}

/* What all comparisons of a plot have in common: its caption says it, so that their labels, which a
 * phone has little room for, need not. NULL: they differ. */
struct common {
	const char *base, *host;
};

static struct common common_of(const struct result_comparison *const *list, size_t n)
{
	struct common c = {.base = list[0]->between_hosts ? NULL : list[0]->base, .host = list[0]->host};

	for (size_t i = 1; i < n; i++) {
		if (list[i]->between_hosts || !str_equal(list[i]->base, c.base))
			c.base = NULL;
		if (!str_equal(list[i]->host, c.host))
			c.host = NULL;
	}
	return c;
}

/* "load · hba8+board2 against hba8 · knew", without what all have in common. */
static void interval_label(const struct html *h, const struct result_comparison *c,
	const struct common *common, int many, struct buf *out)
{
	char host[REPORT_HOST_MAX];

	if (many)
		buf_addf(out, "%s · ", c->workload);
	if (c->layout)
		buf_addf(out, "%s · ", c->layout);
	if (common->base)
		buf_adds(out, c->subject);
	else
		html_pair_text(h, c, out);
	if (!common->host)
		buf_addf(out, " · %s", c->host ? html_host(h, c->host, host)
				     : c->between_hosts ? "hosts" : "all hosts");
}

static json_t *interval(const struct html *h, const struct result_comparison *c,
	const struct common *common, int many)
{
	struct buf label = {0}, text = {0};
	json_t *o = json_object();

	interval_label(h, c, common, many, &label);
	compare_change_text(&c->c, &text);
	buf_addf(&text, "%s", text.len ? "  " : "");
	html_verdict_text(h, c, &text);
	html_set(o, "label", html_label(label.data));
	html_set(o, "text", html_label(text.data));
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

/* Within a workload: over all hosts first, then layouts as the plan has them, each pair by ratio, which
 * makes a fleet a caterpillar. */
static int by_ratio(const void *pa, const void *pb)
{
	const struct result_comparison *a = *(const struct result_comparison *const *)pa;
	const struct result_comparison *b = *(const struct result_comparison *const *)pb;
	int c = (a->workload_index > b->workload_index) - (a->workload_index < b->workload_index);

	c = c ? c : (a->host != NULL) - (b->host != NULL);
	c = c ? c : a->between_hosts - b->between_hosts;
	c = c ? c : strcmp(a->layout ? a->layout : "", b->layout ? b->layout : "");
	c = c ? c : (a->base_index > b->base_index) - (a->base_index < b->base_index);
	c = c ? c : (a->subject_index > b->subject_index) - (a->subject_index < b->subject_index);
	c = c ? c : a->between_hosts ? strcmp(a->base, b->base) : 0;
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

/* Where nothing could be compared there is nothing to draw. */
static void forest(struct html *h, const struct analysis_run *r,
	const struct result_comparison *const *list, size_t n)
{
	const struct metric_info *m = &metric_table[list[0]->metric];
	const struct common common = common_of(list, n);
	double margin = list[0]->margin;
	json_t *plot, *rows;
	size_t known = 0;

	for (size_t i = 0; i < n; i++)
		known += !isnan(list[i]->c.d);
	plot = known ? html_plot(h, "forest", "Each change with its interval") : NULL;
	if (!plot)
		return;
	rows = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(rows, interval(h, list[i], &common, r->n_workloads > 1));
	html_set(plot, "rows", rows);
	html_set(plot, "metric", json_text(m->name));
	html_set(plot, "higher", json_boolean(m->higher_is_better));
	html_set(plot, "margin", margin > 0 ? json_number(log1p(margin)) : json_null());
}

/* How many hosts have which change; takes the values. */
static void histogram(
	struct html *h, const struct result_comparison *c, json_t *values, const char *label)
{
	json_t *plot = html_plot(h, "ratios", "How many hosts have which change");
	json_t *outliers = json_array();
	char host[REPORT_HOST_MAX];

	for (size_t i = 0; i < h->analysis->n_outliers; i++) {
		const struct result_outlier *o = &h->analysis->outliers[i];

		if (!o->disk && o->run == c->run && o->metric == c->metric &&
			strcmp(o->workload, c->workload) == 0 &&
			(strcmp(o->layout, c->between_hosts ? c->layout : c->subject) == 0))
			json_array_append_new(outliers, html_label(html_host(h, o->host, host)));
	}
	html_set(plot, "label", html_label(label));
	html_set(plot, "values", values);
	html_set(plot, "outliers", outliers);
}

static int is_group(const struct result_comparison *a, const struct result_comparison *b)
{
	return a->workload_index == b->workload_index && a->between_hosts == b->between_hosts &&
	       str_equal(a->layout, b->layout) && strcmp(a->base, b->base) == 0 &&
	       (a->between_hosts || strcmp(a->subject, b->subject) == 0);
}

/* Too many intervals to be seen in one plot. */
static void histograms(struct html *h, const struct result_comparison *const *list, size_t n)
{
	size_t from, to;

	for (from = 0; from < n; from = to) {
		const struct result_comparison *c = list[from];
		json_t *values = json_array();
		struct buf label = {0};

		for (to = from; to < n && is_group(c, list[to]); to++)
			if (!isnan(list[to]->c.d))
				json_array_append_new(values, json_number(list[to]->c.d));
		if (c->between_hosts)
			buf_addf(&label, "%s, %s: hosts", c->workload, c->layout);
		else
			buf_addf(&label, "%s: %s against %s", c->workload, c->subject, c->base);
		if (json_array_size(values))
			histogram(h, c, values, label.data);
		else
			json_decref(values);
		buf_free(&label);
	}
}

static void comparisons_table(struct html *h, const struct analysis_run *r,
	const struct result_comparison *const *list, size_t n)
{
	char host[REPORT_HOST_MAX], change[64];
	const char *const headings[] = {"workload", "host", "comparison", change, "verdict", "#n",
		":estimator", NULL};

	snprintf(change, sizeof(change), "#change (%g%% CI, all comparisons)",
		analysis_confidence(h->analysis, r));

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
		html_pair_text(h, c, &text);
		html_cell(h, "%s", text.data);
		buf_reset(&text);
		compare_change_text(&c->c, &text);
		html_number(h, "%s", buf_str(&text));
		buf_reset(&text);
		html_verdict_text(h, c, &text);
		html_cell(h, "%s", text.data);
		html_number(h, "%u", c->c.n);
		html_cell(h, "%s",
			estimator_name(c->c.estimator) ? estimator_name(c->c.estimator) : "-");
		buf_free(&text);
	}
	html_table_end(h);
}

static void value(struct html *h, const struct scale *s, double v, double resolution)
{
	char text[UNITS_LEN];

	html_number(h, "%s", scale_text(s, v, resolution, text));
}

static void result_cells(struct html *h, const struct result_row *row, const struct scale *s)
{
	double most = report_mean_resolution(row);
	char a[UNITS_LEN], b[UNITS_LEN], host[REPORT_HOST_MAX];
	struct buf metric = {0}, interval = {0};

	html_row(h);
	html_cell(h, "%s", row->workload);
	html_cell(h, "%s", html_host(h, row->host, host));
	html_cell(h, "%s", row->layout);
	report_metric_text(row->metric, &metric);
	html_cell(h, "%s", metric.data);
	html_number(h, "%u", row->n);
	html_number(h, "%s%s", scale_text(s, row->mean, most, a), report_unit_mark(row));
	if (report_has_interval(row))
		report_range_text(scale_text(s, row->ci95[0], most, a),
			scale_text(s, row->ci95[1], most, b), &interval);
	html_number(h, "%s", interval.len ? interval.data : "-");
	value(h, s, row->median, most);
	value(h, s, row->min, row->resolution);
	value(h, s, row->max, row->resolution);
	buf_free(&metric);
	buf_free(&interval);
}

static void left_out(struct html *h, const struct left_out *l)
{
	for (unsigned kind = 0; kind < LEFT_KINDS; kind++) {
		if (!l->n[kind])
			continue;
		buf_addf(h->out, "<p class=\"hint\">%s: ", left_out_word(kind));
		left_out_text(l, kind, h->out);
		buf_adds(h->out, "</p>\n");
	}
}

static void results_table(struct html *h, const struct analysis_run *r)
{
	static const char *const headings[] = {"workload", "host", "layout", "metric", "#n", "#mean",
		"#95% CI of the mean", "#median", "#min", "#max", NULL};
	const struct result_row *rows = h->analysis->rows + r->first_row;
	struct scale scales[METRIC_COUNT];
	struct left_out left = {0};
	int assumed = 0;

	for (size_t m = 0; m < METRIC_COUNT; m++)
		scales[m] = report_scale(h->analysis, r, NULL, rows, r->n_rows, (enum metric_id)m);
	html_table(h, r->n_rows <= HTML_OPEN_ROWS_MAX, "Results", headings);
	for (size_t i = 0; i < r->n_rows; i++) {
		result_cells(h, &rows[i], &scales[rows[i].metric]);
		assumed |= rows[i].unit_assumed;
		if (analysis_is_shown(r, &rows[i]))
			left_out_add(&left, &rows[i]);
	}
	html_table_end(h);
	left_out(h, &left);
	if (assumed)
		buf_adds(h->out, "<p class=\"hint\">" UNIT_MARK " " UNIT_MARK_TEXT "</p>\n");
}

/* One host's own change. */
struct host_change {
	const char *host;
	struct compared c;
};

static int by_change(const void *pa, const void *pb)
{
	const struct host_change *a = pa, *b = pb;
	int c = (a->c.d > b->c.d) - (a->c.d < b->c.d);

	return c ? c : strcmp(a->host, b->host);
}

static uint32_t layout_index(const struct analysis_run *r, const char *name)
{
	uint32_t i = 0;

	while (i + 1 < r->run->layouts.n && strcmp(r->run->layouts.v[i], name) != 0)
		i++;
	return i;
}

/* Of each host that has both sides of a comparison over hosts; sorted. */
static size_t host_changes(const struct html *h, const struct analysis_run *r,
	const struct result_comparison *c, struct host_change *ret)
{
	const struct compare_terms terms = {
		COMPARE_ALPHA, 1, metric_table[c->metric].higher_is_better, c->margin};
	uint32_t base = layout_index(r, c->base), subject = layout_index(r, c->subject);
	size_t n = 0;

	for (size_t i = 0; i < r->n_hosts; i++) {
		const struct result_row *b = analysis_row(
			h->analysis, r, r->hosts[i], c->workload_index, c->metric, base);
		const struct result_row *s = analysis_row(
			h->analysis, r, r->hosts[i], c->workload_index, c->metric, subject);
		struct compare_host both;

		if (!b || !s)
			continue;
		both = (struct compare_host){
			analysis_side(b), analysis_side(s), strcmp(r->run->design, "random-blocks") == 0};
		ret[n].host = r->hosts[i];
		compare(&both, 1, &terms, &ret[n].c);
		n += !isnan(ret[n].c.d);
	}
	if (n)
		qsort(ret, n, sizeof(*ret), by_change);
	return n;
}

static json_t *host_interval(const char *host, const struct compared *c)
{
	struct buf text = {0};
	json_t *o = json_object();

	compare_change_text(c, &text);
	html_set(o, "label", html_label(host));
	html_set(o, "text", html_label(buf_str(&text)));
	html_set(o, "d", json_number(c->d));
	html_set(o, "lo", json_number(c->lo));
	html_set(o, "hi", json_number(c->hi));
	html_set(o, "verdict", json_text("host"));
	buf_free(&text);
	return o;
}

static void hosts_plot(struct html *h, const struct result_comparison *c,
	const struct host_change *v, size_t n, const char *label)
{
	char host[REPORT_HOST_MAX];
	json_t *plot, *list;

	if (!*h->assets->chart)
		return;
	list = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, n > HTML_INTERVALS_MAX
						    ? json_number(v[i].c.d)
						    : host_interval(html_host(h, v[i].host, host),
							      &v[i].c));
	if (n > HTML_INTERVALS_MAX) {
		histogram(h, c, list, label);
		return;
	}
	plot = html_plot(h, "forest", "Each host's own change, sorted");
	html_set(plot, "rows", list);
	html_set(plot, "compact", json_true());
	html_set(plot, "higher", json_boolean(metric_table[c->metric].higher_is_better));
	html_set(plot, "margin", c->margin > 0 ? json_number(log1p(c->margin)) : json_null());
}

/* A comparison over hosts, host by host. */
static void fleet_figure(
	struct html *h, const struct analysis_run *r, const struct result_comparison *c)
{
	static const char *const headings[] = {"host", "#change (95% CI of this host alone)", "#n",
		NULL};
	struct host_change *v = xcalloc(r->n_hosts + 1, sizeof(*v));
	size_t n = host_changes(h, r, c, v);
	char host[REPORT_HOST_MAX];
	struct buf text = {0};

	buf_addf(&text, "%s: %s against %s", c->workload, c->subject, c->base);
	html_figure(h, "%s, %s: the %zu hosts, each with its own interval; the verdict is of all "
		       "together",
		text.data, metric_table[c->metric].name, n);
	hosts_plot(h, c, v, n, text.data);
	html_table(h, 0, "Hosts", headings);
	for (size_t i = 0; i < n; i++) {
		buf_reset(&text);
		compare_change_text(&v[i].c, &text);
		html_row(h);
		html_cell(h, "%s", html_host(h, v[i].host, host));
		html_number(h, "%s", text.data);
		html_number(h, "%u", v[i].c.n);
	}
	html_table_end(h);
	html_figure_end(h);
	buf_free(&text);
	free(v);
}

static void fleets(struct html *h, const struct analysis_run *r,
	const struct result_comparison *const *list, size_t n)
{
	buf_adds(h->out, "<div class=\"grid wide\">\n");
	for (size_t i = 0; i < n; i++)
		if (!list[i]->host && !list[i]->between_hosts)
			fleet_figure(h, r, list[i]);
	buf_adds(h->out, "</div>\n");
}

/* "elapsed, less is better: change against hba8 on knew, with its 95 % interval over all comparisons" */
static void changes_caption(struct html *h, const struct analysis_run *r,
	const struct result_comparison *const *list, size_t n)
{
	const struct common common = common_of(list, n);
	char host[REPORT_HOST_MAX];
	struct buf text = {0};

	report_metric_text(list[0]->metric, &text);
	buf_addf(&text, ": change against %s", common.base ? common.base : "the baseline");
	if (common.host && strcmp(common.host, IMPORT_HOST) != 0)
		buf_addf(&text, " on %s", html_host(h, common.host, host));
	html_figure(h, "%s, with its %g %% interval over all comparisons%s", text.data,
		analysis_confidence(h->analysis, r), list[0]->margin > 0 ? "; the band is the margin" : "");
	buf_free(&text);
}

/* What was to be compared and has nothing to show. */
static void absent(struct html *h, const struct analysis_run *r)
{
	struct strv lines = {0};

	report_absent(h->set, h->opt, h->analysis, r, &lines);
	if (lines.n)
		buf_adds(h->out, "<p class=\"hint\">");
	for (size_t i = 0; i < lines.n && i < ABSENT_MAX; i++)
		html_textf(h->out, "%s%s", i ? "; " : "Not compared: ", lines.v[i]);
	if (lines.n > ABSENT_MAX)
		buf_addf(h->out, " and %zu more", lines.n - ABSENT_MAX);
	if (lines.n)
		buf_adds(h->out, "</p>\n");
	strv_free(&lines);
}

static void run_ratios(struct html *h, const struct analysis_run *r)
{
	html_run_heading(h, r);
	for (unsigned m = 0; m < METRIC_COUNT; m++) {
		const struct result_comparison **list;
		size_t n;

		list = of_metric(h, r, (enum metric_id)m, &n);
		if (n) {
			changes_caption(h, r, list, n);
			if (n <= HTML_INTERVALS_MAX)
				forest(h, r, list, n);
			else
				histograms(h, list, n);
			comparisons_table(h, r, list, n);
			html_figure_end(h);
			fleets(h, r, list, n);
		}
		free(list);
	}
	absent(h, r);
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
