/*
 * Inventory of a host: memory, look-up by stable id, and the JSON that people see.
 * Every struct owns its strings. Invariant: an id names a serial or a WWN, never a kernel name.
 */
#include "common/measure/inventory.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/json.h"
#include "common/base/mem.h"

const char *inv_disk_id(const struct inv_disk *d, char *out, size_t len)
{
	int n;

	if (d->serial)
		n = snprintf(out, len, "serial:%s", d->serial);
	else if (d->wwn)
		n = snprintf(out, len, "wwn:%s", d->wwn);
	else
		return NULL;
	return n >= 0 && (size_t)n < len ? out : NULL;
}

/* WWNs are hexadecimal numbers, so letter case means nothing in them; in serials it may. */
static int disk_has_id(const struct inv_disk *d, const char *id)
{
	if (str_starts(id, "serial:"))
		return d->serial && strcmp(d->serial, id + strlen("serial:")) == 0;
	if (str_starts(id, "wwn:"))
		return d->wwn && strcasecmp(d->wwn, id + strlen("wwn:")) == 0;
	return 0;
}

const struct inv_disk *inventory_find(const struct inventory *inv, const char *id)
{
	for (size_t i = 0; i < inv->n_disks; i++)
		if (disk_has_id(&inv->disks[i], id))
			return &inv->disks[i];
	return NULL;
}

void inv_disk_clear(struct inv_disk *d)
{
	free(d->name);
	free(d->path);
	free(d->serial);
	free(d->wwn);
	free(d->model);
	free(d->transport);
	free(d->controller);
	free(d->controller_path);
	free(d->enclosure);
	free(d->slot);
	free(d->in_use);
	free(d->link_speed);
	free(d->scheduler);
	free(d->write_cache);
	free(d->zoned);
	strv_free(&d->signatures);
	*d = (struct inv_disk){0};
}

void inventory_clear(struct inventory *inv)
{
	free(inv->host);
	free(inv->os);
	free(inv->kernel);
	free(inv->arch);
	free(inv->cpu);
	free(inv->zfs);
	free(inv->agent_version);
	free(inv->policy_error);
	free(inv->governor);
	free(inv->boot_id);
	strv_free(&inv->zfs_parameters);
	strv_free(&inv->tags);
	strv_free(&inv->capabilities);
	for (size_t i = 0; i < inv->n_disks; i++)
		inv_disk_clear(&inv->disks[i]);
	free(inv->disks);
	for (size_t i = 0; i < inv->n_pools; i++) {
		free(inv->pools[i].name);
		free(inv->pools[i].guid);
		free(inv->pools[i].health);
	}
	free(inv->pools);
	*inv = (struct inventory){0};
}

static void set(json_t *o, const char *key, json_t *value)
{
	json_object_set_new_nocheck(o, key, value);
}

static void set_text(json_t *o, const char *key, const char *value)
{
	set(o, key, json_text(value));
}

static void set_number(json_t *o, const char *key, uint64_t value)
{
	set(o, key, json_integer((json_int_t)value));
}

static void set_list(json_t *o, const char *key, const struct strv *list)
{
	json_t *a = json_array();

	for (size_t i = 0; i < list->n; i++)
		json_array_append_new(a, json_text(list->v[i]));
	set(o, key, a);
}

static json_t *disk_json(const struct inv_disk *d)
{
	json_t *o = json_object();
	char id[512];

	set_text(o, "id", inv_disk_id(d, id, sizeof(id)));
	set_text(o, "name", d->name);
	set_text(o, "path", d->path);
	set_text(o, "serial", d->serial);
	set_text(o, "wwn", d->wwn);
	set_text(o, "model", d->model);
	set_text(o, "transport", d->transport);
	set_text(o, "controller", d->controller);
	set_text(o, "controller_path", d->controller_path);
	set_text(o, "enclosure", d->enclosure);
	set_text(o, "slot", d->slot);
	set_number(o, "bytes", d->bytes);
	set_number(o, "logical_sector_bytes", d->logical_sector);
	set_number(o, "physical_sector_bytes", d->physical_sector);
	set(o, "rotational", json_boolean(d->rotational));
	set(o, "allowed", json_boolean(d->allowed));
	set_text(o, "in_use", d->in_use);
	set_text(o, "link_speed", d->link_speed);
	set_text(o, "scheduler", d->scheduler);
	set_text(o, "write_cache", d->write_cache);
	set_text(o, "zoned", d->zoned);
	set_list(o, "signatures", &d->signatures);
	return o;
}

static json_t *pool_json(const struct inv_pool *p)
{
	json_t *o = json_object();

	set_text(o, "name", p->name);
	set_text(o, "guid", p->guid);
	set_text(o, "health", p->health);
	set_number(o, "bytes", p->bytes);
	return o;
}

/* {"zfs_arc_max":"0", …} */
static json_t *parameters_json(const struct strv *list)
{
	json_t *o = json_object();

	for (size_t i = 0; i < list->n; i++) {
		const char *value = strchr(list->v[i], '=');
		char *name = value ? xstrndup(list->v[i], (size_t)(value - list->v[i])) : NULL;

		if (name)
			set_text(o, name, value + 1);
		free(name);
	}
	return o;
}

struct json_t *inventory_json(const struct inventory *inv)
{
	json_t *o = json_object(), *disks = json_array(), *pools = json_array();

	set_text(o, "host", inv->host);
	set_text(o, "os", inv->os);
	set_text(o, "kernel", inv->kernel);
	set_text(o, "arch", inv->arch);
	set_text(o, "cpu", inv->cpu);
	set_number(o, "cpus", inv->cpus);
	set_number(o, "ram_bytes", inv->ram_bytes);
	set_text(o, "zfs", inv->zfs);
	set_text(o, "agent_version", inv->agent_version);
	set(o, "privileged", json_boolean(inv->privileged));
	set(o, "scratch_loop", json_boolean(inv->scratch_loop));
	set_number(o, "scratch_limit_bytes", inv->scratch_limit);
	set_text(o, "policy_error", inv->policy_error);
	set_text(o, "governor", inv->governor);
	set_text(o, "boot_id", inv->boot_id);
	set(o, "zfs_parameters", parameters_json(&inv->zfs_parameters));
	set_list(o, "tags", &inv->tags);
	set_list(o, "capabilities", &inv->capabilities);
	for (size_t i = 0; i < inv->n_disks; i++)
		json_array_append_new(disks, disk_json(&inv->disks[i]));
	set(o, "disks", disks);
	for (size_t i = 0; i < inv->n_pools; i++)
		json_array_append_new(pools, pool_json(&inv->pools[i]));
	set(o, "pools", pools);
	return o;
}
