/* The table of workload engines. */
#include "agent/workload/workload.h"

#include "agent/workload/engines.h"
#include "common/base/mem.h"

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
