/* A volume as JSON, between a helper child and the monitor. */
#include <stdlib.h>

#include "agent/volume/volume.h"
#include "common/base/json.h"
#include "common/base/mem.h"

static json_t *list_json(const struct strv *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(list, json_text(s->v[i]));
	return list;
}

static void list_from_json(const json_t *list, struct strv *ret)
{
	size_t i;
	json_t *item;

	json_array_foreach(list, i, item)
		if (json_is_string(item))
			strv_add(ret, json_string_value(item));
}

json_t *volume_to_json(const struct volume *v)
{
	json_t *o = json_object();

	json_object_set_new(o, "kind", json_integer(v->kind));
	json_object_set_new(o, "layout", json_integer(v->layout));
	json_object_set_new(o, "name", json_text(v->name));
	json_object_set_new(o, "mount", json_text(v->mount));
	json_object_set_new(o, "directory", json_text(v->directory));
	json_object_set_new(o, "guid", json_text(v->guid));
	json_object_set_new(o, "identity", json_text(v->identity));
	json_object_set_new(o, "filesystem", json_text(v->filesystem));
	json_object_set_new(o, "dev", json_integer((json_int_t)v->dev));
	json_object_set_new(o, "fs_type", json_integer((json_int_t)v->fs_type));
	json_object_set_new(o, "usable_bytes", json_integer((json_int_t)v->usable_bytes));
	json_object_set_new(o, "syncfs_works", json_boolean(v->syncfs_works));
	json_object_set_new(o, "buffered_disks", json_boolean(v->buffered_disks));
	json_object_set_new(o, "remount", json_boolean(v->remount));
	json_object_set_new(o, "disks", list_json(&v->disks));
	json_object_set_new(o, "import_dirs", list_json(&v->import_dirs));
	json_object_set_new(o, "cache_devices", list_json(&v->cache_devices));
	return o;
}

int volume_from_json(const json_t *o, struct volume *ret, struct err *e)
{
	int64_t kind = json_get_int(o, "kind", -1);
	struct volume v = {0};

	if (kind < VOLUME_POOL || kind > VOLUME_NONE || !json_get_str(o, "name", NULL) ||
		!json_get_str(o, "mount", NULL) || !json_get_str(o, "directory", NULL))
		return err_set(e, ERR_INPUT, "this is not the description of a volume");
	v.kind = (enum volume_kind)kind;
	v.layout = (unsigned)json_get_int(o, "layout", 0);
	v.name = xstrdup(json_get_str(o, "name", NULL));
	v.mount = xstrdup(json_get_str(o, "mount", NULL));
	v.directory = xstrdup(json_get_str(o, "directory", NULL));
	v.guid = xstrdup(json_get_str(o, "guid", NULL));
	v.identity = xstrdup(json_get_str(o, "identity", NULL));
	v.filesystem = xstrdup(json_get_str(o, "filesystem", NULL));
	v.dev = (uint64_t)json_get_int(o, "dev", 0);
	v.fs_type = (uint64_t)json_get_int(o, "fs_type", 0);
	v.usable_bytes = (uint64_t)json_get_int(o, "usable_bytes", 0);
	v.syncfs_works = json_get_bool(o, "syncfs_works", 0);
	v.buffered_disks = json_get_bool(o, "buffered_disks", 0);
	v.remount = json_get_bool(o, "remount", 0);
	list_from_json(json_object_get(o, "disks"), &v.disks);
	list_from_json(json_object_get(o, "import_dirs"), &v.import_dirs);
	list_from_json(json_object_get(o, "cache_devices"), &v.cache_devices);
	*ret = v;
	return 0;
}
