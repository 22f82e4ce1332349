/* What the page cache holds of a folder's files. */
#ifndef AGENT_VOLUME_RESIDENT_H
#define AGENT_VOLUME_RESIDENT_H

#include <stdint.h>

#include "common/base/err.h"

struct resident {
	uint64_t files, pages; /* regular files looked at; pages of them that are in memory */
	char *example;         /* one that has pages; NULL: none has. Caller frees */
};
/* Of all regular files below dir, on its file system alone. Without pages in the page cache (ZFS keeps
 * its own) it tells nothing. */
int resident_read(const char *dir, struct resident *ret, struct err *e);

#endif
