/* What the page cache holds of a folder's files. */
#ifndef AGENT_VOLUME_RESIDENT_H
#define AGENT_VOLUME_RESIDENT_H

#include <stdint.h>

#include "common/base/err.h"

struct resident {
	uint64_t files, pages; /* regular files of which all data was asked for; pages in memory */
	uint64_t unasked; /* files that could not be opened, or not be asked about as a whole */
	char *example;    /* one that has pages; NULL: none has. Caller frees */
};
/* Of all regular files below dir, on its file system alone. Without pages in the page cache (ZFS
 * keeps its own) it tells nothing. Holes are not asked about: no device is read for them. Files
 * beyond 4 TiB of data in all, or of data in very many places, are unasked: what a file claims
 * cannot keep this busy. */
int resident_read(const char *dir, struct resident *ret, struct err *e);

#endif
