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

/* Whether an interval (nanoseconds) that follows another at once is shorter than half of it: the rest that
 * the end of a trial leaves. */
static inline int series_is_sliver(int64_t start_before, int64_t end_before, int64_t start, int64_t end)
{
	return start == end_before && end - start < (end_before - start_before) / 2;
}

/* Making the disks' part: neighbouring samples go into one span. */
struct disk_spans;
/* samples: how many will come. */
struct disk_spans *disk_spans_new(uint32_t samples);
void disk_spans_add(struct disk_spans *d, const struct sample *s, const struct disk_counters *disks,
	size_t n);
/* Moves what was made into *ret and frees the rest. */
void disk_spans_end(struct disk_spans *d, struct result_series *ret);

struct series_key {
	uint64_t job;
	uint32_t attempt, trial;
};

/* Points, and the disks over time, from the stored batches; host and trial are left alone.
 * ret_samples: how many samples they hold. The caller clears *ret. ERR_NOTFOUND when there is no such
 * trial or it has not ended. */
int series_build(struct db *db, const struct series_key *key, struct result_series *ret,
	uint32_t *ret_samples, struct err *e);
/* Builds it and queues it for storing; nothing to do when it is stored. */
int series_make(struct db *db, struct writer *w, const struct series_key *key, struct err *e);
/* The stored one, or one built now. As series_build. */
int series_load(struct db *db, const struct series_key *key, struct result_series *ret,
	struct err *e);
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

/* As bytes (varints) and back; what the first version of the store wrote is read, too. */
void series_encode(const struct result_series *s, struct buf *out);
int series_decode(const void *data, size_t len, struct result_series *ret, struct err *e);

#endif
