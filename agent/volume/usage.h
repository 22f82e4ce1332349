/* What holds disks on this host now: mounts, swap, arrays, pools, loop devices, and who else has them
 * open. */
#ifndef AGENT_VOLUME_USAGE_H
#define AGENT_VOLUME_USAGE_H

#include "agent/volume/mounts.h"
#include "agent/volume/users.h"
#include "agent/volume/zpool_status.h"
#include "common/base/buf.h"

struct usage {
	struct mounts mounts;
	struct strv swaps;        /* paths */
	struct strv md_members;   /* kernel names of disks and partitions in arrays, active or not */
	struct zpool_leaves pools; /* devices of imported pools */
	struct device_users loops;   /* what loop devices stand on */
	struct device_users targets; /* what is exported to other hosts */
	struct device_users writers; /* what processes had open for writing */
	int writers_stay;         /* that they still had it a little later was looked at */
	uint64_t hostids[2];      /* ours, as ZFS labels may carry them; 0: unknown */
};

int usage_read(struct usage *ret, struct err *e);
void usage_clear(struct usage *u);
/* Why the disk of that kernel name must not be touched, or NULL when nothing holds it; caller
 * frees. Signatures of what is dormant on it are added to sigs. Opens the disk exclusively; -1 only
 * when that cannot be found out. Where some process has it open for writing it waits for it to end that,
 * up to 1 s, once for all disks. */
int usage_of_disk(struct usage *u, const char *kernel, char **ret_why, struct strv *sigs,
	struct err *e);
/* What the kernel's and ZFS' lists know to hold the device or file, without opening it: a pool that a
 * daemon has imported holds its devices against nobody. NULL: nothing; caller frees. */
char *usage_listed(const struct usage *u, const char *path);
/* Members in /proc/mdstat's text, appended. */
void mdstat_parse(const char *text, struct strv *members);

#endif
