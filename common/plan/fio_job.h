/*
 * Jobs of fio: from a job file's text or from a plan to a list of checked jobs, and from there to
 * the text that fio gets. fio never sees what people wrote: it gets what was understood.
 *
 * Invariant: after fio_jobs_check found nothing wrong, each job has its own full list of allowed
 * options (aliases resolved, the last of a name counts, [global] merged in), and all it writes lies
 * in the folder that fio runs in.
 */
#ifndef COMMON_PLAN_FIO_JOB_H
#define COMMON_PLAN_FIO_JOB_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/err.h"

#define FIO_MAX_JOBS 64
#define FIO_MAX_OPTIONS 128            /* of one job */
#define FIO_MAX_JOB_FILE (64 * 1024)   /* bytes */

struct fio_option {
	char *name;  /* canonical */
	char *value; /* NULL: a flag that stands alone */
	int line;    /* of the job file; 0: of a plan */
};
struct fio_job {
	char *name;
	int line;
	struct fio_option *v;
	size_t n, cap;
};
struct fio_jobs {
	struct fio_job global; /* what later jobs begin with; name NULL */
	struct fio_job *v;
	size_t n, cap;
};
void fio_job_clear(struct fio_job *j);
void fio_jobs_clear(struct fio_jobs *j);

/* A new job that begins with the global options; NULL: there are too many. */
struct fio_job *fio_jobs_add(struct fio_jobs *jobs, const char *name, int line);
/* Sets an option, in the place of one of that name. ERR_DENIED, ERR_INPUT: see fio_option_check. */
int fio_job_set(struct fio_job *j, const char *name, const char *value, int line, struct err *e);
const struct fio_option *fio_job_get(const struct fio_job *j, const char *name);
/* For fio, a section whose name begins so, in small letters, is not a job. */
#define FIO_GLOBAL "global"
int fio_job_name_check(const char *name, struct err *e);

/* Gets what is wrong: a job (NULL: all), an option of it by its canonical name (NULL: none). */
typedef void fio_complaint(void *arg, const struct fio_job *j, const char *option, const char *text);
/* What spans options and jobs: sizes, names that are there twice, memory. 0: nothing is wrong. */
int fio_jobs_check(const struct fio_jobs *jobs, fio_complaint *say, void *arg);

/* Reads a job file. `instead` (may be NULL): options that take the place of each job's own. Every
 * wrong line is one "name:line: …" in errs (which the caller frees); e gets the first. Also checks
 * what spans options. */
int fio_jobs_parse(const char *name, const char *text, size_t len, const struct fio_job *instead,
	struct fio_jobs *ret, struct strv *errs, struct err *e);
/* Sets each of those options in all jobs. */
void fio_jobs_override(struct fio_jobs *jobs, const struct fio_job *instead);

/* The figures of a job. */
struct fio_sums {
	unsigned threads; /* numjobs */
	int reads, writes, syncs; /* syncs: what it writes is on the disks when it ends */
	int compressible;
	int64_t file_bytes;       /* all its files together, when they are whole */
	int64_t ramp_ns, time_ns; /* time_ns: time_based and for how long; 0: as long as it takes */
	int64_t read_bytes, write_bytes; /* moved; 0 when time_ns is set */
};
void fio_job_sums(const struct fio_job *j, struct fio_sums *ret);
/* It reads or writes over files that are there before it runs. */
int fio_job_finds_files(const struct fio_job *j);
/* It waits for all before it. */
int fio_job_is_stage(const struct fio_job *j);
/* ns after the start of all jobs before which it does not begin; 0: none. */
int64_t fio_job_delay(const struct fio_job *j);
/* The job before it whose end it waits for; NULL: none. */
const struct fio_job *fio_job_waits_for(const struct fio_jobs *jobs, const struct fio_job *j);
struct fio_time {
	int64_t ran_ns; /* in which at least one job ran, ramps left out */
	int64_t end_ns; /* of the last job, from the start of all: pauses and ramps are in it */
};
/* took_ns: how long each job ran (0: not yet), ramps left out. */
void fio_jobs_time(const struct fio_jobs *jobs, const int64_t *took_ns, struct fio_time *ret);
/* The files' common name: "filename", or the job's own. */
const char *fio_job_files(const struct fio_job *j);

/* Each job runs that long, whatever it says itself. */
void fio_jobs_set_duration(struct fio_jobs *jobs, int64_t duration_ns);
/* How fio gets its jobs: as they are; only to lay files out; or so that it leaves the page cache
 * alone, which it empties of a job's files unless the job says `invalidate` itself. */
enum fio_write { FIO_WRITE_RUN, FIO_WRITE_LAYOUT, FIO_WRITE_WARM };
/* The job file for fio, run in the volume's folder. */
void fio_jobs_write(const struct fio_jobs *jobs, enum fio_write how, struct buf *out);

#endif
