/* Lists of jobs and options, and the text for fio. Owns the strings of both. */
#include "common/plan/fio_job.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/fio_option.h"
#include "common/plan/read.h"

#define JOB_NAME_MAX 64

void fio_job_clear(struct fio_job *j)
{
	for (size_t i = 0; i < j->n; i++) {
		free(j->v[i].name);
		free(j->v[i].value);
	}
	free(j->v);
	free(j->name);
	*j = (struct fio_job){0};
}

void fio_jobs_clear(struct fio_jobs *j)
{
	for (size_t i = 0; i < j->n; i++)
		fio_job_clear(&j->v[i]);
	fio_job_clear(&j->global);
	free(j->v);
	*j = (struct fio_jobs){0};
}

static struct fio_option *find(const struct fio_job *j, const char *name)
{
	for (size_t i = 0; i < j->n; i++)
		if (strcmp(j->v[i].name, name) == 0)
			return &j->v[i];
	return NULL;
}

const struct fio_option *fio_job_get(const struct fio_job *j, const char *name)
{
	return find(j, name);
}

static void put(struct fio_job *j, const char *name, const char *value, int line)
{
	struct fio_option *o = find(j, name);

	if (!o) {
		j->v = xgrow(j->v, j->n, &j->cap, sizeof(*j->v));
		o = &j->v[j->n++];
		*o = (struct fio_option){.name = xstrdup(name)};
	}
	free(o->value);
	o->value = xstrdup(value);
	o->line = line;
}

struct fio_job *fio_jobs_add(struct fio_jobs *jobs, const char *name, int line)
{
	struct fio_job *j;

	if (jobs->n == FIO_MAX_JOBS)
		return NULL;
	jobs->v = xgrow(jobs->v, jobs->n, &jobs->cap, sizeof(*jobs->v));
	j = &jobs->v[jobs->n++];
	*j = (struct fio_job){.name = xstrdup(name), .line = line};
	for (size_t i = 0; i < jobs->global.n; i++)
		put(j, jobs->global.v[i].name, jobs->global.v[i].value, jobs->global.v[i].line);
	return j;
}

int fio_job_set(struct fio_job *j, const char *name, const char *value, int line, struct err *e)
{
	const struct fio_row *row;

	if (fio_option_check(name, value, e))
		return -1;
	row = fio_option_find(name);
	if (row->kind == FIO_IGNORED)
		return 0;
	if (j->n == FIO_MAX_OPTIONS && !find(j, row->name))
		return err_set(e, ERR_INPUT, "a job takes at most %d options", FIO_MAX_OPTIONS);
	put(j, row->name, value, line);
	return 0;
}

int fio_job_name_check(const char *name, struct err *e)
{
	static const char chars[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
	char text[SHOWN_LEN];

	if (str_starts(name, FIO_GLOBAL))
		return err_set(e, ERR_INPUT,
			"'%s' is not a job's name: fio takes what begins with '" FIO_GLOBAL
			"' for options of all jobs",
			shown(name, text));
	if (*name && *name != '.' && *name != '-' && strlen(name) <= JOB_NAME_MAX &&
		strspn(name, chars) == strlen(name))
		return 0;
	return err_set(e, ERR_INPUT,
		"'%s' is not a job's name: files are called by it, so use letters, digits, '.', '_', "
		"'+', '-', not starting with '.' or '-', at most %d bytes",
		shown(name, text), JOB_NAME_MAX);
}

static int is_on(const struct fio_job *j, const char *name)
{
	const struct fio_option *o = fio_job_get(j, name);

	return o && !str_equal(o->value, "0") && !str_equal(o->value, "none");
}

static int64_t int_of(const struct fio_job *j, const char *name, int64_t dflt)
{
	const struct fio_option *o = fio_job_get(j, name);
	int64_t v;
	struct err ignored;

	return o && o->value && !units_parse_int(o->value, 0, INT64_MAX, &v, &ignored) ? v : dflt;
}

/* The larger end of a range, or the size. */
static int64_t size_of(const struct fio_job *j, const char *name, int64_t dflt)
{
	const struct fio_option *o = fio_job_get(j, name);
	const char *dash = o && o->value ? strchr(o->value, '-') : NULL;
	int64_t v;

	return o && o->value && !fio_parse_size(dash ? dash + 1 : o->value, &v) ? v : dflt;
}

static int64_t time_of(const struct fio_job *j, const char *name)
{
	const struct fio_option *o = fio_job_get(j, name);
	int64_t v;

	return o && o->value && !fio_parse_time(o->value, NS_PER_S, &v) ? v : 0;
}

static int64_t times(int64_t a, int64_t b)
{
	int64_t v;

	return __builtin_mul_overflow(a, b, &v) ? INT64_MAX : v;
}

static int64_t plus(int64_t a, int64_t b)
{
	int64_t v;

	return __builtin_add_overflow(a, b, &v) ? INT64_MAX : v;
}

int fio_job_finds_files(const struct fio_job *j)
{
	const struct fio_option *engine = fio_job_get(j, "ioengine");
	struct fio_sums s;

	if (engine && str_equal(engine->value, "filecreate"))
		return 0;
	fio_job_sums(j, &s);
	return s.reads || is_on(j, "overwrite");
}

int fio_job_is_stage(const struct fio_job *j)
{
	return is_on(j, "stonewall");
}

const char *fio_job_files(const struct fio_job *j)
{
	const struct fio_option *o = fio_job_get(j, "filename");

	return o ? o->value : j->name;
}

/* One thread's files. */
static int64_t thread_bytes(const struct fio_job *j)
{
	int64_t size = size_of(j, "size", 0);

	if (!size)
		size = times(size_of(j, "filesize", 0),
			fio_job_get(j, "filename") ? 1 : int_of(j, "nrfiles", 1));
	return plus(size, size_of(j, "offset", 0));
}

static void move_sums(const struct fio_job *j, struct fio_sums *s)
{
	int64_t bytes = size_of(j, "io_size", size_of(j, "size", s->file_bytes / s->threads));
	int64_t share = int_of(j, "rwmixread", 100 - int_of(j, "rwmixwrite", 50));

	bytes = times(times(bytes, s->threads), int_of(j, "loops", 1));
	if (!s->writes)
		share = 100;
	if (!s->reads)
		share = 0;
	if (share > 100)
		share = 100;
	s->read_bytes = (int64_t)((double)bytes * (double)share / 100);
	s->write_bytes = bytes - s->read_bytes;
}

void fio_job_sums(const struct fio_job *j, struct fio_sums *ret)
{
	const struct fio_option *rw = fio_job_get(j, "rw");
	const char *how = rw && rw->value ? rw->value : "read";
	struct fio_sums s = {.threads = (unsigned)int_of(j, "numjobs", 1)};
	int mixed = str_starts(how, "rw") || str_starts(how, "randrw") || str_starts(how, "readwrite");

	s.writes = mixed || str_starts(how, "write") || str_starts(how, "randwrite");
	s.reads = mixed || !s.writes;
	s.syncs = is_on(j, "end_fsync") || is_on(j, "fsync") || is_on(j, "fdatasync") ||
		  is_on(j, "sync") || is_on(j, "fsync_on_close");
	s.compressible = is_on(j, "zero_buffers") || is_on(j, "buffer_compress_percentage") ||
			 is_on(j, "buffer_pattern") || is_on(j, "dedupe_percentage");
	s.file_bytes = thread_bytes(j);
	if (fio_job_get(j, "filename"))
		s.file_bytes = plus(s.file_bytes,
			times(size_of(j, "offset_increment", 0), (int64_t)s.threads - 1));
	else
		s.file_bytes = plus(times(s.file_bytes, s.threads),
			times(size_of(j, "offset_increment", 0), times(s.threads, s.threads)));
	s.ramp_ns = time_of(j, "ramp_time");
	s.time_ns = is_on(j, "time_based") ? time_of(j, "runtime") : 0;
	if (!s.time_ns)
		move_sums(j, &s);
	*ret = s;
}

void fio_jobs_override(struct fio_jobs *jobs, const struct fio_job *instead)
{
	for (size_t i = 0; i < jobs->n; i++)
		for (size_t k = 0; k < instead->n; k++)
			put(&jobs->v[i], instead->v[k].name, instead->v[k].value, 0);
}

void fio_jobs_set_duration(struct fio_jobs *jobs, int64_t duration_ns)
{
	char *ms = xasprintf("%lldms", (long long)(duration_ns / NS_PER_MS));

	for (size_t i = 0; duration_ns && i < jobs->n; i++) {
		put(&jobs->v[i], "runtime", ms, 0);
		put(&jobs->v[i], "time_based", "1", 0);
	}
	free(ms);
}

/* Each job reports as a group of its own: one entry for all its clones. A stonewall begins one by
 * itself. */
void fio_jobs_write(const struct fio_jobs *jobs, enum fio_write how, struct buf *out)
{
	for (size_t i = 0; i < jobs->n; i++) {
		const struct fio_job *j = &jobs->v[i];

		buf_addf(out, "[%s]\ndirectory=.\ngroup_reporting\n", j->name);
		if (i > 0 && !fio_job_is_stage(j))
			buf_adds(out, "new_group\n");
		if (fio_job_get(j, "verify"))
			buf_adds(out, "verify_state_save=0\n");
		for (size_t k = 0; k < j->n; k++) {
			buf_adds(out, j->v[k].name);
			if (j->v[k].value)
				buf_addf(out, "=%s", j->v[k].value);
			buf_addc(out, '\n');
		}
		if (how == FIO_WRITE_LAYOUT)
			buf_adds(out, "create_only=1\n");
		if (how == FIO_WRITE_WARM && !fio_job_get(j, "invalidate"))
			buf_adds(out, "invalidate=0\n");
	}
}
