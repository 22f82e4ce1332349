/*
 * The spool: batches on this host's disk until the coordinator's store has them. SQLite, owned by
 * the link alone.
 *
 * Batches belong to streams (store epoch, run, job, attempt) and are sent stream by stream, each in
 * the order of its numbers. Commits are not flushed to the disk one by one (that would disturb what
 * is measured) but at the end of a trial, unit or attempt.
 *
 * After the ack a batch of samples becomes a lost range; everything else (starts, ends, steps,
 * volumes) stays as it was sent. This is kept for SPOOL_KEEP_NS after the stream's last ack, and so
 * is what a store refused. A store that was restored from a backup shows a new epoch: everything
 * that is there is offered to it again, from the first record on, under that epoch. What was made
 * for a store of other descent (MSG_EPOCH_KIN) is not offered but put aside.
 */
#ifndef AGENT_LINK_SPOOL_H
#define AGENT_LINK_SPOOL_H

#include <stdint.h>

#include "common/base/err.h"
#include "common/base/units.h"
#include "proto/msg.h"

#define SPOOL_KEEP_NS (7LL * 24 * 3600 * NS_PER_S)
#define SPOOL_LIMIT (1024ULL * 1024 * 1024) /* bytes of payload, unless told otherwise */
#define SPOOL_KEPT_SHARE 16 /* of the limit: what is kept after acks, the oldest streams go first */
#define SPOOL_MAX_REFUSALS 10 /* of one stream, without an ack between */

struct spool;

/* Opens or makes the file; a relative path stays relative to the working folder of now. A file that
 * SQLite finds damaged is moved aside, a new one begun, and ret_moved (caller frees) names it. */
int spool_open(const char *path, uint64_t limit_bytes, struct spool **ret, char **ret_moved,
	struct err *e);
void spool_close(struct spool *s);

/* Keeps a batch under the epoch and key of its stream. One that is there already (or was) is fine; an
 * overlap is cut when the batch stands for lost records, else ERR_PROTOCOL. ERR_FULL: over the limit or
 * no room on the disk. */
int spool_put(struct spool *s, const struct msg_batch *b, struct err *e);
/* The next batch to send, labelled with the store epoch seen last, or *ret NULL. Borrowed until the
 * next call of any function here. */
int spool_peek(struct spool *s, const struct msg_batch **ret, struct err *e);
/* What spool_peek gave is under way. */
void spool_advance(struct spool *s);
/* A new connection: everything is to be sent again. */
void spool_rewind(struct spool *s);
/* The store of `epoch` has the stream of that key up to last; ignored when another epoch was seen
 * since. ret_bytes: payload of what was under way and need not be sent any more. */
int spool_ack(struct spool *s, const char *epoch, const struct job_key *key, uint64_t last,
	uint64_t *ret_bytes, struct err *e);

struct spool_refusal {
	unsigned given_up; /* batches that were moved away: nobody will take them */
	uint64_t bytes;    /* of these, payload that was under way */
};
/* The store would take `expected` next of that key's stream (0: it does not know the job, and the
 * batches are moved away). Otherwise everything from there on is to be sent again, on a new
 * connection, since refusals of what is under way may follow; a batch that reaches over `expected`
 * is cut, what was kept after an ack comes back, what is missing here travels as lost. */
int spool_refuse(struct spool *s, const struct job_key *key, uint64_t expected, const char *text,
	struct spool_refusal *ret, struct err *e);
/* Batches that are not acknowledged. */
uint32_t spool_count(const struct spool *s);
/* The store epoch seen last ("" at first). */
const char *spool_epoch(const struct spool *s);
/* Another one than before: what is there is offered to that store or put aside, see above. */
int spool_set_epoch(struct spool *s, const char *epoch, struct err *e);
/* Forgets what was kept long enough, and gives memory and disk back. For idle moments. */
int spool_tidy(struct spool *s, struct err *e);

#endif
