/* The table of workload engines. */
#include "agent/workload/workload.h"

#include <string.h>

#include "agent/workload/engines.h"
#include "common/base/mem.h"

static const struct workload_engine *const engines[] = {&stream_engine};

const struct workload_engine *workload_find(const char *kind)
{
	for (size_t i = 0; i < ARRAY_LEN(engines); i++)
		if (strcmp(engines[i]->kind, kind) == 0)
			return engines[i];
	return NULL;
}
