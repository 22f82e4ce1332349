/*
 * The link's side towards the coordinator: connect, hello, heartbeats, batches out, orders in.
 * Owns the connection. Invariants: nothing but the hello is sent before the hello is answered; only
 * that answer resets the back-off; what comes from outside goes to the monitor only when it is one
 * of the orders a coordinator may give.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/link/link_internal.h"
#include "common/base/fs.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define CONNECT_MS 10000
#define BACKOFF_FIRST_MS 200
#define BACKOFF_MOST_MS 30000
#define HEARTBEAT_LEAST_MS 100
#define HEARTBEAT_MOST_MS 600000
#define TIDY_NS (3600 * NS_PER_S)

static void set_timer(struct event *ev, unsigned ms)
{
	struct timeval tv = {.tv_sec = ms / 1000, .tv_usec = (ms % 1000) * 1000};

	event_add(ev, &tv);
}

/* Half to the whole of the back-off, so that a fleet does not come back in one moment. */
static unsigned jittered(unsigned ms)
{
	unsigned char r;

	fs_random(&r, 1);
	return ms / 2 + ms / 2 * r / 255;
}

static void lost(struct link *l, const char *why)
{
	if (l->accepted || strcmp(l->server_error, why))
		log_warning("coordinator", "%s: %s; trying again",
			l->setup.u.link_setup.coordinator, why);
	snprintf(l->server_error, sizeof(l->server_error), "%s", why);
	l->server = NULL;
	l->accepted = 0;
	event_del(l->heartbeat);
	set_timer(l->reconnect, jittered(l->backoff_ms));
	l->backoff_ms = l->backoff_ms * 2 < BACKOFF_MOST_MS ? l->backoff_ms * 2 : BACKOFF_MOST_MS;
	link_tell_state(l, why);
}

static void drop(struct link *l, const char *why)
{
	if (!l->server)
		return;
	conn_abort(l->server);
	lost(l, why);
}

void server_ask_again(struct link *l)
{
	drop(l, "the spool could not take its answer before");
}

static int is_alive(const struct link *l)
{
	return l->server && l->accepted;
}

void server_forward(struct link *l, const struct msg *m)
{
	if (is_alive(l))
		conn_send(l->server, m);
}

void server_send_status(struct link *l)
{
	struct msg m = l->status;

	if (!is_alive(l) || m.type == MSG_NONE)
		return;
	m.u.agent_status.unsent += link_unsent(l);
	if (l->spool_error[0] && !m.u.agent_status.note[0])
		m.u.agent_status.note = l->spool_error;
	l->told_unsent = m.u.agent_status.unsent;
	conn_send(l->server, &m);
}

void server_pump(struct link *l)
{
	const struct msg_batch *b;
	struct err e;

	while (is_alive(l)) {
		struct msg m = {.type = MSG_RECORD_BATCH};

		if (spool_peek(l->spool, &b, &e)) {
			link_spool_failed(l, &e);
			return;
		}
		if (!b || !window_may_send(&l->window, b->payload_len))
			return;
		m.u.batch = *b;
		conn_send(l->server, &m);
		window_sent(&l->window, b->payload_len);
		spool_advance(l->spool);
	}
}

static void on_ack(struct link *l, const struct msg_batch_ack *a)
{
	const char *epoch = a->epoch[0] ? a->epoch : spool_epoch(l->spool);
	uint64_t bytes;
	struct err e;

	if (spool_ack(l->spool, epoch, &a->key, a->last, &bytes, &e)) {
		l->answer_missed = 1;
		link_spool_failed(l, &e);
		return;
	}
	window_acked(&l->window, bytes);
	window_grant(&l->window, a->credit);
	if (link_unsent(l) == 0 && l->told_unsent)
		server_send_status(l);
	server_pump(l);
}

static void on_refuse(struct link *l, const struct msg_batch_refuse *r)
{
	struct spool_refusal what;
	struct err e;

	if (spool_refuse(l->spool, &r->key, r->expected, r->text, &what, &e)) {
		link_spool_failed(l, &e);
		drop(l, "a refused batch could not be dealt with");
		return;
	}
	if (what.given_up) {
		log_error("spool",
			"the coordinator does not take run %llu job %llu attempt %u (%s): %u batches "
			"are kept aside for 7 days",
			(unsigned long long)r->key.run, (unsigned long long)r->key.job,
			r->key.attempt, r->text, what.given_up);
		window_acked(&l->window, what.bytes);
		if (link_unsent(l) == 0 && l->told_unsent)
			server_send_status(l);
		server_pump(l);
		return;
	}
	if (r->expected)
		drop(l, "the coordinator expects earlier records");
}

static void on_hello_reply(struct link *l, const struct msg_hello_reply *h)
{
	char before[MSG_NAME_MAX + 1];
	struct err e;

	if (h->version < PROTO_VERSION_MIN || h->version > PROTO_VERSION_MAX) {
		drop(l, "the coordinator chose a protocol version that this agent does not speak");
		return;
	}
	snprintf(before, sizeof(before), "%s", spool_epoch(l->spool));
	if (spool_set_epoch(l->spool, h->store_epoch, &e)) {
		link_spool_failed(l, &e);
		drop(l, e.text);
		return;
	}
	l->accepted = 1;
	l->server_error[0] = '\0';
	l->backoff_ms = BACKOFF_FIRST_MS;
	l->heartbeat_ms = h->heartbeat_ms < HEARTBEAT_LEAST_MS ? HEARTBEAT_LEAST_MS
		: h->heartbeat_ms > HEARTBEAT_MOST_MS ? HEARTBEAT_MOST_MS : h->heartbeat_ms;
	conn_set_idle(l->server, l->heartbeat_ms * 3);
	set_timer(l->heartbeat, l->heartbeat_ms);
	l->window = (struct window){.credit = h->credit};
	spool_rewind(l->spool);
	l->answer_missed = 0;
	log_info("coordinator", "%s (version %s) knows this host as '%s'",
		l->setup.u.link_setup.coordinator, h->program_version, h->name);
	if (before[0] && strcmp(before, h->store_epoch))
		log_warning("coordinator", "its store is not the one of before (a restored backup?): "
			"%u batches are offered to it", spool_count(l->spool));
	link_tell_state(l, "");
	if (l->inventory.type != MSG_NONE)
		conn_send(l->server, &l->inventory);
	server_send_status(l);
	server_pump(l);
}

static void answer_ping(struct link *l, const struct msg *m)
{
	struct msg pong = {.type = MSG_PONG, .request = m->request};

	pong.u.pong.sent_ns = m->u.ping.sent_ns;
	pong.u.pong.received_ns = clock_mono_ns();
	pong.u.pong.wall_ns = clock_wall_ns();
	conn_send(l->server, &pong);
}

static void on_accepted_msg(struct link *l, struct msg *m)
{
	switch (m->type) {
	case MSG_JOB_OFFER:
	case MSG_CONTINUE:
	case MSG_FINISH:
	case MSG_CANCEL:
	case MSG_PREVIEW:
		conn_send(l->monitor, m);
		break;
	case MSG_BATCH_ACK:
		on_ack(l, &m->u.batch_ack);
		break;
	case MSG_BATCH_REFUSE:
		on_refuse(l, &m->u.batch_refuse);
		break;
	case MSG_PING:
		answer_ping(l, m);
		break;
	case MSG_PONG:
		break;
	default:
		drop(l, "it sent a message that is not for an agent");
	}
}

static void on_msg(struct conn *c, struct msg *m, void *arg)
{
	struct link *l = arg;

	(void)c;
	if (m->type == MSG_ERROR)
		drop(l, m->u.error.text);
	else if (l->accepted)
		on_accepted_msg(l, m);
	else if (m->type == MSG_HELLO_REPLY)
		on_hello_reply(l, &m->u.hello_reply);
	else
		drop(l, "it did not answer the hello");
}

static void on_open(struct conn *c, void *arg)
{
	struct link *l = arg;
	struct msg m = {.type = MSG_HELLO};
	struct err e;

	if (tls_check_coordinator(conn_ssl(c), &e)) {
		drop(l, e.text);
		return;
	}
	m.u.hello.min_version = PROTO_VERSION_MIN;
	m.u.hello.max_version = PROTO_VERSION_MAX;
	m.u.hello.program_version = (char *)ARRAYMARK_VERSION;
	m.u.hello.store_epoch = (char *)spool_epoch(l->spool);
	conn_set_idle(c, CONNECT_MS);
	conn_send(c, &m);
}

static void on_close(struct conn *c, const struct err *why, void *arg)
{
	(void)c;
	lost(arg, why && why->text[0] ? why->text : "the connection was closed");
}

static const struct conn_handler handler = {
	.on_open = on_open, .on_msg = on_msg, .on_close = on_close};

static void on_reconnect(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	server_connect(arg);
}

/* Between jobs only, since it flushes. */
static void tidy(struct link *l)
{
	int idle = l->status.type != MSG_NONE && l->status.u.agent_status.state == AGENT_IDLE;
	struct err e;

	if (!idle || link_unsent(l) || clock_mono_ns() - l->tidied_ns < TIDY_NS)
		return;
	l->tidied_ns = clock_mono_ns();
	if (spool_tidy(l->spool, &e))
		link_spool_failed(l, &e);
}

static void on_heartbeat(evutil_socket_t fd, short what, void *arg)
{
	struct link *l = arg;
	struct msg m = {.type = MSG_PING};

	(void)fd;
	(void)what;
	m.u.ping.sent_ns = clock_mono_ns();
	server_forward(l, &m);
	tidy(l);
	set_timer(l->heartbeat, l->heartbeat_ms);
}

void server_connect(struct link *l)
{
	struct err e;

	if (l->server)
		return;
	if (!l->reconnect) {
		l->reconnect = evtimer_new(l->base, on_reconnect, l);
		l->heartbeat = evtimer_new(l->base, on_heartbeat, l);
		l->backoff_ms = BACKOFF_FIRST_MS;
	}
	l->server = conn_connect(l->base, l->setup.u.link_setup.coordinator, l->ctx,
		TLS_ALPN_MAIN, CONNECT_MS, &handler, l, &e);
	if (!l->server)
		lost(l, e.text);
}

void server_close(struct link *l)
{
	if (l->server)
		conn_abort(l->server);
	l->server = NULL;
	if (l->reconnect) {
		event_free(l->reconnect);
		event_free(l->heartbeat);
	}
}
