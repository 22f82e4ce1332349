/*
 * Reading a host: inventory of disks and pools, and what holds a disk. Blocks; runs in helper
 * children with a deadline (lsblk and libblkid touch disks). Reads only.
 */
#ifndef AGENT_VOLUME_INSPECT_H
#define AGENT_VOLUME_INSPECT_H

#include "common/base/err.h"
#include "common/measure/inventory.h"
#include "common/plan/policy.h"

/* Fills everything; `host` and `privileged` are the caller's. policy may be NULL. */
int inspect_host(const struct policy *policy, struct inventory *ret, struct err *e);
/* Which kind of ZFS answers, by capability: fills inv->zfs and capability words. */
int inspect_zfs(struct inventory *inv, struct err *e);
/* Opens O_EXCL, reads signatures (libblkid on disk and partitions, ZFS labels at both ends), holders,
 * mounts, swap, pools. 0: free; ERR_BUSY: in use, with by what; signatures are added to sigs. */
int inspect_disk(const struct inv_disk *d, struct strv *sigs, struct err *e);

#endif
