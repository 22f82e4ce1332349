/* Reading `pool`: groups of disks and what stands beside them. */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/plan_internal.h"

static const struct int_range ashift_range = {9, 16};

/* level + disks of one group, with `mixed` beside them. */
struct group_reading {
	struct vdev_group g;
	int mixed;
};
static const struct key_row group_rows[] = {
	{"level", read_level, offsetof(struct group_reading, g), NULL, "raidz2, mirror, …"},
	{"disks", read_disks, offsetof(struct group_reading, g.disks), NULL, "which disks"},
	{"mixed", read_bool, offsetof(struct group_reading, mixed), NULL, NULL},
};
static const struct key_table group_table = KEY_TABLE("a vdev", group_rows);

struct pool_reading {
	struct pool_stage stage;
	struct group_reading single; /* level and disks beside each other instead of vdevs */
};

/* How many disks the group gets, where the plan alone tells. */
static void check_group(
	struct reading *r, const struct yaml_node *n, const char *path, const struct vdev_group *g)
{
	struct err e;
	int open;
	unsigned count = disk_set_count(&g->disks, &open);

	if (g->level_text && g->disks.n && !open && vdev_group_check(g, count, &e))
		read_error(r, n, path, "%s", e.text);
}

static void read_group(
	struct reading *r, const struct yaml_node *n, const char *path, struct vdev_group *ret)
{
	struct group_reading in = {0};

	if (read_map(r, n, path, &group_table, &in) == 0)
		check_group(r, n, path, &in.g);
	if (in.mixed)
		in.g.disks.mixed = 1;
	*ret = in.g;
}

static void check_equal_groups(
	struct reading *r, const struct yaml_node *n, const char *path, const struct pool_stage *p)
{
	const struct vdev_group *a = &p->vdevs[0];
	int open_a, open_b;
	unsigned count = disk_set_count(&a->disks, &open_a);

	for (size_t i = 1; i < p->n_vdevs; i++) {
		const struct vdev_group *b = &p->vdevs[i];
		unsigned other = disk_set_count(&b->disks, &open_b);

		if (!a->level_text || !b->level_text)
			continue;
		if (strcmp(a->level_text, b->level_text))
			read_error(r, n->items[i], path,
				"zpool refuses groups of different levels: '%s' here, '%s' in the "
				"first",
				b->level_text, a->level_text);
		else if (!open_a && !open_b && count != other && a->level != LEVEL_STRIPE)
			read_error(r, n->items[i], path,
				"zpool refuses groups of different width: %u disks here, %u in the "
				"first",
				other, count);
	}
}

static void read_vdevs(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct pool_stage *p = field;

	(void)arg;
	if (n->kind != YAML_SEQ || n->n == 0 || n->n > PLAN_MAX_GROUPS) {
		read_error(r, n, path,
			"must be a list of 1 to %d groups such as {level: raidz2, "
			"disks: 8}",
			PLAN_MAX_GROUPS);
		return;
	}
	p->vdevs = xcalloc(n->n, sizeof(*p->vdevs));
	p->n_vdevs = n->n;
	for (size_t i = 0; i < n->n; i++)
		read_group(r, n->items[i], path, &p->vdevs[i]);
	check_equal_groups(r, n, path, p);
}

static void check_aux_level(struct reading *r, const struct yaml_node *n, const char *path,
	const struct vdev_group *g, int raidz_allowed)
{
	int ok = g->level == LEVEL_STRIPE || g->level == LEVEL_MIRROR;

	if (raidz_allowed)
		ok = ok || (g->level >= LEVEL_RAIDZ1 && g->level <= LEVEL_RAIDZ3);
	if (!ok)
		read_error(r, n, path, "'%s' is not possible here: use %s", g->level_text,
			raidz_allowed ? "mirror, raidz1 to raidz3, or stripe" : "mirror or stripe");
}

/* log and special: {level, disks}, or disks alone, which are striped. arg: non-NULL allows raidz.
 */
static void read_aux_group(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	struct vdev_group *g = field;

	if (n->kind == YAML_MAP && (yaml_get(n, "level") || yaml_get(n, "disks"))) {
		read_group(r, n, path, g);
		if (g->level_text)
			check_aux_level(r, n, path, g, arg != NULL);
		return;
	}
	g->level = LEVEL_STRIPE;
	g->level_text = xstrdup("");
	read_disks(r, n, path, &g->disks, NULL);
}

static const int raidz_allowed = 1;
#define FIELD(name) offsetof(struct pool_reading, name)
static const struct key_row pool_rows[] = {
	{"level", read_level, FIELD(single.g), NULL, NULL},
	{"disks", read_disks, FIELD(single.g.disks), NULL, NULL},
	{"mixed", read_bool, FIELD(single.mixed), NULL, NULL},
	{"vdevs", read_vdevs, FIELD(stage), NULL, NULL},
	{"spares", read_disks, FIELD(stage.spares), NULL, NULL},
	{"log", read_aux_group, FIELD(stage.log), NULL, NULL},
	{"cache", read_disks, FIELD(stage.cache), NULL, NULL},
	{"special", read_aux_group, FIELD(stage.special), &raidz_allowed, NULL},
	{"ashift", read_int, FIELD(stage.ashift), &ashift_range, NULL},
	{"properties", read_properties, FIELD(stage), NULL, NULL},
	{"datasets", read_datasets, FIELD(stage), NULL, NULL},
};
#undef FIELD
static const struct key_table pool_table = KEY_TABLE("pool", pool_rows);

/* level + disks become the only group; says so when neither form is there, or both. */
static void finish_groups(
	struct reading *r, const struct yaml_node *n, const char *path, struct pool_reading *in)
{
	const struct yaml_node *level = yaml_get(n, "level"), *disks = yaml_get(n, "disks");

	in->single.g.disks.mixed |= in->single.mixed;
	if (yaml_get(n, "vdevs")) {
		if (level || disks)
			read_error_key(r, level ? level : disks, path,
				"either level and disks, or vdevs, not both");
		for (size_t i = 0; i < in->stage.n_vdevs && in->single.mixed; i++)
			in->stage.vdevs[i].disks.mixed = 1;
		vdev_group_clear(&in->single.g);
		return;
	}
	if (!level)
		read_error(r, n, path,
			"'level' is missing: raidz1, raidz2, raidz3, draid…, mirror "
			"or stripe");
	if (!disks)
		read_error(r, n, path, "'disks' is missing: a count, stable ids or a selector");
	if (disks) {
		char *child = read_child_path(path, "disks");

		check_group(r, disks, child, &in->single.g);
		free(child);
	}
	in->stage.vdevs = xcalloc(1, sizeof(*in->stage.vdevs));
	in->stage.vdevs[0] = in->single.g;
	in->stage.n_vdevs = 1;
}

static void warn_redundancy(
	struct reading *r, const struct yaml_node *n, const char *path, const struct pool_stage *p)
{
	const struct yaml_node *special = yaml_get(n, "special");

	if (special && p->special.level == LEVEL_STRIPE && p->n_vdevs &&
		p->vdevs[0].level != LEVEL_STRIPE)
		read_warning(r, special, path,
			"special without redundancy: losing one of its disks loses the pool");
}

void read_pool(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct pool_reading in = {0};
	struct pool_stage **ret = field;

	(void)arg;
	if (read_map(r, n, path, &pool_table, &in) == 0) {
		finish_groups(r, n, path, &in);
		warn_redundancy(r, n, path, &in.stage);
	}
	*ret = xmemdup(&in.stage, sizeof(in.stage));
}
