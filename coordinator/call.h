/*
 * A call under way, for the files that answer them (calls_*.c). calls.h says what is answered.
 *
 * A call ends with exactly one of call_end or call_fail, after which it is gone. When its session
 * ends first, on_closed is called if set (it must give up what the call waits for and free it with
 * call_drop); without on_closed the call lives on until its callback ends it, silently.
 */
#ifndef COORDINATOR_CALL_H
#define COORDINATOR_CALL_H

#include <jansson.h>

#include "coordinator/sessions.h"
#include "proto/msg.h"

struct call {
	struct call *prev, *next; /* of the session */
	struct session *session;  /* NULL after its end */
	struct coordinator *co;
	uint64_t request;
	struct msg_call in;
	uint64_t chunks;          /* sent */
	struct buf out;           /* lines not sent yet */
	struct store_reading *reading;
	void (*go_on)(struct call *c); /* waits for the connection to drain; NULL: it does not */
	void *data;               /* the verb's own */
	/* Takes what the caller sends beside the call; NULL: nothing is taken. */
	void (*input)(struct call *c, const struct msg_chunk *chunk);
	uint64_t inputs;          /* chunks taken */
	void (*on_closed)(struct call *c);
};

/* A MSG_CALL: checks role and arguments and starts it. Takes fields of m. */
void call_open(struct session *s, struct msg *m);
void calls_closed(struct session *s);
/* A MSG_CHUNK of a control client: goes to its call. */
void call_input(struct session *s, const struct msg *m);

/* One line; takes it over. Sent when enough has gathered, or by call_flush. */
void call_line(struct call *c, json_t *line);
void call_text(struct call *c, const char *lines, size_t len);
void call_flush(struct call *c);
void call_end(struct call *c);
void call_fail(struct call *c, const struct err *e);
/* Frees without an answer. */
void call_drop(struct call *c);
/* 1 when so much waits for the peer that a long answer must pause: go_on is called once, when most of
 * it is sent. 0: go on now. */
int call_must_wait(struct call *c, void (*go_on)(struct call *c));
/* Bytes that wait for the peer; 0 when it is gone. */
size_t call_backlog(const struct call *c);
const char *call_user(const struct call *c);

/* Answers with a store query's lines; ends the call. */
void call_query(struct call *c, enum store_query q, const char *target);
/* Resolves a run (number, name, "last") that hosts execute through the store, then calls fn with its
 * id. When there is none, or it was imported, the call fails and fn is not called. */
void call_find_run(struct call *c, void (*fn)(struct call *c, uint64_t run));

struct call_verb_info {
	const char *name;
	enum tls_role role; /* the least */
	int local;          /* only on the local socket */
	void (*run)(struct call *c);
};
void call_plan_check(struct call *c);
void call_preview(struct call *c);
void call_run_create(struct call *c);
void call_runs(struct call *c);
void call_show(struct call *c);
void call_export(struct call *c);
void call_watch(struct call *c);
void call_cancel(struct call *c);
void call_resume(struct call *c);
void call_hosts(struct call *c);
void call_host_show(struct call *c);
void call_host_tag(struct call *c);
void call_host_pause(struct call *c);
void call_host_revoke(struct call *c);
void call_host_remove(struct call *c);
void call_token_create(struct call *c);
void call_token_list(struct call *c);
void call_token_revoke(struct call *c);
void call_backup(struct call *c);
void call_check(struct call *c);
void call_whoami(struct call *c);
void call_import(struct call *c);

/* A preview's answer, or its agent went away; from agents.c. */
void preview_answered(struct session *s, uint64_t request, struct msg_preview_reply *reply);
void preview_agent_gone(struct session *s);

#endif
