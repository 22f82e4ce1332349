/*
 * Scratch disks: files in a folder of their own under the policy's scratch directory, as loop
 * devices with direct I/O where this host can, so that they have counters and no page cache of
 * their own; as plain files elsewhere.
 * Invariant: no file or folder is used that was there before.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "agent/volume/driver.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define LOOP_CONTROL "/dev/loop-control"

/* File systems on which fallocate gives real blocks; elsewhere the files stay sparse. The folder
 * may still be missing (in a preview): what is above it tells. */
static int can_preallocate(const char *dir)
{
	static const unsigned long types[] = {
		0xef53 /* ext4 */, 0x58465342 /* xfs */, 0x9123683e /* btrfs */,
		0x01021994 /* tmpfs */, 0x794c7630 /* overlayfs */};
	char *path = xstrdup(dir), *slash;
	struct statfs s;
	int status;

	while ((status = statfs(path, &s)) && (slash = strrchr(path, '/')) && slash != path)
		*slash = '\0';
	free(path);
	for (size_t i = 0; i < ARRAY_LEN(types) && !status; i++)
		if ((unsigned long)s.f_type == types[i])
			return 1;
	return 0;
}

static int read_line(const char *path, char *out, size_t size)
{
	FILE *f = fopen(path, "re");
	int status = f && fgets(out, (int)size, f) ? 0 : -1;

	if (f)
		fclose(f);
	if (!status)
		out[strcspn(out, "\n")] = '\0';
	return status;
}

/* Two files can have one path: in another mount namespace, or under a mount. */
static int loop_stands_on(int fd, const struct stat *file)
{
	struct loop_info64 info;

	return fd >= 0 && !ioctl(fd, LOOP_GET_STATUS64, &info) && info.lo_device == file->st_dev &&
	       info.lo_inode == file->st_ino;
}

static int open_loop(const char *device)
{
	return open(device, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

char *loop_find(const char *file)
{
	DIR *folder = opendir("/sys/block");
	char *found = NULL;
	struct dirent *d;
	struct stat st;
	int known = !stat(file, &st);

	while (known && folder && !found && (d = readdir(folder))) {
		char path[320], backing[4096];
		int fd;

		if (strncmp(d->d_name, "loop", 4))
			continue;
		snprintf(path, sizeof(path), "/sys/block/%s/loop/backing_file", d->d_name);
		if (read_line(path, backing, sizeof(backing)) || strcmp(backing, file))
			continue;
		snprintf(path, sizeof(path), "/dev/%s", d->d_name);
		fd = open_loop(path);
		if (loop_stands_on(fd, &st))
			found = xstrdup(path);
		if (fd >= 0)
			close(fd);
	}
	if (folder)
		closedir(folder);
	return found;
}

static int make_file(struct volume_ctx *ctx, const char *file, int64_t size, int preallocate,
	struct err *e)
{
	struct step s;
	char bytes[32];

	snprintf(bytes, sizeof(bytes), "%lld", (long long)size);
	step_start(&s, PHASE_BUILD, "make the scratch file %s", file);
	if (preallocate)
		step_words(&s, "fallocate", "-l", bytes, "--", file, NULL);
	else
		step_words(&s, "truncate", "-s", bytes, "--", file, NULL);
	step_undo(&s, "file", file, NULL);
	s.deadline_ms = STEP_LONG_MS;
	return step_run(ctx, &s, NULL, e);
}

/* The device's name is what losetup prints. */
static int attach(struct volume_ctx *ctx, const char *file, unsigned number, char **ret,
	struct err *e)
{
	struct buf out = {0};
	struct step s;
	char dry[32], path[320], line[16], *device;

	snprintf(dry, sizeof(dry), "<loop%u>", number);
	step_start(&s, PHASE_BUILD, "attach %s to a loop device", file);
	step_words(&s, "losetup", "--find", "--show", "--direct-io=on", file, NULL);
	step_undo(&s, "loop", file, NULL);
	s.dry_output = dry;
	s.note = "device";
	if (step_run(ctx, &s, &out, e)) {
		buf_free(&out);
		return -1;
	}
	out.data[strcspn(out.data, "\n")] = '\0';
	device = buf_take(&out);
	if (ctx->sink->preview) {
		*ret = device;
		return 0;
	}
	if (str_starts(device, "/dev/loop"))
		snprintf(path, sizeof(path), "/sys/block/%s/loop/dio", device + strlen("/dev/"));
	if (!str_starts(device, "/dev/loop") || read_line(path, line, sizeof(line))) {
		err_set(e, ERR_FAILED, "losetup gave '%s' for %s, which is no loop device", device, file);
		free(device);
		return -1;
	}
	*ret = device;
	return strcmp(line, "1") ? 1 : 0;
}

/* While it is open nobody who detaches loop devices frees its number for another file. */
static int pin_loop(const char *device, const char *file, int *ret, struct err *e)
{
	int fd = open_loop(device);
	struct stat st;

	if (fd < 0 || stat(file, &st)) {
		err_sys(e, "cannot look at %s on %s", file, device);
	} else if (!loop_stands_on(fd, &st)) {
		err_set(e, ERR_WRONG_STATE,
			"%s does not stand on %s any more: somebody else detached it; nothing is written to it",
			device, file);
	} else {
		*ret = fd;
		return 0;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static int add_disk(struct volume_ctx *ctx, const char *dir, const struct layout *l,
	const char *role, unsigned group, int preallocate, struct stage_disks *ret, struct err *e)
{
	unsigned number = (unsigned)ret->n + 1;
	char *file = xasprintf("%s/disk%02u", dir, number), *device = NULL;
	int loops = ctx->inv && ctx->inv->scratch_loop, pin = -1;
	int status = make_file(ctx, file, l->scratch.size, preallocate, e);

	if (!status && loops)
		status = attach(ctx, file, number, &device, e);
	if (status > 0 || (!status && !loops))
		ret->buffered = 1;
	if (status >= 0 && device && !ctx->sink->preview && pin_loop(device, file, &pin, e))
		status = -1;
	if (status >= 0) {
		stage_disks_add(ret, role, group, device ? device : file,
			device && !ctx->sink->preview ? device + strlen("/dev/") : NULL);
		ret->v[ret->n - 1].pin = pin;
	}
	free(device);
	free(file);
	return status < 0 ? -1 : 0;
}

static unsigned set_count(const struct disk_set *s)
{
	unsigned n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->v[i].count;
	return n;
}

struct wanted {
	const char *role;
	unsigned group, count;
};

/* What the layout's stages take, in the order in which scratch disks are handed out. */
static size_t list_wanted(const struct layout *l, struct wanted *v)
{
	const struct pool_stage *p = l->pool;
	size_t n = 0;

	if (l->fs)
		v[n++] = (struct wanted){"fs", 0, set_count(&l->fs->disks)};
	if (!p)
		return n;
	for (size_t i = 0; i < p->n_vdevs; i++)
		v[n++] = (struct wanted){"data", (unsigned)i, set_count(&p->vdevs[i].disks)};
	v[n++] = (struct wanted){"special", 0, set_count(&p->special.disks)};
	v[n++] = (struct wanted){"log", 0, set_count(&p->log.disks)};
	v[n++] = (struct wanted){"cache", 0, set_count(&p->cache)};
	v[n++] = (struct wanted){"spare", 0, set_count(&p->spares)};
	return n;
}

/* Bytes of the files in one folder of scratch disks. */
static uint64_t folder_bytes(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	uint64_t sum = 0;
	struct stat st;

	while (d && (entry = readdir(d)))
		if (!fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
			sum += (uint64_t)st.st_size;
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	return sum;
}

/* What is there already counts: of this job's other layouts, and what earlier plans kept. */
static int check_limit(const struct volume_ctx *ctx, const char *parent, const struct layout *l,
	struct err *e)
{
	char have[UNITS_LEN], need[UNITS_LEN], limit[UNITS_LEN];
	uint64_t most = (uint64_t)ctx->policy->scratch_limit, used = 0;
	uint64_t more = (uint64_t)l->scratch.size * l->scratch.disks;
	DIR *d = opendir(parent);
	struct dirent *entry;

	if (!d)
		return err_sys(e, "cannot read %s", parent);
	while ((entry = readdir(d)))
		if (str_starts(entry->d_name, "am_"))
			used += folder_bytes(dirfd(d), entry->d_name);
	closedir(d);
	if (used <= most && more <= most - used)
		return 0;
	return err_set(e, ERR_DENIED,
		"scratch disks of %s are in %s already and %s more are wanted, the policy's line "
		"'allow.scratch.limit' allows %s: `arraymark-agent volumes` lists what was kept",
		units_size((int64_t)used, have), parent, units_size((int64_t)more, need),
		units_size((int64_t)most, limit));
}

/* Its path without symlinks is what the kernel will name a loop device's file by. As root we make
 * and remove files by name in it, so nobody else may be able to change what a name there means. */
static int find_parent(struct volume_ctx *ctx, const struct layout *l, char **ret, struct err *e)
{
	const char *given = ctx->policy->scratch_directory;
	char *real;

	if (fs_realpath(given, &real, e))
		return err_prefix(e, "the policy's line 'allow.scratch.directory'");
	/* what is used is what was checked: a link on the way that others may turn leads nowhere else */
	if (fs_check_owned_folder(given, e) || fs_check_owned_folder(real, e)) {
		free(real);
		return err_prefix(e, "the policy's line 'allow.scratch.directory'");
	}
	if (check_limit(ctx, real, l, e)) {
		free(real);
		return -1;
	}
	*ret = real;
	return 0;
}

/* The policy's own directory is made too when it is missing, and goes again when it is empty. */
static int make_folder(struct volume_ctx *ctx, const struct layout *l, char **ret_dir,
	struct err *e)
{
	const char *parent = ctx->policy->scratch_directory;
	char *name, *dir, *real = NULL;
	struct step s;

	if (volume_make_folder(ctx, parent, "0700", e))
		return -1;
	if (!ctx->sink->preview && find_parent(ctx, l, &real, e))
		return -1;
	name = volume_name(ctx);
	dir = xasprintf("%s/%s", real ? real : parent, name);
	free(name);
	free(real);
	step_start(&s, PHASE_BUILD, "make the scratch folder %s", dir);
	step_words(&s, "mkdir", "-m", "0700", "--", dir, NULL);
	step_undo(&s, "directory", dir, NULL);
	if (step_run(ctx, &s, NULL, e)) {
		free(dir);
		return -1;
	}
	*ret_dir = dir;
	return 0;
}

int scratch_prepare(struct volume_ctx *ctx, const struct layout *l, struct stage_disks *ret,
	struct err *e)
{
	size_t max = 5 + (l->pool ? l->pool->n_vdevs : 0), n;
	struct wanted *wanted;
	char *dir;
	int preallocate, status = 0;

	if (!ctx->policy || !ctx->policy->scratch_directory)
		return err_set(e, ERR_DENIED,
			"the policy has no line allow.scratch, so scratch disks cannot be made");
	if (make_folder(ctx, l, &dir, e))
		return -1;
	wanted = xcalloc(max, sizeof(*wanted));
	n = list_wanted(l, wanted);
	ret->scratch = 1;
	preallocate = can_preallocate(ctx->policy->scratch_directory);
	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < wanted[i].count && !status; k++)
			status = add_disk(ctx, dir, l, wanted[i].role, wanted[i].group,
				preallocate, ret, e);
	free(dir);
	free(wanted);
	return status;
}
