/*
 * Telling the GUIDs in the labels of spares. Owns the devices it opens, reading.
 * Invariant: what cannot be told is 0, which is no device's GUID.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "agent/volume/device.h"
#include "agent/volume/labels.h"
#include "agent/volume/zfs_label.h"
#include "common/base/mem.h"

static uint64_t guid_on(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct zfs_label labels[ZFS_LABELS];
	uint64_t size, guid = 0;
	struct err ignored;

	if (fd < 0)
		return 0;
	ioctl(fd, BLKFLSBUF, 0); /* what was read before the pool was made */
	if (!device_size(fd, path, &size, &ignored) && size >= ZFS_LABELS * (uint64_t)ZFS_LABEL_SIZE &&
		!zfs_labels_read(fd, size, path, labels, &ignored))
		for (int i = 0; i < ZFS_LABELS && !guid; i++)
			if (labels[i].valid && zfs_label_is_aux(&labels[i]) &&
				labels[i].state == ZFS_SPARE)
				guid = labels[i].guid;
	close(fd);
	return guid;
}

/* OpenZFS makes a partition on a whole disk. */
static uint64_t guid_of(const char *device)
{
	char *kernel = device_kernel_name(device);
	struct strv parts = {0};
	uint64_t guid = guid_on(device);

	if (kernel)
		device_partitions(kernel, &parts);
	for (size_t i = 0; i < parts.n && !guid; i++) {
		char *path = xasprintf("/dev/%s", parts.v[i]);

		guid = guid_on(path);
		free(path);
	}
	strv_free(&parts);
	free(kernel);
	return guid;
}

int label_guids_main(int argc, char **argv)
{
	int first = argc > 1 && !strcmp(argv[1], "--") ? 2 : 1;

	if (first >= argc) {
		fprintf(stderr, "usage: label-guids [--] DEVICE…\n");
		return 2;
	}
	for (int i = first; i < argc; i++)
		printf("%" PRIu64 "%s", guid_of(argv[i]), i + 1 < argc ? " " : "\n");
	return 0;
}
