/* The table of workload engines. */
#include "agent/workload/workload.h"

#include "agent/workload/engines.h"
#include "common/base/mem.h"
#include "common/plan/workload.h"

static const struct workload_engine *const engines[] = {
	&scan_engine,
	&stream_engine,
	&parallel_engine,
	&fio_engine,
	&command_engine,
	&pg_restore_engine,
	&pg_dump_engine,
	&pgbench_engine,
	&random_engine,
	&filebench_engine,
};

const struct workload_engine *workload_find(enum workload_kind kind)
{
	for (size_t i = 0; i < ARRAY_LEN(engines); i++)
		if (engines[i]->kind == kind)
			return engines[i];
	return NULL;
}

static void tell_program(void *arg, const struct workload *w, struct strv *argv)
{
	struct workload_preview *p = arg;

	p->tell(p->arg, w, "run in the volume's folder", argv);
	strv_free(argv);
}

int workload_preview(const struct workload_order *order, struct err *e)
{
	const struct workload_engine *engine = workload_find(order->w->kind);

	if (engine && engine->preview)
		return engine->preview(order, e);
	workload_programs(order->w, order->plan, tell_program, order->preview);
	return 0;
}

int workload_looks_at_host(const struct workload *w)
{
	const struct workload_engine *engine = workload_find(w->kind);

	return engine && engine->preview;
}
