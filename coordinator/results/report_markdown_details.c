/* Details of trials in the Markdown report. Owns nothing beyond a call. */
#include <stdio.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/safe.h"
#include "coordinator/results/report_details.h"
#include "coordinator/results/report_markdown.h"

static void heading(const struct text *t, const char *host, const char *what)
{
	char name[REPORT_HOST_MAX];

	buf_adds(t->out, "\n### ");
	markdown_plain(report_host(t->set, t->opt, host, name), t->out);
	buf_addf(t->out, ": %s\n\n", what);
}

static void part_line(struct buf *out, const struct detail_sum *s, const struct detail_sum_part *p)
{
	static const double percentiles[] = {0, 0.5, 0.99};
	char text[UNITS_LEN];

	markdown_cell(out, s->workload);
	markdown_cell(out, s->layout);
	markdown_cell(out, p->name);
	buf_addf(out, "| %llu ", (unsigned long long)p->ops);
	markdown_cell(out, p->bytes ? units_size((int64_t)p->bytes, text) : "-");
	for (size_t i = 0; i < ARRAY_LEN(percentiles); i++)
		markdown_cell(out, report_quantity(detail_latency(p, percentiles[i]), "ns", text));
	buf_addf(out, "| %llu |\n", (unsigned long long)p->errors);
}

static void parts(const struct text *t, const struct detail_sum *v, size_t n)
{
	static const char *const names[] = {"workload", "layout", "part, over all trials", "ops", "bytes",
		"mean", "p50", "p99", "errors"};
	int some = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < v[i].n_parts; k++) {
			if (!some) {
				heading(t, v[0].host, "parts of the trials");
				markdown_head(t->out, names, ARRAY_LEN(names), ~7u);
			}
			some = 1;
			part_line(t->out, &v[i], &v[i].parts[k]);
		}
}

static void facts(const struct text *t, const struct detail_sum *v, size_t n)
{
	static const char *const names[] = {"workload", "layout", "fact", "mean", "min", "max"};
	int some = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < v[i].n_facts; k++) {
			const struct detail_sum_fact *f = &v[i].facts[k];
			char text[UNITS_LEN];

			if (!some) {
				heading(t, v[0].host, "facts of the trials");
				markdown_head(t->out, names, ARRAY_LEN(names), ~7u);
			}
			some = 1;
			markdown_cell(t->out, v[i].workload);
			markdown_cell(t->out, v[i].layout);
			markdown_cell(t->out, f->name);
			markdown_cell(t->out, report_quantity(f->mean, f->unit, text));
			markdown_cell(t->out, report_quantity(f->min, f->unit, text));
			markdown_cell(t->out, report_quantity(f->max, f->unit, text));
			buf_adds(t->out, "|\n");
		}
}

/* Indented lines are text as it stands, whatever is in them. */
static void note_text(const struct text *t, const struct detail_sum_note *n)
{
	size_t more, head = detail_note_head(n->text, &more);

	for (const char *p = n->text; p < n->text + head;) {
		size_t len = strcspn(p, "\n");

		buf_adds(t->out, "    ");
		report_addf(t->out, "%.*s", (int)len, p);
		buf_addc(t->out, '\n');
		p += len + 1;
	}
	if (more)
		buf_addf(t->out, "    … %zu line%s more\n", more, more == 1 ? "" : "s");
}

static void note(const struct text *t, const struct detail_sum *v, size_t i, size_t k)
{
	struct buf title = {0};
	enum detail_told told = detail_note_as(v, i, k, &title);

	if (told == DETAIL_TOLD_ABOVE)
		return;
	if (told == DETAIL_NOT_TOLD)
		detail_note_title(&v[i], &v[i].notes[k], &title);
	buf_adds(t->out, "\n");
	markdown_plain(v[i].layout, t->out);
	buf_addc(t->out, '/');
	markdown_plain(v[i].workload, t->out);
	buf_adds(t->out, ": ");
	markdown_plain(buf_str(&title), t->out);
	buf_adds(t->out, told == DETAIL_NOT_TOLD ? "\n\n" : "\n");
	if (told == DETAIL_NOT_TOLD)
		note_text(t, &v[i].notes[k]);
	buf_free(&title);
}

static void notes(const struct text *t, const struct detail_sum *v, size_t n)
{
	size_t some = 0;

	for (size_t i = 0; i < n && !t->opt->redact; i++)
		for (size_t k = 0; k < v[i].n_notes; k++) {
			if (!some)
				heading(t, v[0].host, "notes of the trials");
			if (some++ < NOTES_MAX)
				note(t, v, i, k);
		}
	if (some > NOTES_MAX)
		buf_addf(t->out, "\n%zu notes more\n", some - NOTES_MAX);
}

void markdown_details(const struct text *t, const struct analysis_run *r)
{
	struct detail_sum *v;
	size_t n, to;

	result_details(t->set, &v, &n);
	for (size_t from = 0; from < n; from = to) {
		for (to = from + 1; to < n && v[to].run == v[from].run &&
				    strcmp(v[to].host, v[from].host) == 0;)
			to++;
		if (v[from].run != r->run->id)
			continue;
		parts(t, v + from, to - from);
		facts(t, v + from, to - from);
		notes(t, v + from, to - from);
	}
	result_details_free(v, n);
}
