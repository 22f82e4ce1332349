/*
 * Signatures: what a disk says it holds. Read through libblkid and, for ZFS, from the labels
 * themselves. Reads only; blocks.
 */
#ifndef AGENT_VOLUME_SIGNATURES_H
#define AGENT_VOLUME_SIGNATURES_H

#include "agent/volume/zfs_label.h"
#include "common/base/buf.h"
#include "common/base/err.h"

/* Names of all signatures on the disk and on its partitions, each once, appended: "zfs:oldtank",
 * "zfs-spare", "zfs-cache", "ext4", "LVM2_member", "gpt", … path: a whole disk or a file. */
int signatures_of_disk(const char *path, struct strv *ret, struct err *e);
/* Those of one open device alone; labels (may be NULL) get its ZFS labels. */
int signatures_of_fd(int fd, const char *name, struct strv *ret,
	struct zfs_label labels[ZFS_LABELS], struct err *e);
/* UUID of the file system on a device or file; caller frees. NULL: it has none, or cannot be read. */
char *signatures_uuid(const char *path);
/* The name under which a plan's `wipe` knows such a label. Into out. */
const char *signature_of_label(const struct zfs_label *l, char *out, size_t size);

#endif
