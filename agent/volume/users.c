/* Users of block devices from /sys/block and /proc. Owns the texts it returns. */
#include "agent/volume/users.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/mem.h"

#define FACTS_MAX 65536 /* of one backstore */

static void add(struct device_users *u, dev_t dev, char *who)
{
	u->v = xgrow(u->v, u->n, &u->cap, sizeof(*u->v));
	u->v[u->n++] = (struct device_user){dev, who};
}

void device_users_free(struct device_users *u)
{
	for (size_t i = 0; i < u->n; i++)
		free(u->v[i].who);
	free(u->v);
	*u = (struct device_users){0};
}

const char *device_users_find(const struct device_users *u, dev_t dev)
{
	for (size_t i = 0; i < u->n; i++)
		if (u->v[i].dev == dev)
			return u->v[i].who;
	return NULL;
}

void device_users_keep(struct device_users *u, const struct device_users *still)
{
	size_t kept = 0;

	for (size_t i = 0; i < u->n; i++) {
		const char *who = device_users_find(still, u->v[i].dev);

		free(u->v[i].who);
		if (who)
			u->v[kept++] = (struct device_user){u->v[i].dev, xstrdup(who)};
	}
	u->n = kept;
}

/* The first line of a small file; "" when there is none. */
static void read_line(const char *path, char *out, size_t size)
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(out, (int)size, f))
		*out = '\0';
	if (f)
		fclose(f);
	out[strcspn(out, "\n")] = '\0';
}

/* ---- loop devices ---- */

/* The kernel tells the number of what a loop device stands on; by name only where it cannot be asked,
 * since a name may mean another thing by now. 0: no block device. */
static dev_t device_below(const char *loop, const char *backing)
{
	char *path = xasprintf("/dev/%s", loop);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct loop_info64 info = {0};
	dev_t dev = 0;
	struct stat st;

	if (fd >= 0 && !ioctl(fd, LOOP_GET_STATUS64, &info))
		dev = (dev_t)info.lo_rdevice;
	else if (str_starts(backing, "/dev/") && !stat(backing, &st) && S_ISBLK(st.st_mode))
		dev = st.st_rdev;
	if (fd >= 0)
		close(fd);
	free(path);
	return dev;
}

void device_users_loops(struct device_users *ret)
{
	DIR *folder = opendir("/sys/block");
	struct dirent *d;

	while (folder && (d = readdir(folder))) {
		char path[320], backing[4096];
		dev_t dev;

		if (!str_starts(d->d_name, "loop"))
			continue;
		snprintf(path, sizeof(path), "/sys/block/%s/loop/backing_file", d->d_name);
		read_line(path, backing, sizeof(backing));
		dev = *backing ? device_below(d->d_name, backing) : 0;
		if (dev)
			add(ret, dev, xasprintf("below the loop device %s", d->d_name));
	}
	if (folder)
		closedir(folder);
}

/* ---- targets ---- */

/* The file that a SCSI target's backstore stands on: said by its path, or among its facts as
 * "… File: /dev/sdb  Size: …". */
static void add_backing(struct device_users *ret, const char *text, const char *who)
{
	const char *from = strstr(text, "File: ");
	struct stat st;
	char *path;

	from = from ? from + strlen("File: ") : text;
	path = xstrndup(from, strcspn(from, " \t\n"));
	if (*path == '/' && !stat(path, &st) && S_ISBLK(st.st_mode))
		add(ret, st.st_rdev, xasprintf("exported to other hosts (%s)", who));
	free(path);
}

void device_users_targets(const char *root, struct device_users *ret)
{
	static const char *const places[] = {"target/core/fileio_*/*/info",
		"target/core/*/*/udev_path", "nvmet/subsystems/*/namespaces/*/device_path"};

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		char *pattern = xasprintf("%s/%s", root, places[i]);
		glob_t found = {0};

		if (glob(pattern, 0, NULL, &found) == 0)
			for (size_t k = 0; k < found.gl_pathc; k++) {
				struct buf text = {0};
				struct err ignored;

				if (!fs_read_file(found.gl_pathv[k], FACTS_MAX, &text, &ignored))
					add_backing(ret, buf_str(&text),
						found.gl_pathv[k] + strlen(root) + 1);
				buf_free(&text);
			}
		globfree(&found);
		free(pattern);
	}
}

/* ---- processes ---- */

/* The link's own mode tells how it is open. What is at its end is not asked anything that could hang:
 * a file system may be dead. 0: no block device. */
static dev_t open_for_writing(int at, const char *name)
{
	struct statx x;
	struct stat st;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) || !(st.st_mode & S_IWUSR) ||
		statx(at, name, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &x) ||
		!S_ISBLK(x.stx_mode))
		return 0;
	return makedev(x.stx_rdev_major, x.stx_rdev_minor);
}

static void add_process(struct device_users *ret, const char *pid)
{
	char path[320], command[64];
	struct dirent *d;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	folder = opendir(path);
	while (folder && (d = readdir(folder))) {
		dev_t dev = d->d_name[0] == '.' ? 0 : open_for_writing(dirfd(folder), d->d_name);

		if (!dev)
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", pid);
		read_line(path, command, sizeof(command));
		add(ret, dev, xasprintf("open for writing in process %s (%s)", pid, command));
	}
	if (folder)
		closedir(folder);
}

void device_users_writers(struct device_users *ret)
{
	DIR *folder = opendir("/proc");
	char self[32];
	struct dirent *d;

	snprintf(self, sizeof(self), "%d", (int)getpid());
	while (folder && (d = readdir(folder)))
		if (d->d_name[strspn(d->d_name, "0123456789")] == '\0' && strcmp(d->d_name, self))
			add_process(ret, d->d_name);
	if (folder)
		closedir(folder);
}
