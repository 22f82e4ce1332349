/*
 * The series of a trial: at most 1,000 points, each of neighbouring samples merged, made once from
 * the trial's batches when it has ended.
 */
#ifndef COORDINATOR_STORE_SERIES_H
#define COORDINATOR_STORE_SERIES_H

#include "coordinator/results/set.h"
#include "coordinator/store/db.h"
#include "coordinator/store/writer.h"

#define SERIES_POINTS_MAX 1000

struct series_key {
	uint64_t job;
	uint32_t attempt, trial;
};

/* Points from the stored batches. ret_samples: how many samples they hold. Caller frees *ret.
 * ERR_NOTFOUND when there is no such trial or it has not ended. */
int series_build(struct db *db, const struct series_key *key, struct result_point **ret,
	size_t *ret_n, uint32_t *ret_samples, struct err *e);
/* Builds it and queues it for storing; nothing to do when it is stored. */
int series_make(struct db *db, struct writer *w, const struct series_key *key, struct err *e);
/* The stored one, or one built now. Caller frees *ret. */
int series_load(struct db *db, const struct series_key *key, struct result_point **ret,
	size_t *ret_n, struct err *e);
/* Ended trials without a series, to be made now. */
int series_missing(struct db *db, void (*row)(void *arg, const struct series_key *key), void *arg,
	struct err *e);

/* Reads a trial's samples in order; the same walk serves the check. lost: records of lost batches
 * in the trial's range. one: may be NULL. */
struct series_walk {
	void (*one)(void *arg, const struct sample *s);
	void *arg;
	uint64_t samples, lost;
};
/* from..to: record numbers, both included. */
int series_walk_trial(struct db *db, const struct series_key *key, uint64_t from, uint64_t to,
	struct series_walk *walk, struct err *e);

/* Points as bytes (varints) and back. */
void series_encode(const struct result_point *points, size_t n, struct buf *out);
int series_decode(
	const void *data, size_t len, struct result_point **ret, size_t *ret_n, struct err *e);

#endif
