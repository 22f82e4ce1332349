/* The store's tables and how older files become today's. */
#ifndef COORDINATOR_STORE_SCHEMA_H
#define COORDINATOR_STORE_SCHEMA_H

#include "common/base/err.h"
#include "coordinator/store/db.h"

/* Brings the file to the newest schema, each step in a transaction of its own; an empty file gets
 * all of them. ERR_INPUT for a file that is no store, or one made by a newer version. */
int schema_migrate(struct db *db, struct err *e);
/* As schema_migrate, but an older file is an error too: for tools that only read. */
int schema_verify(struct db *db, struct err *e);

/* Draws a new epoch and keeps it; 32 hex digits + NUL. from: the epoch whose descent it is of, or
 * NULL. */
int schema_new_epoch(struct db *db, const char *from, char epoch[33], struct err *e);
int schema_epoch(struct db *db, char epoch[33], struct err *e);

#endif
