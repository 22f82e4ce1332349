/*
 * Sessions: handshake, identity, hello, heartbeat, end. Owns all struct session and the set of
 * revoked serials. No session of a peer that has not proved who it is may do more than say hello
 * (or ask for enrolment), send more than SMALL_FRAME bytes, or last longer than HELLO_MS.
 */
#include "coordinator/sessions.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/agents.h"
#include "coordinator/call.h"
#include "coordinator/enrol.h"

#define HELLO_MS 10000       /* from accept to hello, and for a whole enrolment */
#define SMALL_FRAME (16 * 1024)
#define PENDING_MAX 1024     /* sessions without an accepted hello */

struct sessions {
	struct coordinator *co;
	struct session *first, *last;
	unsigned count, pending;
	struct strv revoked;
	struct log_limit refused, full;
};

#define BIT(t) (1ull << (t))
static const struct {
	const char *name;
	unsigned long long messages; /* what the peer may send */
} states[SESSION_STATE_COUNT] = {
	[SESSION_HANDSHAKE] = {"handshake", 0},
	[SESSION_ENROL] = {"enrolment", BIT(MSG_ENROL_REQUEST)},
	[SESSION_HELLO] = {"hello", BIT(MSG_HELLO)},
	[SESSION_AGENT] = {"agent",
		BIT(MSG_PING) | BIT(MSG_PONG) | BIT(MSG_ERROR) | BIT(MSG_INVENTORY) |
			BIT(MSG_AGENT_STATUS) | BIT(MSG_JOB_ACCEPT) | BIT(MSG_JOB_REJECT) |
			BIT(MSG_PREVIEW_REPLY) | BIT(MSG_RECORD_BATCH)},
	[SESSION_CONTROL] = {"control", BIT(MSG_PING) | BIT(MSG_PONG) | BIT(MSG_CALL) |
			BIT(MSG_CHUNK)},
	[SESSION_CLOSED] = {"closed", 0},
};

static int is_pending(const struct session *s)
{
	return s->state == SESSION_HANDSHAKE || s->state == SESSION_ENROL ||
		s->state == SESSION_HELLO;
}

const char *session_name(const struct session *s, char *out, size_t len)
{
	if (s->local)
		snprintf(out, len, "local");
	else if (s->peer.role == TLS_ROLE_NONE)
		snprintf(out, len, "%s", s->conn ? conn_peer(s->conn) : "peer");
	else
		snprintf(out, len, "%s %s", s->peer.role == TLS_ROLE_AGENT ? "agent" : "user",
			s->peer.name);
	return out;
}

/* ---- end ---- */

struct session *session_ref(struct session *s)
{
	s->refs++;
	return s;
}

static void unlink_session(struct sessions *all, struct session *s)
{
	*(s->prev ? &s->prev->next : &all->first) = s->next;
	*(s->next ? &s->next->prev : &all->last) = s->prev;
	all->count--;
}

void session_unref(struct session *s)
{
	if (--s->refs)
		return;
	unlink_session(s->co->sessions, s);
	if (s->deadline)
		event_free(s->deadline);
	if (s->ping)
		event_free(s->ping);
	free(s->version);
	free(s);
}

/* The one way out: whatever hangs on the session is told, then the loop's reference goes. */
static void end(struct session *s)
{
	enum session_state was = s->state;

	if (was == SESSION_CLOSED)
		return;
	if (is_pending(s))
		s->co->sessions->pending--;
	s->state = SESSION_CLOSED;
	if (s->deadline)
		event_del(s->deadline);
	if (s->ping)
		event_del(s->ping);
	if (was == SESSION_AGENT)
		agent_closed(s);
	if (was == SESSION_CONTROL)
		calls_closed(s);
	s->conn = NULL;
	session_unref(s);
}

void session_close(struct session *s, const struct err *why)
{
	struct conn *c = s->conn;

	if (s->state == SESSION_CLOSED)
		return;
	if (why)
		conn_send_error(c, 0, why);
	end(s);
	conn_close(c);
}

static void log_refused(struct session *s, const char *text)
{
	unsigned more;
	char name[96];

	if (!log_limit_pass(&s->co->sessions->refused, &more))
		return;
	if (more)
		log_warning("listener", "%s refused: %s (and %u more)",
			session_name(s, name, sizeof(name)), text, more);
	else
		log_warning("listener", "%s refused: %s", session_name(s, name, sizeof(name)), text);
}

static void refuse(struct session *s, const struct err *why)
{
	log_refused(s, why->text);
	session_close(s, why);
}

void session_violation(struct session *s, const char *fmt, ...)
{
	struct err e = {.code = ERR_PROTOCOL};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e.text, sizeof(e.text), fmt, ap);
	va_end(ap);
	refuse(s, &e);
}

/* ---- heartbeat ---- */

static void on_ping(evutil_socket_t fd, short what, void *arg)
{
	struct session *s = arg;
	struct msg m = {.type = MSG_PING};
	struct err trouble;

	(void)fd;
	(void)what;
	if (s->local && conn_pending(s->conn))
		return; /* no silence ends it, so that nothing may pile up */
	m.u.ping.sent_ns = clock_mono_ns();
	if (s->state == SESSION_CONTROL && store_trouble(s->co->store, &trouble))
		m.u.ping.trouble = trouble.text;
	conn_send(s->conn, &m);
}

static void start_heartbeat(struct session *s)
{
	unsigned ms = s->co->opt->heartbeat_ms;
	struct timeval tv = {ms / 1000, (long)(ms % 1000) * 1000};

	s->ping = event_new(s->co->base, -1, EV_PERSIST, on_ping, s);
	event_add(s->ping, &tv);
	if (!s->local)
		conn_set_idle(s->conn, 3 * ms);
	on_ping(-1, 0, s);
}

static void answer_ping(struct session *s, const struct msg_ping *p)
{
	struct msg m = {.type = MSG_PONG};

	m.u.pong.sent_ns = p->sent_ns;
	m.u.pong.received_ns = clock_mono_ns();
	m.u.pong.wall_ns = clock_wall_ns();
	conn_send(s->conn, &m);
}

/* ---- hello ---- */

static void send_hello_reply(struct session *s, uint32_t version)
{
	struct msg m = {.type = MSG_HELLO_REPLY};
	struct msg_hello_reply *r = &m.u.hello_reply;

	r->version = version;
	r->program_version = (char *)ARRAYMARK_VERSION;
	r->store_epoch = (char *)store_epoch(s->co->store);
	r->credit = s->credit;
	r->heartbeat_ms = s->co->opt->heartbeat_ms;
	r->name = s->peer.name;
	r->role = (char *)tls_role_name(s->peer.role);
	conn_send(s->conn, &m);
}

static void on_hello(struct session *s, struct msg *m)
{
	struct err e;
	uint32_t version;
	char name[96];

	if (hello_agree(&m->u.hello, &version, &e)) {
		refuse(s, &e);
		return;
	}
	s->version = m->u.hello.program_version;
	m->u.hello.program_version = NULL;
	s->co->sessions->pending--;
	event_del(s->deadline);
	conn_set_frame_max(s->conn, MSG_FRAME_MAX);
	s->state = s->peer.role == TLS_ROLE_AGENT ? SESSION_AGENT : SESSION_CONTROL;
	if (s->state == SESSION_AGENT)
		agent_opened(s);
	send_hello_reply(s, version);
	start_heartbeat(s);
	log_debug(session_name(s, name, sizeof(name)), "connected from %s, version %s",
		conn_peer(s->conn), s->version);
}

/* ---- what the connection tells ---- */

static void on_open(struct conn *c, void *arg)
{
	struct session *s = arg;
	struct err e;

	if (s->state != SESSION_HANDSHAKE)
		return;
	if (s->local) {
		s->state = SESSION_HELLO;
		return;
	}
	if (tls_peer(conn_ssl(c), &s->peer, &e)) {
		refuse(s, &e);
		return;
	}
	if (s->peer.enrolling) {
		s->state = SESSION_ENROL;
		enrol_opened(s);
		return;
	}
	if (s->peer.role == TLS_ROLE_COORDINATOR) {
		err_set(&e, ERR_DENIED, "a coordinator's certificate can't be used as a client's");
		refuse(s, &e);
		return;
	}
	if (sessions_is_revoked(s->co, s->peer.serial)) {
		err_set(&e, ERR_DENIED, "the certificate of %s is revoked; enrol again with a new token",
			s->peer.name);
		refuse(s, &e);
		return;
	}
	s->state = SESSION_HELLO;
}

static void on_msg(struct conn *c, struct msg *m, void *arg)
{
	struct session *s = arg;

	if (!(states[s->state].messages & BIT(m->type))) {
		session_violation(s, "message %s does not belong in state %s", msg_type_name(m->type),
			states[s->state].name);
		return;
	}
	switch (m->type) {
	case MSG_HELLO:
		on_hello(s, m);
		break;
	case MSG_ENROL_REQUEST:
		enrol_request(s, &m->u.enrol_request);
		break;
	case MSG_PING:
		answer_ping(s, &m->u.ping);
		break;
	case MSG_PONG:
		clock_offset_add(&s->clock, m->u.pong.sent_ns, clock_mono_ns(), clock_wall_ns(),
			m->u.pong.received_ns, m->u.pong.wall_ns);
		break;
	case MSG_CALL:
		call_open(s, m);
		break;
	case MSG_CHUNK:
		call_input(s, m);
		break;
	default:
		agent_message(s, m);
		break;
	}
	(void)c;
}

static void on_close(struct conn *c, const struct err *why, void *arg)
{
	struct session *s = arg;
	char name[96];

	(void)c;
	if (is_pending(s))
		log_refused(s, why->text);
	else
		log_debug(session_name(s, name, sizeof(name)), "disconnected: %s", why->text);
	end(s);
}

static const struct conn_handler handler = {on_open, on_msg, on_close};

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct session *s = arg;
	struct err e;

	(void)fd;
	(void)what;
	err_set(&e, ERR_TIMEOUT, "no %s within %d s", states[s->state].name, HELLO_MS / 1000);
	refuse(s, &e);
}

/* ---- accept ---- */

static struct session *session_new(struct coordinator *co)
{
	static const struct timeval deadline = {HELLO_MS / 1000, 0};
	struct sessions *all = co->sessions;
	struct session *s = xcalloc(1, sizeof(*s));

	s->co = co;
	s->refs = 1;
	s->state = SESSION_HANDSHAKE;
	s->prev = all->last;
	*(all->last ? &all->last->next : &all->first) = s;
	all->last = s;
	all->count++;
	all->pending++;
	s->deadline = event_new(co->base, -1, 0, on_deadline, s);
	event_add(s->deadline, &deadline);
	return s;
}

/* Makes room for one more: the oldest peer that has not said hello gives way. */
static int make_room(struct sessions *all)
{
	struct session *s;
	unsigned more;
	int full = all->count >= all->co->opt->connections;

	if (!full && all->pending < PENDING_MAX)
		return 0;
	for (s = all->first; s; s = s->next)
		if (is_pending(s))
			break;
	if (s)
		session_close(s, NULL);
	if (log_limit_pass(&all->full, &more))
		log_warning("listener", "%s: %s", full ? "the limit of connections is reached"
							: "too many connections without a hello",
			s ? "closing the oldest that has not said hello" : "refusing new ones");
	return s ? 0 : -1;
}

void session_accept_tls(struct coordinator *co, int fd, const struct in6_addr *address)
{
	struct session *s;
	struct err e;

	if (co->stopping || make_room(co->sessions)) {
		evutil_closesocket(fd);
		return;
	}
	s = session_new(co);
	s->address = *address;
	s->conn = conn_accept_tls(co->base, fd, co->ctx, HELLO_MS, &handler, s, &e);
	if (!s->conn) {
		log_refused(s, e.text);
		end(s);
		return;
	}
	conn_set_frame_max(s->conn, SMALL_FRAME);
}

void session_accept_local(struct coordinator *co, int fd)
{
	struct session *s;

	if (co->stopping || make_room(co->sessions)) {
		evutil_closesocket(fd);
		return;
	}
	s = session_new(co);
	s->local = 1;
	s->peer.role = TLS_ROLE_ADMIN;
	snprintf(s->peer.name, sizeof(s->peer.name), "local");
	s->conn = conn_plain(co->base, fd, &handler, s);
	conn_set_frame_max(s->conn, SMALL_FRAME);
	if (s->state == SESSION_HANDSHAKE)
		s->state = SESSION_HELLO;
}

/* ---- all of them ---- */

struct sessions *sessions_new(struct coordinator *co)
{
	struct sessions *all = xcalloc(1, sizeof(*all));

	all->co = co;
	all->refused = (struct log_limit){.burst = 5, .window_ms = 60000};
	all->full = (struct log_limit){.burst = 1, .window_ms = 60000};
	return all;
}

void sessions_close_all(struct sessions *all, const struct err *why)
{
	struct session *s, *next;

	for (s = all->first; s; s = next) {
		next = s->next;
		session_close(s, why);
	}
}

void sessions_free(struct sessions *all)
{
	struct session *s, *next;

	if (!all)
		return;
	sessions_close_all(all, NULL);
	for (s = all->first; s; s = next) {
		next = s->next;
		s->refs = 1; /* the store is closed: the callbacks that hold the others never come */
		session_unref(s);
	}
	strv_free(&all->revoked);
	free(all);
}

unsigned sessions_cut(struct coordinator *co, const struct strv *serials, const char *name,
	const struct err *why)
{
	struct session *s, *next;
	unsigned n = 0;

	for (s = co->sessions->first; s; s = next) {
		next = s->next;
		if (s->state == SESSION_CLOSED || s->local ||
			!(strv_has(serials, s->peer.serial) || (name && !strcmp(name, s->peer.name))))
			continue;
		session_close(s, why);
		n++;
	}
	return n;
}

void sessions_revoked_add(struct coordinator *co, const char *serial)
{
	if (!sessions_is_revoked(co, serial))
		strv_add(&co->sessions->revoked, serial);
}

int sessions_is_revoked(const struct coordinator *co, const char *serial)
{
	return strv_has(&co->sessions->revoked, serial);
}
