/*
 * Attempts begin and break off, jobs move, runs end. Owns the moves a job may make.
 * Invariant: a run has a finish time exactly while none of its jobs is waiting or running.
 */
#include <stdlib.h>

#include "common/base/mem.h"
#include "coordinator/store/store_internal.h"

#define TO(state) (1u << (state))
#define ADOPTED_MAX 1000000 /* attempts; a job that was begun so often there is none */

static const struct {
	const char *name;
	unsigned next; /* states it may move to; staying is always fine */
} job_states[JOB_STATE_COUNT] = {
	[JOB_WAITING] = {"waiting",
		TO(JOB_RUNNING) | TO(JOB_FAILED) | TO(JOB_CANCELLED) | TO(JOB_DONE)},
	[JOB_RUNNING] = {"running",
		TO(JOB_WAITING) | TO(JOB_DONE) | TO(JOB_FAILED) | TO(JOB_CANCELLED)},
	[JOB_DONE] = {"done", TO(JOB_WAITING)},
	[JOB_FAILED] = {"failed", TO(JOB_WAITING)},
	[JOB_CANCELLED] = {"cancelled", TO(JOB_WAITING)},
	[JOB_IMPORTED] = {"imported", 0}, /* it came from a file */
};

const char *job_state_name(enum job_state s)
{
	return (unsigned)s < JOB_STATE_COUNT ? job_states[s].name : "unknown";
}

struct attempt_op {
	struct done_op base;
	struct job_key key;
	char *why;
};
struct state_op {
	struct done_op base;
	uint64_t job;
	enum job_state state;
	char *why;
};

struct stop_op {
	struct done_op base;
	uint64_t job;
	uint32_t block;
};

/* The run follows its jobs: waiting until the first runs, then running, then what came out. */
static int settle_run(struct write_ctx *w, uint64_t run, struct err *e)
{
	return DB_RUN(w->db, e,
		"UPDATE runs SET state = (SELECT CASE"
		"  WHEN sum(j.state = 1) > 0 THEN 1"
		"  WHEN sum(j.state = 0) > 0 THEN CASE WHEN sum(j.state > 1 OR j.attempt > 0) > 0"
		"   THEN 1 ELSE 0 END"
		"  WHEN sum(j.state = 3) > 0 THEN 3"
		"  WHEN sum(j.state = 4) > 0 THEN 4 ELSE 2 END"
		"  FROM jobs j WHERE j.run = ?1),"
		" finished_ns = CASE"
		"  WHEN EXISTS (SELECT 1 FROM jobs j WHERE j.run = ?1 AND j.state < 2) THEN 0"
		"  WHEN finished_ns = 0 THEN ?2 ELSE finished_ns END"
		" WHERE run = ?1",
		db_uint(run), db_int(w->now_ns));
}

/* The job's run and state; ERR_NOTFOUND when there is no such job. */
static int find_job(struct write_ctx *w, uint64_t job, uint64_t *ret_run, int64_t *ret_state,
	int64_t *ret_attempt, struct err *e)
{
	sqlite3_stmt *row;
	int more;

	if (DB_QUERY(w->db, &row, e, "SELECT run, state, attempt FROM jobs WHERE job = ?1",
		    db_uint(job)) != 0)
		return -1;
	more = db_next(w->db, row, e);
	if (more < 0)
		return -1;
	if (more == 0)
		return err_set(
			e, ERR_NOTFOUND, "job %llu is not in the store", (unsigned long long)job);
	*ret_run = (uint64_t)db_get_int(row, 0);
	*ret_state = db_get_int(row, 1);
	*ret_attempt = db_get_int(row, 2);
	db_done(row);
	return 0;
}

/* The job's next attempt, from which on the earlier ones do not count where they are incomplete. */
static int make_attempt(struct write_ctx *w, const struct job_key *key, enum job_state state,
	int64_t began_ns, struct err *e)
{
	if (DB_RUN(w->db, e,
		    "INSERT INTO attempts(job, attempt, state, began_ns) VALUES(?1, ?2, 0, ?3)",
		    db_uint(key->job), db_int(key->attempt), db_int(began_ns)) != 0 ||
		DB_RUN(w->db, e,
			"UPDATE attempts SET state = 4, ended_ns = ?3, error = 'replaced by a new "
			"attempt'"
			" WHERE job = ?1 AND attempt < ?2 AND state = 0",
			db_uint(key->job), db_int(key->attempt), db_int(w->now_ns)) != 0 ||
		DB_RUN(w->db, e,
			"UPDATE units SET superseded = 1"
			" WHERE job = ?1 AND attempt < ?2 AND state <> 1",
			db_uint(key->job), db_int(key->attempt)) != 0 ||
		DB_RUN(w->db, e,
			"UPDATE jobs SET why = CASE state WHEN ?3 THEN why ELSE '' END, state = ?3,"
			" attempt = ?2 WHERE job = ?1",
			db_uint(key->job), db_int(key->attempt), db_int(state)) != 0)
		return -1;
	return settle_run(w, key->run, e);
}

static int begin_apply(struct op *op, struct write_ctx *w, struct err *e)
{
	struct attempt_op *a = (struct attempt_op *)op;
	uint64_t run;
	int64_t state, last;

	if (find_job(w, a->key.job, &run, &state, &last, e) != 0)
		return -1;
	if (run != a->key.run || a->key.attempt != last + 1)
		return err_set(e, ERR_WRONG_STATE,
			"job %llu of run %llu: attempt %u does not follow %lld",
			(unsigned long long)a->key.job, (unsigned long long)run, a->key.attempt,
			(long long)last);
	if (state != JOB_WAITING && state != JOB_RUNNING)
		return err_set(e, ERR_WRONG_STATE, "job %llu is %s: it takes no new attempt",
			(unsigned long long)a->key.job, job_state_name((enum job_state)state));
	return make_attempt(w, &a->key, JOB_RUNNING, w->now_ns, e);
}

int attempt_adopt(struct write_ctx *w, const struct job_key *key, const char *host, const char *tag,
	int64_t began_ns, int *ret, struct err *e)
{
	sqlite3_stmt *row;
	int64_t state;
	int more;

	*ret = 0;
	if (key->attempt > ADOPTED_MAX)
		return 0;
	if (DB_QUERY(w->db, &row, e,
		    "SELECT state FROM jobs WHERE job = ?1 AND run = ?2 AND host = ?3 AND tag = ?4"
		    " AND tag <> '' AND attempt < ?5 AND state <> 2",
		    db_uint(key->job), db_uint(key->run), db_text(host), db_text0(tag),
		    db_int(key->attempt)) != 0)
		return -1;
	more = db_next(w->db, row, e);
	if (more != 1)
		return more;
	state = db_get_int(row, 0);
	db_done(row);
	if (make_attempt(w, key, state == JOB_CANCELLED ? JOB_CANCELLED : JOB_RUNNING, began_ns,
		    e) != 0)
		return -1;
	*ret = 1;
	return 0;
}

static int interrupted_apply(struct op *op, struct write_ctx *w, struct err *e)
{
	struct attempt_op *a = (struct attempt_op *)op;

	/* An end that the agent sent itself stays. */
	return DB_RUN(w->db, e,
		"UPDATE attempts SET state = 4, error = ?3, ended_ns = ?4"
		" WHERE job = ?1 AND attempt = ?2 AND state = 0",
		db_uint(a->key.job), db_int(a->key.attempt), db_text0(a->why), db_int(w->now_ns));
}

static void attempt_free(struct op *op)
{
	struct attempt_op *a = (struct attempt_op *)op;

	free(a->why);
	free(a);
}

static int state_apply(struct op *op, struct write_ctx *w, struct err *e)
{
	struct state_op *s = (struct state_op *)op;
	uint64_t run;
	int64_t now, attempt;

	if (find_job(w, s->job, &run, &now, &attempt, e) != 0)
		return -1;
	if (now != (int64_t)s->state && !(job_states[now].next & TO(s->state)))
		return err_set(e, ERR_WRONG_STATE, "job %llu is %s and cannot become %s",
			(unsigned long long)s->job, job_state_name((enum job_state)now),
			job_state_name(s->state));
	/* Fruitless attempts are counted anew after a resume. */
	if (DB_RUN(w->db, e,
		    "UPDATE jobs SET state = ?2, why = ?3, resumed = CASE WHEN state IN (3, 4) AND "
		    "?2 = 0"
		    " THEN attempt ELSE resumed END WHERE job = ?1",
		    db_uint(s->job), db_int(s->state), db_text0(s->why)) != 0)
		return -1;
	return settle_run(w, run, e);
}

static void state_free(struct op *op)
{
	struct state_op *s = (struct state_op *)op;

	free(s->why);
	free(s);
}

static int stop_apply(struct op *op, struct write_ctx *w, struct err *e)
{
	struct stop_op *s = (struct stop_op *)op;
	int64_t state, attempt;
	uint64_t run;

	if (find_job(w, s->job, &run, &state, &attempt, e) != 0)
		return -1;
	return DB_RUN(w->db, e, "UPDATE jobs SET stop_block = ?2 WHERE job = ?1", db_uint(s->job),
		db_int(s->block));
}

static void stop_free(struct op *op)
{
	free(op);
}

static const struct write_kind begin_kind = {
	"attempt-begin", begin_apply, NULL, done_op_deliver, attempt_free};
static const struct write_kind interrupted_kind = {
	"attempt-interrupted", interrupted_apply, NULL, done_op_deliver, attempt_free};
static const struct write_kind state_kind = {
	"job-state", state_apply, NULL, done_op_deliver, state_free};
static const struct write_kind stop_kind = {
	"job-stop", stop_apply, NULL, done_op_deliver, stop_free};

static void submit_attempt(struct store *s, const struct write_kind *kind,
	const struct job_key *key, const char *why, store_done done, void *arg)
{
	struct attempt_op *a = xcalloc(1, sizeof(*a));

	a->base.op.kind = kind;
	a->base.done = done;
	a->base.arg = arg;
	a->key = *key;
	a->why = xstrdup(why);
	writer_submit(s->writer, &a->base.op);
}

void store_attempt_begin(struct store *s, const struct job_key *key, store_done done, void *arg)
{
	submit_attempt(s, &begin_kind, key, NULL, done, arg);
}

void store_attempt_interrupted(
	struct store *s, const struct job_key *key, const char *why, store_done done, void *arg)
{
	submit_attempt(s, &interrupted_kind, key, why, done, arg);
}

void store_job_state(struct store *s, uint64_t job, enum job_state state, const char *why,
	store_done done, void *arg)
{
	struct state_op *o = xcalloc(1, sizeof(*o));

	o->base.op.kind = &state_kind;
	o->base.done = done;
	o->base.arg = arg;
	o->job = job;
	o->state = state;
	o->why = xstrdup(why);
	writer_submit(s->writer, &o->base.op);
}

void store_job_stop(struct store *s, uint64_t job, uint32_t block, store_done done, void *arg)
{
	struct stop_op *o = xcalloc(1, sizeof(*o));

	o->base.op.kind = &stop_kind;
	o->base.done = done;
	o->base.arg = arg;
	o->job = job;
	o->block = block;
	writer_submit(s->writer, &o->base.op);
}
