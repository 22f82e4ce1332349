/*
 * Fuzz target: one frame's payload as it comes from a peer. What is accepted must be fit to be sent
 * again and mean the same.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/msg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf first = {0}, second = {0};
	struct msg m, again;
	struct err e;

	if (msg_decode(data, size, &m, &e) < 0)
		return 0;
	if (msg_encode(&m, &first, &e) == 0) {
		if (msg_decode(first.data + 4, first.len - 4, &again, &e) < 0 ||
			msg_encode(&again, &second, &e) < 0 || first.len != second.len ||
			memcmp(first.data, second.data, first.len) != 0)
			abort();
		msg_clear(&again);
	}
	msg_clear(&m);
	buf_free(&first);
	buf_free(&second);
	return 0;
}
