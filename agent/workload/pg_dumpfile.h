/* The dump that a restore takes: looked at, identified, or made. */
#ifndef AGENT_WORKLOAD_PG_DUMPFILE_H
#define AGENT_WORKLOAD_PG_DUMPFILE_H

#include <stdint.h>

#include "agent/workload/pg_cluster.h"

struct pg_dumpfile {
	char *path;           /* as programs open it */
	char *shown;          /* for people */
	enum pg_format format; /* never AUTO */
	uint64_t bytes;       /* of the file, or of all files of the folder */
	char sha256[65];      /* of the contents; of a folder: of its files' names, sizes and contents
				 in the order of their names */
	char *made_by;        /* version of pg_dump, or NULL: not told */
	int fd;               /* of one that was made; -1 */
};

/* Reads all of it once (so it is in memory then, as far as it fits), checks format, hash and version
 * against plan and programs. Errors name the file and what to do. */
int pg_dumpfile_open(struct pg_dumpfile *f, struct pg_cluster *c, struct err *e);
/* Makes one of a database of pgbench's at the plan's scale, outside of the volume, without a name:
 * nothing of it is left whatever happens. The server must run; the database goes again. */
int pg_dumpfile_make(struct pg_dumpfile *f, struct pg_cluster *c, struct err *e);
/* The folder has room for the dump of that scale; else ERR_FULL says how much is missing. */
int pg_dumpfile_room(const struct work_pg *w, const char *folder, struct err *e);
void pg_dumpfile_tell(const struct pg_dumpfile *f, struct trial_detail *d);
void pg_dumpfile_close(struct pg_dumpfile *f);

/* A file ("dump", for messages) that the worker's account must be able to read: opened, or an error that says who cannot and
 * how to allow it. */
int pg_input_open(const char *path, const char *what, int *ret_fd, struct err *e);

#endif
