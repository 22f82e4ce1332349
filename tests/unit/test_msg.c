/*
 * Messages on the wire: each goes there and back with every field set, our own texts are made fit to
 * be read, and no frame unpacks to more memory than its budget.
 */
#include <arpa/inet.h>

#include "tests/unit/msg_fixture.h"

/* Every field of the message and of what is in it is there; payload fields of proto2 only. */
static void assert_all_set(const ProtobufCMessage *m, unsigned skip_bit)
{
	for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
		const char *value = (const char *)m + f->offset;
		const char *quantifier = (const char *)m + f->quantifier_offset;
		int set, is_pointer = f->type == PROTOBUF_C_TYPE_STRING ||
				      f->type == PROTOBUF_C_TYPE_MESSAGE;

		if (f->label == PROTOBUF_C_LABEL_REPEATED)
			set = *(const size_t *)quantifier > 0;
		else if (is_pointer)
			set = *(void *const *)value != NULL;
		else
			set = *(const protobuf_c_boolean *)quantifier;
		if (!set && !(skip_bit && strcmp(f->name, "lost") == 0))
			fail_msg("%s.%s is not on the wire", m->descriptor->name, f->name);
		if (set && f->type == PROTOBUF_C_TYPE_MESSAGE)
			assert_all_set(f->label == PROTOBUF_C_LABEL_REPEATED
					       ? **(ProtobufCMessage * *const *)value
					       : *(ProtobufCMessage *const *)value,
				skip_bit);
	}
}

static const ProtobufCMessage *body_of(const Arraymark__Wire__Envelope *env)
{
	const ProtobufCMessageDescriptor *d = &arraymark__wire__envelope__descriptor;

	for (unsigned i = 0; i < d->n_fields; i++)
		if (d->fields[i].type == PROTOBUF_C_TYPE_MESSAGE &&
			*(void *const *)((const char *)env + d->fields[i].offset))
			return *(
				ProtobufCMessage *const *)((const char *)env + d->fields[i].offset);
	return NULL;
}

static void test_round_trip(void **state)
{
	(void)state;
	assert_int_equal(ARRAY_LEN(messages), MSG_TYPE_COUNT - 1);
	for (size_t i = 0; i < ARRAY_LEN(messages); i++) {
		struct buf frame = encode(&messages[i]), again;
		Arraymark__Wire__Envelope *env = unpack(&frame);
		uint32_t length;
		struct msg m;
		struct err e;

		assert_int_equal(messages[i].type, i + 1);
		memcpy(&length, frame.data, 4);
		assert_int_equal(ntohl(length), frame.len - 4);
		assert_all_set(body_of(env), 1);
		arraymark__wire__envelope__free_unpacked(env, NULL);
		if (msg_decode(frame.data + 4, frame.len - 4, &m, &e) < 0)
			fail_msg("%s: %s", msg_type_name(messages[i].type), e.text);
		assert_int_equal(m.type, messages[i].type);
		assert_int_equal(m.request, messages[i].request);
		again = encode(&m);
		assert_int_equal(again.len, frame.len);
		assert_memory_equal(again.data, frame.data, frame.len);
		msg_clear(&m);
		assert_int_equal(m.type, MSG_NONE);
		buf_free(&frame);
		buf_free(&again);
	}
}

static void test_fields_arrive(void **state)
{
	struct buf frame = encode(message(MSG_JOB_OFFER));
	struct msg m;
	struct err e;

	(void)state;
	assert_int_equal(msg_decode(frame.data + 4, frame.len - 4, &m, &e), 0);
	assert_true(job_key_equal(&m.u.job_offer.key, &message(MSG_JOB_OFFER)->u.job_offer.key));
	assert_string_equal(m.u.job_offer.plan_text, PLAN_TEXT);
	assert_int_equal(m.u.job_offer.sets.n, 2);
	assert_string_equal(m.u.job_offer.sets.v[1], "a=b");
	assert_int_equal(m.u.job_offer.units[1].layout, 9999);
	assert_string_equal(m.u.job_offer.disks[0].ids.v[1], "wwn:0x5000c500");
	assert_int_equal(m.u.job_offer.disks[1].group, 3);
	assert_true(m.u.job_offer.seed == UINT64_MAX);
	msg_clear(&m);
	buf_free(&frame);
}

static void test_absent(void **state)
{
	struct msg call = {.type = MSG_CALL, .u.call = {.verb = CALL_RUNS}};
	struct msg batch = {.type = MSG_RECORD_BATCH,
		.u.batch = {.key = KEY, .first = 3, .last = 9, .lost = 1}};
	struct msg idle = {.type = MSG_AGENT_STATUS};
	struct msg inv = {.type = MSG_INVENTORY,
		.u.inventory = {.host = "h", .disks = &(struct inv_disk){0}, .n_disks = 1}};
	struct buf frame = encode(&call);
	struct msg m;
	struct err e;

	(void)state;
	assert_int_equal(msg_decode(frame.data + 4, frame.len - 4, &m, &e), 0);
	assert_null(m.u.call.plan_text);
	assert_string_equal(m.u.call.target, "");
	msg_clear(&m);
	buf_free(&frame);
	frame = encode(&batch);
	assert_int_equal(msg_decode(frame.data + 4, frame.len - 4, &m, &e), 0);
	assert_int_equal(m.u.batch.lost, 1);
	assert_null(m.u.batch.payload);
	msg_clear(&m);
	buf_free(&frame);
	frame = encode(&idle);
	assert_int_equal(msg_decode(frame.data + 4, frame.len - 4, &m, &e), 0);
	assert_int_equal(m.u.agent_status.key.run, 0);
	msg_clear(&m);
	buf_free(&frame);
	frame = encode(&inv);
	assert_int_equal(msg_decode(frame.data + 4, frame.len - 4, &m, &e), 0);
	assert_null(m.u.inventory.zfs);
	assert_null(m.u.inventory.disks[0].serial);
	assert_null(m.u.inventory.disks[0].in_use);
	assert_string_equal(m.u.inventory.disks[0].model, "");
	msg_clear(&m);
	buf_free(&frame);
}

static void test_envelope(void **state)
{
	struct buf two = {0}, a = encode(message(MSG_PING)), b = encode(message(MSG_HELLO));
	static const char request_only[] = "\x08\x05", unknown[] = "\xfa\x7d\x01x";
	struct msg m;
	struct err e;

	(void)state;
	buf_add(&two, a.data + 4, a.len - 4);
	buf_add(&two, b.data + 4, b.len - 4);
	assert_int_equal(msg_decode(two.data, two.len, &m, &e), -1);
	assert_non_null(strstr(e.text, "both hello and ping"));
	assert_int_equal(msg_decode("", 0, &m, &e), -1);
	assert_int_equal(msg_decode(request_only, 2, &m, &e), -1);
	assert_int_equal(msg_decode(unknown, 4, &m, &e), -1);
	assert_int_equal(e.code, ERR_PROTOCOL);
	for (size_t len = 1; len < b.len - 4;
		len++) /* cut anywhere: refused or fine, never worse */
		if (msg_decode(b.data + 4, len, &m, &e) == 0)
			msg_clear(&m);
	buf_free(&two);
	buf_free(&a);
	buf_free(&b);
}

/* A frame of `n` times the same bytes inside one message of the envelope. */
static void assert_over_budget(const char *head, size_t head_len, const char *unit, size_t unit_len)
{
	struct buf body = {0}, frame = {0};
	struct msg m;
	struct err e;
	size_t size;

	while (body.len + unit_len < MSG_FRAME_MAX - 16)
		buf_add(&body, unit, unit_len);
	buf_add(&frame, head, head_len);
	for (size = body.len; size >= 0x80; size >>= 7)
		buf_addc(&frame, (char)(size | 0x80));
	buf_addc(&frame, (char)size);
	buf_add(&frame, body.data, body.len);
	assert_in_range(frame.len, MSG_FRAME_MAX / 2, MSG_FRAME_MAX);
	assert_int_equal(msg_decode(frame.data, frame.len, &m, &e), -1);
	assert_int_equal(e.code, ERR_PROTOCOL);
	assert_non_null(strstr(e.text, "too big once unpacked"));
	buf_free(&body);
	buf_free(&frame);
}

static void test_budget(void **state)
{
	(void)state;
	assert_over_budget("\xc2\x02", 2, "\x7a\x00", 2);     /* inventory: empty disks */
	assert_over_budget("\xe2\x02", 2, "\x0a\x00", 2);     /* preview_reply: empty steps */
	assert_over_budget("\x92\x03", 2, "\x2a\x00", 2);     /* call: empty hosts */
	assert_over_budget("\x92\x03", 2, "\xfa\x7d\x00", 3); /* call: unknown fields */
}

static void test_too_big(void **state)
{
	static char model[256];
	char *big = xcalloc(1, MSG_FRAME_MAX + 1);
	struct msg chunk = {.type = MSG_CHUNK, .u.chunk = {.data = big, .len = MSG_CHUNK_MAX + 1}};
	struct msg none = {.type = MSG_TYPE_COUNT};
	struct msg bad_name = {.type = MSG_HELLO_REPLY, .u.hello_reply = {.name = "a b"}};
	struct inv_disk *many = xcalloc(INVENTORY_MAX_DISKS, sizeof(*many));
	struct msg inv = {.type = MSG_INVENTORY,
		.u.inventory = {.disks = many, .n_disks = INVENTORY_MAX_DISKS}};
	struct buf out = {0};
	struct msg m;
	struct err e;

	(void)state;
	assert_int_equal(msg_encode(&chunk, &out, &e), -1);
	assert_int_equal(e.code, ERR_FULL);
	memset(model, 'x', sizeof(model) - 1);
	for (size_t i = 0; i < INVENTORY_MAX_DISKS; i++)
		many[i].model = model;
	assert_int_equal(msg_encode(&inv, &out, &e), -1);
	assert_int_equal(e.code, ERR_FULL);
	assert_int_equal(msg_encode(&none, &out, &e), -1);
	assert_int_equal(msg_encode(&bad_name, &out, &e), -1);
	assert_int_equal(e.code, ERR_INPUT);
	assert_int_equal(out.len, 0);
	assert_int_equal(msg_decode(big, MSG_FRAME_MAX + 1, &m, &e), -1);
	free(many);
	free(big);
}

/* What we send is made fit to be read: a peer would refuse it otherwise. */
static void test_repair(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"plain", "plain"},
		{"caf\xe9 x", "caf\xef\xbf\xbd x"},
		{"tab\there\x1b[1m\x7f", "tab here [1m "},
		{"\xc3\xa9\xe2\x82\xac", "\xc3\xa9\xe2\x82\xac"},
		{"cut\xe2\x82", "cut\xef\xbf\xbd\xef\xbf\xbd"},
	};
	struct buf frame;
	struct msg m;
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct msg c = {.type = MSG_CANCEL, .u.cancel = {KEY, (char *)cases[i].in}};

		frame = encode(&c);
		assert_int_equal(msg_decode(frame.data + 4, frame.len - 4, &m, &e), 0);
		assert_string_equal(m.u.cancel.reason, cases[i].out);
		msg_clear(&m);
		buf_free(&frame);
	}
}

static void test_inventory_bytes(void **state)
{
	const struct inventory *inv = &message(MSG_INVENTORY)->u.inventory;
	struct inventory back;
	struct buf bytes = {0};
	struct err e;

	(void)state;
	inventory_encode(inv, &bytes);
	assert_int_equal(inventory_decode(bytes.data, bytes.len, &back, &e), 0);
	assert_string_equal(back.disks[0].signatures.v[1], "ext4");
	assert_string_equal(back.pools[0].guid, "123");
	inventory_clear(&back);
	assert_int_equal(inventory_decode("\xff\xff", 2, &back, &e), -1);
	buf_free(&bytes);
}

static void test_hello_agree(void **state)
{
	struct msg_hello same = {PROTO_VERSION_MIN, PROTO_VERSION_MAX + 5, "9.9", ""};
	struct msg_hello newer = {PROTO_VERSION_MAX + 1, PROTO_VERSION_MAX + 2, "9.9", ""};
	uint32_t version = 0;
	struct err e;

	(void)state;
	assert_int_equal(hello_agree(&same, &version, &e), 0);
	assert_int_equal(version, PROTO_VERSION_MAX);
	version = 77;
	assert_int_equal(hello_agree(&newer, &version, &e), -1);
	assert_int_equal(e.code, ERR_PROTOCOL);
	assert_int_equal(version, 77);
	assert_non_null(strstr(e.text, "9.9"));
	assert_non_null(strstr(e.text, ARRAYMARK_VERSION));
	assert_non_null(strstr(e.text, "speaks 2 to 3"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_fields_arrive),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_envelope),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_too_big),
		cmocka_unit_test(test_repair),
		cmocka_unit_test(test_inventory_bytes),
		cmocka_unit_test(test_hello_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
