/* Bringing to the disks what somebody else wrote below a folder. */
#ifndef AGENT_WORKLOAD_SYNC_TREE_H
#define AGENT_WORKLOAD_SYNC_TREE_H

#include "common/base/err.h"

/* syncfs where it works, else an fsync of each file and folder below dir (of dev alone, no symlinks
 * followed). name: of the folder, for messages. */
int sync_tree(int dir, unsigned long dev, int syncfs_works, const char *name, struct err *e);

#endif
