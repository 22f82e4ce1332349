/* What the page cache holds of a folder's files. */
#ifndef AGENT_VOLUME_RESIDENT_H
#define AGENT_VOLUME_RESIDENT_H

#include <stdint.h>

#include "common/base/err.h"

struct resident {
	uint64_t files, pages; /* regular files of which every page was asked for; pages in memory */
	uint64_t unasked;      /* files that could not be opened, or not be asked about as a whole */
	char *example;         /* one that has pages; NULL: none has. Caller frees */
};
/* Of all regular files below dir, on its file system alone. Without pages in the page cache (ZFS keeps
 * its own) it tells nothing. */
int resident_read(const char *dir, struct resident *ret, struct err *e);

#endif
