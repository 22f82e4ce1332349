/*
 * Clearing labels. Owns the devices it opens, exclusively, while it looks and writes.
 * Invariant: nothing is written to a device before every label on it was found to be the one that
 * was named; a run that was cut short leaves enough for the next one to know its work by.
 */
#include "agent/volume/labels.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/volume/device.h"
#include "agent/volume/holders.h"
#include "agent/volume/signatures.h"
#include "agent/volume/usage.h"
#include "common/base/mem.h"

#define END_SIZE (2 * ZFS_LABEL_SIZE)
#define SECTOR 512 /* of libblkid's places */
#define HEAD_SIZE (ZFS_LABEL_SIZE / 2) /* of a label: all before its ring of uberblocks */

enum kind { KIND_ZFS, KIND_ZFS_SPARE, KIND_XFS, KIND_EXT4, KIND_COUNT };
static const char *const kind_names[KIND_COUNT] = {"zfs", "zfs-spare", "xfs", "ext4"};

struct wanted {
	enum kind kind;
	const char *name, *uuid;
	uint64_t guid, device_guid; /* 0: not given */
};

/* A file system that was unmounted here may live on elsewhere. */
static int say_busy(const char *path, struct err *e)
{
	struct stat st;
	char *who = stat(path, &st) || !S_ISBLK(st.st_mode) ? NULL : holders_of_device(st.st_rdev);

	err_set(e, ERR_BUSY, "%s is busy%s%s; it is left alone", path, who ? ": " : "", who ? who : "");
	free(who);
	return -1;
}

static int open_device(const char *path, int *ret, uint64_t *ret_size, struct err *e)
{
	int fd = open(path, O_RDWR | O_EXCL | O_CLOEXEC);

	if (fd < 0 && errno == EBUSY)
		return say_busy(path, e);
	if (fd < 0)
		return err_sys(e, "cannot open %s for clearing its labels", path);
	if (device_size(fd, path, ret_size, e)) {
		close(fd);
		return -1;
	}
	*ret = fd;
	return 0;
}

/* What is in the page cache of the disk and of its partitions is told apart by the kernel. */
static int flush(int fd, const char *path, struct err *e)
{
	if (fsync(fd))
		return err_sys(e, "cannot flush %s", path);
	ioctl(fd, BLKFLSBUF, 0);
	return 0;
}

static int zero(int fd, const char *path, uint64_t from, uint64_t len, struct err *e)
{
	char *zeros = xcalloc(1, (size_t)len);
	uint64_t done = 0;
	int status = 0;

	while (done < len && !status) {
		ssize_t n = pwrite(fd, zeros + done, (size_t)(len - done), (off_t)(from + done));

		if (n < 0 && errno != EINTR)
			status = err_sys(e, "cannot write to %s", path);
		done += n > 0 ? (uint64_t)n : 0;
	}
	free(zeros);
	return status;
}

/* The first label's head goes last: as long as it is there, the work is not done. */
static int zero_ends(int fd, const char *path, uint64_t size, struct err *e)
{
	uint64_t end = zfs_label_offset(size, 2);

	if (zero(fd, path, end, size - end, e) ||
		zero(fd, path, HEAD_SIZE, END_SIZE - HEAD_SIZE, e) || flush(fd, path, e) ||
		zero(fd, path, 0, HEAD_SIZE, e))
		return -1;
	return flush(fd, path, e);
}

static int label_is_wanted(const struct wanted *w, const struct zfs_label *l)
{
	if (w->kind == KIND_ZFS_SPARE && !*l->name)
		return zfs_label_is_aux(l) && (!w->device_guid || l->guid == w->device_guid);
	return w->name && !strcmp(l->name, w->name) && (!w->guid || l->pool_guid == w->guid);
}

/* 1: labels of the wanted pool, or what an interrupted creation or clearing left of some. */
static int look_for_zfs(int fd, const char *path, const struct wanted *w, struct err *e)
{
	struct zfs_label labels[ZFS_LABELS];
	struct strv found = {0};
	int mine = 0, status;

	if (signatures_of_fd(fd, path, &found, labels, e))
		return -1;
	status = strv_has(&found, "zfs");
	strv_free(&found);
	for (int i = 0; i < ZFS_LABELS; i++) {
		char text[300];

		if (!labels[i].valid)
			continue;
		if (!label_is_wanted(w, &labels[i]))
			return err_set(e, ERR_WRONG_STATE,
				"%s carries a label of %s (GUID %" PRIu64 "), which is not the one that "
				"was named; it is left alone",
				path, signature_of_label(&labels[i], text, sizeof(text)),
				*labels[i].name ? labels[i].pool_guid : labels[i].guid);
		mine = 1;
	}
	return mine || status;
}

static int clear_zfs_area(int fd, const char *path, uint64_t size, const struct wanted *w,
	struct err *e)
{
	int found = size >= ZFS_LABELS * (uint64_t)ZFS_LABEL_SIZE ? look_for_zfs(fd, path, w, e) : 0;

	if (found <= 0)
		return found;
	return zero_ends(fd, path, size, e);
}

/* The table that OpenZFS writes on a whole disk: one partition named zfs-…, and a small ninth. */
static int table_is_openzfs(blkid_partlist list)
{
	blkid_parttable table = blkid_partlist_get_table(list);
	int n = blkid_partlist_numof_partitions(list), named = 0;

	if (!table || strcmp(blkid_parttable_get_type(table), "gpt") || n < 1 || n > 2)
		return 0;
	for (int i = 0; i < n; i++) {
		blkid_partition part = blkid_partlist_get_partition(list, i);
		const char *name = blkid_partition_get_name(part);
		int number = blkid_partition_get_partno(part);

		if (number == 1)
			named = name && !strncmp(name, "zfs-", 4);
		else if (number != 9)
			return 0;
	}
	return named;
}

/* 1: the part of the disk carries some signature; its name into ret. 0: none, and all of them were looked
 * for. -1: that could not be done. */
static int part_carries(int fd, blkid_partition part, char *ret, size_t size)
{
	blkid_probe probe = blkid_new_probe();
	const char *type = NULL;
	int found = -1;

	if (probe && !blkid_probe_set_device(probe, fd, blkid_partition_get_start(part) * SECTOR,
			     blkid_partition_get_size(part) * SECTOR)) {
		blkid_probe_enable_superblocks(probe, 1);
		blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_MAGIC);
		found = blkid_do_probe(probe);
		found = found < 0 ? -1 : found == 0;
		blkid_probe_lookup_value(probe, "TYPE", &type, NULL);
	}
	snprintf(ret, size, "%s", type ? type : "an unknown signature");
	blkid_free_probe(probe);
	return found;
}

/* What is in its partitions was ours and is gone; else somebody made a table that looks like it. */
static int check_parts_blank(int fd, const char *device, blkid_partlist list, struct err *e)
{
	char what[64];

	for (int i = 0; i < blkid_partlist_numof_partitions(list); i++) {
		blkid_partition part = blkid_partlist_get_partition(list, i);
		int found = part_carries(fd, part, what, sizeof(what));

		if (found < 0)
			return err_set(e, ERR_IO,
				"what partition %d of %s carries cannot be read: its partition table is "
				"left alone",
				blkid_partition_get_partno(part), device);
		if (found)
			return err_set(e, ERR_WRONG_STATE,
				"partition %d of %s carries %s, which was not named: its partition "
				"table is left alone",
				blkid_partition_get_partno(part), device, what);
	}
	return 0;
}

/* 1: OpenZFS' own table, with nothing left in it; -1: with something in it that is not ours, or that
 * cannot be read. */
static int find_openzfs_table(int fd, const char *device, struct err *e)
{
	blkid_probe probe = blkid_new_probe();
	blkid_partlist list = NULL;
	int found;

	if (!probe || blkid_probe_set_device(probe, fd, 0, 0)) {
		blkid_free_probe(probe);
		return err_set(e, ERR_IO, "the partition table of %s cannot be read", device);
	}
	blkid_probe_enable_partitions(probe, 1);
	blkid_probe_set_partitions_flags(probe, BLKID_PARTS_ENTRY_DETAILS);
	list = blkid_probe_get_partitions(probe);
	found = list && table_is_openzfs(list);
	if (found && check_parts_blank(fd, device, list, e))
		found = -1;
	blkid_free_probe(probe);
	return found;
}

static int clear_partitions(const char *device, const struct wanted *w, struct err *e)
{
	struct strv parts = {0};
	char *kernel = device_kernel_name(device);
	int status = 0;

	if (kernel)
		device_partitions(kernel, &parts);
	free(kernel);
	for (size_t i = 0; i < parts.n && !status; i++) {
		char *path = xasprintf("/dev/%s", parts.v[i]);
		uint64_t size;
		int fd;

		status = open_device(path, &fd, &size, e);
		if (!status) {
			status = clear_zfs_area(fd, path, size, w, e);
			close(fd);
		}
		free(path);
	}
	strv_free(&parts);
	return status;
}

static int clear_table(int fd, const char *device, uint64_t size, struct err *e)
{
	int found = find_openzfs_table(fd, device, e);

	if (found <= 0)
		return found;
	if (zero_ends(fd, device, size, e))
		return -1;
	return ioctl(fd, BLKRRPART, 0) && errno != ENOTTY /* a file has none */
		       ? err_sys(e, "%s: the kernel does not forget its partitions", device) : 0;
}

static int clear_zfs(const char *device, const struct wanted *w, struct err *e)
{
	uint64_t size;
	int fd, status;

	if (clear_partitions(device, w, e) || open_device(device, &fd, &size, e))
		return -1;
	status = clear_zfs_area(fd, device, size, w, e);
	if (!status && size >= ZFS_LABELS * (uint64_t)ZFS_LABEL_SIZE)
		status = clear_table(fd, device, size, e);
	close(fd);
	return status;
}

/* Wipes superblocks one by one; one that is not the wanted file system stops it. */
static int wipe_superblocks(blkid_probe probe, const char *device, const struct wanted *w,
	struct err *e)
{
	const char *type, *uuid;
	int found;

	while ((found = blkid_do_probe(probe)) == 0) {
		if (blkid_probe_lookup_value(probe, "TYPE", &type, NULL))
			type = "an unknown signature";
		if (blkid_probe_lookup_value(probe, "UUID", &uuid, NULL))
			uuid = "";
		if (strcmp(type, kind_names[w->kind]) || strcasecmp(uuid, w->uuid))
			return err_set(e, ERR_WRONG_STATE,
				"%s carries %s with UUID '%s', not %s with %s; it is left alone", device,
				type, uuid, kind_names[w->kind], w->uuid);
		if (blkid_do_wipe(probe, 0))
			return err_sys(e, "cannot wipe the signature of %s", device);
	}
	return found < 0 ? err_set(e, ERR_IO, "the signatures of %s cannot be read", device) : 0;
}

static int clear_filesystem(const char *device, const struct wanted *w, struct err *e)
{
	blkid_probe probe = blkid_new_probe();
	uint64_t size;
	int fd, status;

	if (open_device(device, &fd, &size, e)) {
		blkid_free_probe(probe);
		return -1;
	}
	if (!probe || blkid_probe_set_device(probe, fd, 0, 0)) {
		status = err_set(e, ERR_IO, "the signatures of %s cannot be read", device);
	} else {
		blkid_probe_enable_superblocks(probe, 1);
		blkid_probe_set_superblocks_flags(probe,
			BLKID_SUBLKS_TYPE | BLKID_SUBLKS_MAGIC | BLKID_SUBLKS_UUID);
		status = wipe_superblocks(probe, device, w, e);
	}
	if (!status)
		status = flush(fd, device, e);
	blkid_free_probe(probe);
	close(fd);
	return status;
}

static int kind_parse(const char *name, enum kind *ret)
{
	for (int i = 0; i < KIND_COUNT; i++)
		if (!strcmp(name, kind_names[i])) {
			*ret = (enum kind)i;
			return 0;
		}
	return -1;
}

static int guid_parse(const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	return errno || *end || end == text || !*ret ? -1 : 0;
}

/* Index of the first device, or -1. */
static int parse_options(int argc, char **argv, struct wanted *w)
{
	static const struct option options[] = {{"kind", required_argument, NULL, 'k'},
		{"name", required_argument, NULL, 'n'}, {"guid", required_argument, NULL, 'g'},
		{"device-guid", required_argument, NULL, 'd'},
		{"uuid", required_argument, NULL, 'u'}, {0}};
	int c, wrong = 0, kind_given = 0;

	optind = 1;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'k') {
			kind_given = 1;
			wrong |= kind_parse(optarg, &w->kind);
		} else if (c == 'n') {
			w->name = optarg;
		} else if (c == 'g') {
			wrong |= guid_parse(optarg, &w->guid);
		} else if (c == 'd') {
			wrong |= guid_parse(optarg, &w->device_guid);
		} else if (c == 'u') {
			w->uuid = optarg;
		} else {
			wrong = 1;
		}
	}
	if (w->kind == KIND_ZFS)
		wrong |= !w->name || !*w->name;
	else if (w->kind != KIND_ZFS_SPARE)
		wrong |= !w->uuid || !*w->uuid;
	if (w->kind != KIND_ZFS_SPARE)
		wrong |= w->device_guid != 0;
	return wrong || !kind_given || optind >= argc ? -1 : optind;
}

static int clear_one(const struct usage *u, const char *device, const struct wanted *w,
	struct err *e)
{
	char *why = usage_listed(u, device);

	if (why) {
		err_set(e, ERR_BUSY, "%s is busy: %s; it is left alone", device, why);
		free(why);
		return -1;
	}
	return w->kind <= KIND_ZFS_SPARE ? clear_zfs(device, w, e) : clear_filesystem(device, w, e);
}

int labels_main(int argc, char **argv)
{
	struct wanted w = {0};
	int first = parse_options(argc, argv, &w), failed = 0;
	struct usage u;
	struct err e;

	if (first < 0) {
		fprintf(stderr, "usage: clear-labels --kind zfs --name POOL [--guid GUID] DEVICE…\n"
				"       clear-labels --kind zfs-spare [--name POOL] [--guid GUID] "
				"[--device-guid GUID] DEVICE…\n"
				"       clear-labels --kind xfs|ext4 --uuid UUID DEVICE…\n");
		return 2;
	}
	if (usage_read(&u, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	for (int i = first; i < argc; i++) {
		if (!clear_one(&u, argv[i], &w, &e))
			continue;
		fprintf(stderr, "%s\n", e.text);
		failed = 1;
	}
	usage_clear(&u);
	return failed;
}
