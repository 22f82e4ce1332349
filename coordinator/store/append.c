/*
 * Appending batches. Owns a batch and its records from store_append to the commit.
 * Invariant: attempts.last is the number of the last record in batches of that attempt, without
 * gaps from 1: it moves in the same transaction as the row is added.
 */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/store/apply.h"

#define RECORDS_MAX (1ULL << 40) /* of an attempt: what agents say is lost counts, too */

struct append_op {
	struct op op;
	struct store *store;
	char *host;
	struct msg_batch batch;
	struct records records;
	store_append_done done;
	void *arg;
	struct append_result result;
};

static int refuse(struct append_result *r, uint64_t expected, const char *text)
{
	r->what = APPEND_REFUSE;
	r->expected = expected;
	snprintf(r->text, sizeof(r->text), "%.*s", (int)sizeof(r->text) - 1, text);
	return 0;
}

/* The attempt's place: 1 found, 0 not there, -1 error. ret_host: this host owns the job. */
static int find_stream(struct write_ctx *w, const struct append_op *a, struct attempt_stream *ret,
	uint64_t *ret_last, int *ret_own, struct err *e)
{
	sqlite3_stmt *row;
	int more;

	if (DB_QUERY(w->db, &row, e,
		    "SELECT a.last, j.host, r.run, r.blocks, r.layouts, r.workloads FROM attempts a"
		    " JOIN jobs j ON j.job = a.job JOIN runs r ON r.run = j.run"
		    " WHERE a.job = ?1 AND a.attempt = ?2",
		    db_uint(a->batch.key.job), db_int(a->batch.key.attempt)) != 0)
		return -1;
	more = db_next(w->db, row, e);
	if (more != 1)
		return more;
	*ret_last = (uint64_t)db_get_int(row, 0);
	*ret_own = strcmp(db_get_text(row, 1), a->host) == 0;
	ret->key = a->batch.key;
	more = (uint64_t)db_get_int(row, 2) == a->batch.key.run;
	ret->blocks = (uint32_t)db_get_int(row, 3);
	ret->layouts = (uint32_t)db_get_int(row, 4);
	ret->workloads = (uint32_t)db_get_int(row, 5);
	db_done(row);
	return more;
}

/* 1: may be stored; 0: answered in result without storing. */
static int check_batch(
	struct append_op *a, const struct attempt_stream *s, uint64_t last, struct err *e)
{
	const struct msg_batch *b = &a->batch;
	char text[200];

	if (b->last <= last) {
		a->result = (struct append_result){.what = APPEND_ACK, .last = last};
		return 0;
	}
	if (b->first != last + 1) {
		snprintf(text, sizeof(text), "records %llu to %llu: the store has those up to %llu",
			(unsigned long long)b->first, (unsigned long long)b->last,
			(unsigned long long)last);
		return refuse(&a->result, last + 1, text);
	}
	if (!b->lost && a->records.n != b->last - b->first + 1) {
		snprintf(text, sizeof(text), "records %llu to %llu: the batch holds %zu",
			(unsigned long long)b->first, (unsigned long long)b->last, a->records.n);
		return refuse(&a->result, 0, text);
	}
	if (apply_check(s, &a->records, b->first, e) != 0)
		return refuse(&a->result, 0, e->text);
	return 1;
}

static int store_batch(
	struct write_ctx *w, struct append_op *a, const struct attempt_stream *s, struct err *e)
{
	const struct msg_batch *b = &a->batch;

	if (DB_RUN(w->db, e,
		    "INSERT INTO batches(job, attempt, first, last, lost, payload)"
		    " VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
		    db_uint(b->key.job), db_int(b->key.attempt), db_uint(b->first),
		    db_uint(b->last), db_int(b->lost != 0),
		    db_blob(b->payload && !b->lost ? b->payload : "",
			    b->lost ? 0 : b->payload_len)) != 0)
		return -1;
	if (DB_RUN(w->db, e, "UPDATE attempts SET last = ?3 WHERE job = ?1 AND attempt = ?2",
		    db_uint(b->key.job), db_int(b->key.attempt), db_uint(b->last)) != 0)
		return -1;
	for (size_t i = 0; !b->lost && i < a->records.n; i++)
		if (apply_record(w, s, &a->records.v[i], b->first + i, e) != 0)
			return -1;
	a->result = (struct append_result){.what = APPEND_ACK, .last = b->last};
	return 0;
}

/* 1 when the batch begins an attempt that a restored store takes over, as store_append tells. */
static int adopt(struct write_ctx *w, const struct append_op *a, int *ret, struct err *e)
{
	const struct record *r = a->records.v;

	*ret = 0;
	if (a->batch.first != 1 || a->batch.lost || a->records.n == 0 ||
		r->type != RECORD_ATTEMPT_START)
		return 0;
	return attempt_adopt(w, &a->batch.key, a->host, r->u.attempt_start.job_tag, r->wall_ns, ret, e);
}

/* Like find_stream, for what is not there yet. *ret_adopted: it is now. */
static int find_or_adopt(struct write_ctx *w, const struct append_op *a, struct attempt_stream *ret,
	uint64_t *ret_last, int *ret_own, int *ret_adopted, struct err *e)
{
	int found = find_stream(w, a, ret, ret_last, ret_own, e);

	if (found != 0)
		return found;
	if (adopt(w, a, ret_adopted, e) != 0)
		return -1;
	return *ret_adopted ? find_stream(w, a, ret, ret_last, ret_own, e) : 0;
}

static int append_apply(struct op *op, struct write_ctx *w, struct err *e)
{
	struct append_op *a = (struct append_op *)op;
	struct attempt_stream s;
	uint64_t last = 0;
	int found, own = 0, adopted = 0, may;

	a->result = (struct append_result){0};
	if (!a->batch.epoch || strcmp(a->batch.epoch, w->epoch) != 0)
		return refuse(&a->result, 0, "the batch is for another store (epoch)");
	if (a->batch.first < 1 || a->batch.last < a->batch.first || a->batch.last > RECORDS_MAX)
		return refuse(&a->result, 0, "the batch's record numbers are wrong");
	found = find_or_adopt(w, a, &s, &last, &own, &adopted, e);
	if (found < 0)
		return -1;
	if (!found)
		return refuse(&a->result, 0, "this attempt is not known here");
	if (!own)
		return refuse(&a->result, 0, "this job belongs to another host");
	may = check_batch(a, &s, last, e);
	if (may && store_batch(w, a, &s, e) != 0)
		return -1;
	a->result.adopted = adopted && may;
	return 0;
}

static void append_committed(struct op *op)
{
	struct append_op *a = (struct append_op *)op;

	for (size_t i = 0; i < a->records.n; i++)
		if (a->records.v[i].type == RECORD_SAMPLE)
			record_clear(&a->records.v[i]);
	free(a->batch.payload);
	a->batch.payload = NULL;
}

/* Trials that ended get their series made beside the write path. */
static void want_series(struct append_op *a)
{
	for (size_t i = 0; i < a->records.n; i++)
		if (a->records.v[i].type == RECORD_TRIAL_END)
			readers_want_series(a->store->readers, &a->batch.key,
				a->records.v[i].u.trial_end.trial);
}

static void append_deliver(struct op *op, const struct err *e)
{
	struct append_op *a = (struct append_op *)op;

	if (!e && a->result.what == APPEND_ACK && a->result.last == a->batch.last)
		want_series(a);
	if (a->done)
		a->done(a->arg, &a->result, e);
}

static void append_free(struct op *op)
{
	struct append_op *a = (struct append_op *)op;

	free(a->host);
	free(a->batch.epoch);
	free(a->batch.payload);
	records_clear(&a->records);
	free(a);
}

static const struct write_kind append_kind = {
	"append", append_apply, append_committed, append_deliver, append_free};

void store_append(struct store *s, const char *host, struct msg_batch *b, struct records *r,
	store_append_done done, void *arg)
{
	struct append_op *a = xcalloc(1, sizeof(*a));

	a->op.kind = &append_kind;
	a->op.bytes = b->payload_len;
	a->store = s;
	a->host = xstrdup(host);
	a->batch = *b;
	a->records = *r;
	a->done = done;
	a->arg = arg;
	*b = (struct msg_batch){0};
	*r = (struct records){0};
	writer_submit(s->writer, &a->op);
}
