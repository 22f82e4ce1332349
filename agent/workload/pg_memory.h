/*
 * Dynamic shared memory of a server that nothing frees when it is killed. Where a worker has an IPC
 * namespace of its own, the kernel does. Elsewhere the server keeps it in files, whose folder lies in
 * memory and is named by a link in its data: whoever takes the data down finds it there
 * (agent/shm.h).
 */
#ifndef AGENT_WORKLOAD_PG_MEMORY_H
#define AGENT_WORKLOAD_PG_MEMORY_H

/* The value of dynamic_shared_memory_type. is_preview: for a worker that is to be started. */
const char *pg_memory_type(int is_preview);
/* Before a server starts on `data`: makes the folder, if it needs one, and frees what a killed one left.
 * Where there is no room in memory its files lie in its data. */
void pg_memory_open(const char *data);
/* After its end. */
void pg_memory_close(const char *data);

#endif
