/* Fuzz target: a batch's payload as it comes from an agent, and the histograms in it. */
#include <stdlib.h>
#include <string.h>

#include "common/measure/hist.h"
#include "proto/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hist hist;
	struct buf payload = {0};
	struct records list, again;
	struct err e;

	if (records_decode(data, size, &list, &e) < 0)
		return 0;
	for (size_t i = 0; i < list.n; i++) {
		if (list.v[i].type == RECORD_SAMPLE && list.v[i].u.sample.hist)
			(void)hist_decode(
				list.v[i].u.sample.hist, list.v[i].u.sample.hist_len, &hist, &e);
		record_encode(&list.v[i], &payload);
	}
	if (payload.len <= MSG_BATCH_MAX) {
		if (records_decode(payload.data, payload.len, &again, &e) < 0 || again.n != list.n)
			abort();
		records_clear(&again);
	}
	records_clear(&list);
	buf_free(&payload);
	return 0;
}
