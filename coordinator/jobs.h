/*
 * Runs that are not over, and their jobs: between the scheduler (decisions), the store (what is
 * durable), the agents' sessions (messages) and the watchers.
 *
 * A run is in memory while one of its jobs has not ended or somebody looks at it; it is always made
 * from what the store holds, so that a restart sees the same.
 */
#ifndef COORDINATOR_JOBS_H
#define COORDINATOR_JOBS_H

#include "common/plan/plan.h"
#include "coordinator/coordinator.h"
#include "coordinator/facts.h"
#include "coordinator/progress.h"
#include "coordinator/sched/sched.h"

struct host;
struct watcher;

struct job {
	struct run *run;
	struct sched_job *sched;
	char *tag;
	struct bound_disks *disks;
	size_t n_disks;
	uint64_t seen;       /* last record of this attempt whose facts were applied */
	struct record_await awaits; /* what its agent waits to be told about; block 0: nothing */
	int judging;         /* the answer to that is being made */
	uint32_t stop_block; /* nothing behind it is wanted; 0: all blocks are */
	struct progress progress;
	int changed;         /* since its line went to the watchers */
	int64_t shown_ns;    /* when it did */
};
struct run {
	struct run *next;
	struct coordinator *co;
	uint64_t id, seed;
	char *name, *plan_text;
	struct strv sets;
	uint32_t blocks;
	struct plan *plan;   /* never NULL */
	struct job **jobs;
	size_t n_jobs, cap_jobs;
	unsigned busy;       /* store operations of its jobs under way */
	unsigned held;       /* calls that look at it */
	struct watcher *watchers;
	struct event *timer; /* throttles job lines; NULL while nobody watches */
};

struct jobs *jobs_new(struct coordinator *co);
void jobs_free(struct jobs *all);
/* Unfinished runs, from the store; hosts must be loaded. */
int jobs_load(struct coordinator *co, struct err *e);
struct sched *jobs_sched(struct jobs *all);
struct sched_host *jobs_host(struct jobs *all, const char *name);
void jobs_host_remove(struct jobs *all, struct sched_host *h);

/* The run in memory, or loaded from the store. It stays until jobs_release. ERR_NOTFOUND. */
int jobs_hold(struct coordinator *co, uint64_t run, struct run **ret, struct err *e);
void jobs_release(struct run *r);
/* "done", "failed", "cancelled", or "running", "waiting". */
const char *run_state_name(const struct run *r);
int run_is_over(const struct run *r);
/* State of calls.h: waiting, running, cancelling, done, failed, cancelled. */
const char *job_shown_state(const struct job *j);

/* Does whatever is to be done now. Called after facts came in, never from inside a decision. */
void jobs_pump(struct coordinator *co);

/* What agents say. Facts of a durable batch: records first..last of the attempt. */
void jobs_facts(struct host *h, const struct job_key *key, uint64_t first, uint64_t last,
	const struct facts *f);
/* The store took an attempt that it did not know: it is the job's present one. Before its facts. */
void jobs_adopted(struct host *h, const struct job_key *key);
void jobs_accepted(struct host *h, const struct job_key *key);
void jobs_rejected(struct host *h, const struct job_key *key, const struct err *why);

/* What people ask for. done runs when it is durable; e: ERR_WRONG_STATE when nothing can be done. */
int jobs_cancel(struct run *r, const char *why, store_done done, void *arg, struct err *e);
int jobs_resume(struct run *r, store_done done, void *arg, struct err *e);

#endif
