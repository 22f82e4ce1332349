/*
 * See said.h. Owns nothing beyond a call but what said_free gives back.
 * Invariant: a group's findings are chained in the order they came in, from its first one on.
 */
#include "coordinator/results/said.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

#define DIGITS "0123456789"

/* A number right before a percent sign: where it begins, its sign included, and how long it is. */
struct percentage {
	const char *at;
	size_t len;
};

/* The next one in s, which is inside the text that begins at start. */
static int next_percentage(const char *start, const char *s, struct percentage *ret)
{
	while ((s = strpbrk(s, DIGITS))) {
		size_t len = strspn(s, DIGITS ".");
		const char *at = s;

		if (s[len] == '%' && (s == start || !isalnum((unsigned char)s[-1]))) {
			if (s > start && (s[-1] == '+' || s[-1] == '-'))
				at--;
			*ret = (struct percentage){at, (size_t)(s + len - at)};
			return 1;
		}
		s += len;
	}
	return 0;
}

/* The text without its percentages. Caller frees. */
static char *frame_of(const char *text)
{
	struct buf out = {0};
	struct percentage p;
	const char *s = text;

	for (; next_percentage(text, s, &p); s = p.at + p.len)
		buf_add(&out, s, (size_t)(p.at - s));
	buf_adds(&out, s);
	return buf_take(&out);
}

int said_level(const struct finding *f)
{
	return f->unknown ? -1 : (int)f->severity;
}

const struct finding **said_list(const struct findings *f)
{
	const struct finding **v = xcalloc(f->n + 1, sizeof(*v));

	for (size_t i = 0; i < f->n; i++)
		v[i] = &f->v[i];
	return v;
}

struct entry {
	const struct finding *f;
	size_t i;
	char *frame;
	int apart;
};

static int compare_names(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

static int compare_subjects(const struct entry *a, const struct entry *b)
{
	int c = (a->f->layout != NULL) - (b->f->layout != NULL);

	if (c == 0)
		c = (a->f->workload != NULL) - (b->f->workload != NULL);
	if (c == 0 && a->apart)
		c = compare_names(a->f->layout, b->f->layout);
	if (c == 0 && a->apart)
		c = compare_names(a->f->workload, b->f->workload);
	return c;
}

/* 0: they say the same. */
static int compare_sayings(const struct entry *a, const struct entry *b)
{
	int c = (a->f->run > b->f->run) - (a->f->run < b->f->run);

	if (c == 0)
		c = (a->f->rule > b->f->rule) - (a->f->rule < b->f->rule);
	if (c == 0)
		c = said_level(a->f) - said_level(b->f);
	if (c == 0)
		c = compare_subjects(a, b);
	return c ? c : strcmp(a->frame, b->frame);
}

static int compare_entries(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;
	int c = compare_sayings(a, b);

	return c ? c : (a->i > b->i) - (a->i < b->i);
}

void said_group(const struct finding *const *v, size_t n, said_apart_fn apart, const void *arg,
	struct said *ret)
{
	struct entry *sorted = xcalloc(n + 1, sizeof(*sorted));

	*ret = (struct said){v, n, xcalloc(n + 1, sizeof(size_t)), xcalloc(n + 1, sizeof(size_t))};
	for (size_t i = 0; i < n; i++)
		sorted[i] = (struct entry){v[i], i, frame_of(v[i]->text), apart && apart(arg, v[i]->run)};
	qsort(sorted, n, sizeof(*sorted), compare_entries);
	for (size_t i = 0; i < n; i++) {
		int begins = i == 0 || compare_sayings(&sorted[i - 1], &sorted[i]) != 0;

		ret->first[sorted[i].i] = begins ? sorted[i].i : ret->first[sorted[i - 1].i];
		ret->next[sorted[i].i] = n;
		if (!begins)
			ret->next[sorted[i - 1].i] = sorted[i].i;
	}
	for (size_t i = 0; i < n; i++)
		free(sorted[i].frame);
	free(sorted);
}

void said_free(struct said *s)
{
	free(s->first);
	free(s->next);
	*s = (struct said){0};
}

static struct percentage percentage_number(const char *text, size_t number)
{
	struct percentage p = {text, 0};
	const char *s = text;

	for (size_t i = 0; i <= number && next_percentage(text, s, &p); i++)
		s = p.at + p.len;
	return p;
}

/* Of the number-th percentage of all that say the same: "13", "13…21". */
static void add_range(const struct said *s, size_t i, size_t number, struct buf *out)
{
	struct percentage lo = percentage_number(s->v[i]->text, number), hi = lo;

	for (size_t k = s->next[i]; k < s->n; k = s->next[k]) {
		struct percentage p = percentage_number(s->v[k]->text, number);
		double v = strtod(p.at, NULL);

		if (v < strtod(lo.at, NULL))
			lo = p;
		if (v > strtod(hi.at, NULL))
			hi = p;
	}
	buf_add(out, lo.at, lo.len);
	if (hi.at != lo.at) {
		buf_adds(out, "…");
		buf_add(out, hi.at, hi.len);
	}
}

void said_text(const struct said *s, size_t i, struct buf *out)
{
	const char *text = s->v[i = s->first[i]]->text, *from = text;
	struct percentage p;

	for (size_t number = 0; next_percentage(text, from, &p); number++, from = p.at + p.len) {
		buf_add(out, from, (size_t)(p.at - from));
		add_range(s, i, number, out);
	}
	buf_adds(out, from);
}
