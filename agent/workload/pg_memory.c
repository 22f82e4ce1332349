/* Folders of shared memory. Owns the one that the data's link names. */
#include "agent/workload/pg_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/shm.h"
#include "common/base/mem.h"

#define SERVERS_LINK "pg_dynshmem" /* where PostgreSQL keeps such files */

/* Whoever is alone in a PID namespace, or is a member of a parallel workload of one who is, has an IPC
 * namespace, too (agent/spawn.c). */
static int has_namespace(void)
{
	return getpid() == 1 || getppid() == 1;
}

const char *pg_memory_type(int is_preview)
{
	int isolated = is_preview ? geteuid() == 0 : has_namespace();

	return isolated ? "sysv" : "mmap";
}

void pg_memory_close(const char *data)
{
	char *link = xasprintf("%s/" SERVERS_LINK, data);

	shm_remove_folder(link, geteuid());
	if (unlink(link) == 0)
		(void)mkdir(link, 0700);
	free(link);
}

void pg_memory_open(const char *data)
{
	char *link = xasprintf("%s/" SERVERS_LINK, data);
	char folder[] = SHM_FOLDER "XXXXXX";

	pg_memory_close(data);
	if (!has_namespace() && mkdtemp(folder) && (rmdir(link) || symlink(folder, link)))
		rmdir(folder); /* the server's files go into its own folder */
	free(link);
}
