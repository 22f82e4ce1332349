/*
 * Helper children: whatever may hang on a disk or a mount runs in one of these, with a deadline.
 *
 * A helper is a fork of the monitor without exec, so its function sees the monitor's memory as it
 * was. It reports with messages over a socketpair and ends with one JSON result or an error. At the
 * deadline the helper, its process group and what its programs left behind are killed; what it left is
 * killed, too, when something else killed it. When the
 * monitor dies, a helper goes on until its function looks at helper_is_heard.
 */
#ifndef AGENT_HELPER_H
#define AGENT_HELPER_H

#include <event2/event.h>
#include <jansson.h>

#include "agent/children.h"
#include "common/base/err.h"
#include "proto/msg.h"

struct helper;
struct helper_report; /* the helper's side of the socketpair */

/* In the helper. When nobody listens any more, the message is lost. */
void helper_send(struct helper_report *to, const struct msg *m);
/* In the helper: 0 when the monitor is gone or wants it to stop. To be asked between steps. */
int helper_is_heard(const struct helper_report *to);

/* In the helper: programs that it starts (proc_run) from now on hold its lock with it, as long as they
 * live. When it is killed alone, nobody else works on the host while one of them still does. */
void helper_share_lock(const struct helper_report *to);

struct helper_task {
	const char *what; /* for messages: "build of layout 'raidz2'"; copied */
	/* Runs in the helper; may block. ret_result may stay NULL. */
	int (*run)(struct helper_report *to, void *arg, json_t **ret_result, struct err *e);
	void *arg;
	unsigned deadline_ms;
	int keep_fd; /* the helper has this descriptor, too; 0: none */
	/* File that the helper holds locked (flock) while it lives, waiting for it within the
	 * deadline; NULL: none. So that two helpers never work on the host at once, not even one that
	 * a killed monitor left. */
	const char *lock;
	/* In the monitor: a message that the helper sent; cleared after the call. May be NULL. */
	void (*on_msg)(void *owner, struct msg *m);
	/* In the monitor, once: why NULL means success; result is borrowed and may be NULL. The helper
	 * is freed after the call. */
	void (*on_end)(void *owner, const struct err *why, const json_t *result);
	void *owner;
};
int helper_start(struct event_base *base, struct children *kids, const struct helper_task *task,
	struct helper **ret, struct err *e);
/* Asks it to end (helper_is_heard says 0), by force after `grace_ms`. on_end comes with
 * ERR_CANCELLED unless it had ended by itself. */
void helper_stop(struct helper *h, unsigned grace_ms);
/* Kills it; on_end is not called. NULL is fine. */
void helper_free(struct helper *h);

#endif
