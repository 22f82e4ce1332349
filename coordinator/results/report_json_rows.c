/*
 * The member "results" of the JSON report, by far its largest. Owns nothing beyond a call.
 * Invariant: what a trial is told of beside its value is the same in the rows of all metrics, and is
 * made once.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/results/report_json.h"

enum builds { BUILDS_UNTOLD, BUILT_ONCE, BUILT_EACH_BLOCK };

/* A trial's members behind its value, when they were written once. */
struct told {
	char *text;
	size_t len;
};
struct writer {
	struct json_out *w;
	const struct result_set *s;
	const struct report_options *opt;
	struct told *told; /* of each trial of the set */
	const char *host;  /* of the last row, and how it is shown */
	char shown[REPORT_HOST_MAX];
	uint64_t run; /* of the last row, and how its volumes were built */
	enum builds builds;
};

static void wall(struct json_out *w, const char *key, int64_t wall_ns)
{
	char text[UNITS_LEN];

	json_out_text(w, key, wall_ns ? units_wall_rfc3339(wall_ns, text) : NULL);
}

static void index_from_1(struct json_out *w, const char *key, uint32_t v)
{
	if (v)
		json_out_int(w, key, v);
	else
		json_out_null(w, key);
}

/* Of our own runs the plan tells it. */
static void data(struct json_out *w, const struct data_told *d)
{
	char text[DATA_TOLD_LEN];

	json_out_text(w, "data", d->known ? data_told_text(d, text) : NULL);
}

/* Why a trial failed names devices and folders: a redacted report does not say it. */
static void trial_members(const struct writer *r, const struct result_trial *t, int valid)
{
	struct json_out *w = r->w;

	json_out_int(w, "block", t->block);
	index_from_1(w, "position", t->position);
	index_from_1(w, "build",
		r->builds == BUILDS_UNTOLD ? 0 : r->builds == BUILT_ONCE ? 1 : t->block);
	wall(w, "started", t->sum.started_wall_ns);
	json_out_bool(w, "valid", valid);
	json_out_int(w, "attempt", t->attempt);
	json_out_text(w, "cache", t->cache && *t->cache ? t->cache : NULL);
	data(w, &t->data);
	json_out_text(w, "error", t->sum.ok ? NULL : r->opt->redact ? "failed" : t->sum.error);
}

static void counted_trial(struct writer *r, const struct result_trial *t, double value)
{
	struct told *told = &r->told[t - r->s->trials];
	size_t from;

	json_out_object(r->w, NULL);
	json_out_real(r->w, "value", value);
	from = r->w->out->len;
	if (told->text) {
		json_out_again(r->w, told->text, told->len);
	} else {
		trial_members(r, t, 1);
		told->len = r->w->out->len - from;
		told->text = xmemdup(r->w->out->data + from, told->len);
	}
	json_out_end(r->w);
}

/* Of imports the order may be known, but not what was built. */
static enum builds builds_of(const struct result_set *s, uint64_t run)
{
	const struct result_run *r = NULL;

	for (size_t i = 0; i < s->n_runs && !r; i++)
		r = s->runs[i].id == run ? &s->runs[i] : NULL;
	if (!r || strcmp(r->state, "imported") == 0)
		return BUILDS_UNTOLD;
	if (strcmp(r->design, "once") == 0)
		return BUILT_ONCE;
	return strcmp(r->design, "random-blocks") == 0 || strcmp(r->design, "as-written") == 0
		       ? BUILT_EACH_BLOCK
		       : BUILDS_UNTOLD;
}

/* Those that count, then those that failed and stand: value null, valid false. */
static void trials(struct writer *r, const struct result_row *row)
{
	json_out_list(r->w, "trials");
	for (unsigned i = 0; i < row->listed; i++)
		counted_trial(r, row->trials[i], row->values[i]);
	for (unsigned i = 0; i < row->failed; i++) {
		json_out_object(r->w, NULL);
		json_out_null(r->w, "value");
		trial_members(r, row->failures[i], 0);
		json_out_end(r->w);
	}
	json_out_end(r->w);
}

static void pair(struct json_out *w, const char *key, const double v[2])
{
	if (isnan(v[0]) || isnan(v[1])) {
		json_out_null(w, key);
		return;
	}
	json_out_list(w, key);
	json_out_real(w, NULL, v[0]);
	json_out_real(w, NULL, v[1]);
	json_out_end(w);
}

/* What stands for trials that are not listed. */
static void summary(struct json_out *w, const struct result_row *r)
{
	json_out_object(w, "summary");
	json_out_int(w, "n", r->n);
	json_out_real(w, "mean", r->mean);
	json_out_real(w, "min", r->min);
	json_out_real(w, "max", r->max);
	json_out_real(w, "stddev", r->stddev);
	data(w, &r->data);
	json_out_end(w);
}

static void numbers(struct json_out *w, const struct result_row *r)
{
	json_out_int(w, "n", r->n);
	json_out_int(w, "failed", r->failed);
	json_out_int(w, "superseded", r->superseded);
	json_out_int(w, "incomplete", r->incomplete);
	json_out_int(w, "unmeasured", r->unmeasured);
	json_out_int(w, "doubled", r->doubled);
	json_out_real(w, "mean", r->mean);
	json_out_real(w, "median", r->median);
	json_out_real(w, "stddev", r->stddev);
	json_out_real(w, "cv", r->mean != 0 ? r->stddev / r->mean : NAN);
	json_out_real(w, "min", r->min);
	json_out_real(w, "max", r->max);
	pair(w, "ci95", r->ci95);
	pair(w, "median_ci", r->median_ci);
}

static void one_row(struct writer *r, const struct result_row *row)
{
	const struct metric_info *m = &metric_table[row->metric];
	struct json_out *w = r->w;

	json_out_object(w, NULL);
	json_out_int(w, "run", (int64_t)row->run);
	json_out_text(w, "host", r->shown);
	json_out_text(w, "layout", row->layout);
	json_out_text(w, "workload", row->workload);
	json_out_text(w, "metric", m->name);
	json_out_text(w, "unit", m->unit);
	json_out_text(w, "better", m->higher_is_better ? "higher" : "lower");
	json_out_real(w, "resolution", row->resolution);
	json_out_bool(w, "unit_assumed", row->unit_assumed);
	numbers(w, row);
	if (row->summary_only)
		summary(w, row);
	else
		trials(r, row);
	json_out_end(w);
}

int report_json_rows(
	const struct result_set *s, struct result_row **ret, size_t *ret_n, struct err *e)
{
	enum metric_id all[METRIC_COUNT];

	for (unsigned i = 0; i < METRIC_COUNT; i++)
		all[i] = (enum metric_id)i;
	return result_rows(s, all, METRIC_COUNT, ret, ret_n, e);
}

void report_json_results(struct json_out *w, const struct result_set *s,
	const struct report_options *o, const struct result_row *rows, size_t n)
{
	struct writer r = {.w = w, .s = s, .opt = o};

	r.told = xcalloc(s->n_trials + 1, sizeof(*r.told));
	json_out_list(w, "results");
	for (size_t i = 0; i < n; i++) {
		if (!r.host || strcmp(r.host, rows[i].host) != 0)
			report_host(s, o, rows[i].host, r.shown);
		if (!r.host || r.run != rows[i].run)
			r.builds = builds_of(s, rows[i].run);
		r.host = rows[i].host;
		r.run = rows[i].run;
		one_row(&r, &rows[i]);
		json_out_drain(w);
	}
	json_out_end(w);
	for (size_t i = 0; i < s->n_trials; i++)
		free(r.told[i].text);
	free(r.told);
}
