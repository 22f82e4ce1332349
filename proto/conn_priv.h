/* Inside of a connection, shared by conn.c (its life) and conn_io.c (its frames). */
#ifndef PROTO_CONN_PRIV_H
#define PROTO_CONN_PRIV_H

#include <event2/bufferevent.h>

#include "proto/conn.h"
#include "proto/dial.h"

enum conn_state {
	CONN_DIALING, /* no socket yet */
	CONN_OPENING, /* TLS handshake; plain: on_open is due */
	CONN_OPEN,
	CONN_FLUSHING,  /* closed by us, output is still being written */
	CONN_FAILED,    /* on_close is due */
	CONN_LINGERING, /* our direction is shut; input is thrown away until the peer closes */
	CONN_DEAD,      /* memory goes on the next pass of the loop */
	CONN_STATE_COUNT
};

struct conn {
	enum conn_state state;
	struct event_base *base;
	struct bufferevent *bev; /* owns fd and SSL; NULL while dialing */
	SSL_CTX *ctx;            /* our reference */
	char alpn[32];           /* client: what we ask for; server: "" */
	struct dial *dial;
	char *peer;
	struct event *timer;  /* handshake deadline, idle limit, then the limit of closing */
	struct event *kick;   /* work for the next pass of the loop */
	struct event *linger; /* the raw descriptor, while lingering */
	size_t lingered;      /* bytes thrown away */
	const struct conn_handler *handler;
	void *arg;
	size_t frame_max;
	unsigned deadline_ms, idle_ms;
	int64_t last_read_ns;
	void (*drain)(struct conn *c, void *arg);
	size_t drain_low;
	struct err *why;   /* CONN_FAILED: for on_close */
	int linger_failed; /* the failure is our verdict: let the peer read what we said */
};

/* Ends the connection for a reason that on_close tells on the next pass. With linger the peer still
 * gets what is written (an alert). On a connection that we closed: just the end. */
void conn_fail(struct conn *c, const struct err *why, int linger);
void conn_kick(struct conn *c);
/* FLUSHING and nothing left to write. */
void conn_flushed(struct conn *c);

/* bufferevent callbacks, conn_io.c */
void conn_io_readable(struct bufferevent *bev, void *arg);
void conn_io_writable(struct bufferevent *bev, void *arg);
/* When a drain callback is due: calls it. */
void conn_io_drain(struct conn *c);

#endif
