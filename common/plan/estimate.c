/* Builds, bytes, time and findable difference of a plan, from the plan alone. Pure. */
#include "common/plan/estimate.h"

#include <math.h>

#include "common/base/json.h"
#include "common/base/units.h"
#include "common/plan/plan_internal.h"
#include "common/plan/student.h"
#include "common/plan/workload.h"

/* Disks that hold data: what a stream's rate grows with. 0: not known. */
static unsigned data_disks(const struct layout *l)
{
	unsigned sum = 0;
	int open;

	if (l->fs)
		return 1;
	for (size_t i = 0; l->pool && i < l->pool->n_vdevs; i++) {
		const struct vdev_group *g = &l->pool->vdevs[i];
		unsigned n = disk_set_count(&g->disks, &open);

		if (g->level == LEVEL_MIRROR)
			sum += n ? 1 : 0;
		else if (g->level >= LEVEL_RAIDZ1 && g->level <= LEVEL_RAIDZ3)
			sum += n > (unsigned)g->level ? n - (unsigned)(g->level - LEVEL_RAIDZ1 + 1)
						      : 0;
		else
			sum += n;
	}
	return sum;
}

static double layout_rate(const struct layout *l)
{
	double rate;

	if (l->scratch.disks || l->existing)
		return ESTIMATE_SCRATCH_RATE;
	rate = data_disks(l) * ESTIMATE_DISK_RATE;
	if (rate == 0)
		rate = ESTIMATE_DISK_RATE;
	return rate < ESTIMATE_VOLUME_RATE ? rate : ESTIMATE_VOLUME_RATE;
}

/* One trial of every workload on every layout: seconds, and bytes over all layouts. */
static int pass_over_workloads(const struct plan *p, uint64_t ram_bytes, double *ret_written,
	double *ret_read, double *ret_seconds, struct err *e)
{
	double written = 0, got = 0, seconds = 0;

	for (unsigned i = 0; i < p->n_workloads; i++) {
		struct workload_needs n = {0};
		double bytes;

		/* Sizes that depend on an unknown memory count as nothing. */
		if (workload_needs(p, i, ram_bytes, &n, e) && ram_bytes)
			return -1;
		bytes = (double)n.written_bytes + (double)n.read_bytes;
		for (size_t j = 0; j < p->n_layouts; j++) {
			double least = bytes / layout_rate(&p->layouts[j]);
			double fixed = (double)n.duration_ns / NS_PER_S;

			seconds += fixed > least || p->workloads[i].duration_ns ? fixed : least;
		}
		written += (double)n.written_bytes * (double)p->n_layouts;
		got += (double)n.read_bytes * (double)p->n_layouts;
	}
	/* Warm caches take a trial before each, not counted. */
	*ret_written = written * (p->cache == CACHE_WARM ? 2 : 1);
	*ret_read = got * (p->cache == CACHE_WARM ? 2 : 1);
	*ret_seconds = seconds * (p->cache == CACHE_WARM ? 2 : 1);
	return 0;
}

/* Paired by block: the difference of two trials scatters by cv * sqrt(2). */
static double smallest_difference(unsigned n, double cv)
{
	if (n < 2)
		return INFINITY;
	return (student_quantile(0.975, n - 1) + student_quantile(0.8, n - 1)) * cv * sqrt(2.0 / n);
}

struct pass {
	double written, got, seconds;
};

static int cost_of(const struct plan *p, unsigned blocks, const struct pass *one,
	struct plan_cost *ret, struct err *e)
{
	struct plan_cost x = {.blocks = blocks};
	double times = (double)blocks * p->repeat, trials, ns;

	x.builds = (unsigned)p->n_layouts * (p->builds == BUILDS_ONCE ? 1 : blocks);
	trials = times * (double)p->n_layouts * (double)p->n_workloads;
	ns = one->seconds * times * 1e9 + (double)x.builds * ESTIMATE_BUILD_NS +
	     trials * ESTIMATE_TRIAL_NS;
	if (one->written * times > 9e18 || one->got * times > 9e18 || ns > 9e18 ||
		trials > UINT32_MAX)
		return err_set(e, ERR_INPUT,
			"%s: more bytes, trials or years than can be counted: "
			"lower trials, repeat or sizes",
			p->name);
	x.trials = (unsigned)trials;
	x.written_bytes = (int64_t)(one->written * times);
	x.read_bytes = (int64_t)(one->got * times);
	x.duration_ns = (int64_t)ns;
	*ret = x;
	return 0;
}

int plan_estimate(
	const struct plan *p, uint64_t ram_bytes, struct plan_estimate *ret, struct err *e)
{
	struct plan_estimate x = {.cv = ESTIMATE_CV};
	struct pass one;

	if (pass_over_workloads(p, ram_bytes, &one.written, &one.got, &one.seconds, e) ||
		cost_of(p, p->trials_max, &one, &x.most, e) ||
		cost_of(p, p->trials_min, &one, &x.least, e))
		return -1;
	x.smallest_difference = smallest_difference(p->trials_min, x.cv);
	*ret = x;
	return 0;
}

static json_t *cost_json(const struct plan_cost *v)
{
	json_t *o = json_object();

	json_object_set_new(o, "blocks", json_integer(v->blocks));
	json_object_set_new(o, "builds", json_integer(v->builds));
	json_object_set_new(o, "trials", json_integer(v->trials));
	json_object_set_new(o, "written_bytes", json_integer(v->written_bytes));
	json_object_set_new(o, "read_bytes", json_integer(v->read_bytes));
	json_object_set_new(o, "duration_s", json_number((double)v->duration_ns / NS_PER_S));
	return o;
}

struct json_t *plan_estimate_json(const struct plan_estimate *v)
{
	json_t *o = cost_json(&v->most);

	json_object_set_new(o, "smallest_difference", json_number(v->smallest_difference));
	json_object_set_new(o, "cv", json_number(v->cv));
	json_object_set_new(o, "least",
		v->least.blocks < v->most.blocks ? cost_json(&v->least) : json_null());
	return o;
}
