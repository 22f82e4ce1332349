/*
 * System V shared memory of processes that ended without removing it: a PostgreSQL that was killed
 * leaves some. Segments are found by the kernel's own list of who made each.
 */
#ifndef AGENT_SHM_H
#define AGENT_SHM_H

#include <stdint.h>
#include <sys/types.h>

#define SHM_ANY_OWNER ((uid_t)-1)

/* Removes the segments that process `maker` made, which began at since_s (seconds of the wall clock): none
 * that is older, since numbers of processes come again. owner: of their maker, or SHM_ANY_OWNER. Whoever is
 * attached still keeps them until it ends. Returns how many; what may not be removed stays. */
unsigned shm_remove_of(pid_t maker, uid_t owner, int64_t since_s);
/* The same for servers of PostgreSQL that ran in FOLDER/pg: their postmaster.pid tells which. They must
 * have ended. */
unsigned shm_remove_of_servers(const char *folder, uid_t owner);

#endif
