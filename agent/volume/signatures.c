/*
 * Reader of signatures. libblkid knows some 100 kinds; what it calls zfs_member is looked at by
 * ourselves, because consent is given to a pool by its name.
 */
#include "agent/volume/signatures.h"

#include <blkid/blkid.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/volume/device.h"
#include "common/base/mem.h"

#define MOST_FOUND 64 /* signatures on one device */

static void add_once(struct strv *s, const char *name)
{
	if (!strv_has(s, name))
		strv_add(s, name);
}

const char *signature_of_label(const struct zfs_label *l, char *out, size_t size)
{
	if (*l->name)
		snprintf(out, size, "zfs:%s", l->name);
	else
		snprintf(out, size, "%s", l->state == ZFS_L2CACHE ? "zfs-cache" : "zfs-spare");
	return out;
}

/* Each call finds the next one; a device may carry several. -1: it could not be read. */
static int probe_all(blkid_probe probe, struct strv *ret, int *ret_zfs)
{
	const char *value;
	int found = 0;

	for (int i = 0; i < MOST_FOUND && (found = blkid_do_probe(probe)) == 0; i++) {
		if (!blkid_probe_lookup_value(probe, "TYPE", &value, NULL)) {
			if (!strcmp(value, "zfs_member"))
				*ret_zfs = 1;
			else
				add_once(ret, value);
		} else if (!blkid_probe_lookup_value(probe, "PTTYPE", &value, NULL)) {
			add_once(ret, value);
		}
	}
	return found < 0 ? -1 : 0;
}

static int probe_fd(int fd, const char *name, struct strv *ret, int *ret_zfs, struct err *e)
{
	blkid_probe probe = blkid_new_probe();
	int status;

	if (!probe || blkid_probe_set_device(probe, fd, 0, 0)) {
		blkid_free_probe(probe);
		return err_set(e, ERR_IO, "the signatures of %s cannot be read", name);
	}
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_MAGIC);
	blkid_probe_enable_partitions(probe, 1);
	blkid_probe_set_partitions_flags(probe, BLKID_PARTS_MAGIC);
	status = probe_all(probe, ret, ret_zfs);
	blkid_free_probe(probe);
	return status ? err_set(e, ERR_IO, "the signatures of %s cannot be read", name) : 0;
}

int signatures_of_fd(int fd, const char *name, struct strv *ret,
	struct zfs_label labels[ZFS_LABELS], struct err *e)
{
	struct zfs_label own[ZFS_LABELS] = {0};
	int zfs = 0, named = 0;
	char text[300];
	uint64_t size;

	if (device_size(fd, name, &size, e) || zfs_labels_read(fd, size, name, own, e))
		return -1;
	if (size && probe_fd(fd, name, ret, &zfs, e))
		return -1;
	for (int i = 0; i < ZFS_LABELS; i++) {
		if (!own[i].valid)
			continue;
		add_once(ret, signature_of_label(&own[i], text, sizeof(text)));
		named = 1;
	}
	if (zfs && !named)
		add_once(ret, "zfs");
	if (labels)
		memcpy(labels, own, sizeof(own));
	return 0;
}

static int of_path(const char *path, struct strv *ret, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), status;

	if (fd < 0)
		return err_sys(e, "cannot open %s", path);
	status = signatures_of_fd(fd, path, ret, NULL, e);
	close(fd);
	return status;
}

int signatures_of_disk(const char *path, struct strv *ret, struct err *e)
{
	struct strv partitions = {0};
	char *kernel = device_kernel_name(path);
	int status = of_path(path, ret, e);

	if (kernel)
		device_partitions(kernel, &partitions);
	for (size_t i = 0; i < partitions.n && !status; i++) {
		char *part = xasprintf("/dev/%s", partitions.v[i]);

		status = of_path(part, ret, e);
		free(part);
	}
	strv_free(&partitions);
	free(kernel);
	return status;
}

char *signatures_uuid(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	blkid_probe probe = fd < 0 ? NULL : blkid_new_probe();
	const char *uuid = NULL;
	char *copy;

	if (probe && !blkid_probe_set_device(probe, fd, 0, 0)) {
		blkid_probe_enable_superblocks(probe, 1);
		blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_UUID);
		if (blkid_do_safeprobe(probe) == 0)
			blkid_probe_lookup_value(probe, "UUID", &uuid, NULL);
	}
	copy = xstrdup(uuid);
	blkid_free_probe(probe);
	if (fd >= 0)
		close(fd);
	return copy;
}
