/* What the options of a mount, as the kernel lists them, say of caches and syncs. Pure. */
#ifndef COORDINATOR_RESULTS_MOUNT_OPTIONS_H
#define COORDINATOR_RESULTS_MOUNT_OPTIONS_H

/* Those of the list that decide when data reaches the disks, in their order, each once; "the defaults"
 * when there is none. Caller frees. */
char *mount_cache_options(const char *options);
/* A sync does not wait for the disks' caches. */
int mount_has_no_barrier(const char *options);
/* Whether blocks of files are written over where they are; -1: the options do not tell, as those of a
 * network's or a stacked file system. Not for ZFS, whose mounts list nothing of their own. */
int mount_writes_in_place(const char *options);

#endif
