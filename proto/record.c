/*
 * Batches of records. A payload is a serialized Records message; it is walked record by record, so
 * that the generated types of one record at a time exist and their memory is used again.
 */
#include "proto/record.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "proto/wire.h"

_Static_assert(RECORD_BATCH_MAX * sizeof(struct record) < MSG_DECODE_BUDGET / 2,
	"a full batch leaves room for what its records own");

#define RECORD_TAG 0x0a /* field 1, length-delimited */

void record_clear(struct record *r)
{
	const struct map_choice *c = map_choice_of(wire_records, wire_records_n, (int)r->type);

	if (c)
		map_clear(c->map, &r->u);
	memset(r, 0, sizeof(*r));
}

void records_clear(struct records *r)
{
	for (size_t i = 0; i < r->n; i++)
		record_clear(&r->v[i]);
	free(r->v);
	*r = (struct records){0};
}

static void add_varint(struct buf *out, size_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_addc(out, (char)(v | 0x80));
	buf_addc(out, (char)v);
}

void record_encode(const struct record *r, struct buf *payload)
{
	const struct map_choice *c = map_choice_of(wire_records, wire_records_n, (int)r->type);
	Arraymark__Wire__Record wire = ARRAYMARK__WIRE__RECORD__INIT;
	ProtobufCMessage *body;
	struct arena a;
	struct err e;

	if (!c) {
		log_error("record", "%d is not a type of record", (int)r->type);
		return;
	}
	arena_init(&a, ARENA_NO_LIMIT);
	if (map_encode(c->map, &r->u, &a, &body, &e) < 0) {
		log_error("record", "%s: %s", c->name, e.text);
	} else {
		memcpy((char *)&wire + c->wire, &body, sizeof(body));
		wire.has_wall_ns = r->wall_ns != 0;
		wire.wall_ns = r->wall_ns;
		buf_addc(payload, RECORD_TAG);
		add_varint(payload, protobuf_c_message_get_packed_size(&wire.base));
		map_pack(&wire.base, payload);
	}
	arena_free(&a);
}

/* The next record's bytes; *at moves behind them. */
static int next_record(const uint8_t *data, size_t len, size_t *at, const uint8_t **ret_record,
	size_t *ret_len, struct err *e)
{
	size_t pos = *at, size = 0;
	unsigned shift = 0;

	if (data[pos++] != RECORD_TAG)
		return err_set(e, ERR_PROTOCOL, "byte %zu does not start a record", *at);
	for (;; shift += 7) {
		if (pos >= len || shift > 28)
			return err_set(
				e, ERR_PROTOCOL, "byte %zu: a record's length is broken", *at);
		size |= (size_t)(data[pos] & 0x7f) << shift;
		if (!(data[pos++] & 0x80))
			break;
	}
	if (size > len - pos)
		return err_set(e, ERR_PROTOCOL, "byte %zu: a record ends behind the batch", *at);
	*ret_record = data + pos;
	*ret_len = size;
	*at = pos + size;
	return 0;
}

static int count_records(const uint8_t *data, size_t len, size_t *ret_n, struct err *e)
{
	const uint8_t *record;
	size_t at = 0, size, n;

	for (n = 0; at < len; n++)
		if (next_record(data, len, &at, &record, &size, e) < 0)
			return -1;
	if (n == 0 || n > RECORD_BATCH_MAX)
		return err_set(
			e, ERR_PROTOCOL, "%zu records; a batch holds 1..%d", n, RECORD_BATCH_MAX);
	*ret_n = n;
	return 0;
}

static int decode_record(const uint8_t *data, size_t len, struct arena *a, struct record *r,
	size_t *budget, struct err *e)
{
	ProtobufCAllocator alloc = arena_allocator(a);
	const struct map_choice *c;
	Arraymark__Wire__Record *wire;

	wire = arraymark__wire__record__unpack(&alloc, len, data);
	if (!wire)
		return err_set(
			e, ERR_PROTOCOL, "not a record of this protocol, or too big once unpacked");
	if (map_choose(wire_records, wire_records_n, &wire->base, &c, e) < 0)
		return -1;
	r->type = (enum record_type)c->type;
	r->wall_ns = wire->has_wall_ns ? wire->wall_ns : 0;
	if (map_decode(c->map, map_load((const char *)wire + c->wire), &r->u, budget, e) < 0)
		return err_prefix(e, "%s", c->name);
	return 0;
}

int records_decode(const void *payload, size_t len, struct records *ret, struct err *e)
{
	size_t budget = MSG_DECODE_BUDGET, at = 0, size;
	struct records list = {0};
	const uint8_t *record;
	struct arena a;
	size_t n;
	int rc = 0;

	if (len > MSG_BATCH_MAX)
		return err_set(
			e, ERR_PROTOCOL, "batch: %zu bytes are more than %d", len, MSG_BATCH_MAX);
	if (count_records(payload, len, &n, e) < 0)
		return err_prefix(e, "batch");
	list.v = xcalloc(n, sizeof(*list.v));
	budget -= n * sizeof(*list.v);
	arena_init(&a, MSG_DECODE_BUDGET);
	while (rc == 0 && list.n < n) {
		arena_reset(&a, MSG_DECODE_BUDGET);
		rc = next_record(payload, len, &at, &record, &size, e);
		if (rc == 0)
			rc = decode_record(record, size, &a, &list.v[list.n++], &budget, e);
	}
	arena_free(&a);
	if (rc < 0) {
		err_prefix(e, "record %zu of a batch", list.n);
		records_clear(&list);
		return -1;
	}
	*ret = list;
	return 0;
}
