/*
 * The driver for xfs and ext4 on one disk. A file system gets a UUID of ours before it is made, so
 * that what mkfs left half done can be told from other people's data.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/volume/driver.h"
#include "agent/volume/holders.h"
#include "agent/volume/mounts.h"
#include "common/base/fs.h"
#include "common/base/mem.h"

/* nodev and nosuid always: nothing of ours needs either. */
#define MOUNT_OPTIONS "nodev,nosuid"

static int is_for(const struct layout *l)
{
	return l->fs != NULL;
}

static char *new_uuid(void)
{
	unsigned char b[16];
	char hex[33];

	fs_random(b, sizeof(b));
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	fs_hex(b, sizeof(b), hex);
	return xasprintf("%.8s-%.4s-%.4s-%.4s-%s", hex, hex + 8, hex + 12, hex + 16, hex + 20);
}

static void add_xfs(struct strv *argv, const struct fs_stage *fs, const char *uuid)
{
	strv_add_all(argv, (const char *const[]){"mkfs.xfs", "-q", "-K", "-m", NULL});
	strv_addf(argv, "uuid=%s", uuid);
	for (size_t i = 0; i < fs->options.n; i++)
		strv_add(argv, fs->options.v[i]);
}

/* mke2fs takes the last -E only: the plan's are joined to ours, which stand before them. */
static void add_ext4(struct strv *argv, const struct fs_stage *fs, const char *uuid)
{
	struct buf extended = {0};

	buf_adds(&extended, "nodiscard,lazy_itable_init=0,lazy_journal_init=0");
	strv_add_all(argv, (const char *const[]){"mkfs.ext4", "-q", "-U", uuid, NULL});
	for (size_t i = 0; i < fs->options.n; i++) {
		if (!strcmp(fs->options.v[i], "-E") && i + 1 < fs->options.n)
			buf_addf(&extended, ",%s", fs->options.v[++i]);
		else
			strv_add(argv, fs->options.v[i]);
	}
	strv_add(argv, "-E");
	strv_add(argv, extended.data);
	buf_free(&extended);
}

static int make(struct volume_ctx *ctx, const struct fs_stage *fs, const struct stage_disk *disk,
	const char *uuid, struct err *e)
{
	const char *type = fs_type_name(fs->type);
	struct step s;

	step_start(&s, PHASE_BUILD, "make %s on %s", type, disk->device);
	if (fs->type == FS_XFS)
		add_xfs(&s.argv, fs, uuid);
	else
		add_ext4(&s.argv, fs, uuid);
	strv_add(&s.argv, disk->device);
	step_undo(&s, "filesystem", disk->device, type, uuid, NULL);
	s.deadline_ms = STEP_LONG_MS;
	return step_run(ctx, &s, NULL, e);
}

static char *mount_words(const struct fs_stage *fs)
{
	struct buf options = {0};

	buf_adds(&options, MOUNT_OPTIONS);
	for (size_t i = 0; i < fs->mount.n; i++)
		buf_addf(&options, ",%s", fs->mount.v[i]);
	return buf_take(&options);
}

static int do_mount(struct volume_ctx *ctx, enum step_phase phase, const struct volume *v,
	const char *options, struct err *e)
{
	struct step s;

	step_start(&s, phase, "mount %s at %s", v->name, v->mount);
	step_words(&s, "mount", "-t", v->filesystem, "-o", options, "--", v->name, v->mount, NULL);
	step_undo(&s, "mount", v->name, v->mount, NULL);
	return step_run(ctx, &s, NULL, e);
}

static int make_mount_point(struct volume_ctx *ctx, const char *path, struct err *e)
{
	struct step s;

	step_start(&s, PHASE_BUILD, "make the mount point %s", path);
	step_words(&s, "mkdir", "-m", "0755", "--", path, NULL);
	step_undo(&s, "directory", path, NULL);
	return step_run(ctx, &s, NULL, e);
}

static int check(struct volume_ctx *ctx, const struct volume *v, struct err *e)
{
	(void)ctx;
	return volume_check_mount(v, v->name, e);
}

static int finish(struct volume_ctx *ctx, struct volume *v, struct err *e)
{
	if (volume_bench_folder(ctx, v->directory, "", e))
		return -1;
	if (ctx->sink->preview)
		return 0;
	return volume_describe(v, e) || check(ctx, v, e) ? -1 : 0;
}

/* The name is what mountinfo will show: links are resolved by mount. */
static char *mounted_name(struct volume_ctx *ctx, const struct stage_disk *disk)
{
	struct err ignored;
	char *real = NULL;

	if (ctx->sink->preview || fs_realpath(disk->device, &real, &ignored))
		return xstrdup(disk->device);
	return real;
}

static int build_on(struct volume_ctx *ctx, const struct fs_stage *fs,
	const struct stage_disks *disks, struct volume *v, struct err *e)
{
	const struct stage_disk *disk = &disks->v[0];
	char *options = mount_words(fs);
	int status;

	v->name = mounted_name(ctx, disk);
	v->guid = ctx->sink->preview ? xstrdup("<uuid>") : new_uuid();
	v->identity = xasprintf("%s on %s, UUID %s", v->filesystem, v->name, v->guid);
	v->buffered_disks = disks->buffered;
	if (disk->kernel)
		strv_add(&v->disks, disk->kernel);
	status = stage_disks_check(disks, e) || make(ctx, fs, disk, v->guid, e) ||
		 make_mount_point(ctx, v->mount, e) ||
		 do_mount(ctx, PHASE_BUILD, v, options, e) || finish(ctx, v, e);
	free(options);
	return status ? -1 : 0;
}

static int build(struct volume_ctx *ctx, const struct layout *l, struct volume *ret, struct err *e)
{
	struct stage_disks disks = {0};
	char *name = volume_name(ctx);
	int status;

	ret->kind = VOLUME_FILESYSTEM;
	ret->mount = xasprintf("%s/%s", ctx->mount_root, name);
	ret->directory = xasprintf("%s/bench", ret->mount);
	ret->filesystem = xstrdup(fs_type_name(l->fs->type));
	free(name);
	status = volume_make_folder(ctx, ctx->mount_root, "0755", e);
	if (!status)
		status = stage_disks_prepare(ctx, l, &disks, e);
	if (!status && disks.n != 1)
		status = err_set(e, ERR_INPUT, "a file system stands on one disk here, not on %zu",
			disks.n);
	if (!status)
		status = build_on(ctx, l->fs, &disks, ret, e);
	stage_disks_free(&disks);
	return status;
}

/* Copies of the mount in other namespaces go with the folder that they are mounted at; only files that are
 * open there keep the file system then. */
static int make_mount_point_anew(struct volume_ctx *ctx, const char *path, struct err *e)
{
	struct step s;

	step_start(&s, PHASE_CACHE, "remove %s, and copies of its mount in other namespaces", path);
	step_words(&s, "rmdir", "--", path, NULL);
	if (step_run(ctx, &s, NULL, e))
		return -1;
	step_start(&s, PHASE_CACHE, "make the mount point %s again", path);
	step_words(&s, "mkdir", "-m", "0755", "--", path, NULL);
	return step_run(ctx, &s, NULL, e);
}

static int unmount(struct volume_ctx *ctx, const struct volume *v, struct err *e)
{
	struct step s;

	if (volume_sync(ctx, v->mount, e))
		return -1;
	step_start(&s, PHASE_CACHE, "unmount %s", v->mount);
	step_words(&s, "umount", "--", v->mount, NULL);
	s.deadline_ms = STEP_LONG_MS;
	s.retries = BUSY_RETRIES;
	if (step_run(ctx, &s, NULL, e)) {
		holders_explain_mount(v->mount, e);
		return -1;
	}
	if (ctx->sink->preview)
		return 0;
	if (holders_are_there(v->name) && make_mount_point_anew(ctx, v->mount, e))
		return -1;
	return holders_await_none(v->name, e);
}

static int make_cold(struct volume_ctx *ctx, struct volume *v, struct buf *done, struct err *e)
{
	const struct layout *l = &ctx->plan->layouts[v->layout];
	char *options;
	int status;

	if (!ctx->sink->preview && check(ctx, v, e))
		return -1;
	if (unmount(ctx, v, e))
		return -1;
	buf_adds(done, "unmounted and mounted");
	if (volume_drop_caches(ctx, done, e))
		return -1;
	if (!ctx->sink->preview && volume_check_uuid(v->name, v->guid, e))
		return -1;
	options = mount_words(l->fs);
	status = do_mount(ctx, PHASE_CACHE, v, options, e);
	free(options);
	if (status || ctx->sink->preview)
		return status;
	return volume_describe(v, e) || check(ctx, v, e) || volume_check_cold(v, done, e) ? -1 : 0;
}

const struct volume_driver filesystem_driver = {"filesystem", is_for, build, check, make_cold};
