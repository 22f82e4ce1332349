/*
 * The owner's socket, STATE/agent.sock: the machine's owner has the last word, with or without a
 * coordinator. Only root and the agent's own user are heard. A client sends AGENT_STATUS with the
 * state it wants (AGENT_STOPPED, or AGENT_IDLE to undo that) and gets AGENT_STATUS at each change.
 */
#ifndef AGENT_OWNER_H
#define AGENT_OWNER_H

#include <event2/event.h>

#include "proto/conn.h"

struct owner;

int owner_open(struct event_base *base, const char *state,
	void (*wants)(void *arg, enum agent_state state), void *arg, struct owner **ret,
	struct err *e);
void owner_close(struct owner *o);
/* To all clients. */
void owner_tell(struct owner *o, const struct msg *status);
/* The client's side: a connected descriptor; ERR_NOTFOUND when no agent runs there. */
int owner_connect(const char *state, int *ret_fd, struct err *e);

#endif
