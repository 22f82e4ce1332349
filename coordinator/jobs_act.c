/* Carries the scheduler's actions out: store operations and messages. Owns the operations. */
#include "coordinator/jobs_internal.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/fleet.h"
#include "coordinator/sessions.h"

struct job_op *job_op_begin(struct run *r, uint64_t job, const char *what)
{
	struct job_op *op = xcalloc(1, sizeof(*op));

	op->co = r->co;
	op->run = r->id;
	op->job = job;
	op->what = what;
	r->busy++;
	coordinator_op_begin(r->co);
	return op;
}

struct run *job_op_end(struct job_op *op, const struct err *e)
{
	struct run *r = jobs_run_find(op->co, op->run);

	if (e)
		log_error("store", "run %llu, job %llu: %s: %s", (unsigned long long)op->run,
			(unsigned long long)op->job, op->what, e->text);
	if (r)
		r->busy--;
	coordinator_op_end(op->co);
	free(op);
	return r;
}

void job_op_done(void *arg, const struct err *e)
{
	struct job_op *op = arg;
	struct coordinator *co = op->co;

	job_op_end(op, e);
	jobs_pump(co);
}

static void on_begun(void *arg, const struct err *e)
{
	struct job_op *op = arg;
	struct coordinator *co = op->co;
	uint64_t job = op->job;
	struct run *r = job_op_end(op, e);
	struct job *j = r ? run_job_find(r, job) : NULL;

	if (j && e)
		sched_begin_failed(co->jobs->sched, j->sched, e->text);
	else if (j)
		sched_begun(co->jobs->sched, j->sched);
	jobs_pump(co);
}

static struct session *session_of(struct coordinator *co, const struct sched_host *sh)
{
	struct host *h = fleet_find(co->fleet, sh->name);

	return h ? h->session : NULL;
}

static void send_offer(struct coordinator *co, struct job *j)
{
	struct session *s = session_of(co, j->sched->host);
	struct msg m = {.type = MSG_JOB_OFFER};
	struct msg_job_offer *o = &m.u.job_offer;

	if (!s)
		return;
	o->key = j->sched->key;
	o->plan_text = j->run->plan_text;
	o->sets = j->run->sets;
	o->seed = j->run->seed;
	o->units = xcalloc(MSG_MAX_UNITS, sizeof(*o->units));
	o->n_units = sched_job_missing(j->sched, o->units, MSG_MAX_UNITS);
	o->disks = j->disks;
	o->n_disks = j->n_disks;
	o->job_tag = j->tag;
	o->deadline_s = (uint64_t)(j->run->plan->deadline_ns / NS_PER_S);
	o->blocks = j->run->blocks;
	o->run_name = j->run->name;
	o->wait_continue = j->run->plan->until > 0;
	log_info("run", "%llu: offered to %s: %zu of %zu units (attempt %u)",
		(unsigned long long)j->run->id, j->sched->host->name, o->n_units, j->sched->n_units,
		o->key.attempt);
	conn_send(s->conn, &m);
	free(o->units);
}

static void send_cancel(struct coordinator *co, const struct sched_action *a)
{
	struct session *s = session_of(co, a->host);
	struct msg m = {.type = MSG_CANCEL};

	if (!s)
		return;
	m.u.cancel.key = a->key;
	m.u.cancel.reason = (char *)a->why;
	log_info("run", "%llu: telling %s to cancel: %s", (unsigned long long)a->key.run, a->host->name,
		a->why);
	conn_send(s->conn, &m);
}

static enum job_state stored_state(enum sched_state s)
{
	return s == SCHED_DONE ? JOB_DONE : s == SCHED_FAILED ? JOB_FAILED : JOB_CANCELLED;
}

void jobs_act(struct coordinator *co, const struct sched_action *a)
{
	struct job *j = a->job ? a->job->owner : NULL;
	struct job_op *op;

	switch (a->type) {
	case SCHED_BEGIN:
		op = job_op_begin(j->run, a->key.job, "beginning an attempt");
		store_attempt_begin(co->store, &a->key, on_begun, op);
		break;
	case SCHED_OFFER:
		send_offer(co, j);
		break;
	case SCHED_INTERRUPT:
		op = job_op_begin(j->run, a->key.job, "marking an attempt interrupted");
		store_attempt_interrupted(co->store, &a->key, *a->why ? a->why : "interrupted",
			job_op_done, op);
		break;
	case SCHED_CANCEL:
		send_cancel(co, a);
		break;
	case SCHED_END:
		op = job_op_begin(j->run, a->key.job, "ending a job");
		store_job_state(co->store, a->key.job, stored_state(a->job->state), a->why,
			job_op_done, op);
		break;
	}
}
