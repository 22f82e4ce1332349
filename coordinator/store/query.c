/*
 * Queries as pages of rows. Owns nothing; a query owns its cursor.
 * Invariant: no statement stays open between two steps, and the next step starts behind the last
 * row whose lines were made, so a query may take as long as its receiver likes.
 *
 * Lines (times are RFC 3339 UTC or null; *_ns and *_bytes integers; absent values null):
 *
 * QUERY_RUNS, newest first, and the first line of QUERY_SHOW:
 *   {"type":"run","run","name","state","user","created","started","finished","plan_sha256","seed",
 *    "sets":[],"blocks","units" (of all jobs),"units_done","layouts":[],"workloads":[],"design",
 *    "cache","jobs","waiting","running","done","failed","cancelled" (numbers of jobs),
 *    "host" (its name when there is one job), "until": null or {"min","max","precision"}}
 *   state: waiting, running, done, failed, cancelled, imported; seed: digits in a string
 * QUERY_SHOW, after the run's line, each kind in the order of job, attempt, …:
 *   {"type":"job","run","job","host","tag","state","why","attempt","units","units_done","blocks",
 *    "stop_block" (null, or the block that a precision made the last one), "disks":[{"layout",
 *    "role","group","ids":[]}]}
 *   {"type":"attempt","run","job","host","attempt","state","error","began","ended",
 *    "agent_version","records","lost"}      state: running, done, failed, cancelled, interrupted
 *   {"type":"unit","run","job","host","attempt","block","layout","layout_name","position","state",
 *    "error","superseded","started","ended","mount","identity","filesystem","usable_bytes"}
 *                                           state: running, complete, failed
 *   {"type":"trial","run","job","host","attempt","trial","block","layout","layout_name","workload",
 *    "workload_name","op","headline" (the metric that judges it),"repeat","state","error",
 *    "superseded","cache","planned_bytes","started",
 *    "elapsed_ns","sync_ns","bytes","ops","errors","samples"}     state: running, ok, failed
 *   {"type":"summary","run","job","host","layout","layout_name","workload","workload_name","metric",
 *    "unit","n","mean","min","max"}      of imported runs, where only that is known; their trials
 *    have "printed": [{"metric","unit","value"}] where a file printed values; both have "data": what a
 *                                           file tells of the data ("zero"), or null
 *   {"type":"step","run","job","host","attempt","block" (0: outside of any),"layout",
 *    "layout_name","phase","what","argv":[],"elapsed_ns","ok","output","at"}
 *                                           phase: build, cache, workload, teardown
 * QUERY_EXPORT, QUERY_EXPORT_REPORT, QUERY_EXPORT_SERIES: coordinator/results/export.h
 * QUERY_TOKENS, newest first:
 *   {"type":"token","id","role","name","state","created","expires","used","revoked","serial"}
 *                                           state: open, used, expired, revoked
 * QUERY_PRECISION: see store.h
 * QUERY_RUN_ID: {"type":"run-id","run","name","state"}
 */
#include "coordinator/store/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/results/export.h"
#include "coordinator/results/series_want.h"
#include "coordinator/store/codec.h"

#define STEP_NS (200 * NS_PER_MS) /* a page ends early after that */
#define DESIGN_MAX (16 * 1024 * 1024)

void query_init(struct query *q, enum store_query kind, const char *target)
{
	const char *words = target && kind == QUERY_EXPORT_SERIES ? strchrnul(target, '\n') : NULL;

	*q = (struct query){.kind = kind,
		.target = words ? xstrndup(target, (size_t)(words - target))
				: xstrdup(target ? target : "")};
	if (kind == QUERY_EXPORT_SERIES)
		q->want = series_want_parse(words ? words : "");
}

void query_clear(struct query *q)
{
	free(q->target);
	series_want_free(q->want);
	json_decref(q->run.design);
	buf_free(&q->pending);
	*q = (struct query){0};
}

json_t *query_time(int64_t wall_ns)
{
	char text[UNITS_LEN];

	return wall_ns ? json_text(units_wall_rfc3339(wall_ns, text)) : json_null();
}

void query_line(json_t *o, struct buf *out)
{
	json_line(o, out);
	buf_addc(out, '\n');
	json_decref(o);
}

const char *query_layout(const struct query *q, int64_t layout)
{
	const json_t *list = json_object_get(q->run.design, "layouts");
	const char *s = json_string_value(json_array_get(list, (size_t)layout));

	return s ? s : "";
}

static const json_t *workload_of(const struct query *q, int64_t workload)
{
	return json_array_get(json_object_get(q->run.design, "workloads"), (size_t)workload);
}

const char *query_workload(const struct query *q, int64_t workload)
{
	return json_get_str(workload_of(q, workload), "name", "");
}

const char *query_op(const struct query *q, int64_t workload)
{
	return json_get_str(workload_of(q, workload), "op", "");
}

const char *query_headline(const struct query *q, int64_t workload)
{
	return json_get_str(workload_of(q, workload), "headline", "");
}

const char *query_phase(int64_t phase)
{
	static const char *const names[PHASE_COUNT] = {"build", "cache", "workload", "teardown"};

	return phase >= 0 && phase < PHASE_COUNT ? names[phase] : NULL;
}

/* Number, name (its newest run), or "last". */
static int resolve(struct query *q, struct db *db, struct err *e)
{
	const char *t = q->target;
	size_t len = strlen(t);
	int64_t run = 0;
	int rc;

	if (strcmp(t, "last") == 0)
		rc = DB_QUERY_INT(db, e, 0, &run, "SELECT max(run) FROM runs");
	else if (len > 0 && len < 19 && strspn(t, "0123456789") == len)
		rc = DB_QUERY_INT(db, e, 0, &run, "SELECT run FROM runs WHERE run = ?1",
			db_int(strtoll(t, NULL, 10)));
	else
		rc = DB_QUERY_INT(
			db, e, 0, &run, "SELECT max(run) FROM runs WHERE name = ?1", db_text(t));
	if (rc != 0)
		return -1;
	if (run == 0 && strcmp(t, "last") == 0)
		return err_set(e, ERR_NOTFOUND, "there is no run yet");
	if (run == 0)
		return err_set(
			e, ERR_NOTFOUND, "run '%s' is not known: `arraymark runs` lists them", t);
	q->run.run = (uint64_t)run;
	return 0;
}

/* The range of jobs and the names of the run. */
static int load_run(struct query *q, struct db *db, struct err *e)
{
	sqlite3_stmt *row;
	int more;

	if (DB_QUERY(db, &row, e,
		    "SELECT design, (SELECT min(job) FROM jobs j WHERE j.run = r.run),"
		    " (SELECT max(job) FROM jobs j WHERE j.run = r.run) FROM runs r WHERE run = ?1",
		    db_uint(q->run.run)) != 0)
		return -1;
	more = db_next(db, row, e);
	if (more < 0)
		return -1;
	if (more == 1) {
		const char *design = db_get_text(row, 0);

		more = json_parse("design", design, strlen(design), DESIGN_MAX, &q->run.design, e);
		q->run.job_lo = db_get_int(row, 1);
		q->run.job_hi = db_get_int(row, 2);
		db_done(row);
	}
	return more;
}

static void run_numbers(sqlite3_stmt *row, json_t *o)
{
	static const char *const names[] = {
		"jobs", "waiting", "running", "done", "failed", "cancelled", "units_done"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		json_object_set_new(o, names[i], json_integer(db_get_int(row, 14 + (int)i)));
	json_object_set_new(o, "units", json_integer(db_get_int(row, 22)));
	json_object_set_new(o, "host",
		db_get_int(row, 14) == 1 ? json_text(db_get_text(row, 21)) : json_null());
}

/* Names of workloads, out of the design's objects. */
static json_t *workload_names(const json_t *design)
{
	json_t *list = json_array(), *w;
	size_t i;

	json_array_foreach(json_object_get(design, "workloads"), i, w)
		json_array_append_new(list, json_text(json_get_str(w, "name", "")));
	return list;
}

static int run_lines(
	struct query *q, struct db *db, sqlite3_stmt *row, struct buf *out, struct err *e)
{
	const char *text = db_get_text(row, 9);
	json_t *o, *design, *until;
	struct strv sets;
	char seed[24];

	(void)q;
	(void)db;
	if (json_parse("design", text, strlen(text), DESIGN_MAX, &design, e) != 0)
		return -1;
	o = json_object();
	until = json_object_get(design, "until");
	codec_strv_read(db_get_text(row, 8), &sets);
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)db_get_int(row, 10));
	json_object_set_new(o, "type", json_text("run"));
	json_object_set_new(o, "run", json_integer(db_get_int(row, 1)));
	json_object_set_new(o, "name", json_text(db_get_text(row, 2)));
	json_object_set_new(
		o, "state", json_text(job_state_name((enum job_state)db_get_int(row, 3))));
	json_object_set_new(o, "user", json_text(db_get_text(row, 4)));
	json_object_set_new(o, "created", query_time(db_get_int(row, 5)));
	json_object_set_new(o, "started", query_time(db_get_int(row, 6)));
	json_object_set_new(o, "finished", query_time(db_get_int(row, 7)));
	json_object_set_new(o, "plan_sha256", json_text(db_get_text(row, 13)));
	json_object_set_new(o, "seed", json_text(seed));
	json_object_set_new(o, "sets", codec_strv_json(&sets));
	json_object_set_new(o, "blocks", json_integer(db_get_int(row, 11)));
	run_numbers(row, o);
	json_object_set(o, "layouts", json_object_get(design, "layouts"));
	json_object_set_new(o, "workloads", workload_names(design));
	json_object_set(o, "design", json_object_get(design, "design"));
	json_object_set(o, "cache", json_object_get(design, "cache"));
	json_object_set_new(o, "until", json_is_object(until) ? json_incref(until) : json_null());
	query_line(o, out);
	strv_free(&sets);
	json_decref(design);
	return 0;
}

#define RUN_COLUMNS                                                                                \
	"run, name, state, user, created_ns, started_ns, finished_ns, sets, design, seed, blocks," \
	" units, plan_sha256,"                                                                     \
	" (SELECT count(*) FROM jobs j WHERE j.run = r.run),"                                      \
	" (SELECT count(*) FROM jobs j WHERE j.run = r.run AND j.state = 0),"                      \
	" (SELECT count(*) FROM jobs j WHERE j.run = r.run AND j.state = 1),"                      \
	" (SELECT count(*) FROM jobs j WHERE j.run = r.run AND j.state = 2),"                      \
	" (SELECT count(*) FROM jobs j WHERE j.run = r.run AND j.state = 3),"                      \
	" (SELECT count(*) FROM jobs j WHERE j.run = r.run AND j.state = 4),"                      \
	" (SELECT count(*) FROM (SELECT DISTINCT u.job, u.block, u.layout FROM jobs j"             \
	"  JOIN units u ON u.job = j.job WHERE j.run = r.run AND u.state = 1)),"                   \
	" (SELECT min(host) FROM jobs j WHERE j.run = r.run),"                                     \
	" (SELECT sum(CASE j.stop_block WHEN 0 THEN r.units ELSE j.stop_block * r.layouts END)"    \
	"  FROM jobs j WHERE j.run = r.run)"

static const struct query_page runs_page = {
	"SELECT -run, " RUN_COLUMNS " FROM runs r WHERE -run > ?4 ORDER BY run DESC" QUERY_LIMIT, 1,
	INT64_MIN, run_lines};

static const struct query_page run_page = {
	"SELECT run, " RUN_COLUMNS " FROM runs r WHERE run = ?1 AND run > ?4", 1, 0, run_lines};

static int token_lines(
	struct query *q, struct db *db, sqlite3_stmt *row, struct buf *out, struct err *e)
{
	int64_t expires = db_get_int(row, 5), used = db_get_int(row, 6),
		revoked = db_get_int(row, 7);
	const char *state = "open";
	json_t *o = json_object();

	(void)q;
	(void)db;
	(void)e;
	if (revoked)
		state = "revoked";
	else if (used)
		state = "used";
	else if (clock_wall_ns() >= expires)
		state = "expired";
	json_object_set_new(o, "type", json_text("token"));
	json_object_set_new(o, "id", json_text(db_get_text(row, 1)));
	json_object_set_new(o, "role", json_text(db_get_text(row, 2)));
	json_object_set_new(o, "name", json_text(db_get_text(row, 3)));
	json_object_set_new(o, "state", json_text(state));
	json_object_set_new(o, "created", query_time(db_get_int(row, 4)));
	json_object_set_new(o, "expires", query_time(expires));
	json_object_set_new(o, "used", query_time(used));
	json_object_set_new(o, "revoked", query_time(revoked));
	json_object_set_new(
		o, "serial", *db_get_text(row, 8) ? json_text(db_get_text(row, 8)) : json_null());
	query_line(o, out);
	return 0;
}

static const struct query_page tokens_page = {
	"SELECT -rowid, id, role, name, created_ns, expires_ns, used_ns, revoked_ns, serial"
	" FROM tokens WHERE -rowid > ?4 ORDER BY rowid DESC" QUERY_LIMIT,
	1, INT64_MIN, token_lines};

static int run_id_lines(
	struct query *q, struct db *db, sqlite3_stmt *row, struct buf *out, struct err *e)
{
	json_t *o = json_object();

	(void)q;
	(void)db;
	(void)e;
	json_object_set_new(o, "type", json_text("run-id"));
	json_object_set_new(o, "run", json_integer(db_get_int(row, 0)));
	json_object_set_new(o, "name", json_text(db_get_text(row, 1)));
	json_object_set_new(
		o, "state", json_text(job_state_name((enum job_state)db_get_int(row, 2))));
	query_line(o, out);
	return 0;
}

static const struct query_page run_id_page = {
	"SELECT run, name, state FROM runs WHERE run = ?1 AND run > ?4", 1, 0, run_id_lines};

/* The pages of a query in order; NULL behind the last. */
static const struct query_page *page_of(const struct query *q)
{
	size_t stage = q->stage;

	switch (q->kind) {
	case QUERY_RUNS:
		return stage == 0 ? &runs_page : NULL;
	case QUERY_TOKENS:
		return stage == 0 ? &tokens_page : NULL;
	case QUERY_RUN_ID:
		return stage == 0 ? &run_id_page : NULL;
	case QUERY_SHOW:
		if (stage == 0)
			return &run_page;
		return stage <= query_n_pages_show ? &query_pages_show[stage - 1] : NULL;
	case QUERY_PRECISION:
		return NULL;
	case QUERY_EXPORT_SERIES:
		return stage == 0 ? &query_wanted_series : NULL;
	default:
		if (stage < query_n_pages_export)
			return &query_pages_export[stage];
		stage -= query_n_pages_export;
		if (q->only_job || stage >= (q->kind == QUERY_EXPORT ? query_n_pages_details
								   : query_n_pages_rest))
			return NULL;
		return q->kind == QUERY_EXPORT ? &query_pages_details[stage]
					       : &query_pages_rest[stage];
	}
}

/* Rows of the page until it ends, much is pending, or time is up. 1: the page has more. */
static int read_page(struct query *q, struct db *db, const struct query_page *page, struct err *e)
{
	int64_t until = clock_mono_ns() + STEP_NS;
	sqlite3_stmt *row;
	int more, rows = 0;

	if (DB_QUERY(db, &row, e, page->sql, db_uint(q->run.run), db_int(q->run.job_lo),
		    db_int(q->run.job_hi), db_int(q->key[0]), db_int(q->key[1]), db_int(q->key[2]),
		    db_int(q->key[3])) != 0)
		return -1;
	while ((more = db_next(db, row, e)) == 1) {
		size_t before = q->pending.len;

		if (page->lines(q, db, row, &q->pending, e) != 0) {
			more = -1;
			break;
		}
		q->lines += export_count_lines(&q->pending, before);
		for (unsigned i = 0; i < page->n_keys; i++)
			q->key[i] = db_get_int(row, (int)i);
		rows++;
		if (q->pending.len - q->given >= MSG_CHUNK_MAX / 2 || clock_mono_ns() > until)
			break;
	}
	if (more == 0)
		return rows == QUERY_PAGE_ROWS;
	db_done(row);
	return more;
}

/* Moves whole lines from pending to out. 1: some are left. */
static int give(struct query *q, struct buf *out, struct err *e)
{
	const char *from = q->pending.data + q->given;
	size_t left = q->pending.len - q->given, n = left;

	if (left == 0)
		return 0;
	if (n > MSG_CHUNK_MAX) {
		const char *end = memrchr(from, '\n', MSG_CHUNK_MAX);

		if (!end)
			return err_set(e, ERR_FULL, "a line of the answer is longer than %d bytes",
				MSG_CHUNK_MAX);
		n = (size_t)(end - from) + 1;
	}
	buf_add(out, from, n);
	q->given += n;
	if (q->given < q->pending.len)
		return 1;
	buf_reset(&q->pending);
	q->given = 0;
	return 0;
}

static int needs_run(enum store_query kind)
{
	return kind == QUERY_SHOW || kind == QUERY_EXPORT || kind == QUERY_EXPORT_REPORT ||
	       kind == QUERY_EXPORT_SERIES || kind == QUERY_RUN_ID;
}

/* Behind the last possible row before the page's first. */
static void begin_page(struct query *q, const struct query_page *page)
{
	int by_job = page->start == QUERY_FROM_FIRST_JOB;

	for (size_t i = 0; i < QUERY_KEYS; i++)
		q->key[i] = by_job ? INT64_MAX : page->start;
	if (by_job)
		q->key[0] = q->run.job_lo - 1;
}

int query_step(struct query *q, struct db *db, struct buf *out, struct err *e)
{
	const struct query_page *page;
	int more;

	if (q->kind == QUERY_PRECISION)
		return query_precision(q, db, out, e);
	if (needs_run(q->kind) && !q->run.run) {
		if (resolve(q, db, e) != 0 || load_run(q, db, e) != 0)
			return -1;
		if (q->only_job)
			q->run.job_lo = q->run.job_hi = q->only_job;
	}
	while (q->pending.len - q->given < MSG_CHUNK_MAX / 2 &&
		(page = page_of(q))) {
		if (!q->begun)
			begin_page(q, page);
		q->begun = 1;
		more = read_page(q, db, page, e);
		if (more < 0)
			return -1;
		if (more)
			break;
		q->stage++;
		q->begun = 0;
	}
	more = give(q, out, e);
	return more ? more : page_of(q) != NULL;
}
