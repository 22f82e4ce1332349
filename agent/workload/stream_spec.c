/* A stream's numbers, from the plan. Owns nothing. */
#include "agent/workload/stream_spec.h"

#include <stdlib.h>

/* `of` names an earlier one, so this ends. */
const struct workload *stream_maker(const struct plan *p, const struct workload *w)
{
	while (w->stream.of)
		w = &p->workloads[w->stream.of_index];
	return w;
}

static void add_names(const struct plan *p, const struct workload *maker,
	struct msg_worker_spec *spec)
{
	const char *pattern = maker->stream.file ? maker->stream.file : maker->name;
	char *name = plan_file_name(pattern, spec->block, spec->repeat, p->repeat);

	for (unsigned i = 1; i <= spec->files; i++) {
		if (spec->files == 1)
			strv_add(&spec->names, name);
		else
			strv_addf(&spec->names, "%s.%u", name, i);
	}
	free(name);
}

int stream_spec_fill(const struct plan *p, const struct workload *w, struct msg_worker_spec *spec,
	struct err *e)
{
	const struct workload *maker = stream_maker(p, w);
	const struct stream *s = &w->stream;
	const struct plan_size *size = &s->size;
	int64_t bytes;

	if (size->ram_factor == 0 && size->bytes == 0)
		size = &maker->stream.size;
	if (plan_size_bytes(size, spec->ram_bytes, &bytes, e))
		return err_prefix(e, "workload %s", w->name);
	spec->op = s->op;
	spec->size = (uint64_t)bytes;
	spec->block_size = (uint64_t)s->block_size;
	spec->data = s->data;
	spec->compressible_percent = s->compressible_percent;
	spec->sync = s->sync;
	spec->direct = s->direct;
	spec->threads = s->threads;
	spec->files = maker->stream.files;
	spec->rate = (uint64_t)stream_rate(s);
	spec->verify = s->verify;
	add_names(p, maker, spec);
	return 0;
}
