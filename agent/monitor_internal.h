/* Inside of the monitor's files: its whole state. */
#ifndef AGENT_MONITOR_INTERNAL_H
#define AGENT_MONITOR_INTERNAL_H

#include "agent/children.h"
#include "agent/helper.h"
#include "agent/job.h"
#include "agent/link_proc.h"
#include "agent/monitor.h"
#include "agent/owner.h"
#include "agent/ring.h"
#include "agent/tasks.h"
#include "common/base/log.h"

#define MONITOR_PREVIEWS_MAX 2

struct preview {
	struct preview *next;
	struct monitor *m;
	struct msg order; /* MSG_PREVIEW */
	struct policy *policy;
	struct preview_task task;
	struct helper *helper;
	int answered;
};

struct monitor {
	struct host host;
	struct event_base *base;
	struct children *kids;
	struct ring *ring;
	struct link_proc *link;
	struct owner *owner;
	int lock_fd, manager; /* of the service; -1 */
	struct event *sigs[3]; /* SIGTERM, SIGINT, SIGHUP */
	struct event *later, *give_up;

	char *epoch; /* of the store behind the link; "" before the first hello */
	int connected;

	struct msg inventory; /* MSG_INVENTORY, MSG_NONE before the first */
	int64_t inventory_ns;
	struct helper *inspecting;
	struct policy *inspect_policy;
	struct host_task inspect_task;
	char policy_error[ERR_TEXT_MAX];  /* of the policy that was inspected with; "": none */
	char inspect_error[ERR_TEXT_MAX]; /* of the last inspection; "": it went well */
	struct event *inspect_again;      /* while there is no inventory, or no ZFS that answers */
	unsigned zfs_wait_s;              /* between those looks; 0: ZFS answers or is not installed */

	struct helper *cleaning;
	struct host_task clean_task;
	int clean; /* no journal is left over */
	unsigned clean_backoff_s;
	struct event *clean_again;
	char clean_error[ERR_TEXT_MAX]; /* logged already */

	struct log_limit refused, no_order; /* a link could fill the log with these */

	struct job *job;
	int job_over; /* to be freed on the next pass of the loop */
	struct preview *previews;

	int stopped; /* by the owner */
	int exiting; /* signals seen */
	int status_due;
	struct msg told; /* the last status: key, state, note */
};

/* ---- monitor.c ---- */
/* Gives the link what it can take; the status follows when all records are on their way. */
void monitor_pump(struct monitor *m);
void monitor_status_changed(struct monitor *m);
/* Idle and clean, nobody stopped it: a job may come. ERR_BUSY says why not. */
int monitor_is_free(const struct monitor *m, struct err *e);
/* The host's policy as it is now. */
int monitor_policy(const struct monitor *m, struct policy **ret, struct err *e);
void monitor_inspect(struct monitor *m);
void monitor_job_ended(struct monitor *m, int dirty);

/* ---- monitor_orders.c: what comes through the link ---- */
void monitor_order(struct monitor *m, struct msg *order);
void monitor_previews_free(struct monitor *m);

/* ---- monitor_clean.c: what earlier jobs left ---- */
void monitor_clean(struct monitor *m);

#endif
