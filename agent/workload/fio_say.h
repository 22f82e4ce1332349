/* What fio says went wrong, with its place: the job, the line of the job file, the file. */
#ifndef AGENT_WORKLOAD_FIO_SAY_H
#define AGENT_WORKLOAD_FIO_SAY_H

#include "agent/workload/fio_status.h"
#include "agent/workload/program.h"

/* The first of the lines, and how many more there are. */
void fio_say_all(const struct strv *lines, struct err *e);
/* 0 when fio ended well; else its own words. job_file: NULL for jobs of a plan. status: NULL when
 * its result is not looked at. */
int fio_say_end(const struct fio_jobs *jobs, const char *job_file, const struct fio_status *status,
	const struct program_end *end, struct err *e);

#endif
