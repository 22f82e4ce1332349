/*
 * Batches between the monitor's ring and the coordinator's store: opening, putting, sending. What
 * the coordinator answers is in spool_answer.c, what stays after the ack in spool_kept.c.
 *
 * Invariants: what spool_put accepted is either still in `batches`, or acknowledged, or in
 * `refused`; the batches of a stream never overlap; stored_last of a stream never goes back.
 */
#include "agent/link/spool_internal.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "proto/record.h"

static const char *const schema[] = {
	"CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL)",
	"CREATE TABLE IF NOT EXISTS streams(id INTEGER PRIMARY KEY, epoch TEXT NOT NULL,"
	" run INTEGER NOT NULL, job INTEGER NOT NULL, attempt INTEGER NOT NULL,"
	" stored_last INTEGER NOT NULL DEFAULT 0, given_up INTEGER NOT NULL DEFAULT 0,"
	" refusals INTEGER NOT NULL DEFAULT 0, wall_ns INTEGER NOT NULL,"
	" UNIQUE(epoch, run, job, attempt))",
	/* events: holds more than samples */
	"CREATE TABLE IF NOT EXISTS batches(stream INTEGER NOT NULL, first INTEGER NOT NULL,"
	" last INTEGER NOT NULL, lost INTEGER NOT NULL, events INTEGER NOT NULL,"
	" payload BLOB NOT NULL, PRIMARY KEY(stream, first))",
	"CREATE TABLE IF NOT EXISTS kept(stream INTEGER NOT NULL, first INTEGER NOT NULL,"
	" last INTEGER NOT NULL, events INTEGER NOT NULL, payload BLOB NOT NULL,"
	" PRIMARY KEY(stream, first))",
	"CREATE TABLE IF NOT EXISTS refused(stream INTEGER NOT NULL, first INTEGER NOT NULL,"
	" last INTEGER NOT NULL, lost INTEGER NOT NULL, events INTEGER NOT NULL,"
	" wall_ns INTEGER NOT NULL, text TEXT NOT NULL, payload BLOB NOT NULL,"
	" PRIMARY KEY(stream, first))",
};

void spool_forget_peeked(struct spool *s)
{
	free(s->peeked.epoch);
	free(s->peeked.payload);
	memset(&s->peeked, 0, sizeof(s->peeked));
}

static int find_born(struct spool *s, const char *epoch, const struct job_key *key, int *ret_found,
	struct spool_stream *ret, struct err *e)
{
	int64_t row[4] = {0};

	if (sql_ints(s->db,
		    "SELECT id, stored_last, given_up, refusals FROM streams"
		    " WHERE epoch=? AND run=? AND job=? AND attempt=?",
		    ret_found, row, 4, e, "siii", epoch, (int64_t)key->run, (int64_t)key->job,
		    (int64_t)key->attempt))
		return -1;
	*ret = (struct spool_stream){row[0], row[1], row[2], row[3]};
	return 0;
}

int spool_count_all(struct spool *s, struct err *e)
{
	int64_t row[2] = {0};
	int found;

	if (sql_ints(s->db, "SELECT count(*), sum(length(payload)) FROM batches", &found, row, 2, e,
		    ""))
		return -1;
	s->count = (uint32_t)row[0];
	s->bytes = (uint64_t)row[1];
	return spool_kept_count(s, e);
}

static int load_epoch(struct spool *s, struct err *e)
{
	sqlite3_stmt *st;
	const unsigned char *text;

	if (sql_prepare(s->db, "SELECT value FROM meta WHERE key='epoch'", &st, e, ""))
		return -1;
	if (sqlite3_step(st) == SQLITE_ROW && (text = sqlite3_column_text(st, 0)))
		snprintf(s->epoch, sizeof(s->epoch), "%s", (const char *)text);
	sqlite3_finalize(st);
	return 0;
}

static int make_schema(void *arg, struct err *e)
{
	struct spool *s = arg;

	for (size_t i = 0; i < ARRAY_LEN(schema); i++)
		if (sql_run(s->db, schema[i], e, ""))
			return -1;
	return 0;
}

static int open_once(struct spool *s, struct err *e)
{
	if (sql_open(s->path, &s->db, e))
		return -1;
	if (sql_transaction(s->db, 1, make_schema, s, e) || spool_count_all(s, e) || load_epoch(s, e)) {
		sqlite3_close(s->db);
		s->db = NULL;
		return -1;
	}
	return 0;
}

static int file_is_damaged(const char *path)
{
	sqlite3_stmt *st = NULL;
	sqlite3 *db;
	struct err ignored;
	int rc;

	if (sql_open(path, &db, &ignored))
		return ignored.code == ERR_INPUT;
	rc = sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &st, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	rc = rc == SQLITE_ROW ? strcmp((const char *)sqlite3_column_text(st, 0), "ok") != 0
			      : rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB;
	sqlite3_finalize(st);
	sqlite3_close(db);
	return rc;
}

static int move_aside(struct spool *s, char **ret_moved, struct err *e)
{
	char *to = xasprintf("%s.damaged-%lld", s->path,
		(long long)(clock_wall_ns() / NS_PER_S));
	char *wal = xasprintf("%s-wal", s->path);
	char *to_wal = xasprintf("%s-wal", to);
	int status = 0;

	if (rename(s->path, to))
		status = err_sys(e, "spool: cannot move the damaged %s aside", s->path);
	else
		(void)rename(wal, to_wal);
	free(wal);
	free(to_wal);
	if (status)
		free(to);
	else
		*ret_moved = to;
	return status;
}

int spool_open(const char *path, uint64_t limit_bytes, struct spool **ret, char **ret_moved,
	struct err *e)
{
	struct spool *s = xcalloc(1, sizeof(*s));

	*ret_moved = NULL;
	s->path = xstrdup(path);
	s->limit = limit_bytes ? limit_bytes : SPOOL_LIMIT;
	s->kept_limit = s->limit / SPOOL_KEPT_SHARE;
	if (open_once(s, e) &&
		(!file_is_damaged(path) || move_aside(s, ret_moved, e) || open_once(s, e))) {
		spool_close(s);
		return -1;
	}
	*ret = s;
	return 0;
}

void spool_close(struct spool *s)
{
	if (!s)
		return;
	spool_forget_peeked(s);
	sqlite3_close(s->db);
	free(s->path);
	free(s);
}

/* ---- putting ---- */

struct put {
	struct spool *s;
	const struct msg_batch *b;
	uint64_t first;
	int events;
	int added;
};

/* Does it hold anything but samples, and an end, which asks for a flush? */
static int batch_look(const struct msg_batch *b, int *ret_events, int *ret_flush, struct err *e)
{
	struct records r;

	*ret_events = *ret_flush = 0;
	if (b->lost)
		return 0;
	if (records_decode(b->payload, b->payload_len, &r, e))
		return -1;
	for (size_t i = 0; i < r.n; i++) {
		*ret_events |= r.v[i].type != RECORD_SAMPLE;
		*ret_flush |= r.v[i].type == RECORD_TRIAL_END ||
			r.v[i].type == RECORD_UNIT_END || r.v[i].type == RECORD_ATTEMPT_END;
	}
	records_clear(&r);
	return 0;
}

static int add_batch(struct spool *s, const struct spool_stream *st, const struct put *p, struct err *e)
{
	const struct msg_batch *b = p->b;

	if (st->given_up)
		return sql_run(s->db,
			"INSERT OR IGNORE INTO refused(stream, first, last, lost, events, wall_ns, text,"
			" payload) VALUES(?,?,?,?,?,?,'the stream was refused before',?)",
			e, "iiiiiib", st->id, (int64_t)p->first, (int64_t)b->last,
			(int64_t)b->lost, (int64_t)p->events, clock_wall_ns(), b->payload,
			b->payload_len);
	return sql_run(s->db,
		"INSERT INTO batches(stream, first, last, lost, events, payload)"
		" VALUES(?,?,?,?,?,?)",
		e, "iiiiib", st->id, (int64_t)p->first, (int64_t)b->last, (int64_t)b->lost,
		(int64_t)p->events, b->payload, b->payload_len);
}

static int bear_stream(struct spool *s, const struct msg_batch *b, struct spool_stream *ret,
	struct err *e)
{
	int foreign = s->epoch[0] && !spool_is_kin(s->epoch, b->epoch);

	if (sql_run(s->db,
		    "INSERT INTO streams(epoch, run, job, attempt, given_up, wall_ns)"
		    " VALUES(?,?,?,?,?,?)",
		    e, "siiiii", b->epoch, (int64_t)b->key.run, (int64_t)b->key.job,
		    (int64_t)b->key.attempt, (int64_t)foreign, clock_wall_ns()))
		return -1;
	*ret = (struct spool_stream){.id = sqlite3_last_insert_rowid(s->db), .given_up = foreign};
	return 0;
}

static int put(void *arg, struct err *e)
{
	struct put *p = arg;
	struct spool *s = p->s;
	const struct msg_batch *b = p->b;
	struct spool_stream st;
	int found;

	if (find_born(s, b->epoch, &b->key, &found, &st, e) ||
		(!found && bear_stream(s, b, &st, e)))
		return -1;
	if ((int64_t)b->last <= st.stored_last)
		return 0;
	p->first = b->first;
	if ((int64_t)b->first <= st.stored_last && !b->lost)
		return err_set(e, ERR_PROTOCOL,
			"spool: records %" PRIu64 "-%" PRIu64 " overlap what is stored up to %" PRId64,
			b->first, b->last, st.stored_last);
	if ((int64_t)b->first <= st.stored_last)
		p->first = (uint64_t)st.stored_last + 1;
	p->added = !st.given_up;
	return add_batch(s, &st, p, e) ||
		sql_run(s->db, "UPDATE streams SET stored_last=? WHERE id=?", e, "ii",
			(int64_t)b->last, st.id) ? -1 : 0;
}

int spool_put(struct spool *s, const struct msg_batch *b, struct err *e)
{
	struct put p = {.s = s, .b = b};
	struct err ignored;
	int flush;

	if (s->bytes + b->payload_len > s->limit)
		return err_set(e, ERR_FULL, "spool: %s is at its limit of %" PRIu64 " bytes",
			s->path, s->limit);
	if (batch_look(b, &p.events, &flush, e) || sql_transaction(s->db, flush, put, &p, e))
		return -1;
	if (flush) /* now, since it flushes too, so that it need not come within a trial */
		(void)sql_run(s->db, "PRAGMA wal_checkpoint(PASSIVE)", &ignored, "");
	if (p.added) {
		s->count++;
		s->bytes += b->payload_len;
	}
	return 0;
}

/* ---- sending ---- */

static void copy_row(struct spool *s, sqlite3_stmt *st)
{
	struct msg_batch *b = &s->peeked;

	s->peeked_stream = sqlite3_column_int64(st, 0);
	b->epoch = xstrdup(s->epoch);
	b->key.run = (uint64_t)sqlite3_column_int64(st, 1);
	b->key.job = (uint64_t)sqlite3_column_int64(st, 2);
	b->key.attempt = (uint32_t)sqlite3_column_int64(st, 3);
	b->first = (uint64_t)sqlite3_column_int64(st, 4);
	b->last = (uint64_t)sqlite3_column_int64(st, 5);
	b->lost = sqlite3_column_int(st, 6);
	b->payload_len = (size_t)sqlite3_column_bytes(st, 7);
	b->payload = b->payload_len ? xmemdup(sqlite3_column_blob(st, 7), b->payload_len) : NULL;
}

int spool_peek(struct spool *s, const struct msg_batch **ret, struct err *e)
{
	sqlite3_stmt *st;
	int rc;

	if (s->count == 0)
		spool_forget_peeked(s);
	if (s->peeked.epoch || s->count == 0) {
		*ret = s->peeked.epoch ? &s->peeked : NULL;
		return 0;
	}
	if (sql_prepare(s->db,
		    "SELECT b.stream, s.run, s.job, s.attempt, b.first, b.last, b.lost, b.payload"
		    " FROM batches b JOIN streams s ON s.id=b.stream"
		    " WHERE (b.stream, b.first) > (?, ?) ORDER BY b.stream, b.first LIMIT 1",
		    &st, e, "ii", s->sent_stream, s->sent_first))
		return -1;
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		copy_row(s, st);
	else if (rc != SQLITE_DONE)
		sql_error(s->db, "reading a batch", e);
	sqlite3_finalize(st);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return -1;
	*ret = s->peeked.epoch ? &s->peeked : NULL;
	return 0;
}

void spool_advance(struct spool *s)
{
	if (!s->peeked.epoch)
		return;
	s->sent_stream = s->peeked_stream;
	s->sent_first = (int64_t)s->peeked.first;
	spool_forget_peeked(s);
}

void spool_rewind(struct spool *s)
{
	s->sent_stream = s->sent_first = 0;
	spool_forget_peeked(s);
}

uint32_t spool_count(const struct spool *s)
{
	return s->count;
}

const char *spool_epoch(const struct spool *s)
{
	return s->epoch;
}

static int tidy(void *arg, struct err *e)
{
	struct spool *s = arg;
	int64_t before = clock_wall_ns() - SPOOL_KEEP_NS;

	if (sql_run(s->db,
		    "DELETE FROM kept WHERE stream IN (SELECT id FROM streams WHERE wall_ns<?)"
		    " AND stream NOT IN (SELECT stream FROM batches)",
		    e, "i", before) ||
		sql_run(s->db, "DELETE FROM refused WHERE wall_ns<?", e, "i", before))
		return -1;
	return sql_run(s->db,
		"DELETE FROM streams WHERE wall_ns<? AND id NOT IN (SELECT stream FROM batches)"
		" AND id NOT IN (SELECT stream FROM kept)"
		" AND id NOT IN (SELECT stream FROM refused)"
		" AND id <> (SELECT max(id) FROM streams)",
		e, "i", before);
}

int spool_tidy(struct spool *s, struct err *e)
{
	struct err ignored;

	/* First, since the log may have taken the room that the transaction needs in it. */
	(void)sql_run(s->db, "PRAGMA wal_checkpoint(TRUNCATE)", &ignored, "");
	if (sql_transaction(s->db, 0, tidy, s, e) || spool_kept_count(s, e) ||
		sql_run(s->db, "PRAGMA wal_checkpoint(TRUNCATE)", e, ""))
		return -1;
	sqlite3_db_release_memory(s->db);
	malloc_trim(0);
	return 0;
}
