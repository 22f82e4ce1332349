/* Filing a plan and following its run: what `run`, `resume` and `local` share. */
#ifndef COORDINATOR_CTL_RUNNER_H
#define COORDINATOR_CTL_RUNNER_H

#include "coordinator/ctl/connect.h"
#include "coordinator/ctl/planfile.h"

/* On the private coordinator: ends what an earlier process left, starts the agent and waits until
 * it is there. Nothing elsewhere. policy: as in private.h. */
int runner_prepare(struct ctl *ctl, struct connection *conn, const char *policy, struct err *e);
/* The same and, since it has but one host, that one in the place of the plan's; NULL policy. For
 * what asks about a plan without filing it. An agent that another `local` runs will do. */
int runner_prepare_plan(
	struct ctl *ctl, struct connection *conn, struct planfile *f, struct err *e);
/* Files the plan and notes what was filed. *ret: the answer of RUN_CREATE. On the private
 * coordinator this machine takes the place of the plan's hosts. */
int runner_file(
	struct ctl *ctl, struct connection *conn, struct planfile *f, json_t **ret, struct err *e);
/* Follows the run to its end, then prints how it ended on stdout, with the report on the private
 * coordinator; --json: one document. A signal leaves the run alone, or cancels it: if `attached`,
 * and on the private coordinator. filed: what RUN_CREATE or RESUME answered. Returns the exit status. */
int runner_follow(struct ctl *ctl, struct connection *conn, const json_t *filed, int attached,
	struct err *e);
/* How to go on with a run, with the -c that is needed for it. */
void runner_note_detached(struct ctl *ctl, uint64_t run);

#endif
