/*
 * What goes before a trial and is not counted: the files that it reads and nobody else writes, or
 * (cache: warm) the whole trial once, so that the caches hold what it leaves there.
 * Owns the worker in between. Its outcome is a step of the run's record; when it fails, the trial
 * has failed.
 */
#include "agent/job_internal.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/workload.h"

#define END_MS 10000

static const struct workload *workload_of(const struct job *j)
{
	return &j->plan->workloads[j->trial.workload];
}

/* A scan goes around every cache. */
static enum rehearsal what_is_due(const struct job *j)
{
	const struct workload *w = workload_of(j);

	if (j->plan->cache == CACHE_WARM && w->kind != WORKLOAD_DISK_SCAN)
		return REHEARSE_TRIAL;
	return workload_makes(w) ? REHEARSE_FILES : REHEARSE_NONE;
}

static void record(struct job *j)
{
	const struct trial *t = &j->trial;
	const struct rehearsed *h = &t->rehearsed;
	struct record r = {.type = RECORD_STEP};
	char bytes[UNITS_LEN], took[UNITS_LEN];
	int whole = h->what == REHEARSE_TRIAL;
	const char *name = workload_of(j)->name;
	/* What failed may be the program or the input, before any file was begun. */
	char *what = whole ? xasprintf("run %s once to warm the caches, not counted", name)
		: t->why.code != ERR_NONE ? xasprintf("get %s ready to run", name)
					  : xasprintf("make the files that %s reads", name);
	char *output = t->why.code != ERR_NONE ? xstrdup(t->why.text)
		: whole ? xasprintf("%s in %s", units_size((int64_t)(h->bytes & INT64_MAX), bytes),
				  units_duration(h->elapsed_ns, took))
			: xstrdup("");

	r.u.step = (struct record_step){.unit = *job_unit(j), .phase = PHASE_CACHE, .what = what,
		.elapsed_ns = clock_mono_ns() - h->began_ns, .ok = t->why.code == ERR_NONE,
		.output = output};
	job_record(j, &r);
	free(what);
	free(output);
}

static void ended(struct job *j)
{
	struct err why = j->trial.why;

	record(j);
	if (j->stopping) {
		job_unit_fail(j, &j->end_error);
		job_end_unit(j);
	} else if (why.code != ERR_NONE) {
		trial_not_prepared(j, &why);
	} else {
		trial_make_cache(j);
	}
}

void rehearse_failed(struct job *j, const struct err *why)
{
	trial_fail(&j->trial, why);
	ended(j);
}

static void on_done(struct job *j, struct msg_worker_done *d)
{
	struct rehearsed *h = &j->trial.rehearsed;

	h->is_over = 1;
	h->bytes = d->bytes;
	h->elapsed_ns = d->elapsed_ns;
	if (!d->ok) {
		trial_fail(&j->trial, &d->error);
		j->trial.done.detail = d->detail; /* what shows why goes with the trial */
		d->detail = (struct trial_detail){0};
	}
	trial_watch_stop(j);
	worker_expect_end(j->worker, END_MS);
}

static void on_msg(void *owner, struct msg *m)
{
	struct msg go = {.type = MSG_WORKER_GO};
	struct job *j = owner;
	struct err e;

	if (j->trial.rehearsed.is_over)
		return;
	if (m->type == MSG_WORKER_READY) {
		trial_watch_go(j);
		worker_send(j->worker, &go);
	} else if (m->type == MSG_WORKER_SAMPLE) {
		trial_watch_progress(j, &m->u.worker_sample);
	} else if (m->type == MSG_WORKER_DONE) {
		on_done(j, &m->u.worker_done);
	} else {
		err_set(&e, ERR_PROTOCOL, "the worker sent %s out of turn", msg_type_name(m->type));
		trial_abort(j, &e);
	}
}

static void on_end(void *owner, const struct err *how, int words)
{
	struct job *j = owner;
	struct err e;

	j->worker = NULL;
	trial_watch_stop(j);
	if (!j->trial.rehearsed.is_over) {
		err_set(&e, ERR_FAILED, "%s before the caches were made",
			how->text[0] ? how->text : "the worker ended");
		trial_fail(&j->trial, &e);
	}
	trial_hear_last_words(&j->trial, words);
	ended(j);
}

int rehearse_begin(struct job *j)
{
	const struct worker_handler h = {.on_msg = on_msg, .on_end = on_end, .owner = j};
	enum rehearsal what = what_is_due(j);
	struct msg spec = {0};
	struct err e;

	if (what == REHEARSE_NONE)
		return 0;
	j->trial.rehearsed = (struct rehearsed){.what = what, .began_ns = clock_mono_ns()};
	job_move(j, JOB_REHEARSE);
	if (job_worker_spec(
		    j, job_volume(j), j->trial.workload, j->trial.repeat, &spec, &e)) {
		job_phase_failed(j, &e);
		return 1;
	}
	spec.u.worker_spec.rehearse = what;
	if (trial_start_worker(j, &spec, &h, &e))
		job_phase_failed(j, &e);
	msg_clear(&spec);
	return 1;
}

char *rehearse_cache_text(const struct job *j, const char *done)
{
	const struct rehearsed *h = &j->trial.rehearsed;
	char bytes[UNITS_LEN], took[UNITS_LEN];

	if (h->what != REHEARSE_TRIAL)
		return str_starts(done, "cold") && workload_makes_late(workload_of(j))
			? xasprintf("not cold: %s makes what it reads after this (%s)",
				  workload_of(j)->name, done)
			: xstrdup(done);
	return xasprintf("warm: %s ran once before, not counted (%s in %s)", workload_of(j)->name,
		units_size((int64_t)(h->bytes & INT64_MAX), bytes),
		units_duration(h->elapsed_ns, took));
}
