/*
 * SQLite behind typed helpers. Owns the connection and its prepared statements.
 * Invariant: a statement in the table is reset whenever no query runs on it, so that no read
 * transaction stays open by accident.
 */
#include "coordinator/store/db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/mem.h"

#define STATEMENT_SLOTS 256 /* power of two, well above the number of statements */

struct statement {
	const char *sql;
	sqlite3_stmt *stmt;
};
struct db {
	sqlite3 *handle;
	char *path;
	int failed_hard;
	size_t n_statements;
	struct statement statements[STATEMENT_SLOTS];
};

static int code_is_hard(int code)
{
	switch (code & 0xff) {
	case SQLITE_FULL:
	case SQLITE_IOERR:
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_NOMEM:
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
	case SQLITE_PROTOCOL:
		return 1;
	default:
		return 0;
	}
}

static enum err_code code_for(sqlite3 *handle, int code)
{
	switch (code & 0xff) {
	case SQLITE_FULL:
		return ERR_FULL;
	case SQLITE_IOERR:
		return handle && sqlite3_system_errno(handle) == ENOSPC ? ERR_FULL : ERR_IO;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return ERR_BUSY;
	case SQLITE_CONSTRAINT:
	case SQLITE_MISMATCH:
	case SQLITE_TOOBIG:
		return ERR_INPUT;
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return ERR_DENIED;
	case SQLITE_INTERRUPT:
		return ERR_CANCELLED;
	case SQLITE_ERROR:
	case SQLITE_MISUSE:
	case SQLITE_RANGE:
		return ERR_FAILED;
	default:
		return ERR_IO;
	}
}

static const char *remedy_for(int code)
{
	switch (code & 0xff) {
	case SQLITE_FULL:
		return ": make room on its file system";
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return ": run `arraymark-coordinator check`, restore a backup";
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		return ": make the file and its folder writable for this user";
	default:
		return "";
	}
}

int db_error(struct db *db, const char *what, struct err *e)
{
	int code = sqlite3_extended_errcode(db->handle);

	db->failed_hard = code_is_hard(code);
	return err_set(e, code_for(db->handle, code), "%s: %s: %s (SQLite %d)%s", db->path, what,
		sqlite3_errmsg(db->handle), code, remedy_for(code));
}

int db_failed_hard(const struct db *db)
{
	return db->failed_hard;
}

/* The file is made here and not by SQLite, for its mode and to refuse one that is there. */
static int make_file(const char *path, struct err *e)
{
	int fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0 && errno == EEXIST)
		return err_set(e, ERR_EXISTS, "%s: is already there: move it away first", path);
	if (fd < 0)
		return err_sys(e, "%s: cannot make the store", path);
	close(fd);
	return 0;
}

static const char settings[] = "PRAGMA foreign_keys=ON;"
			       "PRAGMA synchronous=FULL;"
			       "PRAGMA temp_store=MEMORY;"
			       "PRAGMA cache_size=-16384;"
			       "PRAGMA journal_size_limit=67108864;"
			       "PRAGMA wal_autocheckpoint=0;";

static int configure(struct db *db, enum db_mode mode, struct err *e)
{
	sqlite3_extended_result_codes(db->handle, 1);
	sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, 64 * 1024 * 1024);
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	if (mode == DB_COPY)
		return db_script(db,
			"PRAGMA page_size=8192; PRAGMA journal_mode=OFF;"
			" PRAGMA synchronous=OFF;",
			e);
	if (mode == DB_CREATE &&
		db_script(db, "PRAGMA page_size=8192; PRAGMA journal_mode=WAL;", e) != 0)
		return -1;
	if (db_script(db, settings, e) != 0)
		return -1;
	return mode == DB_READ ? db_script(db, "PRAGMA query_only=ON;", e) : 0;
}

int db_open(const char *path, enum db_mode mode, struct db **ret, struct err *e)
{
	struct db *db;
	int rc;

	if ((mode == DB_CREATE || mode == DB_COPY) && make_file(path, e) != 0)
		return -1;
	if (access(path, F_OK) != 0)
		return err_sys(e, "%s: no store", path);
	db = xcalloc(1, sizeof(*db));
	db->path = xstrdup(path);
	rc = sqlite3_open_v2(path, &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (rc != SQLITE_OK) {
		err_set(e, code_for(db->handle, rc), "%s: cannot be opened: %s%s", path,
			db->handle ? sqlite3_errmsg(db->handle) : sqlite3_errstr(rc),
			remedy_for(rc));
		db_close(db);
		return -1;
	}
	if (configure(db, mode, e) != 0) {
		db_close(db);
		return -1;
	}
	*ret = db;
	return 0;
}

void db_close(struct db *db)
{
	if (!db)
		return;
	for (size_t i = 0; i < STATEMENT_SLOTS; i++)
		sqlite3_finalize(db->statements[i].stmt);
	sqlite3_close_v2(db->handle);
	free(db->path);
	free(db);
}

sqlite3 *db_handle(struct db *db)
{
	return db->handle;
}

const char *db_path(const struct db *db)
{
	return db->path;
}

void db_set_wait(struct db *db, unsigned ms)
{
	sqlite3_busy_timeout(db->handle, (int)ms);
}

static struct statement *slot_for(struct db *db, const char *sql)
{
	size_t i = ((uintptr_t)sql >> 3) * 0x9e3779b97f4a7c15u >> 32;

	for (;; i++) {
		struct statement *s = &db->statements[i & (STATEMENT_SLOTS - 1)];

		if (!s->sql || s->sql == sql)
			return s;
	}
}

static int prepare(struct db *db, const char *sql, sqlite3_stmt **ret, struct err *e)
{
	struct statement *s = slot_for(db, sql);

	if (!s->sql) {
		if (db->n_statements == STATEMENT_SLOTS - 1)
			return err_set(e, ERR_FAILED, "%s: more statements than slots", db->path);
		if (sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->stmt,
			    NULL) != SQLITE_OK)
			return db_error(db, sql, e);
		s->sql = sql;
		db->n_statements++;
	}
	*ret = s->stmt;
	return 0;
}

/* Pages of queries are given more values than some of them use: those are left out. */
static int bind(struct db *db, sqlite3_stmt *stmt, const struct db_value *v, struct err *e)
{
	int wanted = sqlite3_bind_parameter_count(stmt);

	for (int i = 1; v->type != DB_END && i <= wanted; i++, v++) {
		int rc = SQLITE_OK;

		if (v->type == DB_INT)
			rc = sqlite3_bind_int64(stmt, i, v->i);
		else if (v->type == DB_TEXT)
			rc = sqlite3_bind_text(stmt, i, v->p, -1, SQLITE_STATIC);
		else if (v->type == DB_BLOB)
			rc = sqlite3_bind_blob64(stmt, i, v->p, v->len, SQLITE_STATIC);
		else
			rc = sqlite3_bind_null(stmt, i);
		if (rc != SQLITE_OK)
			return db_error(db, sqlite3_sql(stmt), e);
	}
	return 0;
}

int db_query(struct db *db, sqlite3_stmt **ret, struct err *e, const char *sql,
	const struct db_value *values)
{
	sqlite3_stmt *stmt = NULL;

	db->failed_hard = 0;
	if (prepare(db, sql, &stmt, e) != 0 || bind(db, stmt, values, e) != 0)
		return -1;
	*ret = stmt;
	return 0;
}

int db_next(struct db *db, sqlite3_stmt *row, struct err *e)
{
	int rc = sqlite3_step(row);

	if (rc == SQLITE_ROW)
		return 1;
	if (rc != SQLITE_DONE)
		db_error(db, sqlite3_sql(row), e);
	db_done(row);
	return rc == SQLITE_DONE ? 0 : -1;
}

void db_done(sqlite3_stmt *row)
{
	if (!row)
		return;
	sqlite3_reset(row);
	sqlite3_clear_bindings(row);
}

int db_run(struct db *db, struct err *e, const char *sql, const struct db_value *values)
{
	sqlite3_stmt *stmt;
	int more;

	if (db_query(db, &stmt, e, sql, values) != 0)
		return -1;
	do
		more = db_next(db, stmt, e);
	while (more == 1);
	return more;
}

int db_changes(struct db *db)
{
	return sqlite3_changes(db->handle);
}

int64_t db_last_id(struct db *db)
{
	return sqlite3_last_insert_rowid(db->handle);
}

int64_t db_get_int(sqlite3_stmt *row, int col)
{
	return sqlite3_column_int64(row, col);
}

const char *db_get_text(sqlite3_stmt *row, int col)
{
	const char *s = (const char *)sqlite3_column_text(row, col);

	return s ? s : "";
}

const void *db_get_blob(sqlite3_stmt *row, int col, size_t *ret_len)
{
	const void *p = sqlite3_column_blob(row, col);

	*ret_len = (size_t)sqlite3_column_bytes(row, col);
	return p;
}

char *db_dup_text(sqlite3_stmt *row, int col)
{
	return xstrdup((const char *)sqlite3_column_text(row, col));
}

int db_query_int(struct db *db, struct err *e, int64_t dflt, int64_t *ret, const char *sql,
	const struct db_value *values)
{
	sqlite3_stmt *row;
	int more;

	if (db_query(db, &row, e, sql, values) != 0)
		return -1;
	more = db_next(db, row, e);
	if (more < 0)
		return -1;
	if (more == 0 || sqlite3_column_type(row, 0) == SQLITE_NULL)
		*ret = dflt;
	else
		*ret = db_get_int(row, 0);
	db_done(row);
	return 0;
}

int db_script(struct db *db, const char *sql, struct err *e)
{
	db->failed_hard = 0;
	if (sqlite3_exec(db->handle, sql, NULL, NULL, NULL) != SQLITE_OK)
		return db_error(db, "set-up", e);
	return 0;
}
