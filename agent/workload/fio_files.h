/* The files of fio's jobs in the volume's folder: what is there, what is not yet. */
#ifndef AGENT_WORKLOAD_FIO_FILES_H
#define AGENT_WORKLOAD_FIO_FILES_H

#include "common/base/err.h"
#include "common/plan/fio_job.h"

/* ERR_INPUT where one of them is there and is no regular file: fio would open it all the same, hang on
 * a FIFO, follow a link. directory: the folder's path, for the message. */
int fio_files_check(const struct fio_jobs *jobs, int dir, const char *directory, struct err *e);
/* Bytes that the folder's files still grow by, once all jobs have written theirs. */
int64_t fio_files_missing(const struct fio_jobs *jobs, int dir);
/* Those that are not there yet, by name, appended. */
void fio_files_absent(const struct fio_jobs *jobs, int dir, struct strv *ret);
/* The job file that makes what jobs want to find there (what they read or overwrite); nothing when
 * all of it is there. */
void fio_files_layout(const struct fio_jobs *jobs, int dir, struct buf *out);

#endif
