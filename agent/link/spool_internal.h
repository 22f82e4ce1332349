/* Inside of the spool: what its files share. Functions return -1 and fill e when SQLite fails; those
 * that change rows belong into the caller's transaction. */
#ifndef AGENT_LINK_SPOOL_INTERNAL_H
#define AGENT_LINK_SPOOL_INTERNAL_H

#include "agent/link/spool.h"
#include "agent/link/spool_sql.h"

#define EPOCH_MAX 64

struct spool {
	sqlite3 *db;
	char *path;
	uint64_t limit, bytes;           /* payload in `batches` */
	uint64_t kept_limit, kept_bytes; /* in `kept`, rows' own cost included */
	uint32_t count;
	char epoch[EPOCH_MAX + 1];
	int64_t sent_stream, sent_first; /* everything up to this batch is under way */
	struct msg_batch peeked;         /* epoch NULL: none */
	int64_t peeked_stream;
};

/* Known by the epoch in which it was begun, and its key. */
struct spool_stream {
	int64_t id, stored_last, given_up, refusals;
};

void spool_forget_peeked(struct spool *s);
/* The counters, from the tables. */
int spool_count_all(struct spool *s, struct err *e);
int spool_kept_count(struct spool *s, struct err *e);
/* Are these epochs of one store and its restored copies? */
int spool_is_kin(const char *a, const char *b);

/* The store has the stream up to last: those batches become kept ones, samples become lost ranges.
 * ret_bytes is added to. */
int spool_keep(struct spool *s, int64_t stream, int64_t last, uint64_t *ret_bytes, struct err *e);
int spool_keep_lost(struct spool *s, int64_t stream, int64_t first, int64_t last,
	uint64_t *ret_bytes, struct err *e);
/* What is kept of the stream from record `from` on is to be sent again. */
int spool_bring_back(struct spool *s, int64_t stream, int64_t from, struct err *e);
/* Forgets the oldest streams' until what is kept is within its limit. */
int spool_kept_trim(struct spool *s, struct err *e);

#endif
