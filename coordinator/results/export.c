/*
 * Result structs -> export lines. Owns nothing.
 * Invariant: what a set holds and these lines say is the same; long things are cut into lines that
 * fit a chunk.
 */
#include "coordinator/results/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/export_line.h"
#include "coordinator/results/export_write.h"

#define PLAN_PIECE (32 * 1024)
#define DISKS_PIECE 100
#define POINTS_PIECE 100

#define FIELD(key, member)                                                                         \
	{                                                                                          \
		key, offsetof(struct telemetry, member)                                            \
	}
const struct telemetry_field telemetry_fields[TELEMETRY_FIELDS] = {
	FIELD("disk_read_bytes", disk_read_bytes),
	FIELD("disk_write_bytes", disk_write_bytes),
	FIELD("disk_read_ops", disk_read_ops),
	FIELD("disk_write_ops", disk_write_ops),
	FIELD("disk_busy_ns", disk_busy_ns),
	FIELD("cpu_user_ns", cpu_user_ns),
	FIELD("cpu_system_ns", cpu_system_ns),
	FIELD("cpu_idle_ns", cpu_idle_ns),
	FIELD("cpu_iowait_ns", cpu_iowait_ns),
	FIELD("mem_free_bytes", mem_free_bytes),
	FIELD("mem_cached_bytes", mem_cached_bytes),
	FIELD("arc_bytes", arc_bytes),
};

json_t *export_strv(const struct strv *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(list, json_text(s->v[i]));
	return list;
}

static void set(json_t *o, const char *key, json_t *v)
{
	json_object_set_new_nocheck(o, key, v);
}

static void set_int(json_t *o, const char *key, int64_t v)
{
	set(o, key, json_integer(v));
}

json_t *export_line_new(const char *type, uint64_t run)
{
	json_t *o = json_object();

	set(o, "type", json_text(type));
	set_int(o, "run", (int64_t)run);
	return o;
}

void export_line_end(json_t *o, struct buf *out)
{
	json_line(o, out);
	buf_addc(out, '\n');
	json_decref(o);
}

/* The plan's text in pieces that end between characters. */
static void export_plan(const struct result_run *r, struct buf *out)
{
	const char *text = r->plan_text;
	size_t left = text ? strlen(text) : 0;

	while (left > 0) {
		size_t n = left < PLAN_PIECE ? left : PLAN_PIECE;
		json_t *o = export_line_new("plan", r->id);

		while (n < left && n > 1 && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
		set(o, "text", json_text_n(text, n));
		export_line_end(o, out);
		text += n;
		left -= n;
	}
}

void export_run(const struct result_run *r, struct buf *out)
{
	json_t *o = export_line_new("run", r->id);
	char seed[24];

	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)r->seed);
	set(o, "name", json_text(r->name));
	set(o, "state", json_text(r->state));
	set(o, "plan_sha256", json_text(r->plan_sha256));
	set(o, "tool_version", json_text(r->tool_version));
	set(o, "user", json_text(r->user));
	set(o, "sets", export_strv(&r->sets));
	set(o, "seed", json_text(seed));
	set_int(o, "blocks", r->blocks);
	set(o, "cache", json_text(r->cache));
	set_int(o, "started_wall_ns", r->started_wall_ns);
	set_int(o, "finished_wall_ns", r->finished_wall_ns);
	set(o, "layouts", export_strv(&r->layouts));
	set(o, "workloads", export_strv(&r->workloads));
	set(o, "design", json_text(r->design));
	set_int(o, "baseline", r->baseline);
	set(o, "margin", json_number(r->margin));
	export_line_end(o, out);
	export_plan(r, out);
}

/* The disks from..to of the inventory as a list of their own. */
static json_t *some_disks(const json_t *disks, size_t from, size_t to)
{
	json_t *list = json_array();

	for (size_t i = from; i < to; i++)
		json_array_append(list, json_array_get(disks, i));
	return list;
}

void export_environment(const struct result_environment *v, struct buf *out)
{
	const json_t *disks = json_object_get(v->inventory, "disks");
	size_t n = json_array_size(disks), given = n < DISKS_PIECE ? n : DISKS_PIECE;
	json_t *inventory = json_copy(v->inventory), *o = export_line_new("environment", v->run);

	if (n > given)
		set(inventory, "disks", some_disks(disks, 0, given));
	set(o, "host", json_text(v->host));
	set(o, "inventory", inventory ? inventory : json_null());
	export_line_end(o, out);
	while (given < n) {
		size_t to = n - given < DISKS_PIECE ? n : given + DISKS_PIECE;

		o = export_line_new("environment-disks", v->run);
		set(o, "host", json_text(v->host));
		set(o, "disks", some_disks(disks, given, to));
		export_line_end(o, out);
		given = to;
	}
}

static uint64_t field_of(const struct telemetry *t, size_t i)
{
	uint64_t v;

	memcpy(&v, (const char *)t + telemetry_fields[i].offset, sizeof(v));
	return v;
}

static json_t *telemetry_json(const struct telemetry *t)
{
	json_t *o = json_object();

	set_int(o, "disks", t->disks);
	for (size_t i = 0; i < TELEMETRY_FIELDS; i++)
		set_int(o, telemetry_fields[i].key, (int64_t)field_of(t, i));
	return o;
}

static void set_outcome(json_t *o, const struct trial_summary *t)
{
	set(o, "ok", json_boolean(t->ok));
	set(o, "error", json_text(t->error));
	set_int(o, "started_wall_ns", t->started_wall_ns);
	set_int(o, "elapsed_ns", t->elapsed_ns);
	set_int(o, "sync_ns", t->sync_ns);
	set_int(o, "bytes", (int64_t)t->bytes);
	set_int(o, "ops", (int64_t)t->ops);
	set_int(o, "errors", (int64_t)t->errors);
	set_int(o, "cpu_user_ns", (int64_t)t->cpu_user_ns);
	set_int(o, "cpu_system_ns", (int64_t)t->cpu_system_ns);
	set_int(o, "samples", t->samples);
	set(o, "telemetry", telemetry_json(&t->tele));
	set(o, "hist", export_hist_json(t->hist, t->hist_len));
	set(o, "evidence", export_evidence_json(t->n_evidence ? t->evidence : NULL));
}

static json_t *printed_json(const struct result_trial *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->n_printed; i++) {
		json_t *o = json_object();

		set(o, "metric", json_text(metric_table[t->printed[i].metric].name));
		set(o, "value", json_number(t->printed[i].value));
		set(o, "resolution", json_number(t->printed[i].resolution));
		set(o, "unit_assumed", json_boolean(t->printed[i].unit_assumed));
		json_array_append_new(list, o);
	}
	return list;
}

void export_trial(const struct result_trial *t, struct buf *out)
{
	json_t *o = export_line_new("trial", t->run);
	size_t from = out->len;

	set(o, "host", json_text(t->host));
	set_int(o, "attempt", t->attempt);
	set_int(o, "trial", t->sum.trial);
	set_int(o, "layout", t->layout);
	set(o, "layout_name", json_text(t->layout_name));
	set_int(o, "workload", t->workload);
	set(o, "workload_name", json_text(t->workload_name));
	set(o, "op", json_text(t->op));
	set_int(o, "block", t->block);
	set_int(o, "repeat", t->repeat);
	set_int(o, "position", t->position);
	set(o, "superseded", json_boolean(t->superseded));
	set(o, "complete", json_boolean(t->complete));
	set_int(o, "lost", t->lost);
	set(o, "cache", json_text(t->cache));
	set_int(o, "usable_bytes", (int64_t)t->usable_bytes);
	set_outcome(o, &t->sum);
	if (t->n_printed)
		set(o, "printed", printed_json(t));
	export_line_end(o, out);
	export_hist_end(out, from);
	export_detail(t, out);
	export_trial_disks(t, out);
}

void export_summary(const struct result_summary *m, struct buf *out)
{
	json_t *o = export_line_new("summary", m->run);

	set(o, "host", json_text(m->host));
	set_int(o, "layout", m->layout);
	set(o, "layout_name", json_text(m->layout_name));
	set_int(o, "workload", m->workload);
	set(o, "workload_name", json_text(m->workload_name));
	set(o, "metric", json_text(metric_table[m->metric].name));
	set_int(o, "n", m->n);
	set(o, "mean", json_number(m->mean));
	set(o, "min", json_number(m->min));
	set(o, "max", json_number(m->max));
	set(o, "stddev", json_number(m->stddev));
	set(o, "resolution", json_number(m->resolution));
	set(o, "stddev_resolution", json_number(m->stddev_resolution));
	set(o, "unit_assumed", json_boolean(m->unit_assumed));
	export_line_end(o, out);
}

void export_stop(const struct result_stop *s, struct buf *out)
{
	json_t *o = export_line_new("stop", s->run);

	set(o, "host", json_text(s->host));
	set_int(o, "block", s->block);
	export_line_end(o, out);
}

static const char *const point_columns[] = {
	"start_ns", "end_ns", "ops", "bytes", "p50_ns", "p99_ns", "max_ns", "disks"};

static json_t *columns_json(void)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_LEN(point_columns); i++)
		json_array_append_new(list, json_text(point_columns[i]));
	for (size_t i = 0; i < TELEMETRY_FIELDS; i++)
		json_array_append_new(list, json_text(telemetry_fields[i].key));
	for (size_t i = 0; i < HOST_USAGE_FIELDS; i++)
		json_array_append_new(list, json_text(host_usage_fields[i].key));
	return list;
}

static uint64_t host_field(const struct host_usage *h, size_t i)
{
	uint64_t v;

	memcpy(&v, (const char *)h + host_usage_fields[i].offset, sizeof(v));
	return v;
}

static json_t *point_json(const struct result_point *p)
{
	const int64_t own[ARRAY_LEN(point_columns)] = {p->start_ns, p->end_ns, (int64_t)p->ops,
		(int64_t)p->bytes, (int64_t)p->p50_ns, (int64_t)p->p99_ns, (int64_t)p->max_ns,
		p->tele.disks};
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		json_array_append_new(list, json_integer(own[i]));
	for (size_t i = 0; i < TELEMETRY_FIELDS; i++)
		json_array_append_new(list, json_integer((json_int_t)field_of(&p->tele, i)));
	for (size_t i = 0; i < HOST_USAGE_FIELDS; i++)
		json_array_append_new(list, json_integer((json_int_t)host_field(&p->host, i)));
	return list;
}

void export_series(const struct result_series *s, struct buf *out)
{
	for (size_t from = 0; from < s->n; from += POINTS_PIECE) {
		json_t *o = export_line_new("series", s->run), *points = json_array();

		for (size_t i = from; i < s->n && i < from + POINTS_PIECE; i++)
			json_array_append_new(points, point_json(&s->points[i]));
		set(o, "host", json_text(s->host));
		set_int(o, "attempt", s->attempt);
		set_int(o, "trial", s->trial);
		set(o, "columns", columns_json());
		set(o, "points", points);
		export_line_end(o, out);
	}
	export_series_disks(s, out);
}
