/*
 * Sessions: one per connection, from the accepted socket to its end.
 *
 * A session begins in HANDSHAKE, learns who its peer is from the certificate (HELLO or, on the
 * enrolment ALPN, ENROL), and becomes an agent's or a control client's when the hello fits. What a
 * peer may send in which state is one table in sessions.c; anything else closes the connection.
 * A closed session's memory stays until nobody holds a reference.
 */
#ifndef COORDINATOR_SESSIONS_H
#define COORDINATOR_SESSIONS_H

#include <event2/event.h>
#include <netinet/in.h>

#include "common/base/log.h"
#include "common/base/tls.h"
#include "coordinator/clock.h"
#include "coordinator/coordinator.h"
#include "proto/conn.h"

struct call;
struct host;

enum session_state {
	SESSION_HANDSHAKE,
	SESSION_ENROL,   /* waits for its one request, or for the answer */
	SESSION_HELLO,   /* certificate fine, waits for the hello */
	SESSION_AGENT,
	SESSION_CONTROL,
	SESSION_CLOSED,
	SESSION_STATE_COUNT
};

struct session {
	struct session *prev, *next; /* all, oldest first */
	struct coordinator *co;
	struct conn *conn;
	enum session_state state;
	int local;              /* unix socket: admin by peer credentials */
	struct tls_peer peer;
	struct in6_addr address; /* of TLS peers; v4 mapped */
	char *version;          /* the peer program's, from its hello */
	struct event *deadline; /* of handshake, hello and enrolment */
	struct event *ping;
	unsigned refs;
	/* agents */
	struct host *host;
	uint64_t credit;        /* payload bytes it may have under way */
	uint64_t outstanding;   /* that it has: received and not acknowledged */
	size_t batches;         /* how many batches that is */
	struct log_limit complaints; /* about what it sent, and its own */
	struct clock_offset clock;
	/* control clients */
	struct call *calls;
	unsigned n_calls;
	/* enrolment */
	int asked;
};

struct sessions *sessions_new(struct coordinator *co);
/* Closes all, then frees; no callback may be pending any more. */
void sessions_free(struct sessions *all);
void sessions_close_all(struct sessions *all, const struct err *why);

/* Take the descriptor over. */
void session_accept_tls(struct coordinator *co, int fd, const struct in6_addr *address);
void session_accept_local(struct coordinator *co, int fd);

/* Sends `why` (may be NULL) as an error without a request, then closes. Safe in any callback. */
void session_close(struct session *s, const struct err *why);
/* A reference keeps the memory past the end; check `state` before use. */
struct session *session_ref(struct session *s);
void session_unref(struct session *s);
/* Closes every session whose certificate is one of these serials or whose name is `name` (may be
 * NULL); returns how many. */
unsigned sessions_cut(struct coordinator *co, const struct strv *serials, const char *name,
	const struct err *why);
/* Revoked certificates, by serial in hex. */
void sessions_revoked_add(struct coordinator *co, const char *serial);
int sessions_is_revoked(const struct coordinator *co, const char *serial);
/* "agent knew" or "alice" or "127.0.0.1:4711": the subject of log lines. */
const char *session_name(const struct session *s, char *out, size_t len);
/* A message that makes no sense where it came: closes with ERR_PROTOCOL. */
void session_violation(struct session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
