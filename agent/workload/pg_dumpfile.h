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
	char stamp[65];       /* of its files before they were hashed; not of one that was made */
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
/* Still the file (or files) that was hashed; else ERR_INPUT. */
int pg_dumpfile_is_same(const struct pg_dumpfile *f, struct err *e);
void pg_dumpfile_tell(const struct pg_dumpfile *f, struct trial_detail *d);
void pg_dumpfile_close(struct pg_dumpfile *f);

/* A file ("dump", for messages) that the worker's account must be able to read: opened, or an error
 * that says who cannot and how to allow it. */
int pg_input_open(const char *path, const char *what, int *ret_fd, struct err *e);
/* SHA-256 of its contents. */
int pg_input_hash(const char *path, const char *what, char ret[65], struct err *e);
/* What changes when a file, or one in a folder, is written or replaced: of inodes, sizes and times. */
void pg_input_stamp(const char *path, char ret[65]);
int pg_input_is_same(const char *path, const char stamp[65], struct err *e);

#endif
