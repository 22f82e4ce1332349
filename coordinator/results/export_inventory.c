/*
 * Export lines -> environments: what a host was when it ran. Owns nothing but what the set owns.
 * Invariant: an inventory is kept as it was told, and what is read of it later has the type that
 * inventory_json() gives it.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/export_line.h"

static int check_objects(const struct export_line *l, const char *member, const json_t *list,
	const struct field_table *table, struct err *e)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		struct field_place at = {member, i};

		if (!json_is_object(item))
			return export_unexpected(l, at, NULL, item, "an object", e);
		if (export_fields_read(l, at, item, table, NULL, e))
			return -1;
	}
	return 0;
}

static int check_texts(
	const struct export_line *l, const char *member, const json_t *o, struct err *e)
{
	static const struct field text = {.kind = FIELD_TEXT, .flags = FIELD_NULL};
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)o, key, v)
	{
		struct field of = text;

		of.key = key;
		if (export_field_take(l, (struct field_place){member, FIELD_WHOLE}, v, &of, NULL, e))
			return -1;
	}
	return 0;
}

static int check_inventory(const struct export_line *l, const json_t *inventory, struct err *e)
{
	const struct field_place at = {"inventory", FIELD_WHOLE};
	const json_t *disks, *pools, *parameters;

	return export_fields_read(l, at, inventory, &export_inventory_table, NULL, e) ||
			       export_list(l, at, inventory, "disks", 0, &disks, e) ||
			       export_list(l, at, inventory, "pools", 0, &pools, e) ||
			       export_object(l, at, inventory, "zfs_parameters", 0, &parameters, e) ||
			       check_objects(l, "inventory.disks", disks,
				       &export_inventory_disk_table, e) ||
			       check_objects(l, "inventory.pools", pools,
				       &export_inventory_pool_table, e) ||
			       check_texts(l, "inventory.zfs_parameters", parameters, e)
		       ? -1
		       : 0;
}

int export_read_environment(
	struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	struct export_piece of = {0};
	const json_t *inventory;

	if (export_fields_read(l, FIELD_OF_LINE, l->o, &export_host_table, &of, e) ||
		export_object(l, FIELD_OF_LINE, l->o, "inventory", 1, &inventory, e) ||
		check_inventory(l, inventory, e))
		return -1;
	if (export_find_environment(s, run, of.host))
		return err_set(e, ERR_INPUT, "%s:%zu: the environment of host %.80s is there twice",
			l->name, l->no, of.host);
	s->envs = xgrow(s->envs, s->n_envs, &s->cap_envs, sizeof(*s->envs));
	s->envs[s->n_envs++] =
		(struct result_environment){.run = run, .host = xstrdup(of.host),
			.inventory = json_deep_copy(inventory)};
	return 0;
}

int export_read_environment_disks(
	struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	struct result_environment *v;
	struct export_piece of = {0};
	const json_t *disks;
	json_t *have;

	if (export_fields_read(l, FIELD_OF_LINE, l->o, &export_host_table, &of, e) ||
		export_list(l, FIELD_OF_LINE, l->o, "disks", 1, &disks, e) ||
		check_objects(l, "disks", disks, &export_inventory_disk_table, e))
		return -1;
	v = export_find_environment(s, run, of.host);
	have = v ? json_object_get(v->inventory, "disks") : NULL;
	if (!have)
		return export_orphan(l, run, &of, "environment", e);
	for (size_t i = 0; i < json_array_size(disks); i++)
		json_array_append_new(have, json_deep_copy(json_array_get(disks, i)));
	return 0;
}
