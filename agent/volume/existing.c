/*
 * The driver for `existing`: a directory that the owner made and the policy names. We write into a
 * folder of our own in it and into nothing else; what it lies on is never exported, never has its
 * caches dropped, and is unmounted only where the policy says remount: true.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/policy/policy_check.h"
#include "agent/volume/below.h"
#include "agent/volume/device.h"
#include "agent/volume/driver.h"
#include "agent/volume/holders.h"
#include "agent/volume/mounts.h"
#include "agent/volume/signatures.h"
#include "common/base/mem.h"

static int is_for(const struct layout *l)
{
	return l->existing != NULL;
}

static int check(struct volume_ctx *ctx, const struct volume *v, struct err *e)
{
	(void)ctx;
	return volume_check_mount(v, NULL, e);
}

/* "am_12_1_ab12cd" -> "arraymark-12-1-ab12cd" */
static char *folder_name(const struct volume_ctx *ctx)
{
	char *name = volume_name(ctx), *folder;

	for (char *p = name; *p; p++)
		if (*p == '_')
			*p = '-';
	folder = xasprintf("arraymark-%s", name + strlen("am-"));
	free(name);
	return folder;
}

static int build(struct volume_ctx *ctx, const struct layout *l, struct volume *ret, struct err *e)
{
	char *name;

	ret->kind = VOLUME_EXISTING;
	if (!ctx->policy)
		return err_set(e, ERR_DENIED, "without a policy no directory may be written to");
	if (policy_check_directory(ctx->policy, l->existing, &ret->mount, &ret->remount, e))
		return -1;
	name = folder_name(ctx);
	ret->name = xstrdup(ret->mount);
	ret->directory = xasprintf("%s/%s", ret->mount, name);
	ret->identity = xasprintf("directory %s", ret->directory);
	free(name);
	if (volume_bench_folder(ctx, ret->directory, "bench", e))
		return -1;
	if (ctx->sink->preview)
		return 0;
	/* So that physical bytes can be told; their other users' count too. */
	return volume_describe(ret, e) || disks_below(ret->directory, &ret->disks, e) ? -1 : 0;
}

static int mount_again(struct volume_ctx *ctx, const struct mount_entry *m, const char *options,
	struct err *e)
{
	struct step s;

	step_start(&s, PHASE_CACHE, "mount %s again", m->point);
	step_words(&s, "mount", "-t", m->type, "-o", options, "--", m->source, m->point, NULL);
	s.deadline_ms = STEP_LONG_MS;
	return step_run(ctx, &s, NULL, e);
}

/* When somebody else has it the owner's directory comes back at once. */
static int await_free(struct volume_ctx *ctx, const struct mount_entry *m, const char *options,
	const char *uuid, struct err *e)
{
	struct err other;

	if (!holders_await_none(m->source, e))
		return 0;
	if (!volume_check_uuid(m->source, uuid, &other))
		(void)mount_again(ctx, m, options, &other);
	return -1;
}

/* The mount that the directory lies on, by its own point; what else is below it is not touched. */
static int remount(struct volume_ctx *ctx, const struct mount_entry *m, struct buf *done,
	struct err *e)
{
	char *options = xasprintf("%s,%s", m->options, m->super_options);
	char *uuid = ctx->sink->preview ? NULL : signatures_uuid(m->source);
	struct step s;
	int status = volume_sync(ctx, m->point, e);

	if (status)
		goto out;
	step_start(&s, PHASE_CACHE, "unmount %s", m->point);
	step_words(&s, "umount", "--", m->point, NULL);
	step_undo(&s, "remount", m->source, m->point, m->type, options, uuid ? uuid : "", NULL);
	s.deadline_ms = STEP_LONG_MS;
	s.retries = BUSY_RETRIES;
	status = step_run(ctx, &s, NULL, e);
	if (status)
		holders_explain_mount(m->point, e);
	if (!status && !ctx->sink->preview)
		status = await_free(ctx, m, options, uuid, e);
	if (!status && !ctx->sink->preview)
		status = volume_check_uuid(m->source, uuid, e);
	if (!status)
		status = mount_again(ctx, m, options, e);
	if (!status)
		buf_addf(done, "%s unmounted and mounted", m->point);
out:
	free(options);
	free(uuid);
	return status;
}

/* A loop device that `mount -o loop` made goes with the mount: there is nothing to mount then. */
static int goes_with_mount(const char *source)
{
	char *kernel = device_kernel_name(source), *path, c = '0';
	FILE *f;

	if (!kernel)
		return 1;
	path = xasprintf("/sys/class/block/%s/loop/autoclear", kernel);
	f = fopen(path, "re");
	if (f) {
		c = (char)fgetc(f);
		fclose(f);
	}
	free(path);
	free(kernel);
	return c == '1';
}

/* Only a whole file system on a block device comes back as it was by mounting it again. One that a process
 * serves would hang on us: that process would be our child, and have the lock of the helper that mounted. */
static int can_remount(const struct mount_entry *m)
{
	return m && strcmp(m->point, "/") && !strcmp(m->root, "/") && !str_starts(m->type, "fuse") &&
	       str_starts(m->source, "/dev/") && !goes_with_mount(m->source);
}

static int make_cold(struct volume_ctx *ctx, struct volume *v, struct buf *done, struct err *e)
{
	const struct mount_entry *around;
	struct mounts m;
	int status = 0, anew = 0;

	if (!v->remount) {
		buf_adds(done, "as it was: an existing directory is left alone");
		return 0;
	}
	if (mounts_read(&m, e))
		return -1;
	around = mounts_around(&m, v->mount);
	if (!can_remount(around))
		buf_adds(done, "as it was: it lies on nothing that could be mounted again as it is");
	else if (geteuid() != 0 && !ctx->sink->preview)
		buf_adds(done, "as it was: mounting takes root");
	else {
		status = remount(ctx, around, done, e);
		anew = !status;
	}
	mounts_free(&m);
	if (status || ctx->sink->preview)
		return status;
	if (volume_describe(v, e) || check(ctx, v, e))
		return -1;
	return anew ? volume_check_cold(v, done, e) : 0;
}

const struct volume_driver existing_driver = {"existing", is_for, build, check, make_cold};
