/*
 * Rule V26: a timed write on flash that had not reached its steady state. Owns nothing beyond a
 * call.
 *
 * Steady as SNIA's Solid State Storage Performance Test Specification defines it: over five windows of
 * equal length the range is at most 20 % of their mean, and the straight line fitted to them changes
 * by at most 10 % of it. Here the windows are the last half of a trial.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/workload.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/rules.h"
#include "coordinator/results/volume_disks.h"

#define WINDOWS 5
#define RANGE 0.20
#define SLOPE 0.10

/* Rates of the windows; -1 when a point spans more than one of them. */
static int windows_of(const struct result_series *s, double rate[WINDOWS])
{
	double end, start, width, spans[WINDOWS] = {0};

	memset(rate, 0, WINDOWS * sizeof(*rate));
	if (s->n < 4 * WINDOWS)
		return -1;
	end = (double)s->points[s->n - 1].end_ns;
	start = end / 2;
	width = (end - start) / WINDOWS;
	for (size_t i = 0; i < s->n; i++) {
		const struct result_point *p = &s->points[i];
		double mid = ((double)p->start_ns + (double)p->end_ns) / 2;
		int w = (int)floor((mid - start) / width);

		if (mid < start || w < 0 || w >= WINDOWS)
			continue;
		rate[w] += p->bytes ? (double)p->bytes : (double)p->ops;
		spans[w] += (double)(p->end_ns - p->start_ns);
	}
	for (int w = 0; w < WINDOWS; w++) {
		if (!(spans[w] > 0))
			return -1;
		rate[w] /= spans[w];
	}
	return 0;
}

/* Range, and the change of the least-squares line from the first window to the last, as parts of the
 * mean. 0: there is none, since nothing moved. */
static int shape_of(const double rate[WINDOWS], double *ret_range, double *ret_slope)
{
	double mean = 0, lo = rate[0], hi = rate[0], xy = 0, xx = 0;

	for (int w = 0; w < WINDOWS; w++) {
		double x = w - (WINDOWS - 1) / 2.0;

		mean += rate[w] / WINDOWS;
		lo = fmin(lo, rate[w]);
		hi = fmax(hi, rate[w]);
		xy += x * rate[w];
		xx += x * x;
	}
	if (!(mean > 0))
		return 0;
	*ret_range = (hi - lo) / mean;
	*ret_slope = xy / xx * (WINDOWS - 1) / mean;
	return 1;
}

static void check_trial(const struct rule_input *in, const struct result_trial *t)
{
	const struct result_series *s = result_set_series(in->set, t);
	double rate[WINDOWS], range, slope;

	if (!s || windows_of(s, rate) < 0) {
		finding_unknown(in, s ? "a series too short to tell" : "no series of every trial");
		return;
	}
	if (!shape_of(rate, &range, &slope)) {
		finding_add(in, SEVERITY_WARNING, t->host, t->layout_name, t->workload_name,
			json_pack("{si sf}", "block", (int)t->block, "rate", 0.0),
			"block %u: in its last half nothing was written: not in a steady state",
			(unsigned)t->block);
		return;
	}
	if (range <= RANGE && fabs(slope) <= SLOPE)
		return;
	finding_add(in, SEVERITY_WARNING, t->host, t->layout_name, t->workload_name,
		json_pack("{si sf sf}", "block", (int)t->block, "range", range, "slope", slope),
		"block %u: in its last half the rate still ranged over %.0f%% and moved by %+.0f%%: "
		"not in a steady state",
		(unsigned)t->block, 100 * range, units_rounded(100 * slope, 0));
}

/* 1: the volume is of flash alone, 0: it is not, -1: its host does not tell. */
static int is_flash(const struct volume_disks *d)
{
	if (d->n == 0)
		return -1;
	for (size_t i = 0; i < d->n; i++) {
		const json_t *rotational = json_object_get(d->v[i].told, "rotational");

		if (!rotational)
			return -1;
		if (json_is_true(rotational))
			return 0;
	}
	return 1;
}

/* Writes for a set time, as fast as it can: its rate is what is asked, and it had time to settle. */
int rule_wants_rates(const struct workload *w)
{
	struct workload_nature n;

	workload_nature(w, &n);
	return workload_syncs(w) >= 0 && !n.paced && strcmp(workload_headline(w), "elapsed") != 0;
}

/* timed: of each workload, whether it is a timed write. */
static void check_volume(
	const struct rule_input *in, const struct volume_disks *d, const unsigned char *timed)
{
	const struct plan *p = in->run->plan;
	int scratch = p->layouts[d->layout_index].scratch.disks > 0;
	int flash = scratch ? 0 : is_flash(d);

	for (size_t i = d->first; i < in->set->n_trials; i++) {
		const struct result_trial *t = &in->set->trials[i];

		if (t->run != in->run->run->id || strcmp(t->host, d->host) != 0)
			break;
		if (!t->sum.ok || t->superseded || t->layout != d->layout_index ||
			t->workload >= p->n_workloads || !timed[t->workload])
			continue;
		if (flash < 0)
			finding_unknown(in, "no description of every disk");
		else if (flash)
			check_trial(in, t);
	}
}

void rule_not_steady(const struct rule_input *in)
{
	const struct plan *p = in->run->plan;
	struct volume_disks *v;
	unsigned char *timed;
	size_t n;

	if (!p) {
		finding_unknown(in, "no plan");
		return;
	}
	timed = xcalloc(p->n_workloads + 1, 1);
	for (size_t i = 0; i < p->n_workloads; i++)
		timed[i] = (unsigned char)rule_wants_rates(&p->workloads[i]);
	volume_disks_of(in, &v, &n);
	for (size_t i = 0; i < n; i++)
		if (v[i].layout_index < p->n_layouts)
			check_volume(in, &v[i], timed);
	volume_disks_free(v, n);
	free(timed);
	rule_pace_lost(in);
}
