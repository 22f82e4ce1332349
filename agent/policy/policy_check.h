/*
 * Enforcing a host's policy: may this be done here? Every refusal is ERR_DENIED and names the line
 * of the policy that forbids it, or that is missing.
 */
#ifndef AGENT_POLICY_POLICY_CHECK_H
#define AGENT_POLICY_POLICY_CHECK_H

#include <time.h>

#include "common/base/err.h"
#include "common/measure/inventory.h"
#include "common/plan/plan.h"
#include "common/plan/policy.h"
#include "proto/msg.h"

/* What is asked of the host. */
struct policy_request {
	const struct plan *plan;
	const struct bound_disks *disks; /* all layouts' */
	size_t n_disks;
	const struct inventory *inv; /* where the bound ids are looked up; may be NULL without disks */
	const char *state_dir;   /* approvals are files STATE/approved/<sha256 of the plan> */
	const char *policy_path; /* for messages */
	time_t now;              /* 0: whenever the policy's hours are */
	int64_t deadline_ns;     /* the job's own, from now; 0: none */
};
/* The whole job, before anything is touched. Pure but for the approval's file; touches no volume
 * and no disk. A plan that uses a disk twice in different roles is not its concern. */
int policy_check_job(const struct policy *p, const struct policy_request *r, struct err *e);

/* hours: 0 when jobs may run at that time, else ERR_DENIED; `ret_until` (may be NULL) gets when the
 * hours end, or 0 when they never do. Local time. */
int policy_check_hours(const struct policy *p, time_t now, time_t *ret_until, struct err *e);
/* Nanoseconds that a job may take: the lesser of its own deadline and limits.job; 0: no limit. */
int64_t policy_job_limit(const struct policy *p, int64_t deadline_ns);
/* The list names the disk by its serial or by its WWN. */
int policy_allows(const struct strv *list, const struct inv_disk *d);
/* The disk is named by allow.disks; with wipe also by allow.wipe. */
int policy_check_disk(const struct policy *p, const struct inv_disk *d, int wipe, struct err *e);
/* An existing directory may be written to: it lies, symlinks resolved, in one of allow.directories
 * whose place, for root's agents, only root can change. Touches the file system, so it runs in a helper
 * child. ret_path (caller frees): the resolved path. */
int policy_check_directory(const struct policy *p, const char *dir, char **ret_path,
	int *ret_remount, struct err *e);

/* A file that a workload reads, a program that it runs: named by allow.inputs, allow.programs (globs,
 * in which `*` stops at '/'). By the path's text: the worker opens it with its own, low rights. */
int policy_check_input(const struct policy *p, const char *path, struct err *e);
int policy_check_program(const struct policy *p, const char *path, struct err *e);

/* STATE/approved/<sha256> is there, and owned as the policy is. */
int policy_is_approved(const char *state_dir, const char *sha256);
/* Makes it. ERR_INPUT when it is not a SHA-256. */
int policy_approve(const char *state_dir, const char *sha256, struct err *e);

#endif
