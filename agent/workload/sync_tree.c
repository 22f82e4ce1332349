/* Walking a tree and syncing it. Owns the descriptors of one walk. */
#include "agent/workload/sync_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 64

static int sync_entries(int dir, unsigned long dev, unsigned depth, const char *name, struct err *e);

/* What vanishes meanwhile, what is no file and what may not be opened is not ours. */
static int sync_entry(int dir, const char *entry, unsigned long dev, unsigned depth,
	const char *name, struct err *e)
{
	int fd = openat(dir, entry, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	int r = 0;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0 && st.st_dev == dev) {
		if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
			r = sync_entries(fd, dev, depth + 1, name, e);
		if (!r && (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)) && fsync(fd) < 0)
			r = err_io(e, "fsync of '%s' in %s failed", entry, name);
	}
	close(fd);
	return r;
}

static int sync_entries(int dir, unsigned long dev, unsigned depth, const char *name, struct err *e)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;
	int r = 0;

	if (!d) {
		err_sys(e, "cannot list %s", name);
		if (copy >= 0)
			close(copy);
		return -1;
	}
	while (!r && (entry = readdir(d)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			r = sync_entry(dir, entry->d_name, dev, depth, name, e);
	closedir(d);
	return r;
}

int sync_tree(int dir, unsigned long dev, int syncfs_works, const char *name, struct err *e)
{
	if (syncfs_works)
		return syncfs(dir) < 0 ? err_io(e, "syncfs of %s failed", name) : 0;
	if (sync_entries(dir, dev, 0, name, e))
		return -1;
	return fsync(dir) < 0 ? err_io(e, "fsync of the directory %s failed", name) : 0;
}
