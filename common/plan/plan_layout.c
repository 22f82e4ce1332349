/* Reading layouts: which stages stand on each other, and what each disk is for. */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/plan_internal.h"

/* Smallest disk that zpool takes; mkfs.xfs from xfsprogs 5.19 on refuses less than 300 MiB. */
#define SCRATCH_MIN (64LL << 20)
#define SCRATCH_MIN_XFS (300LL << 20)

static const struct int_range scratch_disks = {1, 256};
static const struct int_range scratch_size = {SCRATCH_MIN, 64LL << 40};
static const struct key_row scratch_rows[] = {
	{"disks", read_uint, offsetof(struct scratch_stage, disks), &scratch_disks, "how many"},
	{"size", read_bytes, offsetof(struct scratch_stage, size), &scratch_size,
		"of each disk, such as 512M"},
};
static const struct key_table scratch_table = KEY_TABLE("scratch", scratch_rows);

static void read_scratch(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	(void)arg;
	read_map(r, n, path, &scratch_table, field);
}

static void read_existing(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	char **dir = field;

	read_path(r, n, path, field, arg);
	if (*dir && !strcmp(*dir, "/"))
		read_error(r, n, path, "'/' is not a folder to write test files to");
}

/* Written in a layout, but one for the whole plan. */
static const char one_for_all[] = "is the same for all layouts: it stands at the top of the plan";

#define FIELD(name) offsetof(struct layout, name)
static const struct key_row layout_rows[] = {
	{"pool", read_pool, FIELD(pool), NULL, NULL},
	{"filesystem", read_filesystem, FIELD(fs), NULL, NULL},
	{"scratch", read_scratch, FIELD(scratch), NULL, NULL},
	{"existing", read_existing, FIELD(existing), NULL, NULL},
	{"array", read_unsupported, 0, NULL, NULL},
	{"raw", read_unsupported, 0, NULL, NULL},
	{"zvol", read_unsupported, 0, NULL, NULL},
	{"fill", read_unsupported, 0, NULL, NULL},
	{"age", read_unsupported, 0, NULL, NULL},
	{"steady", read_unsupported, 0, NULL, NULL},
	{"precondition", read_elsewhere, 0, one_for_all, NULL},
	{"disk-cache", read_elsewhere, 0, one_for_all, NULL},
};
#undef FIELD
static const struct key_table layout_table = KEY_TABLE("a layout", layout_rows);

static size_t add_role(struct role_set *v, size_t n, const struct role_set *one)
{
	if (one->disks->n)
		v[n++] = *one;
	return n;
}

size_t layout_roles(const struct layout *l, struct role_set v[LAYOUT_MAX_ROLES])
{
	const struct pool_stage *p = l->pool;
	size_t n = 0;

	if (l->fs)
		n = add_role(
			v, n, &(struct role_set){"fs", "filesystem.disks", 0, &l->fs->disks, NULL});
	if (!p)
		return n;
	for (size_t i = 0; i < p->n_vdevs; i++)
		n = add_role(v, n,
			&(struct role_set){"data", p->n_vdevs > 1 ? "pool.vdevs" : "pool.disks",
				(unsigned)i, &p->vdevs[i].disks, &p->vdevs[i]});
	n = add_role(v, n,
		&(struct role_set){"special", "pool.special", 0, &p->special.disks, &p->special});
	n = add_role(v, n, &(struct role_set){"log", "pool.log", 0, &p->log.disks, &p->log});
	n = add_role(v, n, &(struct role_set){"cache", "pool.cache", 0, &p->cache, NULL});
	return add_role(v, n, &(struct role_set){"spare", "pool.spares", 0, &p->spares, NULL});
}

unsigned layout_disk_count(const struct layout *l)
{
	struct role_set roles[LAYOUT_MAX_ROLES];
	size_t n = layout_roles(l, roles);
	unsigned total = 0;
	int open;

	for (size_t i = 0; i < n; i++)
		total += disk_set_count(roles[i].disks, &open);
	return total;
}

static int selector_is_count(const struct disk_selector *s)
{
	return s->count && !s->ids.n && !s->controller && !s->enclosure && !s->slot && !s->model &&
	       !s->transport && !s->serial && !s->wwn && !s->size && s->rotational < 0 &&
	       !s->exclude.n;
}

/* A file system on scratch disks stands on one of them without being told. */
static void default_fs_disk(struct layout *l)
{
	struct disk_set *set = &l->fs->disks;

	set->v = xcalloc(1, sizeof(*set->v));
	set->v[0].rotational = -1;
	set->v[0].count = 1;
	set->n = 1;
}

static void check_scratch(
	struct reading *r, const struct yaml_node *n, const char *path, const struct layout *l)
{
	const struct yaml_node *scratch = yaml_get(n, "scratch");
	struct role_set roles[LAYOUT_MAX_ROLES];
	size_t n_roles = layout_roles(l, roles);
	unsigned used = layout_disk_count(l);

	for (size_t i = 0; i < n_roles; i++) {
		const struct disk_set *set = roles[i].disks;
		struct yaml_node at = {.line = set->line, .column = set->column};
		char *child = xasprintf("%s.%s", path, roles[i].key);

		for (size_t j = 0; j < set->n; j++)
			if (!selector_is_count(&set->v[j]))
				read_error(r, &at, child,
					"scratch disks are all alike: a count selects them");
		free(child);
	}
	if (l->scratch.disks && used > l->scratch.disks)
		read_error(r, scratch, path, "%u disks are asked for, scratch has %u", used,
			l->scratch.disks);
	if (l->fs && l->fs->type == FS_XFS && l->scratch.size && l->scratch.size < SCRATCH_MIN_XFS)
		read_error(
			r, scratch, path, "mkfs.xfs wants at least 300M, scratch disks have less");
}

/* "array", "raw" and "zvol" are stages too: their own error is enough. */
static int has_other_stage(const struct yaml_node *n)
{
	return yaml_get(n, "array") || yaml_get(n, "raw") || yaml_get(n, "zvol");
}

static void check_stages(
	struct reading *r, const struct yaml_node *n, const char *path, struct layout *l)
{
	const struct yaml_node *existing = yaml_get(n, "existing"), *fs = yaml_get(n, "filesystem");
	int stages = !!yaml_get(n, "pool") + !!fs;

	if (existing && (stages || yaml_get(n, "scratch")))
		read_error(r, existing, path,
			"'existing' uses what is there: nothing else can be "
			"built beside it");
	else if (!existing && !stages && !has_other_stage(n))
		read_error(r, n, path,
			"says nothing to measure on: it needs pool, filesystem or "
			"existing");
	else if (stages == 2)
		read_error(r, fs, path, "either pool or filesystem, not both");
	if (yaml_get(n, "scratch")) {
		if (l->fs && !yaml_get(fs, "disks") && fs->kind == YAML_MAP)
			default_fs_disk(l);
		check_scratch(r, n, path, l);
	} else if (fs && fs->kind == YAML_MAP && !yaml_get(fs, "disks") && !has_other_stage(n)) {
		read_error(r, fs, path,
			"filesystem: 'disks' is missing: one id, or a selector with "
			"count: 1");
	}
}

static void check_layout_name(
	struct reading *r, const struct yaml_node *n, const char *base, const char *name)
{
	struct err e;

	if (plan_check_name(base, "layout", 0, &e))
		read_error_key(r, n, "layouts", "%s", e.text);
	else if (strlen(name) > PLAN_NAME_MAX)
		read_error_key(r, n, "layouts",
			"the matrix makes '%.80s', longer than %d bytes: "
			"use a shorter layout name",
			name, PLAN_NAME_MAX);
}

void plan_read_layout(
	struct reading *r, const struct yaml_node *n, const char *base, const char *name)
{
	struct plan *p = r->owner;
	char *path = read_child_path("layouts", base);
	struct layout *l;

	check_layout_name(r, n, base, name);
	if (p->n_layouts == PLAN_MAX_LAYOUTS) {
		read_error_key(r, n, "layouts", "more than %d layouts", PLAN_MAX_LAYOUTS);
	} else {
		p->layouts = xreallocarray(p->layouts, p->n_layouts + 1, sizeof(*p->layouts));
		l = &p->layouts[p->n_layouts++];
		memset(l, 0, sizeof(*l));
		l->name = xstrdup(name);
		l->line = n->key_line;
		l->column = n->key_column;
		if (read_map(r, n, path, &layout_table, l) == 0)
			check_stages(r, n, path, l);
	}
	free(path);
}

void plan_read_layouts(struct reading *r, struct yaml_node *layouts, const struct yaml_node *matrix)
{
	if (matrix && plan_check_matrix(r, matrix))
		matrix = NULL;
	if (layouts->kind != YAML_MAP || layouts->n == 0) {
		read_error(r, layouts, "layouts",
			"must be a map of layout names, each with pool, "
			"filesystem or existing");
		return;
	}
	for (size_t i = 0; i < layouts->n; i++) {
		struct yaml_node *n = layouts->items[i];

		if (matrix && n->kind == YAML_MAP)
			plan_expand_matrix(r, n, matrix);
		else
			plan_read_layout(r, n, n->key, n->key);
	}
}
