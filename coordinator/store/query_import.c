/*
 * What QUERY_SHOW says of an imported run: its kept export lines, in the shape of the lines about
 * our own trials (query.c). Owns nothing.
 */
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/set.h"
#include "coordinator/store/query.h"

static void set(json_t *o, const char *key, json_t *v)
{
	json_object_set_new_nocheck(o, key, v);
}

static void copy(json_t *o, const json_t *from, const char *key)
{
	json_t *v = json_object_get(from, key);

	set(o, key, v ? json_incref(v) : json_null());
}

static const char *unit_of(const char *metric)
{
	enum metric_id m = metric_find(metric);

	return m < METRIC_COUNT ? metric_table[m].unit : "";
}

static json_t *printed_of(const json_t *kept)
{
	json_t *list = json_array(), *p;
	size_t i;

	json_array_foreach(json_object_get(kept, "printed"), i, p)
	{
		json_t *o = json_object();

		copy(o, p, "metric");
		set(o, "unit", json_text(unit_of(json_get_str(p, "metric", ""))));
		copy(o, p, "value");
		json_array_append_new(list, o);
	}
	return list;
}

static void trial_line(json_t *o, const json_t *kept)
{
	static const char *const same[] = {"attempt", "trial", "block", "layout", "layout_name",
		"workload", "workload_name", "op", "repeat", "superseded", "cache", "elapsed_ns",
		"sync_ns", "bytes", "ops", "errors", "samples"};
	const char *error = json_get_str(kept, "error", "");

	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		copy(o, kept, same[i]);
	set(o, "state", json_text(json_get_bool(kept, "ok", 0) ? "ok" : "failed"));
	set(o, "error", *error ? json_text(error) : json_null());
	set(o, "headline", json_null()); /* what was printed tells */
	set(o, "planned_bytes", json_integer(0));
	set(o, "started", query_time(json_get_int(kept, "started_wall_ns", 0)));
	set(o, "printed", printed_of(kept));
	set(o, "data", json_text(json_get_str(kept, "data", NULL)));
}

static void summary_line(json_t *o, const json_t *kept)
{
	static const char *const same[] = {"layout", "layout_name", "workload", "workload_name",
		"metric", "n", "mean", "min", "max"};

	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		copy(o, kept, same[i]);
	set(o, "unit", json_text(unit_of(json_get_str(kept, "metric", ""))));
	set(o, "data", json_text(json_get_str(kept, "data", NULL)));
}

static void step_line(json_t *o, const json_t *kept)
{
	static const char *const same[] = {"attempt", "block", "layout", "layout_name", "phase",
		"what", "argv", "elapsed_ns", "ok", "output"};

	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		copy(o, kept, same[i]);
	set(o, "at", query_time(json_get_int(kept, "at_wall_ns", 0)));
}

int query_show_import(
	struct query *q, struct db *db, sqlite3_stmt *row, struct buf *out, struct err *e)
{
	const char *type = db_get_text(row, 3), *rest = db_get_text(row, 4);
	struct buf text = {0};
	json_t *kept, *o;
	int rc;

	(void)db;
	buf_addf(&text, "{%s", *rest == ',' ? rest + 1 : rest);
	rc = json_parse("imported line", text.data, text.len, text.len, &kept, e);
	buf_free(&text);
	if (rc)
		return -1;
	o = json_object();
	set(o, "type", json_text(type));
	set(o, "run", json_integer((json_int_t)q->run.run));
	set(o, "job", json_integer(db_get_int(row, 1)));
	set(o, "host", json_text(db_get_text(row, 2)));
	if (!strcmp(type, "trial"))
		trial_line(o, kept);
	else if (!strcmp(type, "step"))
		step_line(o, kept);
	else if (strcmp(type, "summary"))
		query_detail_kept(o, kept);
	else
		summary_line(o, kept);
	query_line(o, out);
	json_decref(kept);
	return 0;
}
