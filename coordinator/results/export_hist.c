/*
 * Histograms in export lines, there and back. Owns nothing.
 * Invariant: what is read is a sound histogram: it passed hist_check().
 *
 * Of a trial's line most are the buckets. As a JSON list each number would be an object of its own,
 * which took half of the time of a report over many trials; so the list goes round the JSON reader.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/export_line.h"
#include "coordinator/results/export_write.h"

#define HIST "\"hist\":{"
#define LIST "\"buckets\":["
#define TEXT "\"buckets\":\""
#define BEHIND "]}"

static void set_int(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new_nocheck(o, key, json_integer((json_int_t)v));
}

static void add_number(struct buf *out, uint64_t v)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + v % 10);
	while (v /= 10);
	buf_add(out, digits + at, sizeof(digits) - at);
}

static json_t *buckets_text(const struct hist *h)
{
	struct buf text = {0};
	json_t *v;

	for (uint32_t i = h->lo; i < h->hi; i++) {
		if (!h->bucket[i])
			continue;
		if (text.len)
			buf_addc(&text, ',');
		add_number(&text, hist_bucket_low(i));
		buf_addc(&text, ',');
		add_number(&text, h->bucket[i]);
	}
	v = json_stringn_nocheck(buf_str(&text), text.len);
	buf_free(&text);
	return v;
}

void export_hist_end(struct buf *out, size_t from)
{
	char *text = memmem(out->data + from, out->len - from, TEXT, strlen(TEXT));

	if (!text)
		return;
	text += strlen(TEXT);
	text[-1] = '[';
	text[strspn(text, "0123456789,")] = ']';
}

json_t *export_hist_json(const char *bytes, size_t len)
{
	struct hist *h;
	struct err ignored;
	json_t *o;

	if (!bytes)
		return json_null();
	h = xmalloc(sizeof(*h));
	if (hist_decode(bytes, len, h, &ignored) != 0) {
		free(h);
		return json_null();
	}
	o = json_object();
	set_int(o, "count", h->count);
	set_int(o, "sum_ns", h->sum);
	set_int(o, "min_ns", h->min);
	set_int(o, "max_ns", h->max);
	json_object_set_new_nocheck(o, "buckets", buckets_text(h));
	free(h);
	return o;
}

static void read_list(const json_t *list, struct hist *h)
{
	for (size_t i = 0; i + 1 < json_array_size(list); i += 2) {
		json_int_t low = json_integer_value(json_array_get(list, i));
		json_int_t n = json_integer_value(json_array_get(list, i + 1));

		if (low >= 0 && n > 0)
			hist_add_n(h, (uint64_t)low, (uint64_t)n);
	}
}

/* A number of at most 18 digits; the place behind it and its comma, NULL where there is none. */
static const char *read_number(const char *p, uint64_t *ret)
{
	const char *start = p;
	uint64_t v = 0;

	while (*p >= '0' && *p <= '9' && p - start < 18)
		v = v * 10 + (uint64_t)(*p++ - '0');
	if (p == start || (*p != ',' && *p != '\0'))
		return NULL;
	*ret = v;
	return *p ? p + 1 : p;
}

static int read_text(const char *p, struct hist *h)
{
	while (*p) {
		uint64_t low, n;

		p = read_number(p, &low);
		p = p ? read_number(p, &n) : NULL;
		if (!p)
			return -1;
		if (n > 0)
			hist_add_n(h, low, n);
	}
	return 0;
}

int export_hist_read(const json_t *o, char **ret, size_t *ret_len)
{
	const json_t *buckets = json_object_get(o, "buckets");
	struct buf bytes = {0};
	struct hist *h;
	struct err ignored;
	int rc = 0;

	if (!json_is_object(o))
		return 0;
	h = xmalloc(sizeof(*h));
	hist_clear(h);
	if (json_is_string(buckets))
		rc = read_text(json_string_value(buckets), h);
	else
		read_list(buckets, h);
	h->count = export_u64(o, "count");
	h->sum = export_u64(o, "sum_ns");
	h->min = export_u64(o, "min_ns");
	h->max = export_u64(o, "max_ns");
	rc = rc ? rc : hist_check(h, &ignored);
	if (!rc)
		hist_encode(h, &bytes);
	free(h);
	if (rc)
		return -1;
	*ret_len = bytes.len;
	*ret = buf_take(&bytes);
	return rc;
}

/* Where the numbers of the histogram's list begin; NULL when the line has none that ends it. In a
 * string of JSON the quotes would have backslashes. */
static const char *find_list(const char *line, size_t len, size_t *ret_len)
{
	const char *end = line + len, *hist = memmem(line, len, HIST, strlen(HIST)), *list, *p;

	if (!hist)
		return NULL;
	hist += strlen(HIST);
	list = memmem(hist, (size_t)(end - hist), LIST, strlen(LIST));
	if (!list || memchr(hist, '{', (size_t)(list - hist)) ||
		memchr(hist, '}', (size_t)(list - hist)))
		return NULL;
	list += strlen(LIST);
	for (p = list; p < end && ((*p >= '0' && *p <= '9') || *p == ','); p++)
		;
	if (end - p < 2 || memcmp(p, BEHIND, 2) != 0)
		return NULL;
	*ret_len = (size_t)(p - list);
	return list;
}

int export_parse(const char *name, const char *line, size_t len, size_t max, json_t **ret,
	struct err *e)
{
	size_t list_len = 0, before;
	const char *list = len <= max ? find_list(line, len, &list_len) : NULL;
	struct buf lean = {0};
	json_t *o, *hist;

	if (!list)
		return json_parse(name, line, len, max, ret, e);
	before = (size_t)(list - line);
	buf_add(&lean, line, before);
	buf_add(&lean, list + list_len, len - before - list_len);
	if (json_parse(name, lean.data, lean.len, max, &o, e)) {
		buf_free(&lean);
		return -1;
	}
	buf_free(&lean);
	hist = json_object_get(o, "hist");
	if (!json_is_array(json_object_get(hist, "buckets")) ||
		json_array_size(json_object_get(hist, "buckets"))) {
		/* It was the list of something else. */
		json_decref(o);
		return json_parse(name, line, len, max, ret, e);
	}
	json_object_set_new_nocheck(hist, "buckets", json_stringn_nocheck(list, list_len));
	*ret = o;
	return 0;
}
