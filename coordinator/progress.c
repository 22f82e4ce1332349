/* A job's progress from facts, and its lines. Owns the texts in struct progress. */
#include "coordinator/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/workload.h"
#include "coordinator/jobs.h"
#include "coordinator/results/report_details.h"

static const char *const phase_names[PROGRESS_PHASE_COUNT] = {
	[PROGRESS_START] = "start",
	[PROGRESS_BUILD] = "build",
	[PROGRESS_CACHE] = "cache",
	[PROGRESS_WORKLOAD] = "workload",
	[PROGRESS_TEARDOWN] = "teardown",
};
static const enum progress_phase of_step[PHASE_COUNT] = {
	[PHASE_BUILD] = PROGRESS_BUILD,
	[PHASE_CACHE] = PROGRESS_CACHE,
	[PHASE_WORKLOAD] = PROGRESS_WORKLOAD,
	[PHASE_TEARDOWN] = PROGRESS_TEARDOWN,
};

void progress_clear(struct progress *p)
{
	free(p->what);
	memset(p, 0, sizeof(*p));
}

/* ---- facts ---- */

static void say(struct progress *p, const char *what)
{
	char *copy = xstrdup(what && *what ? what : NULL);

	free(p->what);
	p->what = copy;
}

static void no_trial(struct progress *p)
{
	p->trial = 0;
	p->bytes = p->planned_bytes = 0;
	p->trial_ns = 0;
	p->rate = p->ops_rate = 0;
}

static void unit_start(struct progress *p, const struct fact *f, int64_t now_ns)
{
	no_trial(p);
	p->phase = PROGRESS_BUILD;
	p->unit = f->unit;
	p->position = f->position;
	p->unit_began_ns = now_ns;
	if (!p->began_ns)
		p->began_ns = now_ns;
	say(p, NULL);
}

static void trial_start(struct progress *p, const struct fact *f)
{
	no_trial(p);
	p->phase = PROGRESS_WORKLOAD;
	p->unit = f->unit;
	p->workload = f->workload;
	p->repeat = f->repeat;
	p->trial = f->trial;
	p->planned_bytes = f->planned_bytes;
	say(p, NULL);
}

static void sample(struct progress *p, const struct fact *f)
{
	if (p->trial != f->trial) {
		no_trial(p);
		p->trial = f->trial;
		p->phase = PROGRESS_WORKLOAD;
	}
	p->bytes += f->bytes;
	p->trial_ns = f->elapsed_ns;
	p->rate = f->rate;
	p->ops_rate = f->ops_rate;
}

void progress_apply(struct job *j, const struct fact *f, int64_t now_ns)
{
	struct progress *p = &j->progress;

	switch (f->type) {
	case RECORD_ATTEMPT_START:
		progress_clear(p);
		p->phase = PROGRESS_START;
		break;
	case RECORD_UNIT_START:
		unit_start(p, f, now_ns);
		break;
	case RECORD_STEP:
		p->unit = f->unit;
		p->phase = of_step[f->phase];
		say(p, f->text);
		break;
	case RECORD_TRIAL_START:
		trial_start(p, f);
		break;
	case RECORD_SAMPLE:
		sample(p, f);
		break;
	case RECORD_TRIAL_END:
		no_trial(p);
		break;
	case RECORD_UNIT_END:
		p->ended += f->ok != 0;
		p->last_end_ns = now_ns;
		p->unit.block = 0;
		p->phase = PROGRESS_START;
		break;
	case RECORD_ATTEMPT_END:
		progress_clear(p);
		break;
	default:
		break;
	}
}

/* ---- lines ---- */

static void put(json_t *o, const char *key, json_t *v)
{
	json_object_set_new(o, key, v);
}

static json_t *layout_name(const struct job *j, uint32_t layout)
{
	const struct plan *p = j->run->plan;

	return layout < p->n_layouts ? json_text(p->layouts[layout].name) : json_null();
}

static json_t *workload_name(const struct job *j, uint32_t workload)
{
	const struct plan *p = j->run->plan;

	return workload < p->n_workloads ? json_text(p->workloads[workload].name) : json_null();
}

/* "" for a workload that the plan does not have. */
static const char *headline(const struct job *j, uint32_t workload)
{
	const struct plan *p = j->run->plan;

	return workload < p->n_workloads ? workload_headline(&p->workloads[workload]) : "";
}

static json_t *line(const struct job *j, const char *type)
{
	json_t *o = json_object();

	put(o, "type", json_text(type));
	put(o, "run", json_integer((json_int_t)j->run->id));
	put(o, "job", json_integer((json_int_t)j->sched->key.job));
	put(o, "host", json_text(j->sched->host->name));
	return o;
}

static json_t *seconds(int64_t ns)
{
	return json_number((double)ns / NS_PER_S);
}

static json_t *time_left(const struct job *j, int64_t now_ns)
{
	const struct progress *p = &j->progress;
	size_t missing = j->sched->n_units - j->sched->n_complete;
	double each, left;

	if (!p->ended || !p->began_ns)
		return json_null();
	each = (double)(p->last_end_ns - p->began_ns) / p->ended;
	left = each * (double)missing;
	if (p->unit.block)
		left -= (double)(now_ns - p->unit_began_ns);
	return json_number(left > 0 ? left / NS_PER_S : 0);
}

static void put_trial(json_t *o, const struct job *j)
{
	const struct progress *p = &j->progress;
	int on = p->trial != 0;

	put(o, "workload", on ? workload_name(j, p->workload) : json_null());
	put(o, "headline", on ? json_text(headline(j, p->workload)) : json_null());
	put(o, "repeat", on ? json_integer(p->repeat) : json_null());
	put(o, "trial", on ? json_integer(p->trial) : json_null());
	put(o, "bytes", on ? json_integer((json_int_t)p->bytes) : json_null());
	put(o, "planned_bytes", on && p->planned_bytes ? json_integer((json_int_t)p->planned_bytes)
						       : json_null());
	put(o, "rate", on ? json_number(p->rate) : json_null());
	put(o, "ops_rate", on ? json_number(p->ops_rate) : json_null());
	put(o, "trial_s", on ? seconds(p->trial_ns) : json_null());
}

json_t *progress_job(const struct job *j, int64_t now_ns)
{
	const struct progress *p = &j->progress;
	const struct sched_job *s = j->sched;
	json_t *o = line(j, "job");
	int in_unit = p->phase != PROGRESS_NONE && p->unit.block;

	put(o, "state", json_text(job_shown_state(j)));
	put(o, "why", s->why ? json_text(s->why) : json_null());
	put(o, "online", json_boolean(s->host->online));
	put(o, "attempt", json_integer(s->key.attempt));
	put(o, "units_done", json_integer((json_int_t)s->n_complete));
	put(o, "units", json_integer((json_int_t)s->n_units));
	put(o, "blocks", json_integer(j->stop_block ? j->stop_block : j->run->blocks));
	put(o, "least_blocks",
		j->run->plan->until > 0 && !j->stop_block
			? json_integer(j->run->plan->trials_min)
			: json_null());
	put(o, "layouts", json_integer((json_int_t)j->run->plan->n_layouts));
	put(o, "block", in_unit ? json_integer(p->unit.block) : json_null());
	put(o, "layout", in_unit ? layout_name(j, p->unit.layout) : json_null());
	put(o, "position", in_unit && p->position ? json_integer(p->position) : json_null());
	put(o, "phase", p->phase ? json_text(phase_names[p->phase]) : json_null());
	put(o, "what", p->what ? json_text(p->what) : json_null());
	put_trial(o, j);
	put(o, "left_s", p->phase ? time_left(j, now_ns) : json_null());
	return o;
}

static json_t *event(const struct job *j, const char *name, int64_t wall_ns)
{
	json_t *o = line(j, "event");
	char at[UNITS_LEN];

	put(o, "at", json_text(units_wall_rfc3339(wall_ns, at)));
	put(o, "event", json_text(name));
	return o;
}

static void put_unit(json_t *o, const struct job *j, const struct unit *u)
{
	put(o, "block", json_integer(u->block));
	put(o, "layout", layout_name(j, u->layout));
}

static void put_text(json_t *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put_text(json_t *o, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	put(o, "text", json_text(text));
	free(text);
}

static const char *name_of(const struct job *j, int workload, uint32_t i)
{
	const struct plan *p = j->run->plan;

	if (workload)
		return i < p->n_workloads ? p->workloads[i].name : "?";
	return i < p->n_layouts ? p->layouts[i].name : "?";
}

/* Of what the workload is judged by: operations, else bytes. */
static const char *rate_of(const struct job *j, const struct fact *f, char out[UNITS_LEN])
{
	double per_s = f->elapsed_ns > 0 ? NS_PER_S / (double)f->elapsed_ns : 0;

	if (strcmp(headline(j, f->workload), "ops_per_s") == 0)
		return report_quantity(per_s * (double)f->ops, "ops/s", out);
	return units_rate(per_s * (double)f->bytes, out);
}

static json_t *trial_event(const struct job *j, const struct fact *f)
{
	json_t *o = event(j, "trial-end", f->wall_ns);
	char took[UNITS_LEN], rate[UNITS_LEN];

	put(o, "ok", json_boolean(f->ok));
	put_unit(o, j, &f->unit);
	put(o, "workload", workload_name(j, f->workload));
	put(o, "repeat", json_integer(f->repeat));
	put(o, "elapsed_s", seconds(f->elapsed_ns));
	put(o, "bytes", json_integer((json_int_t)f->bytes));
	put(o, "ops", json_integer((json_int_t)f->ops));
	if (f->ok)
		put_text(o, "block %u %s %s: %s, %s", f->unit.block, name_of(j, 0, f->unit.layout),
			name_of(j, 1, f->workload), units_duration(f->elapsed_ns, took),
			rate_of(j, f, rate));
	else
		put_text(o, "block %u %s %s failed: %s", f->unit.block,
			name_of(j, 0, f->unit.layout), name_of(j, 1, f->workload),
			f->text ? f->text : "no reason given");
	return o;
}

static json_t *unit_event(const struct job *j, const struct fact *f)
{
	json_t *o = event(j, "unit-end", f->wall_ns);

	put(o, "ok", json_boolean(f->ok));
	put_unit(o, j, &f->unit);
	put_text(o, "block %u %s %s%s", f->unit.block, name_of(j, 0, f->unit.layout),
		f->ok ? "complete" : "failed: ", f->ok || !f->text ? "" : f->text);
	return o;
}

static json_t *step_event(const struct job *j, const struct fact *f)
{
	json_t *o = event(j, "step-failed", f->wall_ns);

	put(o, "ok", json_false());
	put_unit(o, j, &f->unit);
	put(o, "elapsed_s", seconds(f->elapsed_ns));
	put_text(o, "block %u %s: %s failed", f->unit.block, name_of(j, 0, f->unit.layout),
		f->text ? f->text : "a step");
	return o;
}

static json_t *volume_event(const struct job *j, const struct fact *f)
{
	json_t *o = event(j, "volume-ready", f->wall_ns);
	char size[UNITS_LEN];

	put(o, "ok", json_true());
	put_unit(o, j, &f->unit);
	put(o, "bytes", json_integer((json_int_t)f->bytes));
	put_text(o, "block %u %s is built: %s usable", f->unit.block, name_of(j, 0, f->unit.layout),
		units_size((int64_t)(f->bytes > INT64_MAX ? INT64_MAX : f->bytes), size));
	return o;
}

static json_t *attempt_event(const struct job *j, const struct fact *f)
{
	static const char *const words[ATTEMPT_STATE_COUNT] = {
		[ATTEMPT_RUNNING] = "running",
		[ATTEMPT_DONE] = "done",
		[ATTEMPT_FAILED] = "failed",
		[ATTEMPT_CANCELLED] = "cancelled",
		[ATTEMPT_INTERRUPTED] = "interrupted",
	};
	json_t *o;

	if (f->type == RECORD_ATTEMPT_START) {
		o = event(j, "attempt-start", f->wall_ns);
		put(o, "ok", json_true());
		put_text(o, "attempt %u begins", j->sched->key.attempt);
		return o;
	}
	o = event(j, "attempt-end", f->wall_ns);
	put(o, "ok", json_boolean(f->state == ATTEMPT_DONE));
	put_text(o, "attempt %u %s%s%s", j->sched->key.attempt, words[f->state],
		f->text && *f->text ? ": " : "", f->text ? f->text : "");
	return o;
}

json_t *progress_event(const struct job *j, const struct fact *f)
{
	switch (f->type) {
	case RECORD_ATTEMPT_START:
	case RECORD_ATTEMPT_END:
		return attempt_event(j, f);
	case RECORD_VOLUME_READY:
		return volume_event(j, f);
	case RECORD_STEP:
		return f->ok ? NULL : step_event(j, f);
	case RECORD_TRIAL_END:
		return trial_event(j, f);
	case RECORD_UNIT_END:
		return unit_event(j, f);
	default:
		return NULL;
	}
}

json_t *progress_moved(const struct job *j)
{
	json_t *o = event(j, "job", clock_wall_ns());
	const char *state = job_shown_state(j);

	put(o, "ok", json_boolean(j->sched->state != SCHED_FAILED));
	put(o, "state", json_text(state));
	put_text(o, "%s%s%s", state, j->sched->why ? ": " : "", j->sched->why ? j->sched->why : "");
	return o;
}

json_t *progress_said(const struct job *j, const char *name, const char *text)
{
	json_t *o = event(j, name, clock_wall_ns());

	put(o, "ok", json_true());
	put_text(o, "%s", text);
	return o;
}
