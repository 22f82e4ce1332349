/*
 * Envelopes: struct msg <-> one frame. What is decoded here has passed every check of the tables;
 * generated types end in this folder.
 */
#include "proto/msg.h"

#include <arpa/inet.h>
#include <string.h>

#include "proto/wire.h"

static const struct map_choice choices[] = {
	CHOICE(Envelope, hello, MSG_HELLO, &wire_hello),
	CHOICE(Envelope, hello_reply, MSG_HELLO_REPLY, &wire_hello_reply),
	CHOICE(Envelope, ping, MSG_PING, &wire_ping),
	CHOICE(Envelope, pong, MSG_PONG, &wire_pong),
	CHOICE(Envelope, error, MSG_ERROR, &wire_error_set),
	CHOICE(Envelope, enrol_request, MSG_ENROL_REQUEST, &wire_enrol_request),
	CHOICE(Envelope, enrol_reply, MSG_ENROL_REPLY, &wire_enrol_reply),
	CHOICE(Envelope, job_offer, MSG_JOB_OFFER, &wire_job_offer),
	CHOICE(Envelope, continue_, MSG_CONTINUE, &wire_continue),
	CHOICE(Envelope, finish, MSG_FINISH, &wire_finish),
	CHOICE(Envelope, cancel, MSG_CANCEL, &wire_cancel),
	CHOICE(Envelope, preview, MSG_PREVIEW, &wire_preview),
	CHOICE(Envelope, batch_ack, MSG_BATCH_ACK, &wire_batch_ack),
	CHOICE(Envelope, batch_refuse, MSG_BATCH_REFUSE, &wire_batch_refuse),
	CHOICE(Envelope, inventory, MSG_INVENTORY, &wire_inventory),
	CHOICE(Envelope, agent_status, MSG_AGENT_STATUS, &wire_agent_status),
	CHOICE(Envelope, job_accept, MSG_JOB_ACCEPT, &wire_job_accept),
	CHOICE(Envelope, job_reject, MSG_JOB_REJECT, &wire_job_reject),
	CHOICE(Envelope, preview_reply, MSG_PREVIEW_REPLY, &wire_preview_reply),
	CHOICE(Envelope, batch, MSG_RECORD_BATCH, &wire_batch),
	CHOICE(Envelope, call, MSG_CALL, &wire_call),
	CHOICE(Envelope, chunk, MSG_CHUNK, &wire_chunk),
	CHOICE(Envelope, link_setup, MSG_LINK_SETUP, &wire_link_setup),
	CHOICE(Envelope, batch_stored, MSG_BATCH_STORED, &wire_batch_stored),
	CHOICE(Envelope, worker_spec, MSG_WORKER_SPEC, &wire_worker_spec),
	CHOICE(Envelope, worker_ready, MSG_WORKER_READY, &wire_worker_ready),
	CHOICE(Envelope, worker_go, MSG_WORKER_GO, &wire_worker_go),
	CHOICE(Envelope, worker_sample, MSG_WORKER_SAMPLE, &wire_sample),
	CHOICE(Envelope, worker_done, MSG_WORKER_DONE, &wire_worker_done),
	CHOICE(Envelope, link_state, MSG_LINK_STATE, &wire_link_state),
};
#define N_CHOICES (sizeof(choices) / sizeof(choices[0]))
_Static_assert(N_CHOICES == MSG_TYPE_COUNT - 1, "each message type has a row");

const char *msg_type_name(enum msg_type type)
{
	const struct map_choice *c = map_choice_of(choices, N_CHOICES, (int)type);

	return c ? c->name : "none";
}

void msg_clear(struct msg *m)
{
	const struct map_choice *c = map_choice_of(choices, N_CHOICES, (int)m->type);

	if (c)
		map_clear(c->map, &m->u);
	memset(m, 0, sizeof(*m));
}

/* The whole envelope in the arena. */
static int build(
	const struct msg *m, struct arena *a, Arraymark__Wire__Envelope *env, struct err *e)
{
	const struct map_choice *c = map_choice_of(choices, N_CHOICES, (int)m->type);
	ProtobufCMessage *body;

	if (!c)
		return err_set(e, ERR_INPUT, "message: %d is not a type of message", (int)m->type);
	if (map_encode(c->map, &m->u, a, &body, e) < 0)
		return err_prefix(e, "%s", c->name);
	memcpy((char *)env + c->wire, &body, sizeof(body));
	env->has_request = m->request != 0;
	env->request = m->request;
	return 0;
}

int msg_encode(const struct msg *m, struct buf *out, struct err *e)
{
	Arraymark__Wire__Envelope env = ARRAYMARK__WIRE__ENVELOPE__INIT;
	struct arena a;
	uint32_t length;
	size_t size;
	int rc = -1;

	arena_init(&a, ARENA_NO_LIMIT);
	if (build(m, &a, &env, e) < 0)
		goto out;
	size = protobuf_c_message_get_packed_size(&env.base);
	if (size > MSG_FRAME_MAX) {
		err_set(e, ERR_FULL, "%s: %zu bytes are more than the %d of a frame",
			msg_type_name(m->type), size, MSG_FRAME_MAX);
		goto out;
	}
	length = htonl((uint32_t)size);
	buf_add(out, &length, sizeof(length));
	map_pack(&env.base, out);
	rc = 0;
out:
	arena_free(&a);
	return rc;
}

static int decode_envelope(const Arraymark__Wire__Envelope *env, struct msg *m, struct err *e)
{
	size_t budget = MSG_DECODE_BUDGET;
	const struct map_choice *c;

	if (map_choose(choices, N_CHOICES, &env->base, &c, e) < 0)
		return err_prefix(e, "frame");
	m->type = (enum msg_type)c->type;
	m->request = env->has_request ? env->request : 0;
	if (map_decode(c->map, map_load((const char *)env + c->wire), &m->u, &budget, e) < 0) {
		msg_clear(m);
		return err_prefix(e, "%s", c->name);
	}
	return 0;
}

int msg_decode(const void *data, size_t len, struct msg *ret, struct err *e)
{
	Arraymark__Wire__Envelope *env;
	ProtobufCAllocator alloc;
	struct arena a;
	struct msg m;
	int rc = -1;

	if (len > MSG_FRAME_MAX)
		return err_set(
			e, ERR_PROTOCOL, "frame: %zu bytes are more than %d", len, MSG_FRAME_MAX);
	arena_init(&a, MSG_DECODE_BUDGET);
	alloc = arena_allocator(&a);
	env = arraymark__wire__envelope__unpack(&alloc, len, data);
	memset(&m, 0, sizeof(m));
	if (!env)
		err_set(e, ERR_PROTOCOL,
			"frame: not a message of this protocol, or too big once unpacked");
	else
		rc = decode_envelope(env, &m, e);
	arena_free(&a);
	if (rc == 0)
		*ret = m;
	return rc;
}

int job_key_equal(const struct job_key *a, const struct job_key *b)
{
	return a->run == b->run && a->job == b->job && a->attempt == b->attempt;
}
