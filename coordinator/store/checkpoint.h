/* The checkpoint thread: brings the WAL into the database beside the writer. */
#ifndef COORDINATOR_STORE_CHECKPOINT_H
#define COORDINATOR_STORE_CHECKPOINT_H

#include "common/base/err.h"

struct checkpointer;
int checkpointer_start(const char *path, struct checkpointer **ret, struct err *e);
/* Any thread: the WAL has so many pages now. */
void checkpointer_note(void *checkpointer, int wal_pages);
void checkpointer_stop(struct checkpointer *c); /* NULL is fine */

#endif
