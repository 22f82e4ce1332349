/*
 * Markup of the HTML report: escaping, sections, figures, tables. Owns nothing.
 * Invariant: text enters the page through html_text alone.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/safe.h"
#include "coordinator/results/report_html.h"

#define WIDE_FROM 20 /* bytes of a cell that may have several lines */

void html_text(struct buf *out, const char *s)
{
	char shown[SAFE_CHAR];

	while (s && *s) {
		if (strchr("<>&\"'", *s)) {
			buf_addf(out, "&#%u;", (unsigned)(unsigned char)*s++);
		} else if (*s == '\n' || *s == '\t') {
			buf_addc(out, *s++);
		} else {
			s += safe_char(s, strnlen(s, 4), shown);
			buf_adds(out, shown);
		}
	}
}

json_t *html_label(const char *s)
{
	struct buf safe = {0};
	json_t *label;

	safe_add(s, &safe);
	label = json_text(buf_str(&safe));
	buf_free(&safe);
	return label;
}

static void __attribute__((format(printf, 2, 0))) text_v(
	struct buf *out, const char *fmt, va_list ap)
{
	char *s = xvasprintf(fmt, ap);

	html_text(out, s);
	free(s);
}

void html_textf(struct buf *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	text_v(out, fmt, ap);
	va_end(ap);
}

void html_section(struct html *h, const char *id, const char *heading)
{
	buf_addf(h->out, "<section id=\"%s\">\n<h2>%s</h2>\n", id, heading);
}

void html_section_end(struct html *h)
{
	buf_adds(h->out, "</section>\n");
}

void html_run_heading(struct html *h, const struct analysis_run *r)
{
	if (h->set->n_runs < 2)
		return;
	buf_adds(h->out, "<h3>");
	html_textf(h->out, "%s · run %llu", r->run->name, (unsigned long long)r->run->id);
	buf_adds(h->out, "</h3>\n");
}

void html_figure(struct html *h, const char *fmt, ...)
{
	va_list ap;

	buf_adds(h->out, "<figure>\n<figcaption>");
	va_start(ap, fmt);
	text_v(h->out, fmt, ap);
	va_end(ap);
	buf_adds(h->out, "</figcaption>\n");
}

void html_figure_end(struct html *h)
{
	buf_adds(h->out, "</figure>\n");
}

json_t *html_plot(struct html *h, const char *kind, const char *label)
{
	json_t *plot;

	if (!*h->assets->chart)
		return NULL;
	plot = json_object();
	buf_addf(h->out, "<div class=\"plot %s\" id=\"plot-%zu\" role=\"img\" aria-label=\"", kind,
		json_array_size(h->plots));
	html_text(h->out, label);
	buf_adds(h->out, "\"></div>\n");
	html_set(plot, "kind", json_text(kind));
	json_array_append_new(h->plots, plot);
	return plot;
}

void html_set(json_t *o, const char *key, json_t *v)
{
	if (o)
		json_object_set_new_nocheck(o, key, v);
	else
		json_decref(v);
}

json_t *html_plot_layouts(const struct analysis_run *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->run->layouts.n; i++)
		json_array_append_new(list, html_label(r->run->layouts.v[i]));
	return list;
}

void html_table(struct html *h, int open, const char *summary, const char *const *headings)
{
	h->headings = headings;
	h->n_headings = 0;
	buf_addf(h->out, "<details%s><summary>", open || !*h->assets->chart ? " open" : "");
	html_text(h->out, summary);
	buf_adds(h->out, "</summary>\n<div class=\"table\"><table>\n<thead><tr>");
	for (; *headings; headings++, h->n_headings++) {
		int number = **headings == '#', marked = number || **headings == ':';

		buf_adds(h->out, number ? "<th class=\"n\" scope=\"col\">" : "<th scope=\"col\">");
		html_text(h->out, *headings + marked);
		buf_adds(h->out, "</th>");
	}
	buf_adds(h->out, "</tr></thead>\n<tbody>");
}

/* End tags of rows and cells may be left out in HTML. */
void html_row(struct html *h)
{
	h->column = 0;
	buf_adds(h->out, "\n<tr>");
}

/* The start of the row's next cell, with its column's heading where that is shown beside it on a
 * narrow page: up to " (", behind which stands what is the same for all. */
static void begin_cell(struct html *h, const char *class)
{
	const char *heading = h->column < h->n_headings ? h->headings[h->column] : "", *end;
	char *label;

	h->column++;
	buf_adds(h->out, "<td");
	if (*class)
		buf_addf(h->out, " class=\"%s\"", class);
	if (*heading == '#' || *heading == ':') {
		end = strstr(heading, " (");
		label = xstrndup(heading + 1, end ? (size_t)(end - heading - 1) : strlen(heading + 1));
		buf_adds(h->out, " data-l=\"");
		html_text(h->out, label);
		buf_addc(h->out, '"');
		free(label);
	}
	buf_addc(h->out, '>');
}

void html_cell(struct html *h, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	begin_cell(h, strlen(s) > WIDE_FROM ? "w" : "");
	html_text(h->out, s);
	free(s);
}

void html_number(struct html *h, const char *fmt, ...)
{
	va_list ap;

	begin_cell(h, "n");
	va_start(ap, fmt);
	text_v(h->out, fmt, ap);
	va_end(ap);
}

void html_table_end(struct html *h)
{
	buf_adds(h->out, "\n</tbody></table></div></details>\n");
	h->headings = NULL;
	h->n_headings = 0;
}

static int by_host(const void *a, const void *b)
{
	return strcmp(((const struct html_name *)a)->host, ((const struct html_name *)b)->host);
}

/* Finding a redacted name takes a look at the whole set: once a host is enough. */
void html_names_init(struct html *h)
{
	const struct analysis *a = h->analysis;
	size_t all = 0, kept = 0;

	for (size_t i = 0; i < a->n_runs && h->opt->redact; i++)
		all += a->runs[i].n_hosts;
	if (!all)
		return;
	h->names = xcalloc(all, sizeof(*h->names));
	for (size_t i = 0; i < a->n_runs; i++)
		for (size_t k = 0; k < a->runs[i].n_hosts; k++)
			h->names[h->n_names++].host = a->runs[i].hosts[k];
	qsort(h->names, h->n_names, sizeof(*h->names), by_host);
	for (size_t i = 0; i < h->n_names; i++)
		if (kept == 0 || strcmp(h->names[kept - 1].host, h->names[i].host) != 0)
			h->names[kept++] = h->names[i];
	h->n_names = kept;
	for (size_t i = 0; i < kept; i++)
		report_host(h->set, h->opt, h->names[i].host, h->names[i].shown);
}

const char *html_host(const struct html *h, const char *host, char out[REPORT_HOST_MAX])
{
	const struct html_name key = {.host = host}, *name = NULL;

	if (h->n_names)
		name = bsearch(&key, h->names, h->n_names, sizeof(*name), by_host);
	if (name) {
		memcpy(out, name->shown, sizeof(name->shown));
		return out;
	}
	return report_host(h->set, h->opt, host, out);
}

/* The workload's headline rows on one host, at most one a layout. */
static size_t collect(const struct html *h, struct html_group *g)
{
	g->n = 0;
	for (uint32_t l = 0; l < g->run->run->layouts.n; l++) {
		const struct result_row *row = analysis_row(
			h->analysis, g->run, g->host, g->workload_index, g->metric, l);

		if (row)
			g->rows[g->n++] = row;
	}
	return g->n;
}

/* Calls fn for the first hosts that have results of the workload; how many more there are. */
static size_t each_group(
	struct html *h, const struct analysis_run *r, uint32_t workload, html_group_fn *fn)
{
	struct html_group g = {.run = r,
		.workload = r->run->workloads.v[workload],
		.workload_index = workload,
		.metric = r->headline[workload],
		.rows = xcalloc(r->run->layouts.n + 1, sizeof(*g.rows))};
	size_t found = 0;

	for (size_t i = 0; i < r->n_hosts; i++) {
		g.host = r->hosts[i];
		if (!collect(h, &g) || found++ >= HTML_HOSTS_MAX)
			continue;
		html_host(h, g.host, g.shown);
		fn(h, &g);
	}
	free(g.rows);
	return found > HTML_HOSTS_MAX ? found - HTML_HOSTS_MAX : 0;
}

static void left_out(struct html *h, size_t hosts)
{
	if (hosts)
		buf_addf(h->out, "<p class=\"hint\">%zu more host%s: no plots here.</p>\n", hosts,
			hosts == 1 ? "" : "s");
}

void html_grids(struct html *h, const char *class, html_group_fn *fn, html_workload_fn *after,
	const char *nothing)
{
	int any = 0;

	for (size_t i = 0; i < h->analysis->n_runs; i++) {
		const struct analysis_run *r = &h->analysis->runs[i];
		size_t before, more = 0, hosts;

		html_run_heading(h, r);
		buf_addf(h->out, "<div class=\"%s\">\n", class);
		before = h->out->len;
		for (uint32_t w = 0; w < r->n_workloads; w++) {
			hosts = each_group(h, r, w, fn);
			more = hosts > more ? hosts : more;
		}
		any |= h->out->len > before;
		if (h->out->len == before)
			more = 0;
		buf_adds(h->out, "</div>\n");
		left_out(h, more);
		for (uint32_t w = 0; after && w < r->n_workloads; w++)
			after(h, r, w);
	}
	if (!any)
		buf_addf(h->out, "<p class=\"hint\">%s</p>\n", nothing);
}
