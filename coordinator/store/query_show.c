/*
 * The lines of QUERY_SHOW behind the run's own; their shape is told in query.c. Owns nothing.
 * Invariant: every statement walks one index in the order of its key.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/store/codec.h"
#include "coordinator/store/query.h"

#define ARGV_MAX (64 * 1024) /* bytes of argv in a line */
#define JOB_OF(table) " JOIN jobs j ON j.job = " table ".job"

static const char *const attempt_names[ATTEMPT_STATE_COUNT] = {
	"running", "done", "failed", "cancelled", "interrupted"};
static const char *const unit_names[] = {"running", "complete", "failed"};
static const char *const trial_names[] = {"running", "ok", "failed"};

static void set(json_t *o, const char *key, json_t *v)
{
	json_object_set_new_nocheck(o, key, v);
}

static void set_text(json_t *o, const char *key, sqlite3_stmt *row, int col)
{
	set(o, key, json_text(db_get_text(row, col)));
}

static void set_text_or_null(json_t *o, const char *key, sqlite3_stmt *row, int col)
{
	set(o, key, *db_get_text(row, col) ? json_text(db_get_text(row, col)) : json_null());
}

static void set_int(json_t *o, const char *key, sqlite3_stmt *row, int col)
{
	set(o, key, json_integer(db_get_int(row, col)));
}

static void set_bool(json_t *o, const char *key, sqlite3_stmt *row, int col)
{
	set(o, key, json_boolean(db_get_int(row, col)));
}

static void set_name(
	json_t *o, const char *key, sqlite3_stmt *row, int col, const char *const *names, size_t n)
{
	int64_t i = db_get_int(row, col);

	set(o, key, i >= 0 && (size_t)i < n ? json_text(names[i]) : json_null());
}

static json_t *line_new(const struct query *q, const char *type)
{
	json_t *o = json_object();

	set(o, "type", json_text(type));
	set(o, "run", json_integer((json_int_t)q->run.run));
	return o;
}

/* Columns are job, attempt, …, with the host's name at the column given. */
static json_t *attempt_line(const struct query *q, const char *type, sqlite3_stmt *row, int host)
{
	json_t *o = line_new(q, type);

	set_int(o, "job", row, 0);
	set_text(o, "host", row, host);
	set_int(o, "attempt", row, 1);
	return o;
}

static int job_lines(
	struct query *q, struct db *db, sqlite3_stmt *row, struct buf *out, struct err *e)
{
	json_t *o = line_new(q, "job"), *disks;
	const char *text = db_get_text(row, 8);

	(void)db;
	if (json_parse("disks", text, strlen(text), 16 * 1024 * 1024, &disks, e) != 0) {
		json_decref(o);
		return -1;
	}
	set_int(o, "job", row, 0);
	set_text(o, "host", row, 1);
	set_text(o, "tag", row, 2);
	set(o, "state", json_text(job_state_name((enum job_state)db_get_int(row, 3))));
	set_text_or_null(o, "why", row, 4);
	set_int(o, "attempt", row, 5);
	set_int(o, "units", row, 6);
	set_int(o, "units_done", row, 7);
	set(o, "blocks", json_integer(db_get_int(row, 9)));
	set(o, "stop_block",
		db_get_int(row, 10) ? json_integer(db_get_int(row, 10)) : json_null());
	set(o, "disks", disks);
	query_line(o, out);
	return 0;
}

static int attempt_lines(
	struct query *q, struct db *db, sqlite3_stmt *row, struct buf *out, struct err *e)
{
	json_t *o = attempt_line(q, "attempt", row, 2);

	(void)db;
	(void)e;
	set_name(o, "state", row, 3, attempt_names, ARRAY_LEN(attempt_names));
	set_text_or_null(o, "error", row, 4);
	set(o, "began", query_time(db_get_int(row, 5)));
	set(o, "ended", query_time(db_get_int(row, 6)));
	set_text_or_null(o, "agent_version", row, 7);
	set_int(o, "records", row, 8);
	set_int(o, "lost", row, 9);
	query_line(o, out);
	return 0;
}

static int unit_lines(
	struct query *q, struct db *db, sqlite3_stmt *row, struct buf *out, struct err *e)
{
	json_t *o = attempt_line(q, "unit", row, 4);

	(void)db;
	(void)e;
	set_int(o, "block", row, 2);
	set_int(o, "layout", row, 3);
	set(o, "layout_name", json_text(query_layout(q, db_get_int(row, 3))));
	set_int(o, "position", row, 5);
	set_name(o, "state", row, 6, unit_names, ARRAY_LEN(unit_names));
	set_text_or_null(o, "error", row, 7);
	set_bool(o, "superseded", row, 8);
	set(o, "started", query_time(db_get_int(row, 9)));
	set(o, "ended", query_time(db_get_int(row, 10)));
	set_text_or_null(o, "mount", row, 11);
	set_text_or_null(o, "identity", row, 12);
	set_text_or_null(o, "filesystem", row, 13);
	set_int(o, "usable_bytes", row, 14);
	query_line(o, out);
	return 0;
}

static int detail_lines(const struct query *q, sqlite3_stmt *row, struct buf *out, struct err *e)
{
	struct query_trial t = {.run = q->run.run, .job = db_get_int(row, 0),
		.attempt = db_get_int(row, 1), .trial = db_get_int(row, 2),
		.host = db_get_text(row, 3)};
	struct trial_detail d = {0};
	const void *bytes;
	size_t len;

	bytes = db_get_blob(row, 20, &len);
	if (!len)
		return 0;
	if (detail_decode(bytes, len, &d, e))
		return -1;
	query_detail_lines(&t, &d, out);
	detail_clear(&d);
	return 0;
}

static int trial_lines(
	struct query *q, struct db *db, sqlite3_stmt *row, struct buf *out, struct err *e)
{
	static const char *const numbers[] = {
		"planned_bytes", "elapsed_ns", "sync_ns", "bytes", "ops", "errors", "samples"};
	json_t *o = attempt_line(q, "trial", row, 3);
	const char *headline;

	(void)db;
	set_int(o, "trial", row, 2);
	set_int(o, "block", row, 4);
	set_int(o, "layout", row, 5);
	set(o, "layout_name", json_text(query_layout(q, db_get_int(row, 5))));
	set_int(o, "workload", row, 6);
	set(o, "workload_name", json_text(query_workload(q, db_get_int(row, 6))));
	set(o, "op", json_text(query_op(q, db_get_int(row, 6))));
	headline = query_headline(q, db_get_int(row, 6));
	set(o, "headline", *headline ? json_text(headline) : json_null());
	set_int(o, "repeat", row, 7);
	set_name(o, "state", row, 8, trial_names, ARRAY_LEN(trial_names));
	set_text_or_null(o, "error", row, 9);
	set_bool(o, "superseded", row, 10);
	set_text(o, "cache", row, 11);
	set(o, "started", query_time(db_get_int(row, 12)));
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		set_int(o, numbers[i], row, 13 + (int)i);
	query_line(o, out);
	return detail_lines(q, row, out, e);
}

/* The words as far as they fit a line; a last one says how many are left out. */
static json_t *argv_json(const char *text)
{
	struct strv argv;
	json_t *list = json_array();
	size_t bytes = 0;

	codec_strv_read(text, &argv);
	for (size_t i = 0; i < argv.n; i++) {
		char rest[64];

		bytes += strlen(argv.v[i]);
		if (bytes > ARGV_MAX) {
			snprintf(rest, sizeof(rest), "… (%zu words more)", argv.n - i);
			json_array_append_new(list, json_text(rest));
			break;
		}
		json_array_append_new(list, json_text(argv.v[i]));
	}
	strv_free(&argv);
	return list;
}

static int step_lines(
	struct query *q, struct db *db, sqlite3_stmt *row, struct buf *out, struct err *e)
{
	json_t *o = line_new(q, "step");

	(void)db;
	(void)e;
	set_int(o, "job", row, 0);
	set_text(o, "host", row, 3);
	set_int(o, "attempt", row, 2);
	set_int(o, "block", row, 4);
	set_int(o, "layout", row, 5);
	set(o, "layout_name", json_text(query_layout(q, db_get_int(row, 5))));
	set(o, "phase", json_text(query_phase(db_get_int(row, 6))));
	set_text(o, "what", row, 7);
	set(o, "argv", argv_json(db_get_text(row, 8)));
	set_int(o, "elapsed_ns", row, 9);
	set_bool(o, "ok", row, 10);
	set_text(o, "output", row, 11);
	set(o, "at", query_time(db_get_int(row, 12)));
	query_line(o, out);
	return 0;
}

/* clang-format off */
const struct query_page query_pages_show[] = {
	{"SELECT j.job, j.host, j.tag, j.state, j.why, j.attempt,"
	 " CASE j.stop_block WHEN 0 THEN r.units ELSE j.stop_block * r.layouts END,"
	 " (SELECT count(*) FROM (SELECT DISTINCT block, layout FROM units u WHERE u.job = j.job"
	 "  AND u.state = 1)), j.disks,"
	 " CASE j.stop_block WHEN 0 THEN r.blocks ELSE j.stop_block END, j.stop_block"
	 " FROM jobs j JOIN runs r ON r.run = j.run"
	 " WHERE j.job <= ?3 AND j.job > ?4 ORDER BY j.job" QUERY_LIMIT,
		1, QUERY_FROM_FIRST_JOB, job_lines},
	{"SELECT a.job, a.attempt, j.host, a.state, a.error, a.began_ns, a.ended_ns,"
	 " a.agent_version, a.last, (SELECT coalesce(sum(b.last - b.first + 1), 0) FROM batches b"
	 "  WHERE b.job = a.job AND b.attempt = a.attempt AND b.lost = 1)"
	 " FROM attempts a" JOB_OF("a")
	 " WHERE a.job <= ?3 AND (a.job, a.attempt) > (?4, ?5)"
	 " ORDER BY a.job, a.attempt" QUERY_LIMIT,
		2, QUERY_FROM_FIRST_JOB, attempt_lines},
	{"SELECT u.job, u.attempt, u.block, u.layout, j.host, u.position, u.state, u.error,"
	 " u.superseded, u.started_ns, u.ended_ns, v.mount, v.identity, v.filesystem,"
	 " v.usable_bytes FROM units u" JOB_OF("u")
	 " LEFT JOIN volumes v ON v.job = u.job AND v.attempt = u.attempt AND v.block = u.block"
	 "  AND v.layout = u.layout"
	 " WHERE u.job <= ?3 AND (u.job, u.attempt, u.block, u.layout) >"
	 "  (?4, ?5, ?6, ?7) ORDER BY u.job, u.attempt, u.block, u.layout" QUERY_LIMIT,
		4, QUERY_FROM_FIRST_JOB, unit_lines},
	{"SELECT t.job, t.attempt, t.trial, j.host, t.block, t.layout, t.workload, t.repeat,"
	 " t.state, t.error," QUERY_SUPERSEDED " t.cache, t.started_wall_ns,"
	 " t.planned_bytes, t.elapsed_ns, t.sync_ns, t.bytes, t.ops, t.errors, t.samples,"
	 " t.detail"
	 " FROM trials t" JOB_OF("t")
	 " LEFT JOIN units u ON u.job = t.job AND u.attempt = t.attempt AND u.block = t.block"
	 "  AND u.layout = t.layout"
	 " WHERE t.job <= ?3 AND (t.job, t.attempt, t.trial) > (?4, ?5, ?6)"
	 " ORDER BY t.job, t.attempt, t.trial" QUERY_LIMIT,
		3, QUERY_FROM_FIRST_JOB, trial_lines},
	{"SELECT i.n, j.job, i.host, i.type, i.rest FROM imports i"
	 " JOIN jobs j ON j.run = i.run AND j.host = i.host"
	 " WHERE i.run = ?1 AND i.n > ?4 AND i.type IN ('trial', 'summary', 'step',"
	 "  'part', 'fact', 'note')"
	 " ORDER BY i.n" QUERY_LIMIT,
		1, 0, query_show_import},
	{"SELECT s.job, s.id, s.attempt, j.host, s.block, s.layout, s.phase, s.what, s.argv,"
	 " s.elapsed_ns, s.ok, s.output, s.at_ns FROM steps s" JOB_OF("s")
	 " WHERE s.job <= ?3 AND (s.job, s.id) > (?4, ?5)"
	 " ORDER BY s.job, s.id" QUERY_LIMIT,
		2, QUERY_FROM_FIRST_JOB, step_lines},
};
/* clang-format on */
const size_t query_n_pages_show = ARRAY_LEN(query_pages_show);
