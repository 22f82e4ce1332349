/*
 * What a workload of a plan asks of a host, whatever its kind. Kinds are rows of one table
 * (workload_type.h); each keeps its own struct in a header work_<kind>.h.
 */
#ifndef COMMON_PLAN_WORKLOAD_H
#define COMMON_PLAN_WORKLOAD_H

#include "common/measure/inventory.h"
#include "common/plan/plan.h"

/* All bytes are of one trial; 0 also means: not known before it runs. */
struct workload_needs {
	int64_t written_bytes, read_bytes; /* moved in the timed region */
	int moves_unknown; /* how much of that there is will be known when it runs; set where both are 0 */
	int64_t made_bytes; /* written before the timed region: files that it finds there */
	int64_t laid_bytes; /* the same, by the first trial of a volume alone: they stay */
	int64_t kept_bytes;  /* left on the volume afterwards, until its teardown */
	int64_t space_bytes; /* most that it takes at once beside what earlier ones left; kept_bytes
				included */
	int64_t data_bytes;  /* of the files that it goes over */
	int64_t duration_ns; /* of the timed region where the plan fixes it; else as long as it takes */
	int compressible;    /* what it keeps may shrink on a compressing volume */
};
/* Which way its bytes go between files and disks in the timed region. */
enum workload_moves { MOVES_UNKNOWN, MOVES_READS, MOVES_WRITES, MOVES_BOTH };
/* What can be said of its work from the plan alone. All zero: nothing. */
struct workload_nature {
	enum workload_moves moves;
	int other_bytes;     /* the bytes that its trials count are not those that it reads or writes */
	int raw;             /* on the disks themselves: no volume changes what is moved */
	int data_known;      /* data and percent hold */
	enum data_kind data; /* of several kinds that which shrinks most; DATA_RANDOM does not */
	unsigned compressible_percent; /* of DATA_COMPRESSIBLE */
	unsigned threads;    /* that may each keep a CPU busy; 0: not known */
	int paced;           /* the plan sets how fast some of it goes; 0 also: not known */
	int all_paced;       /* or all of it: then only latencies tell volumes apart */
	double pace_ops;     /* operations a second that it asks for; 0: not set, or not known */
	int sync_bound;      /* its operations wait for syncs, again and again */
};
void workload_nature(const struct workload *w, struct workload_nature *ret);
/* Of two that run as one: what is not known of either is not known of both. */
void workload_nature_join(struct workload_nature *to, const struct workload_nature *other);

/* ram_bytes 0: sizes that depend on the memory are ERR_INPUT. */
int workload_needs(const struct plan *p, unsigned workload, uint64_t ram_bytes,
	struct workload_needs *ret, struct err *e);

/* Files of the host that it reads and programs that it runs, as absolute paths: the policy must name
 * each. Appended. */
void workload_access(const struct workload *w, struct strv *inputs, struct strv *programs);

/* Folders outside of the volume that it writes into: the policy's allow.directories must name each.
 * Appended. */
void workload_folders(const struct workload *w, struct strv *folders);

/* Paths of the host outside of the volume whose contents its time moves: read (from) and written (to).
 * Appended. */
void workload_outside(const struct workload *w, struct strv *from, struct strv *to);

/* What a host with that inventory lacks for it ("there is no /usr/bin/fio: …"); 0: nothing. */
int workload_lacks(const struct workload *w, const struct inventory *inv, struct buf *ret);

/* Gets the vector of a program that is the work of w, a whole workload or a member; takes argv over. */
typedef void workload_program(void *arg, const struct workload *w, struct strv *argv);
/* The programs that are the work, as a dry run shows them, in the plan's order: of a parallel workload
 * each member's. None where the work is our own. */
void workload_programs(const struct workload *w, const struct plan *p, workload_program *each, void *arg);

/* The plan's word for the kind: "stream", "pg_restore". */
const char *workload_kind_name(enum workload_kind kind);
/* The name of the one metric that judges it: "elapsed" for fixed work, "throughput" for timed
 * streams and scans, "ops_per_s" where operations are counted; "latency_p99" where the plan sets the
 * pace, which then says nothing else of a volume. */
const char *workload_headline(const struct workload *w);
/* One word for what it does: "write", "read", "varmail". */
const char *workload_op(const struct workload *w);
/* Its result counts on data that is on the disks when the time ends: 1 where it writes and syncs
 * within its time, 0 where it writes and the plan leaves the sync out, -1 where it writes nothing. */
int workload_syncs(const struct workload *w);
/* It reads files that it makes itself, before its caches are made cold and outside of its time. */
int workload_makes(const struct workload *w);
/* It makes files within its time and reads them then: no emptying of caches comes in between. */
int workload_makes_late(const struct workload *w);

#endif
