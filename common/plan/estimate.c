/* Builds, bytes, time and findable difference of a plan, from the plan alone. Pure. */
#include "common/plan/estimate.h"

#include <math.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/units.h"
#include "common/plan/plan_internal.h"
#include "common/plan/student.h"
#include "common/plan/workload.h"

#define POWER 0.8
#define MIN_TRIALS 3 /* a side: below it verdicts are "too few trials" */
#define SOME_MEMORY (1024.0 * 1024 * 1024 * 1024)
/* As verdicts have them, in coordinator/results/compare.h. */
#define ALPHA 0.05
#define ALPHA_UNTIL 0.03

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

/* Of one trial of every workload on every layout; laid: what only the first one on a volume writes. */
struct pass {
	double written, got, seconds, laid, laid_seconds;
	double written_ram, got_ram, laid_ram; /* multiples of a memory that is not known */
	unsigned unknown;
};

static void add_workload(const struct plan *p, const struct workload *w,
	const struct workload_needs *n, struct pass *to)
{
	double bytes = (double)n->written_bytes + (double)n->read_bytes;
	double fixed = (double)n->duration_ns / NS_PER_S;

	for (size_t j = 0; j < p->n_layouts; j++) {
		double rate = layout_rate(&p->layouts[j]), least = bytes / rate;

		to->seconds += fixed > least || w->duration_ns ? fixed : least;
		to->seconds += (double)n->made_bytes / rate;
		to->laid_seconds += (double)n->laid_bytes / rate;
	}
	to->written += ((double)n->written_bytes + (double)n->made_bytes) * (double)p->n_layouts;
	to->got += (double)n->read_bytes * (double)p->n_layouts;
	to->laid += (double)n->laid_bytes * (double)p->n_layouts;
	to->unknown += n->moves_unknown != 0;
}

/* Of an unknown memory each size is a multiple of it and a constant: two memories tell both. *n keeps
 * the constants; what is an error with any memory counts as nothing. */
static void add_by_memory(
	const struct plan *p, unsigned workload, struct workload_needs *n, struct pass *to)
{
	struct workload_needs one, two;
	double layouts = (double)p->n_layouts, written, got, made, laid;
	struct err e;

	memset(n, 0, sizeof(*n));
	memset(&one, 0, sizeof(one));
	memset(&two, 0, sizeof(two));
	if (workload_needs(p, workload, (uint64_t)SOME_MEMORY, &one, &e) ||
		workload_needs(p, workload, 2 * (uint64_t)SOME_MEMORY, &two, &e))
		return;
	written = (double)(two.written_bytes - one.written_bytes);
	got = (double)(two.read_bytes - one.read_bytes);
	made = (double)(two.made_bytes - one.made_bytes);
	laid = (double)(two.laid_bytes - one.laid_bytes);
	to->written_ram += (written + made) / SOME_MEMORY * layouts;
	to->got_ram += got / SOME_MEMORY * layouts;
	to->laid_ram += laid / SOME_MEMORY * layouts;
	*n = one;
	n->written_bytes -= (int64_t)written;
	n->read_bytes -= (int64_t)got;
	n->made_bytes -= (int64_t)made;
	n->laid_bytes -= (int64_t)laid;
}

static int pass_over_workloads(const struct plan *p, uint64_t ram_bytes, struct pass *ret, struct err *e)
{
	struct pass sum = {0};
	int times = p->cache == CACHE_WARM ? 2 : 1; /* a trial before each, not counted */

	for (unsigned i = 0; i < p->n_workloads; i++) {
		struct workload_needs n = {0};

		if (workload_needs(p, i, ram_bytes, &n, e)) {
			if (ram_bytes)
				return -1;
			add_by_memory(p, i, &n, &sum);
		}
		add_workload(p, &p->workloads[i], &n, &sum);
	}
	sum.written *= times;
	sum.got *= times;
	sum.written_ram *= times;
	sum.got_ram *= times;
	sum.seconds *= times;
	*ret = sum;
	return 0;
}

/* Comparisons that hold together for a workload on one host: pairs times metrics, as reports plan them;
 * one at least. Between hosts there are as many as hosts allow, which the plan does not know: each
 * layout counts once. */
static unsigned family(const struct plan *p)
{
	size_t n = p->n_layouts, pairs = n > 1 ? n - 1 : 1;

	if (p->by && strcmp(p->by, "host") == 0)
		pairs = n;
	else if (p->n_pairs)
		pairs = p->n_pairs;
	else if (p->baseline < 0 && n > 1)
		pairs = n * (n - 1) / 2;
	return (unsigned)(pairs * (p->metrics.n ? p->metrics.n : 1));
}

/* Blocks in random order are compared in pairs, whatever else by the trials of each side. */
static int is_paired(const struct plan *p)
{
	return p->builds != BUILDS_ONCE && p->order != ORDER_AS_WRITTEN &&
	       !(p->by && strcmp(p->by, "host") == 0);
}

/* The difference of two trials scatters by cv * sqrt(2), paired by block or not. Verdicts want MIN_TRIALS. */
static double smallest_difference(const struct plan *p, double cv)
{
	double alpha = p->until > 0 ? ALPHA_UNTIL : ALPHA, t;
	unsigned n = p->trials_min, df = is_paired(p) ? n - 1 : 2 * (n - 1);

	if (n < MIN_TRIALS)
		return INFINITY;
	t = student_quantile(1 - alpha / family(p) / 2, df) + student_quantile(POWER, df);
	return expm1(t * cv * sqrt(2.0 / n));
}

static int cost_of(const struct plan *p, unsigned blocks, const struct pass *one,
	struct plan_cost *ret, struct err *e)
{
	struct plan_cost x = {.blocks = blocks};
	double times = (double)blocks * p->repeat, trials, ns, written;
	unsigned volumes = p->builds == BUILDS_ONCE ? 1 : blocks; /* of each layout */

	x.builds = (unsigned)p->n_layouts * volumes;
	trials = times * (double)p->n_layouts * (double)p->n_workloads;
	written = one->written * times + one->laid * volumes;
	ns = (one->seconds * times + one->laid_seconds * volumes) * 1e9 +
	     (double)x.builds * ESTIMATE_BUILD_NS + trials * ESTIMATE_TRIAL_NS;
	if (written > 9e18 || one->got * times > 9e18 || ns > 9e18 ||
		trials > UINT32_MAX)
		return err_set(e, ERR_INPUT,
			"%s: more bytes, trials or years than can be counted: "
			"lower trials, repeat or sizes",
			p->name);
	x.trials = (unsigned)trials;
	x.written_bytes = (int64_t)written;
	x.read_bytes = (int64_t)(one->got * times);
	x.written_ram = one->written_ram * times + one->laid_ram * volumes;
	x.read_ram = one->got_ram * times;
	x.duration_ns = (int64_t)ns;
	*ret = x;
	return 0;
}

int plan_estimate(
	const struct plan *p, uint64_t ram_bytes, struct plan_estimate *ret, struct err *e)
{
	struct plan_estimate x = {.cv = ESTIMATE_CV};
	struct pass one;

	if (pass_over_workloads(p, ram_bytes, &one, e) ||
		cost_of(p, p->trials_max, &one, &x.most, e) ||
		cost_of(p, p->trials_min, &one, &x.least, e))
		return -1;
	x.unknown = one.unknown;
	x.smallest_difference = smallest_difference(p, x.cv);
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
	json_object_set_new(o, "written_ram", json_number(v->written_ram));
	json_object_set_new(o, "read_ram", json_number(v->read_ram));
	json_object_set_new(o, "duration_s", json_number((double)v->duration_ns / NS_PER_S));
	return o;
}

struct json_t *plan_estimate_json(const struct plan_estimate *v)
{
	json_t *o = cost_json(&v->most);

	json_object_set_new(o, "smallest_difference", json_number(v->smallest_difference));
	json_object_set_new(o, "cv", json_number(v->cv));
	json_object_set_new(o, "unknown", json_integer(v->unknown));
	json_object_set_new(o, "least",
		v->least.blocks < v->most.blocks ? cost_json(&v->least) : json_null());
	return o;
}
