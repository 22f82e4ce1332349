/* Which device a path or a name of zpool's means: a disk by its number, a file by its inode. */
#ifndef AGENT_VOLUME_DEVICE_H
#define AGENT_VOLUME_DEVICE_H

#include <stdint.h>
#include <sys/types.h>

#include "common/base/buf.h"
#include "common/base/err.h"

struct device_key {
	int is_file;
	dev_t dev; /* the whole disk, also for a partition; a file's file system */
	ino_t ino; /* of a file; 0 */
};
/* 0; -1 when there is no such disk or regular file. */
int device_key_of(const char *path, struct device_key *ret);
/* As printed by zpool: a path, or a name in one of the folders of /dev. */
int device_key_of_leaf(const char *name, struct device_key *ret);
int device_key_equal(const struct device_key *a, const struct device_key *b);
/* Kernel name of a block device ("sdc1", "loop3"); caller frees. NULL when there is none. */
char *device_kernel_name(const char *path);
/* Kernel name of the whole disk that zpool's name means; caller frees. NULL for files and for what
 * is not there. */
char *device_kernel_of_leaf(const char *name);
/* Kernel names of a disk's partitions, appended. */
void device_partitions(const char *kernel, struct strv *ret);
/* Bytes of an open block device or regular file. */
int device_size(int fd, const char *name, uint64_t *ret, struct err *e);

#endif
