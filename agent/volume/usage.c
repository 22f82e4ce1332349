/*
 * Who holds a disk. Owns copies of the kernel's lists as they were when they were read.
 * Invariant: whatever could not be looked at counts as in use.
 */
#include "agent/volume/usage.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "agent/volume/device.h"
#include "agent/volume/holders.h"
#include "agent/volume/reservation.h"
#include "agent/volume/signatures.h"
#include "agent/volume/zpool.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define PROC_MAX (4 * 1024 * 1024)
#define WRITER_LOOKS 5
#define WRITER_LOOK_NS (200 * NS_PER_MS)

void mdstat_parse(const char *text, struct strv *members)
{
	char *copy = xstrdup(text), *rest = copy, *line;

	while ((line = strsep(&rest, "\n"))) {
		char *at = line, *word = strsep(&at, " ");

		if (!str_starts(word, "md") || !at || !str_starts(at, ": "))
			continue;
		while ((word = strsep(&at, " "))) {
			char *bracket = strchr(word, '[');

			if (!bracket || bracket == word || !isdigit((unsigned char)bracket[1]))
				continue;
			*bracket = '\0';
			strv_add(members, word);
		}
	}
	free(copy);
}

static int read_mdstat(struct strv *members, struct err *e)
{
	struct buf text = {0};

	if (fs_read_file("/proc/mdstat", PROC_MAX, &text, e))
		return e->code == ERR_NOTFOUND ? 0 : -1;
	mdstat_parse(buf_str(&text), members);
	buf_free(&text);
	return 0;
}

/* A head line, then a path in the first column. */
static int read_swaps(struct strv *ret, struct err *e)
{
	struct buf text = {0};
	char *rest, *line;

	if (fs_read_file("/proc/swaps", PROC_MAX, &text, e))
		return e->code == ERR_NOTFOUND ? 0 : -1;
	rest = text.data;
	while ((line = strsep(&rest, "\n")))
		if (*line == '/')
			strv_add(ret, strsep(&line, " \t"));
	buf_free(&text);
	return 0;
}

/* No zpool, or no ZFS that runs, is no pools; O_EXCL still tells what the kernel has. */
static int read_pools(struct zpool_leaves *ret, struct err *e)
{
	struct proc_result r;
	int status = 0;

	if (!zpool_is_installed())
		return 0;
	if (zpool_ask((const char *const[]){"status", "-P", NULL}, &r, e))
		return -1;
	if (r.exit_status == 2) { /* an older one knows no -P */
		proc_result_free(&r);
		if (zpool_ask((const char *const[]){"status", NULL}, &r, e))
			return -1;
	}
	if (r.exit_status == 0)
		status = zpool_status_parse(buf_str(&r.out), ret, e);
	proc_result_free(&r);
	return status;
}

static void read_hostids(uint64_t out[2])
{
	FILE *f = fopen("/sys/module/spl/parameters/spl_hostid", "re");

	out[0] = (uint64_t)gethostid() & 0xffffffff;
	out[1] = 0;
	if (!f)
		return;
	if (fscanf(f, "%" SCNu64, &out[1]) != 1)
		out[1] = 0;
	fclose(f);
}

int usage_read(struct usage *ret, struct err *e)
{
	struct usage u = {0};

	if (mounts_read(&u.mounts, e) || read_swaps(&u.swaps, e) ||
		read_mdstat(&u.md_members, e) || read_pools(&u.pools, e)) {
		usage_clear(&u);
		return err_prefix(e, "cannot find out what holds the disks");
	}
	device_users_loops(&u.loops);
	device_users_targets("/sys/kernel/config", &u.targets);
	device_users_writers(&u.writers);
	read_hostids(u.hostids);
	*ret = u;
	return 0;
}

void usage_clear(struct usage *u)
{
	mounts_free(&u->mounts);
	strv_free(&u->swaps);
	strv_free(&u->md_members);
	zpool_leaves_free(&u->pools);
	device_users_free(&u->loops);
	device_users_free(&u->targets);
	device_users_free(&u->writers);
}

/* "held by dm-0 (vg-home)" for the first holder of a disk or partition. */
static char *find_holder(const char *kernel)
{
	char path[512], name[128] = "";
	char *why = NULL;
	struct dirent *d;
	DIR *folder;

	snprintf(path, sizeof(path), "/sys/class/block/%s/holders", kernel);
	folder = opendir(path);
	while (folder && !why && (d = readdir(folder))) {
		FILE *f;

		if (d->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/sys/class/block/%.200s/dm/name", d->d_name);
		f = fopen(path, "re");
		if (f && fgets(name, sizeof(name), f))
			name[strcspn(name, "\n")] = '\0';
		if (f)
			fclose(f);
		why = *name ? xasprintf("held by %s (%s)", d->d_name, name)
			    : xasprintf("held by %s", d->d_name);
	}
	if (folder)
		closedir(folder);
	return why;
}

static int device_number(const char *path, dev_t *ret)
{
	struct stat st;

	if (path[0] != '/' || stat(path, &st) || !S_ISBLK(st.st_mode))
		return -1;
	*ret = st.st_rdev;
	return 0;
}

static char *find_mount(const struct usage *u, dev_t dev)
{
	for (size_t i = 0; i < u->mounts.n; i++) {
		const struct mount_entry *m = &u->mounts.v[i];
		dev_t source;

		/* btrfs and others show a number of their own: there the source tells. */
		if (m->dev == dev || (str_starts(m->source, "/dev/") &&
					     !device_number(m->source, &source) && source == dev))
			return xasprintf("mounted at %s", m->point);
	}
	for (size_t i = 0; i < u->swaps.n; i++) {
		dev_t swap;

		if (!device_number(u->swaps.v[i], &swap) && swap == dev)
			return xstrdup("swap space");
	}
	return NULL;
}

static char *find_pool(const struct usage *u, const char *path)
{
	struct device_key ours, leaf;

	if (device_key_of(path, &ours))
		return NULL;
	for (size_t i = 0; i < u->pools.n; i++)
		if (!device_key_of_leaf(u->pools.v[i].name, &leaf) && device_key_equal(&ours, &leaf))
			return xasprintf("in the imported pool %s", u->pools.v[i].pool);
	return NULL;
}

/* By the kernel's lists, for a disk or a partition. */
static char *find_listed(const struct usage *u, const char *kernel)
{
	char *path = xasprintf("/dev/%s", kernel), *why = find_holder(kernel);
	dev_t dev;

	if (!why && !device_number(path, &dev)) {
		why = find_mount(u, dev);
		if (!why)
			why = xstrdup(device_users_find(&u->loops, dev));
	}
	if (!why && strv_has(&u->md_members, kernel))
		why = xstrdup("in an md array");
	if (!why)
		why = find_pool(u, path);
	free(path);
	return why;
}

/* For a whole disk: it and its partitions. */
static char *find_listed_below(const struct usage *u, const char *kernel)
{
	struct strv parts = {0};
	char *why = find_listed(u, kernel);

	device_partitions(kernel, &parts);
	for (size_t i = 0; i < parts.n && !why; i++)
		why = find_listed(u, parts.v[i]);
	strv_free(&parts);
	return why;
}

char *usage_listed(const struct usage *u, const char *path)
{
	char *kernel = device_kernel_name(path);
	char *why = kernel ? find_listed_below(u, kernel) : find_pool(u, path);

	free(kernel);
	return why;
}

/* A label that says ACTIVE and carries another host's id: imported over there, on a shared shelf. */
static char *find_foreign_pool(const struct usage *u, const struct zfs_label labels[ZFS_LABELS])
{
	for (int i = 0; i < ZFS_LABELS; i++) {
		const struct zfs_label *l = &labels[i];

		if (!l->valid || l->state != ZFS_ACTIVE || !*l->name || !l->hostid ||
			l->hostid == u->hostids[0] || l->hostid == u->hostids[1])
			continue;
		return xasprintf("its ZFS label says that pool %s is imported on host %s (hostid "
				 "%08" PRIx64 ")",
			l->name, *l->hostname ? l->hostname : "?", l->hostid);
	}
	return NULL;
}

/* Programs that watch disks open them for a moment: only who still has one a little later is in our
 * way. */
static void await_writers(struct usage *u)
{
	struct timespec pause = {0, WRITER_LOOK_NS};

	for (int looks = 0; u->writers.n && looks < WRITER_LOOKS; looks++) {
		struct device_users now = {0};

		nanosleep(&pause, NULL);
		device_users_writers(&now);
		device_users_keep(&u->writers, &now);
		device_users_free(&now);
	}
	u->writers_stay = 1;
}

static char *find_writer(struct usage *u, dev_t dev)
{
	if (!u->writers_stay && device_users_find(&u->writers, dev))
		await_writers(u);
	return xstrdup(device_users_find(&u->writers, dev));
}

/* Who claims the device, as far as that can be told. Caller frees. */
static char *say_claimed(const char *path)
{
	dev_t dev;
	char *who = device_number(path, &dev) ? NULL : holders_of_device(dev), *why;

	why = xasprintf("opened exclusively by somebody else%s%s", who ? ": " : "", who ? who : "");
	free(who);
	return why;
}

static int look_at(struct usage *u, const char *kernel, int whole, char **ret_why,
	struct strv *sigs, struct err *e)
{
	struct zfs_label labels[ZFS_LABELS] = {0};
	char *path = xasprintf("/dev/%s", kernel);
	int fd = open(path, O_RDONLY | O_EXCL | O_CLOEXEC), status = 0;
	struct stat st;

	if (fd < 0) {
		*ret_why = errno == EBUSY ? say_claimed(path)
					  : xasprintf("it cannot be opened: %s", strerror(errno));
	} else if (signatures_of_fd(fd, path, sigs, labels, e)) {
		*ret_why = xasprintf("it cannot be read: %s", e->text);
	} else {
		*ret_why = find_foreign_pool(u, labels);
		if (!*ret_why && !fstat(fd, &st))
			*ret_why = xstrdup(device_users_find(&u->targets, st.st_rdev));
		if (!*ret_why && !fstat(fd, &st))
			*ret_why = find_writer(u, st.st_rdev);
		if (!*ret_why && whole)
			*ret_why = reservation_find(fd);
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return status;
}

int usage_of_disk(struct usage *u, const char *kernel, char **ret_why, struct strv *sigs,
	struct err *e)
{
	struct strv parts = {0};
	char *why;
	int status = 0;

	device_partitions(kernel, &parts);
	why = find_listed_below(u, kernel);
	/* What is in use is not read: a disk behind a hung array would hang us too. */
	if (!why)
		status = look_at(u, kernel, 1, &why, sigs, e);
	for (size_t i = 0; i < parts.n && !why && !status; i++)
		status = look_at(u, parts.v[i], 0, &why, sigs, e);
	strv_free(&parts);
	if (!status)
		*ret_why = why;
	else
		free(why);
	return status;
}
