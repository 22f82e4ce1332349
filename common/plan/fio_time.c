/*
 * When fio's jobs run, by their options and how long each took. Owns nothing.
 *
 * fio counts a startdelay from the start of all jobs, holds a job behind a stonewall until all before
 * it have ended, and one with wait_for until the job of that name has.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/units.h"
#include "common/plan/fio_job.h"
#include "common/plan/fio_option.h"

/* ns since the start of all jobs, ramps left out */
struct span {
	int64_t from, to;
};

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t plus(int64_t a, int64_t b)
{
	int64_t v;

	return __builtin_add_overflow(a, b, &v) ? INT64_MAX : v;
}

int64_t fio_job_delay(const struct fio_job *j)
{
	const struct fio_option *o = fio_job_get(j, "startdelay");
	int64_t v;

	return o && o->value && !fio_parse_time(o->value, NS_PER_S, &v) ? v : 0;
}

const struct fio_job *fio_job_waits_for(const struct fio_jobs *jobs, const struct fio_job *j)
{
	const struct fio_option *o = fio_job_get(j, "wait_for");

	for (const struct fio_job *k = jobs->v; o && o->value && k < j; k++)
		if (strcmp(k->name, o->value) == 0)
			return k;
	return NULL;
}

/* One that has not run yet has no span, and nothing follows from it. */
static void find_spans(const struct fio_jobs *jobs, const int64_t *took_ns, struct span *v)
{
	int64_t end = 0, stage = 0;

	for (size_t i = 0; i < jobs->n; i++) {
		const struct fio_job *j = &jobs->v[i], *before = fio_job_waits_for(jobs, j);
		struct fio_sums s;

		fio_job_sums(j, &s);
		if (i > 0 && fio_job_is_stage(j))
			stage = end;
		v[i] = (struct span){0, 0};
		if (took_ns[i] <= 0)
			continue;
		v[i].from = later(stage, fio_job_delay(j));
		if (before)
			v[i].from = later(v[i].from, v[before - jobs->v].to);
		v[i].from = plus(v[i].from, s.ramp_ns);
		v[i].to = plus(v[i].from, took_ns[i]);
		end = later(end, v[i].to);
	}
}

static int by_from(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

void fio_jobs_time(const struct fio_jobs *jobs, const int64_t *took_ns, struct fio_time *ret)
{
	struct span v[FIO_MAX_JOBS];
	struct fio_time t = {0};

	find_spans(jobs, took_ns, v);
	qsort(v, jobs->n, sizeof(*v), by_from);
	for (size_t i = 0; i < jobs->n; i++) {
		int64_t from = later(v[i].from, t.end_ns);

		if (v[i].to > from)
			t.ran_ns = plus(t.ran_ns, v[i].to - from);
		t.end_ns = later(t.end_ns, v[i].to);
	}
	*ret = t;
}
