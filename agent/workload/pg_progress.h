/*
 * Live progress of a program that moves a dump: a thread looks at what it moved so far and counts the
 * difference into a lane, so that samples show a rate. What it counts adds up to the size that is
 * known at the end.
 */
#ifndef AGENT_WORKLOAD_PG_PROGRESS_H
#define AGENT_WORKLOAD_PG_PROGRESS_H

#include <pthread.h>
#include <stdint.h>

#include "agent/workload/meter.h"

struct pg_progress {
	struct meter_lane *lane;
	uint64_t (*moved)(void *arg); /* bytes since the beginning */
	void *arg;
	int64_t interval_ns;
	uint64_t limit;   /* never more than that is counted; 0: not known before the end */
	uint64_t counted;
	int wake_fd;
	pthread_t thread;
	int started;
};

int pg_progress_start(struct pg_progress *p, struct err *e);
/* Ends the thread and counts what is missing to `total`. */
void pg_progress_end(struct pg_progress *p, uint64_t total);

/* Bytes that the children of this process with that name, and theirs, read from (write: wrote to)
 * files by the kernel's own account; 0 where it keeps none. */
uint64_t pg_children_moved(const char *program, int write);
/* The same of all children that ended and were waited for: it only grows. */
uint64_t pg_ended_moved(int write);

#endif
