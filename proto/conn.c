/*
 * The life of a connection. Owns the bufferevent (and with it descriptor and SSL), the dial and the
 * events. Invariants: conn_move is the only writer of the state; memory is freed only by the kick
 * event, never while one of our functions is on the stack of a callback.
 */
#include "proto/conn.h"

#include <assert.h>
#include <errno.h>
#include <event2/bufferevent_ssl.h>
#include <event2/util.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "proto/conn_priv.h"

#define CLOSE_LIMIT_MS 2000
#define LINGER_BYTES_MAX (8 * 1024 * 1024)
#define BEV_OPTIONS (BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS)

#define TO(state) (1u << (state))
static const struct {
	const char *name;
	unsigned next;
} states[CONN_STATE_COUNT] = {
	[CONN_DIALING] = {"dialing", TO(CONN_OPENING) | TO(CONN_FAILED) | TO(CONN_DEAD)},
	[CONN_OPENING] = {"opening", TO(CONN_OPEN) | TO(CONN_FAILED) | TO(CONN_DEAD)},
	[CONN_OPEN] = {"open",
		TO(CONN_FLUSHING) | TO(CONN_LINGERING) | TO(CONN_FAILED) | TO(CONN_DEAD)},
	[CONN_FLUSHING] = {"flushing", TO(CONN_LINGERING) | TO(CONN_DEAD)},
	[CONN_FAILED] = {"failed", TO(CONN_LINGERING) | TO(CONN_DEAD)},
	[CONN_LINGERING] = {"lingering", TO(CONN_DEAD)},
	[CONN_DEAD] = {"dead", 0},
};

static void conn_move(struct conn *c, enum conn_state to)
{
	assert(states[c->state].next & TO(to));
	log_debug(c->peer, "connection %s -> %s", states[c->state].name, states[to].name);
	c->state = to;
}

void conn_kick(struct conn *c)
{
	event_active(c->kick, EV_TIMEOUT, 0);
}

static void set_timer(struct conn *c, unsigned ms)
{
	struct timeval tv = {ms / 1000, ms % 1000 * 1000};

	if (ms)
		event_add(c->timer, &tv);
	else
		event_del(c->timer);
}

/* No callback of bufferevent, timer or dial comes any more. */
static void quiet(struct conn *c)
{
	event_del(c->timer);
	if (c->dial)
		dial_cancel(c->dial);
	c->dial = NULL;
	c->drain = NULL;
	if (c->linger)
		event_del(c->linger);
	if (!c->bev)
		return;
	bufferevent_setcb(c->bev, NULL, NULL, NULL, NULL);
	bufferevent_disable(c->bev, EV_READ | EV_WRITE);
}

static void die(struct conn *c)
{
	quiet(c);
	conn_move(c, CONN_DEAD);
	conn_kick(c);
}

void conn_fail(struct conn *c, const struct err *why, int linger)
{
	if (c->state == CONN_FLUSHING || c->state == CONN_LINGERING) {
		die(c);
	} else if (c->state < CONN_FLUSHING) {
		quiet(c);
		c->why = xmemdup(why, sizeof(*why));
		c->linger_failed = linger;
		conn_move(c, CONN_FAILED);
		conn_kick(c);
	}
}

static void on_linger(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;
	char dropped[16384];
	ssize_t n = read(fd, dropped, sizeof(dropped));

	(void)what;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	c->lingered += n > 0 ? (size_t)n : 0;
	if (n > 0 && c->lingered < LINGER_BYTES_MAX)
		return;
	die(c);
}

/* Tells the peer that we are done and waits for its end, so that unread input does not turn our
 * close into a reset that eats what we wrote last. */
static void linger(struct conn *c)
{
	evutil_socket_t fd = bufferevent_getfd(c->bev);
	SSL *ssl = conn_ssl(c);

	quiet(c);
	if (ssl && SSL_is_init_finished(ssl))
		SSL_shutdown(ssl);
	ERR_clear_error();
	shutdown(fd, SHUT_WR);
	conn_move(c, CONN_LINGERING);
	c->linger = event_new(c->base, fd, EV_READ | EV_PERSIST, on_linger, c);
	set_timer(c, CLOSE_LIMIT_MS);
	if (!c->linger || event_add(c->linger, NULL) < 0)
		die(c);
}

void conn_flushed(struct conn *c)
{
	linger(c);
}

static void conn_free(struct conn *c)
{
	quiet(c);
	event_free(c->timer);
	event_free(c->kick);
	if (c->linger)
		event_free(c->linger);
	if (c->bev)
		bufferevent_free(c->bev);
	SSL_CTX_free(c->ctx);
	free(c->peer);
	free(c->why);
	free(c);
}

static void report(struct conn *c)
{
	struct err *why = c->why;

	c->why = NULL;
	if (why)
		c->handler->on_close(c, why, c->arg);
	free(why);
	if (c->linger_failed && c->bev)
		linger(c);
	else
		conn_move(c, CONN_DEAD);
}

static void become_open(struct conn *c)
{
	conn_move(c, CONN_OPEN);
	set_timer(c, c->idle_ms);
	c->last_read_ns = clock_mono_ns();
	if (c->handler->on_open)
		c->handler->on_open(c, c->arg);
	if (c->state == CONN_OPEN && c->drain)
		conn_on_drain(c, c->drain_low, c->drain);
}

static void on_kick(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;

	(void)fd;
	(void)what;
	if (c->state == CONN_OPENING && !conn_ssl(c)) {
		bufferevent_enable(c->bev, EV_READ | EV_WRITE);
		become_open(c);
	}
	conn_io_drain(c);
	if (c->state == CONN_FAILED)
		report(c);
	if (c->state == CONN_DEAD)
		conn_free(c);
}

static void idle_check(struct conn *c)
{
	int64_t idle_ms = (clock_mono_ns() - c->last_read_ns) / NS_PER_MS;
	struct err e;

	if (idle_ms < c->idle_ms) {
		set_timer(c, c->idle_ms - (unsigned)idle_ms + 1);
		return;
	}
	err_set(&e, ERR_TIMEOUT, "nothing came from the peer for %u ms", c->idle_ms);
	conn_fail(c, &e, 0);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;
	struct err e;

	(void)fd;
	(void)what;
	if (c->state == CONN_OPEN) {
		idle_check(c);
		return;
	}
	err_set(&e, ERR_TIMEOUT, "no connection within %u ms", c->deadline_ms);
	conn_fail(c, &e, 0);
}

static void ignore_sigpipe(void)
{
	static int done;
	struct sigaction now;

	if (!done && sigaction(SIGPIPE, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
		signal(SIGPIPE, SIG_IGN);
	done = 1;
}

static struct conn *conn_new(struct event_base *base, enum conn_state state, const char *peer,
	const struct conn_handler *h, void *arg)
{
	struct conn *c = xcalloc(1, sizeof(*c));

	ignore_sigpipe();
	c->state = state;
	c->base = base;
	c->peer = xstrdup(peer);
	c->handler = h;
	c->arg = arg;
	c->frame_max = MSG_FRAME_MAX;
	c->timer = event_new(base, -1, 0, on_timer, c);
	c->kick = event_new(base, -1, 0, on_kick, c);
	return c;
}

/* What the loss of a connection means, from libevent's and OpenSSL's words. */
static void describe_loss(struct conn *c, short what, struct err *e)
{
	SSL *ssl = conn_ssl(c);
	unsigned long code = ssl ? bufferevent_get_openssl_error(c->bev) : 0;
	int error = EVUTIL_SOCKET_ERROR();

	if (code)
		tls_describe_failure(ssl, code, e);
	else if ((what & BEV_EVENT_ERROR) && error && error != EAGAIN)
		err_set(e, ERR_CONN, "the connection was lost: %s", strerror(error));
	else if (c->state == CONN_OPENING)
		err_set(e, ERR_CONN, "the peer closed the connection during the TLS handshake");
	else
		err_set(e, ERR_CONN, "the peer closed the connection");
}

/* 0 when the server is who we want to talk to. */
static int check_server(struct conn *c, struct err *e)
{
	SSL *ssl = conn_ssl(c);
	const unsigned char *alpn;
	unsigned len;

	SSL_get0_alpn_selected(ssl, &alpn, &len);
	if (len != strlen(c->alpn) || memcmp(alpn, c->alpn, len) != 0)
		return err_set(e, ERR_PROTOCOL,
			"the peer does not speak arraymark's protocol: is this the right port?");
	return tls_check_coordinator(ssl, e);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	struct conn *c = arg;
	struct err e;

	(void)bev;
	if (what & BEV_EVENT_CONNECTED) {
		if (c->state != CONN_OPENING)
			return;
		if (c->alpn[0] && check_server(c, &e) < 0)
			conn_fail(c, &e, 1);
		else
			become_open(c);
		return;
	}
	describe_loss(c, what, &e);
	conn_fail(c, &e, c->state == CONN_OPENING && !c->alpn[0] && e.code != ERR_CONN);
}

static void watch(struct conn *c)
{
	bufferevent_setcb(c->bev, conn_io_readable, conn_io_writable, on_event, c);
	bufferevent_setwatermark(c->bev, EV_READ, 0, c->frame_max + sizeof(uint32_t));
}

/* The TLS handshake on a connected socket, which is taken over. */
static int start_tls(struct conn *c, int fd, enum bufferevent_ssl_state side, struct err *e)
{
	int on = 1;
	SSL *ssl;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (tls_client_ssl(c->ctx, &ssl, e) < 0) {
		close(fd);
		return -1;
	}
	if (c->alpn[0]) {
		unsigned char wire[sizeof(c->alpn) + 1];
		size_t len = strlen(c->alpn);

		wire[0] = (unsigned char)len;
		memcpy(wire + 1, c->alpn, len);
		SSL_set_alpn_protos(ssl, wire, (unsigned)len + 1);
	}
	c->bev = bufferevent_openssl_socket_new(c->base, fd, ssl, side, BEV_OPTIONS);
	if (!c->bev) {
		close(fd);
		return err_set(e, ERR_FULL, "no memory for a TLS connection");
	}
	bufferevent_openssl_set_allow_dirty_shutdown(c->bev, 1);
	watch(c);
	bufferevent_enable(c->bev, EV_READ | EV_WRITE);
	return 0;
}

static void on_dialed(void *arg, int fd, const struct err *why)
{
	struct conn *c = arg;
	struct err e;

	c->dial = NULL;
	if (fd < 0) {
		conn_fail(c, why, 0);
		return;
	}
	conn_move(c, CONN_OPENING);
	if (start_tls(c, fd, BUFFEREVENT_SSL_CONNECTING, &e) < 0)
		conn_fail(c, &e, 0);
}

struct conn *conn_connect(struct event_base *base, const char *host_port, SSL_CTX *ctx,
	const char *alpn, unsigned deadline_ms, const struct conn_handler *h, void *arg,
	struct err *e)
{
	struct conn *c = conn_new(base, CONN_DIALING, host_port, h, arg);

	if (dial_start(base, host_port, deadline_ms, on_dialed, c, &c->dial, e) < 0) {
		conn_free(c);
		return NULL;
	}
	SSL_CTX_up_ref(ctx);
	c->ctx = ctx;
	snprintf(c->alpn, sizeof(c->alpn), "%s", alpn);
	c->deadline_ms = deadline_ms;
	set_timer(c, deadline_ms);
	return c;
}

static void describe_peer(int fd, char *out, size_t len)
{
	struct sockaddr_storage a;
	socklen_t size = sizeof(a);
	char host[64];

	snprintf(out, len, "local");
	if (getpeername(fd, (struct sockaddr *)&a, &size) < 0)
		return;
	if (a.ss_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)&a;

		evutil_inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
		snprintf(out, len, "%s:%u", host, ntohs(in->sin_port));
	} else if (a.ss_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&a;

		evutil_inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
		snprintf(out, len, "[%s]:%u", host, ntohs(in6->sin6_port));
	}
}

struct conn *conn_accept_tls(struct event_base *base, int fd, SSL_CTX *ctx, unsigned deadline_ms,
	const struct conn_handler *h, void *arg, struct err *e)
{
	struct conn *c;
	char peer[80];

	if (evutil_make_socket_nonblocking(fd) < 0) {
		err_sys(e, "an accepted connection");
		close(fd);
		return NULL;
	}
	describe_peer(fd, peer, sizeof(peer));
	c = conn_new(base, CONN_OPENING, peer, h, arg);
	SSL_CTX_up_ref(ctx);
	c->ctx = ctx;
	c->deadline_ms = deadline_ms;
	if (start_tls(c, fd, BUFFEREVENT_SSL_ACCEPTING, e) < 0) {
		conn_free(c);
		return NULL;
	}
	set_timer(c, deadline_ms);
	return c;
}

struct conn *conn_plain(struct event_base *base, int fd, const struct conn_handler *h, void *arg)
{
	struct conn *c = conn_new(base, CONN_OPENING, "local", h, arg);
	struct err e;

	if (evutil_make_socket_nonblocking(fd) == 0)
		c->bev = bufferevent_socket_new(base, fd, BEV_OPTIONS);
	if (c->bev) {
		watch(c);
		conn_kick(c);
		return c;
	}
	err_sys(&e, "a local connection");
	close(fd);
	conn_fail(c, &e, 0);
	return c;
}

void conn_close(struct conn *c)
{
	switch (c->state) {
	case CONN_DIALING:
	case CONN_OPENING:
		die(c);
		break;
	case CONN_OPEN:
		if (conn_pending(c) == 0) {
			linger(c);
			break;
		}
		c->drain = NULL;
		bufferevent_setwatermark(c->bev, EV_WRITE, 0, 0);
		conn_move(c, CONN_FLUSHING);
		set_timer(c, CLOSE_LIMIT_MS);
		break;
	case CONN_FAILED:
		free(c->why);
		c->why = NULL;
		break;
	default:
		break;
	}
}

void conn_abort(struct conn *c)
{
	conn_close(c);
	c->linger_failed = 0;
	if (c->state == CONN_FLUSHING || c->state == CONN_LINGERING)
		die(c);
}

void conn_set_frame_max(struct conn *c, size_t max)
{
	c->frame_max = max;
	if (c->bev)
		bufferevent_setwatermark(c->bev, EV_READ, 0, max + sizeof(uint32_t));
}

void conn_set_idle(struct conn *c, unsigned ms)
{
	c->idle_ms = ms;
	if (c->state != CONN_OPEN)
		return;
	c->last_read_ns = clock_mono_ns();
	set_timer(c, ms);
}

SSL *conn_ssl(struct conn *c)
{
	return c->bev && c->ctx ? bufferevent_openssl_get_ssl(c->bev) : NULL;
}

const char *conn_peer(const struct conn *c)
{
	return c->peer;
}
