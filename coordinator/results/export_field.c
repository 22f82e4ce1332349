/*
 * Members of export lines, by tables: written, read and checked. Owns nothing.
 * Invariant: a value is taken only when its type, its range and its words are those of its row.
 */
#include "coordinator/results/export_field.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/utf8.h"
#include "coordinator/results/export_write.h"

#define SHOWN_BYTES 40 /* of a text in a message */

/* ---- writing ---- */

static json_t *digits_json(uint64_t v)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, v);
	return json_text(digits);
}

json_t *export_count(uint64_t v)
{
	return v > INT64_MAX ? digits_json(v) : json_integer((json_int_t)v);
}

json_t *export_strv(const struct strv *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(list, json_text(s->v[i]));
	return list;
}

static json_t *value_of(const struct field *f, const void *at)
{
	switch (f->kind) {
	case FIELD_TEXT:
	case FIELD_REF:
		return json_text(*(char *const *)at);
	case FIELD_BOOL:
		return json_boolean(*(const int *)at);
	case FIELD_INT:
		return json_integer(*(const int *)at);
	case FIELD_U32:
		return json_integer(*(const uint32_t *)at);
	case FIELD_I64:
		return json_integer(*(const int64_t *)at);
	case FIELD_U64:
		return export_count(*(const uint64_t *)at);
	case FIELD_DIGITS:
		return digits_json(*(const uint64_t *)at);
	case FIELD_REAL:
		return json_number(*(const double *)at);
	case FIELD_METRIC:
		return json_text(metric_table[*(const enum metric_id *)at].name);
	case FIELD_LIST:
		return export_strv(at);
	}
	return json_null();
}

void export_fields_write(json_t *o, const struct field_table *t, const void *from)
{
	for (size_t i = 0; i < t->n; i++)
		json_object_set_new_nocheck(
			o, t->v[i].key, value_of(&t->v[i], (const char *)from + t->v[i].offset));
}

static void print_count(uint64_t v, struct buf *out)
{
	char digits[24], *at = digits + sizeof(digits);

	do {
		*--at = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	buf_add(out, at, (size_t)(digits + sizeof(digits) - at));
}

static void print_other(json_t *v, struct buf *out)
{
	json_line(v, out);
	json_decref(v);
}

/* A text that stands in JSON as it is: most names. */
static int print_plain(const char *s, struct buf *out)
{
	size_t n = 0;

	while (s[n] >= ' ' && s[n] <= '~' && s[n] != '"' && s[n] != '\\')
		n++;
	if (s[n])
		return 0;
	buf_addc(out, '"');
	buf_add(out, s, n);
	buf_addc(out, '"');
	return 1;
}

static void print_text(const char *s, struct buf *out)
{
	if (!s)
		buf_adds(out, "null");
	else if (!print_plain(s, out))
		print_other(json_text(s), out);
}

static void print_value(const struct field *f, const void *at, struct buf *out)
{
	if (f->kind == FIELD_U64 && *(const uint64_t *)at <= INT64_MAX)
		print_count(*(const uint64_t *)at, out);
	else if (f->kind == FIELD_I64 && *(const int64_t *)at >= 0)
		print_count((uint64_t)*(const int64_t *)at, out);
	else if (f->kind == FIELD_U32)
		print_count(*(const uint32_t *)at, out);
	else if (f->kind == FIELD_BOOL)
		buf_adds(out, *(const int *)at ? "true" : "false");
	else if (f->kind == FIELD_TEXT || f->kind == FIELD_REF)
		print_text(*(char *const *)at, out);
	else
		print_other(value_of(f, at), out);
}

void export_members(const struct field_table *t, const void *from, struct buf *out)
{
	for (size_t i = 0; i < t->n; i++) {
		buf_adds(out, ",\"");
		buf_adds(out, t->v[i].key);
		buf_adds(out, "\":");
		print_value(&t->v[i], (const char *)from + t->v[i].offset, out);
	}
}

void export_begin(const char *type, uint64_t run, struct buf *out)
{
	buf_adds(out, "{\"type\":\"");
	buf_adds(out, type);
	buf_adds(out, "\",\"run\":");
	print_count(run, out);
}

void export_begin_of_trial(const char *type, uint64_t run, const char *host, uint32_t attempt,
	uint32_t trial, struct buf *out)
{
	const struct export_piece of = {host, NULL, attempt, trial};

	export_begin(type, run, out);
	export_members(&export_of_trial_table, &of, out);
}

void export_fields_print(const struct field_table *t, const void *from, struct buf *out)
{
	for (size_t i = 0; i < t->n; i++) {
		buf_addc(out, i ? ',' : '[');
		print_value(&t->v[i], (const char *)from + t->v[i].offset, out);
	}
	buf_adds(out, t->n ? "]" : "[]");
}

/* ---- what is wrong ---- */

static void describe_text(const char *s, struct buf *out)
{
	size_t n = 0, step;

	while (s[n] && n < SHOWN_BYTES && (step = utf8_valid(s + n, strlen(s + n))))
		n += step;
	buf_addf(out, "\"%.*s%s\"", (int)n, s, s[n] ? "…" : "");
}

static void describe(const json_t *v, struct buf *out)
{
	if (!v)
		buf_adds(out, "nothing");
	else if (json_is_string(v))
		describe_text(json_string_value(v), out);
	else if (json_is_integer(v))
		buf_addf(out, "%lld", (long long)json_integer_value(v));
	else if (json_is_real(v))
		buf_addf(out, "%.17g", json_real_value(v));
	else
		buf_adds(out, json_is_array(v)    ? "a list"
			      : json_is_object(v) ? "an object"
			      : json_is_null(v)   ? "null"
			      : json_is_true(v)   ? "true"
						  : "false");
}

static void describe_place(const struct field_place *at, const char *key, struct buf *out)
{
	if (at->member)
		buf_adds(out, at->member);
	if (at->i != FIELD_WHOLE)
		buf_addf(out, "[%zu]", at->i);
	if (key)
		buf_addf(out, "%s%s", at->member || at->i != FIELD_WHOLE ? "." : "", key);
}

int export_unexpected(const struct export_line *l, struct field_place at, const char *key,
	const json_t *v, const char *expected, struct err *e)
{
	struct buf text = {0};

	buf_addf(&text, "%s: ", json_get_str(l->o, "type", "a line"));
	describe_place(&at, key, &text);
	buf_adds(&text, ": ");
	describe(v, &text);
	err_set(e, ERR_INPUT, "%s:%zu: %s is found, %s is expected", l->name, l->no, buf_str(&text),
		expected);
	buf_free(&text);
	return -1;
}

/* The bounds of a whole number. */
static uint64_t most_of(const struct field *f)
{
	if (f->most)
		return f->most;
	switch (f->kind) {
	case FIELD_INT:
		return INT_MAX;
	case FIELD_U32:
		return UINT32_MAX;
	case FIELD_I64:
		return INT64_MAX;
	default:
		return UINT64_MAX;
	}
}

static void expect_words(const struct field *f, struct buf *out)
{
	for (size_t i = 0; f->words[i]; i++)
		buf_addf(out, "%s%s", i == 0 ? "" : f->words[i + 1] ? ", " : " or ", f->words[i]);
}

static void expect_text(const struct field *f, struct buf *out)
{
	if (f->words) {
		expect_words(f, out);
		return;
	}
	buf_addf(out, "a text%s", f->flags & FIELD_FULL ? " that is not empty" : "");
	if (f->most)
		buf_addf(out, " of at most %" PRIu64 " bytes", f->most);
}

static void expect(const struct field *f, struct buf *out)
{
	switch (f->kind) {
	case FIELD_TEXT:
	case FIELD_REF:
		expect_text(f, out);
		break;
	case FIELD_BOOL:
		buf_adds(out, "true or false");
		break;
	case FIELD_REAL:
		buf_addf(out, "a number%s",
			f->flags & FIELD_SIGNED ? ""
			: f->flags & FIELD_FULL ? " above 0"
						: " from 0 on");
		break;
	case FIELD_METRIC:
		for (unsigned m = 0; m < METRIC_COUNT; m++)
			buf_addf(out, "%s%s", m == 0 ? "" : m + 1 < METRIC_COUNT ? ", " : " or ",
				metric_table[m].name);
		break;
	case FIELD_LIST:
		buf_adds(out, "a list of texts");
		break;
	default:
		buf_addf(out, "a whole number from %" PRId64 " to %" PRIu64 "%s", f->least,
			most_of(f), f->kind == FIELD_DIGITS ? " as a text" : "");
	}
	if (f->flags & FIELD_NULL)
		buf_adds(out, ", or null,");
}

static int wrong(const struct export_line *l, struct field_place at, const json_t *v,
	const struct field *f, struct err *e)
{
	struct buf text = {0};
	int rc;

	expect(f, &text);
	rc = export_unexpected(l, at, f->key, v, buf_str(&text), e);
	buf_free(&text);
	return rc;
}

/* ---- reading ---- */

/* Digits, without a sign and without zeros in front. */
static int digits_value(const char *s, uint64_t *ret)
{
	size_t n = strspn(s, "0123456789");
	uint64_t v = 0;

	if (n == 0 || s[n] || (n > 1 && *s == '0'))
		return 0;
	for (; *s; s++)
		if (__builtin_mul_overflow(v, 10u, &v) ||
			__builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return 0;
	*ret = v;
	return 1;
}

/* Whether v is a whole number within the row's bounds. */
static int whole_value(const struct field *f, const json_t *v, int64_t *ret_signed, uint64_t *ret)
{
	int64_t i = json_integer_value(v);

	if (f->kind == FIELD_DIGITS)
		return json_is_string(v) && digits_value(json_string_value(v), ret);
	if (f->kind == FIELD_U64 && json_is_string(v))
		return digits_value(json_string_value(v), ret) && *ret > INT64_MAX &&
		       *ret <= most_of(f);
	*ret_signed = i;
	*ret = (uint64_t)i;
	return json_is_integer(v) && i >= f->least && (i < 0 || (uint64_t)i <= most_of(f));
}

static int take_whole(const struct field *f, const json_t *v, void *to)
{
	int64_t i = 0;
	uint64_t u = 0;

	if (!whole_value(f, v, &i, &u))
		return -1;
	if (!to)
		return 0;
	if (f->kind == FIELD_INT)
		*(int *)to = (int)i;
	else if (f->kind == FIELD_U32)
		*(uint32_t *)to = (uint32_t)u;
	else if (f->kind == FIELD_I64)
		*(int64_t *)to = i;
	else
		*(uint64_t *)to = u;
	return 0;
}

static int is_word(const char *const *words, const char *s)
{
	while (*words && strcmp(*words, s))
		words++;
	return *words || !*s;
}

static int take_text(const struct field *f, const json_t *v, void *to)
{
	const char *s = json_string_value(v);

	/* null is the absence of a text */
	if (json_is_null(v) && !(f->flags & FIELD_FULL))
		s = f->flags & FIELD_NULL ? NULL : "";
	else if (!s || (f->flags & FIELD_FULL && !*s) || (f->most && strlen(s) > f->most) ||
		 (f->words && !is_word(f->words, s)))
		return -1;
	if (to && f->kind == FIELD_REF) {
		*(const char **)to = s;
	} else if (to) {
		free(*(char **)to);
		*(char **)to = xstrdup(s);
	}
	return 0;
}

static int take_real(const struct field *f, const json_t *v, double *to)
{
	double d = json_number_value(v);

	if (json_is_null(v) && f->flags & FIELD_NULL)
		d = NAN;
	else if (!json_is_number(v) || !isfinite(d))
		return -1;
	else if (!(f->flags & FIELD_SIGNED) && (f->flags & FIELD_FULL ? d <= 0 : d < 0))
		return -1;
	if (to)
		*to = d;
	return 0;
}

static int take_metric(const json_t *v, enum metric_id *to)
{
	enum metric_id m = json_is_string(v) ? metric_find(json_string_value(v)) : METRIC_COUNT;

	if (m == METRIC_COUNT)
		return -1;
	if (to)
		*to = m;
	return 0;
}

static int take_list(const json_t *v, struct strv *to)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(v))
		return -1;
	json_array_foreach(v, i, item)
		if (!json_is_string(item))
			return -1;
	for (i = 0; to && i < json_array_size(v); i++)
		strv_add(to, json_string_value(json_array_get(v, i)));
	return 0;
}

static int take(const struct field *f, const json_t *v, void *to)
{
	switch (f->kind) {
	case FIELD_TEXT:
	case FIELD_REF:
		return take_text(f, v, to);
	case FIELD_BOOL:
		if (json_is_boolean(v) && to)
			*(int *)to = json_is_true(v);
		return json_is_boolean(v) ? 0 : -1;
	case FIELD_REAL:
		return take_real(f, v, to);
	case FIELD_METRIC:
		return take_metric(v, to);
	case FIELD_LIST:
		return take_list(v, to);
	default:
		return take_whole(f, v, to);
	}
}

int export_field_take(const struct export_line *l, struct field_place at, const json_t *v,
	const struct field *f, void *into, struct err *e)
{
	return take(f, v, into ? (char *)into + f->offset : NULL) ? wrong(l, at, v, f, e) : 0;
}

int export_field_take_count(const struct field *f, int64_t v, void *into)
{
	void *to = (char *)into + f->offset;

	if (v < f->least || (uint64_t)v > most_of(f))
		return 0;
	if (f->kind == FIELD_U32)
		*(uint32_t *)to = (uint32_t)v;
	else if (f->kind == FIELD_I64)
		*(int64_t *)to = v;
	else if (f->kind == FIELD_U64)
		*(uint64_t *)to = (uint64_t)v;
	else
		return 0;
	return 1;
}

/* A text is never NULL where null does not mean anything. */
static void complete(const struct field *f, void *into)
{
	char **text = (char **)((char *)into + f->offset);

	if (f->kind == FIELD_TEXT && !(f->flags & FIELD_NULL) && !*text)
		*text = xstrdup("");
	else if (f->kind == FIELD_REF && !*text)
		*(const char **)text = "";
}

int export_fields_read(const struct export_line *l, struct field_place at, const json_t *o,
	const struct field_table *t, void *into, struct err *e)
{
	for (size_t i = 0; into && i < t->n; i++)
		complete(&t->v[i], into);
	for (size_t i = 0; i < t->n; i++) {
		const struct field *f = &t->v[i];
		const json_t *v = json_object_get(o, f->key);

		if ((v || f->flags & FIELD_MUST) && export_field_take(l, at, v, f, into, e))
			return -1;
	}
	return 0;
}

static int member(const struct export_line *l, struct field_place at, const json_t *o, const char *key,
	int must, json_type type, const char *expected, const json_t **ret, struct err *e)
{
	const json_t *v = json_object_get(o, key);
	int is_it = v && json_typeof(v) == type;

	if (!is_it && (must || (v && !json_is_null(v))))
		return export_unexpected(l, at, key, v, expected, e);
	*ret = is_it ? v : NULL;
	return 0;
}

int export_list(const struct export_line *l, struct field_place at, const json_t *o, const char *key,
	int must, const json_t **ret, struct err *e)
{
	return member(l, at, o, key, must, JSON_ARRAY, must ? "a list" : "a list or null", ret, e);
}

int export_object(const struct export_line *l, struct field_place at, const json_t *o,
	const char *key, int must, const json_t **ret, struct err *e)
{
	return member(
		l, at, o, key, must, JSON_OBJECT, must ? "an object" : "an object or null", ret, e);
}
