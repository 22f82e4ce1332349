/* Checks and sums over a whole plan: bytes, space, disks shared between layouts, warnings. */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/bind.h"
#include "common/plan/plan_internal.h"
#include "common/plan/workload.h"

/* Workloads find what those behind them left, when they come again on the same volume. */
static int comes_again(const struct plan *p)
{
	return p->repeat > 1 || (p->builds == BUILDS_ONCE && p->trials_max > 1);
}

/* What lies on a volume: of the workloads so far, and the most that it was at any time. */
struct filling {
	int64_t kept, most;
};

static int fill(const struct plan *p, unsigned workload, const struct workload_needs *n,
	struct filling *f, struct err *e)
{
	int64_t with;

	if (__builtin_add_overflow(f->kept, n->space_bytes, &with) ||
		__builtin_add_overflow(f->kept, n->kept_bytes, &f->kept))
		return err_set(e, ERR_INPUT, "workloads.%s: more bytes than can be counted",
			p->workloads[workload].name);
	if (with > f->most)
		f->most = with;
	return 0;
}

/* Then its own files take the place of those of its last time. All that is kept fits into a count. */
static int fill_again(const struct plan *p, unsigned workload, const struct workload_needs *n,
	struct filling *f, struct err *e)
{
	f->kept -= n->kept_bytes;
	return fill(p, workload, n, f, e);
}

int plan_needed_bytes(const struct plan *p, uint64_t ram_bytes, int64_t *ret, struct err *e)
{
	struct filling f = {0};
	struct workload_needs n;

	for (unsigned i = 0; i < p->n_workloads; i++)
		if (workload_needs(p, i, ram_bytes, &n, e) || fill(p, i, &n, &f, e))
			return -1;
	for (unsigned i = 0; comes_again(p) && i < p->n_workloads; i++)
		if (workload_needs(p, i, ram_bytes, &n, e) || fill_again(p, i, &n, &f, e))
			return -1;
	*ret = f.most;
	return 0;
}

static double group_capacity(const struct vdev_group *g, unsigned n, double size)
{
	unsigned data;

	switch (g->level) {
	case LEVEL_STRIPE:
		return n * size;
	case LEVEL_MIRROR:
		return size;
	case LEVEL_DRAID:
		data = draid_data_disks(g, n);
		return (n - g->draid_spares) * size * data / (data + g->draid_parity);
	default:
		return (n - (unsigned)(g->level - LEVEL_RAIDZ1 + 1)) * size;
	}
}

int64_t layout_capacity(const struct layout *l)
{
	double size = (double)l->scratch.size, sum = 0;
	int open;

	if (!l->scratch.disks || !l->scratch.size || (!l->pool && !l->fs))
		return -1;
	if (l->fs)
		return l->scratch.size;
	for (size_t i = 0; i < l->pool->n_vdevs; i++) {
		const struct vdev_group *g = &l->pool->vdevs[i];
		unsigned n = disk_set_count(&g->disks, &open);
		struct err e;

		if (open || vdev_group_check(g, n, &e))
			return -1;
		sum += group_capacity(g, n, size);
	}
	return (int64_t)sum;
}

/* The smallest disk of a binding decides; 0 when one of them is not in the inventory. */
static double smallest_disk(const struct binding *b, const struct inventory *inv)
{
	double least = 0;

	for (size_t i = 0; i < b->ids.n; i++) {
		const struct inv_disk *d = inventory_find(inv, b->ids.v[i]);

		if (!d)
			return 0;
		if (i == 0 || (double)d->bytes < least)
			least = (double)d->bytes;
	}
	return least;
}

int64_t layout_capacity_on(const struct plan *p, unsigned layout, const struct bindings *disks,
	const struct inventory *inv)
{
	const struct layout *l = &p->layouts[layout];
	double sum = 0;
	int found = 0;

	for (size_t i = 0; i < disks->n; i++) {
		const struct binding *b = &disks->v[i];
		unsigned n = (unsigned)b->ids.n;

		if (b->layout != layout)
			continue;
		if (l->fs)
			sum += smallest_disk(b, inv);
		else if (l->pool && !strcmp(b->role, "data") && b->group < l->pool->n_vdevs)
			sum += group_capacity(&l->pool->vdevs[b->group], n, smallest_disk(b, inv));
		else
			continue;
		found = 1;
	}
	return !found || sum >= 9e18 ? -1 : (int64_t)sum;
}

/* The layout keeps zeros and compressible data as they are. */
static int stores_plainly(const struct layout *l)
{
	if (!l->pool)
		return 1;
	for (size_t i = 0; i < l->pool->n_props; i++)
		if (!strcmp(l->pool->props[i].name, "compression"))
			return !strcmp(l->pool->props[i].value, "off");
	return 0;
}

int64_t layout_stored_bytes(const struct plan *p, const struct layout *l, uint64_t ram_bytes)
{
	int passes = comes_again(p) ? 2 : 1;
	struct filling f = {0};
	struct workload_needs n;
	struct err e;

	for (int pass = 0; pass < passes; pass++)
		for (unsigned i = 0; i < p->n_workloads; i++) {
			if (workload_needs(p, i, ram_bytes, &n, &e) ||
				(n.compressible && !stores_plainly(l)))
				continue;
			if (pass ? fill_again(p, i, &n, &f, &e) : fill(p, i, &n, &f, &e))
				return INT64_MAX;
		}
	return f.most;
}

/* Scratch volumes: too small for certain is an error, nearly full a warning. */
static void check_space(struct reading *r, const struct plan *p)
{
	char a[UNITS_LEN], b[UNITS_LEN];

	for (size_t i = 0; i < p->n_layouts; i++) {
		const struct layout *l = &p->layouts[i];
		int64_t need = layout_stored_bytes(p, l, 0);
		struct yaml_node at = {.line = l->line, .column = l->column};
		int64_t room = layout_capacity(l);
		char *path;

		if (room < 0 || need <= room / 100 * 85)
			continue;
		path = xasprintf("layouts.%s", l->name);
		if (need > room)
			read_error(r, &at, path,
				"too small: the workloads write %s, the volume holds less than %s",
				units_size(need, a), units_size(room, b));
		else
			read_warning(r, &at, path,
				"nearly full: the workloads write %s, the volume holds less than "
				"%s",
				units_size(need, a), units_size(room, b));
		free(path);
	}
}

static int only_ids(const struct layout *l, struct strv *ids)
{
	struct role_set roles[LAYOUT_MAX_ROLES];
	size_t n = layout_roles(l, roles);

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < roles[i].disks->n; j++) {
			const struct disk_selector *s = &roles[i].disks->v[j];

			if (!s->ids.n)
				return 0;
			for (size_t k = 0; k < s->ids.n; k++)
				strv_add(ids, s->ids.v[k]);
		}
	return 1;
}

static int on_real_disks(const struct layout *l)
{
	return !l->existing && !l->scratch.disks && !l->none;
}

/* Selectors may meet the same disks; only lists of ids show that they don't. */
static int may_share(const struct plan *p)
{
	struct strv seen = {0};
	int share = 0, real = 0;

	for (size_t i = 0; i < p->n_layouts && !share; i++) {
		struct strv ids = {0};

		if (!on_real_disks(&p->layouts[i]))
			continue;
		real++;
		if (!only_ids(&p->layouts[i], &ids))
			share = 2;
		for (size_t j = 0; j < ids.n; j++)
			share |= strv_has(&seen, ids.v[j]);
		for (size_t j = 0; j < ids.n; j++)
			strv_add(&seen, ids.v[j]);
		strv_free(&ids);
	}
	strv_free(&seen);
	if (share == 2) { /* it shares with any other layout on real disks */
		real = 0;
		for (size_t i = 0; i < p->n_layouts; i++)
			real += on_real_disks(&p->layouts[i]);
	}
	return share && real > 1;
}

static void check_builds(struct reading *r, const struct yaml_node *root, struct plan *p)
{
	const struct yaml_node *order = yaml_get(root, "order");

	if (p->builds != BUILDS_ONCE || !may_share(p))
		return;
	if (p->order == ORDER_RANDOM && order)
		read_error(r, order, "order",
			"builds: once with layouts that may share disks needs order: as-written: "
			"only "
			"one of them can be there at a time");
	p->order = ORDER_AS_WRITTEN;
	if (!order)
		read_warning(r, yaml_get(root, "builds"), "builds",
			"layouts that may share disks are built once, one after the other: taken "
			"as "
			"order: as-written");
}

static void check_counts(struct reading *r, const struct yaml_node *root, const struct plan *p)
{
	const struct yaml_node *trials = yaml_get(root, "trials");
	uint64_t units = (uint64_t)p->trials_max * p->n_layouts;

	if (trials && p->trials_min < 3 && p->trials_min > 0)
		read_warning(r, trials, "trials",
			"fewer than 3: spread cannot be judged, and no difference can be shown");
	if (trials && units > PLAN_MAX_UNITS)
		read_error(r, trials, "trials", "%u blocks of %zu layouts are more than %d builds",
			p->trials_max, p->n_layouts, PLAN_MAX_UNITS);
}

/* Nothing that the rule speaks of would be there, or not before the end. */
static void check_until(struct reading *r, const struct yaml_node *root, const struct plan *p)
{
	const struct yaml_node *until = yaml_get(yaml_get(root, "trials"), "until");

	if (!until || p->until <= 0)
		return;
	if (!strcmp(p->by, "host"))
		read_error(r, until, "trials.until",
			"judges comparisons of layouts on each host: with compare.by: host give a "
			"number of trials");
	else if (p->n_layouts == 1)
		read_error(r, until, "trials.until",
			"stops when comparisons are precise enough, and one layout has nothing to "
			"be compared with: give a number of trials");
	if (p->builds == BUILDS_ONCE && p->order == ORDER_AS_WRITTEN)
		read_error(r, until, "trials.until",
			"judges after blocks of all layouts, and with builds: once and order: "
			"as-written one layout's blocks end before the next one's begin: give a "
			"number of trials");
	if (p->keep)
		read_error(r, yaml_get(root, "keep"), "keep",
			"keeps what the last block built, and with trials.until no block is known "
			"to be the last one when it is built");
}

static void warn_existing(struct reading *r, const struct plan *p)
{
	for (size_t i = 0; i < p->n_layouts && p->cache == CACHE_COLD; i++) {
		const struct layout *l = &p->layouts[i];
		struct yaml_node at = {.line = l->line, .column = l->column};
		char *path;

		if (!l->existing)
			continue;
		path = xasprintf("layouts.%s", l->name);
		read_warning(r, &at, path,
			"an existing folder is measured with its cache as it is, unless the host's "
			"policy says remount: true for it");
		free(path);
	}
}

static void check_durations(struct reading *r, const struct yaml_node *root, const struct plan *p)
{
	const struct yaml_node *list = yaml_get(root, "workloads");

	for (size_t i = 0; i < p->n_workloads && p->trial_deadline_ns; i++) {
		const struct workload *w = &p->workloads[i];
		const char *key = workload_kind_name(w->kind);
		const struct yaml_node *n = yaml_get(list->items[i], "duration");
		const struct yaml_node *kind = yaml_get(list->items[i], key);
		char a[UNITS_LEN], b[UNITS_LEN], *path;
		int within = !n && kind && kind->kind == YAML_MAP && (n = yaml_get(kind, "duration"));

		if (!n || w->duration_ns <= p->trial_deadline_ns)
			continue;
		path = xasprintf("workloads.%s%s%s.duration", w->name, within ? "." : "", within ? key : "");
		read_error(r, n, path, "%s is longer than trial-deadline, %s",
			units_duration(w->duration_ns, a),
			units_duration(p->trial_deadline_ns, b));
		free(path);
	}
}

void plan_check_whole(struct reading *r, const struct yaml_node *root)
{
	struct plan *p = r->owner;

	check_counts(r, root, p);
	check_builds(r, root, p);
	check_until(r, root, p);
	check_durations(r, root, p);
	warn_existing(r, p);
	check_space(r, p);
}
