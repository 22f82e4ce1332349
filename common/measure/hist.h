/*
 * Log-linear latency histogram. Values are nanoseconds, 0 .. 2^42 - 1 (larger ones go into the last
 * bucket; max stays exact). Layout as fio's: values < 128 have a bucket each, then 64 buckets an
 * octave; the mid-point of a bucket is at most 0.8 % off. count, sum, min, max are exact.
 * Merging adds counts; percentiles are never averaged.
 */
#ifndef COMMON_MEASURE_HIST_H
#define COMMON_MEASURE_HIST_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/err.h"

#define HIST_MAX_BITS 42
#define HIST_BUCKETS (128 + (HIST_MAX_BITS - 7) * 64)

struct hist {
	uint64_t count, sum, min, max; /* ns; min and max are 0 while count is 0; sum saturates */
	uint32_t lo, hi;               /* used bucket range [lo, hi), empty when equal */
	uint64_t bucket[HIST_BUCKETS];
};

void hist_clear(struct hist *h);
void hist_add(struct hist *h, uint64_t ns);
void hist_add_n(struct hist *h, uint64_t ns, uint64_t n);
void hist_merge(struct hist *into, const struct hist *from);
unsigned hist_index(uint64_t ns);
uint64_t hist_bucket_low(unsigned index);  /* smallest value of the bucket */
uint64_t hist_bucket_mid(unsigned index);  /* value reported for it */
/* p in 0..1: mid-point of the first bucket whose cumulative count >= p * count, clamped to
 * min/max; 0 when empty. */
uint64_t hist_percentile(const struct hist *h, double p);
double hist_mean(const struct hist *h);
/* Sparse wire form (delta-varints): count, sum, min, max, then pairs (index step, count). Appended. */
void hist_encode(const struct hist *h, struct buf *out);
/* Whether it could have been decoded: count, sum, min and max fit the buckets. */
int hist_check(const struct hist *h, struct err *e);
/* Checks everything: indices in range, counts add up (to 2^56 at most), sum, min and max fit them,
 * no trailing bytes, and no other spelling of the same histogram. */
int hist_decode(const void *data, size_t len, struct hist *ret, struct err *e);

#endif
