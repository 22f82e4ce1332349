/*
 * What can be said of a `fio` workload's work by its options. Owns nothing.
 * Invariant: what options leave to fio, or set against each other, is not known.
 */
#include <string.h>

#include "common/base/units.h"
#include "common/plan/work_fio.h"

#define ALL_PERCENT 100

static int is_on(const struct fio_job *j, const char *name)
{
	const struct fio_option *o = fio_job_get(j, name);

	return o && (!o->value || strcmp(o->value, "0") != 0);
}

/* fio's rw is read where nothing says otherwise; `whole`: no file of the host may say otherwise. */
static enum workload_moves moves_of(const struct fio_job *j, int whole)
{
	struct fio_sums s;

	if (!whole && !fio_job_get(j, "rw"))
		return MOVES_UNKNOWN;
	fio_job_sums(j, &s);
	return s.reads && s.writes ? MOVES_BOTH : s.reads ? MOVES_READS : MOVES_WRITES;
}

/* Buffers are filled with random bytes or zeros when that is asked for, and when nothing fills them
 * with anything else as well. */
static void data_of(const struct fio_job *j, struct workload_nature *ret)
{
	const struct fio_option *o = fio_job_get(j, "buffer_compress_percentage");
	int zero = is_on(j, "zero_buffers"), refill = is_on(j, "refill_buffers");
	int64_t percent = 0;
	struct err ignored;

	if (o && (!o->value || units_parse_int(o->value, 0, ALL_PERCENT, &percent, &ignored)))
		return;
	if (is_on(j, "buffer_pattern") || is_on(j, "verify") || is_on(j, "dedupe_percentage") ||
		(zero && percent > 0) || (!zero && !percent && !refill))
		return;
	ret->data_known = 1;
	ret->data = zero || percent == ALL_PERCENT ? DATA_ZERO
		    : percent > 0                  ? DATA_COMPRESSIBLE
						   : DATA_RANDOM;
	ret->compressible_percent = ret->data == DATA_COMPRESSIBLE ? (unsigned)percent : 0;
}

/* Jobs behind a stonewall run when those before are done. */
static void job_nature(const struct fio_job *j, int whole, int stage, struct workload_nature *ret)
{
	struct fio_sums s;

	fio_job_sums(j, &s);
	ret->moves = moves_of(j, whole);
	ret->threads = whole && !stage ? s.threads : 0;
	ret->all_paced = is_on(j, "rate") || is_on(j, "rate_iops");
	ret->sync_bound = s.writes && (is_on(j, "fsync") || is_on(j, "fdatasync") || is_on(j, "sync"));
	ret->paced = is_on(j, "rate") || is_on(j, "rate_iops") || is_on(j, "thinktime");
	if (whole)
		data_of(j, ret);
}

void fio_nature(const struct work_fio *f, struct workload_nature *ret)
{
	if (f->job_file)
		job_nature(&f->options, 0, 0, ret);
	for (size_t i = 0; i < f->jobs.n; i++) {
		struct workload_nature one = {0};

		job_nature(&f->jobs.v[i], 1, i > 0 && fio_job_is_stage(&f->jobs.v[i]), &one);
		if (i == 0)
			*ret = one;
		else
			workload_nature_join(ret, &one);
	}
}
