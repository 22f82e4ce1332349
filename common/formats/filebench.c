/*
 * filebench's "IO Summary:" lines, in the four dialects that its versions print. Owns nothing.
 * Invariant: latency and CPU time are per operation of any kind, whatever the dialect divided by.
 *
 * Up to May 2017 (dialects A, B and the C with one decimal of ms/op) the sums were divided by reads
 * and writes alone; since then (D, three decimals) by all operations. mb/s is 2^20 B/s in all.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/mem.h"
#include "common/formats/context.h"
#include "common/formats/number.h"

#define MIB 1048576.0

struct summary {
	struct number ops, rate, reads, writes, mb, cpu_us, latency_ms;
	int has_ops, has_rate, has_rw, has_mb, has_cpu, has_latency;
	int per_op; /* the latency's word is ms/op, not "latency" */
	int comma;  /* a comma behind "ops" */
	unsigned seen; /* bits of the words' places in take_word() */
};

/* Behind "IO Summary:", also where something of that is missing: a colon, or what is cut off at the end
 * of the text. NULL: the line is something else. */
static const char *summary_at(const char *line, int last)
{
	static const char whole[] = "IO Summary:";
	const char *p = strstr(line, "IO Summary"), *end = line + strlen(line);

	if (p) {
		p = skip_blanks(p + strlen("IO Summary"));
		if (*p == ':')
			return p + 1;
		return isdigit((unsigned char)*p) || (last && !*p) ? p : NULL;
	}
	while (last && end > line && isspace((unsigned char)end[-1]))
		end--;
	for (size_t n = strlen(whole) - 1; last && n >= strlen("IO"); n--)
		if ((size_t)(end - line) >= n && !memcmp(end - n, whole, n) &&
			(n > strlen("IO ") || (end - n - 2 >= line && end[-(ptrdiff_t)n - 2] == ':')))
			return end;
	return NULL;
}

/* What the word at s behind a number says the number is; moves *s behind it. */
static int take_word(const char **s, struct number n, struct summary *ret)
{
	static const char *const words[] = {
		"ops/s", "ops", "r/w", "rd/wr", "mb/s", "us cpu/op", "ms latency", "ms/op"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(words); i++)
		if (after_word(*s, words[i]))
			break;
	if (i == ARRAY_LEN(words) || ret->seen & 1u << i)
		return -1;
	ret->seen |= 1u << i;
	*s += strlen(words[i]);
	switch (i) {
	case 0:
		ret->rate = n;
		ret->has_rate = 1;
		break;
	case 1:
		ret->ops = n;
		ret->has_ops = 1;
		ret->comma = **s == ',';
		break;
	case 4:
		ret->mb = n;
		ret->has_mb = 1;
		break;
	case 5:
		ret->cpu_us = n;
		ret->has_cpu = 1;
		break;
	case 6:
	case 7:
		ret->latency_ms = n;
		ret->has_latency = 1;
		ret->per_op = i == 7;
		break;
	default: /* "1130 r/w": the number before the slash came first */
		ret->writes = n;
		ret->has_rw = 1;
	}
	return 0;
}

static int parse_summary(struct reader *r, const char *s, struct summary *ret)
{
	for (;;) {
		struct number n;
		const char *p;

		s += strspn(s, " \t,()");
		if (!*s)
			return 0;
		if (number_parse(s, COMMA_UNSURE, &n, &p, r->e))
			return reader_place(r);
		if (*p == '/' && isdigit((unsigned char)p[1])) {
			ret->reads = n;
			s = p + 1;
			continue;
		}
		s = skip_blanks(p);
		if (take_word(&s, n, ret))
			return reader_wrong(r, "IO Summary: '%.30s' is no unit of a filebench, or there twice", s);
	}
}

static char dialect_of(const struct summary *s)
{
	if (!s->per_op)
		return s->comma ? 'B' : 'A';
	return s->latency_ms.resolution > 0.05 ? 'C' : 'D';
}

static int check_summary(struct reader *r, const struct summary *s)
{
	if (!s->has_ops || !s->has_rate)
		return reader_wrong(r, "IO Summary without ops and ops/s: it is cut off");
	if (!(s->ops.value > 0) || !(s->rate.value > 0))
		return reader_wrong(r, "IO Summary of no operations: nothing to compare");
	if (s->ops.value > 1e18)
		return reader_wrong(r, "IO Summary of %g operations", s->ops.value);
	if (!s->has_latency)
		return reader_wrong(r, "IO Summary without a latency: it is cut off");
	if (s->has_rw && s->reads.value + s->writes.value > s->rate.value * 1.01 + 2)
		return reader_wrong(r, "IO Summary with more reads and writes than operations");
	return 0;
}

/* Old dialects: from per read or write to per operation. 0: it cannot be said. */
static double to_per_op(const struct summary *s, char dialect)
{
	if (dialect == 'D')
		return 1;
	return s->has_rw ? (s->reads.value + s->writes.value) / s->rate.value : 0;
}

static void add_scaled(struct format_record *rec, const char *metric, const char *unit,
	const struct number *n, double factor)
{
	if (n->value * factor > 0)
		record_value(rec, metric, unit, n->value * factor, n->resolution * factor);
}

/* Of a figure per read or write one per operation: as coarse as both, reads and writes a second being
 * whole numbers. */
static void add_per_op(struct format_record *rec, const char *metric, const char *unit,
	const struct number *n, double factor, const struct summary *s, double per_op)
{
	double value = n->value * factor * per_op, rw = s->reads.value + s->writes.value;

	if (per_op == 1 || !(value > 0)) {
		add_scaled(rec, metric, unit, n, factor * per_op);
		return;
	}
	record_value(rec, metric, unit, value,
		n->resolution * factor * per_op + value * (s->reads.resolution + s->writes.resolution) / rw)
		->marks = FORMAT_COMPUTED;
}

static int take_summary(struct reader *r, const char *at, const struct context *c,
	const char *personality, struct format_found *f)
{
	struct summary s = {0};
	struct format_record *rec;
	char dialect, of[512];
	double per_op;

	if (parse_summary(r, at, &s) || check_summary(r, &s))
		return -1;
	dialect = dialect_of(&s);
	per_op = to_per_op(&s, dialect);
	rec = found_record(f, r->no);
	context_apply(c, rec);
	if (!rec->workload && personality)
		rec->workload = xstrdup(personality);
	rec->ops = (uint64_t)s.ops.value;
	rec->seconds = s.ops.value / s.rate.value;
	rec->seconds_resolution = rec->seconds * s.rate.resolution / s.rate.value;
	add_scaled(rec, "ops_per_s", "ops/s", &s.rate, 1);
	add_scaled(rec, "throughput", "B/s", &s.mb, MIB);
	add_per_op(rec, "latency_mean", "ns", &s.latency_ms, 1e6, &s, per_op);
	if (s.has_cpu)
		add_per_op(rec, "cpu_per_op", "us/op", &s.cpu_us, 1, &s, per_op);
	found_note(f, r->no, r->no, "IO Summary, dialect %c: %.9g ops/s%s%s", dialect, s.rate.value,
		per_op == 1  ? ""
		: per_op > 0 ? ", latency per read or write made per operation"
			     : ", latency per read or write: not used",
		context_of(rec, of, sizeof(of)));
	return 0;
}

/* "… Varmail Version 2.1 personality successfully loaded": the name, lower case, or NULL. */
static char *personality_of(const char *line)
{
	const char *end = strstr(line, " personality successfully loaded"), *version, *from;
	char *name;

	if (!end)
		return NULL;
	version = strstr(line, " Version ");
	end = version && version < end ? version : end;
	for (from = end; from > line && !isspace((unsigned char)from[-1]); from--)
		;
	name = clean_name(from, (size_t)(end - from));
	for (char *p = name; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return name;
}

static int take_line(
	struct reader *r, struct context *c, char **personality, struct format_found *f)
{
	const char *at = summary_at(r->s, reader_is_last(r));
	char *name;
	int taken;

	if (at)
		return take_summary(r, at, c, *personality, f);
	name = personality_of(r->s);
	if (name) {
		free(*personality);
		*personality = name;
		found_note(f, r->no, r->no, "workload of what follows: %s", name);
		return 0;
	}
	taken = context_line(c, r, f);
	if (taken == 0)
		found_unused(f, r->no, "not used");
	return taken < 0 ? -1 : 0;
}

static int read_filebench(const struct format_text *text, struct format_found *f, struct err *e)
{
	struct context c = {0};
	char *personality = NULL;
	struct reader r;
	int rc = 0;

	reader_open(&r, text, e);
	while (!rc && reader_next(&r))
		rc = take_line(&r, &c, &personality, f);
	rc = rc || r.failed ? -1 : 0;
	reader_close(&r);
	context_clear(&c);
	free(personality);
	return rc;
}

static int score_filebench(const struct format_text *head)
{
	struct reader r;
	struct err ignored;
	int score = memmem(head->data, head->len, "IO Summary:", 11) ? 95 : 0;

	reader_open(&r, head, &ignored);
	while (!score && reader_next(&r))
		score = summary_at(r.s, reader_is_last(&r)) ? 60 : 0;
	reader_close(&r);
	return score;
}

const struct format format_filebench = {.name = "filebench",
	.summary = "filebench's IO Summary lines",
	.workload = "filebench",
	.score = score_filebench,
	.read = read_filebench};
