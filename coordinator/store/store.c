/*
 * The store as a whole: opening, closing, and what its operations share. Owns the threads.
 * Invariant: threads stop in the order of who needs whom: readers (they queue series), the writer
 * (it wakes the checkpointer), the checkpointer.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "coordinator/store/schema.h"
#include "coordinator/store/series.h"
#include "coordinator/store/store_internal.h"

void done_op_deliver(struct op *op, const struct err *e)
{
	struct done_op *d = (struct done_op *)op;

	if (d->done)
		d->done(d->arg, e);
}

int audit_add(
	struct write_ctx *w, const char *what, const char *subject, const char *text, struct err *e)
{
	return DB_RUN(w->db, e,
		"INSERT INTO audit(at_ns, what, subject, text) VALUES(?1, ?2, ?3, ?4)",
		db_int(w->now_ns), db_text(what), db_text0(subject), db_text0(text));
}

static void want_one(void *arg, const struct series_key *key)
{
	struct store *s = arg;
	struct job_key job = {0, key->job, key->attempt};

	readers_want_series(s->readers, &job, key->trial);
}

/* Series of trials that ended right before the last stop. */
static int want_missing(struct store *s, struct err *e)
{
	struct db *db;
	int rc;

	if (db_open(s->path, DB_READ, &db, e) != 0)
		return -1;
	rc = series_missing(db, want_one, s, e);
	db_close(db);
	return rc;
}

static int open_writer(struct store *s, struct event_base *base, struct err *e)
{
	struct db *db;

	if (db_open(s->path, DB_WRITE, &db, e) != 0)
		return -1;
	if (schema_migrate(db, e) != 0 || schema_epoch(db, s->epoch, e) != 0 ||
		checkpointer_start(s->path, &s->checkpointer, e) != 0 ||
		writer_start(db, s->epoch, base, checkpointer_note, s->checkpointer, &s->writer,
			e) != 0) {
		db_close(db);
		return -1;
	}
	return 0;
}

int store_open(const char *path, struct event_base *base, struct store **ret, struct err *e)
{
	struct store *s;

	if (access(path, F_OK) != 0 && errno == ENOENT)
		return err_set(e, ERR_NOTFOUND,
			"%s: there is no store: make one with "
			"`arraymark-coordinator init`",
			path);
	s = xcalloc(1, sizeof(*s));
	s->path = xstrdup(path);
	if (open_writer(s, base, e) != 0 ||
		readers_start(path, base, s->writer, &s->readers, e) != 0 ||
		want_missing(s, e) != 0) {
		store_close(s);
		return -1;
	}
	*ret = s;
	return 0;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	readers_stop(s->readers);
	writer_stop(s->writer);
	checkpointer_stop(s->checkpointer);
	free(s->path);
	free(s);
}

const char *store_epoch(const struct store *s)
{
	return s->epoch;
}

int store_is_stalled(const struct store *s)
{
	return writer_is_stalled(s->writer);
}

int store_trouble(const struct store *s, struct err *ret)
{
	return writer_trouble(s->writer, ret);
}

struct store_reading *store_query(
	struct store *s, enum store_query q, const char *target, store_chunk chunk, void *arg)
{
	return readers_query(s->readers, q, target, chunk, arg);
}
