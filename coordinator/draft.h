/*
 * A run before it is filed: the plan checked against the fleet. The same for `plan check`, the
 * preview and the run itself, so that they can't disagree.
 */
#ifndef COORDINATOR_DRAFT_H
#define COORDINATOR_DRAFT_H

#include <jansson.h>

#include "common/plan/bind.h"
#include "common/plan/estimate.h"
#include "common/plan/plan.h"
#include "coordinator/fleet.h"
#include "proto/msg.h"

struct draft_host {
	struct host *host;
	struct strv lacks; /* why the plan can't run there */
	struct bindings disks;
	struct bound_disks *bound; /* the same for messages; ids borrowed from disks */
};
struct draft {
	struct plan *plan;   /* NULL when the text has errors */
	struct strv errors;  /* of the text and of the selection of hosts */
	struct draft_host *hosts;
	size_t n_hosts;
	uint32_t blocks, units; /* per job */
	uint64_t seed;
	struct plan_estimate estimate;
	int has_estimate;
};

/* Fills everything it can; ret is to be cleared in any case. 0 when it can run, else -1 and e with
 * the first reason and how many more there are. */
int draft_make(struct coordinator *co, const struct msg_call *in, struct draft *ret, struct err *e);
void draft_clear(struct draft *d);
json_t *draft_estimate_json(const struct draft *d); /* ESTIMATE of calls.h, or null */
json_t *draft_strings(const struct strv *s);

#endif
