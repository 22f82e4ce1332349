/*
 * What stays of a stream after the ack, for a store that was restored from a backup and lacks it:
 * everything but samples; the numbers of these stay taken by lost ranges.
 *
 * Invariants: the rows of `kept` and `batches` of a stream never overlap; neighbouring lost ranges
 * are one row, so that a long trial does not cost more than a short one; a stream is offered only to
 * a store that descends from the one it was made for.
 */
#include "agent/link/spool_internal.h"

#include <stdio.h>
#include <string.h>

#include "common/base/units.h"

#define ROW_COST 64 /* bytes, beside the payload */

int spool_is_kin(const char *a, const char *b)
{
	return !strncmp(a, b, MSG_EPOCH_KIN);
}

int spool_kept_count(struct spool *s, struct err *e)
{
	int64_t row[2] = {0};
	int found;

	if (sql_ints(s->db, "SELECT count(*), sum(length(payload)) FROM kept", &found, row, 2, e, ""))
		return -1;
	s->kept_bytes = (uint64_t)row[0] * ROW_COST + (uint64_t)row[1];
	return 0;
}

int spool_keep_lost(struct spool *s, int64_t stream, int64_t first, int64_t last,
	uint64_t *ret_bytes, struct err *e)
{
	if (sql_run(s->db,
		    "UPDATE kept SET last=?3 WHERE stream=?1 AND NOT events AND last=?2-1 AND"
		    " first=(SELECT max(k.first) FROM kept k WHERE k.stream=?1 AND k.first<?2)",
		    e, "iii", stream, first, last))
		return -1;
	if (sqlite3_changes(s->db))
		return 0;
	*ret_bytes += ROW_COST;
	return sql_run(s->db,
		"INSERT OR REPLACE INTO kept(stream, first, last, events, payload)"
		" VALUES(?,?,?,0,x'')",
		e, "iii", stream, first, last);
}

static int keep_events(struct spool *s, int64_t stream, int64_t first, uint64_t bytes,
	uint64_t *ret_bytes, struct err *e)
{
	*ret_bytes += ROW_COST + bytes;
	return sql_run(s->db,
		"INSERT OR REPLACE INTO kept(stream, first, last, events, payload)"
		" SELECT stream, first, last, 1, payload FROM batches WHERE stream=? AND first=?",
		e, "ii", stream, first);
}

int spool_keep(struct spool *s, int64_t stream, int64_t last, uint64_t *ret_bytes, struct err *e)
{
	int64_t row[4] = {0}; /* first, last, events, bytes */
	int found = 1;

	while (found) {
		if (sql_ints(s->db,
			    "SELECT first, last, events, length(payload) FROM batches WHERE stream=?1"
			    " AND first>?2 AND first<=?3 AND last<=?3 ORDER BY first LIMIT 1",
			    &found, row, 4, e, "iii", stream, row[0], last))
			return -1;
		if (found && (row[2] ? keep_events(s, stream, row[0], (uint64_t)row[3], ret_bytes, e)
				     : spool_keep_lost(s, stream, row[0], row[1], ret_bytes, e)))
			return -1;
	}
	return sql_run(s->db, "DELETE FROM batches WHERE stream=?1 AND first<=?2 AND last<=?2", e,
		"ii", stream, last);
}

int spool_bring_back(struct spool *s, int64_t stream, int64_t from, struct err *e)
{
	if (sql_run(s->db,
		    "INSERT OR IGNORE INTO batches(stream, first, last, lost, events, payload)"
		    " SELECT stream, first, last, NOT events, events, payload FROM kept"
		    " WHERE stream=? AND last>=?",
		    e, "ii", stream, from))
		return -1;
	return sql_run(s->db, "DELETE FROM kept WHERE stream=? AND last>=?", e, "ii", stream, from);
}

int spool_kept_trim(struct spool *s, struct err *e)
{
	while (s->kept_bytes > s->kept_limit)
		if (sql_run(s->db, "DELETE FROM kept WHERE stream=(SELECT min(stream) FROM kept)", e,
			    "") ||
			spool_kept_count(s, e))
			return -1;
	return 0;
}

/* ---- another store ---- */

struct change {
	struct spool *s;
	const char *epoch;
};

/* Who is on offer in the new epoch; of streams with the same key the youngest, since numbers of
 * runs that a restored store did not know are used again. */
static int choose(const struct change *c, struct err *e)
{
	return sql_run(c->s->db,
		"UPDATE streams SET refusals=0, given_up=(substr(epoch,1,?2)<>substr(?1,1,?2)"
		" OR id<>(SELECT max(t.id) FROM streams t WHERE t.run=streams.run AND"
		"  t.job=streams.job AND t.attempt=streams.attempt"
		"  AND substr(t.epoch,1,?2)=substr(?1,1,?2)))",
		e, "si", c->epoch, (int64_t)MSG_EPOCH_KIN);
}

static int put_aside(const struct change *c, struct err *e)
{
	if (sql_run(c->s->db,
		    "INSERT OR IGNORE INTO refused(stream, first, last, lost, events, wall_ns, text,"
		    " payload) SELECT stream, first, last, lost, events, ?, 'for another store',"
		    " payload FROM batches WHERE stream IN (SELECT id FROM streams WHERE given_up)",
		    e, "i", clock_wall_ns()))
		return -1;
	return sql_run(c->s->db,
		"DELETE FROM batches WHERE stream IN (SELECT id FROM streams WHERE given_up)", e, "");
}

static int offer_again(const struct change *c, struct err *e)
{
	static const char *const sql[] = {
		"INSERT OR IGNORE INTO batches(stream, first, last, lost, events, payload)"
		" SELECT stream, first, last, NOT events, events, payload FROM kept"
		" WHERE stream IN (SELECT id FROM streams WHERE NOT given_up)",
		"DELETE FROM kept WHERE stream IN (SELECT id FROM streams WHERE NOT given_up)",
		"INSERT OR IGNORE INTO batches(stream, first, last, lost, events, payload)"
		" SELECT stream, first, last, lost, events, payload FROM refused"
		" WHERE stream IN (SELECT id FROM streams WHERE NOT given_up)",
		"DELETE FROM refused WHERE stream IN (SELECT id FROM streams WHERE NOT given_up)",
	};

	for (size_t i = 0; i < sizeof(sql) / sizeof(*sql); i++)
		if (sql_run(c->s->db, sql[i], e, ""))
			return -1;
	return 0;
}

static int change_epoch(void *arg, struct err *e)
{
	const struct change *c = arg;

	return sql_run(c->s->db, "INSERT OR REPLACE INTO meta(key, value) VALUES('epoch', ?)", e, "s",
		       c->epoch) ||
		choose(c, e) || put_aside(c, e) || offer_again(c, e) ? -1 : 0;
}

int spool_set_epoch(struct spool *s, const char *epoch, struct err *e)
{
	struct change c = {.s = s, .epoch = epoch};

	if (!strcmp(s->epoch, epoch))
		return 0;
	if (strlen(epoch) > EPOCH_MAX)
		return err_set(e, ERR_PROTOCOL, "the store's epoch is longer than %d characters",
			EPOCH_MAX);
	if (sql_transaction(s->db, 1, change_epoch, &c, e))
		return -1;
	snprintf(s->epoch, sizeof(s->epoch), "%s", epoch);
	spool_rewind(s);
	return spool_count_all(s, e);
}
