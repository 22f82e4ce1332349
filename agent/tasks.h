/*
 * What helper children do: everything that touches disks, mounts and programs. Each function runs in
 * a helper (see helper.h), sees the monitor's memory as it was at the fork, and reports with messages:
 * each step as a RECORD_BATCH with one step record, an inventory as INVENTORY, a preview as
 * PREVIEW_REPLY.
 */
#ifndef AGENT_TASKS_H
#define AGENT_TASKS_H

#include "agent/helper.h"
#include "agent/host.h"
#include "agent/volume/volume.h"

/* All of a job that a task may need. Borrowed. */
struct job_task {
	const struct host *host;
	const struct plan *plan;
	const struct policy *policy;
	const struct inventory *inv;
	const struct msg_job_offer *offer;
	struct unit unit;
	struct volume *volume;
	const struct workload *workload; /* task_cache: of the trial that follows; or NULL */
	const struct work_scan *scan; /* task_cache: opens its disks, too; or NULL */
	int disks_fd;                 /* and sends them through this socket */
	const json_t *hung_tools; /* of volume_conditions, so far */
	int all_layouts; /* task_teardown: not only what was built for unit.layout */
};
/* The offered job's own deadline, from its start; 0: none. */
int64_t task_deadline_ns(const struct msg_job_offer *o);
/* Before the first build: looks at the programs and the input of all workloads, as a dry run does, by the
 * workers' rights. An error names the workload. */
int task_inputs(struct helper_report *to, void *job_task, json_t **ret, struct err *e);
/* Result: volume_to_json. */
int task_build(struct helper_report *to, void *job_task, json_t **ret, struct err *e);
/* Makes the cache state, then checks the volume and looks at what could disturb the trial; opens the
 * disks of a scan. Result: {"volume", "done", "conditions", "scan_disks"}. */
int task_cache(struct helper_report *to, void *job_task, json_t **ret, struct err *e);
/* Checks the volume after a trial. Result: {"conditions"}. */
int task_check(struct helper_report *to, void *job_task, json_t **ret, struct err *e);
int task_teardown(struct helper_report *to, void *job_task, json_t **ret, struct err *e);

struct hook_task {
	const char *program;
};
int task_hook(struct helper_report *to, void *hook_task, json_t **ret, struct err *e);

struct host_task {
	const struct host *host;
	const struct policy *policy; /* may be NULL */
	const char *policy_error;    /* why it is; NULL: it is not asked for */
};
int task_inspect(struct helper_report *to, void *host_task, json_t **ret, struct err *e);
/* Takes down what all journals in STATE say, oldest last, and removes them. */
int task_leftovers(struct helper_report *to, void *host_task, json_t **ret, struct err *e);

struct preview_task {
	const struct host *host;
	const struct policy *policy;
	const struct inventory *inv;
	const struct msg_preview *preview;
};
int task_preview(struct helper_report *to, void *preview_task, json_t **ret, struct err *e);

#endif
