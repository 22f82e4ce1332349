/*
 * The monitor's ring: records of attempts, numbered and cut into immutable batches, kept until the
 * link says that its spool has them.
 *
 * Bounded: when it is over its limit, the oldest batches that the link has not been given are
 * dropped, samples first, then steps; what was dropped travels as a {first, last, lost} batch.
 * Starts and ends of attempts, units and trials are never dropped.
 */
#ifndef AGENT_RING_H
#define AGENT_RING_H

#include <stddef.h>
#include <stdint.h>

#include "proto/msg.h"
#include "proto/record.h"

#define RING_LIMIT (16u * 1024 * 1024)
#define RING_WINDOW (1024u * 1024)    /* bytes given to the link and not confirmed */
#define RING_BATCH_BYTES (64u * 1024) /* an open batch is cut when it is that long */
#define RING_BATCH_RECORDS 256

struct ring;

struct ring *ring_new(size_t limit_bytes);
void ring_free(struct ring *r);
/* A new stream of records: numbers begin at 1. What earlier streams left stays until confirmed. */
void ring_begin(struct ring *r, const char *epoch, const struct job_key *key);
/* Numbers and encodes one record (not taken over); returns its number. Samples collect in an open
 * batch; any other record closes that one and is cut at once. */
uint64_t ring_add(struct ring *r, const struct record *rec);
/* Cuts the open batch, if there is one. */
void ring_cut(struct ring *r);
int ring_has_open(const struct ring *r);
/* The next batch for the link, marked as given, or NULL: nothing left, or the window is full. The
 * batch is borrowed until the next call of any function here. */
const struct msg_batch *ring_next(struct ring *r);
/* The link's spool has the stream up to `last`. Batches that it was not given stay. */
void ring_confirm(struct ring *r, const struct job_key *key, uint64_t last);
/* A new link: it is given everything again that is not confirmed. */
void ring_rewind(struct ring *r);

struct ring_facts {
	size_t bytes;
	unsigned batches; /* cut and not confirmed */
	unsigned waiting; /* of these, not yet given to the link */
	uint64_t lost;    /* records dropped so far, all streams */
};
void ring_facts(const struct ring *r, struct ring_facts *ret);

#endif
