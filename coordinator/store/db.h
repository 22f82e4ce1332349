/*
 * Typed helpers over one SQLite connection: every statement is prepared once, values are always
 * bound. A connection belongs to one thread at a time.
 */
#ifndef COORDINATOR_STORE_DB_H
#define COORDINATOR_STORE_DB_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/err.h"

struct db;

enum db_mode {
	DB_READ,   /* query_only */
	DB_WRITE,  /* no automatic checkpoints */
	DB_CREATE, /* as DB_WRITE; the file is made, mode 0600 */
	DB_COPY    /* a new file that a whole store is copied into; the caller syncs it */
};

/* Opens with WAL, synchronous=FULL, foreign_keys=ON. ERR_NOTFOUND when there is no file. */
int db_open(const char *path, enum db_mode mode, struct db **ret, struct err *e);
void db_close(struct db *db);
sqlite3 *db_handle(struct db *db);
const char *db_path(const struct db *db);
/* Waits for locks of other connections at most that long; 0 (the default): not at all. */
void db_set_wait(struct db *db, unsigned ms);
/* 1 when the last failure was of the database itself (disk full, I/O error, locked, damaged), so
 * that the whole transaction is lost; 0 when it was of one statement. */
int db_failed_hard(const struct db *db);
/* Turns the handle's present error into e: "<path>: <what>: <sqlite's text>". Returns -1. */
int db_error(struct db *db, const char *what, struct err *e);

struct db_value {
	enum { DB_END, DB_NULL, DB_INT, DB_TEXT, DB_BLOB } type;
	int64_t i;
	const void *p; /* must live until the statement is run */
	size_t len;
};
static inline struct db_value db_int(int64_t i)
{
	return (struct db_value){DB_INT, i, NULL, 0};
}
/* All 64 bits are kept; the column shows values above INT64_MAX as negative. */
static inline struct db_value db_uint(uint64_t u)
{
	return (struct db_value){DB_INT, (int64_t)u, NULL, 0};
}
static inline struct db_value db_text(const char *s) /* NULL gives NULL */
{
	return (struct db_value){s ? DB_TEXT : DB_NULL, 0, s, 0};
}
static inline struct db_value db_text0(const char *s) /* NULL gives "" */
{
	return db_text(s ? s : "");
}
static inline struct db_value db_blob(const void *p, size_t len) /* NULL gives NULL */
{
	return (struct db_value){p ? DB_BLOB : DB_NULL, 0, p, len};
}

/* sql must be a string literal (or live as long as the connection): the statement is kept under
 * its address. Values are bound to ?1, ?2, … */
#define DB_VALUES(...) ((const struct db_value[]){__VA_ARGS__ __VA_OPT__(, ){0}})
#define DB_RUN(db, e, sql, ...) db_run(db, e, sql, DB_VALUES(__VA_ARGS__))
#define DB_QUERY(db, ret, e, sql, ...) db_query(db, ret, e, sql, DB_VALUES(__VA_ARGS__))
#define DB_QUERY_INT(db, e, dflt, ret, sql, ...)                                                   \
	db_query_int(db, e, dflt, ret, sql, DB_VALUES(__VA_ARGS__))

/* Runs to the end; rows are ignored. */
int db_run(struct db *db, struct err *e, const char *sql, const struct db_value *values);
/* Rows changed by the last db_run. */
int db_changes(struct db *db);
int64_t db_last_id(struct db *db);

/* Begins; then db_next until it does not give 1. db_done may come earlier. */
int db_query(struct db *db, sqlite3_stmt **ret, struct err *e, const char *sql,
	const struct db_value *values);
int db_next(struct db *db, sqlite3_stmt *row, struct err *e); /* 1 row, 0 end, -1 error */
void db_done(sqlite3_stmt *row);                              /* NULL is fine */

/* Column readers: NULL gives 0 and "". Text and blobs live until the next db_next or db_done. */
int64_t db_get_int(sqlite3_stmt *row, int col);
const char *db_get_text(sqlite3_stmt *row, int col);
const void *db_get_blob(sqlite3_stmt *row, int col, size_t *ret_len);
char *db_dup_text(sqlite3_stmt *row, int col); /* NULL stays NULL */

/* One integer of the first row; dflt when there is no row or it is NULL. */
int db_query_int(struct db *db, struct err *e, int64_t dflt, int64_t *ret, const char *sql,
	const struct db_value *values);

/* Several statements in one text, unprepared: schema and pragmas. */
int db_script(struct db *db, const char *sql, struct err *e);

#endif
