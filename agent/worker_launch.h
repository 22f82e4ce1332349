/*
 * The monitor's side of one worker process: start, messages, end.
 *
 * The worker runs as arraymark-work (as root), in a PID namespace of its own where the kernel lets
 * us, else in a session of its own with the monitor as its reaper; either way nothing that it
 * started outlives it.
 */
#ifndef AGENT_WORKER_LAUNCH_H
#define AGENT_WORKER_LAUNCH_H

#include <event2/event.h>

#include "agent/children.h"
#include "agent/spawn.h"
#include "common/base/err.h"
#include "proto/msg.h"

struct worker;

struct worker_handler {
	void (*on_msg)(void *owner, struct msg *m);
	/* Once, when it is gone and all it sent was read; the worker is freed after the call. The text
	 * says how it ended ("worker 4711 was killed by signal 9"); code ERR_NONE: by exit 0. words: the
	 * memory of its last words (agent/last_words.h), for the call. */
	void (*on_end)(void *owner, const struct err *how, int words);
	void *owner;
};
/* order: the WORKER_SPEC, taken over (zeroed) on success. disks_fd: the socket that the descriptors of
 * a scan wait in, borrowed; 0: none. */
int worker_start(struct event_base *base, struct children *kids, const struct spawn_user *user,
	struct msg *order, int disks_fd, const struct worker_handler *handler, struct worker **ret,
	struct err *e);
pid_t worker_pid(const struct worker *w);
/* With the pid it identifies the process across reuse. */
uint64_t worker_start_ticks(const struct worker *w);
void worker_send(struct worker *w, const struct msg *m);
/* Kills it and what it started; on_end follows, after some seconds even when the kernel does not let
 * it go. */
void worker_kill(struct worker *w);
/* Gives it `grace_ms` to end by itself, then kills. */
void worker_expect_end(struct worker *w, unsigned grace_ms);
/* Kills; on_end is not called. NULL is fine. */
void worker_free(struct worker *w);

/* Kills a worker that a dead monitor left, when pid and start time still match. 1 when there was
 * one. */
int worker_kill_recorded(pid_t pid, uint64_t start_ticks);

#endif
