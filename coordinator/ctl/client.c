/*
 * Session and calls. Owns the event loop, the connection and the open calls.
 * Invariant: `conn` is NULL or live; an open call is in the list until its `done` has run once.
 */
#include "coordinator/ctl/client.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/tls.h"
#include "common/base/units.h"
#include "proto/conn.h"

#define CONNECT_MS 10000
#define LINE_MAX_BYTES (8 * 1024 * 1024)
#define UPLOAD_AHEAD (1024 * 1024) /* bytes of an upload that wait to be written */

struct open_call {
	struct open_call *next;
	uint64_t request, next_chunk;
	struct buf rest; /* a line whose end has not come */
	client_line line;
	client_done done;
	void *arg;
};

/* What goes on behind a call: whole lines in chunks, as fast as the connection takes them. */
struct upload {
	uint64_t request, n;
	const char *text;
	size_t left;
	int ended;
};

enum client_state { CLIENT_DOWN, CLIENT_CONNECTING, CLIENT_READY };

struct client {
	struct target target;
	struct event_base *base;
	SSL_CTX *ctx;
	struct conn *conn;
	enum client_state state;
	struct err why; /* of the last end of the connection */
	uint64_t last_request;
	struct open_call *calls;
	struct upload *upload; /* under way, or NULL */
	int stopped;
	struct event *signals[3], *tick, *timer;
	void (*signal_fn)(void *arg, int signo);
	void (*tick_fn)(void *arg);
	struct client_trouble trouble;
	void *signal_arg, *tick_arg;
	int in_trouble; /* the coordinator, as far as it told */
	int timer_fired;
};

/* ---- open calls ---- */

static struct open_call *call_find(struct client *c, uint64_t request)
{
	for (struct open_call *k = c->calls; k; k = k->next)
		if (k->request == request)
			return k;
	return NULL;
}

static void call_finish(struct client *c, struct open_call *k, const struct err *why)
{
	struct open_call **at = &c->calls;

	while (*at != k)
		at = &(*at)->next;
	*at = k->next;
	k->done(k->arg, why);
	buf_free(&k->rest);
	free(k);
}

/* ---- end of the connection ---- */

static void went_down(struct client *c, const struct err *why)
{
	struct err copy;

	err_copy(&copy, why);
	c->conn = NULL;
	c->state = CLIENT_DOWN;
	err_copy(&c->why, &copy);
	while (c->calls)
		call_finish(c, c->calls, &copy);
}

static void hang_up(struct client *c, const struct err *why)
{
	struct conn *conn = c->conn;

	if (!conn)
		return;
	went_down(c, why);
	conn_abort(conn);
}

/* ---- messages ---- */

/* Whole lines of data go to the call; what remains is kept. */
static int feed_lines(struct open_call *k, const char *data, size_t len, struct err *e)
{
	const char *end;

	while (len && (end = memchr(data, '\n', len))) {
		size_t n = (size_t)(end - data);
		int r;

		if (k->rest.len) {
			buf_add(&k->rest, data, n);
			r = k->line(k->arg, k->rest.data, k->rest.len, e);
			buf_reset(&k->rest);
		} else {
			r = n ? k->line(k->arg, data, n, e) : 0;
		}
		if (r)
			return -1;
		data += n + 1;
		len -= n + 1;
	}
	if (k->rest.len + len > LINE_MAX_BYTES)
		return err_set(e, ERR_PROTOCOL, "the coordinator sent a line of more than %d bytes",
			LINE_MAX_BYTES);
	buf_add(&k->rest, data, len);
	return 0;
}

static void on_chunk(struct client *c, const struct msg *m)
{
	struct open_call *k = call_find(c, m->request);
	const struct msg_chunk *chunk = &m->u.chunk;
	struct err e;
	int r = 0;

	if (!k)
		return; /* of a call that was given up */
	if (chunk->n != k->next_chunk++) {
		err_set(&e, ERR_PROTOCOL, "a part of the coordinator's answer is missing");
		hang_up(c, &e);
		return;
	}
	r = feed_lines(k, chunk->data, chunk->len, &e);
	if (!r && chunk->end && k->rest.len)
		r = k->line(k->arg, k->rest.data, k->rest.len, &e);
	if (r) {
		call_finish(c, k, &e);
		if (!chunk->end)
			hang_up(c, &e); /* or the rest would go on coming */
	} else if (chunk->end) {
		call_finish(c, k, NULL);
	}
}

static void on_hello_reply(struct client *c, const struct msg_hello_reply *r)
{
	if (c->state != CLIENT_CONNECTING)
		return;
	c->state = CLIENT_READY;
	if (!c->target.socket && r->heartbeat_ms && r->heartbeat_ms < 3600000)
		conn_set_idle(c->conn, 3 * r->heartbeat_ms);
}

static void on_error(struct client *c, const struct msg *m)
{
	struct open_call *k = call_find(c, m->request);

	if (m->request == 0)
		hang_up(c, &m->u.error);
	else if (k)
		call_finish(c, k, &m->u.error);
}

static void on_ping(struct client *c, const struct msg_ping *p)
{
	struct msg pong = {.type = MSG_PONG};
	const char *trouble = p->trouble && *p->trouble ? p->trouble : NULL;

	pong.u.pong.sent_ns = p->sent_ns;
	pong.u.pong.received_ns = clock_mono_ns();
	pong.u.pong.wall_ns = clock_wall_ns();
	conn_send(c->conn, &pong);
	if (c->in_trouble == (trouble != NULL))
		return;
	c->in_trouble = trouble != NULL;
	if (c->trouble.fn)
		c->trouble.fn(c->trouble.arg, trouble);
}

static void on_msg(struct conn *conn, struct msg *m, void *arg)
{
	struct client *c = arg;

	(void)conn;
	switch (m->type) {
	case MSG_PING:
		on_ping(c, &m->u.ping);
		break;
	case MSG_HELLO_REPLY:
		on_hello_reply(c, &m->u.hello_reply);
		break;
	case MSG_ERROR:
		on_error(c, m);
		break;
	case MSG_CHUNK:
		on_chunk(c, m);
		break;
	default:
		break;
	}
}

static void on_open(struct conn *conn, void *arg)
{
	struct client *c = arg;
	struct msg hello = {.type = MSG_HELLO};
	struct err e;

	c->conn = conn;
	if (conn_ssl(conn) && tls_check_coordinator(conn_ssl(conn), &e)) {
		hang_up(c, &e);
		return;
	}
	hello.u.hello.min_version = PROTO_VERSION_MIN;
	hello.u.hello.max_version = PROTO_VERSION_MAX;
	hello.u.hello.program_version = (char *)ARRAYMARK_VERSION;
	hello.u.hello.store_epoch = (char *)"";
	conn_send(conn, &hello);
}

static void on_close(struct conn *conn, const struct err *why, void *arg)
{
	(void)conn;
	went_down(arg, why);
}

static const struct conn_handler handler = {on_open, on_msg, on_close};

/* ---- connecting ---- */

static int dial(struct client *c, struct err *e)
{
	int fd;

	if (!c->target.socket) {
		c->conn = conn_connect(
			c->base, c->target.name, c->ctx, TLS_ALPN_MAIN, CONNECT_MS, &handler, c, e);
		return c->conn ? 0 : -1;
	}
	fd = target_open_socket(c->target.socket, e);
	if (fd < 0)
		return -1;
	c->conn = conn_plain(c->base, fd, &handler, c);
	return 0;
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct client *c = arg;

	(void)fd;
	(void)what;
	c->timer_fired = 1;
}

static void start_timer(struct client *c, unsigned ms)
{
	struct timeval tv = {ms / 1000, (long)(ms % 1000) * 1000};

	c->timer_fired = 0;
	event_add(c->timer, &tv);
}

/* What a failed connection means to the user: "not allowed" stays, the rest is "no connection". */
static int connect_failed(struct client *c, const struct err *why, struct err *e)
{
	const char *name = c->target.name;
	struct err copy;

	err_copy(&copy, why);
	if (strstr(copy.text, name))
		err_copy(e, &copy);
	else
		err_set(e, copy.code, "%s: %s", name, copy.text);
	if (e->code != ERR_DENIED && e->code != ERR_PROTOCOL && e->code != ERR_CANCELLED)
		e->code = ERR_CONN;
	return -1;
}

int client_connect(struct client *c, struct err *e)
{
	struct err why;

	if (c->state == CLIENT_READY)
		return 0;
	c->state = CLIENT_CONNECTING;
	err_set(&c->why, ERR_CONN, "the connection was lost");
	if (dial(c, &why)) {
		c->state = CLIENT_DOWN;
		return connect_failed(c, &why, e);
	}
	start_timer(c, CONNECT_MS);
	while (c->state == CLIENT_CONNECTING && !c->stopped && !c->timer_fired)
		if (event_base_loop(c->base, EVLOOP_ONCE) != 0)
			break;
	event_del(c->timer);
	if (c->state == CLIENT_READY)
		return 0;
	if (c->stopped)
		err_set(&why, ERR_CANCELLED, "interrupted");
	else if (c->state == CLIENT_DOWN)
		err_copy(&why, &c->why);
	else
		err_set(&why, ERR_TIMEOUT, "no answer within %d s", CONNECT_MS / 1000);
	hang_up(c, &why);
	c->state = CLIENT_DOWN;
	return connect_failed(c, &why, e);
}

/* ---- calls ---- */

void client_send(struct client *c, const struct msg_call *call, client_line line, client_done done,
	void *arg)
{
	struct open_call *k;
	struct msg m = {.type = MSG_CALL};
	struct err e;

	if (c->state != CLIENT_READY) {
		err_set(&e, ERR_CONN, "no connection to %s", c->target.name);
		done(arg, &e);
		return;
	}
	k = xcalloc(1, sizeof(*k));
	k->request = ++c->last_request;
	k->line = line;
	k->done = done;
	k->arg = arg;
	k->next = c->calls;
	c->calls = k;
	m.request = k->request;
	m.u.call = *call;
	conn_send(c->conn, &m);
}

struct waiting {
	client_line line;
	void *arg;
	int done, failed;
	struct err err;
};

static int waiting_line(void *arg, const char *line, size_t len, struct err *e)
{
	struct waiting *w = arg;

	return w->line(w->arg, line, len, e);
}

static void waiting_done(void *arg, const struct err *why)
{
	struct waiting *w = arg;

	w->done = 1;
	w->failed = why != NULL;
	if (why)
		err_copy(&w->err, why);
}

static int wait_for(struct client *c, struct waiting *w, struct err *e)
{
	struct err why;

	while (!w->done && !c->stopped)
		if (event_base_loop(c->base, EVLOOP_ONCE) != 0)
			break;
	if (!w->done) {
		err_set(&why, ERR_CANCELLED, "interrupted");
		hang_up(c, &why);
	}
	if (!w->failed)
		return 0;
	err_copy(e, &w->err);
	if (e->code == ERR_TIMEOUT && c->state == CLIENT_DOWN)
		e->code = ERR_CONN;
	return -1;
}

int client_call(
	struct client *c, const struct msg_call *call, client_line line, void *arg, struct err *e)
{
	struct waiting w = {.line = line, .arg = arg};

	if (client_connect(c, e))
		return -1;
	client_send(c, call, waiting_line, waiting_done, &w);
	return wait_for(c, &w, e);
}

/* ---- calls that bring something along ---- */

static void send_piece(struct client *c, struct upload *u)
{
	struct msg m = {.type = MSG_CHUNK, .request = u->request};
	size_t n = u->left;

	if (n > MSG_CHUNK_MAX) {
		const char *end = memrchr(u->text, '\n', MSG_CHUNK_MAX);

		n = end ? (size_t)(end - u->text) + 1 : MSG_CHUNK_MAX;
	}
	m.u.chunk.n = u->n++;
	m.u.chunk.data = (char *)u->text;
	m.u.chunk.len = n;
	m.u.chunk.end = u->ended = n == u->left;
	conn_send(c->conn, &m);
	u->text += n;
	u->left -= n;
}

static void send_more(struct conn *conn, void *arg)
{
	struct client *c = arg;
	struct upload *u = c->upload;

	if (!u)
		return;
	while (!u->ended && conn_pending(conn) < UPLOAD_AHEAD)
		send_piece(c, u);
	if (!u->ended)
		conn_on_drain(conn, UPLOAD_AHEAD / 2, send_more);
}

int client_upload(struct client *c, const struct msg_call *call, const char *text, size_t len,
	client_line line, void *arg, struct err *e)
{
	struct waiting w = {.line = line, .arg = arg};
	struct upload u = {.text = text, .left = len};
	int r;

	if (client_connect(c, e))
		return -1;
	client_send(c, call, waiting_line, waiting_done, &w);
	u.request = c->last_request;
	c->upload = &u;
	send_more(c->conn, c);
	r = wait_for(c, &w, e);
	c->upload = NULL;
	return r;
}

void client_wait(struct client *c, unsigned ms)
{
	start_timer(c, ms);
	while (!c->timer_fired && !c->stopped)
		if (event_base_loop(c->base, EVLOOP_ONCE) != 0)
			break;
	event_del(c->timer);
}

void client_stop(struct client *c)
{
	c->stopped = 1;
	event_base_loopbreak(c->base);
}

int client_is_stopped(const struct client *c)
{
	return c->stopped;
}

/* ---- signals, tick ---- */

static void on_signal(evutil_socket_t signo, short what, void *arg)
{
	struct client *c = arg;

	(void)what;
	c->signal_fn(c->signal_arg, (int)signo);
}

void client_on_signal(struct client *c, void (*fn)(void *arg, int signo), void *arg)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

	c->signal_fn = fn;
	c->signal_arg = arg;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		if (c->signals[i])
			event_free(c->signals[i]);
		c->signals[i] = NULL;
		if (!fn)
			continue;
		c->signals[i] = evsignal_new(c->base, numbers[i], on_signal, c);
		event_add(c->signals[i], NULL);
	}
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct client *c = arg;

	(void)fd;
	(void)what;
	c->tick_fn(c->tick_arg);
}

struct client_trouble client_on_trouble(struct client *c, struct client_trouble h)
{
	struct client_trouble was = c->trouble;

	c->trouble = h;
	return was;
}

void client_on_tick(struct client *c, unsigned ms, void (*fn)(void *arg), void *arg)
{
	struct timeval tv = {ms / 1000, (long)(ms % 1000) * 1000};

	c->tick_fn = fn;
	c->tick_arg = arg;
	if (c->tick && !fn)
		event_del(c->tick);
	if (!fn)
		return;
	if (!c->tick)
		c->tick = event_new(c->base, -1, EV_PERSIST, on_tick, c);
	event_add(c->tick, &tv);
}

/* ---- life ---- */

int client_new(struct target *t, struct client **ret, struct err *e)
{
	struct client *c = xcalloc(1, sizeof(*c));

	c->target = *t;
	memset(t, 0, sizeof(*t));
	if (!c->target.socket &&
		tls_client_ctx(c->target.cert, c->target.key, c->target.ca, &c->ctx, e)) {
		err_prefix(e, "identity for %s", c->target.name);
		client_free(c);
		return -1;
	}
	c->base = event_base_new();
	if (!c->base) {
		client_free(c);
		return err_set(e, ERR_IO, "no event loop can be made");
	}
	c->timer = event_new(c->base, -1, 0, on_timer, c);
	*ret = c;
	return 0;
}

void client_free(struct client *c)
{
	struct err why;

	if (!c)
		return;
	err_set(&why, ERR_CANCELLED, "closed");
	hang_up(c, &why);
	for (size_t i = 0; i < ARRAY_LEN(c->signals); i++)
		if (c->signals[i])
			event_free(c->signals[i]);
	if (c->tick)
		event_free(c->tick);
	if (c->timer)
		event_free(c->timer);
	if (c->base) {
		event_base_dispatch(c->base); /* until the connection's memory is gone */
		event_base_free(c->base);
	}
	SSL_CTX_free(c->ctx);
	target_clear(&c->target);
	free(c);
}

const char *client_target_name(const struct client *c)
{
	return c->target.name;
}
