/*
 * Cancel and resume: a group of store operations whose answer comes when all are durable. The store
 * learns first that a job is cancelled; the agent tears down meanwhile, so that a restart of the
 * coordinator in between can't bring the job back.
 */
#include "coordinator/jobs_internal.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"

struct group {
	struct coordinator *co;
	uint64_t run;
	unsigned pending;
	store_done done;
	void *arg;
	struct err error; /* the first */
};

static void group_end(struct group *g)
{
	struct coordinator *co = g->co;

	if (--g->pending)
		return;
	if (g->done)
		g->done(g->arg, g->error.code ? &g->error : NULL);
	free(g);
	jobs_pump(co);
}

static void on_stored(void *arg, const struct err *e)
{
	struct group *g = arg;
	struct run *r = jobs_run_find(g->co, g->run);

	if (e && !g->error.code)
		err_copy(&g->error, e);
	if (r)
		r->busy--;
	coordinator_op_end(g->co);
	group_end(g);
}

static void put_state(struct group *g, struct run *r, const struct job *j, enum job_state state,
	const char *why)
{
	r->busy++;
	g->pending++;
	coordinator_op_begin(g->co);
	store_job_state(g->co->store, j->sched->key.job, state, why, on_stored, g);
}

static struct group *group_new(struct run *r, store_done done, void *arg)
{
	struct group *g = xcalloc(1, sizeof(*g));

	g->co = r->co;
	g->run = r->id;
	g->pending = 1; /* ours, until all are queued */
	g->done = done;
	g->arg = arg;
	return g;
}

int jobs_cancel(struct run *r, const char *why, store_done done, void *arg, struct err *e)
{
	struct group *g;
	struct err ignored;

	if (run_is_over(r))
		return err_set(e, ERR_WRONG_STATE, "run %llu (%s) has ended: it is %s",
			(unsigned long long)r->id, r->name, run_state_name(r));
	g = group_new(r, done, arg);
	for (size_t i = 0; i < r->n_jobs; i++) {
		struct job *j = r->jobs[i];

		if (sched_state_is_final(j->sched->state) ||
			j->sched->state == SCHED_CANCELLING ||
			sched_cancel(r->co->jobs->sched, j->sched, why, &ignored))
			continue;
		put_state(g, r, j, JOB_CANCELLED, why);
	}
	log_info("run", "%llu (%s) cancelled: %s", (unsigned long long)r->id, r->name, why);
	jobs_pump(r->co);
	group_end(g);
	return 0;
}

static int may_resume(const struct job *j)
{
	return j->sched->state == SCHED_FAILED || j->sched->state == SCHED_CANCELLED;
}

int jobs_resume(struct run *r, store_done done, void *arg, struct err *e)
{
	struct group *g;
	struct err ignored;
	size_t n = 0;

	for (size_t i = 0; i < r->n_jobs; i++) {
		if (r->jobs[i]->sched->state == SCHED_CANCELLING)
			return err_set(e, ERR_WRONG_STATE,
				"run %llu: %s is still taking its volume down; try again when it has",
				(unsigned long long)r->id, r->jobs[i]->sched->host->name);
		n += (size_t)may_resume(r->jobs[i]);
	}
	if (!n)
		return err_set(e, ERR_WRONG_STATE, "run %llu (%s) is %s: no job failed or was cancelled",
			(unsigned long long)r->id, r->name, run_state_name(r));
	g = group_new(r, done, arg);
	for (size_t i = 0; i < r->n_jobs; i++) {
		struct job *j = r->jobs[i];

		if (!may_resume(j))
			continue;
		put_state(g, r, j, JOB_WAITING, "");
		sched_resume(r->co->jobs->sched, j->sched, &ignored);
	}
	log_info("run", "%llu (%s) resumed", (unsigned long long)r->id, r->name);
	jobs_pump(r->co);
	group_end(g);
	return 0;
}
