/*
 * What a coordinator needs to know when it starts. Owns a connection for the time of a call.
 * Invariant: a row handed out is complete; its callback owns it.
 */
#include <stdlib.h>

#include "common/base/mem.h"
#include "coordinator/store/codec.h"
#include "coordinator/store/store_internal.h"

void stored_host_clear(struct stored_host *h)
{
	free(h->name);
	free(h->inventory);
	strv_free(&h->tags);
	*h = (struct stored_host){0};
}

void stored_job_clear(struct stored_job *j)
{
	free(j->host);
	free(j->job_tag);
	free(j->why);
	free(j->plan_text);
	free(j->run_name);
	strv_free(&j->sets);
	codec_disks_free(j->disks, j->n_disks);
	free(j->done);
	*j = (struct stored_job){0};
}

int store_load_hosts(
	struct store *s, void (*row)(void *arg, struct stored_host *h), void *arg, struct err *e)
{
	sqlite3_stmt *r;
	struct db *db;
	int more = -1;

	if (db_open(s->path, DB_READ, &db, e) != 0)
		return -1;
	if (DB_QUERY(db, &r, e,
		    "SELECT name, tags, paused, last_seen_ns, inventory FROM hosts ORDER BY "
		    "name") != 0)
		goto out;
	while ((more = db_next(db, r, e)) == 1) {
		struct stored_host h = {.name = db_dup_text(r, 0),
			.paused = (int)db_get_int(r, 2),
			.last_seen_wall_ns = db_get_int(r, 3)};
		const void *bytes = db_get_blob(r, 4, &h.inventory_len);

		h.inventory = bytes ? xmemdup(bytes, h.inventory_len) : NULL;
		codec_strv_read(db_get_text(r, 1), &h.tags);
		row(arg, &h);
	}
out:
	db_close(db);
	return more;
}

static int load_done(struct db *db, struct stored_job *j, struct err *e)
{
	sqlite3_stmt *r;
	size_t cap = 0;
	int more;

	if (DB_QUERY(db, &r, e,
		    "SELECT DISTINCT block, layout FROM units WHERE job = ?1 AND state = 1"
		    " ORDER BY block, layout",
		    db_uint(j->job)) != 0)
		return -1;
	while ((more = db_next(db, r, e)) == 1) {
		j->done = xgrow(j->done, j->n_done, &cap, sizeof(*j->done));
		j->done[j->n_done++] =
			(struct unit){(uint32_t)db_get_int(r, 0), (uint32_t)db_get_int(r, 1)};
	}
	return more;
}

/* Attempts from the last one backwards until one that completed a unit, or after which the job was
 * resumed. */
static int load_attempts(struct db *db, struct stored_job *j, struct err *e)
{
	sqlite3_stmt *r;
	int more;

	if (DB_QUERY(db, &r, e,
		    "SELECT a.attempt, a.state, (SELECT count(*) FROM units u WHERE u.job = a.job"
		    " AND u.attempt = a.attempt AND u.state = 1), a.attempt <= j.resumed"
		    " FROM attempts a JOIN jobs j ON j.job = a.job WHERE a.job = ?1"
		    " ORDER BY a.attempt DESC",
		    db_uint(j->job)) != 0)
		return -1;
	while ((more = db_next(db, r, e)) == 1) {
		int64_t state = db_get_int(r, 1);

		if (db_get_int(r, 0) == j->attempt) {
			j->attempt_ended = state != ATTEMPT_RUNNING;
			j->attempt_state = (enum attempt_state)state;
			j->attempt_done = (uint32_t)db_get_int(r, 2);
		}
		if (db_get_int(r, 2) || db_get_int(r, 3)) {
			db_done(r);
			return 0;
		}
		if (state != ATTEMPT_RUNNING)
			j->failures++;
	}
	return more;
}

/* What the last attempt waits for: its last AWAIT, unless that unit has begun. */
static int load_await(struct db *db, struct stored_job *j, struct err *e)
{
	sqlite3_stmt *r;
	int more;

	if (DB_QUERY(db, &r, e,
		    "SELECT await_block, await_layout FROM attempts a WHERE a.job = ?1"
		    " AND a.attempt = ?2 AND a.state = 0 AND a.await_block > 0"
		    " AND NOT EXISTS (SELECT 1 FROM units u WHERE u.job = a.job"
		    "  AND u.attempt = a.attempt AND u.block = a.await_block"
		    "  AND u.layout = a.await_layout)",
		    db_uint(j->job), db_int(j->attempt)) != 0)
		return -1;
	more = db_next(db, r, e);
	if (more != 1)
		return more;
	j->awaits = (struct unit){(uint32_t)db_get_int(r, 0), (uint32_t)db_get_int(r, 1)};
	db_done(r);
	return 0;
}

static void read_job(sqlite3_stmt *r, struct stored_job *j)
{
	*j = (struct stored_job){.run = (uint64_t)db_get_int(r, 0),
		.job = (uint64_t)db_get_int(r, 1),
		.host = db_dup_text(r, 2),
		.job_tag = db_dup_text(r, 3),
		.state = (enum job_state)db_get_int(r, 4),
		.attempt = (uint32_t)db_get_int(r, 5),
		.plan_text = db_dup_text(r, 6),
		.run_name = db_dup_text(r, 7),
		.seed = (uint64_t)db_get_int(r, 9),
		.blocks = (uint32_t)db_get_int(r, 10),
		.stop_block = (uint32_t)db_get_int(r, 13)};
	codec_strv_read(db_get_text(r, 8), &j->sets);
	codec_disks_read(db_get_text(r, 11), &j->disks, &j->n_disks);
	if (*db_get_text(r, 12))
		j->why = db_dup_text(r, 12);
}

#define JOBS_SELECT                                                                                \
	"SELECT j.run, j.job, j.host, j.tag, j.state, j.attempt, p.text, r.name, r.sets,"          \
	" r.seed, r.blocks, j.disks, j.why, j.stop_block FROM jobs j JOIN runs r ON r.run = j.run" \
	" JOIN plans p ON p.sha256 = r.plan_sha256 WHERE "
#define JOBS_ORDER " ORDER BY j.run, j.job"

/* Hands the rows out; *ret_n counts them. 0 at the end, -1 and e. */
static int give_jobs(struct db *db, sqlite3_stmt *r, void (*row)(void *arg, struct stored_job *j),
	void *arg, size_t *ret_n, struct err *e)
{
	int more;

	while ((more = db_next(db, r, e)) == 1) {
		struct stored_job j;

		read_job(r, &j);
		if (load_done(db, &j, e) != 0 || load_attempts(db, &j, e) != 0 ||
			load_await(db, &j, e) != 0) {
			stored_job_clear(&j);
			return -1;
		}
		++*ret_n;
		row(arg, &j);
	}
	return more;
}

int store_load_jobs(
	struct store *s, void (*row)(void *arg, struct stored_job *j), void *arg, struct err *e)
{
	sqlite3_stmt *r;
	struct db *db;
	size_t n = 0;
	int rc = -1;

	if (db_open(s->path, DB_READ, &db, e) != 0)
		return -1;
	if (DB_QUERY(db, &r, e, JOBS_SELECT "j.state < 2" JOBS_ORDER) == 0)
		rc = give_jobs(db, r, row, arg, &n, e);
	db_close(db);
	return rc;
}

int store_load_run(struct store *s, uint64_t run, void (*row)(void *arg, struct stored_job *j),
	void *arg, struct err *e)
{
	sqlite3_stmt *r;
	struct db *db;
	size_t n = 0;
	int rc = -1;

	if (db_open(s->path, DB_READ, &db, e) != 0)
		return -1;
	if (DB_QUERY(db, &r, e, JOBS_SELECT "j.run = ?1" JOBS_ORDER, db_uint(run)) == 0)
		rc = give_jobs(db, r, row, arg, &n, e);
	db_close(db);
	if (rc == 0 && n == 0)
		return err_set(e, ERR_NOTFOUND, "there is no run %llu (see `arraymark runs`)",
			(unsigned long long)run);
	return rc;
}

int store_load_revoked(
	struct store *s, void (*row)(void *arg, const char *serial), void *arg, struct err *e)
{
	sqlite3_stmt *r;
	struct db *db;
	int more = -1;

	if (db_open(s->path, DB_READ, &db, e) != 0)
		return -1;
	if (DB_QUERY(db, &r, e, "SELECT serial FROM identities WHERE revoked_ns > 0") == 0)
		while ((more = db_next(db, r, e)) == 1)
			row(arg, db_get_text(r, 0));
	db_close(db);
	return more;
}
