/*
 * A connection that carries frames: TLS over TCP, a unix socket or a socketpair, on libevent.
 *
 * The connection owns its bufferevent. Callbacks run from the event loop and may call any function
 * here, conn_close included: closing marks and disables, the memory goes on a later pass of the
 * loop. After on_close nothing more is called for this connection and the pointer is dead once
 * the callback returns. No callback is called from inside a function of this file: a failure
 * inside conn_send reaches on_close on the next pass.
 *
 * Before a base is freed its loop must run until the connections are gone (event_base_dispatch
 * returns then): at once after conn_abort, within 2 s after conn_close.
 * The first connection of a process makes it ignore SIGPIPE.
 */
#ifndef PROTO_CONN_H
#define PROTO_CONN_H

#include <event2/event.h>
#include <openssl/ssl.h>

#include "common/base/tls.h"
#include "proto/msg.h"

struct conn;

#define CONN_PENDING_MAX (16 * 1024 * 1024)

struct conn_handler {
	/* TLS handshake finished (at once for plain descriptors). Not acceptance: see hello. May be
	 * NULL. */
	void (*on_open)(struct conn *c, void *arg);
	/* One decoded message; it is cleared after the call (take fields by setting them NULL). */
	void (*on_msg)(struct conn *c, struct msg *m, void *arg);
	/* Ended, for whatever reason but a call of conn_close by ourselves. */
	void (*on_close)(struct conn *c, const struct err *why, void *arg);
};

/* Client: resolves HOST:PORT without blocking (numeric, /etc/hosts, DNS), tries each address,
 * handshakes; deadline_ms for all of it. The peer must be a coordinator (tls_check_coordinator) and
 * choose our ALPN before on_open is called. alpn: TLS_ALPN_MAIN or TLS_ALPN_ENROL. The connection
 * keeps its own reference to ctx. */
struct conn *conn_connect(struct event_base *base, const char *host_port, SSL_CTX *ctx,
	const char *alpn, unsigned deadline_ms, const struct conn_handler *h, void *arg,
	struct err *e);
/* Server side of an accepted TCP socket (fd is taken over). The handshake must end in deadline_ms.
 */
struct conn *conn_accept_tls(struct event_base *base, int fd, SSL_CTX *ctx, unsigned deadline_ms,
	const struct conn_handler *h, void *arg, struct err *e);
/* Plain descriptor (unix socket, socketpair); taken over, made non-blocking. */
struct conn *conn_plain(struct event_base *base, int fd, const struct conn_handler *h, void *arg);

/* Queues a message; never blocks. Does not take the message over. Before on_open and on a closing
 * connection it is dropped silently. An encode error closes the connection and is logged at debug.
 * A peer that lets CONN_PENDING_MAX bytes queue up loses the connection (ERR_FULL). */
void conn_send(struct conn *c, const struct msg *m);
/* As conn_send for MSG_ERROR with a request number. */
void conn_send_error(struct conn *c, uint64_t request, const struct err *why);
/* Bytes queued and not yet written. */
size_t conn_pending(const struct conn *c);
/* Called once when less than `low` bytes are queued (flow of long answers). NULL takes it back. */
void conn_on_drain(struct conn *c, size_t low, void (*fn)(struct conn *c, void *arg));
/* Closes after what is queued is written and the peer has closed too (at most 2 s, so that a last
 * message is not lost to a reset). on_close is not called; the pointer is dead for the caller. */
void conn_close(struct conn *c);
/* As conn_close, at once: what is queued is dropped. */
void conn_abort(struct conn *c);
/* Limits for one peer: payload bytes of the largest frame (default MSG_FRAME_MAX); a larger one
 * closes the connection. Lower for enrolment. */
void conn_set_frame_max(struct conn *c, size_t max);
/* Idle limit: on_close with ERR_TIMEOUT when nothing arrives for that long; 0 = none. */
void conn_set_idle(struct conn *c, unsigned ms);
SSL *conn_ssl(struct conn *c);               /* NULL for plain */
const char *conn_peer(const struct conn *c); /* "127.0.0.1:4711", "local" */

/* Blocking use over a plain descriptor, for workers and helper children: whole frames. */
int frame_write_fd(int fd, const struct msg *m, struct err *e);
/* 0 and a message, or -1: ERR_CONN at end of stream, ERR_TIMEOUT (timeout_ms < 0: none). */
int frame_read_fd(int fd, int timeout_ms, struct msg *ret, struct err *e);

/* Splits "host:port", "[v6]:port", "host" (default port 7420). Both into caller's arrays. */
int conn_split_host_port(const char *s, char host[256], char port[8], struct err *e);

#endif
