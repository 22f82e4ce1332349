/*
 * Every trial of the HTML report: beside each other by block, and in the order of time. Owns
 * nothing beyond a call.
 * Invariant: a trial that is not counted is in the table of the order, with the reason.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "coordinator/results/report_html.h"
#include "coordinator/results/report_text.h"

#define NOT_LISTED "No trial that counts is listed: there are none, or only their summaries."

/* Whether the run's tables have such times as "18m22.99s": then so do its plots. */
static int has_clock(const struct html *h, const struct html_group *g)
{
	const struct result_row *rows = h->analysis->rows + g->run->first_row;
	struct scale s;

	scale_init(&s, metric_table[g->metric].unit);
	for (size_t i = 0; i < g->run->n_rows; i++)
		if (rows[i].metric == g->metric)
			scale_take(&s, rows[i].max);
	return s.clock;
}

static json_t *metric_plot(struct html *h, const struct html_group *g, const char *kind)
{
	const struct metric_info *m = &metric_table[g->metric];
	struct buf label = {0}, title = {0};
	json_t *plot;

	report_metric_text(g->metric, &title);
	buf_addf(&label, "%s of each trial of %s on %s", m->name, g->workload, g->shown);
	plot = html_plot(h, kind, label.data);
	html_set(plot, "metric", json_text(title.data));
	html_set(plot, "unit", json_text(m->unit));
	html_set(plot, "clock", json_boolean(has_clock(h, g)));
	html_set(plot, "layouts", html_plot_layouts(g->run));
	buf_free(&title);
	buf_free(&label);
	return plot;
}

static json_t *dots(const struct html_group *g)
{
	json_t *list = json_array();

	for (size_t i = 0; i < g->n; i++)
		for (unsigned k = 0; k < g->rows[i]->listed; k++)
			json_array_append_new(list,
				json_pack("{si si so}", "l", (int)g->rows[i]->layout_index, "b",
					(int)g->rows[i]->blocks[k], "v",
					json_number(g->rows[i]->values[k])));
	return list;
}

static double value_of_block(const struct result_row *r, uint32_t block)
{
	for (unsigned k = 0; k < r->listed; k++)
		if (r->blocks[k] == block)
			return r->values[k];
	return NAN;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The blocks that the group's trials are of, each once, in order. Caller frees. */
static uint32_t *blocks_of(const struct html_group *g, size_t *ret_n)
{
	size_t n = 0, kept = 0;
	uint32_t *v;

	for (size_t i = 0; i < g->n; i++)
		n += g->rows[i]->listed;
	v = xcalloc(n + 1, sizeof(*v));
	n = 0;
	for (size_t i = 0; i < g->n; i++)
		for (unsigned k = 0; k < g->rows[i]->listed; k++)
			v[n++] = g->rows[i]->blocks[k];
	qsort(v, n, sizeof(*v), by_number);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || v[kept - 1] != v[i])
			v[kept++] = v[i];
	*ret_n = kept;
	return v;
}

static void blocks_table(struct html *h, const struct html_group *g)
{
	const char **headings = xcalloc(g->n + 2, sizeof(*headings));
	char **names = xcalloc(g->n + 1, sizeof(*names)), s[UNITS_LEN];
	size_t n_blocks;
	uint32_t *blocks = blocks_of(g, &n_blocks);
	struct scale scale;

	scale_init(&scale, metric_table[g->metric].unit);
	for (size_t i = 0; i < g->n; i++)
		scale_take(&scale, g->rows[i]->max);
	headings[0] = "block";
	for (size_t i = 0; i < g->n; i++)
		headings[i + 1] = names[i] = xasprintf("#%s", g->rows[i]->layout);
	html_table(h, 0, "Trials by block", headings);
	for (size_t b = 0; b < n_blocks; b++) {
		html_row(h);
		html_cell(h, "%u", blocks[b]);
		for (size_t i = 0; i < g->n; i++)
			html_number(h, "%s", scale_text(&scale, value_of_block(g->rows[i], blocks[b]),
						     g->rows[i]->resolution, s));
	}
	html_table_end(h);
	for (size_t i = 0; i < g->n; i++)
		free(names[i]);
	free(names);
	free(headings);
	free(blocks);
}

static size_t listed(const struct html_group *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++)
		n += g->rows[i]->listed;
	return n;
}

static int is_blocked(const struct html_group *g)
{
	return strcmp(g->run->run->design, "random-blocks") == 0;
}

static void trials_figure(struct html *h, const struct html_group *g)
{
	json_t *plot;

	if (!listed(g))
		return;
	html_figure(h, "%s on %s: every trial%s", g->workload, g->shown,
		is_blocked(g) ? "; lines join those of one block" : "");
	plot = metric_plot(h, g, "trials");
	html_set(plot, "join", json_boolean(is_blocked(g)));
	html_set(plot, "points", dots(g));
	blocks_table(h, g);
	html_figure_end(h);
}

void html_trials(struct html *h)
{
	html_section(h, "trials", "Every trial");
	html_grids(h, "grid", trials_figure, NULL, NOT_LISTED);
	html_section_end(h);
}

static int has_times(const struct html_group *g)
{
	for (size_t i = 0; i < g->n; i++)
		for (unsigned k = 0; k < g->rows[i]->listed; k++)
			if (!g->rows[i]->trials[k]->sum.started_wall_ns)
				return 0;
	return 1;
}

static int64_t first_start(const struct html_group *g)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < g->n; i++)
		for (unsigned k = 0; k < g->rows[i]->listed; k++)
			if (g->rows[i]->trials[k]->sum.started_wall_ns < first)
				first = g->rows[i]->trials[k]->sum.started_wall_ns;
	return first;
}

static void order_figure(struct html *h, const struct html_group *g)
{
	int timed = has_times(g);
	int64_t first = first_start(g);
	json_t *plot, *points;

	if (!listed(g))
		return;
	html_figure(h, "%s on %s: trials in %s", g->workload, g->shown,
		timed ? "time order" : "the order they are listed in; their times are not known");
	plot = metric_plot(h, g, "order");
	points = json_array();
	for (size_t i = 0; i < g->n; i++)
		for (unsigned k = 0; k < g->rows[i]->listed; k++) {
			const struct result_trial *t = g->rows[i]->trials[k];
			double x = timed ? (double)(t->sum.started_wall_ns - first) / NS_PER_S
					 : t->sum.trial;

			json_array_append_new(points,
				json_pack("{si si so so}", "l", (int)g->rows[i]->layout_index, "b",
					(int)t->block, "x", json_number(x), "v",
					json_number(g->rows[i]->values[k])));
		}
	html_set(plot, "timed", json_boolean(timed));
	html_set(plot, "points", points);
	html_figure_end(h);
}

static const char *standing(const struct html *h, const struct result_trial *t)
{
	if (t->superseded)
		return "measured again by a later attempt";
	if (!t->sum.ok && h->opt->redact)
		return "failed";
	if (!t->sum.ok)
		return t->sum.error && *t->sum.error ? t->sum.error : "failed, no reason was given";
	return t->complete ? "counted" : "its unit has not ended well: not counted";
}

static int by_start(const void *pa, const void *pb)
{
	const struct result_trial *a = *(const struct result_trial *const *)pa;
	const struct result_trial *b = *(const struct result_trial *const *)pb;
	int c = (a->sum.started_wall_ns > b->sum.started_wall_ns) -
		(a->sum.started_wall_ns < b->sum.started_wall_ns);

	return c ? c : (a > b) - (a < b);
}

static double value_of(const struct result_trial *t, enum metric_id m, double *ret_resolution)
{
	*ret_resolution = 0;
	return t->sum.ok ? result_trial_metric(t, m, ret_resolution) : NAN;
}

static void trial_row(
	struct html *h, const struct result_trial *t, enum metric_id m, const struct scale *scale)
{
	char s[UNITS_LEN], host[REPORT_HOST_MAX];
	double resolution, value = value_of(t, m, &resolution);

	html_row(h);
	html_cell(h, "%s",
		t->sum.started_wall_ns ? units_wall_rfc3339(t->sum.started_wall_ns, s) : "-");
	html_cell(h, "%s", html_host(h, t->host, host));
	html_number(h, "%u", t->sum.trial);
	html_number(h, "%u", t->block);
	html_cell(h, "%s", t->layout_name);
	html_number(h, "%s", scale_text(scale, value, resolution, s));
	html_cell(h, "%s", t->cache);
	html_cell(h, "%s", standing(h, t));
}

static void order_table(struct html *h, const struct analysis_run *r, uint32_t workload)
{
	static const char *const headings[] = {
		"started", "host", "#trial", "#block", "layout", "#value", ":cache", "standing", NULL};
	const struct result_set *s = h->set;
	const struct result_trial **list = xcalloc(s->n_trials + 1, sizeof(*list));
	enum metric_id m = r->headline[workload];
	struct buf summary = {0};
	struct scale scale;
	double ignored;
	size_t n = 0;

	for (size_t i = 0; i < s->n_trials; i++)
		if (s->trials[i].run == r->run->id && s->trials[i].workload == workload)
			list[n++] = &s->trials[i];
	if (n) {
		qsort(list, n, sizeof(*list), by_start);
		scale_init(&scale, metric_table[m].unit);
		for (size_t i = 0; i < n; i++)
			scale_take(&scale, value_of(list[i], m, &ignored));
		buf_addf(&summary, "All %zu trials of %s: %s", n, r->run->workloads.v[workload],
			metric_table[m].name);
		html_table(h, 0, summary.data, headings);
		for (size_t i = 0; i < n; i++)
			trial_row(h, list[i], m, &scale);
		html_table_end(h);
	}
	buf_free(&summary);
	free(list);
}

void html_order(struct html *h)
{
	html_section(h, "order", "Trials in time order");
	html_grids(h, "grid", order_figure, order_table, NOT_LISTED);
	html_section_end(h);
}
