/*
 * Wire -> plain, by table: the edge where every field of a peer is checked. Owns nothing; what it
 * fills belongs to the plain struct. Never asserts on what a peer sent.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "proto/map.h"

#define ALLOC_OVERHEAD 32 /* what malloc adds to a small piece, generously */

static int spend(size_t *budget, size_t size, struct err *e)
{
	if (size > SIZE_MAX - ALLOC_OVERHEAD || size + ALLOC_OVERHEAD > *budget)
		return err_set(e, ERR_PROTOCOL, "unpacks to more memory than one frame may");
	*budget -= size + ALLOC_OVERHEAD;
	return 0;
}

static int out_of_range_u(const struct map_field *f, uint64_t v, struct err *e)
{
	return err_set(e, ERR_PROTOCOL, "%s: %" PRIu64 " is not in %" PRId64 "..%" PRIu64, f->name,
		v, f->min, f->max);
}

static int in_range_u(const struct map_field *f, uint64_t v)
{
	return v >= (uint64_t)f->min && v <= f->max;
}

static int decode_number(
	const struct map_field *f, const char *wire, int has, char *plain, struct err *e)
{
	uint32_t u32;
	double real;
	uint64_t u64;
	int64_t s64;

	switch (f->kind) {
	case MAP_U64:
		u64 = has ? *(const uint64_t *)wire : 0;
		if (!in_range_u(f, u64))
			return out_of_range_u(f, u64, e);
		*(uint64_t *)plain = u64;
		return 0;
	case MAP_S64:
		s64 = has ? *(const int64_t *)wire : 0;
		if (s64 < f->min || (s64 > 0 && (uint64_t)s64 > f->max))
			return err_set(e, ERR_PROTOCOL,
				"%s: %" PRId64 " is not in %" PRId64 "..%" PRIu64, f->name, s64,
				f->min, f->max);
		*(int64_t *)plain = s64;
		return 0;
	case MAP_REAL:
		real = has ? *(const double *)wire : 0;
		if (!isfinite(real))
			return err_set(e, ERR_PROTOCOL, "%s: is not a finite number", f->name);
		*(double *)plain = real;
		return 0;
	default:
		u32 = has ? *(const uint32_t *)wire : 0;
		if (!in_range_u(f, u32))
			return out_of_range_u(f, u32, e);
		memcpy(plain, &u32, sizeof(u32));
		return 0;
	}
}

static int check_text(const struct map_field *f, const char *s, struct err *e)
{
	if (!text_is(s, f->class, f->max))
		return err_set(e, ERR_PROTOCOL, "%s is not %s of at most %" PRIu64 " bytes",
			f->name, text_class_name(f->class), f->max);
	return 0;
}

static int decode_text(
	const struct map_field *f, const char *s, char **plain, size_t *budget, struct err *e)
{
	if (!s)
		s = "";
	if (!*s && (f->flags & MAP_REQUIRED))
		return err_set(e, ERR_PROTOCOL, "%s is missing", f->name);
	if (!*s && (f->flags & MAP_NULL))
		return 0;
	if (*s && check_text(f, s, e) < 0)
		return -1;
	if (spend(budget, strlen(s) + 1, e) < 0)
		return -1;
	*plain = xstrdup(s);
	return 0;
}

static int decode_texts(const struct map_field *f, char *const *items, size_t n, struct strv *plain,
	size_t *budget, struct err *e)
{
	if (n > f->items)
		return err_set(e, ERR_PROTOCOL, "%s: %zu are more than %zu", f->name, n, f->items);
	for (size_t i = 0; i < n; i++) {
		if (check_text(f, items[i], e) < 0 ||
			spend(budget, strlen(items[i]) + 1 + 2 * sizeof(char *), e) < 0)
			return -1;
		strv_add(plain, items[i]);
	}
	if (n == 0 && (f->flags & MAP_REQUIRED))
		return err_set(e, ERR_PROTOCOL, "%s is missing", f->name);
	return 0;
}

static int decode_bytes(const struct map_field *f, const ProtobufCBinaryData *data, int has,
	char **plain, size_t *ret_len, size_t *budget, struct err *e)
{
	size_t len = has ? data->len : 0;
	char *copy;

	if (len == 0) {
		if (f->flags & MAP_REQUIRED)
			return err_set(e, ERR_PROTOCOL, "%s is missing", f->name);
		return 0;
	}
	if (len > f->max)
		return err_set(e, ERR_PROTOCOL, "%s: %zu bytes are more than %" PRIu64, f->name,
			len, f->max);
	if ((f->kind == MAP_PLAN || (f->flags & MAP_NO_NUL)) && memchr(data->data, 0, len))
		return err_set(e, ERR_PROTOCOL, "%s has a NUL byte inside", f->name);
	if (spend(budget, len + 1, e) < 0)
		return -1;
	copy = xmalloc(len + 1);
	memcpy(copy, data->data, len);
	copy[len] = '\0';
	*plain = copy;
	if (ret_len)
		*ret_len = len;
	return 0;
}

static int decode_part(const struct map_field *f, const ProtobufCMessage *part, char *plain,
	size_t *budget, struct err *e)
{
	if (!part) {
		if (f->flags & MAP_REQUIRED)
			return err_set(e, ERR_PROTOCOL, "%s is missing", f->name);
		return 0;
	}
	if (map_decode(f->sub, part, plain, budget, e) < 0)
		return err_prefix(e, "%s", f->name);
	return 0;
}

static int decode_parts(const struct map_field *f, ProtobufCMessage *const *parts, size_t n,
	char *plain, size_t *ret_n, size_t *budget, struct err *e)
{
	size_t size = f->sub->plain_size;
	char *array;

	if (n > f->items)
		return err_set(e, ERR_PROTOCOL, "%s: %zu are more than %zu", f->name, n, f->items);
	if (n == 0) {
		if (f->flags & MAP_REQUIRED)
			return err_set(e, ERR_PROTOCOL, "%s is missing", f->name);
		return 0;
	}
	if (spend(budget, n * size, e) < 0)
		return -1;
	array = xcalloc(n, size);
	memcpy(plain, &array, sizeof(array));
	*ret_n = n;
	for (size_t i = 0; i < n; i++)
		if (map_decode(f->sub, parts[i], array + i * size, budget, e) < 0)
			return err_prefix(e, "%s %zu", f->name, i + 1);
	return 0;
}

static int is_set(const struct map_field *f, const char *wire)
{
	return *(const protobuf_c_boolean *)(wire + f->has);
}

static size_t count_of(const struct map_field *f, const char *wire)
{
	return *(const size_t *)(wire + f->has);
}

static int decode_field(
	const struct map_field *f, const char *wire, char *plain, size_t *budget, struct err *e)
{
	const char *value = wire + f->wire;
	char *to = plain + f->plain;
	uint32_t code;

	switch (f->kind) {
	case MAP_U32:
	case MAP_U64:
	case MAP_S64:
	case MAP_REAL:
	case MAP_ENUM:
		return decode_number(f, value, is_set(f, wire), to, e);
	case MAP_FLAG:
		*(int *)to = is_set(f, wire) && *(const protobuf_c_boolean *)value;
		return 0;
	case MAP_CODE:
		code = is_set(f, wire) ? *(const uint32_t *)value : 0;
		if (!in_range_u(f, code))
			return out_of_range_u(f, code, e);
		*(enum err_code *)to = err_code_checked(code);
		return 0;
	case MAP_ERRTEXT:
		value = *(char *const *)value ? *(char *const *)value : "";
		if (check_text(f, value, e) < 0)
			return -1;
		memcpy(to, value, strlen(value) + 1);
		return 0;
	case MAP_TEXT:
		return decode_text(f, *(char *const *)value, (char **)to, budget, e);
	case MAP_TEXTS:
		return decode_texts(
			f, *(char **const *)value, count_of(f, wire), (struct strv *)to, budget, e);
	case MAP_BYTES:
		return decode_bytes(f, (const ProtobufCBinaryData *)value, is_set(f, wire),
			(char **)to, (size_t *)(plain + f->count), budget, e);
	case MAP_PLAN:
		return decode_bytes(f, (const ProtobufCBinaryData *)value, is_set(f, wire),
			(char **)to, NULL, budget, e);
	case MAP_PART:
		return decode_part(f, map_load(value), to, budget, e);
	case MAP_PARTS:
		return decode_parts(f, map_load(value), count_of(f, wire), to,
			(size_t *)(plain + f->count), budget, e);
	}
	return 0;
}

int map_decode(const struct map *m, const void *wire, void *plain, size_t *budget, struct err *e)
{
	for (size_t i = 0; i < m->n_fields; i++)
		if (decode_field(&m->fields[i], wire, plain, budget, e) < 0)
			return -1;
	return m->check ? m->check(plain, e) : 0;
}

int map_unpack(const struct map *m, const void *data, size_t len, struct arena *a, void *plain,
	size_t *budget, struct err *e)
{
	ProtobufCAllocator alloc = arena_allocator(a);
	ProtobufCMessage *wire = protobuf_c_message_unpack(m->wire, &alloc, len, data);

	if (!wire)
		return err_set(e, ERR_PROTOCOL,
			"%s: not a message of this protocol, or too big once "
			"unpacked",
			m->name);
	memset(plain, 0, m->plain_size);
	if (map_decode(m, wire, plain, budget, e) < 0) {
		map_clear(m, plain);
		memset(plain, 0, m->plain_size);
		return err_prefix(e, "%s", m->name);
	}
	return 0;
}
