/*
 * The reader threads: answers to queries, chunk by chunk, and series of trials that ended.
 *
 * A thread works on one chunk at a time and holds no read transaction between two of them, so a
 * slow receiver costs neither a thread nor WAL. Everything here but the threads' own work runs on
 * the event loop.
 */
#ifndef COORDINATOR_STORE_READER_H
#define COORDINATOR_STORE_READER_H

#include <event2/event.h>

#include "common/base/err.h"
#include "coordinator/store/store.h"
#include "coordinator/store/writer.h"

struct readers;
/* Starts the threads. Series go to the writer, which must outlive them. */
int readers_start(const char *path, struct event_base *base, struct writer *writer,
	struct readers **ret, struct err *e);
void readers_want_series(struct readers *r, const struct job_key *key, uint32_t trial);
/* As store_query. */
struct store_reading *readers_query(
	struct readers *r, enum store_query q, const char *target, store_chunk chunk, void *arg);
/* Ends all readings without a further call. NULL is fine. */
void readers_stop(struct readers *r);

#endif
