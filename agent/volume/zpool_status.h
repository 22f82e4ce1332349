/*
 * What `zpool status` and `zpool list` print, in OpenZFS' dialect and in the older one that
 * zfs-fuse and Solaris speak. Pure: text in, structs out.
 */
#ifndef AGENT_VOLUME_ZPOOL_STATUS_H
#define AGENT_VOLUME_ZPOOL_STATUS_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/measure/inventory.h"

struct zpool_leaf {
	char *pool;
	char *name;  /* as printed: "loop0", "wwn-0x5000…", a path, or a number for a missing one */
	char *state; /* ONLINE, AVAIL, UNAVAIL, … */
	int has_errors;
	uint64_t errors; /* reads, writes and checksums that failed since the import, added up */
};
struct zpool_leaves {
	struct zpool_leaf *v;
	size_t n;
};
/* Devices of all pools in the text. ERR_INPUT when it is not `zpool status`'s output; "no pools
 * available" gives none. */
int zpool_status_parse(const char *text, struct zpool_leaves *ret, struct err *e);
void zpool_leaves_free(struct zpool_leaves *l);
/* Scrubs, resilvers, removals, expansions and initialisations of devices that run, of all pools in the
 * text: "scrub of tank". -1 when it is not `zpool status`'s output. */
int zpool_running_parse(const char *text, void (*found)(void *arg, const char *what), void *arg);
/* "1.53x" -> 1530. -1 when it is no such text. */
int zfs_ratio_parse(const char *text, int64_t *ret_permille);
/* Lines of `zpool list -H -o name,guid,health,size`, size in bytes or as 3.94G. Appended. */
int zpool_list_parse(const char *text, struct inv_pool **v, size_t *n, struct err *e);

#endif
