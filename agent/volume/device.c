/* Devices by path, through stat and sysfs. Holds nothing. */
#include "agent/volume/device.h"

#include <dirent.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/base/mem.h"

static dev_t whole_disk(dev_t dev)
{
	char path[128];
	unsigned major_number, minor_number;
	FILE *f;
	int n = 0;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/partition", major(dev), minor(dev));
	if (access(path, F_OK))
		return dev;
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/../dev", major(dev), minor(dev));
	f = fopen(path, "re");
	if (f) {
		n = fscanf(f, "%u:%u", &major_number, &minor_number);
		fclose(f);
	}
	return n == 2 ? makedev(major_number, minor_number) : dev;
}

int device_key_of(const char *path, struct device_key *ret)
{
	struct stat st;

	if (stat(path, &st))
		return -1;
	if (S_ISBLK(st.st_mode))
		*ret = (struct device_key){0, whole_disk(st.st_rdev), 0};
	else if (S_ISREG(st.st_mode))
		*ret = (struct device_key){1, st.st_dev, st.st_ino};
	else
		return -1;
	return 0;
}

int device_key_of_leaf(const char *name, struct device_key *ret)
{
	static const char *const folders[] = {"/dev", "/dev/disk/by-id", "/dev/disk/by-vdev",
		"/dev/disk/by-path", "/dev/disk/by-partuuid", "/dev/disk/by-partlabel",
		"/dev/disk/by-uuid", "/dev/mapper"};

	if (*name == '/')
		return device_key_of(name, ret);
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		char path[PATH_MAX];

		if (snprintf(path, sizeof(path), "%s/%s", folders[i], name) < (int)sizeof(path) &&
			!device_key_of(path, ret))
			return 0;
	}
	return -1;
}

int device_key_equal(const struct device_key *a, const struct device_key *b)
{
	return a->is_file == b->is_file && a->dev == b->dev && a->ino == b->ino;
}

static char *kernel_name_of(dev_t dev)
{
	char link[64], target[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(dev), minor(dev));
	n = readlink(link, target, sizeof(target) - 1);
	if (n <= 0)
		return NULL;
	target[n] = '\0';
	return xstrdup(strrchr(target, '/') ? strrchr(target, '/') + 1 : target);
}

char *device_kernel_name(const char *path)
{
	struct stat st;

	return stat(path, &st) || !S_ISBLK(st.st_mode) ? NULL : kernel_name_of(st.st_rdev);
}

char *device_kernel_of_leaf(const char *name)
{
	struct device_key key;

	return device_key_of_leaf(name, &key) || key.is_file ? NULL : kernel_name_of(key.dev);
}

void device_partitions(const char *kernel, struct strv *ret)
{
	char path[PATH_MAX];
	struct dirent *d;
	DIR *folder;

	snprintf(path, sizeof(path), "/sys/class/block/%s", kernel);
	folder = opendir(path);
	while (folder && (d = readdir(folder))) {
		snprintf(path, sizeof(path), "/sys/class/block/%s/%s/partition", kernel, d->d_name);
		if (d->d_name[0] != '.' && !access(path, F_OK))
			strv_add(ret, d->d_name);
	}
	if (folder)
		closedir(folder);
}

int device_size(int fd, const char *name, uint64_t *ret, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_sys(e, "cannot look at %s", name);
	if (S_ISREG(st.st_mode)) {
		*ret = (uint64_t)st.st_size;
		return 0;
	}
	if (!S_ISBLK(st.st_mode))
		return err_set(e, ERR_INPUT, "%s is neither a disk nor a file", name);
	return ioctl(fd, BLKGETSIZE64, ret) ? err_sys(e, "cannot read the size of %s", name) : 0;
}
