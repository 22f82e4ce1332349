/*
 * Long-lived programs of PostgreSQL workloads (the server, pgbench): direct children of the worker
 * that die with it, and a log that takes what they say.
 */
#ifndef AGENT_WORKLOAD_PG_PROCESS_H
#define AGENT_WORKLOAD_PG_PROCESS_H

#include <sys/types.h>

#include "agent/last_words.h"
#include "common/base/buf.h"
#include "common/base/err.h"

/* Keeps the first 8 KiB and the last 24 KiB of what is written to it, in memory: a volume that is
 * full, slow or gone does not hold it up, and it disturbs no volume. */
struct pg_log;
/* ret_fd: the writing end, close-on-exec; the caller closes it once the program has its copy. words:
 * what was written so far is left there, too; borrowed until pg_log_free; may be NULL. */
int pg_log_open(struct last_words *words, struct pg_log **ret, int *ret_fd, struct err *e);
/* Waits up to half a second for the last writer's end, then stops reading. The text: NUL-terminated,
 * owned by the log. Safe to call twice. */
const char *pg_log_end(struct pg_log *l);
/* What was written so far, appended. */
void pg_log_peek(struct pg_log *l, struct buf *out);
void pg_log_free(struct pg_log *l); /* NULL is fine */

/* Starts argv in a process group of its own, stdin closed, stdout and stderr to `out`; it is killed
 * when the calling thread ends. gate: a descriptor that must deliver one byte before the program
 * begins; -1: at once. */
int pg_spawn(const struct strv *argv, int out, int gate, pid_t *ret, struct err *e);
/* The path of our descriptor for other processes; NULL: e says why. Caller frees. */
char *pg_fd_path(int fd, struct err *e);
/* Waits for its end: 1 and the status of waitpid, 0 when `ms` were not enough. */
int pg_wait(pid_t pid, int ms, int *ret_status);

#endif
