/*
 * dd of GNU, BSD and busybox, in any language, with the time of the whole command where it was
 * timed. Owns what is open between two lines.
 * Invariant: throughput is computed from bytes and seconds; the printed rate, in whatever unit, is
 * never taken.
 *
 * The time of `time (dd … && sync)` follows dd's own lines and includes the sync: it takes the
 * place of dd's own seconds.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/formats/context.h"
#include "common/formats/timing.h"

struct transfer {
	unsigned long long bytes;
	struct number seconds;
};

/* What dd counted: blocks that were whole, and others. */
struct blocks {
	unsigned long long whole, part;
};
enum { IN, OUT, SIDES };

struct state {
	struct context c;
	int transfers;   /* since the last line that was nothing of dd's or time's */
	int records;     /* "N+N records" lines since the last transfer */
	int had_records; /* the last transfer had such lines before it */
	struct blocks count[SIDES], had[SIDES]; /* what these lines say: now, and of the last transfer */
	int in_progress; /* the last transfer took the place of an earlier state of it */
	int untimed;     /* "N+N records" lines without a transfer behind them (busybox) */
	char *failure;
};

/* GNU prints six significant digits and leaves zeros at the end out. */
static void sharpen(struct number *seconds)
{
	double step = seconds->value > 0 ? pow(10, floor(log10(seconds->value)) - 5) : 0;

	if (step > 0 && step < seconds->resolution)
		seconds->resolution = step;
}

/* "0,0341215 s" ends a field: the number before its last word. */
static int seconds_field(const char *from, const char *to, struct number *ret)
{
	char field[64];
	const char *p, *end;
	struct err ignored;
	size_t n = (size_t)(to - from);

	if (n == 0 || n >= sizeof(field))
		return 0;
	memcpy(field, from, n);
	field[n] = '\0';
	p = skip_blanks(field);
	if (number_parse(p, COMMA_DECIMAL, ret, &end, &ignored))
		return 0;
	p = skip_blanks(end);
	if (p == end || !*p || strcspn(p, "0123456789 /") != strlen(p))
		return 0;
	if (!strcmp(p, "s"))
		sharpen(ret);
	return 1;
}

/* GNU and busybox, any language: "…, SECONDS s, RATE": the last but one of the parts that a comma
 * and a blank divide. */
static int gnu_seconds(const char *line, struct number *ret)
{
	const char *last = NULL, *before = NULL;

	for (const char *p = line; (p = strstr(p, ", ")); p += 2) {
		before = last;
		last = p;
	}
	return before && strchr(last, '/') && seconds_field(before + 2, last, ret);
}

/* BSD and GNU of old: "BYTES bytes transferred in SECONDS secs (RATE bytes/sec)". */
static int bsd_seconds(const char *line, struct number *ret)
{
	const char *in = strstr(line, " in "), *open = in ? strchr(in, '(') : NULL, *to = open;

	if (!in || !open)
		return 0;
	while (to > in && to[-1] == ' ')
		to--;
	return seconds_field(in + 4, to, ret);
}

static int transfer_line(const char *line, struct transfer *ret)
{
	const char *s = skip_blanks(line), *p;

	if (!whole_parse(s, &ret->bytes, &p) || skip_blanks(p) == p ||
		isdigit((unsigned char)*skip_blanks(p)))
		return 0;
	return gnu_seconds(p, &ret->seconds) || bsd_seconds(p, &ret->seconds);
}

/* "64+0 records in", in any language. */
static int records_line(const char *line, struct blocks *ret)
{
	struct blocks b;
	const char *p = skip_blanks(line);

	if (!strncmp(p, "^C", 2))
		p += 2;
	if (!whole_parse(p, &b.whole, &p) || *p != '+' || !whole_parse(p + 1, &b.part, &p) ||
		skip_blanks(p) == p || isdigit((unsigned char)*skip_blanks(p)))
		return 0;
	*ret = b;
	return 1;
}

/* 0: there were others than whole blocks. */
static unsigned long long block_size(unsigned long long bytes, const struct blocks *b)
{
	return b->whole && !b->part && bytes % b->whole == 0 ? bytes / b->whole : 0;
}

/* Within one transfer the counts only grow, and a block has one size. */
static int counts_go_on(const struct state *s, unsigned long long had_bytes, unsigned long long bytes)
{
	unsigned long long had_size = block_size(had_bytes, &s->had[OUT]),
			   size = block_size(bytes, &s->count[OUT]);

	for (int i = IN; i < SIDES; i++)
		if (s->count[i].whole < s->had[i].whole || s->count[i].part < s->had[i].part)
			return 0;
	return !had_size || !size || had_size == size;
}

/* What was printed before is an earlier state of the same transfer (signal, status=progress): the
 * counts of records stood between the two, and bytes, seconds and the counts have grown. */
static int is_progress(const struct state *s, const struct format_record *last,
	const struct transfer *t, const struct number *seconds)
{
	if (!s->transfers || !s->records || last->error || t->bytes < last->bytes ||
		seconds->value < last->seconds)
		return 0;
	return !s->had_records || (t->bytes > last->bytes && seconds->value > last->seconds &&
					  counts_go_on(s, last->bytes, t->bytes));
}

/* A block that was read and not yet written, which later ones all were: only within a transfer. A line
 * of status=progress has no counts before it. Anything else could have been the end of a shorter one. */
static int is_surely_progress(const struct state *s)
{
	unsigned long long had_in = s->had[IN].whole + s->had[IN].part,
			   had_out = s->had[OUT].whole + s->had[OUT].part;

	return !s->had_records || (had_in == had_out + 1 && s->count[IN].whole + s->count[IN].part ==
								    s->count[OUT].whole + s->count[OUT].part);
}

/* The last record was an earlier state of the transfer at the line. */
static void take_back(struct state *s, size_t line, struct format_found *f)
{
	size_t at = f->records[f->n_records - 1].line;
	int sure = s->in_progress || is_surely_progress(s);

	found_renote(f, at, "dd: taken as progress of the transfer that line %zu tells of%s", line,
		sure ? ""
		     : ", whose bytes and time are more; if it was one of its own, put a line such as "
		       "'# next' between them");
	if (!sure)
		found_doubt(f, at);
	found_drop(f);
	s->in_progress = 1;
}

static void note_transfer(struct format_found *f, const struct format_record *rec, const char *how)
{
	char of[512];

	found_note(f, rec->line, rec->last_line,
		"dd: %llu bytes in %.9g s (%s) = %.4g MB/s = %.4g MiB/s%s",
		(unsigned long long)rec->bytes, rec->seconds, how,
		(double)rec->bytes / rec->seconds / 1e6,
		(double)rec->bytes / rec->seconds / 1048576, context_of(rec, of, sizeof(of)));
}

static int take_transfer(
	struct reader *r, struct state *s, const struct transfer *t, struct format_found *f)
{
	struct format_record *rec;

	if (f->n_records && is_progress(s, &f->records[f->n_records - 1], t, &t->seconds))
		take_back(s, r->no, f);
	else
		s->in_progress = 0;
	if (!s->failure && t->bytes == 0)
		s->failure = xstrdup("dd transferred no bytes");
	if (!s->failure && seconds_check(&t->seconds, r->e))
		return reader_place(r);
	rec = found_record(f, r->no);
	rec->bytes = t->bytes;
	rec->seconds = t->seconds.value;
	rec->seconds_resolution = t->seconds.resolution;
	rec->error = s->failure;
	context_apply(&s->c, rec);
	if (rec->error) {
		found_note(f, r->no, r->no, "dd: a transfer that failed: %s", rec->error);
	} else {
		record_compute(rec);
		note_transfer(f, rec, "its own time");
	}
	s->had_records = s->records > 0;
	memcpy(s->had, s->count, sizeof(s->had));
	memset(s->count, 0, sizeof(s->count));
	s->failure = NULL;
	s->records = s->untimed = 0;
	s->transfers = 1;
	return 0;
}

/* The whole command's time, behind its dd. */
static int take_real(
	struct reader *r, struct state *s, const struct timing *t, struct format_found *f)
{
	struct format_record *last = f->n_records ? &f->records[f->n_records - 1] : NULL;
	int own = last && s->transfers;

	if (seconds_check(&t->real, r->e))
		return reader_place(r);
	if (own && t->real.value + t->real.resolution < last->seconds) {
		found_unused(f, r->no, "a time shorter than the dd before it: not its time");
		return 0;
	}
	if (own && last->error) {
		found_unused(f, r->no, "the time of a dd that failed");
		return 0;
	}
	if (!own) {
		last = found_record(f, r->no);
		context_apply(&s->c, last);
		last->error = s->failure;
		s->failure = NULL;
	}
	last->seconds = t->real.value;
	last->seconds_resolution = t->real.resolution;
	last->n_v = 0;
	last->last_line = r->no;
	record_compute(last);
	if (last->bytes && !last->error)
		note_transfer(f, last, "the command's time");
	else
		found_note(f, r->no, r->no, "%s: elapsed %.9g s, bytes not known", t->kind,
			last->seconds);
	s->transfers = s->untimed = s->records = 0;
	return 0;
}

/* "dd: error writing '/x': …"; warnings are none. */
static int is_failure(const char *line)
{
	const char *s = after_word(skip_blanks(line), "dd: ");

	return s && !strstr(s, "warning") && strchr(s, ':');
}

static void take_failure(struct reader *r, struct state *s, struct format_found *f)
{
	char *line = trim(r->s);

	free(s->failure);
	s->failure = clean_name(line, strlen(line));
	found_note(f, r->no, r->no, "dd: an error of the transfer that is reported next");
}

static int take_other(struct reader *r, struct state *s, struct format_found *f)
{
	int taken;

	if (!is_blank(r->s))
		s->transfers = 0;
	taken = context_line(&s->c, r, f);
	if (taken == 0)
		found_unused(f, r->no, "not used");
	return taken < 0 ? -1 : 0;
}

static int take_line(struct reader *r, struct state *s, struct format_found *f)
{
	struct transfer t;
	struct blocks blocks;
	struct timing time;
	int what;

	if (strstr(r->s, "^C") && !s->failure)
		s->failure = xstrdup("dd was interrupted");
	if (transfer_line(r->s, &t))
		return take_transfer(r, s, &t, f);
	if (records_line(r->s, &blocks)) {
		s->count[s->records == 0 ? IN : OUT] = blocks;
		s->records++;
		s->untimed++;
		found_note(f, r->no, r->no, "dd: records");
		return 0;
	}
	what = timing_line(r->s, &time, r->e);
	if (what < 0)
		return reader_place(r);
	if (what == 1 && time.has_real)
		return take_real(r, s, &time, f);
	if (what == 1) {
		found_unused(f, r->no, "user and system time: not used");
		return 0;
	}
	if (is_failure(r->s)) {
		take_failure(r, s, f);
		return 0;
	}
	return take_other(r, s, f);
}

static int read_dd(const struct format_text *text, struct format_found *f, struct err *e)
{
	struct state s = {0};
	struct reader r;
	int rc = 0;

	reader_open(&r, text, e);
	r.overwrites = 1;
	while (!rc && reader_next(&r))
		rc = take_line(&r, &s, f);
	if (!rc && !r.failed && !f->n_records && s.failure)
		rc = reader_wrong(&r, "dd failed: %s", s.failure);
	if (!rc && !r.failed && !f->n_records && s.untimed)
		rc = reader_wrong(&r,
			"dd without its third line (busybox prints none): there are no bytes and "
			"no time; run it under `time`");
	rc = rc || r.failed ? -1 : 0;
	reader_close(&r);
	context_clear(&s.c);
	free(s.failure);
	return rc;
}

static int score_dd(const struct format_text *head)
{
	struct transfer t;
	struct blocks blocks;
	struct reader r;
	struct err ignored;
	int score = 0;

	reader_open(&r, head, &ignored);
	r.overwrites = 1;
	while (score < 80 && reader_next(&r)) {
		int now = transfer_line(r.s, &t)                        ? 80
			  : records_line(r.s, &blocks)                  ? 75
			  : !strncmp(r.s, "dd: ", 4) && is_failure(r.s) ? 40
									: 0;

		score = now > score ? now : score;
	}
	reader_close(&r);
	return score;
}

const struct format format_dd = {.name = "dd",
	.summary = "dd of GNU, BSD, busybox, with or without time",
	.workload = "dd",
	.score = score_dd,
	.read = read_dd};
