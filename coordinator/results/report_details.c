/* Details of trials as text for people. Owns nothing beyond a call. */
#include "coordinator/results/report_details.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/table.h"

const char *report_quantity(double v, const char *unit, char out[UNITS_LEN])
{
	if (isnan(v))
		return "-";
	if (strcmp(unit, "s") == 0 && fabs(v) < 9e9)
		return units_duration((int64_t)llround(v * 1e9), out);
	if (strcmp(unit, "ns") == 0 && fabs(v) < 9e18)
		return units_duration((int64_t)llround(v), out);
	if (strcmp(unit, "B/s") == 0)
		return units_rate(v, out);
	if (strcmp(unit, "B") == 0 && fabs(v) < 9e18)
		return units_size((int64_t)llround(v), out);
	snprintf(out, UNITS_LEN, v >= 1000 ? "%.0f%s%s" : "%.4g%s%s", v, *unit ? " " : "", unit);
	return out;
}

void detail_fact_text(const struct detail_sum_fact *f, struct buf *out)
{
	char mean[UNITS_LEN], min[UNITS_LEN], max[UNITS_LEN];

	buf_addf(out, "%s %s", f->name, report_quantity(f->mean, f->unit, mean));
	if (f->max > f->min)
		buf_addf(out, " [%s…%s]", report_quantity(f->min, f->unit, min),
			report_quantity(f->max, f->unit, max));
}

void detail_note_title(const struct detail_sum *s, const struct detail_sum_note *n, struct buf *out)
{
	buf_adds(out, n->name);
	if (n->trials > 1 && n->trials == s->trials)
		buf_addf(out, ", the same in all %u trials", n->trials);
	else if (n->trials > 1)
		buf_addf(out, ", the same in %u of %u trials", n->trials, s->trials);
	else if (s->trials > 1)
		buf_addf(out, " of block %u", n->block);
}

size_t detail_note_head(const char *text, size_t *ret_more)
{
	size_t lines = 0, head = 0;

	*ret_more = 0;
	for (const char *p = text; *p; lines++) {
		size_t len = strcspn(p, "\n");

		if (lines < DETAIL_NOTE_LINES)
			head = (size_t)(p - text) + len;
		else
			++*ret_more;
		p += len + (p[len] == '\n');
	}
	return head;
}

static void part_cells(struct table *tb, const struct detail_sum *s, const struct detail_sum_part *p)
{
	static const double percentiles[] = {0, 0.5, 0.99};
	char text[UNITS_LEN];

	table_row(tb);
	table_cell(tb, "%s", s->layout);
	table_cell(tb, "%s", p->name);
	table_cell(tb, "%llu", (unsigned long long)p->ops);
	table_cell(tb, "%s", p->bytes ? units_size((int64_t)p->bytes, text) : "-");
	for (size_t i = 0; i < ARRAY_LEN(percentiles); i++)
		table_cell(tb, "%s", report_quantity(detail_latency(p, percentiles[i]), "ns", text));
	if (p->errors)
		table_cell(tb, "%llu", (unsigned long long)p->errors);
}

static void print_parts(const struct text *t, const struct detail_sum *v, size_t n)
{
	static const char *const heads[] = {"ops", "bytes", "mean", "p50", "p99"};
	struct table tb = {.left = 1 << 1};
	const char **before, **after;
	size_t parts = 0, errors = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < v[i].n_parts; k++) {
			parts++;
			errors += v[i].parts[k].errors > 0;
		}
	if (!parts)
		return;
	table_row(&tb);
	table_cell(&tb, "%s", v[0].workload);
	table_cell(&tb, "part, over all trials");
	for (size_t i = 0; i < ARRAY_LEN(heads); i++)
		table_cell(&tb, "%s", heads[i]);
	if (errors)
		table_cell(&tb, "errors");
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < v[i].n_parts; k++)
			part_cells(&tb, &v[i], &v[i].parts[k]);
	before = xcalloc(tb.n, sizeof(*before));
	after = xcalloc(tb.n, sizeof(*after));
	before[0] = report_colored(t, BOLD);
	after[0] = report_colored(t, PLAIN);
	table_print(&tb, before, after, t->out);
	free(before);
	free(after);
	table_clear(&tb);
}

static void print_facts(const struct text *t, const struct detail_sum *s)
{
	struct buf line = {0};

	for (size_t i = 0; i < s->n_facts; i++) {
		buf_adds(&line, i ? ", " : "");
		detail_fact_text(&s->facts[i], &line);
	}
	if (line.len) {
		report_addf(t->out, "%-10s %s/%s: %s", "facts", s->layout, s->workload,
			buf_str(&line));
		buf_addc(t->out, '\n');
	}
	buf_free(&line);
}

static void print_note(const struct text *t, const struct detail_sum *s,
	const struct detail_sum_note *n)
{
	struct buf title = {0};
	size_t more, head = detail_note_head(n->text, &more);

	detail_note_title(s, n, &title);
	report_addf(t->out, "%-10s %s/%s: %s", "note", s->layout, s->workload, buf_str(&title));
	buf_addc(t->out, '\n');
	for (const char *p = n->text; p < n->text + head;) {
		size_t len = strcspn(p, "\n");

		report_addf(t->out, "  | %.*s", (int)len, p);
		buf_addc(t->out, '\n');
		p += len + 1;
	}
	if (more)
		buf_addf(t->out, "  | … %zu line%s more\n", more, more == 1 ? "" : "s");
	buf_free(&title);
}

/* A layout before it whose trials say the same; NULL: there is none. */
static const char *said_by(const struct detail_sum *v, size_t i, const struct detail_sum_note *n)
{
	for (size_t k = 0; k < i; k++)
		for (size_t j = 0; j < v[k].n_notes; j++)
			if (!strcmp(v[k].notes[j].name, n->name) &&
				!strcmp(v[k].notes[j].text, n->text))
				return v[k].layout;
	return NULL;
}

static void print_notes(const struct text *t, const struct detail_sum *v, size_t n)
{
	size_t notes = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < v[i].n_notes; k++) {
			const struct detail_sum_note *note = &v[i].notes[k];
			const char *same = said_by(v, i, note);

			if (notes++ >= NOTES_MAX)
				continue;
			if (!same) {
				print_note(t, &v[i], note);
				continue;
			}
			report_addf(t->out, "%-10s %s/%s: %s, as on %s", "note", v[i].layout,
				v[i].workload, note->name, same);
			buf_addc(t->out, '\n');
		}
	if (notes > NOTES_MAX)
		buf_addf(t->out, "%-10s %zu more\n", "note", notes - NOTES_MAX);
}

/* One workload's layouts. */
static void print_workload(const struct text *t, const struct detail_sum *v, size_t n)
{
	print_parts(t, v, n);
	for (size_t i = 0; i < n; i++)
		print_facts(t, &v[i]);
	if (!t->opt->redact)
		print_notes(t, v, n);
}

void report_details(const struct text *t, const struct analysis_run *r, const char *host)
{
	size_t n = t->n_details, to;

	for (size_t from = 0; from < n; from = to) {
		const struct detail_sum *d = &t->details[from];

		for (to = from + 1; to < n && t->details[to].run == d->run &&
				    t->details[to].workload_index == d->workload_index &&
				    strcmp(t->details[to].host, d->host) == 0;)
			to++;
		if (d->run == r->run->id && strcmp(d->host, host) == 0)
			print_workload(t, d, to - from);
	}
}
