/* What the files of the scheduler share and nobody else sees. */
#ifndef COORDINATOR_SCHED_INTERNAL_H
#define COORDINATOR_SCHED_INTERNAL_H

#include "coordinator/sched/sched.h"

struct sched {
	struct sched_host *hosts;
	struct sched_host *first_dirty, *last_dirty; /* facts changed since they were looked at */
	void (*moved)(void *arg, struct sched_job *j, enum sched_state from);
	void *moved_arg;
};

/* The one mover of a job's state; asserts that the table allows it. */
void sched_move(struct sched *s, struct sched_job *j, enum sched_state to);
void sched_why(struct sched_job *j, const char *why); /* copied; "" and NULL: none */
void sched_dirty(struct sched *s, struct sched_host *h);
/* 1 when the unit was not complete before. */
int sched_mark_complete(struct sched_job *j, const struct unit *u);
/* Decides what follows from an attempt's end. The job is RUNNING or CANCELLING. */
void sched_end_attempt(struct sched *s, struct sched_job *j, enum attempt_state state,
	const char *why);

#endif
