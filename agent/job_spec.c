/* From a plan's workload to a worker's order; remembers what each file was filled from. */
#include <string.h>

#include "agent/job_internal.h"
#include "common/base/mem.h"
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

/* The workload that made the files: the one that `of` leads to, else its own. `of` names an earlier
 * one, so this ends. */
static unsigned maker(const struct plan *p, unsigned workload)
{
	while (p->workloads[workload].stream.of)
		workload = p->workloads[workload].stream.of_index;
	return workload;
}

/* Where the seed of what stands in a maker's files is kept: by layout, workload and repeat. */
static uint64_t *contents_seed(const struct job *j, unsigned made_by, unsigned repeat)
{
	size_t row = job_unit(j)->layout * j->plan->n_workloads + made_by;

	return &j->contents[row * j->plan->repeat + repeat - 1];
}

static void add_names(const struct job *j, const struct workload *w, unsigned repeat,
	struct msg_worker_spec *spec)
{
	const char *pattern = w->stream.file ? w->stream.file : w->name;
	char *name = plan_file_name(pattern, job_unit(j)->block, repeat, j->plan->repeat);

	for (unsigned i = 1; i <= spec->files; i++) {
		if (spec->files == 1)
			strv_add(&spec->names, name);
		else
			strv_addf(&spec->names, "%s.%u", name, i);
	}
	free(name);
}

/* A stream's own numbers. */
static int fill_stream(const struct job *j, unsigned workload, unsigned repeat,
	struct msg_worker_spec *spec, struct err *e)
{
	const struct workload *w = &j->plan->workloads[workload];
	unsigned made_by = maker(j->plan, workload);
	const struct workload *files = &j->plan->workloads[made_by];
	const struct stream *s = &w->stream;
	const struct plan_size *size = &s->size;
	int64_t bytes;

	if (size->ram_factor == 0 && size->bytes == 0)
		size = &files->stream.size;
	if (plan_size_bytes(size, j->inv->ram_bytes, &bytes, e))
		return err_prefix(e, "workload %s", w->name);
	spec->op = (enum op_kind)s->op;
	spec->size = (uint64_t)bytes;
	spec->block_size = (uint64_t)s->block_size;
	spec->data = (enum data_kind)s->data;
	spec->compressible_percent = s->compressible_percent;
	spec->sync = (enum sync_kind)s->sync;
	spec->direct = s->direct;
	spec->threads = s->threads;
	spec->files = files->stream.files;
	spec->rate = (uint64_t)s->rate;
	if (s->op != OP_READ)
		*contents_seed(j, made_by, repeat) = trial_seed(j, workload, repeat);
	spec->seed = *contents_seed(j, made_by, repeat);
	spec->verify = s->verify;
	add_names(j, files, repeat, spec);
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
	if (w->kind == WORKLOAD_STREAM && fill_stream(j, workload, repeat, spec, e))
		return -1;
	spec->kind = xstrdup(workload_kind_name(w->kind));
	spec->directory = xstrdup(v->directory);
	spec->sample_ns = j->plan->sample_ns;
	spec->dev = v->dev;
	spec->syncfs_works = v->syncfs_works;
	spec->plan_text = xstrdup(offer->plan_text);
	strv_copy(&spec->sets, &offer->sets);
	spec->workload = workload;
	spec->block = job_unit(j)->block;
	spec->repeat = repeat;
	spec->ram_bytes = j->inv->ram_bytes;
	*ret = m;
	return 0;
}
