/* Inside of agent/link: what the two sides of the link process share. */
#ifndef AGENT_LINK_LINK_INTERNAL_H
#define AGENT_LINK_LINK_INTERNAL_H

#include <event2/event.h>

#include "agent/link/spool.h"
#include "proto/conn.h"
#include "proto/window.h"

struct pending; /* a batch that the spool had no room for */

struct link {
	struct event_base *base;
	struct conn *monitor;
	struct msg setup;     /* MSG_LINK_SETUP, MSG_NONE before */
	struct spool *spool;  /* NULL while it can't be opened */
	struct pending *first_pending, *last_pending;
	struct event *retry;  /* of the spool */
	char spool_error[ERR_TEXT_MAX]; /* logged already; "" : fine */
	int answer_missed; /* the spool could not take an answer: all is to be sent again once it can */

	SSL_CTX *ctx;
	struct conn *server;  /* NULL: not connected */
	int accepted;         /* the hello was answered */
	struct window window;
	unsigned backoff_ms, heartbeat_ms;
	struct event *reconnect, *heartbeat;
	char server_error[ERR_TEXT_MAX]; /* logged already; "" : connected */

	struct msg inventory, status; /* the latest from the monitor; MSG_NONE: none yet */
	uint32_t told_unsent; /* in the last status that was sent */
	int64_t tidied_ns;    /* when the spool was tidied */
};

/* ---- the coordinator's side: server.c ---- */
void server_connect(struct link *l);
void server_forward(struct link *l, const struct msg *m);
/* The latest status, with what is unsent now. */
void server_send_status(struct link *l);
/* The coordinator is to answer again to what it was sent: on a new connection. */
void server_ask_again(struct link *l);
/* Sends what the spool holds, as far as the window allows. */
void server_pump(struct link *l);
void server_close(struct link *l);

/* ---- the spool's side: link.c ---- */
uint32_t link_unsent(const struct link *l);
void link_spool_failed(struct link *l, const struct err *why);
void link_tell_state(struct link *l, const char *error);

#endif
