/* A host's system, kernel, processors, memory and what volumes it can make besides ZFS. */
#ifndef AGENT_VOLUME_INSPECT_SYSTEM_H
#define AGENT_VOLUME_INSPECT_SYSTEM_H

#include "common/measure/inventory.h"

/* Fills os, kernel, arch, cpu, cpus, ram_bytes, agent_version, scratch_loop and the capabilities
 * "xfs" and "ext4". What is unknown stays NULL or 0. */
void inspect_system(struct inventory *inv);

#endif
