/*
 * The volume's life as others see it: picks the driver, keeps what all drivers do alike.
 * Invariant: a volume is handed out only after its mount was seen with our own eyes.
 */
#include "agent/volume/driver.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "agent/volume/mounts.h"
#include "agent/volume/signatures.h"
#include "common/base/fs.h"
#include "common/base/mem.h"

static const struct volume_driver *const drivers[] = {
	&zfs_driver, &filesystem_driver, &existing_driver, &none_driver};

static const struct volume_driver *driver_of(enum volume_kind kind)
{
	switch (kind) {
	case VOLUME_POOL:
		return &zfs_driver;
	case VOLUME_FILESYSTEM:
		return &filesystem_driver;
	case VOLUME_EXISTING:
		return &existing_driver;
	case VOLUME_NONE:
		return &none_driver;
	}
	return NULL;
}

void volume_clear(struct volume *v)
{
	free(v->name);
	free(v->mount);
	free(v->directory);
	free(v->guid);
	free(v->identity);
	free(v->filesystem);
	strv_free(&v->disks);
	strv_free(&v->import_dirs);
	strv_free(&v->cache_devices);
	*v = (struct volume){0};
}

char *volume_name(const struct volume_ctx *ctx)
{
	const char *tag = ctx->job_tag && *ctx->job_tag ? ctx->job_tag : "<job>";

	if (!ctx->key.run)
		return xasprintf("am_<run>_%" PRIu32 "_%s", ctx->unit.layout + 1, tag);
	return xasprintf("am_%" PRIu64 "_%" PRIu32 "_%s", ctx->key.run, ctx->unit.layout + 1, tag);
}

int volume_make_folder(struct volume_ctx *ctx, const char *path, const char *mode, struct err *e)
{
	struct stat st;
	struct step s;

	if (stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return 0;
		return err_set(e, ERR_EXISTS, "%s is not a folder", path);
	}
	step_start(&s, PHASE_BUILD, "make the folder %s", path);
	step_words(&s, "mkdir", "-p", "-m", mode, "--", path, NULL);
	step_undo(&s, "directory", path, NULL);
	return step_run(ctx, &s, NULL, e);
}

int volume_give_folder(struct volume_ctx *ctx, const char *path, struct err *e)
{
	struct step s;
	char owner[64];

	if (geteuid() != 0 || (ctx->worker_uid == 0 && ctx->worker_gid == 0))
		return 0;
	snprintf(owner, sizeof(owner), "%u:%u", (unsigned)ctx->worker_uid,
		(unsigned)ctx->worker_gid);
	step_start(&s, PHASE_BUILD, "give %s to the workers' account", path);
	step_words(&s, ctx->self, "give-folder", "--owner", owner, "--", path, NULL);
	return step_run(ctx, &s, NULL, e);
}

int volume_bench_folder(struct volume_ctx *ctx, const char *path, const char *undo_op,
	struct err *e)
{
	struct step s;

	step_start(&s, PHASE_BUILD, "make the folder for the workloads, %s", path);
	step_words(&s, "mkdir", "-m", "0755", "--", path, NULL);
	if (*undo_op)
		step_undo(&s, undo_op, path, NULL);
	return step_run(ctx, &s, NULL, e) ? -1 : volume_give_folder(ctx, path, e);
}

int volume_describe(struct volume *v, struct err *e)
{
	const struct mount_entry *around;
	struct mounts m;
	struct statvfs space;
	struct statfs fs;
	struct stat st;

	if (stat(v->directory, &st) || statfs(v->directory, &fs) || statvfs(v->directory, &space))
		return err_sys(e, "cannot look at %s", v->directory);
	if (mounts_read(&m, e))
		return -1;
	around = mounts_around(&m, v->directory);
	free(v->filesystem);
	v->filesystem = xstrdup(around ? around->type : "unknown");
	mounts_free(&m);
	v->dev = st.st_dev;
	v->fs_type = (uint64_t)fs.f_type;
	v->usable_bytes = (uint64_t)space.f_bavail * space.f_frsize;
	v->syncfs_works = !str_starts(v->filesystem, "fuse");
	return 0;
}

static int stat_error(const struct volume *v, struct err *e)
{
	if (errno == ENOTCONN || errno == ECONNABORTED)
		return err_set(e, ERR_WRONG_STATE,
			"the file system at %s answers no more: the daemon behind it (ZFS over FUSE) "
			"has died; start it again",
			v->mount);
	if (errno == ENOENT)
		return err_set(e, ERR_WRONG_STATE,
			"%s is gone: %s is not mounted any more, and writes would land elsewhere",
			v->directory, v->name);
	return err_sys(e, "cannot look at %s", v->directory);
}

/* What is mounted at the mount point is what we mounted there. */
static int check_source(const struct volume *v, const char *source, struct err *e)
{
	const struct mount_entry *at;
	struct mounts m;
	int status = 0;

	if (mounts_read(&m, e))
		return -1;
	at = mounts_at(&m, v->mount);
	if (!at)
		status = err_set(e, ERR_WRONG_STATE,
			"nothing is mounted at %s any more (%s was): writes would land in the plain "
			"directory under the mount point",
			v->mount, source);
	else if (strcmp(at->source, source) || strcmp(at->type, v->filesystem))
		status = err_set(e, ERR_WRONG_STATE, "at %s, %s (%s) is mounted instead of %s (%s)",
			v->mount, at->source, at->type, source, v->filesystem);
	mounts_free(&m);
	return status;
}

int volume_check_mount(const struct volume *v, const char *source, struct err *e)
{
	struct stat st, parent;
	struct statfs fs;
	char *above;
	int status;

	if (stat(v->mount, &st) || stat(v->directory, &st) || statfs(v->directory, &fs))
		return stat_error(v, e);
	if (source && check_source(v, source, e))
		return -1;
	if ((uint64_t)st.st_dev != v->dev || (uint64_t)fs.f_type != v->fs_type)
		return err_set(e, ERR_WRONG_STATE,
			"%s is on another file system than when it was built (device %" PRIu64
			" type %#" PRIx64 ", was %" PRIu64 " type %#" PRIx64 ")",
			v->directory, (uint64_t)st.st_dev, (uint64_t)fs.f_type, v->dev, v->fs_type);
	if (!source)
		return 0;
	above = xasprintf("%s/..", v->mount);
	status = stat(above, &parent);
	free(above);
	if (status || parent.st_dev == st.st_dev)
		return err_set(e, ERR_WRONG_STATE,
			"%s is part of the file system above it: %s is not mounted there", v->mount,
			source);
	return 0;
}

int volume_check_uuid(const char *device, const char *uuid, struct err *e)
{
	char *now = uuid && *uuid ? signatures_uuid(device) : NULL;
	int same = !uuid || !*uuid || (now && !strcasecmp(now, uuid));

	free(now);
	return same ? 0
		    : err_set(e, ERR_WRONG_STATE,
			      "%s does not carry the file system with UUID %s any more: it is not mounted",
			      device, uuid);
}

int volume_sync(struct volume_ctx *ctx, const char *mount, struct err *e)
{
	struct step s;

	step_start(&s, PHASE_CACHE, "write what is dirty of %s", mount);
	step_words(&s, "sync", "-f", "--", mount, NULL);
	s.deadline_ms = STEP_LONG_MS;
	return step_run(ctx, &s, NULL, e);
}

int volume_drop_caches(struct volume_ctx *ctx, struct buf *done, struct err *e)
{
	struct step s;

	if (geteuid() != 0 && !ctx->sink->preview) {
		buf_adds(done, ", page cache not dropped (that takes root)");
		return 0;
	}
	step_start(&s, PHASE_CACHE, "drop the page cache");
	step_words(&s, "sysctl", "-q", "-w", "vm.drop_caches=1", NULL);
	if (step_run(ctx, &s, NULL, e))
		return -1;
	buf_adds(done, ", page cache dropped");
	return 0;
}

int volume_build(struct volume_ctx *ctx, const struct layout *l, struct volume *ret, struct err *e)
{
	struct volume v = {.layout = ctx->unit.layout};

	for (size_t i = 0; i < ARRAY_LEN(drivers); i++) {
		if (!drivers[i]->is_for(l))
			continue;
		if (drivers[i]->build(ctx, l, &v, e)) {
			volume_clear(&v);
			return err_prefix(e, "layout %s", l->name);
		}
		*ret = v;
		return 0;
	}
	return err_set(e, ERR_INPUT, "layout %s: nothing here builds such a stack", l->name);
}

/* Caches and redundancy hide for a while that a disk has left. */
static int check_disks(const struct volume *v, struct err *e)
{
	for (size_t i = 0; i < v->disks.n && v->kind != VOLUME_EXISTING; i++) {
		char *path = xasprintf("/sys/class/block/%s", v->disks.v[i]);
		int gone = access(path, F_OK) != 0;

		free(path);
		if (gone)
			return err_set(e, ERR_WRONG_STATE,
				"the disk %s under %s is gone: it was pulled, or the kernel gave it up",
				v->disks.v[i], v->mount);
	}
	return 0;
}

int volume_check(struct volume_ctx *ctx, const struct volume *v, struct err *e)
{
	return check_disks(v, e) || driver_of(v->kind)->check(ctx, v, e) ? -1 : 0;
}

int volume_cache_state(struct volume_ctx *ctx, struct volume *v, enum plan_cache cache,
	char **ret_done, struct err *e)
{
	struct buf done = {0};

	if (cache != CACHE_COLD) {
		*ret_done = xstrdup(cache == CACHE_WARM ? "warm: left alone"
						       : "as-is: left alone");
		return 0;
	}
	if (driver_of(v->kind)->make_cold(ctx, v, &done, e)) {
		buf_free(&done);
		return err_prefix(e, "the caches of %s could not be emptied", v->name);
	}
	*ret_done = buf_take(&done);
	if (!str_starts(*ret_done, "as it was")) {
		char *how = *ret_done;

		*ret_done = xasprintf("cold: %s", how);
		free(how);
	}
	return 0;
}
