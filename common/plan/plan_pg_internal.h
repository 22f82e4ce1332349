/* Between the files that read PostgreSQL workloads. */
#ifndef COMMON_PLAN_PLAN_PG_INTERNAL_H
#define COMMON_PLAN_PLAN_PG_INTERNAL_H

#include "common/plan/work_pg.h"
#include "common/plan/workload_type.h"

key_reader read_pg_settings; /* plan_pg_settings.c: struct work_pg */
key_reader read_pg_restore, read_pg_dump, read_pgbench; /* plan_pg.c: struct workload */

/* plan_pg_check.c: what spans keys and workloads. */
void pg_check_restore(const struct workload_place *at);
void pg_check_dump(const struct workload_place *at);
void pg_check_bench(const struct workload_place *at);

#endif
