/*
 * Continue or Finish. Owns struct judging while a reader works on it.
 * Invariant: a job's stop is durable before it is told; only the unit that is awaited now is
 * answered.
 */
#include "coordinator/until.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "coordinator/fleet.h"
#include "coordinator/jobs_internal.h"
#include "coordinator/results/until.h"
#include "coordinator/sessions.h"
#include "coordinator/watch.h"

struct judging {
	struct job_op *op;
	struct unit unit;
	struct buf line;
};

static struct session *session_of(const struct job *j)
{
	struct host *h = fleet_find(j->run->co->fleet, j->sched->host->name);

	return h ? h->session : NULL;
}

static int same_unit(const struct unit *a, const struct unit *b)
{
	return a->block == b->block && a->layout == b->layout;
}

static void say_continue(const struct job *j)
{
	struct msg m = {.type = MSG_CONTINUE};
	struct session *s = session_of(j);

	if (!s)
		return; /* until_again */
	m.u.continue_.key = j->sched->key;
	m.u.continue_.unit = j->awaits.unit;
	m.u.continue_.workload = j->awaits.workload;
	m.u.continue_.repeat = j->awaits.repeat;
	conn_send(s->conn, &m);
}

static void say_finish(const struct job *j)
{
	struct msg m = {.type = MSG_FINISH};
	struct session *s = session_of(j);

	if (!s)
		return;
	m.u.finish = j->sched->key;
	conn_send(s->conn, &m);
}

static void say(const struct job *j, const char *event, const char *text)
{
	log_info("run", "%llu: %s: %s", (unsigned long long)j->run->id, j->sched->host->name, text);
	watch_event(j->run, progress_said(j, event, text));
}

static void stop_after(struct job *j, uint32_t block)
{
	struct buf text = {0};

	j->stop_block = block;
	sched_job_stop_after(j->sched, block);
	until_stopped_text(block, j->run->plan->until, &text);
	sched_job_done_why(j->sched, buf_str(&text));
	buf_free(&text);
}

void until_load(struct job *j, const struct stored_job *row)
{
	struct buf text = {0};

	if (j->run->plan->until <= 0)
		return;
	j->awaits = (struct record_await){.unit = row->awaits, .workload = 0, .repeat = 1};
	until_max_text(j->run->blocks, &text);
	sched_job_done_why(j->sched, buf_str(&text));
	buf_free(&text);
	if (row->stop_block)
		stop_after(j, row->stop_block);
}

/* ---- judging ---- */

static void answer(struct job *j);

static void on_stop_stored(void *arg, const struct err *e)
{
	struct job_op *op = arg;
	struct coordinator *co = op->co;
	uint64_t job = op->job;
	uint32_t block = op->block;
	struct run *r = job_op_end(op, e);
	struct job *j = r ? run_job_find(r, job) : NULL;

	if (j)
		j->judging = 0;
	if (j && e) {
		say_continue(j); /* a block too many rather than a job that hangs */
	} else if (j) {
		stop_after(j, block);
		say(j, "stop", j->sched->done_why);
		answer(j);
	}
	jobs_pump(co);
}

/* Blocks before the one that is awaited are all there will be. */
static void stop(struct job *j)
{
	struct job_op *op = job_op_begin(j->run, j->sched->key.job, "ending a job early");

	op->block = j->awaits.unit.block - 1;
	j->judging = 1;
	store_job_stop(j->run->co->store, op->job, op->block, on_stop_stored, op);
}

static void say_precision(const struct job *j, const json_t *v)
{
	double widest = json_get_num(v, "widest", NAN);
	char *text;

	if (isnan(widest))
		text = xasprintf("after %lld blocks: too few values to compare, goes on",
			(long long)json_get_int(v, "blocks", 0));
	else
		text = xasprintf("after %lld blocks: widest 95%% interval ±%.2g%%, goes on to ±%g%%",
			(long long)json_get_int(v, "blocks", 0), 100 * widest,
			100 * j->run->plan->until);
	say(j, "precision", text);
	free(text);
}

static void judged(struct job *j, const struct judging *g, const struct err *e)
{
	json_t *v = NULL;
	struct err why;

	j->judging = 0;
	if (j->sched->state != SCHED_RUNNING || !same_unit(&j->awaits.unit, &g->unit)) {
		answer(j); /* it waits for something else by now, or not at all */
		return;
	}
	if (!e && json_parse("precision", buf_str(&g->line), g->line.len, MSG_CHUNK_MAX, &v, &why))
		e = &why;
	if (e) {
		log_warning("run", "%llu: %s: its precision is not known, it goes on: %s",
			(unsigned long long)j->run->id, j->sched->host->name, e->text);
		say_continue(j);
	} else if (json_get_bool(v, "precise", 0)) {
		stop(j);
	} else {
		say_precision(j, v);
		say_continue(j);
	}
	json_decref(v);
}

static int on_chunk(void *arg, const char *data, size_t len, int end, const struct err *e)
{
	struct judging *g = arg;
	struct coordinator *co = g->op->co;
	uint64_t job = g->op->job;
	struct run *r;
	struct job *j;

	buf_add(&g->line, data, len);
	if (!end && !e)
		return 0;
	r = job_op_end(g->op, e);
	j = r ? run_job_find(r, job) : NULL;
	if (j)
		judged(j, g, e);
	buf_free(&g->line);
	free(g);
	jobs_pump(co);
	return 0;
}

static void judge(struct job *j)
{
	struct judging *g = xcalloc(1, sizeof(*g));
	char target[64];

	g->op = job_op_begin(j->run, j->sched->key.job, "judging its precision");
	g->unit = j->awaits.unit;
	j->judging = 1;
	snprintf(target, sizeof(target), "%llu %llu %zu", (unsigned long long)j->run->id,
		(unsigned long long)j->sched->key.job, j->run->n_jobs);
	store_query(j->run->co->store, QUERY_PRECISION, target, on_chunk, g);
}

/* A block that has begun is completed: what is judged are blocks of all layouts. */
static void answer(struct job *j)
{
	const struct plan *p = j->run->plan;
	uint32_t block = j->awaits.unit.block;

	if (!block || j->judging || j->sched->state != SCHED_RUNNING)
		return;
	if (j->stop_block && block > j->stop_block)
		say_finish(j);
	else if (j->stop_block || p->until <= 0 || block <= p->trials_min ||
		sched_job_complete_in(j->sched, block))
		say_continue(j);
	else
		judge(j);
}

void until_fact(struct job *j, const struct fact *f)
{
	switch (f->type) {
	case RECORD_AWAIT:
		j->awaits = (struct record_await){f->unit, f->workload, f->repeat};
		answer(j);
		break;
	case RECORD_ATTEMPT_START:
	case RECORD_UNIT_START:
	case RECORD_ATTEMPT_END:
		j->awaits.unit.block = 0;
		break;
	default:
		break;
	}
}

void until_again(struct host *h)
{
	struct sched_job *s = sched_host_active(h->sched);

	if (s)
		answer(s->owner);
}
