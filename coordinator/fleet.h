/*
 * The fleet: every host that was ever enrolled and not removed, with what its agent said last.
 * What has to survive a restart is in the store; the rest comes with each connection.
 */
#ifndef COORDINATOR_FLEET_H
#define COORDINATOR_FLEET_H

#include <jansson.h>

#include "common/measure/inventory.h"
#include "coordinator/coordinator.h"
#include "proto/msg.h"

struct session;
struct sched_host;

struct host {
	char *name;
	struct coordinator *co;
	struct strv tags;       /* given by operators; the agent's own are in the inventory */
	int paused;
	int64_t last_seen_ns;   /* wall; 0: never */
	char *version, *address; /* of the last connection; NULL: none since the start */
	struct inventory inv;
	int has_inventory;
	int inventory_current; /* of the present connection; else of an earlier one */
	struct buf stored;      /* the inventory as it went to the store last */
	int put_busy, put_again; /* at most one store_host_put under way */
	struct msg_agent_status status; /* of the present connection */
	int told;
	struct session *session; /* NULL: offline */
	struct sched_host *sched; /* owned by the scheduler */
};

int fleet_load(struct coordinator *co, struct fleet **ret, struct err *e);
void fleet_free(struct fleet *f);

struct host *fleet_find(const struct fleet *f, const char *name); /* or NULL */
/* The nearest known name for "did you mean", or NULL. */
const char *fleet_nearest(const struct fleet *f, const char *name);
/* By name, for iteration: *ret_n hosts. Valid until the fleet changes. */
struct host *const *fleet_hosts(const struct fleet *f, size_t *ret_n);
int host_has_tag(const struct host *h, const char *tag);

/* A new host after its enrolment (a known one is fine). */
void fleet_enrolled(struct coordinator *co, const char *name);
/* The agent's session begins; an older session of the host is closed. */
struct host *fleet_connected(struct coordinator *co, const char *name, struct session *s);
void fleet_disconnected(struct host *h);
/* Takes *inv over (zeroed). */
void fleet_inventory(struct host *h, struct inventory *inv);
/* Takes st->note over. */
void fleet_status(struct host *h, struct msg_agent_status *st);

void fleet_set_flags(struct host *h, const struct strv *tags, int paused, store_done done,
	void *arg);
/* Forgets the host (the caller has checked that no run needs it and revoked its certificates). */
void fleet_remove(struct host *h, store_done done, void *arg);

/* Selectors: names, "tag:…", "all". Fills ret (sorted, caller frees the array only). ERR_NOTFOUND
 * names the selector that matches nothing. */
int fleet_select(const struct fleet *f, const struct strv *selectors, struct host ***ret,
	size_t *ret_n, struct err *e);

/* HOST of calls.h; with_inventory adds "inventory". Caller json_decref()s. */
json_t *host_json(const struct host *h, int with_inventory);
/* "idle", "running", …, "offline", "new" */
const char *host_state_name(const struct host *h);

#endif
