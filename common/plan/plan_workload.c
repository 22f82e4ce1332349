/* Reading workloads: a name, and one kind of work under it. Owns the table of kinds. */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/workload_type.h"

/* Kinds that are known and not in this version. */
static const struct workload_type work_rebuild_type = {.key = "rebuild"};

const struct workload_type *const workload_types[WORKLOAD_KIND_COUNT] = {
	[WORKLOAD_STREAM] = &work_stream_type,
	[WORKLOAD_RANDOM] = &work_random_type,
	[WORKLOAD_FILEBENCH] = &work_filebench_type,
	[WORKLOAD_PG_RESTORE] = &work_pg_restore_type,
	[WORKLOAD_PG_DUMP] = &work_pg_dump_type,
	[WORKLOAD_PGBENCH] = &work_pgbench_type,
	[WORKLOAD_FIO] = &work_fio_type,
	[WORKLOAD_COMMAND] = &work_command_type,
	[WORKLOAD_DISK_SCAN] = &work_scan_type,
	[WORKLOAD_REBUILD] = &work_rebuild_type,
	[WORKLOAD_PARALLEL] = &work_parallel_type,
};

static const struct int_range duration_range = {NS_PER_S, 7 * 24 * 3600 * NS_PER_S};

static const struct workload_type *find_type(const char *key, enum workload_kind *ret)
{
	for (unsigned i = 0; i < WORKLOAD_KIND_COUNT; i++)
		if (strcmp(workload_types[i]->key, key) == 0) {
			*ret = (enum workload_kind)i;
			return workload_types[i];
		}
	return NULL;
}

static void unknown_key(struct reading *r, const struct yaml_node *n, const char *path)
{
	const char *words[WORKLOAD_KIND_COUNT + 2] = {0};
	char text[SHOWN_LEN], near[SHOWN_LEN + 24];
	size_t count = 0;

	for (unsigned i = 0; i < WORKLOAD_KIND_COUNT; i++)
		if (workload_types[i]->read)
			words[count++] = workload_types[i]->key;
	words[count] = "duration";
	read_error_key(r, n, path, "'%s' is not a key of a workload%s", shown(n->key, text),
		suggestion(n->key, words, near));
}

/* The kind's key: one of them a workload. */
static void read_kind(struct reading *r, const struct yaml_node *n, const char *path,
	struct workload *w, const struct yaml_node **kind)
{
	const struct workload_type *type;
	enum workload_kind k;
	char *child;

	type = find_type(n->key, &k);
	if (!type) {
		unknown_key(r, n, path);
		return;
	}
	child = read_child_path(path, n->key);
	if (!type->read) {
		read_unsupported(r, n, child, NULL, NULL);
	} else if (!*kind) {
		w->kind = k;
		type->read(r, n, child, w, NULL);
	}
	free(child);
	if (*kind)
		read_error_key(r, n, path, "one workload does one thing: '%s' is there already",
			(*kind)->key);
	else
		*kind = n;
}

/* Beside the kind; a kind that takes one in its map, too, has it in one of the places. */
static void read_duration(struct reading *r, const struct yaml_node *n, const struct yaml_node *kind,
	const char *path, struct workload *w)
{
	char *child = read_child_path(path, "duration");
	const struct yaml_node *within = kind && kind->kind == YAML_MAP ? yaml_get(kind, "duration") : NULL;

	if (within && workload_types[w->kind]->takes_duration)
		read_error(r, n, child, "is given twice: %s.%s.duration says one already, in line %d",
			path, kind->key, within->line);
	else
		read_time(r, n, child, &w->duration_ns, &duration_range);
	free(child);
}

void plan_read_workload(
	struct reading *r, const struct yaml_node *n, const char *path, struct workload *w)
{
	const struct yaml_node *kind = NULL, *duration = NULL;

	w->kind = WORKLOAD_STREAM;
	stream_defaults(&w->stream); /* of other kinds too: a read may name them */
	w->line = n->key ? n->key_line : n->line;
	w->column = n->key ? n->key_column : n->column;
	if (n->kind != YAML_MAP) {
		read_error(r, n, path, "must be a map of a kind and its options, such as {stream: "
				       "{op: write, size: 30G}}");
		return;
	}
	for (size_t i = 0; i < n->n; i++)
		if (strcmp(n->items[i]->key, "duration") == 0)
			duration = n->items[i];
		else
			read_kind(r, n->items[i], path, w, &kind);
	if (duration)
		read_duration(r, duration, kind, path, w);
	if (n->n == 0 || (duration && n->n == 1))
		read_error(r, n, path, "says nothing to do: it needs a kind, such as stream");
}

void plan_read_workloads(struct reading *r, const struct yaml_node *n)
{
	struct plan *p = r->owner;

	if (n->kind != YAML_MAP || n->n == 0 || n->n > PLAN_MAX_WORKLOADS) {
		read_error(r, n, "workloads",
			"must be a map of 1 to %d workloads, such as write: "
			"{stream: {op: write, size: 30G}}",
			PLAN_MAX_WORKLOADS);
		return;
	}
	p->workloads = xcalloc(n->n, sizeof(*p->workloads));
	for (size_t i = 0; i < n->n; i++) {
		char *path = read_child_path("workloads", n->items[i]->key);
		struct workload *w = &p->workloads[p->n_workloads++];
		struct err e;

		if (plan_check_name(n->items[i]->key, "workload", 0, &e))
			read_error_key(r, n->items[i], "workloads", "%s", e.text);
		w->name = xstrdup(n->items[i]->key);
		plan_read_workload(r, n->items[i], path, w);
		free(path);
	}
}

void plan_check_workloads(struct reading *r, const struct yaml_node *n)
{
	struct plan *p = r->owner;

	for (unsigned i = 0; i < p->n_workloads; i++) {
		struct workload *w = &p->workloads[i];
		const struct workload_type *type = workload_types[w->kind];
		const struct yaml_node *kind = yaml_get(n->items[i], type->key);
		char *path;

		if (!kind || !type->check)
			continue;
		path = xasprintf("workloads.%s.%s", w->name, type->key);
		type->check(&(struct workload_place){r, p, i, w, kind, path});
		free(path);
	}
}

void workload_error(const struct workload_place *at, const char *key, const char *fmt, ...)
{
	const struct yaml_node *n = at->n->kind == YAML_MAP ? yaml_get(at->n, key) : NULL;
	char *path = n ? read_child_path(at->path, key) : xstrdup(at->path);
	struct buf text = {0};
	va_list ap;

	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	read_error(at->r, n ? n : at->n, path, "%s", buf_str(&text));
	buf_free(&text);
	free(path);
}

void workload_clear(struct workload *w)
{
	work_stream_type.clear(w);
	if (w->kind != WORKLOAD_STREAM && workload_types[w->kind]->clear)
		workload_types[w->kind]->clear(w);
	free(w->name);
}
