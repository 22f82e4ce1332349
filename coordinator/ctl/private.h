/*
 * The user's own private coordinator (and, for runs, agent): started when needed, stopped by the
 * last process that used it. Everything is in one folder, DIR (see target.h):
 *   coordinator/ agent/    their state folders; coordinator.log, agent.log: what they said
 *   scratch/               scratch disks
 *   bench/                 where layouts with `existing` may write
 *   agent.yaml             the policy: nothing but these two folders; written at the first use
 *   users.lock start.lock agent.lock
 */
#ifndef COORDINATOR_CTL_PRIVATE_H
#define COORDINATOR_CTL_PRIVATE_H

#include "common/base/buf.h"
#include "common/base/err.h"

struct private;

/* Makes what is missing, starts the coordinator when none answers, waits until it does. From then
 * on SIGINT, SIGTERM and SIGHUP end nothing by themselves: see private_interrupted. */
int private_open(struct private **ret, struct err *e);
/* Starts the agent of this machine; `token` enrols it and is asked for (with private_host) only
 * when private_needs_token says so: else its certificate is still good, and it has been told where
 * the coordinator listens now. policy: a file of the user's own, or NULL. ERR_BUSY while
 * another process runs it. */
int private_agent_lock(struct private *p, struct err *e);
int private_needs_token(const struct private *p);
int private_agent_join(struct private *p, const char *token, struct err *e);
int private_agent_start(struct private *p, const char *policy, struct err *e);
/* 0 while the agent runs; -1: e says how it ended, with its last words. */
int private_agent_check(struct private *p, struct err *e);
/* After that: starts one that was killed once more, some times in all. 0: e says so; it takes down first
 * what the killed one had built, and the run goes on. -1: e is left as it is, or says why not. */
int private_agent_again(struct private *p, struct err *e);
/* What journals say is built and belongs to no agent that runs, a line each, appended; what a plan keeps is
 * left out. */
void private_left(const struct private *p, struct strv *ret);
/* fn is called by private_close, with a text, where something is left then. */
void private_on_left(struct private *p, void (*fn)(void *arg, const char *text), void *arg);
/* Stops the agent, which takes its volumes down first, and the coordinator when nobody else uses
 * it. NULL is fine. */
void private_close(struct private *p);

/* One of those signals came while nothing else listened to it. */
int private_interrupted(void);

const char *private_host(const struct private *p); /* the agent's name */
const char *private_dir(const struct private *p);

#endif
