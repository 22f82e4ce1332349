/*
 * One trial of a job: cache state, worker, samples, check, summary.
 * Owns the trial's counters and its worker's result. Invariant: a TRIAL_START is followed by exactly
 * one TRIAL_END of the same number, whatever happens in between.
 */
#include "agent/job_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/journal.h"
#include "agent/last_words.h"
#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/workload.h"

#define CACHE_MS (15 * 60 * 1000)
#define CHECK_MS (2 * 60 * 1000)
#define END_MS 10000 /* a worker that said it is done must be gone by then */
#define CUT_MS 1000  /* samples wait at most that long for their batch to be cut */

void trial_clear(struct trial *t)
{
	gather_free(t->gather);
	telemetry_close(t->watch.disks);
	t->watch.disks = NULL;
	scan_end(t);
	json_decref(t->before);
	free(t->done.hist);
	detail_clear(&t->done.detail);
	t->gather = NULL;
	t->before = NULL;
	t->done.hist = NULL;
}

static void reset(struct trial *t)
{
	struct trial fresh = {.number = t->number + 1, .workload = t->workload,
		.repeat = t->repeat, .retries_left = t->retries_left};

	trial_clear(t);
	*t = fresh;
}

static const char *workload_name(const struct job *j)
{
	return j->plan->workloads[j->trial.workload].name;
}

void trial_first(struct job *j)
{
	j->trial.workload = 0;
	j->trial.repeat = 1;
	j->trial.retries_left = j->plan->trial_retries;
	trial_begin(j);
}

void trial_begin(struct job *j)
{
	if (j->stopping || j->trial.repeat > j->plan->repeat) {
		job_end_unit(j);
		return;
	}
	reset(&j->trial);
	if (!rehearse_begin(j))
		trial_make_cache(j);
}

void trial_make_cache(struct job *j)
{
	struct err e;

	job_move(j, JOB_CACHE);
	if (scan_begin(j, &e)) {
		job_phase_failed(j, &e);
		return;
	}
	job_help(j, "making the cache state", task_cache, &j->task, CACHE_MS);
}

static void record_start(struct job *j, const char *cache, uint64_t planned_bytes)
{
	struct record r = {.type = RECORD_TRIAL_START};

	r.u.trial_start = (struct record_trial_start){.trial = j->trial.number,
		.unit = *job_unit(j), .workload = j->trial.workload, .repeat = j->trial.repeat,
		.cache = (char *)cache, .planned_bytes = planned_bytes};
	job_record(j, &r);
	j->trial.started = 1;
}

/* 0: not known. */
static uint64_t planned_bytes(const struct job *j)
{
	struct workload_needs n;
	struct err e;

	if (workload_needs(j->plan, j->trial.workload, j->inv->ram_bytes, &n, &e))
		return 0;
	return (uint64_t)(n.written_bytes + n.read_bytes);
}

static void record_end(struct job *j)
{
	struct trial *t = &j->trial;
	struct record r = {.type = RECORD_TRIAL_END};
	struct trial_summary *s = &r.u.trial_end;
	struct trial_evidence evidence = {0};
	int ok = t->why.code == ERR_NONE;

	s->trial = t->number;
	s->block = job_unit(j)->block;
	s->layout = job_unit(j)->layout;
	s->workload = t->workload;
	s->repeat = t->repeat;
	s->ok = ok;
	s->error = ok ? NULL : t->why.text;
	s->started_wall_ns = t->done.started_wall_ns;
	s->elapsed_ns = t->done.elapsed_ns;
	s->sync_ns = t->done.sync_ns;
	s->bytes = t->done.bytes;
	s->ops = t->done.ops;
	s->errors = t->done.errors;
	s->cpu_user_ns = t->done.cpu_user_ns;
	s->cpu_system_ns = t->done.cpu_system_ns;
	if (t->gather) {
		gather_sums(t->gather, &s->tele);
		gather_evidence(t->gather, j->inv, &evidence);
		s->evidence = &evidence;
		s->n_evidence = 1;
	}
	s->hist = t->done.hist;
	s->hist_len = t->done.hist_len;
	s->samples = t->samples;
	s->detail = t->done.detail;
	job_record(j, &r);
	trial_evidence_clear(&evidence);
}

static void log_end(const struct job *j)
{
	const struct trial *t = &j->trial;
	char took[UNITS_LEN], rate[UNITS_LEN];
	double seconds = (double)t->done.elapsed_ns / NS_PER_S;

	if (t->why.code != ERR_NONE)
		log_warning(j->name, "trial %u (block %u, %s, %s) failed: %s", t->number,
			job_unit(j)->block, job_layout(j)->name, workload_name(j), t->why.text);
	else
		log_info(j->name, "trial %u (block %u, %s, %s): %s, %s", t->number,
			job_unit(j)->block, job_layout(j)->name, workload_name(j),
			units_duration(t->done.elapsed_ns, took),
			units_rate(seconds > 0 ? (double)t->done.bytes / seconds : 0, rate));
}

static void go_on(struct job *j)
{
	struct trial *t = &j->trial;

	t->retries_left = j->plan->trial_retries;
	if (++t->workload == j->plan->n_workloads) {
		t->workload = 0;
		t->repeat++;
	}
	trial_begin(j);
}

/* After TRIAL_END of a failed trial. */
static void failed(struct job *j)
{
	struct trial *t = &j->trial;

	if (!j->stopping && !t->volume_lost && j->plan->on_trial_failure == TRIAL_FAILURE_RETRY &&
		t->retries_left > 0) {
		t->retries_left--;
		trial_begin(j);
		return;
	}
	err_prefix(&t->why, "trial %u (%s)", t->number, workload_name(j));
	job_unit_fail(j, &t->why);
	if (j->stopping || t->volume_lost) {
		job_end_unit(j);
	} else if (j->plan->on_trial_failure == TRIAL_FAILURE_STOP) {
		job_stop(j, ATTEMPT_FAILED, &t->why);
		job_end_unit(j);
	} else {
		go_on(j);
	}
}

static void end_trial(struct job *j)
{
	if (!j->trial.started)
		record_start(j, "", 0);
	record_end(j);
	log_end(j);
	trial_clear(&j->trial);
	if (j->trial.why.code == ERR_NONE)
		go_on(j);
	else
		failed(j);
}

void trial_fail(struct trial *t, const struct err *why)
{
	if (t->why.code == ERR_NONE)
		err_copy(&t->why, why);
}

/* ---- the worker ---- */

static void go(struct job *j, int64_t start_ns)
{
	struct msg m = {.type = MSG_WORKER_GO, .u.worker_go_start_ns = start_ns};
	struct trial *t = &j->trial;
	struct err e;

	job_move(j, JOB_RUN);
	if (gather_start(t->gather, &e)) {
		trial_abort(j, &e);
		return;
	}
	trial_watch_go(j);
	worker_send(j->worker, &m);
}

static void on_ready(struct job *j)
{
	struct record r = {.type = RECORD_AWAIT};

	if (!j->offer.u.job_offer.wait_continue || j->plan->start != START_TOGETHER) {
		go(j, 0);
		return;
	}
	job_move(j, JOB_AWAIT_TRIAL);
	r.u.await = (struct record_await){.unit = *job_unit(j), .workload = j->trial.workload,
		.repeat = j->trial.repeat};
	job_record(j, &r);
}

void trial_continue(struct job *j, const struct msg_continue *c)
{
	if (c->workload == j->trial.workload && c->repeat == j->trial.repeat)
		go(j, c->start_ns);
}

static void on_sample(struct job *j, struct sample *s)
{
	static const struct timeval cut_after = {.tv_sec = CUT_MS / 1000};
	struct record r = {.type = RECORD_SAMPLE};
	struct trial *t = &j->trial;
	struct buf usage = {0};

	r.u.sample = *s;
	r.u.sample.trial = t->number;
	memset(&r.u.sample.tele, 0, sizeof(r.u.sample.tele));
	gather_sample(t->gather, &r.u.sample.tele, &usage);
	r.u.sample.usage = usage.data;
	r.u.sample.usage_len = usage.len;
	t->samples++;
	trial_watch_progress(j, s);
	job_record(j, &r);
	buf_free(&usage);
	if (!evtimer_pending(j->cut, NULL))
		evtimer_add(j->cut, &cut_after);
}

static void on_done(struct job *j, struct msg_worker_done *d)
{
	struct trial *t = &j->trial;

	if (t->gather)
		gather_end(t->gather);
	t->done = *d;
	d->hist = NULL;
	d->detail = (struct trial_detail){0};
	t->has_done = 1;
	if (!d->ok)
		trial_fail(t, &d->error);
	job_move(j, JOB_ENDING);
	trial_watch_stop(j);
	worker_expect_end(j->worker, END_MS);
}

static void on_worker_msg(void *owner, struct msg *m)
{
	struct job *j = owner;
	struct err e;

	if (m->type == MSG_WORKER_READY && j->phase == JOB_PREPARE) {
		on_ready(j);
	} else if (m->type == MSG_WORKER_SAMPLE && j->phase == JOB_RUN) {
		on_sample(j, &m->u.worker_sample);
	} else if (m->type == MSG_WORKER_DONE && j->phase != JOB_ENDING) {
		on_done(j, &m->u.worker_done);
	} else if (j->phase != JOB_ENDING) {
		err_set(&e, ERR_PROTOCOL, "the worker sent %s out of turn", msg_type_name(m->type));
		trial_abort(j, &e);
	}
}

void trial_hear_last_words(struct trial *t, int words)
{
	if (t->why.code == ERR_NONE)
		return;
	last_words_read(words, &t->done.detail);
	detail_fit(&t->done.detail);
}

static void on_worker_end(void *owner, const struct err *how, int words)
{
	struct job *j = owner;
	struct err e;

	j->worker = NULL;
	trial_watch_stop(j);
	if (!j->trial.has_done) {
		err_set(&e, ERR_FAILED, "%s before the trial was over",
			how->text[0] ? how->text : "the worker ended");
		trial_fail(&j->trial, &e);
	}
	trial_hear_last_words(&j->trial, words);
	if (j->phase != JOB_ENDING)
		job_move(j, JOB_ENDING);
	trial_worker_ended(j);
}

void trial_abort(struct job *j, const struct err *why)
{
	trial_fail(&j->trial, why);
	trial_watch_stop(j);
	if (j->phase != JOB_ENDING && j->phase != JOB_REHEARSE)
		job_move(j, JOB_ENDING);
	worker_kill(j->worker);
}

static int journal_it(struct job *j, struct err *e)
{
	struct journal *journal;
	int status;

	if (journal_open(j->env.host->state, job_key(j), &journal, e))
		return -1;
	status = journal_worker(journal, worker_pid(j->worker), worker_start_ticks(j->worker), e);
	journal_close(journal);
	return status;
}

int trial_start_worker(struct job *j, struct msg *spec, const struct worker_handler *h,
	struct err *e)
{
	int status = worker_start(j->env.base, j->env.kids, &j->env.host->work_user, spec,
		j->trial.scan_fds[1], h, &j->worker, e);

	scan_end(&j->trial);
	if (status)
		return -1;
	if (journal_it(j, e)) {
		worker_free(j->worker);
		j->worker = NULL;
		return -1;
	}
	trial_watch_start(j);
	return 0;
}

static int start_worker(struct job *j, struct msg *spec, struct err *e)
{
	const struct worker_handler h = {
		.on_msg = on_worker_msg, .on_end = on_worker_end, .owner = j};

	if (gather_open("", &job_volume(j)->disks, j->trial.before, &j->trial.gather, e))
		return -1;
	return trial_start_worker(j, spec, &h, e);
}

/* They would keep every trial waiting. */
static void remember_hung(struct job *j, const json_t *conditions)
{
	const json_t *hung = json_object_get(conditions, "hung_tools");

	if (json_object_size(hung) == 0)
		return;
	if (!j->hung_tools)
		j->hung_tools = json_object();
	json_object_update(j->hung_tools, (json_t *)hung);
}

void trial_cache_made(struct job *j, const struct err *why, const json_t *result)
{
	struct volume *v = job_volume(j), now = {0};
	struct msg spec = {0};
	struct err e = {0};
	char *cache;

	if (j->stopping) {
		job_unit_fail(j, &j->end_error);
		job_end_unit(j);
		return;
	}
	if (why || volume_from_json(json_object_get(result, "volume"), &now, &e)) {
		trial_fail(&j->trial, why ? why : &e);
		j->trial.volume_lost = 1;
		end_trial(j);
		return;
	}
	volume_clear(v);
	*v = now;
	j->trial.before = json_incref(json_object_get(result, "conditions"));
	remember_hung(j, j->trial.before);
	if (job_worker_spec(j, v, j->trial.workload, j->trial.repeat, &spec, &e)) {
		trial_fail(&j->trial, &e);
		end_trial(j);
		return;
	}
	scan_opened(j, result, &spec.u.worker_spec);
	cache = rehearse_cache_text(j, json_get_str(result, "done", ""));
	record_start(j, cache, planned_bytes(j));
	free(cache);
	job_move(j, JOB_PREPARE);
	if (start_worker(j, &spec, &e))
		job_phase_failed(j, &e);
	msg_clear(&spec);
}

void trial_not_prepared(struct job *j, const struct err *why)
{
	trial_fail(&j->trial, why);
	end_trial(j);
}

void trial_worker_ended(struct job *j)
{
	if (j->stopping) {
		end_trial(j);
		return;
	}
	job_move(j, JOB_CHECK);
	job_help(j, "checking the volume", task_check, &j->task, CHECK_MS);
}

void trial_checked(struct job *j, const struct err *why, const json_t *result)
{
	remember_hung(j, json_object_get(result, "conditions"));
	if (j->trial.gather)
		gather_after(j->trial.gather, json_object_get(result, "conditions"));
	if (why) {
		/* What the worker said may have been about another place; where it failed, it often is
		 * what shows why. */
		struct err said = j->trial.why;

		j->trial.why = *why;
		if (said.code != ERR_NONE)
			err_set(&j->trial.why, why->code, "%s; the volume then: %s", said.text,
				why->text);
		j->trial.volume_lost = 1;
	}
	end_trial(j);
}
