/*
 * A result set as one JSON document (schema 1), written as it is made. Owns nothing beyond a call.
 * Invariant: within a schema fields are only added; absent values are null.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/results/export_write.h"
#include "coordinator/results/report_json.h"
#include "coordinator/results/until.h"

#define SCHEMA 1

static void set(json_t *o, const char *key, json_t *v)
{
	json_object_set_new_nocheck(o, key, v);
}

json_t *report_json_host(
	const struct result_set *s, const struct report_options *o, const char *host)
{
	char name[REPORT_HOST_MAX];

	if (!host)
		return json_null();
	return json_text(report_host(s, o, host, name));
}

static json_t *wall(int64_t wall_ns)
{
	char text[UNITS_LEN];

	return wall_ns ? json_text(units_wall_rfc3339(wall_ns, text)) : json_null();
}

static json_t *text_or_null(const char *s)
{
	return s && *s ? json_text(s) : json_null();
}

/* null for a run with a fixed number of blocks. */
static json_t *until_json(const struct result_set *s, const struct report_options *opt,
	const struct analysis_run *r)
{
	json_t *o, *hosts;

	if (!r->plan || r->plan->until <= 0)
		return json_null();
	o = json_object();
	hosts = json_array();
	for (size_t h = 0; h < r->n_hosts; h++) {
		const struct result_stop *stop = until_stop(s, r->run->id, r->hosts[h]);
		json_t *host = json_object();
		struct buf text = {0};

		until_host_text(s, r, r->hosts[h], &text);
		set(host, "host", report_json_host(s, opt, r->hosts[h]));
		set(host, "stopped_after", stop ? json_integer(stop->block) : json_null());
		set(host, "text", json_text(buf_str(&text)));
		json_array_append_new(hosts, host);
		buf_free(&text);
	}
	set(o, "min", json_integer(r->plan->trials_min));
	set(o, "max", json_integer(r->plan->trials_max));
	set(o, "precision", json_number(r->plan->until));
	set(o, "hosts", hosts);
	return o;
}

/* null for a run that is not made of others. */
static json_t *sources_json(const struct result_run *r)
{
	json_t *list;

	if (!r->n_sources)
		return json_null();
	list = json_array();
	for (size_t i = 0; i < r->n_sources; i++) {
		const struct result_source *v = &r->sources[i];
		json_t *o = json_object();

		set(o, "label", json_text(v->label));
		set(o, "name", json_text(v->name));
		set(o, "layout", json_text(v->layout));
		set(o, "plan_sha256", text_or_null(v->plan_sha256));
		json_array_append_new(list, o);
	}
	return list;
}

/* Files may say anything. */
static json_t *design_json(const char *design)
{
	static const char *const known[] = {"random-blocks", "as-written", "once", "unknown"};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strcmp(design, known[i]) == 0)
			return json_text(design);
	return *design ? json_text("unknown") : json_null();
}

/* What is set may be a folder, a disk or a host: a redacted report says only what was set. */
static json_t *sets_json(const struct strv *sets, int redact)
{
	json_t *list;

	if (!redact)
		return export_strv(sets);
	list = json_array();
	for (size_t i = 0; i < sets->n; i++) {
		char *shown = xasprintf("%.*s=redacted", (int)strcspn(sets->v[i], "="), sets->v[i]);

		json_array_append_new(list, json_text(shown));
		free(shown);
	}
	return list;
}

static json_t *runs_json(const struct result_set *s, const struct report_options *opt,
	const struct analysis *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->n_runs; i++) {
		const struct result_run *r = &s->runs[i];
		json_t *o = json_object();
		char seed[24];

		snprintf(seed, sizeof(seed), "%llu", (unsigned long long)r->seed);
		set(o, "id", json_integer((json_int_t)r->id));
		set(o, "name", json_text(r->name));
		set(o, "plan_sha256", text_or_null(r->plan_sha256));
		set(o, "started", wall(r->started_wall_ns));
		set(o, "finished", wall(r->finished_wall_ns));
		set(o, "state", text_or_null(r->state));
		set(o, "design", design_json(r->design));
		set(o, "seed", json_text(seed));
		set(o, "blocks", r->blocks ? json_integer(r->blocks) : json_null());
		set(o, "cache", text_or_null(r->cache));
		set(o, "sets", sets_json(&r->sets, opt->redact));
		set(o, "until", until_json(s, opt, &a->runs[i]));
		set(o, "sources", sources_json(r));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *disk_json(const json_t *disk, int redact)
{
	static const char *const private[] = {"id", "serial", "wwn", "path", "controller_path"};
	static const char *const unknown[] = {"link_speed", "scheduler", "write_cache"};
	json_t *o = json_copy((json_t *)disk);

	for (size_t i = 0; redact && i < ARRAY_LEN(private); i++)
		json_object_del(o, private[i]);
	for (size_t i = 0; i < ARRAY_LEN(unknown); i++)
		if (!json_object_get(o, unknown[i]))
			set(o, unknown[i], json_null());
	return o;
}

/* Each controller once, in the order of the disks. */
static json_t *controllers_json(const json_t *disks)
{
	json_t *list = json_array(), *d, *c;
	size_t i, k;

	json_array_foreach(disks, i, d)
	{
		const char *name = json_get_str(d, "controller", NULL);
		int there = name == NULL;

		json_array_foreach(list, k, c) there |=
			name && strcmp(json_string_value(c), name) == 0;
		if (!there)
			json_array_append_new(list, json_text(name));
	}
	return list;
}

/* The least that each layout had, by its name; null where no trial tells. */
static json_t *usable_json(const struct result_set *s, const struct result_environment *v)
{
	json_t *o = json_object();

	for (size_t i = result_first_trial(s, v->run, v->host); i < s->n_trials; i++) {
		const struct result_trial *t = &s->trials[i];
		int64_t least;

		if (t->run != v->run || strcmp(t->host, v->host) != 0)
			break;
		if (t->usable_bytes == 0)
			continue;
		least = json_get_int(o, t->layout_name, INT64_MAX);
		if ((int64_t)t->usable_bytes < least)
			set(o, t->layout_name, json_integer((json_int_t)t->usable_bytes));
	}
	if (json_object_size(o))
		return o;
	json_decref(o);
	return json_null();
}

static json_t *environment_json(const struct result_set *s, const struct report_options *opt,
	const struct result_environment *v)
{
	static const char *const copied[] = {
		"os", "kernel", "arch", "cpu", "cpus", "governor", "ram_bytes", "zfs",
		"zfs_parameters", "agent_version"};
	const json_t *disks = json_object_get(v->inventory, "disks");
	const char *source = result_environment_source(s, v);
	json_t *o = json_object(), *list = json_array(), *d;
	size_t i;

	set(o, "host", report_json_host(s, opt, v->host));
	set(o, "run", json_integer((json_int_t)v->run));
	set(o, "source", source ? json_text(source) : json_null());
	for (i = 0; i < ARRAY_LEN(copied); i++) {
		json_t *value = json_object_get(v->inventory, copied[i]);

		set(o, copied[i], value ? json_incref(value) : json_null());
	}
	json_array_foreach(disks, i, d) json_array_append_new(list, disk_json(d, opt->redact));
	set(o, "controllers", controllers_json(disks));
	set(o, "disks", list);
	set(o, "usable_bytes", usable_json(s, v));
	return o;
}

static void environments(
	struct json_out *w, const struct result_set *s, const struct report_options *opt)
{
	json_out_list(w, "environments");
	for (size_t i = 0; i < s->n_envs; i++) {
		json_out_value(w, NULL, environment_json(s, opt, &s->envs[i]));
		json_out_drain(w);
	}
	json_out_end(w);
}

/* Commands name devices, hosts and folders: a redacted report has none. */
static void commands(
	struct json_out *w, const struct result_set *s, const struct report_options *opt)
{
	json_out_list(w, "commands");
	for (size_t i = 0; i < s->n_steps && !opt->redact; i++) {
		const struct result_step *step = &s->steps[i];
		json_t *o;

		if (!report_step_is_shown(s, step))
			continue;
		o = json_object();
		set(o, "run", json_integer((json_int_t)step->run));
		set(o, "host", json_text(step->host));
		set(o, "layout", json_text(step->layout_name));
		set(o, "block", step->block ? json_integer(step->block) : json_null());
		set(o, "phase", text_or_null(step->phase));
		set(o, "what", json_text(step->what));
		set(o, "argv", export_strv(&step->argv));
		set(o, "elapsed", json_number((double)step->elapsed_ns / NS_PER_S));
		set(o, "ok", json_boolean(step->ok));
		set(o, "output", text_or_null(step->output));
		json_out_value(w, NULL, o);
		json_out_drain(w);
	}
	json_out_end(w);
}

int report_json(
	const struct result_set *s, const struct report_options *o, struct buf *out, struct err *e)
{
	struct json_out w = {.out = out, .drain = o->drain, .arg = o->drain_arg};
	struct result_row *rows = NULL;
	struct analysis a;
	size_t n_rows = 0;
	double margin;

	if (report_analysis(s, o, &a, e) != 0)
		return -1;
	if (report_json_rows(s, &rows, &n_rows, e) != 0) {
		analysis_clear(&a);
		return -1;
	}
	margin = a.n_runs ? analysis_margin(&a.runs[0]) : 0;
	json_out_object(&w, NULL);
	json_out_int(&w, "schema", SCHEMA);
	json_out_text(&w, "tool_version", o->tool_version ? o->tool_version : ARRAYMARK_VERSION);
	json_out_value(&w, "runs", runs_json(s, o, &a));
	environments(&w, s, o);
	report_json_results(&w, s, o, rows, n_rows);
	result_rows_free(rows, n_rows);
	report_json_details(&w, s, o);
	report_json_comparisons(&w, s, o, &a);
	json_out_value(&w, "absent", report_json_absent(s, o, &a));
	json_out_value(&w, "family", report_json_family(&a));
	json_out_value(&w, "margin", margin > 0 ? json_number(margin) : json_null());
	json_out_value(&w, "outliers", report_json_outliers(s, o, &a));
	report_json_findings(&w, s, o, &a);
	commands(&w, s, o);
	json_out_end(&w);
	analysis_clear(&a);
	return json_out_status(&w, e);
}
