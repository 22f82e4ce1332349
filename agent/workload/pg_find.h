/* The PostgreSQL that the host's system has installed. */
#ifndef AGENT_WORKLOAD_PG_FIND_H
#define AGENT_WORKLOAD_PG_FIND_H

#include "common/base/buf.h"
#include "common/base/err.h"

struct pg_programs {
	char *bin;     /* absolute folder of initdb, postgres, psql, … */
	char *version; /* "15.18", "18beta1" */
	unsigned major; /* 15; 906 for 9.6 */
};

/* The newest, or the newest of version `version` ("15", "15.18"; NULL: any). ERR_NOTFOUND says what is
 * there and what to install. */
int pg_find(const char *version, struct pg_programs *ret, struct err *e);
/* The same among the folders that the glob patterns (NULL-terminated) match. */
int pg_find_in(const char *const *patterns, const char *version, struct pg_programs *ret,
	struct err *e);
void pg_programs_clear(struct pg_programs *p);
/* argv[0]: BIN/name; ERR_NOTFOUND names the program and what brings it. */
int pg_program(const struct pg_programs *p, const char *name, struct strv *argv, struct err *e);

/* "15.18" -> 15, "9.6.24" -> 906, "18beta1" -> 18; 0: no version. */
unsigned pg_major(const char *version);

#endif
