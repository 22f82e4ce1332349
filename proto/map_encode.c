/*
 * Plain -> wire, by table, and the freeing of what decoding gave out. Wire messages live in the
 * caller's arena and borrow texts and bytes from the plain struct.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "proto/map.h"

static int all_zero(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return 0;
	return 1;
}

static void encode_number(const struct map_field *f, const char *plain, char *wire)
{
	size_t size = f->kind == MAP_U64 || f->kind == MAP_S64 || f->kind == MAP_REAL ? 8 : 4;

	if (all_zero(plain, size))
		return;
	memcpy(wire + f->wire, plain, size);
	*(protobuf_c_boolean *)(wire + f->has) = 1;
}

static int too_many(const struct map_field *f, size_t n, struct err *e)
{
	return err_set(e, ERR_FULL, "%s: %zu are more than the %zu that one message holds", f->name,
		n, f->items);
}

static int encode_text(
	const struct map_field *f, const char *s, char **wire, struct arena *a, struct err *e)
{
	if (!s || !*s)
		return 0;
	s = text_fit(s, f->class, f->max, a);
	if (!text_is(s, f->class, f->max))
		return err_set(e, ERR_INPUT, "%s: '%.80s' is not %s of at most %" PRIu64 " bytes",
			f->name, s, text_class_name(f->class), f->max);
	*wire = (char *)s;
	return 0;
}

static int encode_texts(const struct map_field *f, const struct strv *list, char *wire,
	struct arena *a, struct err *e)
{
	size_t n = list->n, put = 0;
	char **items;

	if (n > f->items && !(f->flags & MAP_CUT))
		return too_many(f, n, e);
	if (n > f->items)
		n = f->items;
	items = arena_alloc(a, n * sizeof(*items));
	for (size_t i = 0; i < n; i++) {
		items[put] = "";
		if (encode_text(f, list->v[i], &items[put], a, e) == 0)
			put++;
		else if (!(f->flags & MAP_CUT))
			return -1;
	}
	*(char ***)(wire + f->wire) = items;
	*(size_t *)(wire + f->has) = put;
	return 0;
}

static int encode_bytes(
	const struct map_field *f, const char *data, size_t len, char *wire, struct err *e)
{
	ProtobufCBinaryData *to = (ProtobufCBinaryData *)(wire + f->wire);

	if (!data || len == 0)
		return 0;
	if (len > f->max)
		return err_set(e, ERR_FULL,
			"%s: %zu bytes are more than the %" PRIu64 " that one message holds",
			f->name, len, f->max);
	to->data = (uint8_t *)(uintptr_t)data;
	to->len = len;
	*(protobuf_c_boolean *)(wire + f->has) = 1;
	return 0;
}

static int encode_part(
	const struct map_field *f, const char *plain, char *wire, struct arena *a, struct err *e)
{
	ProtobufCMessage *part;

	if ((f->flags & MAP_OMIT_ZERO) && all_zero(plain, f->sub->plain_size))
		return 0;
	if (map_encode(f->sub, plain, a, &part, e) < 0)
		return err_prefix(e, "%s", f->name);
	memcpy(wire + f->wire, &part, sizeof(part));
	return 0;
}

static int encode_parts(const struct map_field *f, const char *array, size_t n, char *wire,
	struct arena *a, struct err *e)
{
	ProtobufCMessage **parts;

	if (n > f->items && !(f->flags & MAP_CUT))
		return too_many(f, n, e);
	if (n > f->items)
		n = f->items;
	parts = arena_alloc(a, n * sizeof(*parts));
	for (size_t i = 0; i < n; i++)
		if (map_encode(f->sub, array + i * f->sub->plain_size, a, &parts[i], e) < 0)
			return err_prefix(e, "%s %zu", f->name, i + 1);
	memcpy(wire + f->wire, &parts, sizeof(parts));
	*(size_t *)(wire + f->has) = n;
	return 0;
}

static int encode_field(
	const struct map_field *f, const char *plain, char *wire, struct arena *a, struct err *e)
{
	const char *from = plain + f->plain;
	const char *text;

	switch (f->kind) {
	case MAP_U32:
	case MAP_U64:
	case MAP_S64:
	case MAP_REAL:
	case MAP_ENUM:
	case MAP_CODE:
		encode_number(f, from, wire);
		return 0;
	case MAP_FLAG:
		*(protobuf_c_boolean *)(wire + f->wire) = *(const int *)from != 0;
		*(protobuf_c_boolean *)(wire + f->has) = *(const int *)from != 0;
		return 0;
	case MAP_ERRTEXT:
		return encode_text(f, from, (char **)(wire + f->wire), a, e);
	case MAP_TEXT:
		return encode_text(f, *(char *const *)from, (char **)(wire + f->wire), a, e);
	case MAP_TEXTS:
		return encode_texts(f, (const struct strv *)from, wire, a, e);
	case MAP_BYTES:
		return encode_bytes(
			f, *(char *const *)from, *(const size_t *)(plain + f->count), wire, e);
	case MAP_PLAN:
		text = *(char *const *)from;
		return encode_bytes(f, text, text ? strlen(text) : 0, wire, e);
	case MAP_PART:
		return encode_part(f, from, wire, a, e);
	case MAP_PARTS:
		return encode_parts(
			f, map_load(from), *(const size_t *)(plain + f->count), wire, a, e);
	}
	return 0;
}

int map_encode(const struct map *m, const void *plain, struct arena *a, ProtobufCMessage **ret,
	struct err *e)
{
	ProtobufCMessage *wire = arena_alloc(a, m->wire->sizeof_message);

	m->wire->message_init(wire);
	for (size_t i = 0; i < m->n_fields; i++)
		if (encode_field(&m->fields[i], plain, (char *)wire, a, e) < 0)
			return -1;
	*ret = wire;
	return 0;
}

void map_pack(const ProtobufCMessage *wire, struct buf *out)
{
	size_t size = protobuf_c_message_get_packed_size(wire);

	out->data = xgrow(out->data, out->len + size, &out->cap, 1);
	protobuf_c_message_pack(wire, (uint8_t *)out->data + out->len);
	out->len += size;
	out->data[out->len] = '\0';
}

static void clear_parts(const struct map_field *f, char *array, size_t n)
{
	for (size_t i = 0; i < n; i++)
		map_clear(f->sub, array + i * f->sub->plain_size);
	free(array);
}

void map_clear(const struct map *m, void *plain)
{
	for (size_t i = 0; i < m->n_fields; i++) {
		const struct map_field *f = &m->fields[i];
		char *at = (char *)plain + f->plain;

		switch (f->kind) {
		case MAP_TEXT:
		case MAP_BYTES:
		case MAP_PLAN:
			free(*(char **)at);
			break;
		case MAP_TEXTS:
			strv_free((struct strv *)at);
			break;
		case MAP_PART:
			map_clear(f->sub, at);
			break;
		case MAP_PARTS:
			clear_parts(f, map_load(at), *(size_t *)((char *)plain + f->count));
			break;
		default:
			break;
		}
	}
}
