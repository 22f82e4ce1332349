/*
 * Log-linear histogram. A struct hist owns nothing beyond itself.
 * Invariant: bucket counts outside [lo, hi) are 0; count is their sum and min, max lie in the
 * first and last used bucket, unless a sum of more than 2^64 - 1 was cut there.
 */
#include "common/measure/hist.h"

#include <math.h>
#include <string.h>

#define EXACT 128 /* values below have a bucket each */
#define EXACT_BITS 7
#define PER_OCTAVE_BITS 6

void hist_clear(struct hist *h)
{
	memset(h, 0, sizeof(*h));
}

unsigned hist_index(uint64_t ns)
{
	unsigned top;

	if (ns < EXACT)
		return (unsigned)ns;
	top = 63 - (unsigned)__builtin_clzll(ns);
	if (top >= HIST_MAX_BITS)
		return HIST_BUCKETS - 1;
	/* The 6 bits below the highest one; the highest itself adds the 64 that EXACT has too many.
	 */
	return ((top - EXACT_BITS + 1) << PER_OCTAVE_BITS) +
	       (unsigned)(ns >> (top - PER_OCTAVE_BITS));
}

uint64_t hist_bucket_low(unsigned index)
{
	unsigned octave;

	if (index < EXACT)
		return index;
	octave = (index - EXACT) >> PER_OCTAVE_BITS;
	return (uint64_t)(64 + ((index - EXACT) & 63)) << (octave + 1);
}

uint64_t hist_bucket_mid(unsigned index)
{
	if (index < EXACT)
		return index;
	return hist_bucket_low(index) + (1ULL << ((index - EXACT) >> PER_OCTAVE_BITS));
}

static inline uint64_t add_capped(uint64_t a, uint64_t b)
{
	uint64_t sum = a + b;

	return sum < a ? UINT64_MAX : sum;
}

static inline uint64_t mul_capped(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static inline void widen(struct hist *h, uint64_t min, uint64_t max, uint32_t lo, uint32_t hi)
{
	if (h->count == 0) {
		h->min = min;
		h->max = max;
		h->lo = lo;
		h->hi = hi;
		return;
	}
	if (min < h->min)
		h->min = min;
	if (max > h->max)
		h->max = max;
	if (lo < h->lo)
		h->lo = lo;
	if (hi > h->hi)
		h->hi = hi;
}

void hist_add(struct hist *h, uint64_t ns)
{
	unsigned i = hist_index(ns);

	widen(h, ns, ns, i, i + 1);
	h->bucket[i] = add_capped(h->bucket[i], 1);
	h->count = add_capped(h->count, 1);
	h->sum = add_capped(h->sum, ns);
}

void hist_add_n(struct hist *h, uint64_t ns, uint64_t n)
{
	unsigned i = hist_index(ns);

	if (n == 0)
		return;
	widen(h, ns, ns, i, i + 1);
	h->bucket[i] = add_capped(h->bucket[i], n);
	h->count = add_capped(h->count, n);
	h->sum = add_capped(h->sum, mul_capped(ns, n));
}

void hist_merge(struct hist *into, const struct hist *from)
{
	if (from->count == 0)
		return;
	widen(into, from->min, from->max, from->lo, from->hi);
	for (uint32_t i = from->lo; i < from->hi; i++)
		into->bucket[i] = add_capped(into->bucket[i], from->bucket[i]);
	into->count = add_capped(into->count, from->count);
	into->sum = add_capped(into->sum, from->sum);
}

uint64_t hist_percentile(const struct hist *h, double p)
{
	double rank = p * (double)h->count;
	uint64_t seen = 0, value = h->max;

	/* 0.07 * 100 is a little more than 7: the product's own rounding error must not count. */
	rank -= rank * 1e-12;
	for (uint32_t i = h->lo; i < h->hi; i++) {
		seen += h->bucket[i];
		if (h->bucket[i] && !((double)seen < rank)) {
			value = hist_bucket_mid(i);
			break;
		}
	}
	if (value < h->min)
		return h->min;
	return value > h->max ? h->max : value;
}

double hist_mean(const struct hist *h)
{
	return h->count ? (double)h->sum / (double)h->count : 0;
}
