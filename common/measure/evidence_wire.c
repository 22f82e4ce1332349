/*
 * What a sample holds of host and disks <-> bytes. Owns nothing.
 * Invariant: one interval has one encoding; whatever is not exactly that is refused. Numbers are
 * counted in the kernel's own units, so nothing it told is lost.
 */
#include <string.h>

#include "common/base/varint.h"
#include "common/measure/evidence.h"

/* Bytes of one set of fields at most: which there are, and each of them. */
#define FIELDS_MAX (1 + 8 * VARINT_MAX)
_Static_assert(DISK_COUNTERS <= 8 && HOST_USAGE_FIELDS <= 8, "one byte tells which are there");
_Static_assert((EVIDENCE_DISKS_MAX + 1) * FIELDS_MAX + VARINT_MAX <= USAGE_BYTES_MAX,
	"the largest volume's interval fits");

static void put_fields(const void *from, const struct disk_counter_field *f, size_t n,
	struct buf *out)
{
	unsigned char bytes[FIELDS_MAX];
	size_t len = 1;

	bytes[0] = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t v;

		memcpy(&v, (const char *)from + f[i].offset, sizeof(v));
		v /= f[i].unit;
		if (!v)
			continue;
		bytes[0] |= (unsigned char)(1u << i);
		len += varint_put(bytes + len, v);
	}
	buf_add(out, bytes, len);
}

void usage_encode(const struct host_usage *h, const struct disk_counters *disks, size_t n,
	struct buf *out)
{
	if (n > EVIDENCE_DISKS_MAX)
		n = EVIDENCE_DISKS_MAX;
	varint_add(out, n);
	put_fields(h, host_usage_fields, HOST_USAGE_FIELDS, out);
	for (size_t i = 0; i < n; i++)
		put_fields(&disks[i], disk_counter_fields, DISK_COUNTERS, out);
}

static int get_fields(struct varint_reader *r, const struct disk_counter_field *f, size_t n,
	void *into)
{
	unsigned there;

	if (r->p == r->end)
		return -1;
	there = *r->p++;
	if (there >> n)
		return -1;
	for (size_t i = 0; i < n; i++) {
		uint64_t v = 0;

		if (there & (1u << i) && (varint_get(r, &v) || !v || v > INT64_MAX / f[i].unit))
			return -1;
		v *= f[i].unit;
		memcpy((char *)into + f[i].offset, &v, sizeof(v));
	}
	return 0;
}

int usage_decode(const void *data, size_t len, struct host_usage *h, struct disk_counters *disks,
	size_t cap, size_t *ret_n, struct err *e)
{
	struct varint_reader r = {data, (const unsigned char *)data + len};
	struct disk_counters over;
	uint64_t n;

	if (varint_get(&r, &n) || n > EVIDENCE_DISKS_MAX ||
		get_fields(&r, host_usage_fields, HOST_USAGE_FIELDS, h))
		return err_set(e, ERR_PROTOCOL, "an interval's counters are damaged");
	for (size_t i = 0; i < n; i++)
		if (get_fields(&r, disk_counter_fields, DISK_COUNTERS, i < cap ? &disks[i] : &over))
			return err_set(e, ERR_PROTOCOL, "counters of disk %zu are damaged", i + 1);
	if (r.p != r.end)
		return err_set(e, ERR_PROTOCOL, "an interval's counters have bytes behind them");
	*ret_n = (size_t)n;
	return 0;
}
