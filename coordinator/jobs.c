/*
 * Runs and jobs in memory. Owns struct run and struct job and the scheduler. A run goes when it is
 * over, nothing of it is under way in the store and nobody holds it; only jobs_pump frees runs.
 */
#include "coordinator/jobs_internal.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/fleet.h"
#include "coordinator/sched/units.h"
#include "coordinator/until.h"
#include "coordinator/watch.h"

#define TICK_S 5

/* ---- finding and asking ---- */

struct sched *jobs_sched(struct jobs *all)
{
	return all->sched;
}

struct sched_host *jobs_host(struct jobs *all, const char *name)
{
	struct sched_host *h = sched_host_get(all->sched, name);

	if (!h->online && !h->lost_ns)
		h->lost_ns = clock_mono_ns(); /* its absence counts from our start */
	return h;
}

void jobs_host_remove(struct jobs *all, struct sched_host *h)
{
	if (!h->jobs)
		sched_host_remove(all->sched, h);
}

struct run *jobs_run_find(struct coordinator *co, uint64_t id)
{
	for (struct run *r = co->jobs->runs; r; r = r->next)
		if (r->id == id)
			return r;
	return NULL;
}

struct job *run_job_find(struct run *r, uint64_t job)
{
	for (size_t i = 0; i < r->n_jobs; i++)
		if (r->jobs[i]->sched->key.job == job)
			return r->jobs[i];
	return NULL;
}

int run_is_over(const struct run *r)
{
	for (size_t i = 0; i < r->n_jobs; i++)
		if (!sched_state_is_final(r->jobs[i]->sched->state))
			return 0;
	return 1;
}

const char *run_state_name(const struct run *r)
{
	unsigned n[SCHED_STATE_COUNT] = {0};
	unsigned begun = 0;

	for (size_t i = 0; i < r->n_jobs; i++) {
		n[r->jobs[i]->sched->state]++;
		begun += r->jobs[i]->sched->key.attempt > 0;
	}
	if (!run_is_over(r))
		return begun ? "running" : "waiting";
	return n[SCHED_FAILED] ? "failed" : n[SCHED_CANCELLED] ? "cancelled" : "done";
}

const char *job_shown_state(const struct job *j)
{
	switch (j->sched->state) {
	case SCHED_WAITING:
	case SCHED_BEGINNING:
	case SCHED_OFFERED:
		return "waiting";
	default:
		return sched_state_name(j->sched->state);
	}
}

/* ---- memory ---- */

static void run_free(struct run *r)
{
	watch_free(r);
	for (size_t i = 0; i < r->n_jobs; i++) {
		struct job *j = r->jobs[i];

		free(j->tag);
		for (size_t d = 0; d < j->n_disks; d++) {
			free(j->disks[d].role);
			strv_free(&j->disks[d].ids);
		}
		free(j->disks);
		progress_clear(&j->progress);
		free(j);
	}
	free(r->jobs);
	free(r->name);
	free(r->plan_text);
	strv_free(&r->sets);
	plan_free(r->plan);
	free(r);
}

static void run_remove(struct jobs *all, struct run *r)
{
	for (struct run **p = &all->runs; *p; p = &(*p)->next) {
		if (*p == r) {
			*p = r->next;
			break;
		}
	}
	for (size_t i = 0; i < r->n_jobs; i++)
		sched_job_remove(all->sched, r->jobs[i]->sched);
	run_free(r);
}

static void on_moved(void *arg, struct sched_job *sj, enum sched_state from)
{
	struct job *j = sj->owner;

	(void)arg;
	if (sj->state == SCHED_BEGINNING || sched_state_is_final(sj->state) ||
		sj->state == SCHED_WAITING)
		progress_clear(&j->progress);
	if (sj->state == SCHED_BEGINNING) {
		j->seen = 0;
		j->awaits.unit.block = 0;
	}
	if (sj->state == SCHED_BEGINNING || from == SCHED_BEGINNING)
		return;
	if (sched_state_is_final(sj->state))
		log_info("run", "%llu: job on %s is %s%s%s", (unsigned long long)j->run->id,
			sj->host->name, sched_state_name(sj->state), sj->why ? ": " : "",
			sj->why ? sj->why : "");
	watch_event(j->run, progress_moved(j));
	watch_job(j);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct coordinator *co = arg;

	(void)fd;
	(void)what;
	sched_tick(co->jobs->sched);
	jobs_pump(co);
}

struct jobs *jobs_new(struct coordinator *co)
{
	static const struct timeval tick = {TICK_S, 0};
	struct jobs *all = xcalloc(1, sizeof(*all));

	all->co = co;
	all->sched = sched_new(on_moved, all);
	all->tick = event_new(co->base, -1, EV_PERSIST, on_tick, co);
	event_add(all->tick, &tick);
	return all;
}

void jobs_free(struct jobs *all)
{
	if (!all)
		return;
	event_free(all->tick);
	while (all->runs) {
		struct run *r = all->runs;

		all->runs = r->next;
		run_free(r);
	}
	sched_free(all->sched);
	free(all);
}

/* ---- from the store ---- */

static struct run *run_new(struct coordinator *co, struct stored_job *row)
{
	struct yaml_errors errs = {0};
	struct run *r, **p = &co->jobs->runs;
	struct plan *plan;
	struct err e;

	if (plan_parse(row->run_name, row->plan_text, strlen(row->plan_text), &row->sets, &plan, &errs,
		    &e)) {
		log_error("run", "%llu: its plan can't be read by this version: %s",
			(unsigned long long)row->run, e.text);
		yaml_errors_free(&errs);
		return NULL;
	}
	yaml_errors_free(&errs);
	r = xcalloc(1, sizeof(*r));
	r->co = co;
	r->id = row->run;
	r->seed = row->seed;
	r->blocks = row->blocks;
	r->name = row->run_name;
	r->plan_text = row->plan_text;
	r->sets = row->sets;
	row->run_name = row->plan_text = NULL;
	memset(&row->sets, 0, sizeof(row->sets));
	r->plan = plan;
	while (*p && (*p)->id < r->id)
		p = &(*p)->next;
	r->next = *p;
	*p = r;
	return r;
}

static int64_t lost_wait(const struct plan *p)
{
	switch (p->on_host_lost) {
	case HOST_LOST_FAIL:
		return 0;
	case HOST_LOST_CONTINUE:
		return SCHED_LOST_FOREVER;
	default:
		return p->host_lost_wait_ns ? p->host_lost_wait_ns : SCHED_LOST_FOREVER;
	}
}

static void restore_state(struct jobs *all, struct job *j, struct stored_job *row)
{
	static const enum sched_state finals[JOB_STATE_COUNT] = {
		[JOB_DONE] = SCHED_DONE,
		[JOB_FAILED] = SCHED_FAILED,
		[JOB_CANCELLED] = SCHED_CANCELLED,
		[JOB_IMPORTED] = SCHED_DONE,
	};

	j->sched->failures = row->failures;
	if (row->state == JOB_RUNNING && row->attempt) {
		if (row->attempt_ended)
			sched_job_load_ended(all->sched, j->sched, row->attempt_state,
				row->attempt_done);
		else
			sched_job_load_running(all->sched, j->sched, row->attempt_done);
	} else if (row->state != JOB_RUNNING && row->state != JOB_WAITING) {
		sched_job_load_final(j->sched, finals[row->state]);
		j->sched->why = row->why;
		row->why = NULL;
	}
}

static void job_new(struct jobs *all, struct run *r, struct stored_job *row)
{
	struct job_key key = {.run = row->run, .job = row->job, .attempt = row->attempt};
	struct job *j = xcalloc(1, sizeof(*j));
	struct unit *units;
	size_t n;

	j->run = r;
	j->tag = row->job_tag;
	j->disks = row->disks;
	j->n_disks = row->n_disks;
	row->job_tag = NULL;
	row->disks = NULL;
	row->n_disks = 0;
	r->jobs = xgrow(r->jobs, r->n_jobs, &r->cap_jobs, sizeof(*r->jobs));
	r->jobs[r->n_jobs++] = j;
	units = units_expand(r->plan, r->seed, row->host, r->blocks, &n);
	j->sched = sched_job_add(all->sched, jobs_host(all, row->host), &key, units, n, j);
	j->sched->lost_wait_ns = lost_wait(r->plan);
	j->sched->stop_on_failure = r->plan->on_trial_failure == TRIAL_FAILURE_STOP;
	for (size_t i = 0; i < row->n_done; i++)
		sched_job_complete(j->sched, &row->done[i]);
	until_load(j, row);
	restore_state(all, j, row);
}

static void load_row(void *arg, struct stored_job *row)
{
	struct coordinator *co = arg;
	struct run *r = jobs_run_find(co, row->run);

	if (!r)
		r = run_new(co, row);
	if (r && !run_job_find(r, row->job))
		job_new(co->jobs, r, row);
	stored_job_clear(row);
}

struct id_list {
	uint64_t *v;
	size_t n, cap;
};

static void note_run(void *arg, struct stored_job *row)
{
	struct id_list *ids = arg;

	if (!ids->n || ids->v[ids->n - 1] != row->run) {
		ids->v = xgrow(ids->v, ids->n, &ids->cap, sizeof(*ids->v));
		ids->v[ids->n++] = row->run;
	}
	stored_job_clear(row);
}

int jobs_load(struct coordinator *co, struct err *e)
{
	struct id_list ids = {0};
	int r = store_load_jobs(co->store, note_run, &ids, e);

	for (size_t i = 0; i < ids.n && !r; i++)
		r = store_load_run(co->store, ids.v[i], load_row, co, e);
	if (!r && ids.n)
		log_info("coordinator", "%zu unfinished %s", ids.n, ids.n == 1 ? "run goes on" : "runs go on");
	free(ids.v);
	return r;
}

int jobs_hold(struct coordinator *co, uint64_t id, struct run **ret, struct err *e)
{
	struct run *r = jobs_run_find(co, id);

	if (!r) {
		if (store_load_run(co->store, id, load_row, co, e))
			return -1;
		r = jobs_run_find(co, id);
	}
	if (!r)
		return err_set(e, ERR_INPUT, "run %llu: its plan can't be read by this version",
			(unsigned long long)id);
	r->held++;
	*ret = r;
	return 0;
}

void jobs_release(struct run *r)
{
	r->held--;
}

/* ---- the pump ---- */

static void collect(struct coordinator *co)
{
	struct run *r, *next;

	for (r = co->jobs->runs; r; r = next) {
		next = r->next;
		if (r->busy || !run_is_over(r))
			continue;
		watch_over(r);
		if (!r->held)
			run_remove(co->jobs, r);
	}
}

void jobs_pump(struct coordinator *co)
{
	struct jobs *all = co->jobs;
	struct sched_action a;

	if (all->pumping) {
		all->again = 1;
		return;
	}
	all->pumping = 1;
	do {
		all->again = 0;
		while (!co->stopping && sched_next(all->sched, clock_mono_ns(), &a))
			jobs_act(co, &a);
		collect(co);
	} while (all->again);
	all->pumping = 0;
}

/* ---- facts ---- */

/* An attempt before the present one: what it completed counts, the rest is history. */
static void old_facts(struct job *j, const struct facts *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].type == RECORD_UNIT_END && f->v[i].ok)
			sched_job_complete(j->sched, &f->v[i].unit);
}

static struct job *find_job(struct host *h, const struct job_key *key)
{
	struct run *r = jobs_run_find(h->co, key->run);
	struct job *j = r ? run_job_find(r, key->job) : NULL;

	return j && j->sched->host == h->sched ? j : NULL;
}

static void apply_fact(struct host *h, struct job *j, const struct job_key *key,
	const struct fact *f)
{
	struct sched *s = h->co->jobs->sched;

	if (f->type == RECORD_UNIT_END && f->ok &&
		!sched_unit_complete(s, h->sched, key, &f->unit))
		sched_job_complete(j->sched, &f->unit);
	if (sched_state_is_final(j->sched->state))
		return; /* the rest of a job that was given up meanwhile */
	until_fact(j, f);
	progress_apply(j, f, clock_mono_ns());
	watch_event(j->run, progress_event(j, f));
	if (f->type == RECORD_ATTEMPT_END)
		sched_attempt_ended(s, h->sched, key, f->state, f->text ? f->text : "");
	watch_job(j);
}

void jobs_facts(struct host *h, const struct job_key *key, uint64_t first, uint64_t last,
	const struct facts *f)
{
	struct job *j = find_job(h, key);

	if (j && key->attempt < j->sched->key.attempt)
		old_facts(j, f);
	if (!j || !job_key_equal(&j->sched->key, key) || first <= j->seen)
		return;
	j->seen = last;
	sched_recorded(h->co->jobs->sched, h->sched, key);
	for (size_t i = 0; i < f->n; i++)
		apply_fact(h, j, key, &f->v[i]);
}

void jobs_adopted(struct host *h, const struct job_key *key)
{
	struct run *r;
	struct job *j;
	struct err e;

	if (jobs_hold(h->co, key->run, &r, &e)) {
		log_error("run", "%llu: %s", (unsigned long long)key->run, e.text);
		return;
	}
	jobs_release(r);
	j = find_job(h, key);
	if (!j || !sched_adopted(h->co->jobs->sched, h->sched, key))
		return;
	j->seen = 0;
	j->awaits.unit.block = 0;
	progress_clear(&j->progress);
	log_info("run", "%llu: %s brings attempt %u, which began after the backup of this store",
		(unsigned long long)key->run, h->name, key->attempt);
}

void jobs_accepted(struct host *h, const struct job_key *key)
{
	struct job *j = find_job(h, key);

	if (!sched_accepted(h->co->jobs->sched, h->sched, key))
		return;
	if (j)
		log_info("run", "%llu: %s accepted (attempt %u)", (unsigned long long)key->run, h->name,
			key->attempt);
}

void jobs_rejected(struct host *h, const struct job_key *key, const struct err *why)
{
	struct job *j = find_job(h, key);

	if (sched_rejected(h->co->jobs->sched, h->sched, key, why) && j)
		watch_job(j);
}
