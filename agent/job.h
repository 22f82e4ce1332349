/*
 * One job of a run on this host: a state machine over the offer's units. Build, time each workload,
 * take down; what happens becomes records in the ring.
 *
 * Whatever ends a job early (cancel, deadline, the owner, a failure), what was built is taken down,
 * and the stream of records ends with ATTEMPT_END. Only a teardown that fails leaves something: the
 * journal then tells the next one.
 */
#ifndef AGENT_JOB_H
#define AGENT_JOB_H

#include <event2/event.h>

#include "agent/children.h"
#include "agent/host.h"
#include "agent/ring.h"
#include "common/plan/policy.h"
#include "proto/msg.h"
#include "proto/record.h"

enum job_phase {
	JOB_NEW,
	JOB_INSPECT,     /* reads the host afresh */
	JOB_BEFORE,      /* the owner's hook */
	JOB_INPUTS,      /* looks at the workloads' programs and input */
	JOB_AWAIT_UNIT,  /* may the next block begin? */
	JOB_BUILD,
	JOB_REHEARSE,    /* what goes before a trial and is not counted: see job_rehearse.c */
	JOB_CACHE,       /* cache state, and the mount's identity */
	JOB_PREPARE,     /* the worker opens and allocates */
	JOB_AWAIT_TRIAL, /* the start that all hosts share */
	JOB_RUN,
	JOB_ENDING,      /* the worker's result is there, or it was killed: waits for its end */
	JOB_CHECK,       /* the mount's identity again */
	JOB_TEARDOWN,    /* of one layout */
	JOB_CLEAR,       /* of everything that is left */
	JOB_AFTER,       /* the owner's hook */
	JOB_ENDED,
	JOB_PHASE_COUNT
};
const char *job_phase_name(enum job_phase p);
/* The table of the state machine. */
int job_phase_may_follow(enum job_phase from, enum job_phase to);

struct job;
struct job_env {
	struct event_base *base;
	struct children *kids;
	struct ring *ring;
	const struct host *host;
	void (*on_records)(void *owner); /* the ring has something new */
	/* Once. The job may be freed after (not in) the call. dirty: what it built could not be taken
	 * down. */
	void (*on_end)(void *owner, enum attempt_state state, const struct err *why, int dirty);
	void *owner;
};

/* Checks an offer against plan rules, policy and this host. Takes `offer` (zeroed) and `policy` over
 * on success only. inv is borrowed until job_free. epoch: the store's, for the records. */
int job_new(const struct job_env *env, struct msg *offer, struct policy *policy,
	const struct inventory *inv, const char *epoch, struct job **ret, struct err *e);
void job_start(struct job *j);
/* Only after on_end, or when the process ends anyway: kills what runs and leaves the journal. */
void job_free(struct job *j);
const struct job_key *job_key(const struct job *j);

/* The coordinator's answers to AWAIT; others are ignored. */
void job_continue(struct job *j, const struct msg_continue *c);
void job_finish(struct job *j);
/* as: ATTEMPT_CANCELLED, or ATTEMPT_INTERRUPTED when it is to be done again later. */
void job_cancel(struct job *j, enum attempt_state as, const char *reason);

#endif
