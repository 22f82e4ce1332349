/* The engines that workload.c's table lists. */
#ifndef AGENT_WORKLOAD_ENGINES_H
#define AGENT_WORKLOAD_ENGINES_H

#include "agent/workload/workload.h"

extern const struct workload_engine scan_engine;
extern const struct workload_engine stream_engine;
extern const struct workload_engine parallel_engine;
extern const struct workload_engine fio_engine, command_engine;
extern const struct workload_engine pg_restore_engine, pg_dump_engine, pgbench_engine;
extern const struct workload_engine random_engine;
extern const struct workload_engine filebench_engine;

#endif
