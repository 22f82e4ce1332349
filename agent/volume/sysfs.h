/* Where a disk hangs, as sysfs tells: adapter, enclosure, slot, and its names when udev has none. */
#ifndef AGENT_VOLUME_SYSFS_H
#define AGENT_VOLUME_SYSFS_H

#include "common/measure/inventory.h"

/* Fills controller, controller_path, enclosure and slot of the disk with that kernel name. */
void sysfs_place(const char *kernel, struct inv_disk *d);
/* Serial number and WWN as the device itself gives them; NULL when it gives none. Caller frees. */
char *sysfs_serial(const char *kernel);
char *sysfs_wwn(const char *kernel);
/* A stable link under /dev/disk/by-id to the device, the most telling kind first; "/dev/sdc" when
 * there is none. Caller frees. */
char *sysfs_stable_path(const char *kernel);

#endif
