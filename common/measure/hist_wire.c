/*
 * Histogram <-> bytes: unsigned LEB128 numbers count, sum, min, max, then for each used bucket the
 * step from the one before (the first counts from -1) and its count. Owns nothing.
 * Invariant: one histogram has one encoding; whatever is not exactly that is refused.
 */
#include <inttypes.h>
#include <string.h>

#include "common/base/varint.h"
#include "common/measure/hist.h"

/* More operations than any run can have; below it no sum of counts overflows. */
#define COUNT_MAX (1ULL << 56)

void hist_encode(const struct hist *h, struct buf *out)
{
	unsigned char bytes[512];
	int64_t last = -1;
	size_t n = 0;

	n += varint_put(bytes + n, h->count);
	n += varint_put(bytes + n, h->sum);
	n += varint_put(bytes + n, h->min);
	n += varint_put(bytes + n, h->max);
	for (uint32_t i = h->lo; i < h->hi; i++) {
		if (!h->bucket[i])
			continue;
		n += varint_put(bytes + n, (uint64_t)(i - last));
		n += varint_put(bytes + n, h->bucket[i]);
		last = i;
		if (n > sizeof(bytes) - 2 * VARINT_MAX) {
			buf_add(out, bytes, n);
			n = 0;
		}
	}
	buf_add(out, bytes, n);
}

static int broken(struct err *e, const char *what)
{
	return err_set(e, ERR_PROTOCOL, "histogram is damaged: %s", what);
}

static int get_buckets(struct varint_reader *r, struct hist *h, struct err *e)
{
	uint64_t total = 0, next = 0; /* next: the bucket after the last one read */

	while (r->p < r->end) {
		uint64_t step, count;

		if (varint_get(r, &step) || varint_get(r, &count))
			return broken(e, "a number is cut off or malformed");
		if (step == 0 || step > HIST_BUCKETS - next)
			return broken(e, "a bucket is out of range");
		if (count == 0 || count > h->count - total)
			return broken(e, "the buckets' counts do not add up");
		next += step;
		total += count;
		h->bucket[next - 1] = count;
		if (h->lo == h->hi)
			h->lo = (uint32_t)next - 1;
		h->hi = (uint32_t)next;
	}
	if (total != h->count)
		return broken(e, "the buckets' counts do not add up");
	return 0;
}

/* What must hold between count, sum, min, max and the buckets. */
static int check_totals(const struct hist *h, struct err *e)
{
	unsigned __int128 least = (unsigned __int128)h->min * h->count;
	unsigned __int128 most = (unsigned __int128)h->max * h->count;

	if (h->count == 0)
		return h->sum || h->min || h->max ? broken(e, "it is empty but has sums") : 0;
	if (h->min > h->max || hist_index(h->min) != h->lo || hist_index(h->max) + 1 != h->hi)
		return broken(e, "minimum or maximum lie outside the buckets");
	if (h->sum == UINT64_MAX ? most < UINT64_MAX : h->sum < least || h->sum > most)
		return broken(e, "the sum does not fit minimum, maximum and count");
	return 0;
}

int hist_check(const struct hist *h, struct err *e)
{
	uint64_t total = 0;

	if (h->count > COUNT_MAX)
		return broken(e, "its count is impossible");
	for (uint32_t i = h->lo; i < h->hi; i++) {
		if (h->bucket[i] > h->count - total)
			return broken(e, "the buckets' counts do not add up");
		total += h->bucket[i];
	}
	if (total != h->count)
		return broken(e, "the buckets' counts do not add up");
	return check_totals(h, e);
}

int hist_decode(const void *data, size_t len, struct hist *ret, struct err *e)
{
	struct varint_reader r = {.p = data, .end = (const unsigned char *)data + len};
	struct hist h;

	hist_clear(&h);
	if (len == 0)
		return broken(e, "it has no bytes");
	if (varint_get(&r, &h.count) || varint_get(&r, &h.sum) || varint_get(&r, &h.min) ||
		varint_get(&r, &h.max))
		return broken(e, "a number is cut off or malformed");
	if (h.count > COUNT_MAX)
		return broken(e, "its count is impossible");
	if (get_buckets(&r, &h, e) || check_totals(&h, e))
		return -1;
	*ret = h;
	return 0;
}
