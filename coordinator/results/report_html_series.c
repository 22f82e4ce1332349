/*
 * What happened within trials: throughput and latency over time, latency percentiles, the disks.
 * Owns nothing beyond a call.
 * Invariant: rates are counters over the time they were counted in, also where points are merged;
 * histograms are added, percentiles never averaged.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "coordinator/results/report_details.h"
#include "coordinator/results/report_html.h"

enum view { VIEW_RATE, VIEW_OPS, VIEW_LATENCY, VIEW_DISK_RATE, VIEW_DISK_BUSY };

static const struct {
	const char *unit, *title;
	int log;
} views[] = {
	[VIEW_RATE] = {"B/s", "throughput", 0},
	[VIEW_OPS] = {"ops/s", "operations a second", 0},
	[VIEW_LATENCY] = {"ns", "p99 latency of each interval", 1},
	[VIEW_DISK_RATE] = {"B/s", "read and written by the volume's disks", 0},
	[VIEW_DISK_BUSY] = {"%", "disks busy, mean of the volume's disks", 0},
};

/* NaN where the point does not tell it. */
static double view_value(enum view v, const struct result_point *p)
{
	double seconds = (double)(p->end_ns - p->start_ns) / NS_PER_S;

	if (!(seconds > 0))
		return NAN;
	if (v == VIEW_RATE)
		return p->bytes || !p->ops ? (double)p->bytes / seconds : NAN;
	if (v == VIEW_OPS)
		return (double)p->ops / seconds;
	if (v == VIEW_LATENCY)
		return p->p99_ns ? (double)p->p99_ns : NAN;
	if (!p->tele.disks)
		return NAN;
	if (v == VIEW_DISK_RATE)
		return (double)(p->tele.disk_read_bytes + p->tele.disk_write_bytes) / seconds;
	/* the kernel counts it in ticks, of which a short interval may get more than it lasted */
	return fmin(100, 100 * (double)p->tele.disk_busy_ns / NS_PER_S / p->tele.disks / seconds);
}

static struct result_point merged(const struct result_point *p, size_t n)
{
	struct result_point m = p[0];

	for (size_t i = 1; i < n; i++) {
		m.end_ns = p[i].end_ns;
		m.ops += p[i].ops;
		m.bytes += p[i].bytes;
		m.p99_ns = p[i].p99_ns > m.p99_ns ? p[i].p99_ns : m.p99_ns;
		m.max_ns = p[i].max_ns > m.max_ns ? p[i].max_ns : m.max_ns;
		m.tele.disks = p[i].tele.disks < m.tele.disks ? p[i].tele.disks : m.tele.disks;
		m.tele.disk_read_bytes += p[i].tele.disk_read_bytes;
		m.tele.disk_write_bytes += p[i].tele.disk_write_bytes;
		m.tele.disk_busy_ns += p[i].tele.disk_busy_ns;
	}
	return m;
}

const struct result_series *html_series_of(const struct html *h, const struct result_trial *t)
{
	const struct result_series *s = result_set_series(h->set, t);

	return s && s->n ? s : NULL;
}

static int shows(enum view v, const struct result_series *s)
{
	for (size_t i = 0; s && i < s->n; i++)
		if (!isnan(view_value(v, &s->points[i])))
			return 1;
	return 0;
}

static json_t *line_points(enum view v, const struct result_series *s)
{
	size_t step = (s->n + HTML_POINTS_MAX - 1) / HTML_POINTS_MAX;
	json_t *list = json_array();

	for (size_t i = 0; i < s->n; i += step) {
		struct result_point p =
			merged(s->points + i, i + step < s->n ? step : s->n - i);
		double y = view_value(v, &p);

		if (!isnan(y))
			json_array_append_new(list,
				json_pack("[oo]",
					json_number((double)(p.start_ns + p.end_ns) / 2 / NS_PER_S),
					json_number(y)));
	}
	return list;
}

static unsigned shown_of(const struct html *h, enum view v, const struct result_row *row)
{
	unsigned n = 0;

	for (unsigned k = 0; k < row->listed; k++)
		n += shows(v, html_series_of(h, row->trials[k])) != 0;
	return n;
}

/* Calls fn for the series of the group's trials that the view shows, of each layout as many as the plot
 * has lines for; how many there are. */
typedef void series_fn(struct html *h, const struct html_group *g, enum view v,
	const struct result_row *row, unsigned k, const struct result_series *s, json_t *lines);
static size_t each_series(
	struct html *h, const struct html_group *g, enum view v, series_fn *fn, json_t *lines)
{
	size_t n = 0, layouts = 0, most;

	for (size_t i = 0; i < g->n; i++) {
		n += shown_of(h, v, g->rows[i]);
		layouts += shown_of(h, v, g->rows[i]) > 0;
	}
	most = n <= HTML_LINES_MAX ? n : layouts < HTML_LINES_MAX ? HTML_LINES_MAX / layouts : 1;
	for (size_t i = 0; fn && i < g->n; i++) {
		size_t drawn = 0;

		for (unsigned k = 0; k < g->rows[i]->listed && drawn < most; k++) {
			const struct result_series *s = html_series_of(h, g->rows[i]->trials[k]);

			if (!shows(v, s))
				continue;
			fn(h, g, v, g->rows[i], k, s, lines);
			drawn++;
		}
	}
	return n;
}

static void add_line(struct html *h, const struct html_group *g, enum view v,
	const struct result_row *row, unsigned k, const struct result_series *s, json_t *lines)
{
	char label[UNITS_LEN];

	(void)h;
	(void)g;
	snprintf(label, sizeof(label), "block %u", row->blocks[k]);
	json_array_append_new(lines,
		json_pack("{si so so}", "l", (int)row->layout_index, "label", html_label(label), "p",
			line_points(v, s)));
}

static void lines_plot(struct html *h, const struct html_group *g, enum view v)
{
	struct buf label = {0};
	json_t *plot, *lines;

	if (!*h->assets->chart)
		return;
	buf_addf(&label, "%s over time of each trial of %s on %s", views[v].title, g->workload,
		g->shown);
	plot = html_plot(h, "lines", label.data);
	buf_free(&label);
	lines = json_array();
	each_series(h, g, v, add_line, lines);
	html_set(plot, "unit", json_text(views[v].unit));
	html_set(plot, "log", json_boolean(views[v].log));
	html_set(plot, "layouts", html_plot_layouts(g->run));
	html_set(plot, "lines", lines);
}

static void value(struct html *h, enum view v, double x)
{
	char s[UNITS_LEN];

	if (isnan(x))
		html_number(h, "-");
	else if (strcmp(views[v].unit, "%") == 0)
		html_number(h, "%.0f %%", x);
	else
		html_number(h, "%s", report_quantity(x, views[v].unit, s));
}

static void series_row(struct html *h, const struct html_group *g, enum view v,
	const struct result_row *row, unsigned k, const struct result_series *s, json_t *lines)
{
	double min = NAN, max = NAN;
	struct result_point all = merged(s->points, s->n);

	(void)g;
	(void)lines;
	for (size_t i = 0; i < s->n; i++) {
		double x = view_value(v, &s->points[i]);

		min = fmin(min, x);
		max = fmax(max, x);
	}
	html_row(h);
	html_cell(h, "%s", row->layout);
	html_number(h, "%u", row->blocks[k]);
	html_number(h, "%zu", s->n);
	value(h, v, min);
	value(h, v, max);
	if (v != VIEW_LATENCY)
		value(h, v, view_value(v, &all));
}

static void view_figure(struct html *h, const struct html_group *g, enum view v)
{
	static const char *const rate[] = {
		"layout", "#block", "#points", "#lowest", "#highest", "#overall", NULL};
	static const char *const latency[] = {
		"layout", "#block", "#points", "#lowest", "#highest", NULL};
	size_t n = each_series(h, g, v, NULL, NULL);

	if (!n)
		return;
	html_figure(h, "%s on %s: %s%s", g->workload, g->shown, views[v].title,
		n > HTML_LINES_MAX ? "; not all trials are drawn" : "");
	lines_plot(h, g, v);
	html_table(h, 0, "Per trial", v == VIEW_LATENCY ? latency : rate);
	each_series(h, g, v, series_row, NULL);
	html_table_end(h);
	html_figure_end(h);
}

static void series_figures(struct html *h, const struct html_group *g)
{
	view_figure(h, g, g->metric == METRIC_OPS ? VIEW_OPS : VIEW_RATE);
	view_figure(h, g, VIEW_LATENCY);
}

static void disk_figures(struct html *h, const struct html_group *g)
{
	view_figure(h, g, VIEW_DISK_RATE);
	view_figure(h, g, VIEW_DISK_BUSY);
}

void html_series(struct html *h)
{
	html_section(h, "series", "Throughput and latency over time");
	html_grids(h, "grid wide", series_figures, NULL, "There is no series of samples.");
	html_section_end(h);
}

void html_disks(struct html *h)
{
	html_section(h, "disks", "Disks");
	html_grids(h, "grid wide", disk_figures, NULL, "There are no counters of disks.");
	html_grids(h, "grid wide", html_disk_use, NULL, "No trial tells each disk by itself.");
	html_section_end(h);
}

#define STEPS 7
static const struct {
	const char *label, *heading;
	double p;
} steps[STEPS] = {{"50%", "#50%", 0.5}, {"90%", "#90%", 0.9}, {"99%", "#99%", 0.99},
	{"99.9%", "#99.9%", 0.999}, {"99.99%", "#99.99%", 0.9999},
	{"99.999%", "#99.999%", 0.99999}, {"max", "#max", 1}};

/* Histograms of the row's trials added up; 0 when there is none. */
static int merge_histograms(const struct result_row *r, struct hist *sum)
{
	struct hist *one = xmalloc(sizeof(*one));
	struct err ignored;

	hist_clear(sum);
	for (unsigned k = 0; k < r->listed; k++) {
		const struct trial_summary *t = &r->trials[k]->sum;

		if (t->hist_len && hist_decode(t->hist, t->hist_len, one, &ignored) == 0)
			hist_merge(sum, one);
	}
	free(one);
	return sum->count > 0;
}

/* A percentile with less than one operation beyond it is the maximum, and not told. */
static double percentile(const struct hist *sum, size_t step)
{
	double p = steps[step].p;

	if (step + 1 == STEPS)
		return (double)sum->max;
	return (double)sum->count * (1 - p) < 1 ? NAN : (double)hist_percentile(sum, p);
}

struct percentiles {
	const struct result_row *row;
	uint64_t count;
	double v[STEPS]; /* ns; NaN: too few operations */
};

static size_t find_percentiles(const struct html_group *g, struct percentiles *ret)
{
	struct hist *sum = xmalloc(sizeof(*sum));
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++) {
		if (!merge_histograms(g->rows[i], sum))
			continue;
		ret[n].row = g->rows[i];
		ret[n].count = sum->count;
		for (size_t k = 0; k < STEPS; k++)
			ret[n].v[k] = percentile(sum, k);
		n++;
	}
	free(sum);
	return n;
}

static int is_told(const struct percentiles *p, size_t n, size_t step)
{
	for (size_t i = 0; i < n; i++)
		if (!isnan(p[i].v[step]))
			return 1;
	return 0;
}

static void percentiles_plot(
	struct html *h, const struct html_group *g, const struct percentiles *p, size_t n)
{
	json_t *plot = html_plot(h, "percentiles", "Latency percentiles on a logarithmic scale");
	json_t *lines = json_array(), *labels = json_array();

	for (size_t k = 0; k < STEPS; k++)
		if (is_told(p, n, k))
			json_array_append_new(labels, json_text(steps[k].label));
	for (size_t i = 0; i < n; i++) {
		json_t *values = json_array();

		for (size_t k = 0; k < STEPS; k++)
			if (is_told(p, n, k))
				json_array_append_new(values, json_number(p[i].v[k]));
		json_array_append_new(lines,
			json_pack("{si so}", "l", (int)p[i].row->layout_index, "v", values));
	}
	html_set(plot, "unit", json_text("ns"));
	html_set(plot, "layouts", html_plot_layouts(g->run));
	html_set(plot, "labels", labels);
	html_set(plot, "lines", lines);
}

static void percentiles_table(struct html *h, const struct percentiles *p, size_t n)
{
	const char *headings[STEPS + 3] = {"layout", "#operations"};
	char s[UNITS_LEN];
	size_t columns = 2;

	for (size_t k = 0; k < STEPS; k++)
		if (is_told(p, n, k))
			headings[columns++] = steps[k].heading;
	html_table(h, 0, "Percentiles", headings);
	for (size_t i = 0; i < n; i++) {
		html_row(h);
		html_cell(h, "%s", p[i].row->layout);
		html_number(h, "%llu", (unsigned long long)p[i].count);
		for (size_t k = 0; k < STEPS; k++)
			if (is_told(p, n, k))
				html_number(h, "%s",
					isnan(p[i].v[k]) ? "-"
							 : units_duration((int64_t)p[i].v[k], s));
	}
	html_table_end(h);
}

static void latency_figure(struct html *h, const struct html_group *g)
{
	struct percentiles *p = xcalloc(g->n + 1, sizeof(*p));
	size_t n = find_percentiles(g, p);

	if (n) {
		html_figure(h, "%s on %s: latency of all counted trials", g->workload, g->shown);
		percentiles_plot(h, g, p, n);
		percentiles_table(h, p, n);
		html_figure_end(h);
	}
	free(p);
}

void html_latency(struct html *h)
{
	html_section(h, "latency", "Latency percentiles");
	html_grids(h, "grid", latency_figure, NULL, "There is no histogram of latencies.");
	html_section_end(h);
}
