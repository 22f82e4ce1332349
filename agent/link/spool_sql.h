/* Typed helpers over SQLite for the spool: one statement a call, always bound. */
#ifndef AGENT_LINK_SPOOL_SQL_H
#define AGENT_LINK_SPOOL_SQL_H

#include <sqlite3.h>
#include <stdint.h>

#include "common/base/err.h"

/* err for the database's last error: no room -> ERR_FULL, a damaged file -> ERR_INPUT,
 * else ERR_IO. Returns -1. */
int sql_error(sqlite3 *db, const char *what, struct err *e);
/* types: one letter a parameter, in order: i int64_t, s const char *, b const void * and size_t. */
int sql_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret, struct err *e, const char *types,
	...);
/* Prepares, steps to the end, throws rows away. */
int sql_run(sqlite3 *db, const char *sql, struct err *e, const char *types, ...);
/* The first row's integers into n int64_t pointers after the parameters; untouched when there is no
 * row; NULL counts as 0. *ret_found tells. */
int sql_ints(sqlite3 *db, const char *sql, int *ret_found, int64_t *ret, int n, struct err *e,
	const char *types, ...);
/* One transaction around fn. flush: it is on the disk (fsync) when this returns 0. */
int sql_transaction(sqlite3 *db, int flush, int (*fn)(void *arg, struct err *e), void *arg,
	struct err *e);
/* Opens a file with small caches, for us alone; a path without '/' stays relative to the working
 * folder, which need not be reachable by name. */
int sql_open(const char *path, sqlite3 **ret, struct err *e);

#endif
