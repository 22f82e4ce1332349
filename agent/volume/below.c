/* From a path to its devices, by the mounts and what zpool says. Holds nothing. */
#include "agent/volume/below.h"

#include <stdlib.h>
#include <string.h>

#include "agent/volume/device.h"
#include "agent/volume/mounts.h"
#include "agent/volume/zpool.h"
#include "agent/volume/zpool_status.h"
#include "common/base/mem.h"

/* A dataset has no device of its own: the disks of its pool. None where zpool does not tell. */
static void find_pool_disks(const char *dataset, struct strv *ret)
{
	char *pool = xstrndup(dataset, strcspn(dataset, "/"));
	struct zpool_leaves leaves = {0};
	struct proc_result r;
	struct err ignored;

	if (!zpool_is_installed() ||
		zpool_ask((const char *const[]){"status", pool, NULL}, &r, &ignored)) {
		free(pool);
		return;
	}
	if (r.exit_status == 0)
		zpool_status_parse(buf_str(&r.out), &leaves, &ignored);
	for (size_t i = 0; i < leaves.n; i++) {
		char *kernel = device_kernel_of_leaf(leaves.v[i].name);

		if (kernel && !strv_has(ret, kernel))
			strv_add(ret, kernel);
		free(kernel);
	}
	zpool_leaves_free(&leaves);
	proc_result_free(&r);
	free(pool);
}

int disks_below(const char *path, struct strv *ret, struct err *e)
{
	const struct mount_entry *around;
	struct mounts m;
	char *kernel;

	if (mounts_read(&m, e))
		return -1;
	around = mounts_around(&m, path);
	kernel = around ? device_kernel_name(around->source) : NULL;
	if (kernel && !strv_has(ret, kernel))
		strv_add(ret, kernel);
	else if (around && (!strcmp(around->type, "zfs") || !strcmp(around->type, "fuse.zfs")))
		find_pool_disks(around->source, ret);
	free(kernel);
	mounts_free(&m);
	return 0;
}
