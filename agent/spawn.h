/* What every child of the monitor has in common: signals, descriptors, users, own programs. */
#ifndef AGENT_SPAWN_H
#define AGENT_SPAWN_H

#include <sys/types.h>

#include "common/base/err.h"

/* In a child, after fork: default handlers, nothing blocked. */
void spawn_reset_signals(void);
/* In a child: closes all descriptors above 2 but `keep`. */
void spawn_close_others(int keep);
/* The same but for both; `also` may be -1. */
void spawn_close_but(int keep, int also);

#define SPAWN_GROUPS_MAX 1024

/* Whom a process runs as. drop 0: as we do. */
struct spawn_user {
	int drop;
	uid_t uid;
	gid_t gid;
};
/* The account `name`; ERR_NOTFOUND with the remedy. Without root: ourselves, drop 0. */
int spawn_user_find(const char *name, struct spawn_user *ret, struct err *e);

/* In a child without threads, whose rights are then those of the user, as a worker has them: files that
 * are opened and programs that are started meanwhile. Without `drop` nothing changes. -1: nothing has
 * changed. Programs cannot take the rights back. */
struct spawn_lent {
	int is_lent, n_groups;
	gid_t gid, groups[SPAWN_GROUPS_MAX];
};
int spawn_lend(const struct spawn_user *u, struct spawn_lent *ret, struct err *e);
/* Ends the process where that fails. */
void spawn_take_back(const struct spawn_lent *l);

#define SPAWN_PASSED_FD 4
#define SPAWN_SHARED_FD 5

struct spawn_order {
	const char *verb;     /* "link", "worker" */
	struct spawn_user user;
	const char *folder;   /* to start in, entered before rights are dropped; NULL: "/" */
	int pass_fd;   /* stays open in the child as SPAWN_PASSED_FD; 0: none */
	int shared_fd; /* and this one as SPAWN_SHARED_FD */
	int new_pid_namespace; /* where possible; without it the child is in a session of its own */
};
/* Starts this program again as `arraymark-agent VERB --fd 3` with one end of a socketpair. The child
 * dies with us. ret_isolated (may be NULL): 1 when it got its own PID namespace. */
int spawn_self(const struct spawn_order *o, pid_t *ret_pid, int *ret_fd, int *ret_isolated,
	struct err *e);

#endif
