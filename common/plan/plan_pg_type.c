/* The rows of `pg_restore`, `pg_dump` and `pgbench`: what they ask of a host. Owns nothing. */
#include <stdlib.h>
#include <string.h>

#include "common/plan/plan_pg_internal.h"

static void clear(struct workload *w)
{
	struct work_pg *p = w->pg;

	if (!p)
		return;
	for (size_t i = 0; i < p->n_settings; i++) {
		free(p->settings[i].name);
		free(p->settings[i].value);
	}
	free(p->settings);
	free(p->version);
	free(p->dump);
	free(p->sha256);
	free(p->globals);
	free(p->encoding);
	free(p->template_);
	free(p->of);
	free(p->target_path);
	free(p);
	w->pg = NULL;
}

/* The first of a plan's PostgreSQL workloads makes the cluster; a member of a parallel one its own. */
static int64_t cluster_bytes(const struct plan *p, const struct workload *w)
{
	int earlier = 0;

	for (size_t i = 0; i < p->n_workloads; i++) {
		if (&p->workloads[i] == w)
			return earlier ? 0 : PG_CLUSTER_BYTES;
		earlier |= p->workloads[i].pg != NULL;
	}
	return PG_CLUSTER_BYTES;
}

/* Databases of that workload on the volume at once: a restore makes one each time. */
static int64_t databases(const struct plan *p)
{
	return (int64_t)p->repeat * (p->builds == BUILDS_ONCE ? p->trials_max : 1);
}

static int restore_needs(const struct plan *p, const struct workload *w, uint64_t ram_bytes,
	struct workload_needs *ret, struct err *e)
{
	int64_t data = w->pg->scale * PG_SCALE_BYTES;

	(void)ram_bytes;
	(void)e;
	ret->data_bytes = data;
	ret->kept_bytes = cluster_bytes(p, w) + data * databases(p);
	ret->space_bytes = ret->kept_bytes + data; /* what the dump is made of */
	ret->compressible = 1;
	return 0;
}

static int bench_needs(const struct plan *p, const struct workload *w, uint64_t ram_bytes,
	struct workload_needs *ret, struct err *e)
{
	(void)ram_bytes;
	(void)e;
	ret->data_bytes = w->pg->scale * PG_SCALE_BYTES;
	ret->kept_bytes = cluster_bytes(p, w) + ret->data_bytes;
	ret->space_bytes = ret->kept_bytes;
	ret->duration_ns = w->pg->duration_ns;
	ret->compressible = 1;
	return 0;
}

static void restore_access(const struct workload *w, struct strv *inputs, struct strv *programs)
{
	(void)programs; /* PostgreSQL's own, from the system's folders alone */
	if (w->pg->dump)
		strv_add(inputs, w->pg->dump);
	if (w->pg->globals)
		strv_add(inputs, w->pg->globals);
}

static void restore_outside(const struct workload *w, struct strv *from, struct strv *to)
{
	(void)to;
	strv_add(from, w->pg->dump ? w->pg->dump : PG_MADE_IN);
}

static void dump_outside(const struct workload *w, struct strv *from, struct strv *to)
{
	(void)from;
	if (w->pg->target == PG_TARGET_PATH && w->pg->target_path)
		strv_add(to, w->pg->target_path);
}

static void dump_folders(const struct workload *w, struct strv *folders)
{
	if (w->pg->target == PG_TARGET_PATH && w->pg->target_path)
		strv_add(folders, w->pg->target_path);
}

/* A server that syncs nothing leaves it to the sync at the end, which waits for all of it. */
static int restore_syncs(const struct workload *w)
{
	return w->pg->checkpoint && w->pg->sync;
}

static int dump_syncs(const struct workload *w)
{
	return w->pg->target == PG_TARGET_NULL ? -1 : w->pg->sync;
}

/* A commit returns when its log is on the disks, unless settings say otherwise. */
static int bench_syncs(const struct workload *w)
{
	if (w->pg->script == PG_SCRIPT_SELECT)
		return -1;
	return !pg_setting_is_off(w->pg, "fsync") && !pg_setting_is_off(w->pg, "synchronous_commit");
}

/* A trial counts the bytes of the dump, or none; those of the tables are others. */
static void restore_nature(const struct workload *w, struct workload_nature *ret)
{
	(void)w;
	ret->moves = MOVES_WRITES;
	ret->other_bytes = 1;
}

static void dump_nature(const struct workload *w, struct workload_nature *ret)
{
	ret->moves = w->pg->target == PG_TARGET_VOLUME ? MOVES_BOTH : MOVES_READS;
	ret->other_bytes = 1;
}

static void bench_nature(const struct workload *w, struct workload_nature *ret)
{
	ret->moves = w->pg->script == PG_SCRIPT_SELECT ? MOVES_READS : MOVES_BOTH;
	ret->other_bytes = 1;
	ret->paced = ret->all_paced = w->pg->rate > 0;
	ret->pace_ops = w->pg->rate;
	ret->sync_bound = bench_syncs(w) == 1;
}

static const char *restore_op(const struct workload *w)
{
	(void)w;
	return "restore";
}

static const char *dump_op(const struct workload *w)
{
	(void)w;
	return "dump";
}

/* Its database, before the caches are made cold. */
static int bench_makes(const struct workload *w)
{
	(void)w;
	return 1;
}

static const char *bench_op(const struct workload *w)
{
	return pg_script_name(w->pg->script);
}

const struct workload_type work_pg_restore_type = {
	.key = "pg_restore",
	.headline = "elapsed",
	.read = read_pg_restore,
	.check = pg_check_restore,
	.clear = clear,
	.needs = restore_needs,
	.access = restore_access,
	.outside = restore_outside,
	.op = restore_op,
	.syncs = restore_syncs,
	.nature = restore_nature,
};
const struct workload_type work_pg_dump_type = {
	.key = "pg_dump",
	.headline = "elapsed",
	.read = read_pg_dump,
	.check = pg_check_dump,
	.clear = clear,
	.folders = dump_folders,
	.outside = dump_outside,
	.op = dump_op,
	.syncs = dump_syncs,
	.nature = dump_nature,
};
const struct workload_type work_pgbench_type = {
	.key = "pgbench",
	.headline = "ops_per_s",
	.read = read_pgbench,
	.check = pg_check_bench,
	.clear = clear,
	.needs = bench_needs,
	.op = bench_op,
	.syncs = bench_syncs,
	.nature = bench_nature,
	.makes = bench_makes,
};
