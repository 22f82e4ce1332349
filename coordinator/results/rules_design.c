/*
 * Rules about how a run was planned: what its layouts are, in which order and how often they were
 * built. Owns nothing.
 * Invariant: these look at plans, designs, sizes and lists of disks, never at timings.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/workload.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/rules.h"
#include "coordinator/results/volume_disks.h"

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
	if (l->pool && l->pool->special.disks.n) { /* with it the pool is lost */
		int r = vdev_redundancy(&l->pool->special);

		least = r == UNKNOWN || r < least ? r : least;
	}
	return l->pool ? least : 0;
}

/* What an array is made of, the disk that it looks like does not tell. */
static void arrays_untold(const struct rule_input *in, unsigned char *untold)
{
	struct volume_disks *v;
	size_t n;

	volume_disks_of(in, &v, &n);
	for (size_t i = 0; i < n; i++)
		if (v[i].layout_index < in->run->plan->n_layouts)
			untold[v[i].layout_index] |= volume_disks_behind_raid(&v[i]) != 0;
	volume_disks_free(v, n);
}

static void redundancy_differs(const struct rule_input *in)
{
	const struct plan *p = in->run->plan;
	const struct layout *weak = NULL, *strong = NULL;
	unsigned char *untold;
	int lo = 0, hi = 0;

	if (!p) {
		finding_unknown(in, "no plan");
		return;
	}
	untold = xcalloc(p->n_layouts + 1, 1);
	arrays_untold(in, untold);
	for (size_t i = 0; i < p->n_layouts; i++) {
		int r = layout_redundancy(&p->layouts[i]);

		if (untold[i]) {
			finding_unknown(in, "no redundancy of arrays behind RAID controllers");
			continue;
		}
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
	free(untold);
	if (weak && lo != hi)
		finding_add(in, SEVERITY_WARNING, NULL, NULL, NULL,
			json_pack("{ss si ss si}", "least", weak->name, "least_disks", lo, "most",
				strong->name, "most_disks", hi),
			"%s survives the loss of %d disk%s, %s of %d", weak->name, lo,
			lo == 1 ? "" : "s", strong->name, hi);
}

/* The most that each layout had, whatever its trials found free; 0: not known. */
static void capacity_told(const struct rule_input *in, const char *host, const uint64_t *most)
{
	const struct strv *layouts = &in->run->run->layouts;
	size_t small = layouts->n, large = layouts->n;
	char a[UNITS_LEN], b[UNITS_LEN];

	for (size_t i = 0; i < layouts->n; i++) {
		if (!most[i])
			continue;
		if (small == layouts->n || most[i] < most[small])
			small = i;
		if (large == layouts->n || most[i] > most[large])
			large = i;
	}
	if (small == layouts->n ||
		(double)(most[large] - most[small]) <= CAPACITY_DIFFERS * (double)most[large])
		return;
	finding_add(in, SEVERITY_NOTE, host, NULL, NULL,
		json_pack("{ss sI ss sI}", "least", layouts->v[small], "least_bytes",
			(json_int_t)most[small], "most", layouts->v[large], "most_bytes",
			(json_int_t)most[large]),
		"usable: %s %s, %s %s", layouts->v[small], units_size((int64_t)most[small], a),
		layouts->v[large], units_size((int64_t)most[large], b));
}

/* What a directory that was there already has left is no capacity: others write there, too. */
static int has_capacity(const struct rule_input *in, const struct result_trial *t)
{
	const struct plan *p = in->run->plan;

	return t->usable_bytes && t->layout < in->run->run->layouts.n &&
	       !(p && t->layout < p->n_layouts && p->layouts[t->layout].existing);
}

/* Trials stand by host. */
static void capacity_differs(const struct rule_input *in)
{
	size_t n = in->run->run->layouts.n, trials = 0;
	uint64_t *most = xcalloc(n + 1, sizeof(*most));
	const char *host = NULL;

	for (size_t i = 0; i < in->set->n_trials; i++) {
		const struct result_trial *t = &in->set->trials[i];

		if (t->run != in->run->run->id || !t->sum.ok || t->superseded)
			continue;
		trials++;
		if (!has_capacity(in, t)) {
			finding_unknown(in, "no usable sizes");
			continue;
		}
		if (host && strcmp(host, t->host) != 0) {
			capacity_told(in, host, most);
			memset(most, 0, n * sizeof(*most));
		}
		host = t->host;
		if (t->usable_bytes > most[t->layout])
			most[t->layout] = t->usable_bytes;
	}
	if (host)
		capacity_told(in, host, most);
	if (!trials)
		finding_unknown(in, "no usable sizes");
	free(most);
}

/* Compared as one layout, since each host has but one. */
static void names_differ(const struct rule_input *in)
{
	const char *called = in->run->run->called;

	if (called)
		finding_add(in, SEVERITY_WARNING, NULL, NULL, NULL, json_pack("{ss}", "layouts", called),
			"the hosts call their layouts %s: layouts may differ here, and not hosts", called);
}

void rule_layouts_unlike(const struct rule_input *in)
{
	names_differ(in);
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
