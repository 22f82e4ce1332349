/* Looking at the files of fio's jobs. Owns nothing. */
#include "agent/workload/fio_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/workload/file_kind.h"
#include "common/base/mem.h"
#include "common/plan/fio_option.h"

/* Stops at an answer that is not 0. */
typedef int each_name(void *arg, const char *name);

/* The files as fio names them: by "filename", or NAME.thread.file for each. */
static int over_names(const struct fio_job *j, unsigned threads, each_name *each, void *arg)
{
	const struct fio_option *files = fio_job_get(j, "nrfiles");
	long n = files && files->value ? strtol(files->value, NULL, 10) : 1;
	int rc = 0;

	if (fio_job_get(j, "filename"))
		return each(arg, fio_job_files(j));
	for (unsigned t = 0; t < threads && !rc; t++)
		for (long k = 0; k < n && !rc; k++) {
			char *name = xasprintf("%s.%u.%ld", j->name, t, k);

			rc = each(arg, name);
			free(name);
		}
	return rc;
}

struct adding {
	int dir;
	int64_t bytes;
};

static int add_size(void *arg, const char *name)
{
	struct adding *a = arg;
	struct stat st;

	if (!fstatat(a->dir, name, &st, AT_SYMLINK_NOFOLLOW))
		a->bytes += st.st_size;
	return 0;
}

static int64_t bytes_there(const struct fio_job *j, int dir, unsigned threads)
{
	struct adding a = {dir, 0};

	over_names(j, threads, add_size, &a);
	return a.bytes;
}

struct checking {
	int dir;
	const char *directory;
	struct err *e;
};

static int check_name(void *arg, const char *name)
{
	struct checking *c = arg;

	return file_kind_check(c->dir, name, c->directory, c->e);
}

int fio_files_check(const struct fio_jobs *jobs, int dir, const char *directory, struct err *e)
{
	struct checking c = {dir, directory, e};

	for (size_t i = 0; i < jobs->n; i++) {
		struct fio_sums s;

		fio_job_sums(&jobs->v[i], &s);
		if (over_names(&jobs->v[i], s.threads, check_name, &c))
			return err_prefix(e, "fio's job '%s'", jobs->v[i].name);
	}
	return 0;
}

struct finding {
	int dir;
	struct strv *absent;
};

static int add_absent(void *arg, const char *name)
{
	struct finding *f = arg;
	struct stat st;

	if (fstatat(f->dir, name, &st, AT_SYMLINK_NOFOLLOW) && !strv_has(f->absent, name))
		strv_add(f->absent, name);
	return 0;
}

void fio_files_absent(const struct fio_jobs *jobs, int dir, struct strv *ret)
{
	struct finding f = {dir, ret};

	for (size_t i = 0; i < jobs->n; i++) {
		struct fio_sums s;

		fio_job_sums(&jobs->v[i], &s);
		over_names(&jobs->v[i], s.threads, add_absent, &f);
	}
}

int64_t fio_files_missing(const struct fio_jobs *jobs, int dir)
{
	int64_t sum = 0;

	for (size_t i = 0; i < jobs->n; i++) {
		struct fio_sums s;
		int64_t more;

		fio_job_sums(&jobs->v[i], &s);
		more = s.file_bytes - bytes_there(&jobs->v[i], dir, s.threads);
		if (more > 0 && __builtin_add_overflow(sum, more, &sum))
			return INT64_MAX;
	}
	return sum;
}

void fio_files_layout(const struct fio_jobs *jobs, int dir, struct buf *out)
{
	struct fio_jobs some = {0};

	for (size_t i = 0; i < jobs->n; i++) {
		const struct fio_job *j = &jobs->v[i];
		struct fio_sums s;

		fio_job_sums(j, &s);
		if (!fio_job_finds_files(j) || bytes_there(j, dir, s.threads) >= s.file_bytes)
			continue;
		some.v = xgrow(some.v, some.n, &some.cap, sizeof(*some.v));
		some.v[some.n++] = *j; /* borrowed */
	}
	if (some.n)
		fio_jobs_write(&some, FIO_WRITE_LAYOUT, out);
	free(some.v);
}
