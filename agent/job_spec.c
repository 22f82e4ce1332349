/* From a plan's workload to a worker's order; remembers what each file was filled from. */
#include <string.h>

#include "agent/job_internal.h"
#include "agent/workload/stream_spec.h"
#include "common/base/mem.h"
#include "common/plan/work_random.h"
#include "common/plan/workload.h"

#define GOLDEN 0x9e3779b97f4a7c15ULL

/* Each trial writes data of its own, so that nothing can be deduplicated; the same seed gives the
 * same data again. */
static uint64_t trial_seed(const struct job *j, unsigned workload, unsigned repeat)
{
	const struct unit *u = job_unit(j);
	uint64_t x = j->offer.u.job_offer.seed;
	const uint64_t parts[] = {u->block, u->layout, workload, repeat, j->trial.number};

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		x = (x ^ parts[i]) + GOLDEN;
		x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
		x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
		x ^= x >> 31;
	}
	return x;
}

/* Where the seed of what stands in a maker's files is kept: by layout, workload and repeat. */
static uint64_t *contents_seed(const struct job *j, unsigned made_by, unsigned repeat)
{
	size_t row = job_unit(j)->layout * j->plan->n_workloads + made_by;

	return &j->contents[row * j->plan->repeat + repeat - 1];
}

static int fill_stream(const struct job *j, unsigned workload, struct msg_worker_spec *spec,
	struct err *e)
{
	const struct workload *w = &j->plan->workloads[workload];
	const struct workload *maker = stream_maker(j->plan, w);
	uint64_t *seed = contents_seed(j, (unsigned)(maker - j->plan->workloads), spec->repeat);

	if (stream_spec_fill(j->plan, w, spec, e))
		return -1;
	if (w->stream.op != OP_READ)
		*seed = trial_seed(j, workload, spec->repeat);
	spec->seed = *seed;
	return 0;
}

int job_worker_spec(const struct job *j, const struct volume *v, unsigned workload, unsigned repeat,
	struct msg *ret, struct err *e)
{
	const struct msg_job_offer *offer = &j->offer.u.job_offer;
	const struct workload *w = &j->plan->workloads[workload];
	struct msg m = {.type = MSG_WORKER_SPEC};
	struct msg_worker_spec *spec = &m.u.worker_spec;

	spec->seed = trial_seed(j, workload, repeat);
	spec->block = job_unit(j)->block;
	spec->repeat = repeat;
	spec->ram_bytes = j->inv->ram_bytes;
	if (w->kind == WORKLOAD_STREAM && fill_stream(j, workload, spec, e))
		return -1;
	/* What is verified is what the stream wrote. */
	if (w->random && w->random->of)
		spec->seed = *contents_seed(j, w->random->of_index, repeat);
	spec->kind = xstrdup(workload_kind_name(w->kind));
	spec->directory = xstrdup(v->directory);
	spec->sample_ns = j->plan->sample_ns;
	spec->dev = v->dev;
	spec->syncfs_works = v->syncfs_works;
	spec->plan_text = xstrdup(offer->plan_text);
	strv_copy(&spec->sets, &offer->sets);
	spec->workload = workload;
	spec->layout = job_unit(j)->layout;
	*ret = m;
	return 0;
}
