/*
 * iozone: the table of auto mode and the lines of throughput mode. Owns nothing.
 * Invariant: a figure belongs to the column it stands under; where that cannot be said, it is an
 * error.
 *
 * kB are 1024 bytes. A row with gaps (-i) is read by where its figures end: under the end of a
 * heading, or within SLACK characters of it.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/formats/context.h"
#include "common/formats/number.h"

#define TESTS 21	/* the last eight with -E */
#define USUAL_TESTS 13	/* without */
#define SLACK 3

static const struct test {
	const char *name, *op;
} tests[TESTS] = {
	{"write", "write"},
	{"rewrite", "write"},
	{"read", "read"},
	{"reread", "read"},
	{"random read", "read"},
	{"random write", "write"},
	{"backward read", "read"},
	{"record rewrite", "write"},
	{"stride read", "read"},
	{"fwrite", "write"},
	{"frewrite", "write"},
	{"fread", "read"},
	{"freread", "read"},
	{"pwrite", "write"},
	{"repwrite", "write"},
	{"pread", "read"},
	{"repread", "read"},
	{"pwritev", "write"},
	{"repwritev", "write"},
	{"preadv", "read"},
	{"repreadv", "read"},
};

enum unit { KBYTES, OPS, USEC };

struct table {
	enum unit unit;
	size_t ends[TESTS]; /* of the headings, places from 1 */
	size_t n_ends;      /* 0: no headings yet */
	int was_quick;      /* it was told that iozone found a test too short */
};

struct cell {
	size_t end; /* place of the last character, from 1 */
	struct number n;
};

/* The numbers of a row; -1: it has something else in it. */
static int cells_of(struct reader *r, struct cell *ret, size_t max)
{
	const char *p = skip_blanks(r->s), *end;
	size_t n = 0;

	for (; *p; p = skip_blanks(end)) {
		if (n == max)
			return reader_wrong(r, "a row of iozone's table with more than %zu figures", max);
		if (number_parse(p, COMMA_DECIMAL, &ret[n].n, &end, r->e))
			return reader_place(r);
		if (*end && *end != ' ' && *end != '\t')
			return reader_wrong(r, "'%.40s' is not a figure of iozone's table", p);
		ret[n++].end = (size_t)(end - r->s);
	}
	return (int)n;
}

/* The text ends in the row, and its last figure before the end of the heading that it stands under. */
static int is_cut(const struct reader *r, const struct table *t, const struct cell *last, int full)
{
	if (!reader_is_open(r))
		return 0;
	return !full || last->end < t->ends[t->n_ends - 1];
}

/* Index of the test, from `first` on, whose heading ends there, or -1. */
static int test_at(const struct table *t, size_t first, size_t end)
{
	for (size_t i = first; i < t->n_ends; i++)
		if (end + SLACK >= t->ends[i] && end <= t->ends[i] + SLACK)
			return (int)i;
	return -1;
}

static void add_value(struct format_record *rec, enum unit unit, const struct number *n)
{
	switch (unit) {
	case KBYTES:
		record_value(rec, "throughput", "B/s", n->value * 1024, n->resolution * 1024);
		break;
	case OPS:
		record_value(rec, "ops_per_s", "ops/s", n->value, n->resolution);
		break;
	case USEC:
		record_value(rec, "latency_mean", "ns", n->value * 1e3, n->resolution * 1e3);
		break;
	}
}

static int take_row(
	struct reader *r, const struct table *t, const struct context *c, struct format_found *f)
{
	struct cell cells[TESTS + 2];
	int n = cells_of(r, cells, t->n_ends + 2);
	int full = t->n_ends >= USUAL_TESTS && n == (int)t->n_ends + 2;
	size_t before = f->n_records, next = 0;

	if (n < 0)
		return -1;
	if (n < 3 || is_cut(r, t, &cells[n - 1], full))
		return reader_wrong(r, "a row of iozone's table that is cut off");
	for (int i = 2; i < n; i++) {
		int test = full ? i - 2 : test_at(t, next, cells[i].end);
		struct format_record *rec;

		if (test < 0)
			return reader_wrong(r,
				"a figure of iozone's table that stands under no heading "
				"(character "
				"%zu)",
				cells[i].end);
		next = (size_t)test + 1;
		if (!(cells[i].n.value > 0))
			continue;
		rec = found_record(f, r->no);
		context_apply(c, rec);
		rec->bytes = 0;
		free(rec->workload);
		rec->workload = xasprintf("%s%siozone %s %.0fk/%.0fk",
			c->workload ? c->workload : "", c->workload ? " " : "", tests[test].name,
			cells[0].n.value, cells[1].n.value);
		free(rec->op);
		rec->op = xstrdup(tests[test].op);
		add_value(rec, t->unit, &cells[i].n);
	}
	found_note(f, r->no, r->no, "iozone: %zu tests, file of %.0f kB, records of %.0f kB",
		f->n_records - before, cells[0].n.value, cells[1].n.value);
	return 0;
}

/* "Children see throughput for  4 initial writers  =  123456.78 kB/sec" */
static int take_throughput(
	struct reader *r, const char *s, const struct context *c, struct format_found *f)
{
	unsigned long long threads;
	const char *p = skip_blanks(s), *equals = strchr(p, '='), *end, *name;
	struct format_record *rec;
	struct number n;
	enum unit unit;
	char *what;

	if (!whole_parse(p, &threads, &p) || !equals)
		return reader_wrong(r, "a line of iozone's throughput mode that is cut off");
	name = skip_blanks(p);
	if (number_parse(skip_blanks(equals + 1), COMMA_UNSURE, &n, &end, r->e))
		return reader_place(r);
	end = skip_blanks(end);
	unit = after_word(end, "ops/sec") ? OPS : KBYTES;
	if (unit == KBYTES && !after_word(end, "kB/sec"))
		return reader_wrong(r, "'%.40s' is no unit of iozone", end);
	if (!(n.value > 0))
		return reader_wrong(r, "a throughput of zero: nothing to compare");
	rec = found_record(f, r->no);
	context_apply(c, rec);
	rec->bytes = 0;
	while (equals > name && (equals[-1] == ' ' || equals[-1] == '\t'))
		equals--;
	what = clean_name(name, (size_t)(equals - name));
	free(rec->workload);
	rec->workload = xasprintf("iozone %s ×%llu", what, threads);
	free(what);
	add_value(rec, unit, &n);
	found_note(f, r->no, r->no, "iozone, throughput mode");
	return 0;
}

static int is_heading(const char *line)
{
	const char *p = after_word(skip_blanks(line), "kB");

	return p && skip_blanks(p) != p && after_word(skip_blanks(p), "reclen") != NULL;
}

static void take_heading(const char *line, struct table *t)
{
	const char *p = skip_blanks(line);

	t->n_ends = 0;
	for (int word = 0; *p && t->n_ends < TESTS; word++, p = skip_blanks(p)) {
		p += strcspn(p, " \t");
		if (word > 1) /* behind kB and reclen */
			t->ends[t->n_ends++] = (size_t)(p - line);
	}
}

/* Of outputs one behind the other each says its own. */
static void take_setting(const char *line, struct table *t)
{
	if (strstr(line, "Iozone: Performance Test of File I/O"))
		*t = (struct table){.was_quick = t->was_quick};
	else if (strstr(line, "Output is in kBytes/sec") || strstr(line, "Output is in Kbytes/sec"))
		t->unit = KBYTES;
	else if (strstr(line, "Output is in operations per second"))
		t->unit = OPS;
	else if (strstr(line, "microseconds per operation") || strstr(line, "Microseconds/op Mode"))
		t->unit = USEC;
}

/* A number, or what stands where one belongs. */
static int begins_row(const char *s)
{
	s = skip_blanks(s);
	if (isdigit((unsigned char)*s))
		return 1;
	s += *s == '-' || *s == '+';
	if (!isdigit((unsigned char)*s) && !after_word(s, "nan") && !after_word(s, "inf"))
		return 0;
	s = skip_blanks(s + strcspn(s, " \t"));
	return isdigit((unsigned char)*s);
}

/* Behind "Children see throughput for", which may be cut off at the end of the text. */
static const char *children_at(const char *line, int last)
{
	static const char whole[] = "Children see throughput for";
	const char *s = skip_blanks(line), *at = after_word(s, whole);
	size_t n = strlen(s);

	if (at || !last || n < strlen("Children") || after_word(whole, s) == NULL)
		return at;
	return s + n;
}

static int take_line(struct reader *r, struct table *t, struct context *c, struct format_found *f)
{
	const char *children = children_at(r->s, reader_is_last(r));
	int taken;

	if (children)
		return take_throughput(r, children, c, f);
	if (is_heading(r->s)) {
		take_heading(r->s, t);
		found_unused(f, r->no, "heading");
		return 0;
	}
	if (t->n_ends && begins_row(r->s))
		return take_row(r, t, c, f);
	if (!t->was_quick && strstr(r->s, "test completed too quickly to give a good result")) {
		t->was_quick = 1;
		found_note(f, r->no, r->no, "iozone says that a test ended too soon to give a good result: its "
					    "figures are taken all the same");
		found_doubt(f, r->no);
		return 0;
	}
	take_setting(r->s, t);
	taken = context_line(c, r, f);
	if (taken == 0)
		found_unused(f, r->no, "not used");
	return taken < 0 ? -1 : 0;
}

static int read_iozone(const struct format_text *text, struct format_found *f, struct err *e)
{
	struct table t = {0};
	struct context c = {0};
	struct reader r;
	int rc = 0;

	reader_open(&r, text, e);
	while (!rc && reader_next(&r))
		rc = take_line(&r, &t, &c, f);
	rc = rc || r.failed ? -1 : 0;
	reader_close(&r);
	context_clear(&c);
	return rc;
}

static int score_iozone(const struct format_text *head)
{
	struct reader r;
	struct err ignored;
	int score = memmem(head->data, head->len, "Iozone: Performance Test", 24) ? 95 : 0;

	reader_open(&r, head, &ignored);
	while (!score && reader_next(&r))
		score = is_heading(r.s) ||
					after_word(skip_blanks(r.s), "Children see throughput for")
				? 90
				: 0;
	reader_close(&r);
	return score;
}

const struct format format_iozone = {.name = "iozone",
	.summary = "iozone's table and throughput mode",
	.workload = "iozone",
	.score = score_iozone,
	.read = read_iozone};
