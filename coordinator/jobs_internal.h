/* What jobs.c (memory, facts), jobs_act.c (actions) and jobs_people.c (cancel, resume) share. */
#ifndef COORDINATOR_JOBS_INTERNAL_H
#define COORDINATOR_JOBS_INTERNAL_H

#include "coordinator/jobs.h"

struct jobs {
	struct coordinator *co;
	struct sched *sched;
	struct run *runs;
	struct event *tick;
	int pumping, again;
};

struct run *jobs_run_find(struct coordinator *co, uint64_t id); /* in memory, or NULL */
struct job *run_job_find(struct run *r, uint64_t job);
/* A store operation on behalf of a run; end: frees and logs e. Both keep run->busy. */
struct job_op {
	struct coordinator *co;
	uint64_t run, job;
	const char *what; /* static: for the log */
	uint32_t block;   /* for an operation that is about one */
};
struct job_op *job_op_begin(struct run *r, uint64_t job, const char *what);
/* store_done for operations that need nothing after them. */
void job_op_done(void *arg, const struct err *e);
/* Counts the operation out; returns the run (NULL when it is gone). Frees the op. */
struct run *job_op_end(struct job_op *op, const struct err *e);

/* Carries one action out. */
void jobs_act(struct coordinator *co, const struct sched_action *a);

#endif
