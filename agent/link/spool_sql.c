/*
 * SQLite for one small database in one process. Owns nothing but the virtual file system that
 * leaves paths alone. Invariant: every statement made here is finalized here or given to the caller.
 */
#include "agent/link/spool_sql.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int sql_error(sqlite3 *db, const char *what, struct err *e)
{
	int code = sqlite3_errcode(db);
	int full = code == SQLITE_FULL || sqlite3_system_errno(db) == ENOSPC ||
		sqlite3_system_errno(db) == EDQUOT;

	enum err_code as = code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? ERR_INPUT : ERR_IO;

	return err_set(e, full ? ERR_FULL : as, "spool: %s: %s", what, sqlite3_errmsg(db));
}

static int bind(sqlite3_stmt *st, const char *types, va_list ap)
{
	int rc = SQLITE_OK;

	for (int i = 0; types[i] && rc == SQLITE_OK; i++) {
		if (types[i] == 'i') {
			rc = sqlite3_bind_int64(st, i + 1, va_arg(ap, int64_t));
		} else if (types[i] == 's') {
			rc = sqlite3_bind_text(st, i + 1, va_arg(ap, const char *), -1,
				SQLITE_STATIC);
		} else {
			const void *data = va_arg(ap, const void *);
			size_t len = va_arg(ap, size_t);

			rc = sqlite3_bind_blob64(st, i + 1, data ? data : "", len, SQLITE_STATIC);
		}
	}
	return rc;
}

static int prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret, struct err *e,
	const char *types, va_list ap)
{
	sqlite3_stmt *st;

	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
		return sql_error(db, sql, e);
	if (bind(st, types, ap) != SQLITE_OK) {
		sql_error(db, sql, e);
		sqlite3_finalize(st);
		return -1;
	}
	*ret = st;
	return 0;
}

int sql_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret, struct err *e, const char *types,
	...)
{
	va_list ap;
	int status;

	va_start(ap, types);
	status = prepare(db, sql, ret, e, types, ap);
	va_end(ap);
	return status;
}

int sql_run(sqlite3 *db, const char *sql, struct err *e, const char *types, ...)
{
	sqlite3_stmt *st;
	va_list ap;
	int rc;

	va_start(ap, types);
	rc = prepare(db, sql, &st, e, types, ap);
	va_end(ap);
	if (rc)
		return -1;
	do
		rc = sqlite3_step(st);
	while (rc == SQLITE_ROW);
	if (rc != SQLITE_DONE)
		sql_error(db, sql, e);
	sqlite3_finalize(st);
	return rc == SQLITE_DONE ? 0 : -1;
}

int sql_ints(sqlite3 *db, const char *sql, int *ret_found, int64_t *ret, int n, struct err *e,
	const char *types, ...)
{
	sqlite3_stmt *st;
	va_list ap;
	int rc;

	va_start(ap, types);
	rc = prepare(db, sql, &st, e, types, ap);
	va_end(ap);
	if (rc)
		return -1;
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		for (int i = 0; i < n; i++)
			ret[i] = sqlite3_column_int64(st, i);
	if (rc == SQLITE_ROW || rc == SQLITE_DONE)
		*ret_found = rc == SQLITE_ROW;
	else
		sql_error(db, sql, e);
	sqlite3_finalize(st);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : -1;
}

int sql_transaction(sqlite3 *db, int flush, int (*fn)(void *arg, struct err *e), void *arg,
	struct err *e)
{
	struct err ignored;

	if (flush && sql_run(db, "PRAGMA synchronous=FULL", e, ""))
		return -1;
	if (sql_run(db, "BEGIN IMMEDIATE", e, ""))
		return -1;
	if (fn(arg, e) || sql_run(db, "COMMIT", e, "")) {
		if (!sqlite3_get_autocommit(db))
			(void)sql_run(db, "ROLLBACK", &ignored, "");
		(void)sql_run(db, "PRAGMA synchronous=NORMAL", &ignored, "");
		return -1;
	}
	if (flush)
		(void)sql_run(db, "PRAGMA synchronous=NORMAL", &ignored, "");
	return 0;
}

/* The system's file functions, but names are taken as they are: the spool's folder is our working
 * folder, and the way to it may be closed to us. */
static int keep_name(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
	(void)vfs;
	return snprintf(out, (size_t)size, "%s", name) < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

static const char *plain_vfs(void)
{
	static sqlite3_vfs vfs;

	if (!vfs.zName) {
		vfs = *sqlite3_vfs_find(NULL);
		vfs.zName = "arraymark";
		vfs.xFullPathname = keep_name;
		vfs.pNext = NULL;
		sqlite3_vfs_register(&vfs, 0);
	}
	return vfs.zName;
}

int sql_open(const char *path, sqlite3 **ret, struct err *e)
{
	static const char *const settings[] = {"PRAGMA locking_mode=EXCLUSIVE",
		"PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL", "PRAGMA cache_size=-128",
		"PRAGMA wal_autocheckpoint=4000", "PRAGMA journal_size_limit=4194304",
		"PRAGMA temp_store=MEMORY"};
	sqlite3 *db = NULL;

	if (sqlite3_open_v2(path, &db,
		    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
		    plain_vfs()) != SQLITE_OK) {
		sql_error(db, path, e);
		sqlite3_close(db);
		return -1;
	}
	sqlite3_db_config(db, SQLITE_DBCONFIG_LOOKASIDE, NULL, 0, 0);
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		if (sql_run(db, settings[i], e, "")) {
			sqlite3_close(db);
			return -1;
		}
	*ret = db;
	return 0;
}
