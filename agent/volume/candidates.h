/* Which of a host's block devices are disks that volumes could stand on. Pure. */
#ifndef AGENT_VOLUME_CANDIDATES_H
#define AGENT_VOLUME_CANDIDATES_H

#include "agent/volume/lsblk.h"
#include "common/measure/inventory.h"

/*
 * Fills ret (zeroed, room for all->n) with name, serial, wwn, model, transport, sizes and rotational;
 * `first_path` gets the kernel name of the SCSI disk behind each (the first path of a multipath
 * disk; borrowed from all). Returns how many.
 * Both paths of a multipath disk are one, under the mapper's name. Two paths without a mapper are
 * one that is in use. A serial number that several disks share is no identity and is dropped.
 */
size_t candidates_find(const struct blockdevs *all, struct inv_disk *ret, const char **first_path);

#endif
