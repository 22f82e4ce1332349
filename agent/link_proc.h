/*
 * The link process, seen from the monitor: started, restarted when it dies, spoken to.
 */
#ifndef AGENT_LINK_PROC_H
#define AGENT_LINK_PROC_H

#include <event2/event.h>

#include "agent/children.h"
#include "agent/host.h"
#include "proto/msg.h"

struct link_proc;

struct link_handler {
	/* A new link: it knows nothing. What it must have is sent from here. */
	void (*on_start)(void *owner);
	/* What it says is checked like any stranger's word. */
	void (*on_msg)(void *owner, struct msg *m);
	void (*on_lost)(void *owner);
	void *owner;
};
/* Makes the spool's folder and starts the link. coordinator: HOST:PORT. */
int link_proc_start(struct event_base *base, struct children *kids, const struct host *host,
	const char *coordinator, const struct link_handler *handler, struct link_proc **ret,
	struct err *e);
/* Dropped when there is no link at the moment. */
void link_proc_send(struct link_proc *p, const struct msg *m);
/* Kills it; no callback. NULL is fine. */
void link_proc_free(struct link_proc *p);

#endif
