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
	struct scale s;

	scale_init(&s, unit);
	scale_take(&s, v);
	return scale_text(&s, v, 0, out);
}

void detail_fact_text(const struct detail_sum_fact *f, struct buf *out)
{
	char mean[UNITS_LEN], min[UNITS_LEN], max[UNITS_LEN];
	struct scale s;

	scale_init(&s, f->unit);
	scale_take(&s, f->mean);
	scale_take(&s, f->max);
	buf_addf(out, "%s %s", f->name, scale_text(&s, f->mean, 0, mean));
	if (f->max > f->min)
		buf_addf(out, " [%s…%s]", scale_number(&s, f->min, 0, min), scale_number(&s, f->max, 0, max));
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

static const char *next_line(const char *s)
{
	s += strcspn(s, "\n");
	return *s ? s + 1 : s;
}

static int is_same_line(const char *a, const char *b)
{
	size_t n = strcspn(a, "\n");

	return n == strcspn(b, "\n") && !memcmp(a, b, n);
}

int detail_note_is_like(const char *model, const char *text, struct buf *ret_different)
{
	size_t same = 0, different = 0;

	buf_reset(ret_different);
	for (; *model && *text; model = next_line(model), text = next_line(text)) {
		if (is_same_line(model, text)) {
			same++;
			continue;
		}
		if (different++ < DETAIL_NOTE_DIFFERENT)
			buf_addf(ret_different, "%s%.*s", different > 1 ? "; " : "",
				(int)strcspn(text, "\n"), text);
	}
	if (same && different <= DETAIL_NOTE_DIFFERENT && !*model && !*text)
		return 1;
	buf_reset(ret_different);
	return 0;
}

/* Of a note of v[i]: the first one of the workload that says nearly the same. */
static const struct detail_sum_note *model_of(const struct detail_sum *v, size_t i, size_t k,
	const struct detail_sum **ret_of, struct buf *different)
{
	const struct detail_sum_note *n = &v[i].notes[k];
	size_t from = i;

	while (from > 0 && v[from - 1].workload_index == v[i].workload_index &&
		v[from - 1].run == v[i].run && strcmp(v[from - 1].host, v[i].host) == 0)
		from--;
	for (; from <= i; from++)
		for (size_t j = 0; j < (from < i ? v[from].n_notes : k); j++)
			if (strcmp(v[from].notes[j].name, n->name) == 0 &&
				detail_note_is_like(v[from].notes[j].text, n->text, different)) {
				*ret_of = &v[from];
				return &v[from].notes[j];
			}
	return NULL;
}

/* "settings of 2 more trials: as in block 1, but for: seed 7; seed 9" */
static void like_text(const struct detail_sum *s, const struct detail_sum_note *n, unsigned trials,
	const struct detail_sum *of, const struct detail_sum_note *model, struct buf *out)
{
	if (trials > n->trials)
		buf_addf(out, "%s of %u%s trials", n->name, trials, of == s ? " more" : "");
	else
		detail_note_title(s, n, out);
	buf_adds(out, of == s ? ": as" : ": as on ");
	if (of != s)
		buf_adds(out, of->layout);
	if (of == s || model->trials < of->trials)
		buf_addf(out, "%sin block %u", of == s ? " " : ", ", model->block);
}

enum detail_told detail_note_as(const struct detail_sum *v, size_t i, size_t k, struct buf *ret)
{
	const struct detail_sum_note *n = &v[i].notes[k], *model, *other;
	const struct detail_sum *of, *of_other;
	struct buf different = {0}, one = {0};
	enum detail_told told = DETAIL_TOLD_BELOW;
	unsigned trials = n->trials;

	model = model_of(v, i, k, &of, &different);
	if (!model) {
		buf_free(&different);
		return DETAIL_NOT_TOLD;
	}
	for (size_t j = 0; j < v[i].n_notes && told == DETAIL_TOLD_BELOW; j++) {
		other = j == k || strcmp(v[i].notes[j].name, n->name) != 0
				? NULL
				: model_of(v, i, j, &of_other, &one);
		if (other != model)
			continue;
		if (j < k)
			told = DETAIL_TOLD_ABOVE;
		trials += v[i].notes[j].trials;
		buf_addf(&different, "%s%s", different.len && one.len ? "; " : "", buf_str(&one));
	}
	if (told == DETAIL_TOLD_BELOW) {
		like_text(&v[i], n, trials, of, model, ret);
		if (different.len)
			buf_addf(ret, ", but for: %s", different.data);
	}
	buf_free(&different);
	buf_free(&one);
	return told;
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
	if (t->opt->width && table_total(&tb) > t->opt->width)
		tb.stacked = 1;
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
		buf_adds(&line, i ? " · " : "");
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

static void print_notes(const struct text *t, const struct detail_sum *v, size_t n)
{
	size_t notes = 0;
	struct buf line = {0};

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < v[i].n_notes; k++) {
			if (notes++ >= NOTES_MAX)
				continue;
			buf_reset(&line);
			switch (detail_note_as(v, i, k, &line)) {
			case DETAIL_NOT_TOLD:
				print_note(t, &v[i], &v[i].notes[k]);
				continue;
			case DETAIL_TOLD_ABOVE:
				continue;
			case DETAIL_TOLD_BELOW:
				break;
			}
			report_addf(t->out, "%-10s %s/%s: %s", "note", v[i].layout, v[i].workload,
				line.data);
			buf_addc(t->out, '\n');
		}
	if (notes > NOTES_MAX)
		buf_addf(t->out, "%-10s %zu more\n", "note", notes - NOTES_MAX);
	buf_free(&line);
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
