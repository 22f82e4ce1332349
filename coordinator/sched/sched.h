/*
 * The scheduler: pure decisions. Facts go in through the functions below, actions come out of
 * sched_next; time is a parameter. No I/O, no store, no messages, no plan.
 *
 * Invariants: a host has at most one active job (beginning, offered, running or cancelling); a unit
 * is offered only while it is not complete; every job ends after finitely many attempts, because
 * each attempt either completes a unit or counts towards SCHED_MAX_FRUITLESS.
 *
 * Hosts and jobs belong to the scheduler; `owner` is the caller's and not looked at.
 */
#ifndef COORDINATOR_SCHED_SCHED_H
#define COORDINATOR_SCHED_SCHED_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "proto/msg.h"
#include "proto/record.h"

/* Attempts in a row that may be interrupted without one more complete unit. */
#define SCHED_MAX_FRUITLESS 3
#define SCHED_LOST_FOREVER (-1) /* lost_wait_ns: however long it takes */

enum sched_state {
	SCHED_WAITING,    /* for its host */
	SCHED_BEGINNING,  /* its attempt is being stored */
	SCHED_OFFERED,    /* stored; the agent has not answered yet */
	SCHED_RUNNING,    /* accepted */
	SCHED_CANCELLING, /* the agent takes its volume down */
	SCHED_DONE, SCHED_FAILED, SCHED_CANCELLED,
	SCHED_STATE_COUNT
};
const char *sched_state_name(enum sched_state s);
int sched_state_is_final(enum sched_state s);
int sched_state_is_active(enum sched_state s);

struct sched;
struct sched_host;

struct sched_job {
	struct sched_job *next; /* of the same host, oldest first */
	struct sched_host *host;
	struct job_key key;     /* attempt: the last one begun, 0: none */
	enum sched_state state;
	struct unit *units;     /* all, in the order to do them */
	unsigned char *complete; /* beside units */
	size_t n_units, n_complete;
	unsigned failures;      /* fruitless attempts in a row */
	unsigned progress;      /* units completed in this attempt */
	int stop_on_failure;    /* a failed attempt is not repeated */
	int64_t lost_wait_ns;   /* how long a running job outlives its host's absence */
	int cancel_begun;       /* cancelled while its attempt was being stored */
	int offered;            /* the agent may have heard of this attempt */
	int sent;               /* the offer went out on the host's present connection */
	int accepted_here;      /* accepted on the present connection */
	int confirmed;          /* since it was accepted, a status or a record named it */
	int cancel_sent;        /* on the present connection */
	int tell_interrupt, tell_end; /* actions still to be handed out */
	char *why;              /* last reason of failing, cancelling or waiting; NULL */
	char *done_why;         /* becomes why when every unit is complete; NULL */
	void *owner;
};

struct sched_host {
	struct sched_host *next;
	char *name;
	int online, paused;
	int told;   /* a status came on this connection */
	int hold;   /* refused as busy: nothing is offered until the next status or inventory */
	enum agent_state agent;
	struct job_key key; /* what the agent says it has; run 0: nothing */
	struct job_key cancel_sent; /* a job that is not current, already told so */
	uint32_t unsent;
	int64_t lost_ns; /* since when it is not online */
	int dirty;
	struct sched_host *next_dirty;
	struct sched_job *jobs;
};

enum sched_action_type {
	SCHED_BEGIN,     /* store the attempt job->key, then sched_begun */
	SCHED_OFFER,     /* send job->key with the units that are not complete */
	SCHED_INTERRUPT, /* store that the attempt `key` was interrupted */
	SCHED_CANCEL,    /* tell the host to drop `key` */
	SCHED_END        /* store that the job is `job->state`, because of job->why */
};
struct sched_action {
	enum sched_action_type type;
	struct sched_host *host;
	struct sched_job *job; /* NULL for SCHED_CANCEL of a job that is not ours */
	struct job_key key;
	char why[ERR_TEXT_MAX];
};

/* moved: called after each change of a job's state; may be NULL. */
struct sched *sched_new(void (*moved)(void *arg, struct sched_job *j, enum sched_state from),
	void *arg);
void sched_free(struct sched *s);

struct sched_host *sched_host_get(struct sched *s, const char *name); /* makes it when new */
/* The host must have no jobs. */
void sched_host_remove(struct sched *s, struct sched_host *h);
unsigned sched_host_waiting(const struct sched_host *h);
struct sched_job *sched_host_active(const struct sched_host *h);

/* A job in state WAITING. Takes units over (n_units > 0). Jobs of a host run in the order of key.run,
 * key.job. */
struct sched_job *sched_job_add(struct sched *s, struct sched_host *h, const struct job_key *key,
	struct unit *units, size_t n_units, void *owner);
/* Only finished or waiting jobs; frees it. */
void sched_job_remove(struct sched *s, struct sched_job *j);
/* A unit that is complete in the store already. */
void sched_job_complete(struct sched_job *j, const struct unit *u);
/* Units of that block that are complete. */
size_t sched_job_complete_in(const struct sched_job *j, uint32_t block);
/* Nothing behind that block is wanted any more; what is complete stays. */
void sched_job_stop_after(struct sched_job *j, uint32_t block);
/* What a job that is done says of itself. Copied; NULL: nothing. */
void sched_job_done_why(struct sched_job *j, const char *why);
/* Puts a loaded job where it was: an attempt that runs, or one that ended before the job could be
 * moved (same decision as sched_attempt_ended). */
void sched_job_load_running(struct sched *s, struct sched_job *j, unsigned progress);
void sched_job_load_ended(struct sched *s, struct sched_job *j, enum attempt_state state,
	unsigned progress);
void sched_job_load_final(struct sched_job *j, enum sched_state state);
/* The units to offer, in order, at most max. */
size_t sched_job_missing(const struct sched_job *j, struct unit *out, size_t max);

/* ---- facts ---- */
void sched_host_online(struct sched *s, struct sched_host *h, int64_t now_ns);
void sched_host_offline(struct sched *s, struct sched_host *h, int64_t now_ns);
void sched_host_paused(struct sched *s, struct sched_host *h, int paused);
void sched_host_status(struct sched *s, struct sched_host *h, const struct msg_agent_status *st);
void sched_host_inventory(struct sched *s, struct sched_host *h);
/* Time passed: hosts whose absence may have become too long are looked at again. */
void sched_tick(struct sched *s);

/* The attempt is durable; or could not be stored. */
void sched_begun(struct sched *s, struct sched_job *j);
void sched_begin_failed(struct sched *s, struct sched_job *j, const char *why);
/* What a host's agent or its records say about one of its jobs. A key that is not the job's present
 * attempt is ignored (0 is returned; 1 when it was taken). */
int sched_accepted(struct sched *s, struct sched_host *h, const struct job_key *key);
int sched_rejected(struct sched *s, struct sched_host *h, const struct job_key *key,
	const struct err *why);
int sched_recorded(struct sched *s, struct sched_host *h, const struct job_key *key);
int sched_unit_complete(struct sched *s, struct sched_host *h, const struct job_key *key,
	const struct unit *u);
int sched_attempt_ended(struct sched *s, struct sched_host *h, const struct job_key *key,
	enum attempt_state state, const char *why);

/* The store has taken an attempt of this host that it did not know, newer than the job's last one:
 * the job goes on with it, and whatever else the host was thought to do is interrupted. A cancelled
 * job stays so. 0: no such job, or it can't. */
int sched_adopted(struct sched *s, struct sched_host *h, const struct job_key *key);

/* What people ask for. -1 and ERR_WRONG_STATE when the job has ended / has not ended. The caller
 * has stored (or stores) the new state itself. */
int sched_cancel(struct sched *s, struct sched_job *j, const char *why, struct err *e);
int sched_resume(struct sched *s, struct sched_job *j, struct err *e);

/* The next thing to do: 1 and the action, 0 when there is nothing (until new facts come). */
int sched_next(struct sched *s, int64_t now_ns, struct sched_action *ret);

#endif
