/* The units (block x layout) of a job in the order in which they are done. Pure. */
#ifndef COORDINATOR_SCHED_UNITS_H
#define COORDINATOR_SCHED_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "common/plan/plan.h"
#include "proto/msg.h"

/* All units of a job on that host, blocks x layouts of them; caller frees. With `builds: once` and
 * `order: as-written` a layout's blocks follow each other, since layouts may share disks; else
 * blocks follow each other, each in its own order (plan_block_order). blocks >= 1. */
struct unit *units_expand(const struct plan *p, uint64_t seed, const char *host, unsigned blocks,
	size_t *ret_n);

#endif
