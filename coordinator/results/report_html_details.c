/*
 * The HTML report's section of what trials tell beside their counters: parts, facts, notes. Owns
 * nothing beyond a call.
 */
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/report_details.h"
#include "coordinator/results/report_html.h"

/* The sums of one run's host. */
struct host_details {
	struct html *h;
	const struct detail_sum *v;
	size_t n;
	char shown[REPORT_HOST_MAX];
};

static void part_row(struct html *h, const struct detail_sum *s, const struct detail_sum_part *p)
{
	static const double percentiles[] = {0, 0.5, 0.99, 0.999};
	char text[UNITS_LEN];

	html_row(h);
	html_cell(h, "%s", s->workload);
	html_cell(h, "%s", s->layout);
	html_cell(h, "%s", p->name);
	html_cell(h, "%s", p->kind);
	html_number(h, "%llu", (unsigned long long)p->ops);
	html_number(h, "%s", p->bytes ? units_size((int64_t)p->bytes, text) : "-");
	html_number(h, "%s", p->elapsed_ns > 0 ? report_quantity((double)p->ops * 1e9 /
						     (double)p->elapsed_ns, "", text) : "-");
	for (size_t i = 0; i < ARRAY_LEN(percentiles); i++)
		html_number(h, "%s", report_quantity(detail_latency(p, percentiles[i]), "ns", text));
	html_number(h, "%llu", (unsigned long long)p->errors);
}

static void parts(const struct host_details *d)
{
	static const char *const heads[] = {"workload", "layout", "part", "kind", "#ops", "#bytes",
		"#ops/s", "#mean", "#p50", "#p99", "#p99.9", "#errors", NULL};
	struct buf title = {0};
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++)
		n += d->v[i].n_parts;
	if (!n)
		return;
	buf_addf(&title, "%s: parts, over all trials", d->shown);
	html_table(d->h, n <= HTML_OPEN_ROWS_MAX, buf_str(&title), heads);
	for (size_t i = 0; i < d->n; i++)
		for (size_t k = 0; k < d->v[i].n_parts; k++)
			part_row(d->h, &d->v[i], &d->v[i].parts[k]);
	html_table_end(d->h);
	buf_free(&title);
}

static void facts(const struct host_details *d)
{
	static const char *const heads[] = {
		"workload", "layout", "fact", "#trials", "#mean", "#min", "#max", NULL};
	struct buf title = {0};
	char text[UNITS_LEN];
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++)
		n += d->v[i].n_facts;
	if (!n)
		return;
	buf_addf(&title, "%s: facts", d->shown);
	html_table(d->h, n <= HTML_OPEN_ROWS_MAX, buf_str(&title), heads);
	for (size_t i = 0; i < d->n; i++)
		for (size_t k = 0; k < d->v[i].n_facts; k++) {
			const struct detail_sum_fact *f = &d->v[i].facts[k];

			html_row(d->h);
			html_cell(d->h, "%s", d->v[i].workload);
			html_cell(d->h, "%s", d->v[i].layout);
			html_cell(d->h, "%s", f->name);
			html_number(d->h, "%u", f->trials);
			html_number(d->h, "%s", report_quantity(f->mean, f->unit, text));
			html_number(d->h, "%s", report_quantity(f->min, f->unit, text));
			html_number(d->h, "%s", report_quantity(f->max, f->unit, text));
		}
	html_table_end(d->h);
	buf_free(&title);
}

static void note_text(struct html *h, const struct detail_sum_note *n)
{
	size_t more, head = detail_note_head(n->text, &more);

	buf_adds(h->out, "</summary>\n<pre>");
	html_textf(h->out, "%.*s", (int)head, n->text);
	if (more)
		buf_addf(h->out, "\n… %zu line%s more", more, more == 1 ? "" : "s");
	buf_adds(h->out, "</pre></details>\n");
}

/* What another note says already is a line. */
static void note(const struct host_details *d, size_t i, size_t k)
{
	const struct detail_sum *s = &d->v[i];
	struct buf title = {0};
	enum detail_told told = detail_note_as(d->v, i, k, &title);

	if (told == DETAIL_TOLD_ABOVE)
		return;
	if (told == DETAIL_NOT_TOLD)
		detail_note_title(s, &s->notes[k], &title);
	buf_adds(d->h->out, told == DETAIL_NOT_TOLD ? "<details><summary>" : "<p class=\"hint\">");
	html_textf(d->h->out, "%s: %s/%s: %s", d->shown, s->layout, s->workload, buf_str(&title));
	if (told == DETAIL_NOT_TOLD)
		note_text(d->h, &s->notes[k]);
	else
		buf_adds(d->h->out, "</p>\n");
	buf_free(&title);
}

static void notes(const struct host_details *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++)
		for (size_t k = 0; k < d->v[i].n_notes; k++)
			if (n++ < NOTES_MAX)
				note(d, i, k);
	if (n > NOTES_MAX)
		buf_addf(d->h->out, "<p class=\"hint\">%zu notes more.</p>\n", n - NOTES_MAX);
}

void html_details(struct html *h)
{
	struct host_details d = {.h = h};
	struct detail_sum *v;
	size_t n, to, hosts = 0;

	result_details(h->set, &v, &n);
	if (n)
		html_section(h, "details", "Parts, facts and notes");
	for (size_t from = 0; from < n; from = to) {
		for (to = from + 1; to < n && v[to].run == v[from].run &&
				    strcmp(v[to].host, v[from].host) == 0;)
			to++;
		if (hosts++ >= HTML_HOSTS_MAX)
			continue;
		d.v = v + from;
		d.n = to - from;
		html_host(h, v[from].host, d.shown);
		parts(&d);
		facts(&d);
		if (!h->opt->redact)
			notes(&d);
	}
	if (hosts > HTML_HOSTS_MAX)
		buf_addf(h->out, "<p class=\"hint\">%zu more host%s: in the JSON report.</p>\n",
			hosts - HTML_HOSTS_MAX, hosts - HTML_HOSTS_MAX == 1 ? "" : "s");
	if (n)
		html_section_end(h);
	result_details_free(v, n);
}
