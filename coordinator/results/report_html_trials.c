/*
 * Every trial of the HTML report: beside each other by block, and in the order of time. Owns
 * nothing beyond a call.
 * Invariant: a trial that is not counted is in the table of the order, with the reason; of very many
 * trials each layout's extremes are shown, and how many are not is told.
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

static json_t *dots(const struct html_group *g, const struct html_thin *thin)
{
	json_t *list = json_array();

	for (size_t i = 0; i < g->n; i++)
		for (unsigned k = 0; k < g->rows[i]->listed; k++)
			if (html_thin_keeps(thin, i, k))
				json_array_append_new(list,
					json_pack("{si si so}", "l", (int)g->rows[i]->layout_index,
						"b", (int)g->rows[i]->blocks[k], "v",
						json_number(g->rows[i]->values[k])));
	return list;
}

/* Blocks are in order; *at, where the last one was looked for, only goes up. */
static double value_of_block(const struct result_row *r, uint32_t block, unsigned *at)
{
	while (*at < r->listed && r->blocks[*at] < block)
		++*at;
	return *at < r->listed && r->blocks[*at] == block ? r->values[*at] : NAN;
}

static void blocks_table(
	struct html *h, const struct html_group *g, const struct html_thin *thin)
{
	const char **headings = xcalloc(g->n + 2, sizeof(*headings));
	char **names = xcalloc(g->n + 1, sizeof(*names)), s[UNITS_LEN];
	unsigned *at = xcalloc(g->n + 1, sizeof(*at));
	struct buf title = {0};
	struct scale scale;

	scale_init(&scale, metric_table[g->metric].unit);
	for (size_t i = 0; i < g->n; i++)
		scale_take(&scale, g->rows[i]->max);
	headings[0] = "block";
	for (size_t i = 0; i < g->n; i++)
		headings[i + 1] = names[i] = xasprintf("#%s", g->rows[i]->layout);
	buf_adds(&title, "Trials by block");
	if (thin->n_shown < thin->n_blocks)
		buf_addf(&title, ": %zu of %zu blocks", thin->n_shown, thin->n_blocks);
	html_table(h, 0, title.data, headings);
	for (size_t b = 0; b < thin->n_blocks; b++) {
		if (!thin->shows[b])
			continue;
		html_row(h);
		html_cell(h, "%u", thin->blocks[b]);
		for (size_t i = 0; i < g->n; i++)
			html_number(h, "%s",
				scale_text(&scale,
					value_of_block(g->rows[i], thin->blocks[b], &at[i]),
					g->rows[i]->resolution, s));
	}
	html_table_end(h);
	for (size_t i = 0; i < g->n; i++)
		free(names[i]);
	free(names);
	free(headings);
	free(at);
	buf_free(&title);
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

static void tell_left_out(struct html *h, const struct html_thin *thin)
{
	if (thin->kept == thin->of)
		return;
	buf_adds(h->out, "<p class=\"hint\">");
	html_thin_tell(thin, h);
	buf_adds(h->out, "</p>\n");
}

static void trials_figure(struct html *h, const struct html_group *g)
{
	struct html_thin thin;
	json_t *plot;

	if (!listed(g))
		return;
	html_thin_init(&thin, h, g);
	html_figure(h, "%s on %s: %s%s", g->workload, g->shown,
		thin.kept < thin.of ? "trials" : "every trial",
		is_blocked(g) ? "; lines join those of one block" : "");
	plot = metric_plot(h, g, "trials");
	html_set(plot, "join", json_boolean(is_blocked(g)));
	html_set(plot, "points", dots(g, &thin));
	tell_left_out(h, &thin);
	blocks_table(h, g, &thin);
	html_figure_end(h);
	html_thin_clear(&thin);
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

static json_t *order_dots(
	const struct html_group *g, const struct html_thin *thin, int timed, int64_t first)
{
	json_t *points = json_array();

	for (size_t i = 0; i < g->n; i++)
		for (unsigned k = 0; k < g->rows[i]->listed; k++) {
			const struct result_trial *t = g->rows[i]->trials[k];
			double x = timed ? (double)(t->sum.started_wall_ns - first) / NS_PER_S
					 : t->sum.trial;

			if (html_thin_keeps(thin, i, k))
				json_array_append_new(points,
					json_pack("{si si so so}", "l",
						(int)g->rows[i]->layout_index, "b", (int)t->block,
						"x", json_number(x), "v",
						json_number(g->rows[i]->values[k])));
		}
	return points;
}

static void order_figure(struct html *h, const struct html_group *g)
{
	int timed = has_times(g);
	int64_t first = first_start(g);
	struct html_thin thin;
	json_t *plot;

	if (!listed(g))
		return;
	html_thin_init(&thin, h, g);
	html_figure(h, "%s on %s: trials in %s", g->workload, g->shown,
		timed ? "time order" : "the order they are listed in; their times are not known");
	plot = metric_plot(h, g, "order");
	html_set(plot, "timed", json_boolean(timed));
	html_set(plot, "points", order_dots(g, &thin, timed, first));
	tell_left_out(h, &thin);
	html_figure_end(h);
	html_thin_clear(&thin);
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

/* Which trials of very many the table has. */
struct list_thin {
	size_t (*extremes)[2]; /* of each layout: places in the list, from 1; 0: none */
	size_t step, other_step; /* one of so many is kept, of those that count and of others */
	size_t kept, others; /* others: that do not count */
	unsigned char *keep;
};

static int counts(const struct result_trial *t)
{
	return !t->superseded && t->sum.ok && t->complete;
}

static void find_extremes(struct list_thin *l, const struct result_trial **list, size_t n,
	size_t n_layouts, enum metric_id m)
{
	double ignored;

	for (size_t i = 0; i < n; i++) {
		size_t *x = list[i]->layout < n_layouts ? l->extremes[list[i]->layout] : NULL;
		double v = value_of(list[i], m, &ignored);

		if (!x || isnan(v) || !counts(list[i]))
			continue;
		if (!x[0] || v < value_of(list[x[0] - 1], m, &ignored))
			x[0] = i + 1;
		if (!x[1] || v > value_of(list[x[1] - 1], m, &ignored))
			x[1] = i + 1;
	}
}

/* Of those that count every step-th; of the others all, unless they too are very many. */
static void keep_some(struct list_thin *l, const struct html *h, const struct result_trial **list,
	size_t n)
{
	size_t most = html_share(n, h->set->n_trials, HTML_PAGE_DOTS), counted = 0, nth[2] = {0};

	for (size_t i = 0; i < n; i++)
		counted += (size_t)counts(list[i]);
	l->step = counted > most ? (counted + most - 1) / most : 1;
	l->others = n - counted;
	l->other_step = l->others > most ? (l->others + most - 1) / most : 1;
	for (size_t i = 0; i < n; i++) {
		int c = counts(list[i]);

		l->keep[i] |= nth[c]++ % (c ? l->step : l->other_step) == 0;
		l->kept += l->keep[i];
	}
}

static void list_thin_init(struct list_thin *l, const struct html *h,
	const struct analysis_run *r, const struct result_trial **list, size_t n, enum metric_id m)
{
	size_t n_layouts = r->run->layouts.n;

	*l = (struct list_thin){.extremes = xcalloc(n_layouts + 1, sizeof(*l->extremes)),
		.keep = xcalloc(n + 1, sizeof(*l->keep))};
	find_extremes(l, list, n, n_layouts, m);
	for (size_t i = 0; i < n_layouts; i++)
		for (int k = 0; k < 2; k++)
			if (l->extremes[i][k])
				l->keep[l->extremes[i][k] - 1] = 1;
	keep_some(l, h, list, n);
}

static void tell_step(struct buf *out, size_t step, const char *those)
{
	if (step > 1)
		buf_addf(out, "one of %zu", step);
	else
		buf_adds(out, "all");
	buf_addf(out, " that %s", those);
}

static void list_thin_tell(const struct list_thin *l, size_t n, struct buf *out)
{
	if (l->kept == n)
		return;
	buf_addf(out, "<p class=\"hint\">The table has %zu of %zu trials: each layout's least and "
		      "greatest, ",
		l->kept, n);
	tell_step(out, l->step, "count");
	if (l->others) {
		buf_adds(out, ", ");
		tell_step(out, l->other_step, "do not");
	}
	buf_adds(out, ". --format json has all that count, --format csv --long too.</p>\n");
}

static void list_thin_clear(struct list_thin *l)
{
	free(l->extremes);
	free(l->keep);
}

static void order_table(struct html *h, const struct analysis_run *r, uint32_t workload)
{
	static const char *const headings[] = {
		"started", "host", "#trial", "#block", "layout", "#value", ":cache", "standing", NULL};
	const struct result_set *s = h->set;
	const struct result_trial **list = xcalloc(s->n_trials + 1, sizeof(*list));
	enum metric_id m = r->headline[workload];
	struct buf summary = {0};
	struct list_thin thin;
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
		list_thin_init(&thin, h, r, list, n, m);
		if (thin.kept < n)
			buf_addf(&summary, "%zu of %zu", thin.kept, n);
		else
			buf_addf(&summary, "All %zu", n);
		buf_addf(&summary, " trials of %s: %s", r->run->workloads.v[workload],
			metric_table[m].name);
		html_table(h, 0, summary.data, headings);
		for (size_t i = 0; i < n; i++)
			if (thin.keep[i])
				trial_row(h, list[i], m, &scale);
		html_table_end(h);
		list_thin_tell(&thin, n, h->out);
		list_thin_clear(&thin);
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
