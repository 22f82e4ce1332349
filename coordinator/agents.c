/*
 * Sessions of agents. Owns one struct batch_op per batch that is on its way into the store. What an
 * agent may have under way is bounded by its credit: more than that ends the session.
 */
#include "coordinator/agents.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "coordinator/call.h"
#include "coordinator/facts.h"
#include "coordinator/fleet.h"
#include "coordinator/jobs.h"
#include "coordinator/until.h"

#define CREDIT_WANTED (1024 * 1024) /* payload bytes an agent may have unacknowledged */
/* A batch costs memory beside its payload, which may be empty; real ones are larger on average. */
#define BATCHES_MAX (CREDIT_WANTED / 32)

struct batch_op {
	struct session *session;
	char *host;
	struct job_key key;
	uint64_t first, last;
	size_t bytes;
	struct facts facts;
};

void agent_opened(struct session *s)
{
	s->credit = window_pool_take(&s->co->credit, CREDIT_WANTED);
	s->complaints = (struct log_limit){.burst = 10, .window_ms = 60000};
	s->host = fleet_connected(s->co, s->peer.name, s);
}

void agent_closed(struct session *s)
{
	window_pool_give(&s->co->credit, s->credit);
	preview_agent_gone(s);
	if (s->host && s->host->session == s)
		fleet_disconnected(s->host);
	s->host = NULL;
	jobs_pump(s->co);
}

/* ---- batches ---- */

static void batch_op_free(struct batch_op *op)
{
	session_unref(op->session);
	facts_clear(&op->facts);
	free(op->host);
	free(op);
}

static void send_ack(struct session *s, const struct job_key *key, uint64_t last)
{
	struct msg m = {.type = MSG_BATCH_ACK};

	m.u.batch_ack.key = *key;
	m.u.batch_ack.last = last;
	m.u.batch_ack.credit = store_is_stalled(s->co->store) ? 0 : s->credit;
	m.u.batch_ack.epoch = (char *)store_epoch(s->co->store);
	conn_send(s->conn, &m);
}

static void send_refuse(struct session *s, const struct job_key *key, uint64_t expected,
	const char *text)
{
	struct msg m = {.type = MSG_BATCH_REFUSE};
	unsigned more;
	char name[96];

	if (log_limit_pass(&s->complaints, &more))
		log_warning(session_name(s, name, sizeof(name)),
			"run %llu, attempt %u: batch refused: %s%s", (unsigned long long)key->run,
			key->attempt, text, more ? " (and more before)" : "");
	m.u.batch_refuse.key = *key;
	m.u.batch_refuse.expected = expected;
	m.u.batch_refuse.text = (char *)text;
	conn_send(s->conn, &m);
}

/* The facts count although the session may be gone: they are durable. */
static void on_appended(void *arg, const struct append_result *r, const struct err *e)
{
	struct batch_op *op = arg;
	struct session *s = op->session;
	struct coordinator *co = s->co;
	struct host *h = fleet_find(co->fleet, op->host);
	int open = s->state != SESSION_CLOSED;

	s->outstanding -= op->bytes;
	s->batches--;
	coordinator_op_end(co);
	if (e) {
		log_error("store", "a batch of %s can't be stored: %s", op->host, e->text);
		if (open)
			session_close(s, e);
	} else if (r->what == APPEND_REFUSE) {
		if (open)
			send_refuse(s, &op->key, r->expected, r->text);
	} else {
		if (h && r->adopted)
			jobs_adopted(h, &op->key);
		if (h && r->last >= op->last)
			jobs_facts(h, &op->key, op->first, op->last, &op->facts);
		if (open)
			send_ack(s, &op->key, r->last);
	}
	batch_op_free(op);
	jobs_pump(co);
}

static int check_batch(struct session *s, const struct msg_batch *b)
{
	if (s->outstanding && s->outstanding + b->payload_len > s->credit) {
		session_violation(s, "more batches under way than the credit of %llu bytes allows",
			(unsigned long long)s->credit);
		return -1;
	}
	if (s->batches >= BATCHES_MAX) {
		session_violation(s, "more than %d batches under way", BATCHES_MAX);
		return -1;
	}
	return 0;
}

static void on_batch(struct session *s, struct msg_batch *b)
{
	struct records records = {0};
	struct batch_op *op;
	struct err e;

	if (check_batch(s, b))
		return;
	if (!b->lost && records_decode(b->payload, b->payload_len, &records, &e)) {
		send_refuse(s, &b->key, 0, e.text);
		return;
	}
	op = xcalloc(1, sizeof(*op));
	op->session = session_ref(s);
	op->host = xstrdup(s->peer.name);
	op->key = b->key;
	op->first = b->first;
	op->last = b->last;
	op->bytes = b->payload_len;
	facts_make(&records, &op->facts);
	s->outstanding += op->bytes;
	s->batches++;
	coordinator_op_begin(s->co);
	store_append(s->co->store, op->host, b, &records, on_appended, op);
}

/* ---- everything else ---- */

static void on_inventory(struct session *s, struct inventory *inv)
{
	if (strcmp(inv->host ? inv->host : "", s->host->name)) {
		free(inv->host);
		inv->host = xstrdup(s->host->name);
	}
	fleet_inventory(s->host, inv);
}

static void on_status(struct session *s, struct msg_agent_status *st)
{
	int first;

	if (st->state >= AGENT_STATE_COUNT) {
		session_violation(s, "status with state %d", (int)st->state);
		return;
	}
	first = !s->host->told;
	fleet_status(s->host, st);
	if (first)
		until_again(s->host);
}

void agent_message(struct session *s, struct msg *m)
{
	struct coordinator *co = s->co;
	unsigned more;
	char name[96];

	if (co->stopping)
		return; /* what is not acknowledged comes again */
	switch (m->type) {
	case MSG_RECORD_BATCH:
		on_batch(s, &m->u.batch);
		return; /* facts come when it is durable */
	case MSG_INVENTORY:
		on_inventory(s, &m->u.inventory);
		break;
	case MSG_AGENT_STATUS:
		on_status(s, &m->u.agent_status);
		break;
	case MSG_JOB_ACCEPT:
		jobs_accepted(s->host, &m->u.job_accept);
		break;
	case MSG_JOB_REJECT:
		jobs_rejected(s->host, &m->u.job_reject.key, &m->u.job_reject.error);
		break;
	case MSG_PREVIEW_REPLY:
		preview_answered(s, m->request, &m->u.preview_reply);
		break;
	case MSG_ERROR:
		if (log_limit_pass(&s->complaints, &more))
			log_warning(session_name(s, name, sizeof(name)), "says: %s", m->u.error.text);
		break;
	default:
		break;
	}
	jobs_pump(co);
}
