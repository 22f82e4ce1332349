/*
 * What the coordinator answers to batches: acks and refusals.
 * Invariant: a batch leaves `batches` only for `kept`, when the store has it, or for `refused`.
 */
#include "agent/link/spool_internal.h"

#include <string.h>

#include "common/base/buf.h"
#include "proto/record.h"

/* Of streams with the same key at most the youngest is on offer. */
static int find_offered(struct spool *s, const struct job_key *key, int *ret_found,
	struct spool_stream *ret, struct err *e)
{
	int64_t row[4] = {0};

	if (sql_ints(s->db,
		    "SELECT id, stored_last, given_up, refusals FROM streams"
		    " WHERE run=? AND job=? AND attempt=? AND NOT given_up ORDER BY id DESC LIMIT 1",
		    ret_found, row, 4, e, "iii", (int64_t)key->run, (int64_t)key->job,
		    (int64_t)key->attempt))
		return -1;
	*ret = (struct spool_stream){row[0], row[1], row[2], row[3]};
	return 0;
}

struct answer {
	struct spool *s;
	struct spool_stream st;
	uint64_t last; /* ack: up to here; refusal: the one before the expected */
	const char *text;
	/* of what the answer takes away: */
	uint64_t bytes, bytes_sent;
	unsigned batches;
	uint64_t kept; /* bytes that stay of it */
};

static int measure(struct answer *a, int64_t last, struct err *e)
{
	struct spool *s = a->s;
	int64_t row[3] = {0};
	int found;

	if (sql_ints(s->db,
		    "SELECT count(*), sum(length(payload)),"
		    " sum(iif((stream, first) <= (?3, ?4), length(payload), 0))"
		    " FROM batches WHERE stream=?1 AND first<=?2 AND last<=?2",
		    &found, row, 3, e, "iiii", a->st.id, last, s->sent_stream, s->sent_first))
		return -1;
	a->batches = (unsigned)row[0];
	a->bytes = (uint64_t)row[1];
	a->bytes_sent = (uint64_t)row[2];
	return 0;
}

static int ack(void *arg, struct err *e)
{
	struct answer *a = arg;

	if (measure(a, (int64_t)a->last, e) ||
		spool_keep(a->s, a->st.id, (int64_t)a->last, &a->kept, e))
		return -1;
	return sql_run(a->s->db, "UPDATE streams SET refusals=0, wall_ns=? WHERE id=?", e, "ii",
		clock_wall_ns(), a->st.id);
}

static uint64_t to_number(uint64_t n)
{
	return n > INT64_MAX ? INT64_MAX : n;
}

int spool_ack(struct spool *s, const char *epoch, const struct job_key *key, uint64_t last,
	uint64_t *ret_bytes, struct err *e)
{
	struct answer a = {.s = s, .last = to_number(last)};
	int found;

	*ret_bytes = 0;
	if (s->epoch[0] && strcmp(s->epoch, epoch))
		return 0; /* another store's: everything is offered to the present one anyway */
	if (find_offered(s, key, &found, &a.st, e))
		return -1;
	if (!found)
		return 0;
	if (sql_transaction(s->db, 0, ack, &a, e))
		return -1;
	s->count -= a.batches;
	s->bytes -= a.bytes;
	s->kept_bytes += a.kept;
	if (s->peeked.epoch && s->peeked_stream == a.st.id && s->peeked.last <= a.last)
		spool_forget_peeked(s);
	*ret_bytes = a.bytes_sent;
	return spool_kept_trim(s, e);
}

static int give_up(void *arg, struct err *e)
{
	struct answer *a = arg;
	sqlite3 *db = a->s->db;

	if (measure(a, INT64_MAX, e) ||
		sql_run(db,
			"INSERT OR IGNORE INTO refused(stream, first, last, lost, events, wall_ns, text,"
			" payload) SELECT stream, first, last, lost, events, ?, ?, payload FROM batches"
			" WHERE stream=?",
			e, "isi", clock_wall_ns(), a->text, a->st.id))
		return -1;
	if (sql_run(db, "DELETE FROM batches WHERE stream=?", e, "i", a->st.id))
		return -1;
	return sql_run(db, "UPDATE streams SET given_up=1, wall_ns=? WHERE id=?", e, "ii",
		clock_wall_ns(), a->st.id);
}

/* The records of a batch after its first `skip` ones. */
static int batch_tail(struct spool *s, int64_t stream, int64_t first, size_t skip,
	struct buf *ret, struct err *e)
{
	struct records r = {0};
	sqlite3_stmt *st;
	int rc;

	if (sql_prepare(s->db, "SELECT payload FROM batches WHERE stream=? AND first=?", &st, e,
		    "ii", stream, first))
		return -1;
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		rc = records_decode(sqlite3_column_blob(st, 0),
			(size_t)sqlite3_column_bytes(st, 0), &r, e);
	else
		rc = sql_error(s->db, "reading a batch", e);
	sqlite3_finalize(st);
	for (size_t i = skip; i < r.n; i++)
		record_encode(&r.v[i], ret);
	records_clear(&r);
	return rc;
}

/* The stream's rest begins at `expected`, in the middle of the batch from `first` on. */
static int cut_batch(struct answer *a, int64_t first, int64_t expected, int lost, struct err *e)
{
	struct spool *s = a->s;
	struct buf rest = {0};
	int status;

	if (!lost && batch_tail(s, a->st.id, first, (size_t)(expected - first), &rest, e))
		return -1;
	status = sql_run(s->db,
		"UPDATE batches SET first=?1, payload=?2 WHERE stream=?3 AND first=?4", e, "ibii",
		expected, rest.data, rest.len, a->st.id, first);
	buf_free(&rest);
	return status ? -1 : spool_keep_lost(s, a->st.id, first, expected - 1, &a->kept, e);
}

/* Records from `expected` up to what we have (or had) that are not here any more. */
static int fill_hole(struct answer *a, int64_t expected, struct err *e)
{
	sqlite3 *db = a->s->db;
	int64_t row[2] = {0}, until = a->st.stored_last;
	int found;

	if (sql_ints(db,
		    "SELECT first, lost FROM batches WHERE stream=? AND last>=?"
		    " ORDER BY first LIMIT 1",
		    &found, row, 2, e, "ii", a->st.id, expected))
		return -1;
	if (found && row[0] < expected)
		return cut_batch(a, row[0], expected, (int)row[1], e);
	if (found)
		until = row[0] - 1;
	if (until < expected)
		return 0;
	return sql_run(db,
		"INSERT INTO batches(stream, first, last, lost, events, payload)"
		" VALUES(?,?,?,1,0,x'')",
		e, "iii", a->st.id, expected, until);
}

static int resend(void *arg, struct err *e)
{
	struct answer *a = arg;
	int64_t id = a->st.id, expected = (int64_t)a->last + 1;

	if (spool_keep(a->s, id, expected - 1, &a->kept, e) ||
		spool_bring_back(a->s, id, expected, e) || fill_hole(a, expected, e))
		return -1;
	return sql_run(a->s->db, "UPDATE streams SET refusals=refusals+1 WHERE id=?", e, "i", id);
}

int spool_refuse(struct spool *s, const struct job_key *key, uint64_t expected, const char *text,
	struct spool_refusal *ret, struct err *e)
{
	struct answer a = {.s = s, .text = text, .last = expected ? to_number(expected) - 1 : 0};
	int found, hopeless;

	memset(ret, 0, sizeof(*ret));
	if (find_offered(s, key, &found, &a.st, e))
		return -1;
	if (!found)
		return 0;
	spool_forget_peeked(s);
	hopeless = expected == 0 || a.st.refusals >= SPOOL_MAX_REFUSALS;
	if (!hopeless && sql_transaction(s->db, 0, resend, &a, e)) {
		if (e->code != ERR_PROTOCOL)
			return -1;
		hopeless = 1;
	}
	if (hopeless && sql_transaction(s->db, 1, give_up, &a, e))
		return -1;
	if (hopeless)
		*ret = (struct spool_refusal){.given_up = a.batches, .bytes = a.bytes_sent};
	return spool_count_all(s, e);
}
