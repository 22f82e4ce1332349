/*
 * Tables of the session's messages: hello, heartbeats, errors, enrolment, the control client's
 * calls and their answers.
 */
#include "proto/wire.h"

static int hello_check(const void *plain, struct err *e)
{
	const struct msg_hello *h = plain;

	if (h->min_version > h->max_version)
		return err_set(e, ERR_PROTOCOL, "min_version %u is above max_version %u",
			h->min_version, h->max_version);
	return 0;
}

static const struct map_field hello_fields[] = {
	U32(Hello, struct msg_hello, min_version, 1, UINT32_MAX),
	U32(Hello, struct msg_hello, max_version, 1, UINT32_MAX),
	TEXT(Hello, struct msg_hello, program_version, TEXT_LINE, MSG_NAME_MAX, 0),
	TEXT(Hello, struct msg_hello, store_epoch, TEXT_ID, MSG_NAME_MAX, 0),
};
const struct map wire_hello = MAP("hello", hello, struct msg_hello, hello_fields, hello_check);

static const struct map_field hello_reply_fields[] = {
	U32(HelloReply, struct msg_hello_reply, version, 1, UINT32_MAX),
	TEXT(HelloReply, struct msg_hello_reply, program_version, TEXT_LINE, MSG_NAME_MAX, 0),
	TEXT(HelloReply, struct msg_hello_reply, store_epoch, TEXT_ID, MSG_NAME_MAX, 0),
	U64(HelloReply, struct msg_hello_reply, credit, 0, WIRE_MAX63),
	U32(HelloReply, struct msg_hello_reply, heartbeat_ms, 0, 3600 * 1000),
	TEXT(HelloReply, struct msg_hello_reply, name, TEXT_NAME, MSG_NAME_MAX, 0),
	TEXT(HelloReply, struct msg_hello_reply, role, TEXT_ID, MSG_NAME_MAX, 0),
};
const struct map wire_hello_reply =
	MAP("hello_reply", hello_reply, struct msg_hello_reply, hello_reply_fields, NULL);

static const struct map_field ping_fields[] = {
	S64(Ping, struct msg_ping, sent_ns, INT64_MIN, WIRE_MAX63),
	TEXT(Ping, struct msg_ping, trouble, TEXT_LINE, WIRE_LINE_MAX, 0),
};
const struct map wire_ping = MAP("ping", ping, struct msg_ping, ping_fields, NULL);

static const struct map_field pong_fields[] = {
	S64(Pong, struct msg_pong, sent_ns, INT64_MIN, WIRE_MAX63),
	S64(Pong, struct msg_pong, received_ns, INT64_MIN, WIRE_MAX63),
	S64(Pong, struct msg_pong, wall_ns, INT64_MIN, WIRE_MAX63),
};
const struct map wire_pong = MAP("pong", pong, struct msg_pong, pong_fields, NULL);

static const struct map_field error_fields[] = {
	CODE(Error, struct err, code, ERR_NONE),
	ERRTEXT(Error, struct err, text),
};
const struct map wire_error = MAP("error", error, struct err, error_fields, NULL);

static const struct map_field error_set_fields[] = {
	CODE(Error, struct err, code, ERR_NONE + 1),
	ERRTEXT(Error, struct err, text),
};
const struct map wire_error_set = MAP("error", error, struct err, error_set_fields, NULL);

static const struct map_field enrol_request_fields[] = {
	TEXT(EnrolRequest, struct msg_enrol_request, token, TEXT_LINE, 512, MAP_REQUIRED),
	TEXT(EnrolRequest, struct msg_enrol_request, csr_pem, TEXT_LINES, 16 * 1024, MAP_REQUIRED),
	TEXT(EnrolRequest, struct msg_enrol_request, host, TEXT_NAME, MSG_NAME_MAX, 0),
};
const struct map wire_enrol_request =
	MAP("enrol_request", enrol_request, struct msg_enrol_request, enrol_request_fields, NULL);

static const struct map_field enrol_reply_fields[] = {
	TEXT(EnrolReply, struct msg_enrol_reply, cert_pem, TEXT_LINES, WIRE_PEM_MAX, MAP_REQUIRED),
	TEXT(EnrolReply, struct msg_enrol_reply, ca_pem, TEXT_LINES, WIRE_PEM_MAX, MAP_REQUIRED),
	TEXT(EnrolReply, struct msg_enrol_reply, name, TEXT_NAME, MSG_NAME_MAX, MAP_REQUIRED),
	TEXT(EnrolReply, struct msg_enrol_reply, role, TEXT_ID, MSG_NAME_MAX, MAP_REQUIRED),
};
const struct map wire_enrol_reply =
	MAP("enrol_reply", enrol_reply, struct msg_enrol_reply, enrol_reply_fields, NULL);

static const struct map_field call_fields[] = {
	ENUM(Call, struct msg_call, verb, 1, CALL_VERB_COUNT),
	PLAN(Call, struct msg_call, plan_text, 0),
	TEXT(Call, struct msg_call, plan_name, TEXT_LINE, WIRE_PATH_MAX, 0),
	TEXTS(Call, struct msg_call, sets, TEXT_LINE, WIRE_PATH_MAX, WIRE_SETS_MAX, 0),
	TEXTS(Call, struct msg_call, hosts, TEXT_LINE, WIRE_WORD_MAX, 10000, 0),
	TEXTS(Call, struct msg_call, args, TEXT_LINE, WIRE_PATH_MAX, WIRE_ARGS_MAX, 0),
	TEXT(Call, struct msg_call, target, TEXT_LINE, WIRE_PATH_MAX, 0),
	TEXT(Call, struct msg_call, role, TEXT_ID, MSG_NAME_MAX, 0),
	U64(Call, struct msg_call, ttl_s, 0, WIRE_SECONDS_MAX),
};
const struct map wire_call = MAP("call", call, struct msg_call, call_fields, NULL);

static const struct map_field chunk_fields[] = {
	U64(Chunk, struct msg_chunk, n, 0, WIRE_MAX63),
	BYTES(Chunk, data, struct msg_chunk, data, len, MSG_CHUNK_MAX, MAP_NO_NUL),
	FLAG(Chunk, struct msg_chunk, end),
};
const struct map wire_chunk = MAP("chunk", chunk, struct msg_chunk, chunk_fields, NULL);
