/*
 * What RAID controllers' tools print: the first byte chooses the reader, the rest is the text. Never a
 * crash or a leak; each volume has a name and a controller.
 */
#include <stdint.h>
#include <stdlib.h>

#include "agent/controller/readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_it(uint8_t which, const char *text, size_t len, struct raid_state *s, struct err *e)
{
	switch (which % 4) {
	case 0:
		return storcli_read(text, len, s, e);
	case 1:
		return megacli_read(text, len, s, e);
	case 2:
		return ssacli_read(text, len, s, e);
	default:
		return arcconf_read(text, len, which / 4, s, e);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct raid_state s = {0};
	struct err e = {.code = ERR_NONE};

	if (size == 0)
		return 0;
	if (read_it(data[0], (const char *)data + 1, size - 1, &s, &e) && !*e.text)
		abort();
	raid_state_settle(&s);
	for (size_t i = 0; i < s.n_volumes; i++)
		if (!*s.volumes[i].name || !*s.volumes[i].controller)
			abort();
	raid_state_free(&s);
	return 0;
}
