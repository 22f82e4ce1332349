/*
 * JSON on jansson. Owns the library's allocator, which it sets so that jansson, too, cannot run
 * out of memory half-way.
 * Invariant: every text that reaches jansson is valid UTF-8.
 */
#include "common/base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

static void __attribute__((constructor)) use_our_memory(void)
{
	json_set_alloc_funcs(xmalloc, free);
}

json_t *json_text_n(const char *s, size_t len)
{
	struct buf repaired = {0};
	size_t clean = 0;
	json_t *v;

	for (size_t i = 0, n; i < len; i += n ? n : 1) {
		n = utf8_valid(s + i, len - i);
		if (n)
			continue;
		buf_add(&repaired, s + clean, i - clean);
		buf_adds(&repaired, REPLACEMENT);
		clean = i + 1;
	}
	if (clean == 0)
		return json_stringn_nocheck(len ? s : "", len);
	buf_add(&repaired, s + clean, len - clean);
	v = json_stringn_nocheck(repaired.data, repaired.len);
	buf_free(&repaired);
	return v;
}

json_t *json_text(const char *s)
{
	return s ? json_text_n(s, strlen(s)) : json_null();
}

json_t *json_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

/* Bytes of the character at s that a terminal or a viewer would obey instead of showing it; jansson
 * itself escapes those below blank. 0: none. */
static size_t unseen(const char *s, size_t len)
{
	size_t n = utf8_valid(s, len);

	return n && (utf8_is_control(s, n) || utf8_is_steering(utf8_code_point(s, n))) ? n : 0;
}

/* All such characters are in Unicode's first plane: one escape each. */
int json_append(const char *data, size_t len, void *out)
{
	size_t from = 0;

	for (size_t i = 0, n; i < len; i += n ? n : 1) {
		n = (unsigned char)data[i] >= 0x7f ? unseen(data + i, len - i) : 0;
		if (!n)
			continue;
		buf_add(out, data + from, i - from);
		buf_addf(out, "\\u%04X", utf8_code_point(data + i, n));
		from = i + n;
	}
	buf_add(out, data + from, len - from);
	return 0;
}

void json_line(const json_t *v, struct buf *out)
{
	json_dump_callback(v, json_append, out, JSON_COMPACT | JSON_ENCODE_ANY);
}

void json_document(const json_t *v, struct buf *out)
{
	/* 15 digits are what a decimal fraction survives: 0.1 stays 0.1 for its reader. */
	json_dump_callback(
		v, json_append, out, JSON_INDENT(2) | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
	buf_addc(out, '\n');
}

int json_parse(
	const char *name, const char *text, size_t len, size_t max, json_t **ret, struct err *e)
{
	json_error_t error;
	json_t *v;

	if (len > max)
		return err_set(
			e, ERR_INPUT, "%s: JSON of %zu bytes: the limit is %zu", name, len, max);
	v = json_loadb(len ? text : "", len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	if (!v)
		return err_set(e, ERR_INPUT, "%s:%d:%d: not valid JSON: %s", name, error.line,
			error.column, error.text);
	*ret = v;
	return 0;
}

const char *json_get_str(const json_t *o, const char *key, const char *dflt)
{
	const json_t *v = json_object_get(o, key);

	return json_is_string(v) ? json_string_value(v) : dflt;
}

int64_t json_get_int(const json_t *o, const char *key, int64_t dflt)
{
	const json_t *v = json_object_get(o, key);

	return json_is_integer(v) ? json_integer_value(v) : dflt;
}

double json_get_num(const json_t *o, const char *key, double dflt)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : dflt;
}

int json_get_bool(const json_t *o, const char *key, int dflt)
{
	const json_t *v = json_object_get(o, key);

	return json_is_boolean(v) ? json_is_true(v) : dflt;
}
