/*
 * Answers to agents that ask before a block whether it is wanted: `trials: {until: T}`.
 *
 * An agent runs the plan's minimum unasked; before each unit after that it records an AWAIT and waits
 * for Continue or Finish. Blocks are judged as a whole, by what is stored, in a reader's thread
 * (QUERY_PRECISION). That a job stops is stored before its agent hears of it, and what an agent waits
 * for is stored with its records: whoever is killed in between, the answer comes when both are back.
 */
#ifndef COORDINATOR_UNTIL_H
#define COORDINATOR_UNTIL_H

#include "coordinator/jobs.h"

/* What the store knew of it when the job was loaded; its units are complete where they are. */
void until_load(struct job *j, const struct stored_job *row);
/* A fact of the job's present attempt, before it is shown. */
void until_fact(struct job *j, const struct fact *f);
/* The agent of that host is back: what its job waits for is answered (again). */
void until_again(struct host *h);

#endif
