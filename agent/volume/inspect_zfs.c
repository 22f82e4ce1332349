/* Which ZFS answers on this host, told by what it can do, and its pools. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/volume/inspect.h"
#include "agent/volume/zpool.h"
#include "agent/volume/zpool_status.h"
#include "common/base/log.h"
#include "common/base/mem.h"

#define FEATURES "/sys/module/zfs/features.pool/"

static int is_ok(const struct proc_result *r)
{
	return r->exit_status == 0;
}

/* "zfs-2.1.11-1" in the first line of `zpool version`. */
static char *name_openzfs(const char *text)
{
	size_t len = strcspn(text, "\n");

	if (!str_starts(text, "zfs-"))
		return xstrdup("OpenZFS");
	return xasprintf("OpenZFS %.*s", (int)(len - 4), text + 4);
}

/* "This system is currently running ZFS pool version 23." */
static char *name_older(const char *text)
{
	const char *at = strstr(text, "pool version ");
	unsigned version;

	if (at && sscanf(at, "pool version %u", &version) == 1)
		return xasprintf("zfs-fuse, pool version %u", version);
	return xstrdup("zfs-fuse");
}

/* OpenZFS has had `zpool version` since 0.8 and its module since ever; what has neither and answers
 * is the port to FUSE. */
static int name_zfs(struct inventory *inv, struct err *e)
{
	struct proc_result version, upgrade;

	if (zpool_ask((const char *const[]){"version", NULL}, &version, e))
		return -1;
	if (zpool_ask((const char *const[]){"upgrade", "-v", NULL}, &upgrade, e)) {
		proc_result_free(&version);
		return -1;
	}
	if (is_ok(&version))
		inv->zfs = name_openzfs(buf_str(&version.out));
	else if (access("/sys/module/zfs/version", F_OK) == 0)
		inv->zfs = xstrdup("OpenZFS before 0.8");
	else
		inv->zfs = name_older(buf_str(&upgrade.out));
	if (access(FEATURES "org.openzfs:draid", F_OK) == 0 ||
		strstr(buf_str(&upgrade.out), "\ndraid"))
		strv_add(&inv->capabilities, "draid");
	if (access(FEATURES "org.zfsonlinux:allocation_classes", F_OK) == 0 ||
		strstr(buf_str(&upgrade.out), "\nallocation_classes"))
		strv_add(&inv->capabilities, "special");
	if (!str_starts(inv->zfs, "zfs-fuse"))
		strv_add(&inv->capabilities, "zfs.syncfs");
	proc_result_free(&version);
	proc_result_free(&upgrade);
	return 0;
}

int inspect_zfs(struct inventory *inv, struct err *e)
{
	const char *const list[] = {"list", "-H", "-o", "name,guid,health,size", NULL};
	struct proc_result r;
	int status = 0;

	if (!zpool_is_installed())
		return 0;
	if (zpool_ask(list, &r, e))
		return -1;
	if (is_ok(&r)) {
		status = name_zfs(inv, e);
		if (!status)
			status = zpool_list_parse(buf_str(&r.out), &inv->pools, &inv->n_pools, e);
	} else {
		log_debug("zfs", "there is a zpool program, but no ZFS answers it: %.*s",
			(int)strcspn(buf_str(&r.err), "\n"), buf_str(&r.err));
	}
	proc_result_free(&r);
	return status;
}
