/*
 * What pg_restore and psql complain about. Their exit status is no verdict: pg_restore goes on after
 * an error and may end with 1 for a harmless one, psql with 0 after many. Pure.
 */
#ifndef AGENT_WORKLOAD_PG_ERRORS_H
#define AGENT_WORKLOAD_PG_ERRORS_H

#include "common/base/proc.h"
#include "common/measure/detail.h"

struct pg_errors {
	unsigned count;   /* errors found, or those that the summary line counts if they are more */
	int is_least;     /* output was cut: there may be more */
	unsigned known_roles; /* those of them that are about a role which is there already */
	int gave_up;      /* it ended in the middle: what follows was not restored */
	char *first;      /* the first error's line, without the program's name; one about a known role
			     only where there is no other; NULL: none */
	int is_full;      /* one of them is about a full volume */
	int misses_role;  /* one of them is about a role that does not exist */
	int misses_locale; /* one of them is about a locale that the host has not */
};

/* program: "pg_restore" or "psql". */
void pg_errors_read(const char *program, const struct proc_result *r, struct pg_errors *ret);
void pg_errors_clear(struct pg_errors *p);
/* The verdict: 0 when there was nothing, or only errors that `allowed` lets pass. */
int pg_errors_check(const struct pg_errors *p, const char *program, int allowed,
	const struct proc_result *r, struct err *e);

#endif
