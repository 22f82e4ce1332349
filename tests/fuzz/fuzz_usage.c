/*
 * An interval's counters from peers: whatever decodes encodes to the same bytes again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/measure/evidence.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct disk_counters disks[EVIDENCE_DISKS_MAX];
	struct buf again = {0};
	struct host_usage h;
	struct err e;
	size_t n;

	if (usage_decode(data, size, &h, disks, EVIDENCE_DISKS_MAX, &n, &e))
		return 0;
	usage_encode(&h, disks, n, &again);
	if (again.len != size || memcmp(again.data, data, size) != 0)
		abort();
	buf_free(&again);
	return 0;
}
