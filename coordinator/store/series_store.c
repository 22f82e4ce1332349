/*
 * Series in their table. Owns the operation that stores one.
 * Invariant: a stored series is never replaced; one that cannot be read is built again.
 */
#include <stdlib.h>

#include "common/base/mem.h"
#include "coordinator/store/series.h"

struct put_op {
	struct op op;
	struct series_key key;
	size_t n;
	uint32_t samples;
	struct buf data;
};

static int put_apply(struct op *op, struct write_ctx *w, struct err *e)
{
	struct put_op *p = (struct put_op *)op;

	return DB_RUN(w->db, e,
		"INSERT OR IGNORE INTO series(job, attempt, trial, points, samples, data)"
		" VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
		db_uint(p->key.job), db_int(p->key.attempt), db_int(p->key.trial),
		db_int((int64_t)p->n), db_int(p->samples), db_blob(buf_str(&p->data), p->data.len));
}

static void put_free(struct op *op)
{
	struct put_op *p = (struct put_op *)op;

	buf_free(&p->data);
	free(p);
}

static const struct write_kind put_kind = {"series", put_apply, NULL, NULL, put_free};

/* 1 and the series, 0 when there is none that can be read. */
static int read_stored(struct db *db, const struct series_key *key, struct result_series *ret,
	struct err *e)
{
	sqlite3_stmt *row;
	const void *data;
	size_t len;
	int more;

	if (DB_QUERY(db, &row, e,
		    "SELECT data FROM series WHERE job = ?1 AND attempt = ?2 AND trial = ?3",
		    db_uint(key->job), db_int(key->attempt), db_int(key->trial)) != 0)
		return -1;
	more = db_next(db, row, e);
	if (more != 1)
		return more;
	data = db_get_blob(row, 0, &len);
	more = series_decode(data, len, ret, e) == 0;
	db_done(row);
	return more;
}

int series_make(struct db *db, struct writer *w, const struct series_key *key, struct err *e)
{
	struct result_series s = {0};
	struct put_op *p;
	int64_t there;
	uint32_t samples;

	if (DB_QUERY_INT(db, e, 0, &there,
		    "SELECT 1 FROM series WHERE job = ?1 AND attempt = ?2 AND trial = ?3",
		    db_uint(key->job), db_int(key->attempt), db_int(key->trial)) != 0)
		return -1;
	if (there)
		return 0;
	if (series_build(db, key, &s, &samples, e) != 0)
		return -1;
	p = xcalloc(1, sizeof(*p));
	p->op.kind = &put_kind;
	p->key = *key;
	p->n = s.n;
	p->samples = samples;
	series_encode(&s, &p->data);
	p->op.bytes = p->data.len;
	result_series_clear(&s);
	writer_submit(w, &p->op);
	return 0;
}

int series_load(struct db *db, const struct series_key *key, struct result_series *ret,
	struct err *e)
{
	int found = read_stored(db, key, ret, e);
	uint32_t samples;

	if (found < 0)
		return -1;
	return found ? 0 : series_build(db, key, ret, &samples, e);
}

int series_missing(struct db *db, void (*row)(void *arg, const struct series_key *key), void *arg,
	struct err *e)
{
	sqlite3_stmt *r;
	int more;

	if (DB_QUERY(db, &r, e,
		    "SELECT job, attempt, trial FROM trials t WHERE state > 0 AND NOT EXISTS "
		    "(SELECT 1"
		    " FROM series s WHERE s.job = t.job AND s.attempt = t.attempt AND s.trial = "
		    "t.trial)") != 0)
		return -1;
	while ((more = db_next(db, r, e)) == 1) {
		struct series_key key = {(uint64_t)db_get_int(r, 0), (uint32_t)db_get_int(r, 1),
			(uint32_t)db_get_int(r, 2)};

		row(arg, &key);
	}
	return more;
}
