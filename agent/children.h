/*
 * Child processes of the monitor: who ended, and with what status.
 *
 * One SIGCHLD event for all of them. The process is a subreaper: what a killed child leaves behind
 * becomes our child, so that it can be found and ended too.
 */
#ifndef AGENT_CHILDREN_H
#define AGENT_CHILDREN_H

#include <event2/event.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/err.h"

struct children;
/* status: as waitpid gives it. The pid is reaped when this is called. */
typedef void (*child_ended)(void *arg, pid_t pid, int status);

int children_new(struct event_base *base, struct children **ret, struct err *e);
void children_free(struct children *c);
void children_add(struct children *c, pid_t pid, child_ended fn, void *arg);
/* The child stays ours and is reaped, but nobody is told any more. */
void children_abandon(struct children *c, pid_t pid);
/* Kills every child that was never added and began at or after `since_ticks` (proc_start_time). */
void children_kill_strays(struct children *c, uint64_t since_ticks);

#endif
