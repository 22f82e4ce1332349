/*
 * Histograms in export lines, there and back. Owns nothing.
 * Invariant: what is read is a sound histogram: it passed hist_check().
 *
 * Of a trial's line most are the buckets. As a JSON list each number would be an object of its own,
 * which took half of the time of a report over many trials; so the list goes round the JSON reader,
 * and round the writer, who would look at each of its characters.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/export_line.h"
#include "coordinator/results/export_scan.h"
#include "coordinator/results/export_write.h"

#define HIST "\"hist\":{"
#define LIST "\"buckets\":["
#define BEHIND "]}"

#define TOTAL(key_, member)                                                                        \
	{                                                                                          \
		.key = (key_), .kind = FIELD_U64, .flags = FIELD_MUST,                             \
		.offset = offsetof(struct hist, member)                                            \
	}
static const struct field rows[] = {TOTAL("count", count), TOTAL("sum_ns", sum),
	TOTAL("min_ns", min), TOTAL("max_ns", max)};
static const struct field_table totals = {rows, ARRAY_LEN(rows)};

/* Appends digits; out has room. */
static char *put_number(char *out, uint64_t v)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + v % 10);
	while (v /= 10);
	memcpy(out, digits + at, sizeof(digits) - at);
	return out + sizeof(digits) - at;
}

#define PAIR_MAX (2 * (20 + 1))

static void add_buckets(const struct hist *h, struct buf *out)
{
	char piece[64 * PAIR_MAX], *to = piece;

	for (uint32_t i = h->lo; i < h->hi; i++) {
		if (!h->bucket[i])
			continue;
		if (to > piece + sizeof(piece) - PAIR_MAX) {
			buf_add(out, piece, (size_t)(to - piece));
			to = piece;
		}
		to = put_number(to, hist_bucket_low(i));
		*to++ = ',';
		to = put_number(to, h->bucket[i]);
		*to++ = ',';
	}
	buf_add(out, piece, (size_t)(to - piece));
	if (h->lo < h->hi)
		out->len--; /* the last comma */
}

void export_hist(const char *bytes, size_t len, struct buf *out)
{
	struct err ignored;
	struct hist *h;

	buf_adds(out, ",\"hist\":");
	h = bytes ? xmalloc(sizeof(*h)) : NULL;
	if (!h || hist_decode(bytes, len, h, &ignored) != 0) {
		buf_adds(out, "null");
	} else {
		size_t from = out->len;

		export_members(&totals, h, out);
		out->data[from] = '{'; /* for the first comma */
		buf_adds(out, "," LIST);
		add_buckets(h, out);
		buf_adds(out, BEHIND);
	}
	free(h);
}

/* Pairs of whole numbers: a bucket's lowest value, how many are in it. */
static int read_list(const json_t *list, struct hist *h)
{
	size_t n = json_array_size(list);

	for (size_t i = 0; i + 1 < n; i += 2) {
		const json_t *low = json_array_get(list, i), *in = json_array_get(list, i + 1);

		if (!json_is_integer(low) || !json_is_integer(in) || json_integer_value(low) < 0 ||
			json_integer_value(in) < 0)
			return -1;
		hist_add_n(h, (uint64_t)json_integer_value(low), (uint64_t)json_integer_value(in));
	}
	return !json_is_array(list) || n % 2 ? -1 : 0;
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
		hist_add_n(h, low, n);
	}
	return 0;
}

static int not_whole(const struct export_line *l, const json_t *o, const char *why, struct err *e)
{
	char expected[160];

	snprintf(expected, sizeof(expected), "a whole histogram (%.120s)", why);
	return export_unexpected(l, FIELD_OF_LINE, "hist", o, expected, e);
}

static int read_hist(const struct export_line *l, const json_t *o, struct hist *h, struct err *e)
{
	const json_t *buckets = json_object_get(o, "buckets");
	struct err why;

	hist_clear(h);
	if (json_is_string(buckets) ? read_text(json_string_value(buckets), h)
				    : read_list(buckets, h))
		return not_whole(l, o, "its buckets are no list of pairs of whole numbers", e);
	if (export_fields_read(l, (struct field_place){"hist", FIELD_WHOLE}, o, &totals, h, e))
		return -1;
	return hist_check(h, &why) ? not_whole(l, o, why.text, e) : 0;
}

int export_hist_read(const struct export_line *l, char **ret, size_t *ret_len, struct err *e)
{
	struct buf bytes = {0};
	struct hist *h;
	const json_t *o;

	if (export_object(l, FIELD_OF_LINE, l->o, "hist", 0, &o, e))
		return -1;
	if (!o)
		return 0;
	h = xmalloc(sizeof(*h));
	if (read_hist(l, o, h, e)) {
		free(h);
		return -1;
	}
	hist_encode(h, &bytes);
	free(h);
	*ret_len = bytes.len;
	*ret = buf_take(&bytes);
	return 0;
}

/* Buckets add to the sums, which the line tells for itself. */
static int scan_hist(struct export_scan *s, struct hist *h)
{
	int64_t count, sum, min, max;
	struct err ignored;

	hist_clear(h);
	if (!scan_is(s, "\"count\":") || !scan_number(s, &count) || !scan_is(s, ",\"sum_ns\":") ||
		!scan_number(s, &sum) || !scan_is(s, ",\"min_ns\":") || !scan_number(s, &min) ||
		!scan_is(s, ",\"max_ns\":") || !scan_number(s, &max) || !scan_is(s, "," LIST) ||
		!scan_buckets(s, h) || !scan_is(s, "}"))
		return 0;
	h->count = (uint64_t)count;
	h->sum = (uint64_t)sum;
	h->min = (uint64_t)min;
	h->max = (uint64_t)max;
	return !hist_check(h, &ignored);
}

int export_hist_scan(struct export_scan *s, char **ret, size_t *ret_len)
{
	struct buf bytes = {0};
	struct hist *h;
	int good;

	if (scan_is(s, ",\"hist\":null"))
		return 1;
	if (!scan_is(s, "," HIST))
		return 0;
	h = xmalloc(sizeof(*h));
	good = scan_hist(s, h);
	if (good) {
		hist_encode(h, &bytes);
		*ret_len = bytes.len;
		*ret = buf_take(&bytes);
	}
	free(h);
	return good;
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
