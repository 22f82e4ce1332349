/*
 * Histograms from peers: whatever decodes must be sound and encode to the same bytes; merging and
 * percentiles must stay inside minimum and maximum.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/measure/hist.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_sound(const struct hist *h)
{
	static const double ps[] = {0, 0.5, 0.99, 1};
	uint64_t total = 0;

	for (uint32_t i = 0; i < HIST_BUCKETS; i++) {
		if (h->bucket[i] && (i < h->lo || i >= h->hi))
			abort();
		total += h->bucket[i];
	}
	if (total != h->count)
		abort();
	for (size_t i = 0; i < sizeof(ps) / sizeof(ps[0]); i++) {
		uint64_t v = hist_percentile(h, ps[i]);

		if (v < h->min || v > h->max)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hist h, both;
	struct buf again = {0};
	struct err e;

	if (hist_decode(data, size, &h, &e))
		return 0;
	check_sound(&h);
	hist_encode(&h, &again);
	if (again.len != size || memcmp(again.data, data, size) != 0)
		abort();
	both = h;
	hist_merge(&both, &h);
	hist_add(&both, size);
	check_sound(&both);
	if (both.count != 2 * h.count + 1)
		abort();
	buf_free(&again);
	return 0;
}
