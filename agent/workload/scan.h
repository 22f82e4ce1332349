/* Between the files of the scan engine: what is read of each disk, and what came of it. */
#ifndef AGENT_WORKLOAD_SCAN_H
#define AGENT_WORKLOAD_SCAN_H

#include "agent/workload/meter.h"

enum scan_place { SCAN_OUTER, SCAN_MIDDLE, SCAN_INNER, SCAN_TOGETHER, SCAN_PLACES };

struct scan_counts {
	uint64_t ops, bytes, errors;
	int64_t elapsed_ns;
};
struct scan_disk {
	char *name; /* kernel name */
	int fd;     /* read only; -1: it is left out, trouble says why */
	uint64_t size;
	uint64_t at[SCAN_PLACES];
	uint64_t span; /* bytes at each place, whole blocks */
	struct scan_counts of[SCAN_PLACES];
	struct hist alone, together;
	struct meter_lane *lane;
	char *buffer;
	char trouble[200]; /* why it is left out, or the first read that failed; "" */
};
/* Places, span and counts of a disk of that size. -1: too small for one block. */
int scan_disk_divide(struct scan_disk *d, uint64_t span, uint64_t block);
/* Each disk as parts ("disk": all that it was read alone, "disk-outer", …), how the slowest compares,
 * and a table. */
void scan_tell(const struct scan_disk *v, size_t n, struct trial_detail *ret);

#endif
