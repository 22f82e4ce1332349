/* Disks that are known to use shingled recording managed by the drive itself (DM-SMR). */
#ifndef COMMON_MEASURE_SMR_H
#define COMMON_MEASURE_SMR_H

/* The vendor whose own list names the model, or NULL for one that is on none of them. A drive of no
 * list may still be one: vendors did not always say. */
const char *smr_vendor(const char *model);

#endif
