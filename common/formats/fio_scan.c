/*
 * From one long document to pieces: only strings, braces and brackets are looked at. Owns nothing
 * beyond what its structs own.
 * Invariant: every byte is looked at a fixed number of times, and nothing is kept of a piece but where
 * it is; syntax is checked by whoever builds the pieces.
 */
#include "common/formats/fio_scan.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

#define COUNT_DIGITS 15 /* of whole numbers that a double keeps exactly */

struct scan {
	const char *p, *end;
};

static int is_blank_char(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_space(struct scan *s)
{
	while (s->p < s->end && is_blank_char(*s->p))
		s->p++;
}

/* Behind the string that begins at p; NULL when it has no end. */
static const char *string_end(const char *p, const char *end)
{
	for (p++; p < end; p++) {
		if (*p == '"')
			return p + 1;
		if (*p == '\\')
			p++;
	}
	return NULL;
}

/* Behind the value that begins at p; NULL when it has no end. */
static const char *value_end(const char *p, const char *end)
{
	size_t depth = 0;

	while (p < end) {
		switch (*p) {
		case '"':
			p = string_end(p, end);
			if (!p)
				return NULL;
			break;
		case '{':
		case '[':
			depth++;
			p++;
			break;
		case '}':
		case ']':
			if (depth == 0)
				return p;
			depth--;
			p++;
			break;
		case ',':
			if (depth == 0)
				return p;
			p++;
			continue;
		default:
			p++;
			continue;
		}
		if (depth == 0)
			return p;
	}
	return NULL;
}

static size_t count_lines(const char *from, const char *to)
{
	size_t n = 0;

	while (from < to && (from = memchr(from, '\n', (size_t)(to - from)))) {
		from++;
		n++;
	}
	return n;
}

static void add_lines(struct buf *out, size_t n)
{
	while (n--)
		buf_addc(out, '\n');
}

struct split {
	struct scan s;
	const char *start, *taken; /* the document; what of it is in rest */
	const char *counted;       /* lines are known up to here */
	size_t line;
	struct fio_pieces *out;
	const char *what;
};

static int wrong(struct split *x, const char *what)
{
	x->what = x->s.p < x->s.end ? what : "it is cut off";
	return -1;
}

static size_t line_at(struct split *x, const char *p)
{
	x->line += count_lines(x->counted, p);
	x->counted = p;
	return x->line;
}

static int take(struct split *x, char c, const char *what)
{
	skip_space(&x->s);
	if (x->s.p >= x->s.end || *x->s.p != c)
		return wrong(x, what);
	x->s.p++;
	return 0;
}

static int skip_value(struct split *x)
{
	const char *end = value_end(x->s.p, x->s.end);

	if (!end) {
		x->s.p = x->s.end;
		return wrong(x, "");
	}
	x->s.p = end;
	return 0;
}

static int add_element(struct split *x, struct fio_list *list)
{
	const char *from = x->s.p;

	if (skip_value(x))
		return -1;
	if (x->s.p == from)
		return wrong(x, "a value is expected");
	list->v = xgrow(list->v, list->n, &list->cap, sizeof(*list->v));
	list->v[list->n++] = (struct fio_part){(size_t)(from - x->start),
		(size_t)(x->s.p - x->start), line_at(x, from)};
	return 0;
}

static int split_list(struct split *x, struct fio_list *list)
{
	const char *open = x->s.p++;

	list->is_there = 1;
	list->n = 0; /* of two members with one name the last one counts */
	buf_add(&x->out->rest, x->taken, (size_t)(open + 1 - x->taken));
	skip_space(&x->s);
	while (x->s.p < x->s.end && *x->s.p != ']') {
		if (list->n && take(x, ',', "',' or ']' is expected"))
			return -1;
		skip_space(&x->s);
		if (add_element(x, list))
			return -1;
		skip_space(&x->s);
	}
	if (x->s.p >= x->s.end)
		return wrong(x, "");
	add_lines(&x->out->rest, count_lines(open, x->s.p));
	x->taken = x->s.p++;
	return 0;
}

static struct fio_list *list_named(struct fio_pieces *p, const char *key, size_t len)
{
	if (len == 6 && !memcmp(key, "\"jobs\"", 6))
		return &p->jobs;
	if (len == 14 && !memcmp(key, "\"client_stats\"", 14))
		return &p->clients;
	return NULL;
}

static int split_member(struct split *x)
{
	struct fio_list *list;
	const char *key;

	skip_space(&x->s);
	key = x->s.p;
	if (key >= x->s.end || *key != '"')
		return wrong(x, "a name in quotes is expected");
	if (skip_value(x))
		return -1;
	list = list_named(x->out, key, (size_t)(x->s.p - key));
	if (take(x, ':', "':' is expected"))
		return -1;
	skip_space(&x->s);
	if (list && x->s.p < x->s.end && *x->s.p == '[')
		return split_list(x, list);
	if (list) {
		list->is_there = 0;
		list->n = 0;
	}
	return skip_value(x);
}

static int split_document(struct split *x)
{
	x->s.p++;
	skip_space(&x->s);
	if (x->s.p < x->s.end && *x->s.p == '}')
		return 0;
	for (;;) {
		if (split_member(x))
			return -1;
		skip_space(&x->s);
		if (x->s.p < x->s.end && *x->s.p == '}')
			return 0;
		if (take(x, ',', "',' or '}' is expected"))
			return -1;
	}
}

int fio_split(const char *text, size_t len, struct fio_pieces *ret, size_t *ret_line,
	const char **ret_what)
{
	struct split x = {.s = {text, text + len},
		.start = text,
		.taken = text,
		.counted = text,
		.out = ret};

	if (split_document(&x)) {
		*ret_line = count_lines(text, x.s.p);
		*ret_what = x.what;
		return -1;
	}
	x.s.p++;
	buf_add(&ret->rest, x.taken, (size_t)(x.s.p - x.taken));
	ret->used = (size_t)(x.s.p - text);
	return 0;
}

void fio_pieces_clear(struct fio_pieces *p)
{
	free(p->jobs.v);
	free(p->clients.v);
	buf_free(&p->rest);
	*p = (struct fio_pieces){0};
}

void fio_bins_clear(struct fio_bins *b)
{
	for (size_t i = 0; i < b->n; i++)
		free(b->v[i]);
	free(b->v);
	*b = (struct fio_bins){0};
}

/* Digits at p as a number; what follows them, or NULL where there are none or too many. */
static const char *read_digits(const char *p, const char *end, uint64_t *ret)
{
	const char *start = p;
	uint64_t v = 0;

	while (p < end && *p >= '0' && *p <= '9' && p - start <= COUNT_DIGITS)
		v = v * 10 + (uint64_t)(*p++ - '0');
	*ret = v;
	return p > start && p - start <= COUNT_DIGITS ? p : NULL;
}

/* One pair `"ns" : n`, anything but a digit may follow; 0 where it is something else. */
static int read_pair(struct scan *s, uint64_t *ret_ns, uint64_t *ret_n)
{
	const char *p;

	skip_space(s);
	if (s->p >= s->end || *s->p != '"')
		return 0;
	p = read_digits(s->p + 1, s->end, ret_ns);
	if (!p || p >= s->end || *p != '"')
		return 0;
	s->p = p + 1;
	skip_space(s);
	if (s->p >= s->end || *s->p != ':')
		return 0;
	s->p++;
	skip_space(s);
	p = read_digits(s->p, s->end, ret_n);
	if (!p || (p - s->p > 1 && *s->p == '0'))
		return 0;
	s->p = p;
	skip_space(s);
	return s->p < s->end;
}

/* The object at s->p as a histogram, s->p behind it; 0 (and no change) where it is none. */
static int read_bins(struct scan *s, struct hist *h)
{
	struct scan t = {s->p + 1, s->end};
	uint64_t ns, n, least = 0;
	char after = ',';

	hist_clear(h);
	skip_space(&t);
	if (t.p < t.end && *t.p == '}')
		after = *t.p++;
	while (after == ',') {
		if (!read_pair(&t, &ns, &n) || ns < least)
			return 0;
		if (n)
			hist_add_n(h, ns, n);
		least = ns + 1;
		after = *t.p++;
	}
	if (after != '}')
		return 0;
	s->p = t.p;
	return 1;
}

/* A member "bins", whose name was read: what stands for it in the text. */
static void lean_bins(struct scan *s, struct buf *out, struct fio_bins *bins)
{
	struct scan t = *s;
	struct hist *h;

	skip_space(&t);
	if (t.p >= t.end || *t.p != ':') {
		buf_adds(out, "\"bins\""); /* no name after all */
		return;
	}
	t.p++;
	skip_space(&t);
	if (t.p >= t.end || *t.p != '{') {
		buf_adds(out, "\"no bins\"");
		return;
	}
	h = xmalloc(sizeof(*h));
	if (!read_bins(&t, h)) {
		free(h);
		buf_adds(out, "\"bins\"");
		return;
	}
	bins->v = xgrow(bins->v, bins->n, &bins->cap, sizeof(*bins->v));
	bins->v[bins->n] = h;
	buf_addf(out, "\"bins\":%zu", bins->n++);
	add_lines(out, count_lines(s->p, t.p));
	s->p = t.p;
}

void fio_lean(const char *text, size_t len, struct buf *out, struct fio_bins *bins)
{
	struct scan s = {text, text + len};

	while (s.p < s.end) {
		const char *from = s.p;

		if (*from == '"') {
			const char *end = string_end(from, s.end);

			s.p = end ? end : s.end;
			if (s.p - from == 6 && !memcmp(from, "\"bins\"", 6))
				lean_bins(&s, out, bins);
			else
				buf_add(out, from, (size_t)(s.p - from));
			continue;
		}
		if (*from == ' ' || *from == '\t' || *from == '\r') {
			s.p++;
			continue;
		}
		while (s.p < s.end && *s.p != '"' && *s.p != ' ' && *s.p != '\t' && *s.p != '\r')
			s.p++;
		buf_add(out, from, (size_t)(s.p - from));
	}
}
