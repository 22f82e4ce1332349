/*
 * Lists of results: one value a line, or several with blanks between, under lines that say whose
 * they are. Owns what the values of one list have in common.
 * Invariant: within one list all values are the same metric, all with or all without a unit, and
 * all with one kind of decimal separator. Rows that could count themselves, and commas or blanks that
 * could stand between values as well as within them, are errors.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/formats/context.h"
#include "common/formats/number.h"
#include "common/formats/printed.h"

struct list {
	const char *metric; /* of the values so far, NULL: none yet */
	int plain;
	char decimal;
	size_t line, decimal_line;
	unsigned long long counted; /* the number that the last row began with, if all counted so far */
	size_t rows;                /* lines with values */
	size_t counting;            /* rows that began with 1, 2, … before other values */
	size_t power2_line, assumed_line; /* the first of KiB/s and such, and of kB/s and such */
};

/* "3. 18m15.395s": behind the ordinal; s where there is none. */
static const char *behind_ordinal(const char *s)
{
	unsigned long long n;
	const char *p;

	if (whole_parse(s, &n, &p) && n < 100000 && (*p == '.' || *p == ')') &&
		(p[1] == ' ' || p[1] == '\t') && !is_blank(p + 1))
		return skip_blanks(p + 1);
	if ((*s == '-' || *s == '*') && s[1] == ' ')
		return skip_blanks(s + 1);
	return s;
}

static int check_same(struct list *l, struct reader *r, const struct quantity *q, int plain)
{
	if (l->metric && strcmp(l->metric, q->metric) != 0)
		return reader_wrong(r, "mixed units: %s here, but %s in line %zu", q->metric,
			l->metric, l->line);
	if (l->metric && l->plain != plain)
		return reader_wrong(r, "a number %s a unit, but line %zu is %s: which is it?",
			plain ? "without" : "with", l->line, plain ? "with one" : "without");
	if (l->decimal && q->number.decimal && l->decimal != q->number.decimal)
		return reader_wrong(r,
			"a decimal %s here, but a decimal %s in line %zu: write all the same way",
			q->number.decimal == ',' ? "comma" : "point",
			l->decimal == ',' ? "comma" : "point", l->decimal_line);
	if (!l->metric)
		l->line = r->no;
	if (!l->decimal && q->number.decimal) {
		l->decimal = q->number.decimal;
		l->decimal_line = r->no;
	}
	l->metric = q->metric;
	l->plain = plain;
	return 0;
}

static void add_value(
	struct reader *r, const struct quantity *q, const struct context *c, struct format_found *f)
{
	struct format_record *rec = found_record(f, r->no);
	char of[512], value[UNITS_LEN];

	context_apply(c, rec);
	if (!strcmp(q->metric, "elapsed")) {
		rec->seconds = q->number.value;
		rec->seconds_resolution = q->number.resolution;
		record_compute(rec);
	} else {
		record_value(rec, q->metric, q->unit, q->number.value, q->number.resolution)
			->marks = q->assumed ? FORMAT_UNIT_ASSUMED : 0;
	}
	found_note(f, r->no, r->no, "%s %s %s%s%s", q->metric,
		units_number(q->number.value, 9, value), q->unit,
		context_of(rec, of, sizeof(of)), q->assumed ? " (a power of 1000 assumed)" : "");
}

/* A word and a colon, and not the name of a file or a time. */
static int is_key(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-");

	return n && s[n] == ':' && (s[n + 1] == ' ' || s[n + 1] == '\t');
}

/* "10,11,12": numbers, decimals or thousands. One comma alone is a decimal one. */
static int check_commas(struct reader *r, const char *s)
{
	size_t n = strspn(s, "0123456789,"), commas = 0;

	for (size_t i = 0; i < n; i++)
		commas += s[i] == ',' && isdigit((unsigned char)s[i + 1]);
	if (commas < 2)
		return 0;
	return reader_wrong(r,
		"'%.*s' could be several numbers or one with commas in it: write a blank or a "
		"semicolon between values, decimals with a point and thousands without groups",
		(int)(n > 40 ? 40 : n), s);
}

/* The least and the most of some values. */
struct spread {
	double min, max;
};

static void spread_add(struct spread *s, double v)
{
	s->min = s->max > 0 ? fmin(s->min, v) : v;
	s->max = fmax(s->max, v);
}

/* A blank that groups digits where a number is printed: U+00A0, U+202F, U+2009 and apostrophes stand for
 * nothing else, a blank does. Its bytes; 0: none. */
static size_t group_blank(const char *s, int *ret_sure)
{
	static const char *const sure[] = {"\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89", "'", "\xe2\x80\x99"};

	for (size_t i = 0; i < ARRAY_LEN(sure); i++)
		if (!strncmp(s, sure[i], strlen(sure[i]))) {
			*ret_sure = 1;
			return strlen(sure[i]);
		}
	return *s == ' ';
}

/* The number at s, as it may go on behind blanks in groups of three digits: each of them to `single`, all
 * of it to `whole`. Returns what follows. */
static const char *take_groups(
	const char *s, struct spread *single, struct spread *whole, int *ret_sure, int *ret_joined)
{
	size_t digits = strspn(s, "0123456789"), blank;
	double all = strtod(s, NULL);
	int sure = 0;

	spread_add(single, all);
	s += digits;
	while (digits <= 3 && (blank = group_blank(s, &sure)) && strspn(s + blank, "0123456789") == 3) {
		double group = strtod(s + blank, NULL);

		*ret_sure |= sure || s[blank] == '0';
		*ret_joined = 1;
		spread_add(single, fmax(group, 1e-3));
		all = all * 1000 + group;
		s += blank + 3;
		if (strchr(".,:", *s) && *s)
			break;
	}
	spread_add(whole, fmax(all, 1e-3));
	return s + strcspn(s, " \t;\xc2\xe2");
}

/* "1 234.5": two values, or one with a blank between its thousands. Told by how far trials of one thing may
 * be from each other: a line of values within a factor of two is one of values; of another one the
 * reading that spreads less could be meant. */
static int check_blanks(struct reader *r, const char *s)
{
	struct spread single = {0}, whole = {0};
	int sure = 0, joined = 0;

	for (const char *p = s; *p;)
		p = isdigit((unsigned char)*p) ? take_groups(p, &single, &whole, &sure, &joined)
					       : p + 1 + strcspn(p + 1, "0123456789");
	if (!joined || (!sure && (single.max <= 2 * single.min ||
					 whole.max * single.min >= single.max * whole.min)))
		return 0;
	return reader_wrong(r,
		"'%.40s' could be several values or one in groups of three digits: write it without groups, "
		"and one value a line",
		s);
}

/* A first column 1, 2, 3 (or from 0) counts rows or is a value: two rows are enough, three where
 * it and what follows could be one number with a decimal comma. */
static int check_counting(struct list *l, struct reader *r, const char *s)
{
	unsigned long long n;
	const char *p;
	int comma;

	l->rows++;
	if (!whole_parse(s, &n, &p) || l->counting + 1 != l->rows)
		return 0;
	comma = *p == ',' && isdigit((unsigned char)p[1]);
	if (!strchr(",;", *p) && skip_blanks(p) == p)
		return 0;
	p += strspn(p, " \t,;");
	if (!isdigit((unsigned char)*skip_blanks(p)) ||
		(l->rows > 1 ? n != l->counted + 1 : n > 1))
		return 0;
	l->counted = n;
	l->counting++;
	if (l->counting < (comma ? 3 : 2))
		return 0;
	return reader_wrong(r,
		"rows that begin with %llu, %llu: do these count the rows, or are they values? Write "
		"'%llu. ' for a count, and one value a line where all are values",
		n - 1, n, n);
}

/* Whether the time at from is one of several parts: 1m58s, 1:58; and whether blanks divide them. */
static int has_parts(const char *from, const char *to, int *ret_blanks)
{
	int parts = 0;

	for (from++; from < to; from++) {
		const char *next = skip_blanks(from);

		if (!isdigit((unsigned char)*next) || next >= to)
			continue;
		*ret_blanks |= next > from;
		parts |= next > from || from[-1] == ':' || isalpha((unsigned char)from[-1]);
	}
	return parts;
}

#define CLOCK 0.5 /* s; no unit is so long */

/* The time before on the same line, with only blanks between. */
struct beside {
	double unit, seconds; /* its last unit, CLOCK of 1:23; 0: none */
};

/* "1 min 2 h" are no parts of one time, in that order, but hardly two either: of trials of one thing none is
 * more than twice as long as another. Neither is "1 day 2:03:04". */
static int check_beside(
	struct beside *b, struct reader *r, const char *from, const char *to, double seconds)
{
	const char *word = to, *ignored;
	double unit = time_unit(skip_blanks(from + strspn(from, "0123456789.,")), &ignored);
	struct beside before = *b;
	int clock = memchr(from, ':', (size_t)(to - from)) != NULL;

	unit = clock ? CLOCK : unit;
	while (word > from && (isalpha((unsigned char)word[-1]) || (unsigned char)word[-1] >= 0x80))
		word--;
	*b = (struct beside){clock ? CLOCK : time_unit(word, &ignored), seconds};
	if (!(before.unit > 0) || !(unit > 0) || unit == before.unit ||
		fmax(seconds, before.seconds) <= 2 * fmin(seconds, before.seconds))
		return 0;
	return reader_wrong(r,
		"'%.40s': is that one time in parts, or several? Write 1h2m3s or 26:03:04 without blanks, "
		"the longest part first, or one value a line",
		skip_blanks(r->s));
}

/* KiB are clear, kB are not: beside each other the doubt is told, once a list. */
static void check_powers(
	struct list *l, struct reader *r, const struct quantity *q, struct format_found *f)
{
	int had_both = l->power2_line && l->assumed_line;

	if (q->power2 && !l->power2_line)
		l->power2_line = r->no;
	if (q->assumed && !l->assumed_line)
		l->assumed_line = r->no;
	if (had_both || !l->power2_line || !l->assumed_line)
		return;
	found_note(f, r->no, r->no,
		"units of 2^10 (KiB/s, MiB/s, GiB/s; line %zu) and of 10^3 (kB/s, MB/s, GB/s; line %zu) in one "
		"list: each is taken as it is written; where the latter were meant as 2^10, too, write them so",
		l->power2_line, l->assumed_line);
	found_doubt(f, r->no);
}

static int take_values(
	struct list *l, struct reader *r, const struct context *c, struct format_found *f)
{
	const char *p = behind_ordinal(skip_blanks(r->s));
	int single = 0, blanks = 0; /* times of one part; of several with blanks between */
	struct beside beside = {0};

	if (is_key(p))
		return context_unknown(r, p);
	if (check_counting(l, r, p) || check_blanks(r, p))
		return -1;
	while (*p) {
		const char *from = p;
		struct quantity q;
		int plain;

		if (check_commas(r, p))
			return -1;
		if (quantity_parse(p, COMMA_UNSURE, &q, &p, r->e))
			return reader_place(r);
		single |= !has_parts(from, p, &blanks);
		if (single && blanks)
			return reader_wrong(r,
				"'%.40s': is that one time in parts, or several? Write 1m58s without blanks, "
				"or one value a line",
				skip_blanks(r->s));
		if (*p && !strchr(",;", *p) && skip_blanks(p) == p)
			return reader_wrong(r,
				"'%.40s' is not a time or a rate: write 18m15.395s, 0:18:22, "
				"1102.99, 549MiB/s or a line such as 'layout: name'",
				skip_blanks(r->s));
		plain = !q.metric;
		if (plain && isalpha((unsigned char)*skip_blanks(p)))
			return reader_wrong(r,
				"'%.*s' is no unit that is known: sec, min, hours, ms, MB/s, MiB/s, ops/s or IOPS",
				(int)strcspn(skip_blanks(p), " \t,;"), skip_blanks(p));
		if (plain) {
			q.metric = c->metric ? c->metric : "elapsed";
			q.unit = c->metric ? c->unit : "s";
			if (!strcmp(q.metric, "elapsed") && seconds_check(&q.number, r->e))
				return reader_place(r);
		}
		if (check_same(l, r, &q, plain) || check_beside(&beside, r, from, p, q.number.value))
			return -1;
		add_value(r, &q, c, f);
		check_powers(l, r, &q, f);
		while (*p && (strchr(",;", *p) || skip_blanks(p) != p)) {
			beside = strchr(",;", *p) ? (struct beside){0} : beside;
			p = strchr(",;", *p) ? p + 1 : skip_blanks(p);
		}
	}
	return 0;
}

static int read_list(const struct format_text *text, struct format_found *f, struct err *e)
{
	struct list l = {0};
	struct printed printed = {0};
	struct context c = {0};
	struct reader r;
	int rc = 0;

	reader_open(&r, text, e);
	while (!rc && reader_next(&r)) {
		size_t notes = f->n_notes;
		int taken = context_line(&c, &r, f);

		if (taken == 1 && f->n_notes > notes && f->notes[notes].used) {
			l = (struct list){0};
			rc = printed_end(&printed, &r, f);
		} else if (taken == 0) {
			rc = printed_is_line(r.s) ? printed_take(&printed, &r, &c, f)
						  : take_values(&l, &r, &c, f);
		} else if (taken < 0) {
			rc = -1;
		}
	}
	rc = rc || r.failed || printed_end(&printed, &r, f) ? -1 : 0;
	reader_close(&r);
	context_clear(&c);
	return rc;
}

static int like_value(const char *s)
{
	s = behind_ordinal(skip_blanks(s));
	s += *s == '-' && s[1] != ' ';
	return isdigit((unsigned char)*s) || !strncasecmp(s, "nan", 3) || !strncasecmp(s, "inf", 3);
}

/* A list when most lines that are no comments or directives begin with a number. */
static int score_list(const struct format_text *head)
{
	struct format_found scratch = {0};
	struct context c = {0};
	struct reader r;
	struct err ignored;
	size_t good = 0, bad = 0;

	reader_open(&r, head, &ignored);
	while (reader_next(&r)) {
		int what = context_line(&c, &r, &scratch);

		if (what != 0 || printed_is_line(r.s))
			continue;
		if (like_value(r.s))
			good++;
		else
			bad++;
	}
	reader_close(&r);
	context_clear(&c);
	format_found_clear(&scratch);
	return good > bad ? 50 : 0;
}

const struct format format_list = {.name = "list",
	.summary = "one time or rate a line",
	.workload = "command",
	.score = score_list,
	.read = read_list};
