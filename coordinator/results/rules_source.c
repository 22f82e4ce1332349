/*
 * Rule V12: what a trial was bound by when it was not its volume. Owns nothing beyond a call.
 *
 * A disk outside that was busy for a share b of a trial would have been so under any volume: with the
 * fastest one the trial would have been at most 1 - b shorter.
 */
#include <math.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/plan/workload.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/rules.h"

#define SOURCE_BUSY 0.8 /* of the trial's time, and more than each disk of the volume */

/* Of a row's trials: the busiest disk of the dump, and the volume's beside it. */
struct source_use {
	const struct source_evidence *bound_by, *shared;
	double busy, volume;
	unsigned bound, told;
};

static double share(const struct disk_counters *c, const struct result_trial *t)
{
	return t->sum.elapsed_ns > 0 ? (double)c->busy_ns / (double)t->sum.elapsed_ns : 0;
}

static double volume_share(const struct result_trial *t)
{
	const struct trial_evidence *v = t->sum.evidence;
	double most = 0;

	for (size_t i = 0; i < v->n_disks; i++)
		most = fmax(most, share(&v->disks[i].during, t));
	return most;
}

static void add_trial(const struct result_trial *t, struct source_use *u)
{
	const struct trial_evidence *v = t->sum.n_evidence ? t->sum.evidence : NULL;
	double volume = v ? volume_share(t) : 0;
	int bound = 0;

	for (size_t i = 0; v && i < v->n_sources; i++) {
		const struct source_evidence *s = &v->sources[i];
		double busy = share(&s->during, t);

		u->told += i == 0;
		if (s->is_shared) {
			u->shared = s;
			continue;
		}
		if (!(busy > SOURCE_BUSY) || busy <= volume)
			continue;
		bound = 1;
		if (u->bound_by && busy <= u->busy)
			continue;
		u->bound_by = s;
		u->busy = busy;
		u->volume = volume;
	}
	u->bound += (unsigned)bound;
}

static const char *what_it_is(const struct source_evidence *s)
{
	return s->is_written ? "the disk that its dump goes to" : "the disk that its dump comes from";
}

static void bound_told(
	const struct rule_input *in, const struct result_row *row, const struct source_use *u)
{
	const struct source_evidence *s = u->bound_by;

	finding_add(in, SEVERITY_WARNING, row->host, row->layout, row->workload,
		json_pack("{so ss sf sf si si}", "disk", json_text(s->id ? s->id : s->name), "name",
			s->name, "source_busy", u->busy, "volume_busy", u->volume, "bound",
			(int)u->bound, "n", (int)row->listed),
		"bound by %s in %u of %u trials: %s was up to %.0f%% busy, the volume's busiest disk "
		"%.0f%%",
		what_it_is(s), u->bound, row->listed, s->name, 100 * u->busy, 100 * u->volume);
}

static void shared_told(
	const struct rule_input *in, const struct result_row *row, const struct source_evidence *s)
{
	finding_add(in, SEVERITY_WARNING, row->host, row->layout, row->workload,
		json_pack("{so ss sb}", "disk", json_text(s->id ? s->id : s->name), "name", s->name,
			"shared", 1),
		"the volume stands on %s (%s), too: they take each other's time", what_it_is(s),
		s->name);
}

/* By its plan it moves a dump between the volume and another place. */
static int has_source(const struct rule_input *in, const struct result_row *row)
{
	const struct plan *p = in->run->plan;
	struct strv from = {0}, to = {0};
	int has;

	if (!p || row->workload_index >= p->n_workloads)
		return 0;
	workload_outside(&p->workloads[row->workload_index], &from, &to);
	has = from.n + to.n > 0;
	strv_free(&from);
	strv_free(&to);
	return has;
}

void rule_source_bound(const struct rule_input *in)
{
	FOR_ROWS(in, row)
	{
		struct source_use u = {0};

		if (!rule_row_is_headline(in, row))
			continue;
		for (unsigned i = 0; i < row->listed; i++)
			add_trial(row->trials[i], &u);
		if (u.told < row->listed && has_source(in, row))
			finding_unknown(in, "not told on which disk the dump lies");
		if (u.bound_by)
			bound_told(in, row, &u);
		if (u.shared)
			shared_told(in, row, u.shared);
	}
}

void rule_bound_elsewhere(const struct rule_input *in)
{
	rule_cpu_bound(in);
	rule_source_bound(in);
	rule_paced(in);
}
