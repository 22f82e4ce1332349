/*
 * Rules about how a run was planned: what its layouts are, in which order and how often they were
 * built. Owns nothing.
 * Invariant: these look at plans, designs and sizes, never at timings.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/workload.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/rules.h"

#define CAPACITY_DIFFERS 0.01 /* of the larger one */
#define UNKNOWN (-1)

static int design_is(const struct rule_input *in, const char *word)
{
	return strcmp(in->run->run->design, word) == 0;
}

/* Disks that each data vdev can lose; UNKNOWN where the plan does not tell. */
static int vdev_redundancy(const struct vdev_group *g)
{
	int open = 0;
	unsigned disks;

	switch (g->level) {
	case LEVEL_RAIDZ1:
		return 1;
	case LEVEL_RAIDZ2:
		return 2;
	case LEVEL_RAIDZ3:
		return 3;
	case LEVEL_DRAID:
		return g->draid_parity ? (int)g->draid_parity : 1;
	case LEVEL_MIRROR:
		disks = disk_set_count(&g->disks, &open);
		return open || disks == 0 ? UNKNOWN : (int)disks - 1;
	default:
		return 0;
	}
}

static int layout_redundancy(const struct layout *l)
{
	int least = UNKNOWN;

	if (l->existing)
		return UNKNOWN;
	for (size_t i = 0; l->pool && i < l->pool->n_vdevs; i++) {
		int r = vdev_redundancy(&l->pool->vdevs[i]);

		if (r == UNKNOWN)
			return UNKNOWN;
		if (least == UNKNOWN || r < least)
			least = r;
	}
	return l->pool ? least : 0;
}

static void redundancy_differs(const struct rule_input *in)
{
	const struct plan *p = in->run->plan;
	const struct layout *weak = NULL, *strong = NULL;
	int lo = 0, hi = 0;

	if (!p) {
		finding_unknown(in, "no plan");
		return;
	}
	for (size_t i = 0; i < p->n_layouts; i++) {
		int r = layout_redundancy(&p->layouts[i]);

		if (r == UNKNOWN) {
			finding_unknown(in, "no redundancy of every layout");
			continue;
		}
		if (!weak || r < lo) {
			weak = &p->layouts[i];
			lo = r;
		}
		if (!strong || r > hi) {
			strong = &p->layouts[i];
			hi = r;
		}
	}
	if (weak && lo != hi)
		finding_add(in, SEVERITY_WARNING, NULL, NULL, NULL,
			json_pack("{ss si ss si}", "least", weak->name, "least_disks", lo, "most",
				strong->name, "most_disks", hi),
			"%s survives the loss of %d disk%s, %s of %d", weak->name, lo,
			lo == 1 ? "" : "s", strong->name, hi);
}

struct capacity {
	const char *host, *small, *large; /* layouts */
	uint64_t lo, hi;
};

static void capacity_told(const struct rule_input *in, const struct capacity *c)
{
	char a[UNITS_LEN], b[UNITS_LEN];

	if (!c->lo || (double)(c->hi - c->lo) <= CAPACITY_DIFFERS * (double)c->hi)
		return;
	finding_add(in, SEVERITY_NOTE, c->host, NULL, NULL,
		json_pack("{ss sI ss sI}", "least", c->small, "least_bytes", (json_int_t)c->lo,
			"most", c->large, "most_bytes", (json_int_t)c->hi),
		"usable: %s %s, %s %s", c->small, units_size((int64_t)c->lo, a), c->large,
		units_size((int64_t)c->hi, b));
}

/* Trials stand by host. */
static void capacity_differs(const struct rule_input *in)
{
	struct capacity c = {0};
	size_t trials = 0;

	for (size_t i = 0; i < in->set->n_trials; i++) {
		const struct result_trial *t = &in->set->trials[i];

		if (t->run != in->run->run->id || !t->sum.ok || t->superseded)
			continue;
		trials++;
		if (!t->usable_bytes) {
			finding_unknown(in, "no usable sizes");
			continue;
		}
		if (!c.host || strcmp(c.host, t->host) != 0) {
			capacity_told(in, &c);
			c = (struct capacity){t->host, t->layout_name, t->layout_name,
				t->usable_bytes, t->usable_bytes};
		}
		if (t->usable_bytes < c.lo) {
			c.lo = t->usable_bytes;
			c.small = t->layout_name;
		}
		if (t->usable_bytes > c.hi) {
			c.hi = t->usable_bytes;
			c.large = t->layout_name;
		}
	}
	capacity_told(in, &c);
	if (!trials)
		finding_unknown(in, "no usable sizes");
}

void rule_layouts_unlike(const struct rule_input *in)
{
	if (in->run->run->layouts.n < 2)
		return;
	redundancy_differs(in);
	capacity_differs(in);
}

void rule_order(const struct rule_input *in)
{
	const struct plan *p = in->run->plan;
	int written = design_is(in, "as-written") ||
		      (design_is(in, "once") && p && p->order == ORDER_AS_WRITTEN);

	if (in->run->run->layouts.n < 2 || design_is(in, "random-blocks"))
		return;
	if (written)
		finding_add(in, SEVERITY_WARNING, NULL, NULL, NULL,
			json_pack("{ss}", "order", "as-written"),
			"layouts in the order written: a drift would look like a difference");
	else if (!design_is(in, "once"))
		finding_add(in, SEVERITY_WARNING, NULL, NULL, NULL,
			json_pack("{ss}", "order", "unknown"), "order unknown");
	else if (!p)
		finding_unknown(in, "no plan");
}

void rule_these_builds(const struct rule_input *in)
{
	const struct plan *p = in->run->plan;
	int each = design_is(in, "random-blocks") || design_is(in, "as-written");

	if (design_is(in, "once"))
		finding_add(in, SEVERITY_WARNING, NULL, NULL, NULL,
			json_pack("{ss}", "builds", "once"),
			"each layout was built once: these builds only");
	else if (!each || (!p && strcmp(in->run->run->state, "imported") == 0))
		finding_add(in, SEVERITY_WARNING, NULL, NULL, NULL,
			json_pack("{ss}", "builds", "unknown"), "these builds only");
	for (size_t i = 0; each && p && i < p->n_layouts; i++)
		if (p->layouts[i].existing)
			finding_add(in, SEVERITY_WARNING, NULL, p->layouts[i].name, NULL,
				json_pack("{ss}", "builds", "existing"),
				"was there already and is never rebuilt: this build only");
}

static int props_disable_sync(const struct property *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(v[i].name, "sync") == 0 && strcmp(v[i].value, "disabled") == 0)
			return 1;
	return 0;
}

/* The setting by which the layout's sync does not wait for stable storage, or NULL. */
static const char *sync_weakened(const struct layout *l)
{
	const struct pool_stage *pool = l->pool;

	if (pool && props_disable_sync(pool->props, pool->n_props))
		return "sync=disabled";
	for (size_t i = 0; pool && i < pool->n_datasets; i++)
		if (props_disable_sync(pool->datasets[i].props, pool->datasets[i].n_props))
			return "sync=disabled";
	if (l->fs && strv_has(&l->fs->mount, "nobarrier"))
		return "nobarrier";
	if (l->fs && strv_has(&l->fs->mount, "barrier=0"))
		return "barrier=0";
	return NULL;
}

static void sync_differs_for(const struct rule_input *in, const struct workload *w)
{
	const struct plan *p = in->run->plan;
	int synced = workload_syncs(w) == 1;

	for (size_t i = 0; i < p->n_layouts; i++) {
		const char *setting = sync_weakened(&p->layouts[i]);

		if (setting)
			finding_add(in, synced ? SEVERITY_INVALID : SEVERITY_NOTE, NULL,
				p->layouts[i].name, w->name, json_pack("{ss}", "setting", setting),
				"%s here, not on every layout: its sync guarantees less", setting);
	}
}

void rule_sync_differs(const struct rule_input *in)
{
	const struct plan *p = in->run->plan;
	size_t weak = 0;
	int real = 0;

	if (in->run->run->layouts.n < 2)
		return;
	if (!p) {
		finding_unknown(in, "no plan");
		return;
	}
	for (size_t i = 0; i < p->n_layouts; i++) {
		const struct layout *l = &p->layouts[i];

		weak += sync_weakened(l) != NULL;
		real |= !l->existing && !l->scratch.disks;
		if (l->existing)
			finding_unknown(in, "no settings of layouts that were there already");
	}
	if (real)
		rule_caches_differ(in);
	rule_array_batteries(in);
	for (size_t i = 0; weak && weak < p->n_layouts && i < p->n_workloads; i++)
		sync_differs_for(in, &p->workloads[i]);
}
