/*
 * Shared memory of processes that ended without removing it: a PostgreSQL that was killed leaves some.
 * System V segments are found by the kernel's own list of who made each, folders of files by the link in
 * the server's data (agent/workload/pg_memory.h).
 */
#ifndef AGENT_SHM_H
#define AGENT_SHM_H

#include <stdint.h>
#include <sys/types.h>

#define SHM_ANY_OWNER ((uid_t)-1)
#define SHM_FOLDER "/dev/shm/arraymark-pg-" /* and six characters more */

/* Removes the segments that process `maker` made, which began at since_s (seconds of the wall clock): none
 * that is older, since numbers of processes come again. owner: of their maker, or SHM_ANY_OWNER. Whoever is
 * attached still keeps them until it ends. Returns how many; what may not be removed stays. */
unsigned shm_remove_of(pid_t maker, uid_t owner, int64_t since_s);
/* Removes the folder that a link leads to: one directly below /dev/shm, named SHM_FOLDER…, of that owner.
 * Returns 1 when there was one. The link stays. */
unsigned shm_remove_folder(const char *link, uid_t owner);
/* All that servers of PostgreSQL left which ran in FOLDER/pg: their postmaster.pid tells who made segments.
 * They must have ended. */
unsigned shm_remove_of_servers(const char *folder, uid_t owner);

#endif
