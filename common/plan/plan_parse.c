/*
 * From a plan's text to its struct: YAML, then --set, then the tables, then what spans them.
 * Owns the tree while reading; the struct keeps nothing of it.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/plan_internal.h"
#include "common/plan/plan_top.h"

static const struct yaml_node nowhere; /* errors without a place in the file */

static struct plan *plan_new(void)
{
	struct plan *p = xcalloc(1, sizeof(*p));

	p->repeat = 1;
	p->sample_ns = NS_PER_S;
	p->stall_ns = 600 * NS_PER_S;
	p->host_lost_wait_ns = 3600 * NS_PER_S;
	return p;
}

static void hash_plan(struct plan *p, const char *text, size_t len, const struct strv *sets)
{
	struct buf all = {0};

	buf_add(&all, text, len);
	for (size_t i = 0; sets && i < sets->n; i++)
		buf_addf(&all, "\n--set %s", sets->v[i]);
	fs_sha256(buf_str(&all), all.len, p->sha256);
	buf_free(&all);
}

/* layouts.X and workloads.X are there already: --set changes what the plan says, a new name would
 * be a typing error. */
static int set_target_exists(struct reading *r, const struct yaml_node *root, const char *path)
{
	size_t first = strcspn(path, "."), len;
	char *section = xstrndup(path, first), *name, text[SHOWN_LEN], near[SHOWN_LEN + 24];
	const struct yaml_node *map = yaml_get(root, section);
	const char **names;
	int ok = 1;

	if (path[first] && map && map->kind == YAML_MAP &&
		(!strcmp(section, "layouts") || !strcmp(section, "workloads"))) {
		len = strcspn(path + first + 1, ".");
		name = xstrndup(path + first + 1, len);
		names = xcalloc(map->n + 1, sizeof(*names));
		for (size_t i = 0; i < map->n; i++)
			names[i] = map->items[i]->key;
		ok = yaml_get(map, name) != NULL;
		if (!ok)
			read_error(r, &nowhere, path, "the plan has no '%s' in %s%s",
				shown(name, text), section, suggestion(name, names, near));
		free(names);
		free(name);
	}
	free(section);
	return ok;
}

static void apply_sets(struct reading *r, struct yaml_node *root, const struct strv *sets)
{
	for (size_t i = 0; sets && i < sets->n; i++) {
		const char *value = strchr(sets->v[i], '=');
		char text[SHOWN_LEN], *path;
		struct err e;

		if (!value || value == sets->v[i]) {
			read_error(r, &nowhere, "",
				"'%s' must be written as key=value, such as "
				"trials=3",
				shown(sets->v[i], text));
			continue;
		}
		path = xstrndup(sets->v[i], (size_t)(value - sets->v[i]));
		if (set_target_exists(r, root, path) && yaml_set_path(root, path, value + 1, &e))
			read_error(r, &nowhere, "", "%s", e.text);
		free(path);
	}
}

static void read_plan(struct reading *r, struct yaml_node *root)
{
	const struct yaml_node *workloads = yaml_get(root, "workloads");
	struct yaml_node *layouts = yaml_get(root, "layouts");

	if (yaml_is_null(root) || root->kind != YAML_MAP) {
		read_error(r, root, "", "%s: `arraymark plan new` prints a plan to start from",
			yaml_is_null(root) ? "the plan is empty"
					   : "a plan is a map of keys and values");
		return;
	}
	read_map(r, root, "", &plan_top_table, r->owner);
	if (!layouts && plan_only_scans(workloads))
		plan_build_nothing(r->owner);
	else if (!layouts)
		read_error(r, root, "", "'layouts' is missing: what to build");
	else
		plan_read_layouts(r, layouts, yaml_get(root, "matrix"));
	if (workloads) {
		plan_read_workloads(r, workloads);
		plan_check_workloads(r, workloads);
	}
	plan_read_compare(r, yaml_get(root, "compare"));
	plan_check_whole(r, root);
}

int plan_parse(const char *name, const char *text, size_t len, const struct strv *sets,
	struct plan **ret, struct yaml_errors *errs, struct err *e)
{
	struct yaml_errors warnings = {.file = name};
	struct reading r = {.errs = errs, .warnings = &warnings};
	struct yaml_node *root;
	struct plan *p;

	errs->file = name;
	if (yaml_parse(name, text, len, &root, e)) {
		strv_add(&errs->list, e->text);
		return -1;
	}
	p = plan_new();
	r.owner = p;
	hash_plan(p, text, len, sets);
	apply_sets(&r, root, sets);
	read_plan(&r, root);
	yaml_node_free(root);
	strv_free(&r.seen);
	strv_copy(&p->warnings, &warnings.list);
	yaml_errors_free(&warnings);
	if (errs->list.n) {
		plan_free(p);
		return read_errors_fail(errs, e);
	}
	*ret = p;
	return 0;
}
