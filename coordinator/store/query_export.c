/*
 * The lines of QUERY_EXPORT: rows become result structs, which write themselves. Owns nothing.
 * Invariant: a trial that did not end has no line; one of a unit that has to be measured again, or
 * was, is marked superseded.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/export.h"
#include "coordinator/results/series_want.h"
#include "coordinator/store/codec.h"
#include "coordinator/store/query.h"
#include "coordinator/store/series.h"
#include "coordinator/store/store_internal.h"

static void names_of(const json_t *list, const char *member, struct strv *ret)
{
	size_t i;
	json_t *item;

	json_array_foreach(list, i, item)
	{
		const char *s = member ? json_get_str(item, member, "") : json_string_value(item);

		strv_add(ret, s ? s : "");
	}
}

/* Strings are borrowed from the row and the design. */
static int run_lines(
	struct query *q, struct db *db, sqlite3_stmt *row, struct buf *out, struct err *e)
{
	const json_t *d = q->run.design;
	struct result_run r = {
		.id = q->run.run,
		.name = (char *)db_get_text(row, 1),
		.state = (char *)job_state_name((enum job_state)db_get_int(row, 2)),
		.plan_sha256 = (char *)db_get_text(row, 3),
		.plan_text = (char *)db_get_text(row, 4),
		.tool_version = (char *)db_get_text(row, 5),
		.user = (char *)db_get_text(row, 6),
		.seed = (uint64_t)db_get_int(row, 8),
		.blocks = (uint32_t)db_get_int(row, 9),
		.started_wall_ns = db_get_int(row, 10),
		.finished_wall_ns = db_get_int(row, 11),
		.design = (char *)json_get_str(d, "design", ""),
		.cache = (char *)json_get_str(d, "cache", ""),
		.baseline = (int)json_get_int(d, "baseline", -1),
		.margin = json_get_num(d, "margin", 0),
	};

	(void)db;
	(void)e;
	codec_strv_read(db_get_text(row, 7), &r.sets);
	names_of(json_object_get(d, "layouts"), NULL, &r.layouts);
	names_of(json_object_get(d, "workloads"), "name", &r.workloads);
	export_run(&r, out);
	strv_free(&r.sets);
	strv_free(&r.layouts);
	strv_free(&r.workloads);
	return 0;
}

static int environment_lines(
	struct query *q, struct db *db, sqlite3_stmt *row, struct buf *out, struct err *e)
{
	struct result_environment v = {.run = q->run.run, .host = (char *)db_get_text(row, 1)};
	struct inventory inv = {0};
	const void *bytes;
	size_t len;

	(void)db;
	bytes = db_get_blob(row, 2, &len);
	if (inventory_decode(bytes, len, &inv, e) != 0)
		return err_prefix(e, "environment of host '%s'", v.host);
	v.inventory = inventory_json(&inv);
	export_environment(&v, out);
	json_decref(v.inventory);
	inventory_clear(&inv);
	return 0;
}

/* Borrows from the row, but for the detail: detail_clear() it. */
static int read_summary(sqlite3_stmt *row, struct trial_summary *s, struct err *e)
{
	struct telemetry *d = &s->tele;
	uint64_t *const counters[] = {&s->bytes, &s->ops, &s->errors, &s->cpu_user_ns,
		&s->cpu_system_ns, &d->disk_read_bytes, &d->disk_write_bytes, &d->disk_read_ops,
		&d->disk_write_ops, &d->disk_busy_ns, &d->cpu_user_ns, &d->cpu_system_ns,
		&d->cpu_idle_ns, &d->cpu_iowait_ns, &d->mem_free_bytes, &d->mem_cached_bytes,
		&d->arc_bytes};

	const void *detail;
	size_t len;

	s->ok = db_get_int(row, 8) == TRIAL_OK;
	s->error = s->ok ? NULL : (char *)db_get_text(row, 9);
	s->started_wall_ns = db_get_int(row, 14);
	s->elapsed_ns = db_get_int(row, 15);
	s->sync_ns = db_get_int(row, 16);
	s->samples = (uint32_t)db_get_int(row, 17);
	d->disks = (uint32_t)db_get_int(row, 18);
	s->hist = (char *)db_get_blob(row, 19, &s->hist_len);
	for (size_t i = 0; i < ARRAY_LEN(counters); i++)
		*counters[i] = (uint64_t)db_get_int(row, 20 + (int)i);
	detail = db_get_blob(row, 40, &len);
	return len ? detail_decode(detail, len, &s->detail, e) : 0;
}

static int trial_lines(
	struct query *q, struct db *db, sqlite3_stmt *row, struct buf *out, struct err *e)
{
	struct result_trial t = {
		.run = q->run.run,
		.host = (char *)db_get_text(row, 3),
		.attempt = (uint32_t)db_get_int(row, 1),
		.block = (uint32_t)db_get_int(row, 4),
		.layout = (uint32_t)db_get_int(row, 5),
		.workload = (uint32_t)db_get_int(row, 6),
		.repeat = (uint32_t)db_get_int(row, 7),
		.position = (uint32_t)db_get_int(row, 10),
		.complete = db_get_int(row, 11) == UNIT_COMPLETE,
		.superseded = (int)db_get_int(row, 12),
		.cache = (char *)db_get_text(row, 13),
		.usable_bytes = (uint64_t)db_get_int(row, 37),
		.lost = (uint32_t)db_get_int(row, 38),
	};
	struct trial_evidence evidence = {0};
	const void *bytes;
	size_t len;

	(void)db;
	t.layout_name = (char *)query_layout(q, t.layout);
	t.workload_name = (char *)query_workload(q, t.workload);
	t.op = (char *)query_op(q, t.workload);
	t.sum.trial = (uint32_t)db_get_int(row, 2);
	if (read_summary(row, &t.sum, e) != 0 ||
		((bytes = db_get_blob(row, 39, &len)) &&
			evidence_decode(bytes, len, &evidence, e) != 0)) {
		detail_clear(&t.sum.detail);
		return err_prefix(e, "job %lld, attempt %u, trial %u",
			(long long)db_get_int(row, 0), t.attempt, t.sum.trial);
	}
	t.sum.evidence = &evidence;
	t.sum.n_evidence = bytes != NULL;
	export_trial(&t, out);
	trial_evidence_clear(&evidence);
	detail_clear(&t.sum.detail);
	return 0;
}

static int series_lines(
	struct query *q, struct db *db, sqlite3_stmt *row, struct buf *out, struct err *e)
{
	struct series_key key = {(uint64_t)db_get_int(row, 0), (uint32_t)db_get_int(row, 1),
		(uint32_t)db_get_int(row, 2)};
	struct result_series s = {.run = q->run.run,
		.host = (char *)db_get_text(row, 3),
		.attempt = key.attempt,
		.trial = key.trial};
	int whole = !q->want || series_want_host(q->want, s.host);

	if (!whole && !series_want_rates(q->want, (uint32_t)db_get_int(row, 4)))
		return 0;
	if (series_load(db, &key, &s, e) != 0)
		return -1;
	if (whole)
		export_series(&s, out);
	else
		export_rates(&s, out);
	s.host = NULL;
	result_series_clear(&s);
	return 0;
}

static int step_lines(
	struct query *q, struct db *db, sqlite3_stmt *row, struct buf *out, struct err *e)
{
	struct result_step s = {.run = q->run.run,
		.attempt = (uint32_t)db_get_int(row, 2),
		.host = (char *)db_get_text(row, 3),
		.block = (uint32_t)db_get_int(row, 4),
		.layout = (uint32_t)db_get_int(row, 5),
		.layout_name = (char *)query_layout(q, db_get_int(row, 5)),
		.phase = (char *)query_phase(db_get_int(row, 6)),
		.what = (char *)db_get_text(row, 7),
		.elapsed_ns = db_get_int(row, 9),
		.ok = (int)db_get_int(row, 10),
		.output = (char *)db_get_text(row, 11),
		.at_wall_ns = db_get_int(row, 12)};

	(void)db;
	(void)e;
	codec_strv_read(db_get_text(row, 8), &s.argv);
	export_step(&s, out);
	strv_free(&s.argv);
	return 0;
}

static int import_lines(
	struct query *q, struct db *db, sqlite3_stmt *row, struct buf *out, struct err *e)
{
	(void)db;
	(void)e;
	buf_addf(out, "{\"type\":\"%s\",\"run\":%llu", db_get_text(row, 1),
		(unsigned long long)q->run.run);
	buf_adds(out, db_get_text(row, 2));
	buf_addc(out, '\n');
	return 0;
}

static int stop_lines(
	struct query *q, struct db *db, sqlite3_stmt *row, struct buf *out, struct err *e)
{
	struct result_stop s = {
		q->run.run, (char *)db_get_text(row, 1), (uint32_t)db_get_int(row, 2)};

	(void)db;
	(void)e;
	export_stop(&s, out);
	return 0;
}

static int end_lines(
	struct query *q, struct db *db, sqlite3_stmt *row, struct buf *out, struct err *e)
{
	(void)db;
	(void)row;
	(void)e;
	export_end(q->run.run, q->lines, out);
	return 0;
}

#define AFTER_TRIAL                                                                                \
	" WHERE t.job <= ?3 AND (t.job, t.attempt, t.trial) > (?4, ?5, ?6)"        \
	" AND t.state > 0 ORDER BY t.job, t.attempt, t.trial" QUERY_LIMIT

#define SERIES                                                                                     \
	"SELECT t.job, t.attempt, t.trial, j.host, t.workload FROM trials t"                       \
	" JOIN jobs j ON j.job = t.job" AFTER_TRIAL

#define IMPORTS                                                                                    \
	"SELECT n, type, rest FROM imports WHERE run = ?1 AND n > ?4 ORDER BY n" QUERY_LIMIT

#define END "SELECT run FROM runs WHERE run = ?1 AND run > ?4"

#define STEPS                                                                                      \
	"SELECT s.job, s.id, s.attempt, j.host, s.block, s.layout, s.phase, s.what, s.argv,"       \
	" s.elapsed_ns, s.ok, s.output, s.at_ns FROM steps s JOIN jobs j ON j.job = s.job"         \
	" WHERE s.job <= ?3 AND (s.job, s.id) > (?4, ?5)"

/* clang-format off */
const struct query_page query_pages_export[] = {
	{"SELECT run, name, state, plan_sha256, p.text, tool_version, user, sets, seed, blocks,"
	 " started_ns, finished_ns FROM runs JOIN plans p ON p.sha256 = plan_sha256"
	 " WHERE run = ?1 AND run > ?4 AND state <> 5",
		1, 0, run_lines},
	/* What the host was in the last attempt that said so. */
	{"SELECT j.job, j.host, v.inventory FROM jobs j JOIN environments v ON v.job = j.job"
	 " WHERE j.job <= ?3 AND j.job > ?4 AND v.attempt ="
	 "  (SELECT max(w.attempt) FROM environments w WHERE w.job = j.job)"
	 " ORDER BY j.job" QUERY_LIMIT,
		1, QUERY_FROM_FIRST_JOB, environment_lines},
	{"SELECT j.job, j.host, j.stop_block FROM jobs j WHERE j.job <= ?3"
	 " AND j.job > ?4 AND j.stop_block > 0 ORDER BY j.job" QUERY_LIMIT,
		1, QUERY_FROM_FIRST_JOB, stop_lines},
	{"SELECT t.job, t.attempt, t.trial, j.host, t.block, t.layout, t.workload, t.repeat,"
	 " t.state, t.error, coalesce(u.position, 0), coalesce(u.state, 0),"
	 QUERY_SUPERSEDED " t.cache, t.started_wall_ns, t.elapsed_ns, t.sync_ns, t.samples, t.disks, t.hist,"
	 " t.bytes, t.ops, t.errors, t.cpu_user_ns, t.cpu_system_ns, t.disk_read_bytes,"
	 " t.disk_write_bytes, t.disk_read_ops, t.disk_write_ops, t.disk_busy_ns, t.host_user_ns,"
	 " t.host_system_ns, t.host_idle_ns, t.host_iowait_ns, t.mem_free_bytes,"
	 " t.mem_cached_bytes, t.arc_bytes, coalesce(v.usable_bytes, 0),"
	 " (SELECT coalesce(sum(min(b.last, t.last_record) - max(b.first, t.first_record) + 1), 0)"
	 "  FROM batches b WHERE b.job = t.job AND b.attempt = t.attempt AND b.lost = 1"
	 "  AND b.last >= t.first_record AND b.first <= t.last_record), t.evidence, t.detail"
	 " FROM trials t JOIN jobs j ON j.job = t.job"
	 " LEFT JOIN units u ON u.job = t.job AND u.attempt = t.attempt AND u.block = t.block"
	 "  AND u.layout = t.layout"
	 " LEFT JOIN volumes v ON v.job = t.job AND v.attempt = t.attempt AND v.block = t.block"
	 "  AND v.layout = t.layout" AFTER_TRIAL,
		3, QUERY_FROM_FIRST_JOB, trial_lines},
};
const struct query_page query_pages_details[] = {
	{SERIES, 3, QUERY_FROM_FIRST_JOB, series_lines},
	{STEPS " ORDER BY s.job, s.id" QUERY_LIMIT, 2, QUERY_FROM_FIRST_JOB, step_lines},
	{IMPORTS, 1, 0, import_lines},
	{END, 1, 0, end_lines},
};
const struct query_page query_pages_rest[] = {
	{STEPS " AND (s.ok = 0 OR (s.job = ?2 AND s.block <= 1)) ORDER BY s.job, s.id" QUERY_LIMIT,
		2, QUERY_FROM_FIRST_JOB, step_lines},
	{IMPORTS, 1, 0, import_lines},
	{END, 1, 0, end_lines},
};
const struct query_page query_wanted_series = {SERIES, 3, QUERY_FROM_FIRST_JOB, series_lines};
/* clang-format on */
const size_t query_n_pages_rest = ARRAY_LEN(query_pages_rest);
const size_t query_n_pages_export = ARRAY_LEN(query_pages_export);
const size_t query_n_pages_details = ARRAY_LEN(query_pages_details);
