/*
 * The tasks that look ahead and touch nothing: dry runs, and the look at the workloads' programs and
 * input before a job's first build. Owns nothing beyond one call.
 */
#include "agent/tasks_internal.h"

#include <stdlib.h>
#include <string.h>

#include "agent/policy/policy_check.h"
#include "agent/workload/workload.h"
#include "common/base/mem.h"
#include "common/plan/work_parallel.h"
#include "common/plan/workload.h"
#include "proto/record.h"

static void collect(void *arg, const struct step *s)
{
	struct msg_preview_reply *r = arg;
	struct preview_step *step;

	r->steps = xreallocarray(r->steps, r->n_steps + 1, sizeof(*r->steps));
	step = &r->steps[r->n_steps++];
	*step = (struct preview_step){.phase = s->phase, .what = xstrdup(s->what)};
	strv_copy(&step->argv, &s->argv);
}

/* One layout's workloads. */
struct workloads_preview {
	const struct spawn_user *user; /* that workers run as */
	const struct plan *plan;
	uint32_t layout;
	void (*tell)(void *arg, const struct workload *w, const char *what, const struct strv *argv);
	struct msg_preview_reply *reply; /* collect_program's */
};

static void collect_program(void *arg, const struct workload *w, const char *what,
	const struct strv *argv)
{
	struct workloads_preview *p = arg;
	const struct step s = {.phase = PHASE_WORKLOAD, .argv = *argv,
		.what = xasprintf("%s (%s): %s", w->name, workload_kind_name(w->kind), what)};

	collect(p->reply, &s);
	free(s.what);
}

/* An earlier workload runs a program of the host, which may write anywhere that the workers may. */
static int runs_command(const struct workload *w)
{
	if (w->kind == WORKLOAD_PARALLEL)
		for (size_t i = 0; i < w->parallel->n; i++)
			if (runs_command(&w->parallel->members[i]))
				return 1;
	return w->kind == WORKLOAD_COMMAND;
}

static int lies_within(const char *path, const struct strv *folders)
{
	for (size_t i = 0; i < folders->n; i++) {
		size_t len = strlen(folders->v[i]);

		if (!strncmp(path, folders->v[i], len) && (path[len] == '/' || !path[len]))
			return 1;
	}
	return 0;
}

/* The earlier workload that may make or change what workload i was found to lack; NULL: none. */
static const struct workload *mender(const struct plan *p, unsigned i, const struct err *why)
{
	const struct workload *found = NULL;
	struct strv inputs = {0}, programs = {0};

	workload_access(&p->workloads[i], &inputs, &programs);
	for (unsigned k = 0; k < i && !found; k++) {
		struct strv folders = {0};

		workload_folders(&p->workloads[k], &folders);
		if (why->code == ERR_NOTFOUND && runs_command(&p->workloads[k]))
			found = &p->workloads[k];
		for (size_t n = 0; n < inputs.n && !found; n++)
			if (lies_within(inputs.v[n], &folders))
				found = &p->workloads[k];
		strv_free(&folders);
	}
	strv_free(&inputs);
	strv_free(&programs);
	return found;
}

static int preview_one(const struct workload_order *o, struct err *e)
{
	static const struct strv none;
	const struct workload *by;
	char *what;

	if (workload_preview(o, e) == 0)
		return 0;
	by = mender(o->plan, o->spec->workload, e);
	if (!by)
		return err_prefix(e, "workload %s", o->w->name);
	what = xasprintf("not known before %s has run: now, %s", by->name, e->text);
	o->preview->tell(o->preview->arg, o->w, what, &none);
	free(what);
	return 0;
}

/* What the first trials start, by whatever of the host's files the workers may read. */
static int preview_workloads(const struct volume *v, void *arg, struct err *e)
{
	struct workloads_preview *p = arg;
	struct spawn_lent lent;
	struct workload_preview to = {.tell = p->tell, .arg = p};
	struct msg_worker_spec spec = {.directory = v->directory, .layout = p->layout, .block = 1,
		.repeat = 1, .syncfs_works = 1};
	int status = 0;

	if (spawn_lend(p->user, &lent, e))
		return -1;
	for (unsigned i = 0; i < p->plan->n_workloads && !status; i++) {
		const struct workload *w = &p->plan->workloads[i];
		const struct workload_order order = {
			.spec = &spec, .plan = p->plan, .w = w, .preview = &to};

		spec.workload = i;
		spec.kind = (char *)workload_kind_name(w->kind);
		status = preview_one(&order, e);
	}
	strv_free(&to.made);
	spawn_take_back(&lent);
	return status;
}

/* As an offer would be asked, at whatever hour the policy lets jobs run. */
static int ask_policy(const struct preview_task *t, const struct plan *p, struct err *e)
{
	const struct policy_request r = {.plan = p,
		.disks = t->preview->disks,
		.n_disks = t->preview->n_disks,
		.inv = t->inv,
		.state_dir = t->host->state,
		.policy_path = t->host->opt->config,
		.deadline_ns = p->deadline_ns};

	return policy_check_job(t->policy, &r, e);
}

static int preview_all(const struct preview_task *t, const struct plan *p,
	struct msg_preview_reply *r, struct err *e)
{
	struct step_sink *sink = sink_preview(collect, r);
	struct volume_ctx ctx;
	int status = 0;

	task_fill_ctx(&ctx, t->host);
	ctx.sink = sink;
	ctx.plan = p;
	ctx.policy = t->policy;
	ctx.inv = t->inv;
	ctx.job_tag = "";
	ctx.disks = t->preview->disks;
	ctx.n_disks = t->preview->n_disks;
	for (size_t i = 0; i < p->n_layouts && !status; i++) {
		struct workloads_preview work = {.user = &t->host->work_user, .plan = p,
			.layout = (uint32_t)i, .tell = collect_program, .reply = r};
		size_t from = r->n_steps;

		ctx.unit = (struct unit){.block = 1, .layout = (uint32_t)i};
		status = volume_preview(&ctx, &p->layouts[i], preview_workloads, &work, e);
		for (; from < r->n_steps; from++)
			r->steps[from].layout = (uint32_t)i;
	}
	sink_free(sink);
	return status;
}

int task_preview(struct helper_report *to, void *preview_task, json_t **ret, struct err *e)
{
	const struct preview_task *t = preview_task;
	struct msg m = {.type = MSG_PREVIEW_REPLY};
	struct yaml_errors errs = {0};
	struct buf size = {0};
	struct plan *p = NULL;
	int status;

	(void)ret;
	status = plan_parse("plan", t->preview->plan_text, strlen(t->preview->plan_text),
		&t->preview->sets, &p, &errs, e);
	if (!status)
		status = ask_policy(t, p, e);
	if (!status)
		status = preview_all(t, p, &m.u.preview_reply, e);
	if (!status)
		status = msg_encode(&m, &size, e);
	if (!status)
		helper_send(to, &m);
	buf_free(&size);
	msg_clear(&m);
	plan_free(p);
	yaml_errors_free(&errs);
	return status;
}

/* ---- before the first build ---- */

static void tell_nobody(void *arg, const struct workload *w, const char *what, const struct strv *argv)
{
	(void)arg;
	(void)w;
	(void)what;
	(void)argv;
}

/* No engine's look depends on the layout, nor on where the volume will be. */
int task_inputs(struct helper_report *to, void *job_task, json_t **ret, struct err *e)
{
	const struct job_task *t = job_task;
	struct workloads_preview p = {
		.user = &t->host->work_user, .plan = t->plan, .tell = tell_nobody};
	struct volume v = {.directory = xasprintf("%s/volume", t->host->mount_root)};
	int status = preview_workloads(&v, &p, e);

	(void)to;
	(void)ret;
	free(v.directory);
	return status;
}
