/* Reading workloads: a name, and one kind of work under it. */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/plan_internal.h"

static const struct key_row kind_rows[] = {
	{"stream", read_stream, 0, NULL, NULL},
	{"random", read_unsupported, 0, NULL, NULL},
	{"filebench", read_unsupported, 0, NULL, NULL},
	{"pg_restore", read_unsupported, 0, NULL, NULL},
	{"pg_dump", read_unsupported, 0, NULL, NULL},
	{"pgbench", read_unsupported, 0, NULL, NULL},
	{"fio", read_unsupported, 0, NULL, NULL},
	{"command", read_unsupported, 0, NULL, NULL},
	{"disk-scan", read_unsupported, 0, NULL, NULL},
	{"rebuild", read_unsupported, 0, NULL, NULL},
	{"parallel", read_unsupported, 0, NULL, NULL},
	{"duration", read_unsupported, 0, NULL, NULL},
};
static const struct key_table kind_table = KEY_TABLE("a workload", kind_rows);

static void read_workload(struct reading *r, const struct yaml_node *n, struct plan *p)
{
	char *path = read_child_path("workloads", n->key);
	struct workload *w;
	struct err e;

	if (plan_check_name(n->key, "workload", 0, &e))
		read_error_key(r, n, "workloads", "%s", e.text);
	p->workloads = xreallocarray(p->workloads, p->n_workloads + 1, sizeof(*p->workloads));
	w = &p->workloads[p->n_workloads++];
	memset(w, 0, sizeof(*w));
	w->name = xstrdup(n->key);
	w->kind = WORKLOAD_STREAM;
	stream_defaults(&w->stream); /* of other kinds too: a read may name them */
	w->line = n->key_line;
	w->column = n->key_column;
	if (read_map(r, n, path, &kind_table, w) == 0) {
		if (n->n == 0)
			read_error(
				r, n, path, "says nothing to do: it needs a kind, such as stream");
		else if (n->n > 1 && !yaml_get(n, "duration"))
			read_error_key(r, n->items[1], path,
				"one workload does one thing: '%s' is "
				"there already",
				n->items[0]->key);
	}
	free(path);
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
	for (size_t i = 0; i < n->n; i++)
		read_workload(r, n->items[i], p);
}
