/*
 * The `disk-scan` workload: reads a span of each disk at its outer, middle and inner part, one disk
 * after the other, then all disks at once. It only reads.
 */
#ifndef COMMON_PLAN_WORK_SCAN_H
#define COMMON_PLAN_WORK_SCAN_H

#include "common/plan/plan.h"

#define SCAN_MAX_DISKS 200 /* each is five parts of a trial; their descriptors travel in one message */

struct work_scan {
	int all;              /* every disk of the host */
	struct disk_set disks; /* those that these select, in use or not; n 0 and all 0: the layout's */
	int64_t span;         /* bytes at each place; less where the disk has less than three of them */
	int64_t block_size;   /* bytes, a multiple of 4096 */
};
/* It reads disks that the layout does not stand on. */
int scan_is_of_host(const struct work_scan *s);

#endif
