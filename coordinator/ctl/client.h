/*
 * A control client's session with a coordinator: connect, hello, calls.
 *
 * Blocking for the caller: each function runs the client's own event loop until it is done.
 * Signals and a tick can be watched meanwhile; their callbacks run inside those functions and may
 * call client_send and client_stop only. The session answers heartbeats, and a coordinator that is
 * silent for three of them counts as lost.
 */
#ifndef COORDINATOR_CTL_CLIENT_H
#define COORDINATOR_CTL_CLIENT_H

#include "common/base/json.h"
#include "coordinator/ctl/target.h"
#include "proto/msg.h"

struct client;

/* One line of an answer, without its newline. Not 0: the call is given up and fails with e. */
typedef int (*client_line)(void *arg, const char *line, size_t len, struct err *e);
typedef void (*client_done)(void *arg, const struct err *why); /* why NULL: the answer is whole */

/* Takes the target over, also on failure. Does not connect. */
int client_new(struct target *t, struct client **ret, struct err *e);
void client_free(struct client *c);

/* Connects and says hello, when that is not done. Every failure to get or keep a connection has
 * ERR_CONN; ERR_DENIED and ERR_PROTOCOL (versions) stay. */
int client_connect(struct client *c, struct err *e);
/* One call to its end; connects first where needed. ERR_CANCELLED after client_stop. */
int client_call(
	struct client *c, const struct msg_call *call, client_line line, void *arg, struct err *e);
/* A call that takes lines in (calls.h): text is whole lines, sent as the connection takes them. */
int client_upload(struct client *c, const struct msg_call *call, const char *text, size_t len,
	client_line line, void *arg, struct err *e);
/* Starts a call beside the present one; done runs later. Without a connection: at once, ERR_CONN.
 */
void client_send(struct client *c, const struct msg_call *call, client_line line, client_done done,
	void *arg);
/* Lets time pass; returns early after client_stop. */
void client_wait(struct client *c, unsigned ms);
/* Ends the present client_call or client_wait, and each one to come. */
void client_stop(struct client *c);
int client_is_stopped(const struct client *c);

/* fn runs on SIGINT, SIGTERM and SIGHUP instead of their default action; NULL puts that back. */
void client_on_signal(struct client *c, void (*fn)(void *arg, int signo), void *arg);
/* fn runs when the coordinator tells that it stores nothing now (trouble: why), and when that is over
 * (NULL); each once. fn NULL: nobody is told. Returns what was there, to be put back. */
struct client_trouble {
	void (*fn)(void *arg, const char *trouble);
	void *arg;
};
struct client_trouble client_on_trouble(struct client *c, struct client_trouble h);
/* fn runs every ms milliseconds; NULL ends that. */
void client_on_tick(struct client *c, unsigned ms, void (*fn)(void *arg), void *arg);

const char *client_target_name(const struct client *c);

/* Answers as JSON: all lines as an array; the first line alone (ERR_PROTOCOL when there is none).
 * The caller owns the result. */
int client_collect(struct client *c, const struct msg_call *call, json_t **ret, struct err *e);
int client_one(struct client *c, const struct msg_call *call, json_t **ret, struct err *e);
/* A line of an answer -> an object; ERR_PROTOCOL when it is none. */
int client_parse_line(const char *line, size_t len, json_t **ret, struct err *e);

#endif
