/*
 * Members of lines just as export_members() writes them. Owns nothing.
 * Invariant: what is taken here, the JSON reader would have taken as the same.
 */
#include "coordinator/results/export_scan.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/measure/hist.h"
#include "coordinator/results/export_field.h"

#define NUMBERS_END 1000000000000000000 /* of buckets: export_hist_read() takes 18 digits */

int scan_is(struct export_scan *s, const char *literal)
{
	size_t n = strlen(literal);

	if ((size_t)(s->end - s->at) < n || memcmp(s->at, literal, n) != 0)
		return 0;
	s->at += n;
	return 1;
}

int scan_number(struct export_scan *s, int64_t *ret)
{
	const char *p = s->at;
	int64_t v = 0;

	for (; p < s->end && *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v))
			return 0;
	if (p == s->at || (p - s->at > 1 && *s->at == '0'))
		return 0;
	s->at = p;
	*ret = v;
	return 1;
}

int scan_plain(struct export_scan *s, const char **ret, size_t *ret_len)
{
	const char *p;

	if (!scan_is(s, "\""))
		return 0;
	for (p = s->at; p < s->end && *p >= ' ' && *p <= '~' && *p != '"' && *p != '\\'; p++)
		;
	if (p == s->end || *p != '"')
		return 0;
	*ret = s->at;
	*ret_len = (size_t)(p - s->at);
	s->at = p + 1;
	return 1;
}

static int scan_text(struct export_scan *s, const struct field *f, char **into)
{
	const char *from;
	size_t len;

	if (!(f->flags & FIELD_FULL) && scan_is(s, "null")) {
		free(*into);
		*into = f->flags & FIELD_NULL ? NULL : xstrdup("");
		return 1;
	}
	if (f->words || f->most || !scan_plain(s, &from, &len) || (f->flags & FIELD_FULL && !len))
		return 0;
	free(*into);
	*into = xstrndup(from, len);
	return 1;
}

static int scan_bool(struct export_scan *s, int *into)
{
	*into = scan_is(s, "true");
	return *into || scan_is(s, "false");
}

static int scan_value(struct export_scan *s, const struct field *f, void *into)
{
	char *to = (char *)into + f->offset;
	int64_t v;

	switch (f->kind) {
	case FIELD_TEXT:
		return scan_text(s, f, (char **)to);
	case FIELD_BOOL:
		return scan_bool(s, (int *)to);
	case FIELD_U32:
	case FIELD_I64:
	case FIELD_U64:
		return scan_number(s, &v) && export_field_take_count(f, v, into);
	default:
		return 0;
	}
}

int scan_members(struct export_scan *s, const struct field_table *t, void *into)
{
	for (size_t i = 0; i < t->n; i++) {
		int is_first = s->at > s->begin && s->at[-1] == '{';

		if (!scan_is(s, is_first ? "\"" : ",\"") || !scan_is(s, t->v[i].key) ||
			!scan_is(s, "\":") || !scan_value(s, &t->v[i], into))
			return 0;
	}
	return 1;
}

int scan_object(struct export_scan *s, const char **ret_from, const char **ret_to)
{
	const char *p = s->at;
	size_t depth = 0;
	int in_text = 0;

	for (; p < s->end; p++) {
		if (in_text && *p == '\\')
			p++;
		else if (*p == '"')
			in_text = !in_text;
		else if (!in_text && *p == '{')
			depth++;
		else if (!in_text && *p == '}' && depth && !--depth)
			break;
		else if (!depth)
			return 0;
	}
	if (p >= s->end)
		return 0;
	*ret_from = s->at;
	s->at = *ret_to = p + 1;
	return 1;
}

int scan_buckets(struct export_scan *s, struct hist *h)
{
	int64_t low, n;

	if (scan_is(s, "]"))
		return 1;
	do {
		if (!scan_number(s, &low) || !scan_is(s, ",") || !scan_number(s, &n) ||
			low >= NUMBERS_END || n >= NUMBERS_END)
			return 0;
		hist_add_n(h, (uint64_t)low, (uint64_t)n);
	} while (scan_is(s, ","));
	return scan_is(s, "]");
}
