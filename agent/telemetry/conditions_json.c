/* Conditions as JSON, between a helper child and the monitor. A number that is unknown has no member. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/telemetry/conditions.h"
#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/measure/evidence.h"

static void set_int(json_t *o, const char *key, int64_t v)
{
	json_object_set_new_nocheck(o, key, json_integer(v));
}

static const char *const sources[ERROR_SOURCES] = {
	[ERRORS_SCSI] = "scsi", [ERRORS_POOL] = "pool", [ERRORS_NVME] = "nvme"};

static json_t *errors_json(const struct disk_condition *d)
{
	json_t *o = json_object();

	for (int i = 0; i < ERROR_SOURCES; i++)
		if (d->has_errors[i])
			set_int(o, sources[i], (int64_t)d->errors[i]);
	return o;
}

static json_t *log_json(const struct kmsg *k)
{
	json_t *o = json_object(), *errors = json_array();

	set_int(o, "first", (int64_t)k->first);
	set_int(o, "next", (int64_t)k->next);
	set_int(o, "us", k->us);
	for (size_t i = 0; i < k->n; i++) {
		json_t *one = json_object();

		set_int(one, "number", (int64_t)k->errors[i].number);
		set_int(one, "us", k->errors[i].us);
		json_object_set_new(one, "disk", json_text(k->errors[i].disk));
		json_array_append_new(errors, one);
	}
	json_object_set_new(o, "errors", errors);
	return o;
}

static json_t *disk_json(const struct disk_condition *d)
{
	json_t *o = json_object(), *under = json_array();

	for (size_t i = 0; i < d->under.n; i++)
		json_array_append_new(under, json_text(d->under.v[i]));
	json_object_set_new(o, "name", json_text(d->name));
	json_object_set_new(o, "under", under);
	json_object_set_new(o, "errors", errors_json(d));
	if (d->has_slowed)
		set_int(o, "slowed", (int64_t)d->slowed);
	set_int(o, "look_read_bytes", (int64_t)d->look_read_bytes);
	set_int(o, "look_write_bytes", (int64_t)d->look_write_bytes);
	set_int(o, "look_busy_ns", (int64_t)d->look_busy_ns);
	if (d->write_cache)
		json_object_set_new(o, "write_cache", json_text(d->write_cache));
	return o;
}

static json_t *settings_json(const struct conditions *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->n_settings; i++) {
		json_t *o = json_object();

		json_object_set_new(o, "name", json_text(c->settings[i].name));
		json_object_set_new(o, "of", json_text(c->settings[i].of));
		json_object_set_new(o, "value", json_text(c->settings[i].value));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *sources_json(const struct conditions *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->n_sources; i++) {
		json_t *o = json_object();

		json_object_set_new(o, "name", json_text(c->sources[i].name));
		json_object_set_new(o, "is_written", json_boolean(c->sources[i].is_written));
		json_object_set_new(o, "is_shared", json_boolean(c->sources[i].is_shared));
		json_array_append_new(list, o);
	}
	return list;
}

json_t *conditions_json(const struct conditions *c)
{
	json_t *o = json_object(), *disks = json_array();

	for (size_t i = 0; i < c->n_disks; i++)
		json_array_append_new(disks, disk_json(&c->disks[i]));
	json_object_set_new(o, "disks", disks);
	json_object_set_new(o, "settings", settings_json(c));
	json_object_set_new(o, "sources", sources_json(c));
	if (c->has_load1)
		set_int(o, "load1_milli", c->load1_milli);
	if (c->raid_controllers)
		set_int(o, "raid_controllers", c->raid_controllers);
	if (c->has_throttle)
		set_int(o, "throttle_events", (int64_t)c->throttle_events);
	if (c->has_drops)
		set_int(o, "cache_drops", (int64_t)c->cache_drops);
	if (c->has_hot)
		set_int(o, "hot_disks", (int64_t)c->hot_disks);
	if (c->has_maintenance)
		set_int(o, "maintenance", (int64_t)c->maintenance);
	if (c->maintenance_text)
		json_object_set_new(o, "maintenance_text", json_text(c->maintenance_text));
	if (c->has_ratio)
		set_int(o, "ratio_permille", c->ratio_permille);
	if (c->look_ns) {
		set_int(o, "look_ns", c->look_ns);
		set_int(o, "look_cpu_permille", c->look_cpu_permille);
	}
	if (c->look_ns && c->has_look_other)
		set_int(o, "look_other_bytes", c->look_other_bytes);
	if (c->log.known)
		json_object_set_new(o, "log", log_json(&c->log));
	return o;
}

/* 1 and the number where the member is one. */
static int get(const json_t *o, const char *key, int64_t *ret)
{
	const json_t *v = json_object_get(o, key);

	*ret = json_is_integer(v) ? json_integer_value(v) : 0;
	return json_is_integer(v);
}

static int get_count(const json_t *o, const char *key, uint64_t *ret)
{
	int64_t v;
	int there = get(o, key, &v) && v >= 0;

	*ret = there ? (uint64_t)v : 0;
	return there;
}

static void disk_from_json(const json_t *o, struct disk_condition *d)
{
	const json_t *under = json_object_get(o, "under"), *item;
	size_t i;

	d->name = xstrdup(json_get_str(o, "name", ""));
	json_array_foreach(under, i, item)
	{
		if (json_is_string(item))
			strv_add(&d->under, json_string_value(item));
	}
	for (int s = 0; s < ERROR_SOURCES; s++)
		d->has_errors[s] = get_count(
			json_object_get(o, "errors"), sources[s], &d->errors[s]);
	d->has_slowed = get_count(o, "slowed", &d->slowed);
	get_count(o, "look_read_bytes", &d->look_read_bytes);
	get_count(o, "look_write_bytes", &d->look_write_bytes);
	get_count(o, "look_busy_ns", &d->look_busy_ns);
	d->write_cache = xstrdup(json_get_str(o, "write_cache", NULL));
}

static void settings_from_json(const json_t *list, struct conditions *c)
{
	size_t i;
	json_t *o;

	json_array_foreach(list, i, o)
		conditions_add_setting(c, json_get_str(o, "of", NULL), json_get_str(o, "name", ""),
			json_get_str(o, "value", ""));
}

static void sources_from_json(const json_t *list, struct conditions *c)
{
	size_t n = json_array_size(list);

	c->n_sources = n < EVIDENCE_SOURCES_MAX ? n : EVIDENCE_SOURCES_MAX;
	c->sources = xcalloc(c->n_sources, sizeof(*c->sources));
	for (size_t i = 0; i < c->n_sources; i++) {
		const json_t *o = json_array_get(list, i);

		c->sources[i] = (struct condition_source){xstrdup(json_get_str(o, "name", "")),
			json_get_bool(o, "is_written", 0), json_get_bool(o, "is_shared", 0)};
	}
}

static void log_from_json(const json_t *o, struct kmsg *k)
{
	const json_t *errors = json_object_get(o, "errors"), *one;
	size_t i;

	k->known = get_count(o, "first", &k->first) && get_count(o, "next", &k->next);
	get(o, "us", &k->us);
	json_array_foreach(errors, i, one)
	{
		k->errors = xgrow(k->errors, k->n, &k->cap, sizeof(*k->errors));
		k->errors[k->n] = (struct kmsg_error){0};
		get_count(one, "number", &k->errors[k->n].number);
		get(one, "us", &k->errors[k->n].us);
		snprintf(k->errors[k->n].disk, sizeof(k->errors->disk), "%s",
			json_get_str(one, "disk", ""));
		k->n++;
	}
}

void conditions_from_json(const json_t *o, struct conditions *ret)
{
	const json_t *disks = json_object_get(o, "disks");
	size_t n = json_array_size(disks);
	struct conditions c = {.disks = xcalloc(n, sizeof(*c.disks)), .n_disks = n};

	for (size_t i = 0; i < n; i++)
		disk_from_json(json_array_get(disks, i), &c.disks[i]);
	settings_from_json(json_object_get(o, "settings"), &c);
	sources_from_json(json_object_get(o, "sources"), &c);
	c.has_load1 = get(o, "load1_milli", &c.load1_milli);
	get(o, "raid_controllers", &c.raid_controllers);
	c.has_throttle = get_count(o, "throttle_events", &c.throttle_events);
	c.has_drops = get_count(o, "cache_drops", &c.cache_drops);
	c.has_hot = get_count(o, "hot_disks", &c.hot_disks);
	c.has_maintenance = get_count(o, "maintenance", &c.maintenance);
	c.maintenance_text = xstrdup(json_get_str(o, "maintenance_text", NULL));
	c.has_ratio = get(o, "ratio_permille", &c.ratio_permille);
	if (!get(o, "look_ns", &c.look_ns) || c.look_ns < 0)
		c.look_ns = 0;
	get(o, "look_cpu_permille", &c.look_cpu_permille);
	c.has_look_other = get(o, "look_other_bytes", &c.look_other_bytes);
	log_from_json(json_object_get(o, "log"), &c.log);
	*ret = c;
}
