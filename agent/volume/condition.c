/*
 * What could disturb a trial, and what only the volume's file system tells. Owns nothing beyond a
 * call. Invariant: a program that fails or says something else leaves its fact unknown.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/telemetry/conditions.h"
#include "agent/volume/device.h"
#include "agent/volume/mounts.h"
#include "agent/volume/volume.h"
#include "agent/volume/zpool.h"
#include "agent/volume/zpool_status.h"
#include "common/base/fs.h"
#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/proc.h"

static int is_zfs(const struct volume *v)
{
	return str_equal(v->filesystem, "zfs") || str_equal(v->filesystem, "fuse.zfs");
}

static void found(void *arg, const char *what)
{
	conditions_add_maintenance(arg, what);
}

/* What the pools count of each device. */
static void read_pool_errors(const char *status, struct conditions *c)
{
	struct zpool_leaves leaves = {0};
	struct err ignored;

	if (zpool_status_parse(status, &leaves, &ignored))
		return;
	for (size_t i = 0; i < leaves.n; i++) {
		char *kernel = leaves.v[i].has_errors ? device_kernel_of_leaf(leaves.v[i].name) : NULL;

		if (kernel)
			conditions_add_pool_errors(c, kernel, leaves.v[i].errors);
		free(kernel);
	}
	zpool_leaves_free(&leaves);
}

/* Of all pools: a scrub of another one shares the controller and the CPUs. */
static void read_pools(struct conditions *c)
{
	struct proc_result r;
	struct err ignored;
	int known;

	if (zpool_ask((const char *const[]){"status", NULL}, &r, &ignored)) {
		c->has_maintenance = 0;
		return;
	}
	known = r.exit_status == 0 && zpool_running_parse(buf_str(&r.out), found, c) == 0;
	c->has_maintenance &= known;
	if (known)
		read_pool_errors(buf_str(&r.out), c);
	proc_result_free(&r);
}

/* The dataset that is mounted around the volume's folder; NULL when it cannot be told. */
static char *dataset_of(const struct volume *v)
{
	const struct mount_entry *around;
	struct err ignored;
	struct mounts m;
	char *name;

	if (mounts_read(&m, &ignored))
		return NULL;
	around = mounts_around(&m, v->directory);
	name = around && str_equal(around->type, v->filesystem) && *around->source != '/'
		       ? xstrdup(around->source)
		       : NULL;
	mounts_free(&m);
	return name;
}

static void read_ratio(const struct volume *v, struct conditions *c)
{
	const char *zfs = fs_find_program("zfs");
	char *dataset = zfs ? dataset_of(v) : NULL;
	struct strv argv = {0};
	struct buf out = {0};
	struct err ignored;

	if (!dataset)
		return;
	strv_add(&argv, zfs);
	strv_add_all(&argv,
		(const char *const[]){"get", "-H", "-o", "value", "compressratio", dataset, NULL});
	if (proc_run_ok(&argv, 0, &out, &ignored) == 0)
		c->has_ratio = zfs_ratio_parse(buf_str(&out), &c->ratio_permille) == 0;
	strv_free(&argv);
	buf_free(&out);
	free(dataset);
}

json_t *volume_conditions(struct volume_ctx *ctx, const struct volume *v, unsigned look_ms)
{
	int pools = is_zfs(v) || (ctx->inv && ctx->inv->n_pools > 0);
	struct conditions c;
	json_t *o;

	conditions_read("", &v->disks, &c);
	if (pools)
		read_pools(&c);
	if (is_zfs(v))
		read_ratio(v, &c);
	if (look_ms)
		conditions_look("", &v->disks, look_ms, &c);
	o = conditions_json(&c);
	conditions_clear(&c);
	return o;
}
