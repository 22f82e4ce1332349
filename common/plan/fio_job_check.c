/* What spans the options of a job, and jobs. Owns nothing. */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/fio_job.h"
#include "common/plan/fio_option.h"

#define BUFFERS_MAX (1LL << 30)

struct checking {
	const struct fio_jobs *jobs;
	fio_complaint *say;
	void *arg;
	int wrong;
};

static void __attribute__((format(printf, 4, 5)))
complain(struct checking *c, const struct fio_job *j, const char *option, const char *fmt, ...)
{
	struct buf text = {0};
	va_list ap;

	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	c->say(c->arg, j, option, buf_str(&text));
	c->wrong = 1;
	buf_free(&text);
}

static int64_t depth_of(const struct fio_job *j)
{
	const struct fio_option *o = fio_job_get(j, "iodepth");

	return o && o->value ? strtoll(o->value, NULL, 10) : 1;
}

/* The largest block that any part of the values names. */
static int64_t block_of(const struct fio_job *j)
{
	static const char *const names[] = {"bs", "bsrange", "bssplit"};
	int64_t most = 4096, v;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct fio_option *o = fio_job_get(j, names[i]);

		for (const char *p = o && o->value ? o->value : ""; *p;) {
			size_t len = strcspn(p, ",-:/");
			char *part = xstrndup(p, len);

			if (!fio_parse_size(part, &v) && v > most)
				most = v;
			free(part);
			p += len + (p[len] != '\0');
		}
	}
	return most;
}

/* fio would not hold a stonewall for a job that is still delayed, nor those behind a stonewall that
 * is. */
static void check_order(struct checking *c, const struct fio_job *j)
{
	const struct fio_option *wait = fio_job_get(j, "wait_for");
	int stages = 0;

	if (wait && !fio_job_waits_for(c->jobs, j))
		complain(c, j, "wait_for", "there is no job '%s' before this one", wait->value);
	for (size_t i = 1; i < c->jobs->n; i++)
		stages |= fio_job_is_stage(&c->jobs->v[i]);
	if (stages && fio_job_delay(j))
		complain(c, j, "startdelay",
			"counts from the start of all jobs, and does not go with a stonewall: use wait_for");
}

static void check_job(struct checking *c, const struct fio_job *j)
{
	const struct fio_option *runtime = fio_job_get(j, "runtime");
	const struct fio_option *based = fio_job_get(j, "time_based");
	int64_t block = block_of(j);
	struct fio_sums s;
	char text[UNITS_LEN];

	fio_job_sums(j, &s);
	if (!fio_job_get(j, "rw") && !fio_job_get(j, "ioengine"))
		complain(c, j, NULL, "'rw' is missing: read, write, randread, randwrite, randrw");
	if (!fio_job_get(j, "size") && !fio_job_get(j, "filesize"))
		complain(c, j, NULL, "'size' is missing: how large its files are, such as 64m");
	else if (s.file_bytes > FIO_SIZE_MAX)
		complain(c, j, "size", "more bytes than can be counted");
	if (block > FIO_MAX_BLOCK)
		complain(c, j, "bs", "blocks of more than %s", units_size(FIO_MAX_BLOCK, text));
	else if (block * depth_of(j) * s.threads > BUFFERS_MAX)
		complain(c, j, "iodepth", "%u x %lld blocks of %s need more than 1 GiB of buffers",
			s.threads, (long long)depth_of(j), units_size(block, text));
	if (based && !str_equal(based->value, "0") && !runtime)
		complain(c, j, "time_based", "needs a runtime");
}

int fio_jobs_check(const struct fio_jobs *jobs, fio_complaint *say, void *arg)
{
	struct checking c = {jobs, say, arg, 0};
	unsigned threads = 0;

	if (jobs->n == 0)
		complain(&c, NULL, NULL, "there is no job in it");
	for (size_t i = 0; i < jobs->n; i++) {
		struct fio_sums s;

		check_job(&c, &jobs->v[i]);
		check_order(&c, &jobs->v[i]);
		fio_job_sums(&jobs->v[i], &s);
		threads += s.threads;
		for (size_t k = 0; k < i; k++)
			if (strcmp(jobs->v[k].name, jobs->v[i].name) == 0)
				complain(&c, &jobs->v[i], NULL, "there is a job '%s' already",
					jobs->v[i].name);
	}
	if (threads > FIO_MAX_THREADS)
		complain(&c, NULL, NULL, "%u jobs with their clones: at most %d run", threads,
			FIO_MAX_THREADS);
	return c.wrong ? -1 : 0;
}
