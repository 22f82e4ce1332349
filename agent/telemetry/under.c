/* What a block device stands on, as sysfs links it. Holds nothing. */
#include "agent/telemetry/under.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/mem.h"

#define STACK_DEPTH 8 /* md on dm on partitions … */
#define BACKING_BYTES 8192

/* The block device with the file system that holds this file. */
static char *device_of_file(const char *root, const char *file)
{
	char *link, *real = NULL, *name = NULL;
	struct err ignored;
	struct stat st;

	if (stat(file, &st) != 0)
		return NULL;
	link = xasprintf("%s/sys/dev/block/%u:%u", root, major(st.st_dev), minor(st.st_dev));
	if (fs_realpath(link, &real, &ignored) == 0)
		name = xstrdup(strrchr(real, '/') + 1);
	free(link);
	free(real);
	return name;
}

/* A partition's folder is inside its disk's. */
static char *disk_of_partition(const char *root, const char *name)
{
	char *link = xasprintf("%s/sys/class/block/%s", root, name);
	char *mark = xasprintf("%s/partition", link), *real = NULL, *disk = NULL, *slash;
	struct err ignored;

	if (access(mark, F_OK) == 0 && fs_realpath(link, &real, &ignored) == 0) {
		slash = strrchr(real, '/');
		*slash = '\0';
		slash = strrchr(real, '/');
		disk = slash ? xstrdup(slash + 1) : NULL;
	}
	free(link);
	free(mark);
	free(real);
	return disk;
}

/* The file of a loop device; NULL where it is none. Caller frees. */
static char *backing_file(const char *root, const char *name)
{
	char *path = xasprintf("%s/sys/class/block/%s/loop/backing_file", root, name), *file = NULL;
	struct buf text = {0};
	struct err ignored;

	if (fs_read_file(path, BACKING_BYTES, &text, &ignored) == 0)
		file = xstrndup(buf_str(&text), strcspn(buf_str(&text), "\n"));
	buf_free(&text);
	free(path);
	return file;
}

static void find_under(const char *root, const char *name, unsigned depth, struct strv *found);

/* How many devices it is stacked on. */
static size_t find_slaves(const char *root, const char *name, unsigned depth, struct strv *found)
{
	char *path = xasprintf("%s/sys/class/block/%s/slaves", root, name);
	DIR *folder = opendir(path);
	struct dirent *entry;
	size_t n = 0;

	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.') {
			find_under(root, entry->d_name, depth, found);
			n++;
		}
	if (folder)
		closedir(folder);
	free(path);
	return n;
}

static void find_under(const char *root, const char *name, unsigned depth, struct strv *found)
{
	char *file = backing_file(root, name), *disk = disk_of_partition(root, name);
	char *below = disk ? NULL : file ? device_of_file(root, file) : NULL;
	int deep = depth == STACK_DEPTH;

	if (!deep && (disk || below))
		find_under(root, disk ? disk : below, depth + 1, found);
	else if ((deep || !find_slaves(root, name, depth + 1, found)) && !strv_has(found, name))
		strv_add(found, name);
	free(file);
	free(disk);
	free(below);
}

void disks_under(const char *root, const char *name, struct strv *found)
{
	find_under(root, name, 0, found);
}
