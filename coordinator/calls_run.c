/* Calls about plans and runs: plan check, run, watch, cancel, resume. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/fs.h"
#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "coordinator/call.h"
#include "coordinator/draft.h"
#include "coordinator/jobs.h"
#include "coordinator/watch.h"

static void put(json_t *o, const char *key, json_t *v)
{
	json_object_set_new(o, key, v);
}

/* ---- plan check ---- */

static json_t *plan_line(const struct draft *d)
{
	const struct plan *p = d->plan;
	json_t *o = json_object(), *layouts = json_array(), *workloads = json_array();

	for (size_t i = 0; i < p->n_layouts; i++)
		json_array_append_new(layouts, json_text(p->layouts[i].name));
	for (size_t i = 0; i < p->n_workloads; i++)
		json_array_append_new(workloads, json_text(p->workloads[i].name));
	put(o, "name", json_text(p->name));
	put(o, "sha256", json_text(p->sha256));
	put(o, "layouts", layouts);
	put(o, "workloads", workloads);
	put(o, "blocks", json_integer(d->blocks));
	put(o, "units", json_integer(d->units));
	return o;
}

void call_plan_check(struct call *c)
{
	json_t *o = json_object(), *hosts = json_array();
	struct draft d;
	struct err e;

	(void)draft_make(c->co, &c->in, &d, &e);
	for (size_t i = 0; i < d.n_hosts; i++) {
		json_t *h = json_object();

		put(h, "host", json_text(d.hosts[i].host->name));
		put(h, "online", json_boolean(d.hosts[i].host->session != NULL));
		put(h, "paused", json_boolean(d.hosts[i].host->paused));
		put(h, "lacks", draft_strings(&d.hosts[i].lacks));
		json_array_append_new(hosts, h);
	}
	put(o, "errors", draft_strings(&d.errors));
	put(o, "warnings", d.plan ? draft_strings(&d.plan->warnings) : json_array());
	put(o, "plan", d.plan ? plan_line(&d) : json_null());
	put(o, "hosts", hosts);
	put(o, "estimate", draft_estimate_json(&d));
	draft_clear(&d);
	call_line(c, o);
	call_end(c);
}

/* ---- run ---- */

static void on_created(void *arg, uint64_t id, const uint64_t *jobs, const struct err *e)
{
	struct call *c = arg;
	struct coordinator *co = c->co;
	json_t *o = c->data, *list = json_array();
	struct run *r = NULL;
	struct err why;

	(void)jobs;
	coordinator_op_end(co);
	if (e || jobs_hold(co, id, &r, &why)) {
		json_decref(o);
		json_decref(list);
		call_fail(c, e ? e : &why);
		return;
	}
	for (size_t i = 0; i < r->n_jobs; i++) {
		json_t *j = json_object();

		put(j, "job", json_integer((json_int_t)r->jobs[i]->sched->key.job));
		put(j, "host", json_text(r->jobs[i]->sched->host->name));
		put(j, "online", json_boolean(r->jobs[i]->sched->host->online));
		json_array_append_new(list, j);
	}
	log_info("run", "%llu (%s) filed by %s: %zu %s", (unsigned long long)id, r->name, call_user(c),
		r->n_jobs, r->n_jobs == 1 ? "job" : "jobs");
	put(o, "run", json_integer((json_int_t)id));
	put(o, "jobs", list);
	call_line(c, o);
	call_end(c);
	jobs_release(r);
	jobs_pump(co);
}

static void fill_jobs(const struct draft *d, struct new_job *jobs, char (*tags)[7])
{
	for (size_t i = 0; i < d->n_hosts; i++) {
		unsigned char drawn[3];

		fs_random(drawn, sizeof(drawn));
		fs_hex(drawn, sizeof(drawn), tags[i]);
		jobs[i].host = d->hosts[i].host->name;
		jobs[i].job_tag = tags[i];
		jobs[i].disks = d->hosts[i].bound;
		jobs[i].n_disks = d->hosts[i].disks.n;
	}
}

static void create(struct call *c, const struct draft *d)
{
	struct new_job *jobs = xcalloc(d->n_hosts, sizeof(*jobs));
	char(*tags)[7] = xcalloc(d->n_hosts, sizeof(*tags));
	struct new_run r = {
		.name = d->plan->name,
		.plan_text = c->in.plan_text,
		.plan_sha256 = d->plan->sha256,
		.user = (char *)call_user(c),
		.sets = c->in.sets,
		.seed = d->seed,
		.blocks = d->blocks,
		.units = d->units,
		.jobs = jobs,
		.n_jobs = d->n_hosts,
	};

	fill_jobs(d, jobs, tags);
	r.design_json = store_design_json(d->plan);
	coordinator_op_begin(c->co);
	store_run_create(c->co->store, &r, on_created, c);
	free(r.design_json);
	free(tags);
	free(jobs);
}

void call_run_create(struct call *c)
{
	struct draft d;
	struct err e;
	json_t *o;

	if (draft_make(c->co, &c->in, &d, &e)) {
		draft_clear(&d);
		call_fail(c, &e);
		return;
	}
	o = json_object();
	put(o, "run", json_null());
	put(o, "name", json_text(d.plan->name));
	put(o, "sha256", json_text(d.plan->sha256));
	put(o, "seed", json_integer((json_int_t)d.seed));
	put(o, "blocks", json_integer(d.blocks));
	put(o, "units", json_integer(d.units));
	put(o, "warnings", draft_strings(&d.plan->warnings));
	put(o, "estimate", draft_estimate_json(&d));
	c->data = o;
	create(c, &d);
	draft_clear(&d);
}

/* ---- watch ---- */

static void watch_found(struct call *c, uint64_t id)
{
	struct coordinator *co = c->co;
	struct run *r;
	struct err e;

	if (jobs_hold(co, id, &r, &e)) {
		call_fail(c, &e);
		return;
	}
	watch_add(r, c);
	jobs_pump(co); /* ends the watch of a run that is over */
}

void call_watch(struct call *c)
{
	call_find_run(c, watch_found);
}

/* ---- cancel, resume ---- */

struct change {
	struct run *run;
	uint64_t *jobs; /* that the change is about */
	size_t *missing;
	size_t n;
};

static void change_free(struct change *ch)
{
	jobs_release(ch->run);
	free(ch->jobs);
	free(ch->missing);
	free(ch);
}

static int concerns(const struct call *c, const struct job *j)
{
	enum sched_state s = j->sched->state;

	if (c->in.verb == CALL_CANCEL)
		return !sched_state_is_final(s);
	return s == SCHED_FAILED || s == SCHED_CANCELLED;
}

static struct change *change_new(struct call *c, struct run *r)
{
	struct change *ch = xcalloc(1, sizeof(*ch));

	ch->run = r;
	ch->jobs = xcalloc(r->n_jobs, sizeof(*ch->jobs));
	ch->missing = xcalloc(r->n_jobs, sizeof(*ch->missing));
	for (size_t i = 0; i < r->n_jobs; i++) {
		const struct sched_job *s = r->jobs[i]->sched;

		if (!concerns(c, r->jobs[i]))
			continue;
		ch->missing[ch->n] = s->n_units - s->n_complete;
		ch->jobs[ch->n++] = s->key.job;
	}
	return ch;
}

static struct job *job_of(const struct run *r, uint64_t id)
{
	for (size_t i = 0; i < r->n_jobs; i++)
		if (r->jobs[i]->sched->key.job == id)
			return r->jobs[i];
	return NULL;
}

static void on_changed(void *arg, const struct err *e)
{
	struct call *c = arg;
	struct change *ch = c->data;
	json_t *o, *list;

	if (e) {
		change_free(ch);
		call_fail(c, e);
		return;
	}
	o = json_object();
	list = json_array();
	put(o, "run", json_integer((json_int_t)ch->run->id));
	put(o, "name", json_text(ch->run->name));
	for (size_t i = 0; i < ch->n; i++) {
		const struct job *j = job_of(ch->run, ch->jobs[i]);
		json_t *v = json_object();

		put(v, "job", json_integer((json_int_t)ch->jobs[i]));
		put(v, "host", json_text(j->sched->host->name));
		put(v, "online", json_boolean(j->sched->host->online));
		put(v, "state", json_text(job_shown_state(j)));
		put(v, "missing", json_integer((json_int_t)ch->missing[i]));
		json_array_append_new(list, v);
	}
	put(o, "jobs", list);
	change_free(ch);
	call_line(c, o);
	call_end(c);
}

static void change_found(struct call *c, uint64_t id)
{
	const char *why = c->in.args.n ? c->in.args.v[0] : NULL;
	char reason[ERR_TEXT_MAX];
	struct run *r;
	struct err e;
	int failed;

	if (jobs_hold(c->co, id, &r, &e)) {
		call_fail(c, &e);
		return;
	}
	c->data = change_new(c, r);
	if (why && *why)
		snprintf(reason, sizeof(reason), "cancelled by %s: %s", call_user(c), why);
	else
		snprintf(reason, sizeof(reason), "cancelled by %s", call_user(c));
	failed = c->in.verb == CALL_CANCEL ? jobs_cancel(r, reason, on_changed, c, &e)
					   : jobs_resume(r, on_changed, c, &e);
	if (failed) {
		struct coordinator *co = c->co;

		change_free(c->data);
		call_fail(c, &e);
		jobs_pump(co); /* a run that was loaded for this goes again */
	}
}

void call_cancel(struct call *c)
{
	call_find_run(c, change_found);
}

void call_resume(struct call *c)
{
	call_find_run(c, change_found);
}
