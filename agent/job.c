/*
 * The job's state machine over its units; one trial is in job_trial.c.
 * Owns offer, plan, policy, helper and worker of the job. Invariants: job_move is the only place
 * that changes the phase; a UNIT_START is followed by exactly one UNIT_END; on_end comes once, after
 * ATTEMPT_END, and everything that was built is down by then, or `dirty` says so.
 */
#include "agent/job_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/order.h"

#define BUILD_MS (2 * 60 * 60 * 1000)
#define TEARDOWN_MS (30 * 60 * 1000)
#define STOP_GRACE_MS 15000

#define BIT(p) (1u << (p))
#define TRIAL (BIT(JOB_REHEARSE) | BIT(JOB_CACHE))
#define NEXT_UNIT (BIT(JOB_AWAIT_UNIT) | BIT(JOB_BUILD) | TRIAL | BIT(JOB_CLEAR))
#define UNIT_OVER (BIT(JOB_TEARDOWN) | NEXT_UNIT)

static const struct {
	const char *name;
	unsigned next;
} phases[JOB_PHASE_COUNT] = {
	[JOB_NEW] = {"new", BIT(JOB_INSPECT) | BIT(JOB_BEFORE) | BIT(JOB_INPUTS) | NEXT_UNIT},
	[JOB_INSPECT] = {"inspect", BIT(JOB_BEFORE) | BIT(JOB_INPUTS) | NEXT_UNIT},
	[JOB_BEFORE] = {"before", BIT(JOB_INPUTS) | NEXT_UNIT},
	[JOB_INPUTS] = {"inputs", NEXT_UNIT},
	[JOB_AWAIT_UNIT] = {"await-unit", BIT(JOB_BUILD) | TRIAL | BIT(JOB_CLEAR)},
	[JOB_BUILD] = {"build", UNIT_OVER},
	[JOB_REHEARSE] = {"rehearse", UNIT_OVER},
	[JOB_CACHE] = {"cache", BIT(JOB_PREPARE) | UNIT_OVER},
	[JOB_PREPARE] = {"prepare",
		BIT(JOB_AWAIT_TRIAL) | BIT(JOB_RUN) | BIT(JOB_ENDING) | UNIT_OVER},
	[JOB_AWAIT_TRIAL] = {"await-trial", BIT(JOB_RUN) | BIT(JOB_ENDING)},
	[JOB_RUN] = {"run", BIT(JOB_ENDING)},
	[JOB_ENDING] = {"ending", BIT(JOB_CHECK) | UNIT_OVER},
	[JOB_CHECK] = {"check", UNIT_OVER},
	[JOB_TEARDOWN] = {"teardown", NEXT_UNIT},
	[JOB_CLEAR] = {"clear", BIT(JOB_AFTER) | BIT(JOB_ENDED)},
	[JOB_AFTER] = {"after", BIT(JOB_ENDED)},
	[JOB_ENDED] = {"ended", 0},
};

const char *job_phase_name(enum job_phase p)
{
	return phases[p].name;
}

int job_phase_may_follow(enum job_phase from, enum job_phase to)
{
	return (phases[from].next & BIT(to)) != 0;
}

void job_move(struct job *j, enum job_phase to)
{
	assert(job_phase_may_follow(j->phase, to));
	log_debug(j->name, "%s -> %s", phases[j->phase].name, phases[to].name);
	j->phase = to;
}

const struct job_key *job_key(const struct job *j)
{
	return &j->offer.u.job_offer.key;
}

const struct unit *job_unit(const struct job *j)
{
	return &j->offer.u.job_offer.units[j->unit_index];
}

const struct layout *job_layout(const struct job *j)
{
	return &j->plan->layouts[job_unit(j)->layout];
}

struct volume *job_volume(struct job *j)
{
	return &j->built[job_unit(j)->layout];
}

void job_record(struct job *j, struct record *r)
{
	r->wall_ns = clock_wall_ns();
	ring_add(j->env.ring, r);
	if (!ring_has_open(j->env.ring))
		j->env.on_records(j->env.owner);
}

static void on_cut(evutil_socket_t fd, short what, void *arg)
{
	struct job *j = arg;

	(void)fd;
	(void)what;
	ring_cut(j->env.ring);
	j->env.on_records(j->env.owner);
}

/* ---- helpers ---- */

static void on_helper_msg(void *owner, struct msg *m)
{
	struct job *j = owner;
	struct records r;
	struct err e;

	if (m->type == MSG_INVENTORY && j->phase == JOB_INSPECT) {
		j->fresh = *m;
		memset(m, 0, sizeof(*m));
		j->inv = &j->fresh.u.inventory;
		return;
	}
	if (m->type != MSG_RECORD_BATCH)
		return;
	if (records_decode(m->u.batch.payload, m->u.batch.payload_len, &r, &e)) {
		log_warning(j->name, "a step's report could not be read: %s", e.text);
		return;
	}
	for (size_t i = 0; i < r.n; i++)
		if (r.v[i].type == RECORD_STEP)
			job_record(j, &r.v[i]);
	records_clear(&r);
}

static void on_helper_end(void *owner, const struct err *why, const json_t *result)
{
	struct job *j = owner;

	j->helper = NULL;
	job_phase_ended(j, why, result);
}

void job_help(struct job *j, const char *what,
	int (*run)(struct helper_report *to, void *arg, json_t **ret, struct err *e), void *arg,
	unsigned deadline_ms)
{
	struct helper_task task = {.what = what, .run = run, .arg = arg,
		.deadline_ms = deadline_ms, .lock = j->env.host->lock, .on_msg = on_helper_msg,
		.on_end = on_helper_end, .owner = j};
	struct job_task *t = &j->task;
	struct err e;

	*t = (struct job_task){.host = j->env.host, .plan = j->plan, .policy = j->policy,
		.inv = j->inv, .offer = &j->offer.u.job_offer, .hung_tools = j->hung_tools};
	t->all_layouts = j->phase == JOB_CLEAR;
	t->unit = j->offer.u.job_offer.units[j->unit_index < j->offer.u.job_offer.n_units
			? j->unit_index : j->unit_index - 1];
	t->volume = &j->built[t->unit.layout];
	if (j->phase == JOB_CACHE)
		t->workload = &j->plan->workloads[j->trial.workload];
	if (j->phase == JOB_CACHE && j->trial.scan_fds[0]) {
		t->scan = j->plan->workloads[j->trial.workload].scan;
		t->disks_fd = task.keep_fd = j->trial.scan_fds[0];
	}
	if (helper_start(j->env.base, j->env.kids, &task, &j->helper, &e))
		job_phase_failed(j, &e);
}

void job_phase_failed(struct job *j, const struct err *why)
{
	j->kicked = *why;
	event_active(j->kick, EV_TIMEOUT, 1);
}

static void on_kick(evutil_socket_t fd, short what, void *arg)
{
	struct job *j = arg;
	struct err why = j->kicked;

	(void)fd;
	(void)what;
	job_phase_ended(j, &why, NULL);
}

/* ---- stopping ---- */

void job_stop(struct job *j, enum attempt_state as, const struct err *why)
{
	if (j->stopping)
		return;
	j->stopping = 1;
	j->end_state = as;
	err_copy(&j->end_error, why);
}

void job_unit_fail(struct job *j, const struct err *why)
{
	if (j->unit_error.code == ERR_NONE)
		err_copy(&j->unit_error, why);
}

/* ---- the end ---- */

static void end(struct job *j)
{
	struct record r = {.type = RECORD_ATTEMPT_END};
	enum attempt_state state = j->stopping ? j->end_state
		: j->units_failed ? ATTEMPT_FAILED : ATTEMPT_DONE;

	job_move(j, JOB_ENDED);
	event_del(j->deadline);
	evtimer_del(j->cut);
	r.u.attempt_end.state = state;
	if (state == ATTEMPT_DONE)
		err_clear(&j->end_error);
	r.u.attempt_end.error = j->end_error.text;
	job_record(j, &r);
	log_info(j->name, "job %" PRIu64 " ended: %s%s%s", job_key(j)->job,
		state == ATTEMPT_DONE ? "done" : state == ATTEMPT_CANCELLED ? "cancelled"
		: state == ATTEMPT_FAILED ? "failed" : "interrupted",
		j->end_error.text[0] ? ": " : "", j->end_error.text);
	j->env.on_end(j->env.owner, state, &j->end_error, j->dirty);
}

static void after_hook(struct job *j)
{
	if (!j->policy->hook_after) {
		end(j);
		return;
	}
	job_move(j, JOB_AFTER);
	j->hook.program = j->policy->hook_after;
	job_help(j, "the owner's hook 'after'", task_hook, &j->hook, JOB_HOOK_MS);
}

char *job_journal_path(const struct job *j, const char *kind)
{
	const struct job_key *k = job_key(j);

	return xasprintf("%s/%s-%" PRIu64 "-%" PRIu64 "-%" PRIu32 ".jsonl", j->env.host->state, kind,
		k->run, k->job, k->attempt);
}

static void journal_done(struct job *j)
{
	char *path = job_journal_path(j, "journal"), *kept = job_journal_path(j, "kept");
	struct err e = {0};

	if (j->kept && rename(path, kept))
		err_sys(&e, "cannot rename %s", path);
	if (j->kept)
		log_info(j->name, "the plan says keep: what was built stays until "
				  "`arraymark-agent stop`");
	else if (journal_remove(path, &e) && e.code == ERR_NOTFOUND)
		err_clear(&e);
	if (e.code != ERR_NONE) {
		j->dirty = 1;
		log_error(j->name, "%s", e.text);
	}
	free(path);
	free(kept);
}

static void cleared(struct job *j, const struct err *why)
{
	if (why) {
		j->dirty = 1;
		log_error(j->name, "teardown failed: %s", why->text);
		job_stop(j, ATTEMPT_FAILED, why);
	} else {
		j->dirty = 0;
		journal_done(j);
	}
	after_hook(j);
}

static void wind_down(struct job *j)
{
	job_move(j, JOB_CLEAR);
	j->kept = j->plan->keep && !j->stopping && !j->units_failed && !j->dirty;
	if (j->kept)
		cleared(j, NULL);
	else
		job_help(j, "the teardown", task_teardown, &j->task, TEARDOWN_MS);
}

/* ---- units ---- */

static void next_unit(struct job *j);

static void unit_over(struct job *j)
{
	struct record r = {.type = RECORD_UNIT_END};
	int ok = j->unit_error.code == ERR_NONE;

	r.u.unit_end = (struct record_unit_end){
		.unit = *job_unit(j), .ok = ok, .error = ok ? (char *)"" : j->unit_error.text};
	job_record(j, &r);
	if (!ok) {
		j->units_failed++;
		if (j->end_error.code == ERR_NONE)
			err_copy(&j->end_error, &j->unit_error);
	}
	j->unit_index++;
	next_unit(j);
}

static int layout_comes_again(const struct job *j)
{
	const struct msg_job_offer *o = &j->offer.u.job_offer;

	for (size_t i = j->unit_index + 1; i < o->n_units; i++)
		if (o->units[i].layout == job_unit(j)->layout)
			return 1;
	return 0;
}

void job_end_unit(struct job *j)
{
	int good = j->unit_error.code == ERR_NONE && !j->stopping;
	int last = j->unit_index + 1 == j->offer.u.job_offer.n_units;

	if (good && ((j->plan->builds == BUILDS_ONCE && layout_comes_again(j)) ||
			    (last && j->plan->keep && !j->units_failed))) {
		unit_over(j);
		return;
	}
	job_move(j, JOB_TEARDOWN);
	job_help(j, "the teardown", task_teardown, &j->task, TEARDOWN_MS);
}

static void torn_down(struct job *j, const struct err *why)
{
	volume_clear(job_volume(j));
	if (why) {
		j->dirty = 1;
		log_error(j->name, "teardown of %s failed: %s", job_layout(j)->name, why->text);
		job_unit_fail(j, why);
		job_stop(j, ATTEMPT_FAILED, why);
	}
	unit_over(j);
}

static void record_ready(struct job *j, const struct volume *v)
{
	struct record r = {.type = RECORD_VOLUME_READY};

	r.u.volume_ready = (struct record_volume_ready){.unit = *job_unit(j), .mount = v->mount,
		.identity = v->identity, .filesystem = v->filesystem,
		.usable_bytes = v->usable_bytes};
	job_record(j, &r);
	log_info(j->name, "block %u: %s is ready (%s)", job_unit(j)->block, job_layout(j)->name,
		v->identity);
}

static int check_room(const struct job *j, const struct volume *v, struct err *e)
{
	char need[UNITS_LEN], have[UNITS_LEN];
	int64_t bytes;

	if (plan_needed_bytes(j->plan, j->inv->ram_bytes, &bytes, e))
		return -1;
	if ((uint64_t)bytes <= v->usable_bytes)
		return 0;
	return err_set(e, ERR_FULL,
		"layout %s is too small: its workloads write %s, the volume has %s free; use larger "
		"disks or a smaller size",
		job_layout(j)->name, units_size(bytes, need),
		units_size((int64_t)v->usable_bytes, have));
}

static void built(struct job *j, const struct err *why, const json_t *result)
{
	struct volume v = {0};
	struct err e = {0};

	if (j->stopping) {
		job_unit_fail(j, &j->end_error);
		job_end_unit(j);
		return;
	}
	if (why || volume_from_json(result, &v, &e)) {
		job_unit_fail(j, why ? why : &e);
		log_warning(j->name, "block %u: building %s failed: %s", job_unit(j)->block,
			job_layout(j)->name, j->unit_error.text);
		if (j->plan->on_trial_failure == TRIAL_FAILURE_STOP)
			job_stop(j, ATTEMPT_FAILED, &j->unit_error);
		job_end_unit(j);
		return;
	}
	volume_clear(job_volume(j));
	*job_volume(j) = v;
	record_ready(j, &v);
	if (check_room(j, &v, &e)) {
		job_unit_fail(j, &e);
		job_stop(j, ATTEMPT_FAILED, &e);
		job_end_unit(j);
		return;
	}
	trial_first(j);
}

static uint32_t position(const struct job *j)
{
	unsigned order[PLAN_MAX_LAYOUTS];

	plan_block_order(j->plan, j->offer.u.job_offer.seed, j->env.host->name, job_unit(j)->block,
		order);
	for (unsigned i = 0; i < j->plan->n_layouts; i++)
		if (order[i] == job_unit(j)->layout)
			return i + 1;
	return 0;
}

static void begin_unit(struct job *j)
{
	struct record r = {.type = RECORD_UNIT_START};
	int64_t ms = j->plan->build_deadline_ns / NS_PER_MS;

	r.u.unit_start = (struct record_unit_start){.unit = *job_unit(j), .position = position(j)};
	job_record(j, &r);
	err_clear(&j->unit_error);
	if (job_volume(j)->identity) {
		trial_first(j);
		return;
	}
	job_move(j, JOB_BUILD);
	job_help(j, "the build", task_build, &j->task,
		ms <= 0 ? BUILD_MS : ms > INT32_MAX ? INT32_MAX : (unsigned)ms);
}

static int must_await(const struct job *j)
{
	return j->offer.u.job_offer.wait_continue && j->plan->start != START_TOGETHER &&
		job_unit(j)->block > j->plan->trials_min;
}

static void next_unit(struct job *j)
{
	struct record r = {.type = RECORD_AWAIT};

	if (j->stopping || j->unit_index == j->offer.u.job_offer.n_units) {
		wind_down(j);
		return;
	}
	if (!must_await(j)) {
		begin_unit(j);
		return;
	}
	job_move(j, JOB_AWAIT_UNIT);
	r.u.await = (struct record_await){.unit = *job_unit(j), .workload = 0, .repeat = 1};
	job_record(j, &r);
	log_info(j->name, "block %u: asks the coordinator whether %s is wanted",
		job_unit(j)->block, job_layout(j)->name);
}

void job_begin(struct job *j)
{
	if (!job_look_ahead(j))
		next_unit(j);
}

/* The host could not be read, its owner's hook says no, or a workload cannot run: nothing was touched. */
static void give_up(struct job *j, const struct err *why)
{
	log_warning(j->name, "%s", why->text);
	job_stop(j, ATTEMPT_FAILED, why);
	next_unit(j);
}

void job_phase_ended(struct job *j, const struct err *why, const json_t *result)
{
	switch (j->phase) {
	case JOB_INSPECT:
	case JOB_BEFORE:
	case JOB_INPUTS:
		if (why)
			give_up(j, why);
		else
			job_begin(j);
		break;
	case JOB_BUILD:
		built(j, why, result);
		break;
	case JOB_REHEARSE:
		rehearse_failed(j, why);
		break;
	case JOB_CACHE:
		trial_cache_made(j, why, result);
		break;
	case JOB_PREPARE:
		trial_not_prepared(j, why);
		break;
	case JOB_CHECK:
		trial_checked(j, why, result);
		break;
	case JOB_TEARDOWN:
		torn_down(j, why);
		break;
	case JOB_CLEAR:
		cleared(j, why);
		break;
	case JOB_AFTER:
		if (why)
			log_warning(j->name, "%s", why->text);
		end(j);
		break;
	default:
		break; /* nothing runs in the other phases */
	}
}

/* ---- from outside ---- */

void job_continue(struct job *j, const struct msg_continue *c)
{
	if ((j->phase != JOB_AWAIT_UNIT && j->phase != JOB_AWAIT_TRIAL) ||
		c->unit.block != job_unit(j)->block || c->unit.layout != job_unit(j)->layout)
		return;
	if (j->phase == JOB_AWAIT_TRIAL)
		trial_continue(j, c);
	else
		begin_unit(j);
}

static void interrupt(struct job *j)
{
	if (j->helper && j->phase != JOB_TEARDOWN && j->phase != JOB_CLEAR &&
		j->phase != JOB_AFTER)
		helper_stop(j->helper, STOP_GRACE_MS);
	else if (j->worker)
		trial_abort(j, &j->end_error);
	else if (j->phase == JOB_AWAIT_UNIT)
		next_unit(j);
}

void job_finish(struct job *j)
{
	struct err why;

	if (j->phase != JOB_AWAIT_UNIT && j->phase != JOB_AWAIT_TRIAL)
		return;
	err_set(&why, ERR_CANCELLED, "the coordinator needs no more trials");
	job_stop(j, j->units_failed ? ATTEMPT_FAILED : ATTEMPT_DONE, &why);
	interrupt(j);
}

void job_cancel(struct job *j, enum attempt_state as, const char *reason)
{
	struct err why;

	if (j->stopping || j->phase >= JOB_CLEAR)
		return;
	err_set(&why, ERR_CANCELLED, "%s", reason);
	log_info(j->name, "cancelled: %s", reason);
	job_stop(j, as, &why);
	interrupt(j);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct job *j = arg;
	struct err why;

	(void)fd;
	(void)what;
	if (j->stopping)
		return;
	err_set(&why, ERR_TIMEOUT, "the job's deadline passed");
	log_warning(j->name, "%s", why.text);
	job_stop(j, ATTEMPT_FAILED, &why);
	interrupt(j);
}

static void on_watch(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	trial_watch_look(arg);
}

int job_events_init(struct job *j, struct err *e)
{
	j->kick = event_new(j->env.base, -1, 0, on_kick, j);
	j->cut = evtimer_new(j->env.base, on_cut, j);
	j->deadline = evtimer_new(j->env.base, on_deadline, j);
	j->watch = evtimer_new(j->env.base, on_watch, j);
	if (!j->kick || !j->cut || !j->deadline || !j->watch)
		return err_set(e, ERR_FULL, "no memory for a job's timers");
	return 0;
}
