/* A host as JSON (HOST of calls.h). Owns nothing. */
#include <string.h>

#include "common/base/json.h"
#include "common/base/units.h"
#include "coordinator/fleet.h"
#include "coordinator/sched/sched.h"
#include "coordinator/sessions.h"

static const char *const agent_states[AGENT_STATE_COUNT] = {
	[AGENT_IDLE] = "idle",
	[AGENT_RUNNING] = "running",
	[AGENT_CLEANING] = "cleaning",
	[AGENT_STOPPED] = "stopped",
};

const char *host_state_name(const struct host *h)
{
	if (h->session)
		return agent_states[h->told ? h->status.state : AGENT_CLEANING];
	return h->has_inventory || h->version ? "offline" : "new";
}

static json_t *strings(const struct strv *a)
{
	json_t *v = json_array();

	for (size_t i = 0; i < a->n; i++)
		json_array_append_new(v, json_text(a->v[i]));
	return v;
}

static json_t *all_tags(const struct host *h)
{
	json_t *v = h->has_inventory ? strings(&h->inv.tags) : json_array();

	for (size_t i = 0; i < h->tags.n; i++)
		if (!h->has_inventory || !strv_has(&h->inv.tags, h->tags.v[i]))
			json_array_append_new(v, json_text(h->tags.v[i]));
	return v;
}

static json_t *wall(int64_t ns)
{
	char out[UNITS_LEN];

	return ns ? json_text(units_wall_rfc3339(ns, out)) : json_null();
}

static void put(json_t *o, const char *key, json_t *v)
{
	json_object_set_new(o, key, v);
}

static void put_connection(json_t *o, const struct host *h)
{
	int64_t mono, offset, rtt;
	int known = h->session && !clock_offset_get(&h->session->clock, &mono, &offset, &rtt);
	int busy = h->session && h->told && h->status.key.run;
	const char *note = h->session && h->told ? h->status.note : NULL;

	put(o, "last_seen", wall(h->session ? clock_wall_ns() : h->last_seen_ns));
	put(o, "version", json_text(h->version ? h->version
			: h->has_inventory ? h->inv.agent_version : NULL));
	put(o, "address", json_text(h->address));
	put(o, "clock_offset_s", known ? json_number((double)offset / NS_PER_S) : json_null());
	put(o, "rtt_s", known ? json_number((double)rtt / NS_PER_S) : json_null());
	put(o, "run", busy ? json_integer((json_int_t)h->status.key.run) : json_null());
	put(o, "job", busy ? json_integer((json_int_t)h->status.key.job) : json_null());
	put(o, "note", note && *note ? json_text(note) : json_null());
}

static void put_inventory(json_t *o, const struct host *h)
{
	const struct inventory *inv = &h->inv;
	size_t allowed = 0;

	for (size_t i = 0; i < inv->n_disks; i++)
		allowed += inv->disks[i].allowed != 0;
	put(o, "os", json_text(inv->os));
	put(o, "kernel", json_text(inv->kernel));
	put(o, "arch", json_text(inv->arch));
	put(o, "cpu", json_text(inv->cpu));
	put(o, "cpus", json_integer(inv->cpus));
	put(o, "ram_bytes", json_integer((json_int_t)inv->ram_bytes));
	put(o, "zfs", json_text(inv->zfs));
	put(o, "privileged", json_boolean(inv->privileged));
	put(o, "scratch_limit", json_integer((json_int_t)inv->scratch_limit));
	put(o, "disks", json_integer((json_int_t)inv->n_disks));
	put(o, "disks_allowed", json_integer((json_int_t)allowed));
}

json_t *host_json(const struct host *h, int with_inventory)
{
	static const char *const unknown[] = {"os", "kernel", "arch", "cpu", "cpus", "ram_bytes", "zfs",
		"privileged", "scratch_limit", "disks", "disks_allowed"};
	json_t *o = json_object();

	put(o, "host", json_text(h->name));
	put(o, "state", json_text(host_state_name(h)));
	put(o, "paused", json_boolean(h->paused));
	put_connection(o, h);
	put(o, "tags", all_tags(h));
	put(o, "own_tags", h->has_inventory ? strings(&h->inv.tags) : json_array());
	put(o, "waiting", json_integer(sched_host_waiting(h->sched)));
	if (h->has_inventory)
		put_inventory(o, h);
	else
		for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
			put(o, unknown[i], json_null());
	put(o, "inventory_current", json_boolean(h->session && h->inventory_current));
	if (with_inventory)
		put(o, "inventory", h->has_inventory ? inventory_json(&h->inv) : json_null());
	return o;
}
