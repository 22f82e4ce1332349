/*
 * Watchers: WATCH calls that follow a run. Lines are made once for all of a run's watchers. Job
 * lines are throttled; a watcher that does not read loses job lines first, and is cut when it lags
 * by WATCH_BACKLOG bytes.
 */
#ifndef COORDINATOR_WATCH_H
#define COORDINATOR_WATCH_H

#include "coordinator/call.h"
#include "coordinator/jobs.h"

#define WATCH_INTERVAL_MS 250
#define WATCH_BACKLOG (4 * 1024 * 1024)

/* The run's line and a line per job go out at once. The run is held until the watcher ends. */
void watch_add(struct run *r, struct call *c);
/* Takes the line over. */
void watch_event(struct run *r, json_t *line);
/* The job's line goes out now, or when its time has come. */
void watch_job(struct job *j);
/* The run is over: last lines, then the watchers' calls end. */
void watch_over(struct run *r);
/* Last resort at the daemon's end. */
void watch_free(struct run *r);

#endif
