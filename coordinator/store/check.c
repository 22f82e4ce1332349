/*
 * Checking a store: the database, its references, and that every finished trial has its samples.
 * Owns a read connection for the time of a call.
 * Invariant: nothing is changed; a store may be checked while a coordinator serves it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/store/schema.h"
#include "coordinator/store/series.h"
#include "coordinator/store/store_internal.h"

#define FINDINGS_MAX 1000

struct check {
	struct db *db;
	struct strv *findings;
	size_t bad;
};

static void __attribute__((format(printf, 2, 3))) found(struct check *c, const char *fmt, ...)
{
	va_list ap;
	char *text;

	if (++c->bad > FINDINGS_MAX)
		return;
	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	strv_add(c->findings, text);
	free(text);
}

static int check_integrity(struct check *c, struct err *e)
{
	sqlite3_stmt *row;
	int more;

	if (DB_QUERY(c->db, &row, e, "PRAGMA integrity_check(100)") != 0)
		return -1;
	while ((more = db_next(c->db, row, e)) == 1)
		if (strcmp(db_get_text(row, 0), "ok") != 0)
			found(c, "database: %s", db_get_text(row, 0));
	return more;
}

static int check_references(struct check *c, struct err *e)
{
	sqlite3_stmt *row;
	int more;

	if (DB_QUERY(c->db, &row, e, "PRAGMA foreign_key_check") != 0)
		return -1;
	while ((more = db_next(c->db, row, e)) == 1)
		found(c, "%s row %lld refers to a row of %s that is not there", db_get_text(row, 0),
			(long long)db_get_int(row, 1), db_get_text(row, 2));
	return more;
}

/* Batches of an attempt are one unbroken stream up to attempts.last. */
static int check_streams(struct check *c, struct err *e)
{
	sqlite3_stmt *row;
	int more;

	if (DB_QUERY(c->db, &row, e,
		    "SELECT a.job, a.attempt, a.last, coalesce(sum(b.last - b.first + 1), 0),"
		    " coalesce(max(b.last), 0) FROM attempts a LEFT JOIN batches b ON b.job = a.job"
		    " AND b.attempt = a.attempt GROUP BY a.job, a.attempt"
		    " HAVING a.last <> coalesce(sum(b.last - b.first + 1), 0)"
		    " OR a.last <> coalesce(max(b.last), 0)") != 0)
		return -1;
	while ((more = db_next(c->db, row, e)) == 1)
		found(c,
			"job %lld, attempt %lld: %lld records were acknowledged, the batches hold "
			"%lld",
			(long long)db_get_int(row, 0), (long long)db_get_int(row, 1),
			(long long)db_get_int(row, 2), (long long)db_get_int(row, 3));
	return more;
}

struct trial_place {
	struct series_key key;
	int64_t run;
	uint64_t from, to, said;
	char host[MSG_NAME_MAX * 4];
};

static int next_trial(struct check *c, struct trial_place *p, struct err *e)
{
	sqlite3_stmt *row;
	int more;

	if (DB_QUERY(c->db, &row, e,
		    "SELECT t.job, t.attempt, t.trial, j.run, j.host, t.first_record, "
		    "t.last_record,"
		    " t.samples FROM trials t JOIN jobs j ON j.job = t.job"
		    " WHERE (t.job, t.attempt, t.trial) > (?1, ?2, ?3) AND t.state > 0"
		    " ORDER BY t.job, t.attempt, t.trial LIMIT 1",
		    db_uint(p->key.job), db_int(p->key.attempt), db_int(p->key.trial)) != 0)
		return -1;
	more = db_next(c->db, row, e);
	if (more != 1)
		return more;
	p->key = (struct series_key){(uint64_t)db_get_int(row, 0), (uint32_t)db_get_int(row, 1),
		(uint32_t)db_get_int(row, 2)};
	p->run = db_get_int(row, 3);
	snprintf(p->host, sizeof(p->host), "%s", db_get_text(row, 4));
	p->from = (uint64_t)db_get_int(row, 5);
	p->to = (uint64_t)db_get_int(row, 6);
	p->said = (uint64_t)db_get_int(row, 7);
	db_done(row);
	return 1;
}

static int check_trials(struct check *c, struct err *e)
{
	struct trial_place p = {0};
	int more;

	while ((more = next_trial(c, &p, e)) == 1) {
		struct series_walk walk = {0};
		struct err damage;

		if (series_walk_trial(c->db, &p.key, p.from, p.to, &walk, &damage) != 0) {
			found(c, "run %lld, host '%s': %s", (long long)p.run, p.host, damage.text);
			continue;
		}
		if (walk.samples > p.said || walk.samples + walk.lost < p.said)
			found(c,
				"run %lld, host '%s', attempt %u, trial %u: cut %llu samples, "
				"%llu are stored and %llu records are known as lost",
				(long long)p.run, p.host, p.key.attempt, p.key.trial,
				(unsigned long long)p.said, (unsigned long long)walk.samples,
				(unsigned long long)walk.lost);
	}
	return more;
}

/* Ranges the agents reported as lost: said, but no fault of the store. */
static int note_lost(struct check *c, struct err *e)
{
	sqlite3_stmt *row;
	int more;

	if (DB_QUERY(c->db, &row, e,
		    "SELECT j.run, j.host, b.attempt, b.first, b.last FROM batches b"
		    " JOIN jobs j ON j.job = b.job WHERE b.lost = 1 ORDER BY b.job, b.attempt, "
		    "b.first"
		    " LIMIT 1000") != 0)
		return -1;
	while ((more = db_next(c->db, row, e)) == 1)
		strv_addf(c->findings,
			"note: run %lld, host '%s', attempt %lld: records %lld to %lld "
			"were lost on the agent, before they reached the store",
			(long long)db_get_int(row, 0), db_get_text(row, 1),
			(long long)db_get_int(row, 2), (long long)db_get_int(row, 3),
			(long long)db_get_int(row, 4));
	return more;
}

int store_check(const char *path, struct strv *findings, struct err *e)
{
	struct check c = {.findings = findings};
	int rc = -1;

	if (db_open(path, DB_READ, &c.db, e) != 0)
		return -1;
	db_set_wait(c.db, 5000);
	if (schema_verify(c.db, e) != 0 || check_integrity(&c, e) != 0 ||
		check_references(&c, e) != 0 || check_streams(&c, e) != 0 ||
		check_trials(&c, e) != 0 || note_lost(&c, e) != 0)
		goto out;
	if (c.bad)
		err_set(e, ERR_FAILED, "%s: %zu finding%s", path, c.bad, c.bad == 1 ? "" : "s");
	else
		rc = 0;
out:
	db_close(c.db);
	return rc;
}
