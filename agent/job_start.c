/*
 * Taking a job on and letting it go: every check that can be made before anything is touched, and
 * its first record. Invariant: a job that was refused left no trace.
 */
#include "agent/job_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/policy/policy_check.h"
#include "agent/tasks.h"
#include "agent/workload/workload.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/bind.h"

#define OWN_DISKS_MAX 256 /* that the host uses itself, in a job's environment */
#define INSPECT_MS (3 * 60 * 1000)
#define INPUTS_MS (5 * 60 * 1000)

/* A second journal in the name of the one that speaks of what was kept would take its place. */
static int check_key(const struct job *j, struct err *e)
{
	char *kept = job_journal_path(j, "kept");
	int there = access(kept, F_OK) == 0;

	free(kept);
	return there ? err_set(e, ERR_EXISTS,
			       "attempt %" PRIu32 " of run %" PRIu64 " was here, and what it built was "
			       "kept: `arraymark-agent stop` takes it down",
			       job_key(j)->attempt, job_key(j)->run)
		     : 0;
}

static int check_units(const struct job *j, struct err *e)
{
	const struct msg_job_offer *o = &j->offer.u.job_offer;

	if (o->n_units == 0)
		return err_set(e, ERR_INPUT, "the offer names no block to run");
	for (size_t i = 0; i < o->n_units; i++)
		if (o->units[i].layout >= j->plan->n_layouts || o->units[i].block < 1)
			return err_set(e, ERR_INPUT,
				"the offer names layout %u of block %u; the plan has %zu layouts",
				o->units[i].layout, o->units[i].block, j->plan->n_layouts);
	for (size_t i = 0; i < o->n_disks; i++)
		if (o->disks[i].layout >= j->plan->n_layouts)
			return err_set(e, ERR_INPUT,
				"the offer binds disks to layout %u; the plan "
				"has %zu",
				o->disks[i].layout, j->plan->n_layouts);
	return 0;
}

static int check_policy(const struct job *j, const struct policy *policy, struct err *e)
{
	const struct msg_job_offer *o = &j->offer.u.job_offer;
	const struct policy_request r = {.plan = j->plan,
		.disks = o->disks,
		.n_disks = o->n_disks,
		.inv = j->inv,
		.state_dir = j->env.host->state,
		.policy_path = j->env.host->opt->config,
		.now = time(NULL),
		.deadline_ns = task_deadline_ns(o)};

	return policy_check_job(policy, &r, e);
}

static int check_host(const struct job *j, struct err *e)
{
	struct strv errs = {0};
	int64_t bytes;

	if (plan_check_host(j->plan, j->inv, &errs)) {
		err_set(e, ERR_INPUT, "%s",
			errs.n ? errs.v[0] : "this host lacks what the plan asks for");
		strv_free(&errs);
		return -1;
	}
	strv_free(&errs);
	return plan_needed_bytes(j->plan, j->inv->ram_bytes, &bytes, e);
}

static int parse_plan(struct job *j, struct err *e)
{
	const struct msg_job_offer *o = &j->offer.u.job_offer;
	struct yaml_errors errs = {0};
	int status = plan_parse(
		"plan", o->plan_text, strlen(o->plan_text), &o->sets, &j->plan, &errs, e);

	yaml_errors_free(&errs);
	return status;
}

int job_new(const struct job_env *env, struct msg *offer, struct policy *policy,
	const struct inventory *inv, const char *epoch, struct job **ret, struct err *e)
{
	struct job *j = xcalloc(1, sizeof(*j));

	j->env = *env;
	j->offer = *offer;
	j->inv = inv;
	j->name = xasprintf("run %" PRIu64, job_key(j)->run);
	if (check_key(j, e) || parse_plan(j, e) || check_units(j, e) || check_policy(j, policy, e) ||
		check_host(j, e) || job_events_init(j, e)) {
		memset(&j->offer, 0, sizeof(j->offer));
		job_free(j);
		return -1;
	}
	memset(offer, 0, sizeof(*offer));
	j->policy = policy;
	j->built = xcalloc(j->plan->n_layouts, sizeof(*j->built));
	j->contents = xcalloc(
		j->plan->n_layouts * j->plan->n_workloads, j->plan->repeat * sizeof(*j->contents));
	ring_begin(env->ring, epoch, job_key(j));
	*ret = j;
	return 0;
}

static int is_used(const struct job *j, const struct inv_disk *d)
{
	const struct msg_job_offer *o = &j->offer.u.job_offer;
	char id[512];

	if (scan_reads_host(j->plan))
		return 1;
	if (!inv_disk_id(d, id, sizeof(id)))
		return 0;
	for (size_t i = 0; i < o->n_disks; i++)
		if (strv_has(&o->disks[i].ids, id))
			return 1;
	return 0;
}

/* Scratch files and existing directories lie on disks that the host uses already: which of them is not
 * asked here, since looking at a path may hang. */
static int uses_hosts_own(const struct job *j)
{
	for (size_t i = 0; i < j->plan->n_layouts; i++)
		if (j->plan->layouts[i].existing || j->plan->layouts[i].scratch.disks)
			return 1;
	return 0;
}

static void record_start(struct job *j)
{
	struct record r = {.type = RECORD_ATTEMPT_START};
	struct inventory env = *j->inv;
	unsigned own = uses_hosts_own(j) ? OWN_DISKS_MAX : 0;

	env.disks = xcalloc(env.n_disks ? env.n_disks : 1, sizeof(*env.disks));
	env.n_disks = 0;
	for (size_t i = 0; i < j->inv->n_disks; i++) {
		const struct inv_disk *d = &j->inv->disks[i];

		if (is_used(j, d) || (own && d->in_use && own--))
			env.disks[env.n_disks++] = *d;
	}
	env.pools = NULL;
	env.n_pools = 0;
	r.u.attempt_start.agent_version = (char *)ARRAYMARK_VERSION;
	r.u.attempt_start.environment = env;
	r.u.attempt_start.job_tag = j->offer.u.job_offer.job_tag;
	job_record(j, &r);
	free(env.disks);
}

static int stands_on_disks(const struct job *j)
{
	return j->offer.u.job_offer.n_disks > 0 || scan_reads_host(j->plan);
}

void job_start(struct job *j)
{
	int64_t ns = policy_job_limit(j->policy, task_deadline_ns(&j->offer.u.job_offer));

	log_info(j->name, "job %" PRIu64 " attempt %" PRIu32 " of plan '%s': %zu units",
		job_key(j)->job, job_key(j)->attempt, j->plan->name, j->offer.u.job_offer.n_units);
	record_start(j);
	if (ns > 0) {
		struct timeval tv = {.tv_sec = (time_t)(ns / NS_PER_S)};

		evtimer_add(j->deadline, &tv);
	}
	if (!stands_on_disks(j)) {
		job_begin(j);
		return;
	}
	job_move(j, JOB_INSPECT);
	j->inspect = (struct host_task){.host = j->env.host, .policy = j->policy};
	job_help(j, "reading the host", task_inspect, &j->inspect, INSPECT_MS);
}

static int looks_at_host(const struct plan *p)
{
	for (size_t i = 0; i < p->n_workloads; i++)
		if (workload_looks_at_host(&p->workloads[i]))
			return 1;
	return 0;
}

int job_look_ahead(struct job *j)
{
	if (j->phase < JOB_BEFORE && j->policy->hook_before) {
		job_move(j, JOB_BEFORE);
		j->hook.program = j->policy->hook_before;
		job_help(j, "the owner's hook 'before'", task_hook, &j->hook, JOB_HOOK_MS);
		return 1;
	}
	if (j->phase == JOB_INPUTS || j->stopping || !looks_at_host(j->plan))
		return 0;
	job_move(j, JOB_INPUTS);
	job_help(j, "the look at the workloads' programs and input", task_inputs, &j->task, INPUTS_MS);
	return 1;
}

void job_free(struct job *j)
{
	if (!j)
		return;
	helper_free(j->helper);
	worker_free(j->worker);
	trial_clear(&j->trial);
	for (size_t i = 0; j->built && i < j->plan->n_layouts; i++)
		volume_clear(&j->built[i]);
	free(j->built);
	free(j->contents);
	json_decref(j->hung_tools);
	if (j->kick)
		event_free(j->kick);
	if (j->cut)
		event_free(j->cut);
	if (j->deadline)
		event_free(j->deadline);
	if (j->watch)
		event_free(j->watch);
	msg_clear(&j->offer);
	msg_clear(&j->fresh);
	plan_free(j->plan);
	policy_free(j->policy);
	free(j->name);
	free(j);
}
