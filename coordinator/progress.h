/*
 * Where a job is: kept from its facts, shown as JSON lines (job and event of calls.h). Indices of a
 * peer are checked against the plan when a line is made, never used raw.
 */
#ifndef COORDINATOR_PROGRESS_H
#define COORDINATOR_PROGRESS_H

#include <jansson.h>

#include "coordinator/facts.h"

struct job;

enum progress_phase { PROGRESS_NONE, PROGRESS_START, PROGRESS_BUILD, PROGRESS_CACHE,
	PROGRESS_WORKLOAD, PROGRESS_TEARDOWN, PROGRESS_PHASE_COUNT };

struct progress {
	enum progress_phase phase; /* NONE: nothing runs */
	struct unit unit;          /* block 0: no unit yet */
	uint32_t position, workload, repeat, trial; /* trial 0: none runs */
	char *what;
	uint64_t bytes, planned_bytes;
	int64_t trial_ns;          /* since the trial's start, by its last sample */
	double rate, ops_rate;
	/* Monotonic, for the time left; 0: unknown. */
	int64_t began_ns, unit_began_ns, last_end_ns;
	unsigned ended;            /* units that ended since began_ns */
};
void progress_clear(struct progress *p);

/* Takes a fact in. */
void progress_apply(struct job *j, const struct fact *f, int64_t now_ns);
/* The event line of a fact, or NULL when it has none. */
json_t *progress_event(const struct job *j, const struct fact *f);
/* The event line of what the coordinator itself has to say about a job. */
json_t *progress_said(const struct job *j, const char *event, const char *text);
/* The job's line. */
json_t *progress_job(const struct job *j, int64_t now_ns);
/* The event line of a job's new state. */
json_t *progress_moved(const struct job *j);

#endif
