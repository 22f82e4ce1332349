/*
 * Export lines -> a result set. Owns nothing but what the set owns.
 * Invariant: a line is taken whole or not at all; after export_read_end every trial belongs to a
 * run of the set and has names for its layout and workload.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/export.h"
#include "coordinator/results/export_line.h"
#include "coordinator/results/export_write.h"

#define LINE_MAX_BYTES (4 * 1024 * 1024)
#define POINTS_MAX 100000
#define PLAN_MAX (1024 * 1024)

int export_wrong(const struct export_line *l, struct err *e, const char *what)
{
	return err_set(e, ERR_INPUT, "%s:%zu: a line of type '%s' without %s", l->name, l->no,
		json_get_str(l->o, "type", ""), what);
}

void export_strv_read(const json_t *list, struct strv *ret)
{
	size_t i;
	const json_t *item;

	json_array_foreach(list, i, item)
	{
		if (json_is_string(item))
			strv_add(ret, json_string_value(item));
	}
}

static struct result_run *find_run(struct result_set *s, uint64_t id)
{
	for (size_t i = s->n_runs; i-- > 0;)
		if (s->runs[i].id == id)
			return &s->runs[i];
	return NULL;
}

static int read_run(struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	struct result_run *r;

	if (find_run(s, run))
		return err_set(e, ERR_INPUT, "%s:%zu: run %llu is there twice", l->name, l->no,
			(unsigned long long)run);
	if (!*json_get_str(l->o, "name", ""))
		return export_wrong(l, e, "name");
	s->runs = xreallocarray(s->runs, s->n_runs + 1, sizeof(*s->runs));
	r = &s->runs[s->n_runs++];
	*r = (struct result_run){.id = run,
		.name = export_text(l->o, "name"),
		.state = export_text(l->o, "state"),
		.plan_sha256 = export_text(l->o, "plan_sha256"),
		.tool_version = export_text(l->o, "tool_version"),
		.user = export_text(l->o, "user"),
		.design = export_text(l->o, "design"),
		.cache = export_text(l->o, "cache"),
		.seed = strtoull(json_get_str(l->o, "seed", "0"), NULL, 10),
		.blocks = export_u32(l->o, "blocks"),
		.started_wall_ns = json_get_int(l->o, "started_wall_ns", 0),
		.finished_wall_ns = json_get_int(l->o, "finished_wall_ns", 0),
		.baseline = (int)json_get_int(l->o, "baseline", -1),
		.margin = json_get_num(l->o, "margin", 0)};
	export_strv_read(json_object_get(l->o, "sets"), &r->sets);
	export_strv_read(json_object_get(l->o, "layouts"), &r->layouts);
	export_strv_read(json_object_get(l->o, "workloads"), &r->workloads);
	return 0;
}

static int read_plan(struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	struct result_run *r = find_run(s, run);
	const char *text = json_get_str(l->o, "text", NULL);
	char *whole;

	if (!r)
		return export_wrong(l, e, "its run before it");
	if (!text)
		return export_wrong(l, e, "text");
	if ((r->plan_text ? strlen(r->plan_text) : 0) + strlen(text) > PLAN_MAX)
		return err_set(e, ERR_INPUT, "%s:%zu: a plan of more than %d bytes", l->name, l->no,
			PLAN_MAX);
	whole = xasprintf("%s%s", r->plan_text ? r->plan_text : "", text);
	free(r->plan_text);
	r->plan_text = whole;
	return 0;
}

static struct result_environment *find_environment(
	struct result_set *s, uint64_t run, const char *host)
{
	for (size_t i = s->n_envs; i-- > 0;)
		if (s->envs[i].run == run && strcmp(s->envs[i].host, host) == 0)
			return &s->envs[i];
	return NULL;
}

static int read_environment(struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	json_t *inventory = json_object_get(l->o, "inventory");
	const char *host = json_get_str(l->o, "host", "");

	if (!*host)
		return export_wrong(l, e, "host");
	if (!json_is_object(inventory))
		return export_wrong(l, e, "inventory");
	s->envs = xreallocarray(s->envs, s->n_envs + 1, sizeof(*s->envs));
	s->envs[s->n_envs++] =
		(struct result_environment){run, xstrdup(host), json_deep_copy(inventory)};
	return 0;
}

static int read_environment_disks(
	struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	struct result_environment *v = find_environment(s, run, json_get_str(l->o, "host", ""));
	const json_t *disks = json_object_get(l->o, "disks");
	json_t *have = v ? json_object_get(v->inventory, "disks") : NULL;

	if (!json_is_array(disks) || !json_is_array(have))
		return export_wrong(l, e, "disks and the environment they belong to");
	for (size_t i = 0; i < json_array_size(disks); i++)
		json_array_append_new(have, json_deep_copy(json_array_get(disks, i)));
	return 0;
}

static void set_field(struct telemetry *t, size_t i, uint64_t v)
{
	memcpy((char *)t + telemetry_fields[i].offset, &v, sizeof(v));
}

static void read_telemetry(const json_t *o, struct telemetry *ret)
{
	ret->disks = export_u32(o, "disks");
	for (size_t i = 0; i < TELEMETRY_FIELDS; i++)
		set_field(ret, i, export_u64(o, telemetry_fields[i].key));
}

static int read_outcome(const struct export_line *l, struct trial_summary *t, struct err *e)
{
	const json_t *o = l->o;

	t->ok = json_get_bool(o, "ok", 0);
	t->error = t->ok ? NULL : export_text(o, "error");
	t->started_wall_ns = json_get_int(o, "started_wall_ns", 0);
	t->elapsed_ns = json_get_int(o, "elapsed_ns", 0);
	t->sync_ns = json_get_int(o, "sync_ns", 0);
	t->bytes = export_u64(o, "bytes");
	t->ops = export_u64(o, "ops");
	t->errors = export_u64(o, "errors");
	t->cpu_user_ns = export_u64(o, "cpu_user_ns");
	t->cpu_system_ns = export_u64(o, "cpu_system_ns");
	t->samples = export_u32(o, "samples");
	if (t->elapsed_ns < 0 || t->sync_ns < 0)
		return export_wrong(l, e, "times from 0 on");
	read_telemetry(json_object_get(o, "telemetry"), &t->tele);
	t->evidence = export_evidence_read(json_object_get(o, "evidence"));
	t->n_evidence = t->evidence != NULL;
	if (export_hist_read(json_object_get(o, "hist"), &t->hist, &t->hist_len) != 0)
		return export_wrong(l, e, "a whole histogram");
	return 0;
}

static int read_printed(const struct export_line *l, struct result_trial *t, struct err *e)
{
	const json_t *list = json_object_get(l->o, "printed"), *item;
	struct result_printed *p;
	size_t i, n = json_array_size(list);

	if (n == 0)
		return 0;
	if (n > METRIC_COUNT)
		return export_wrong(l, e, "one printed value per metric");
	p = xcalloc(n, sizeof(*p));
	json_array_foreach(list, i, item)
	{
		p[i].metric = metric_find(json_get_str(item, "metric", ""));
		p[i].value = json_get_num(item, "value", NAN);
		p[i].resolution = json_get_num(item, "resolution", 0);
		p[i].unit_assumed = json_get_bool(item, "unit_assumed", 0);
		if (p[i].metric == METRIC_COUNT || !isfinite(p[i].value) || p[i].value <= 0 ||
			!isfinite(p[i].resolution) || p[i].resolution < 0) {
			free(p);
			return export_wrong(l, e, "whole printed values");
		}
	}
	t->printed = p;
	t->n_printed = n;
	return 0;
}

static int read_trial(struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	struct result_trial t = {.run = run};
	const json_t *o = l->o;

	if (!*json_get_str(o, "host", ""))
		return export_wrong(l, e, "host");
	if (export_u32(o, "trial") == 0 || export_u32(o, "block") == 0)
		return export_wrong(l, e, "trial and block (from 1)");
	if (!json_is_integer(json_object_get(o, "layout")) ||
		!json_is_integer(json_object_get(o, "workload")))
		return export_wrong(l, e, "layout and workload (their indices)");
	if (read_printed(l, &t, e) != 0)
		return -1;
	if (read_outcome(l, &t.sum, e) != 0) {
		trial_summary_clear(&t.sum);
		free(t.printed);
		return -1;
	}
	t.host = export_text(o, "host");
	t.attempt = export_u32(o, "attempt");
	t.layout = export_u32(o, "layout");
	t.workload = export_u32(o, "workload");
	t.block = export_u32(o, "block");
	t.repeat = export_u32(o, "repeat");
	t.position = export_u32(o, "position");
	t.layout_name = export_text(o, "layout_name");
	t.workload_name = export_text(o, "workload_name");
	t.op = export_text(o, "op");
	t.superseded = json_get_bool(o, "superseded", 0);
	t.complete = json_get_bool(o, "complete", 0);
	t.lost = export_u32(o, "lost");
	t.cache = export_text(o, "cache");
	t.usable_bytes = export_u64(o, "usable_bytes");
	t.sum.trial = export_u32(o, "trial");
	t.sum.block = t.block;
	t.sum.layout = t.layout;
	t.sum.workload = t.workload;
	t.sum.repeat = t.repeat;
	s->trials = xreallocarray(s->trials, s->n_trials + 1, sizeof(*s->trials));
	s->trials[s->n_trials++] = t;
	return 0;
}

static int read_detail(struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	struct result_trial *t = export_find_trial(s, l, run);
	const char *lacks;

	if (!t)
		return export_wrong(l, e, "the trial before it that it belongs to");
	if (export_detail_read(t, l->o, json_get_str(l->o, "type", ""), &lacks) != 0)
		return export_wrong(l, e, lacks);
	return 0;
}

/* NaN for null and for what is no number. */
static double get_real(const json_t *o, const char *key)
{
	return json_get_num(o, key, NAN);
}

static int is_measure(double v)
{
	return isfinite(v) && v > 0;
}

static int read_summary(struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	const json_t *o = l->o;
	struct result_summary m = {.run = run,
		.layout = export_u32(o, "layout"),
		.workload = export_u32(o, "workload"),
		.metric = metric_find(json_get_str(o, "metric", "")),
		.n = export_u32(o, "n"),
		.mean = get_real(o, "mean"),
		.min = get_real(o, "min"),
		.max = get_real(o, "max"),
		.stddev = get_real(o, "stddev"),
		.resolution = json_get_num(o, "resolution", 0),
		.stddev_resolution = json_get_num(o, "stddev_resolution", 0),
		.unit_assumed = json_get_bool(o, "unit_assumed", 0)};

	if (!*json_get_str(o, "host", ""))
		return export_wrong(l, e, "host");
	if (m.metric == METRIC_COUNT || m.n == 0 || !is_measure(m.mean))
		return export_wrong(l, e, "a metric, n (from 1) and a mean above 0");
	/* Each was rounded or cut on its own. */
	if (m.min > m.mean + m.resolution || m.max < m.mean - m.resolution || !(m.resolution >= 0 && isfinite(m.resolution)))
		return export_wrong(l, e, "min, mean and max in order and a resolution");
	if (m.stddev < 0 || isinf(m.stddev) ||
		!(m.stddev_resolution >= 0 && isfinite(m.stddev_resolution)))
		return export_wrong(l, e, "a standard deviation from 0 on, with its resolution");
	m.host = export_text(o, "host");
	m.layout_name = export_text(o, "layout_name");
	m.workload_name = export_text(o, "workload_name");
	s->summaries = xreallocarray(s->summaries, s->n_summaries + 1, sizeof(*s->summaries));
	s->summaries[s->n_summaries++] = m;
	return 0;
}

struct column {
	size_t offset; /* in struct result_point */
	int width;     /* 8 or 4 bytes */
};

static int find_column(const char *name, struct column *ret)
{
#define COLUMN(key, member)                                                                        \
	{                                                                                          \
		key,                                                                               \
		{                                                                                  \
			offsetof(struct result_point, member),                                     \
				sizeof(((struct result_point *)0)->member)                         \
		}                                                                                  \
	}
	static const struct {
		const char *name;
		struct column at;
	} own[] = {COLUMN("start_ns", start_ns), COLUMN("end_ns", end_ns), COLUMN("ops", ops),
		COLUMN("bytes", bytes), COLUMN("p50_ns", p50_ns), COLUMN("p99_ns", p99_ns),
		COLUMN("max_ns", max_ns), COLUMN("disks", tele.disks)};
#undef COLUMN

	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (strcmp(own[i].name, name) == 0) {
			*ret = own[i].at;
			return 1;
		}
	for (size_t i = 0; i < HOST_USAGE_FIELDS; i++)
		if (strcmp(host_usage_fields[i].key, name) == 0) {
			ret->offset =
				offsetof(struct result_point, host) + host_usage_fields[i].offset;
			ret->width = 8;
			return 1;
		}
	for (size_t i = 0; i < TELEMETRY_FIELDS; i++)
		if (strcmp(telemetry_fields[i].key, name) == 0) {
			ret->offset =
				offsetof(struct result_point, tele) + telemetry_fields[i].offset;
			ret->width = 8;
			return 1;
		}
	return 0;
}

static void read_point(const json_t *columns, const json_t *values, struct result_point *ret)
{
	*ret = (struct result_point){0};
	for (size_t i = 0; i < json_array_size(columns); i++) {
		const char *name = json_string_value(json_array_get(columns, i));
		uint64_t v = (uint64_t)json_integer_value(json_array_get(values, i));
		uint32_t narrow = (uint32_t)v;
		struct column c;

		if (!name || !find_column(name, &c))
			continue;
		if (c.width == 8)
			memcpy((char *)ret + c.offset, &v, 8);
		else
			memcpy((char *)ret + c.offset, &narrow, 4);
	}
}

/* Pieces of a series follow each other: the last one of the set, or a new one. */
struct result_series *export_open_series(struct result_set *s, uint64_t run, const json_t *o)
{
	const char *host = json_get_str(o, "host", "");
	struct result_series *last = s->n_series ? &s->series[s->n_series - 1] : NULL;

	if (last && last->run == run && strcmp(last->host, host) == 0 &&
		last->attempt == export_u32(o, "attempt") && last->trial == export_u32(o, "trial"))
		return last;
	s->series = xreallocarray(s->series, s->n_series + 1, sizeof(*s->series));
	last = &s->series[s->n_series++];
	*last = (struct result_series){.run = run,
		.host = xstrdup(host),
		.attempt = export_u32(o, "attempt"),
		.trial = export_u32(o, "trial")};
	return last;
}

static int read_series(struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	const json_t *columns = json_object_get(l->o, "columns");
	const json_t *points = json_object_get(l->o, "points");
	size_t n = json_array_size(points);
	struct result_series *series;

	if (!*json_get_str(l->o, "host", "") || export_u32(l->o, "trial") == 0)
		return export_wrong(l, e, "host and trial");
	if (!json_is_array(columns) || !json_is_array(points))
		return export_wrong(l, e, "columns and points");
	series = export_open_series(s, run, l->o);
	if (series->n + n > POINTS_MAX)
		return err_set(e, ERR_INPUT, "%s:%zu: a series of more than %d points", l->name,
			l->no, POINTS_MAX);
	series->points = xreallocarray(series->points, series->n + n, sizeof(*series->points));
	for (size_t i = 0; i < n; i++)
		read_point(columns, json_array_get(points, i), &series->points[series->n++]);
	return 0;
}

static int read_stop(
	struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	if (!*json_get_str(l->o, "host", "") || export_u32(l->o, "block") == 0)
		return export_wrong(l, e, "host and block");
	s->stops = xreallocarray(s->stops, s->n_stops + 1, sizeof(*s->stops));
	s->stops[s->n_stops++] =
		(struct result_stop){run, export_text(l->o, "host"), export_u32(l->o, "block")};
	return 0;
}

static const struct {
	const char *type;
	int (*read)(struct result_set *s, const struct export_line *l, uint64_t run, struct err *e);
} readers[] = {
	{"run", read_run},
	{"plan", read_plan},
	{"environment", read_environment},
	{"environment-disks", read_environment_disks},
	{"trial", read_trial},
	{"part", read_detail},
	{"fact", read_detail},
	{"note", read_detail},
	{"summary", read_summary},
	{"stop", read_stop},
	{"series", read_series},
	{"trial-disks", export_read_trial_disks},
	{"series-disks", export_read_series_disks},
	{"step", export_read_step},
};

int export_read_line(struct result_set *s, const char *name, size_t line_no, const char *line,
	size_t len, struct err *e)
{
	struct export_line l = {NULL, name, line_no};
	json_t *o;
	int rc = 0;

	if (export_parse(name, line, len, LINE_MAX_BYTES, &o, e) != 0)
		return err_set(e, ERR_INPUT, "%s:%zu: not a line of an export: not valid JSON",
			name, line_no);
	l.o = o;
	if (!json_is_object(o) || !json_is_string(json_object_get(o, "type"))) {
		rc = err_set(e, ERR_INPUT, "%s:%zu: not a line of an export: no object with a type",
			name, line_no);
		goto out;
	}
	for (size_t i = 0; i < ARRAY_LEN(readers); i++) {
		if (strcmp(readers[i].type, json_get_str(o, "type", "")) != 0)
			continue;
		rc = json_get_int(o, "run", 0) > 0
			     ? readers[i].read(s, &l, (uint64_t)json_get_int(o, "run", 0), e)
			     : export_wrong(&l, e, "run (a number from 1)");
		break;
	}
out:
	json_decref(o);
	return rc;
}

static int by_trial(const void *pa, const void *pb)
{
	const struct result_trial *a = pa, *b = pb;
	int c = (a->run > b->run) - (a->run < b->run);

	c = c ? c : strcmp(a->host, b->host);
	c = c ? c : (a->attempt > b->attempt) - (a->attempt < b->attempt);
	return c ? c : (a->sum.trial > b->sum.trial) - (a->sum.trial < b->sum.trial);
}

static int by_run(const void *pa, const void *pb)
{
	const struct result_run *a = pa, *b = pb;

	return (a->id > b->id) - (a->id < b->id);
}

/* A name from the run's list where the line had none; a number where the list has none either. */
static void fill_name(char **name, const struct strv *list, uint32_t i)
{
	if (**name)
		return;
	free(*name);
	*name = i < list->n ? xstrdup(list->v[i]) : xasprintf("%u", i);
}

int export_read_end(struct result_set *s, struct err *e)
{
	result_set_unindex(s);
	if (s->n_runs)
		qsort(s->runs, s->n_runs, sizeof(*s->runs), by_run);
	if (s->n_trials)
		qsort(s->trials, s->n_trials, sizeof(*s->trials), by_trial);
	if (s->n_series)
		qsort(s->series, s->n_series, sizeof(*s->series), result_series_compare);
	export_join_series(s);
	for (size_t i = 0; i < s->n_trials; i++) {
		struct result_trial *t = &s->trials[i];
		const struct result_run *r = find_run(s, t->run);

		if (!r)
			return err_set(e, ERR_INPUT, "run %llu has trials, but no line of its own",
				(unsigned long long)t->run);
		if (i > 0 && by_trial(t - 1, t) == 0)
			return err_set(e, ERR_INPUT,
				"run %llu, host '%s', attempt %u: trial %u is there "
				"twice",
				(unsigned long long)t->run, t->host, t->attempt, t->sum.trial);
		fill_name(&t->layout_name, &r->layouts, t->layout);
		fill_name(&t->workload_name, &r->workloads, t->workload);
	}
	for (size_t i = 0; i < s->n_summaries; i++) {
		struct result_summary *m = &s->summaries[i];
		const struct result_run *r = find_run(s, m->run);

		if (!r)
			return err_set(e, ERR_INPUT,
				"run %llu has summaries, but no line of its own",
				(unsigned long long)m->run);
		fill_name(&m->layout_name, &r->layouts, m->layout);
		fill_name(&m->workload_name, &r->workloads, m->workload);
	}
	return 0;
}
