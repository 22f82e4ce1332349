/*
 * Kinds of workloads, as the plan parser and everybody who asks about a plan see them: one row of
 * workload_types each. Internal to common/plan.
 *
 * A kind's own struct hangs on struct workload by the pointer that plan.h names; its reader makes
 * it, its row's clear frees it.
 */
#ifndef COMMON_PLAN_WORKLOAD_TYPE_H
#define COMMON_PLAN_WORKLOAD_TYPE_H

#include "common/measure/inventory.h"
#include "common/plan/plan_internal.h"
#include "common/plan/workload.h"

/* Where a workload stands while its plan is checked. */
struct workload_place {
	struct reading *r;
	struct plan *p;
	unsigned index; /* within the plan; of a member of a parallel one: the parent's */
	struct workload *w;
	const struct yaml_node *n; /* the value of its kind's key, always a map or what read took */
	const char *path;          /* "workloads.x.stream" */
};
struct workload_type {
	const char *key;
	const char *headline; /* see workload_headline; of the row, where `headline_of` is NULL */
	/* Reads the value of the key into struct workload (field); makes the kind's struct. NULL: the
	 * kind is known and not in this version. */
	key_reader *read;
	int takes_duration; /* its map may have the duration as well as the workload's */
	/* After all workloads are read: what spans keys or workloads. May be NULL. */
	void (*check)(const struct workload_place *at);
	void (*clear)(struct workload *w); /* may be NULL */
	int (*needs)(const struct plan *p, const struct workload *w, uint64_t ram_bytes,
		struct workload_needs *ret, struct err *e); /* ret is zeroed */
	void (*access)(const struct workload *w, struct strv *inputs, struct strv *programs);
	void (*folders)(const struct workload *w, struct strv *folders); /* see workload_folders */
	/* See workload_outside. NULL: none */
	void (*outside)(const struct workload *w, struct strv *from, struct strv *to);
	const char *(*headline_of)(const struct workload *w);
	const char *(*op)(const struct workload *w); /* NULL: the key */
	int (*syncs)(const struct workload *w);      /* NULL: -1 */
	/* ret is zeroed. NULL: nothing is known */
	void (*nature)(const struct workload *w, struct workload_nature *ret);
	int (*makes)(const struct workload *w);      /* NULL: 0 */
	int (*makes_late)(const struct workload *w); /* NULL: 0 */
	/* What the host lacks for it, by its inventory; ret stays empty when nothing. NULL: nothing. */
	void (*lacks)(const struct workload *w, const struct inventory *inv, struct buf *ret);
	/* The program that is the work, as a dry run shows it, placeholders unfilled. NULL: none. */
	void (*argv)(const struct workload *w, const struct plan *p, struct strv *ret);
	/* Several of them, see workload_programs. NULL: argv says all. */
	void (*programs)(
		const struct workload *w, const struct plan *p, workload_program *each, void *arg);
};
/* By enum workload_kind. */
extern const struct workload_type *const workload_types[WORKLOAD_KIND_COUNT];

/* For a kind's table: a duration within its map, which stands beside the kind. */
#define DURATION_BESIDE(kind)                                                                      \
	{"duration", read_elsewhere, 0,                                                            \
		"stands beside '" kind "', not within it: {" kind ": {…}, duration: 30s}; of a member of " \
		"a parallel workload beside 'parallel'",                                           \
		NULL}

/* Reads one workload's map ({stream: {…}}, with `duration` beside it where the kind takes one) into
 * w, whose name is set. path: "workloads.x". */
void plan_read_workload(struct reading *r, const struct yaml_node *n, const char *path,
	struct workload *w);
/* Reports at a key of the kind's map, or at the map where the key isn't written. */
void __attribute__((format(printf, 3, 4)))
workload_error(const struct workload_place *at, const char *key, const char *fmt, ...);
void workload_clear(struct workload *w);
/* For a kind's `lacks`: says so where the inventory does not have the capability. */
void workload_lacks_io_uring(const struct inventory *inv, struct buf *ret);

extern const struct workload_type work_stream_type;
extern const struct workload_type work_random_type;    /* plan_random.c */
extern const struct workload_type work_filebench_type; /* plan_filebench.c */
extern const struct workload_type work_parallel_type;
extern const struct workload_type work_fio_type, work_command_type;
extern const struct workload_type work_pg_restore_type, work_pg_dump_type, work_pgbench_type;
extern const struct workload_type work_scan_type;

#endif
