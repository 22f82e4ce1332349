/*
 * A `fio` workload: jobs written in the plan, or a job file of the host with options that take the
 * place of its own.
 */
#ifndef COMMON_PLAN_WORK_FIO_H
#define COMMON_PLAN_WORK_FIO_H

#include "common/plan/fio_job.h"
#include "common/plan/plan.h"
#include "common/plan/workload.h"

#define FIO_PROGRAM "/usr/bin/fio"
#define FIO_OLDEST 3 /* major version: nanoseconds and bins in its output */

struct work_fio {
	char *program;         /* absolute path */
	char *job_file;        /* absolute path on the host; NULL: jobs are in the plan */
	struct fio_jobs jobs;  /* empty with a job file */
	struct fio_job options; /* with a job file: instead of its jobs' own */
	int wrong;             /* said already; only while the plan is read */
};

/* How fio is run; its jobs go in over standard input. Appended. */
void fio_argv(const struct workload *w, const struct plan *p, struct strv *ret);
/* What its options tell; of a job file, what those say that take the place of its own. ret is zeroed. */
void fio_nature(const struct work_fio *f, struct workload_nature *ret);

#endif
