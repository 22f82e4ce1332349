/*
 * What a result set from outside must be before it is kept. Owns nothing.
 * Invariant: nothing here depends on who sent it; what passes can be written as export lines and
 * read again without a loss.
 */
#include <math.h>
#include <string.h>

#include "common/base/utf8.h"
#include "coordinator/results/set.h"

#define NAMES_MAX 20000 /* layouts or workloads of a run */
#define NAME_BYTES 512
#define TEXT_BYTES 4096
#define POINTS_MAX 1000
#define YEARS_10000_NS INT64_C(9000000000000000000)

static int wrong(struct err *e, const char *what, const char *host, unsigned number,
	const char *why)
{
	return err_set(e, ERR_INPUT, "%s %u of host '%.80s': %s", what, number, host ? host : "",
		why);
}

/* Text of at most so many bytes without control characters. */
static int is_line(const char *s, size_t max)
{
	size_t len = strlen(s), n;

	if (len > max)
		return 0;
	for (size_t i = 0; i < len; i += n) {
		n = utf8_valid(s + i, len - i);
		if (n == 0 || utf8_is_control(s + i, n))
			return 0;
	}
	return 1;
}

static int is_name(const char *s)
{
	return s && *s && is_line(s, NAME_BYTES);
}

static int is_time(int64_t ns)
{
	return ns >= 0 && ns < YEARS_10000_NS;
}

static int are_names(const struct strv *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (!is_name(list->v[i]))
			return 0;
	return list->n <= NAMES_MAX;
}

static int fits(const struct strv *list, uint32_t i, const char *name)
{
	return i < list->n && strcmp(list->v[i], name) == 0;
}

static int check_run(const struct result_run *r, struct err *e)
{
	const char *const texts[] = {
		r->state, r->plan_sha256, r->tool_version, r->user, r->cache, r->design};

	if (!is_name(r->name))
		return err_set(e, ERR_INPUT, "the run's name is no line of text");
	if (!are_names(&r->layouts) || !are_names(&r->workloads))
		return err_set(e, ERR_INPUT,
			"run '%.80s': the names of its layouts or workloads are no names, or more "
			"than %d",
			r->name, NAMES_MAX);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!is_line(texts[i], NAME_BYTES))
			return err_set(e, ERR_INPUT, "run '%.80s': a text of it is no line",
				r->name);
	if (r->baseline < -1 || (r->baseline >= 0 && (size_t)r->baseline >= r->layouts.n) ||
		!(r->margin >= 0 && r->margin < 1e6) || !is_time(r->started_wall_ns) ||
		!is_time(r->finished_wall_ns))
		return err_set(e, ERR_INPUT, "run '%.80s': baseline, margin or times make no sense",
			r->name);
	return 0;
}

static int is_line_or_none(const char *s, size_t max)
{
	return !s || is_line(s, max);
}

/* Of the host's programs: lines, with whatever control characters they print. */
static int is_text(const char *s, size_t max)
{
	size_t len = strlen(s), n;

	for (size_t i = 0; i < len; i += n) {
		n = utf8_valid(s + i, len - i);
		if (n == 0)
			return 0;
	}
	return len <= max;
}

static int check_detail(const struct result_trial *t, struct err *e)
{
	const struct trial_detail *d = &t->sum.detail;

	for (size_t i = 0; i < d->n_parts; i++)
		if (!is_name(d->parts[i].name) || !is_line(d->parts[i].kind, NAME_BYTES) ||
			!is_time(d->parts[i].elapsed_ns))
			return wrong(e, "trial", t->host, t->sum.trial,
				"the name, kind or time of a part of it makes no sense");
	for (size_t i = 0; i < d->n_facts; i++)
		if (!is_name(d->facts[i].name) || !is_line(d->facts[i].unit, NAME_BYTES))
			return wrong(e, "trial", t->host, t->sum.trial,
				"the name or unit of a fact of it is no line");
	for (size_t i = 0; i < d->n_notes; i++)
		if (!is_name(d->notes[i].name) || !is_text(d->notes[i].text, DETAIL_NOTE_MAX))
			return wrong(e, "trial", t->host, t->sum.trial,
				"the name of a note of it is no line, or its text too long");
	return 0;
}

/* What a host told of settings, and of disks that a dump lies on. */
static int are_lines(const struct trial_evidence *v)
{
	for (size_t i = 0; i < v->n_settings; i++) {
		const struct setting_evidence *s = &v->settings[i];

		if (!is_line_or_none(s->name, NAME_BYTES) || !is_line_or_none(s->of, NAME_BYTES) ||
			!is_line_or_none(s->before, TEXT_BYTES) ||
			!is_line_or_none(s->after, TEXT_BYTES))
			return 0;
	}
	for (size_t i = 0; i < v->n_sources; i++)
		if (!is_line_or_none(v->sources[i].name, NAME_BYTES) ||
			!is_line_or_none(v->sources[i].id, NAME_BYTES))
			return 0;
	return 1;
}

static int check_evidence(const struct result_trial *t, struct err *e)
{
	const struct trial_evidence *v = t->sum.evidence;

	if (!v)
		return 0;
	for (size_t i = 0; i < v->n_disks; i++)
		if (!is_line_or_none(v->disks[i].name, NAME_BYTES) ||
			!is_line_or_none(v->disks[i].id, NAME_BYTES) ||
			!is_line_or_none(v->disks[i].backing, NAME_BYTES) ||
			!is_line_or_none(v->disks[i].cache_before, NAME_BYTES) ||
			!is_line_or_none(v->disks[i].cache_after, NAME_BYTES))
			return wrong(e, "trial", t->host, t->sum.trial,
				"a name of a disk of it is no line");
	if (!is_line_or_none(v->maintenance_before, TEXT_BYTES) ||
		!is_line_or_none(v->maintenance_after, TEXT_BYTES))
		return wrong(e, "trial", t->host, t->sum.trial, "its maintenance is no line");
	if (!are_lines(v))
		return wrong(e, "trial", t->host, t->sum.trial,
			"a setting or a source of it is no line");
	return 0;
}

static int check_trial(const struct result_run *r, const struct result_trial *t, struct err *e)
{
	const struct trial_summary *s = &t->sum;

	if (!is_name(t->host))
		return wrong(e, "trial", NULL, s->trial, "its host has no name");
	if (!fits(&r->layouts, t->layout, t->layout_name) ||
		!fits(&r->workloads, t->workload, t->workload_name))
		return wrong(e, "trial", t->host, s->trial,
			"its layout or workload is not that of the run");
	if (!is_line(t->op, NAME_BYTES) || !is_line(t->cache, TEXT_BYTES) ||
		(s->error && strlen(s->error) > TEXT_BYTES))
		return wrong(e, "trial", t->host, s->trial, "a text of it is no line");
	if (!is_time(s->elapsed_ns) || !is_time(s->sync_ns) || !is_time(s->started_wall_ns))
		return wrong(e, "trial", t->host, s->trial, "its times make no sense");
	return check_detail(t, e) || check_evidence(t, e) ? -1 : 0;
}

static int check_summary(const struct result_run *r, const struct result_summary *m, unsigned i,
	struct err *e)
{
	if (!is_name(m->host))
		return wrong(e, "summary", NULL, i, "its host has no name");
	if (!fits(&r->layouts, m->layout, m->layout_name) ||
		!fits(&r->workloads, m->workload, m->workload_name))
		return wrong(e, "summary", m->host, i,
			"its layout or workload is not that of the run");
	if ((!isnan(m->min) && !(m->min > 0 && isfinite(m->min))) ||
		(!isnan(m->max) && !isfinite(m->max)))
		return wrong(e, "summary", m->host, i, "min or max is no measure");
	return 0;
}

static int check_series(const struct result_series *s, struct err *e)
{
	if (!is_name(s->host))
		return wrong(e, "series of trial", NULL, s->trial, "its host has no name");
	if (s->n > POINTS_MAX)
		return wrong(e, "series of trial", s->host, s->trial, "more than 1000 points");
	for (size_t i = 0; i < s->n; i++) {
		const struct result_point *p = &s->points[i];

		if (!is_time(p->start_ns) || !is_time(p->end_ns))
			return wrong(e, "series of trial", s->host, s->trial, "a time that makes no sense");
	}
	return 0;
}

static int check_steps(const struct result_set *s, struct err *e)
{
	for (size_t i = 0; i < s->n_steps; i++) {
		const struct result_step *p = &s->steps[i];

		if (p->run != s->runs[0].id || !is_name(p->host) || !is_line(p->phase, NAME_BYTES) ||
			!is_line(p->what, TEXT_BYTES) || !is_line(p->layout_name, NAME_BYTES) ||
			!is_time(p->elapsed_ns) || !is_time(p->at_wall_ns))
			return wrong(e, "step", p->host, (unsigned)i + 1,
				"its run, texts or times make no sense");
	}
	return 0;
}

int result_set_check(const struct result_set *s, struct err *e)
{
	const struct result_run *r = s->runs;

	if (s->n_runs != 1)
		return err_set(e, ERR_INPUT, "%zu runs: one is expected", s->n_runs);
	if (s->n_trials + s->n_summaries == 0)
		return err_set(e, ERR_INPUT, "run '%.80s' has no results", r->name);
	if (check_run(r, e))
		return -1;
	for (size_t i = 0; i < s->n_envs; i++)
		if (s->envs[i].run != r->id || !is_name(s->envs[i].host))
			return err_set(e, ERR_INPUT, "an environment of no host of the run");
	for (size_t i = 0; i < s->n_stops; i++)
		if (s->stops[i].run != r->id || !is_name(s->stops[i].host))
			return err_set(e, ERR_INPUT, "a stop of no host of the run");
	for (size_t i = 0; i < s->n_trials; i++)
		if (check_trial(r, &s->trials[i], e))
			return -1;
	for (size_t i = 0; i < s->n_summaries; i++)
		if (check_summary(r, &s->summaries[i], (unsigned)i + 1, e))
			return -1;
	for (size_t i = 0; i < s->n_series; i++) {
		if (s->series[i].run != r->id)
			return err_set(e, ERR_INPUT, "a series of another run");
		if (check_series(&s->series[i], e))
			return -1;
	}
	return check_steps(s, e);
}
