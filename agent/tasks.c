/*
 * The tasks of helper children. Owns nothing beyond one call.
 * Invariant: between two steps a task looks whether it is still heard, so that a cancelled or
 * orphaned helper never begins another step.
 */
#include "agent/tasks_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/policy/policy_check.h"
#include "agent/volume/inspect.h"
#include "agent/volume/scan_disks.h"
#include "agent/workload/workload.h"
#include "common/base/fs.h"
#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/proc.h"
#include "common/base/units.h"
#include "common/plan/workload.h"
#include "proto/record.h"

#define HOOK_MS (10 * 60 * 1000)
#define LOOK_MS 250       /* at the idle host, where the caches are emptied anyway */
#define LOOK_SHORT_MS 100 /* elsewhere */
#define JOURNAL_SPARE 64 /* entries nobody needs that a journal may hold: each helper reads it all */

/* A sink that asks before each step whether anybody still wants it. */
struct heard_sink {
	struct step_sink sink;
	struct step_sink *inner;
	struct helper_report *to;
	const struct job_key *key;
	struct unit unit;
};

static int run_if_heard(struct step_sink *sink, const struct step *s, struct buf *output,
	struct err *e)
{
	struct heard_sink *h = (struct heard_sink *)sink;

	if (!helper_is_heard(h->to))
		return err_set(e, ERR_CANCELLED, "stopped before: %s", s->what);
	return h->inner->run(h->inner, s, output, e);
}

static void report_step(void *arg, const struct step *s, int ok, int64_t elapsed_ns,
	const char *output)
{
	struct heard_sink *h = arg;
	struct msg m = {.type = MSG_RECORD_BATCH};
	struct record r = {.type = RECORD_STEP, .wall_ns = clock_wall_ns()};
	struct buf payload = {0};

	r.u.step = (struct record_step){.unit = h->unit, .phase = s->phase,
		.what = (char *)s->what, .argv = s->argv, .elapsed_ns = elapsed_ns, .ok = ok,
		.output = (char *)(output ? output : "")};
	record_encode(&r, &payload);
	m.u.batch = (struct msg_batch){.epoch = (char *)"", .key = *h->key, .first = 1, .last = 1,
		.payload = payload.data, .payload_len = payload.len};
	helper_send(h->to, &m);
	buf_free(&payload);
}

void task_fill_ctx(struct volume_ctx *ctx, const struct host *h)
{
	memset(ctx, 0, sizeof(*ctx));
	ctx->mount_root = h->mount_root;
	ctx->state_dir = h->state;
	ctx->worker_uid = h->work_user.uid;
	ctx->worker_gid = h->work_user.gid;
	ctx->self = h->self;
}

static void fill_job_ctx(struct volume_ctx *ctx, const struct job_task *t)
{
	task_fill_ctx(ctx, t->host);
	ctx->plan = t->plan;
	ctx->policy = t->policy;
	ctx->inv = t->inv;
	ctx->key = t->offer->key;
	ctx->unit = t->unit;
	ctx->job_tag = t->offer->job_tag;
	ctx->disks = t->offer->disks;
	ctx->n_disks = t->offer->n_disks;
	ctx->hung_tools = t->hung_tools;
}

/* Opens the journal and the sinks around fn. */
static int with_journal(struct helper_report *to, struct job_task *t,
	int (*fn)(struct volume_ctx *ctx, struct job_task *t, struct journal *j, json_t **ret,
		struct err *e),
	json_t **ret, struct err *e)
{
	struct heard_sink heard = {.sink.run = run_if_heard, .to = to, .key = &t->offer->key,
		.unit = t->unit};
	struct volume_ctx ctx;
	struct journal *j;
	int status;

	if (journal_open(t->host->state, &t->offer->key, &j, e))
		return -1;
	helper_share_lock(to);
	heard.inner = sink_real(j, t->unit, report_step, &heard);
	fill_job_ctx(&ctx, t);
	ctx.sink = &heard.sink;
	status = fn(&ctx, t, j, ret, e);
	if (!status)
		status = journal_shorten(j, JOURNAL_SPARE, e);
	sink_free(heard.inner);
	journal_close(j);
	return status;
}

/* A folder of the host that workloads write to, symlinks resolved: whoever may write beside it may have
 * put one there. What the policy names is no way to it then: workers open it without following any. */
static int check_folder(const struct volume_ctx *ctx, const char *path, struct err *e)
{
	int remount, status = 0;
	char *real;

	if (!ctx->policy)
		return err_set(e, ERR_DENIED, "without a policy no directory may be written to");
	if (policy_check_directory(ctx->policy, path, &real, &remount, e))
		return -1;
	if (strcmp(path, real))
		status = err_set(e, ERR_DENIED,
			"a symlink leads to the target %s: name the folder itself, %s, in the plan and in "
			"the policy's 'allow.directories'",
			path, real);
	free(real);
	return status;
}

static int check_folders(const struct volume_ctx *ctx, const struct plan *p, struct err *e)
{
	struct strv folders = {0};
	int status = 0;

	for (size_t i = 0; i < p->n_workloads; i++)
		workload_folders(&p->workloads[i], &folders);
	for (size_t i = 0; i < folders.n && !status; i++)
		status = check_folder(ctx, folders.v[i], e);
	strv_free(&folders);
	return status;
}

int64_t task_deadline_ns(const struct msg_job_offer *o)
{
	return o->deadline_s > INT64_MAX / NS_PER_S ? 0 : (int64_t)o->deadline_s * NS_PER_S;
}

/* What the policy's file says now: its owner may have taken something back since the job began. */
static int read_policy_again(const struct job_task *t, struct policy **ret, struct err *e)
{
	const struct policy_request r = {.plan = t->plan,
		.disks = t->offer->disks,
		.n_disks = t->offer->n_disks,
		.inv = t->inv,
		.state_dir = t->host->state,
		.policy_path = t->host->opt->config,
		.deadline_ns = task_deadline_ns(t->offer)};
	struct yaml_errors errs = {0};
	struct policy *now = NULL;
	int status = policy_load(t->host->opt->config, &now, &errs, e);

	if (!status)
		status = policy_check_job(now, &r, e);
	yaml_errors_free(&errs);
	if (status)
		policy_free(now);
	else
		*ret = now;
	return status;
}

static int build_allowed(struct volume_ctx *ctx, struct job_task *t, json_t **ret, struct err *e)
{
	struct volume v = {0};

	if (check_folders(ctx, t->plan, e) ||
		volume_build(ctx, &t->plan->layouts[t->unit.layout], &v, e))
		return -1;
	*ret = volume_to_json(&v);
	volume_clear(&v);
	return 0;
}

static int build(struct volume_ctx *ctx, struct job_task *t, struct journal *j, json_t **ret,
	struct err *e)
{
	struct policy *now;
	int status;

	(void)j;
	if (read_policy_again(t, &now, e))
		return -1;
	ctx->policy = now;
	status = build_allowed(ctx, t, ret, e);
	policy_free(now);
	return status;
}

int task_build(struct helper_report *to, void *job_task, json_t **ret, struct err *e)
{
	return with_journal(to, job_task, build, ret, e);
}

static json_t *json_texts(const struct strv *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->n; i++)
		json_array_append_new(list, json_text(v->v[i]));
	return list;
}

/* Where nothing is built, the disks that are read are the ones whose counters tell. */
static int open_disks(struct volume_ctx *ctx, struct job_task *t, struct strv *ret, struct err *e)
{
	if (!t->scan)
		return 0;
	if (scan_disks_send(ctx, t->volume, t->scan, t->disks_fd, ret, e))
		return -1;
	if (t->volume->kind == VOLUME_NONE) {
		strv_free(&t->volume->disks);
		for (size_t i = 0; i < ret->n; i++)
			if (!strchr(ret->v[i], ' ')) /* open */
				strv_add(&t->volume->disks, ret->v[i]);
	}
	return 0;
}

static int cache(struct volume_ctx *ctx, struct job_task *t, struct journal *j, json_t **ret,
	struct err *e)
{
	struct strv disks = {0};
	char *done = NULL;
	json_t *o;

	(void)j;
	if (volume_cache_state(ctx, t->volume, t->plan->cache, &done, e))
		return -1;
	if (check_folders(ctx, t->plan, e) || volume_check(ctx, t->volume, e) ||
		open_disks(ctx, t, &disks, e)) {
		free(done);
		return -1;
	}
	o = json_object();
	json_object_set_new(o, "scan_disks", json_texts(&disks));
	json_object_set_new(o, "volume", volume_to_json(t->volume));
	json_object_set_new(o, "done", json_text(done));
	json_object_set_new(o, "conditions",
		volume_conditions(ctx, t->volume, t->workload,
			str_starts(done, "cold") ? LOOK_MS : LOOK_SHORT_MS));
	strv_free(&disks);
	free(done);
	*ret = o;
	return 0;
}

int task_cache(struct helper_report *to, void *job_task, json_t **ret, struct err *e)
{
	return with_journal(to, job_task, cache, ret, e);
}

static int check(struct volume_ctx *ctx, struct job_task *t, struct journal *j, json_t **ret,
	struct err *e)
{
	(void)j;
	if (volume_check(ctx, t->volume, e))
		return -1;
	*ret = json_object();
	json_object_set_new(*ret, "conditions", volume_conditions(ctx, t->volume, NULL, 0));
	return 0;
}

int task_check(struct helper_report *to, void *job_task, json_t **ret, struct err *e)
{
	return with_journal(to, job_task, check, ret, e);
}

static char *journal_path(const char *state, const struct job_key *key)
{
	return xasprintf("%s/journal-%llu-%llu-%u.jsonl", state, (unsigned long long)key->run,
		(unsigned long long)key->job, key->attempt);
}

/* Moves the entries of one layout to the front, in their order; returns how many. */
static size_t keep_layout(struct journal_entry *v, size_t n, uint32_t layout)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct journal_entry swap = v[i];

		if (v[i].unit.layout != layout)
			continue;
		v[i] = v[kept];
		v[kept++] = swap;
	}
	return kept;
}

static int teardown(struct volume_ctx *ctx, struct job_task *t, struct journal *j, json_t **ret,
	struct err *e)
{
	char *path = journal_path(t->host->state, &t->offer->key);
	struct journal_entry *v = NULL;
	struct job_key key;
	size_t n = 0;
	uint64_t ticks;
	pid_t worker;
	int status;

	(void)ret;
	status = journal_read(path, &key, &v, &n, &worker, &ticks, e);
	if (!status) {
		status = volume_teardown(ctx, j, v,
			t->all_layouts ? n : keep_layout(v, n, t->unit.layout), e);
		journal_entries_free(v, n);
	}
	free(path);
	return status;
}

int task_teardown(struct helper_report *to, void *job_task, json_t **ret, struct err *e)
{
	return with_journal(to, job_task, teardown, ret, e);
}

int task_hook(struct helper_report *to, void *hook_task, json_t **ret, struct err *e)
{
	const struct hook_task *t = hook_task;
	struct strv argv = {0};
	int status;

	(void)to;
	(void)ret;
	if (fs_check_owned(t->program, e))
		return -1;
	strv_add(&argv, t->program);
	status = proc_run_ok(&argv, HOOK_MS, NULL, e);
	strv_free(&argv);
	return status;
}

int task_inspect(struct helper_report *to, void *host_task, json_t **ret, struct err *e)
{
	const struct host_task *t = host_task;
	struct msg m = {.type = MSG_INVENTORY};
	struct inventory *inv = &m.u.inventory;

	(void)ret;
	if (inspect_host(t->policy, inv, e))
		return -1;
	free(inv->host);
	inv->host = xstrdup(t->host->name);
	inv->privileged = t->host->privileged;
	inv->policy_error = xstrdup(t->policy_error);
	helper_send(to, &m);
	msg_clear(&m);
	return 0;
}

/* ---- what a dead agent left ---- */

static void log_step(void *arg, const struct step *s, int ok, int64_t elapsed_ns,
	const char *output)
{
	(void)arg;
	(void)elapsed_ns;
	if (ok)
		log_info("teardown", "%s", s->what);
	else
		log_warning("teardown", "%s failed: %s", s->what, output);
}

static int take_down(struct helper_report *to, const struct host_task *t, const char *path,
	struct err *e)
{
	struct heard_sink heard = {.sink.run = run_if_heard, .to = to};
	struct journal_entry *v = NULL;
	struct volume_ctx ctx;
	struct journal *j;
	uint64_t ticks;
	pid_t worker;
	size_t n = 0;
	int status;

	task_fill_ctx(&ctx, t->host);
	ctx.policy = t->policy;
	if (journal_read(path, &ctx.key, &v, &n, &worker, &ticks, e))
		return -1;
	if (n == 0) { /* it may not even have a header: its disk was full, and nothing was begun */
		journal_entries_free(v, n);
		return journal_remove(path, e);
	}
	status = journal_open(t->host->state, &ctx.key, &j, e);
	if (!status) {
		heard.inner = sink_real(j, (struct unit){0}, log_step, NULL);
		ctx.sink = &heard.sink;
		status = volume_teardown(&ctx, j, v, n, e);
		sink_free(heard.inner);
		journal_close(j);
	}
	journal_entries_free(v, n);
	return status ? -1 : journal_remove(path, e);
}

int task_leftovers(struct helper_report *to, void *host_task, json_t **ret, struct err *e)
{
	const struct host_task *t = host_task;
	struct strv paths = {0};
	int status = 0;

	(void)ret;
	helper_share_lock(to);
	if (journal_list(t->host->state, &paths, e))
		return -1;
	for (size_t i = paths.n; i-- > 0;)
		if (take_down(to, t, paths.v[i], e))
			status = -1;
	strv_free(&paths);
	return status;
}
