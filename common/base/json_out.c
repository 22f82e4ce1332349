/*
 * JSON documents as text. A json_out owns nothing.
 * Invariant: the same values give the same bytes as json_document().
 */
#include "common/base/json_out.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDENT 2
#define DRAIN_AT (256 * 1024)
#define WHOLE_MOST 1e15 /* below it 15 digits say a whole number exactly */

static void new_line(struct json_out *w, unsigned depth)
{
	static const char blanks[JSON_OUT_DEPTH * INDENT + 1] = "                                ";

	buf_addc(w->out, '\n');
	buf_add(w->out, blanks, (size_t)depth * INDENT);
}

/* What stands before a value. */
static void begin(struct json_out *w, const char *key)
{
	if (w->depth) {
		if (!w->has_items[w->depth - 1])
			w->has_items[w->depth - 1] = 1;
		else
			buf_addc(w->out, ',');
		new_line(w, w->depth);
	}
	if (!key)
		return;
	buf_addc(w->out, '"');
	buf_adds(w->out, key);
	buf_adds(w->out, "\": ");
}

static void open_one(struct json_out *w, const char *key, int is_list)
{
	begin(w, key);
	if (w->depth == JSON_OUT_DEPTH)
		abort();
	buf_addc(w->out, is_list ? '[' : '{');
	w->is_list[w->depth] = is_list;
	w->has_items[w->depth++] = 0;
}

void json_out_object(struct json_out *w, const char *key)
{
	open_one(w, key, 0);
}

void json_out_list(struct json_out *w, const char *key)
{
	open_one(w, key, 1);
}

void json_out_end(struct json_out *w)
{
	w->depth--;
	if (w->has_items[w->depth])
		new_line(w, w->depth);
	buf_addc(w->out, w->is_list[w->depth] ? ']' : '}');
	if (!w->depth)
		buf_addc(w->out, '\n');
}

void json_out_text(struct json_out *w, const char *key, const char *s)
{
	size_t n = 0;

	while (s && s[n] >= ' ' && s[n] <= '~' && s[n] != '"' && s[n] != '\\')
		n++;
	if (!s || s[n]) {
		json_out_value(w, key, json_text(s));
		return;
	}
	begin(w, key);
	buf_addc(w->out, '"');
	buf_add(w->out, s, n);
	buf_addc(w->out, '"');
}

static void add_number(struct buf *out, int64_t v)
{
	char digits[24], *at = digits + sizeof(digits);
	uint64_t left = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

	do
		*--at = (char)('0' + left % 10);
	while (left /= 10);
	if (v < 0)
		*--at = '-';
	buf_add(out, at, (size_t)(digits + sizeof(digits) - at));
}

void json_out_int(struct json_out *w, const char *key, int64_t v)
{
	begin(w, key);
	add_number(w->out, v);
}

void json_out_real(struct json_out *w, const char *key, double v)
{
	char digits[40];
	int n;

	if (!isfinite(v)) {
		json_out_null(w, key);
	} else if (fabs(v) < WHOLE_MOST && v == nearbyint(v) && !(v == 0 && signbit(v))) {
		begin(w, key);
		add_number(w->out, (int64_t)v);
		buf_adds(w->out, ".0");
	} else {
		n = snprintf(digits, sizeof(digits), "%.15g", v);
		if (strchr(digits, 'e') || !strchr(digits, '.')) {
			json_out_value(w, key, json_real(v)); /* jansson has its own spelling */
			return;
		}
		begin(w, key);
		buf_add(w->out, digits, (size_t)n);
	}
}

void json_out_bool(struct json_out *w, const char *key, int v)
{
	begin(w, key);
	buf_adds(w->out, v ? "true" : "false");
}

void json_out_null(struct json_out *w, const char *key)
{
	begin(w, key);
	buf_adds(w->out, "null");
}

/* In strings of JSON there is no newline. */
static int append_deeper(const char *data, size_t len, void *arg)
{
	struct json_out *w = arg;
	const char *end;

	while ((end = memchr(data, '\n', len))) {
		json_append(data, (size_t)(end - data), w->out);
		new_line(w, w->depth);
		len -= (size_t)(end + 1 - data);
		data = end + 1;
	}
	return json_append(data, len, w->out);
}

void json_out_value(struct json_out *w, const char *key, json_t *v)
{
	begin(w, key);
	json_dump_callback(
		v, append_deeper, w, JSON_INDENT(INDENT) | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
	json_decref(v);
}

void json_out_again(struct json_out *w, const char *text, size_t len)
{
	buf_add(w->out, text, len);
	w->has_items[w->depth - 1] = 1;
}

void json_out_drain(struct json_out *w)
{
	if (!w->drain || w->out->len < DRAIN_AT)
		return;
	if (w->failed)
		buf_reset(w->out); /* nobody wants it any more */
	else
		w->failed = w->drain(w->arg, w->out, &w->err) != 0;
}

int json_out_status(const struct json_out *w, struct err *e)
{
	if (w->failed)
		err_copy(e, &w->err);
	return w->failed ? -1 : 0;
}
