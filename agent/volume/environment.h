/*
 * What changes a measurement without being part of the plan, as /sys tells: links, schedulers and
 * caches of disks, the CPUs' governor, parameters of ZFS. root: "" or the folder that holds sys.
 */
#ifndef AGENT_VOLUME_ENVIRONMENT_H
#define AGENT_VOLUME_ENVIRONMENT_H

#include "common/measure/inventory.h"

/* Fills link_speed, scheduler, write_cache and zoned of the disk with that kernel name; NULL where it
 * is not told. */
void environment_of_disk(const char *root, const char *kernel, struct inv_disk *d);
/* Fills governor and zfs_parameters. */
void environment_of_host(const char *root, struct inventory *inv);

#endif
