/*
 * ZFS labels read by ourselves: what a device says of the pool it belongs to, without asking a ZFS
 * that may not be there. A device carries four labels of 256 KiB, two at its start and two at its
 * end (counted from its size rounded down to 256 KiB).
 */
#ifndef AGENT_VOLUME_ZFS_LABEL_H
#define AGENT_VOLUME_ZFS_LABEL_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

#define ZFS_LABELS 4
#define ZFS_LABEL_SIZE (256 * 1024)
#define ZFS_LABEL_NVLIST_OFFSET (16 * 1024)
#define ZFS_LABEL_NVLIST_SIZE (112 * 1024)

enum zfs_label_state {
	ZFS_ACTIVE, ZFS_EXPORTED, ZFS_DESTROYED, ZFS_SPARE, ZFS_L2CACHE
};
struct zfs_label {
	int valid;           /* 0: there is no label; the rest is empty */
	char name[257];      /* of the pool; "" in the label of a spare or a cache device */
	char hostname[257];
	uint64_t state;      /* enum zfs_label_state, or a later one's number */
	uint64_t pool_guid, guid, hostid, txg; /* 0 where the label has none */
};

/* Of a spare or a cache device that is not at work: it names the device, but no pool. */
int zfs_label_is_aux(const struct zfs_label *l);
/* One label's name-value list (XDR); whatever is in it. 0 when it is one, else -1. */
int zfs_label_parse(const void *data, size_t len, struct zfs_label *ret);
/* All labels of an open device or file of `size` bytes. 0, also when there is none; -1 when it
 * cannot be read. name is for messages. */
int zfs_labels_read(int fd, uint64_t size, const char *name, struct zfs_label ret[ZFS_LABELS],
	struct err *e);
/* Offset of label i (0..3) on a device of that size, which must be at least 4 labels. */
uint64_t zfs_label_offset(uint64_t size, unsigned i);

#endif
