/*
 * A private PostgreSQL cluster on the volume under test. Its data stay there between the workloads of
 * one build; each trial starts the server before its timed region and stops it afterwards, so that
 * the cache state can be made in between. No TCP, one socket in the cluster's own 0700 folder; the
 * superuser is called postgres, as most dumps expect. Workloads of a plan share one cluster; a member
 * of a parallel workload has its own, but a dump that of its restore.
 *
 * Where the order is a dry run's, each program goes to its preview in the place of being started.
 */
#ifndef AGENT_WORKLOAD_PG_CLUSTER_H
#define AGENT_WORKLOAD_PG_CLUSTER_H

#include "agent/workload/pg_find.h"
#include "agent/workload/pg_process.h"
#include "agent/workload/workload.h"
#include "common/base/proc.h"
#include "common/plan/work_pg.h"

#define PG_LONG_MS (20u * 24 * 3600 * 1000) /* the monitor ends a trial that takes too long */

struct pg_cluster {
	const struct workload_order *order;
	const struct work_pg *w;
	struct pg_programs programs;
	char *data;      /* the data folder: in PG_DATASET's mount where the layout has one, else inside
			    spec->directory */
	unsigned connections; /* that the workload needs at once */
	pid_t server;    /* 0: none */
	int is_told;     /* a dry run would have a server now */
	struct pg_log *log; /* of the server that runs or ran last */
	struct last_words *words; /* the log, should we be killed; or NULL */
	int recovered;   /* an earlier server was killed: this one began with a recovery */
};

/* Finds the programs, makes the cluster unless an earlier workload did, and makes the process fit for
 * PostgreSQL's programs (environment, current folder). Does not start it. */
int pg_cluster_open(struct pg_cluster *c, const struct workload_order *order, unsigned connections,
	struct err *e);
/* With the plan's settings. The error quotes the server's reason. */
int pg_cluster_start(struct pg_cluster *c, struct err *e);
/* Fast: open transactions are rolled back, a checkpoint is written. Fine when none runs. */
int pg_cluster_stop(struct pg_cluster *c, struct err *e);
/* After a client ended with `status`: where that is a failure which the server knows more about (it
 * ended, its volume is full), e says that instead. Returns status. */
int pg_cluster_explain(struct pg_cluster *c, int status, struct err *e);
/* Kills what runs; frees. Fine on a zeroed one. */
void pg_cluster_close(struct pg_cluster *c);

/* argv of a client program with its connection: "BIN/psql", "-h", …, "-U", "postgres". */
int pg_cluster_vector(struct pg_cluster *c, const char *program, struct strv *argv, struct err *e);
/* 1: a dry run, whose programs are told and not started. */
int pg_cluster_is_preview(const struct pg_cluster *c);
/* The same; and tells it what is due. argv NULL: no program. */
int __attribute__((format(printf, 3, 4)))
pg_cluster_tells(struct pg_cluster *c, const struct strv *argv, const char *what, ...);
/* Runs a client program to its end; a non-zero end is an error. argv is freed. what: for a dry run,
 * which leaves out as it is. */
int __attribute__((format(printf, 5, 6)))
pg_cluster_run(struct pg_cluster *c, struct strv *argv, struct buf *out, struct err *e,
	const char *what, ...);
/* The same without a judgement: ret tells how it ended (of a dry run: well). argv stays. */
int pg_cluster_try(struct pg_cluster *c, const struct strv *argv, const char *what,
	struct proc_result *ret, struct err *e);
/* One statement by psql, unaligned; out (may be NULL) gets its rows. */
int pg_cluster_sql(struct pg_cluster *c, const char *database, const char *sql, struct buf *out,
	struct err *e);
/* An empty database in place of one of that name. encoding, template_: may be NULL. */
int pg_cluster_new_database(struct pg_cluster *c, const char *name, const char *encoding,
	const char *template_, struct err *e);
/* A checkpoint, and what is dirty on the volume with it: so that the timed region begins with
 * nothing of what was prepared under way. */
int pg_cluster_settle(struct pg_cluster *c, struct err *e);
/* Everything of the cluster is on the disks: syncfs, or fsync of each file where that does nothing. */
int pg_cluster_sync(struct pg_cluster *c, struct err *e);

/* Version, settings that are not PostgreSQL's defaults. While the server runs. */
void pg_cluster_tell(struct pg_cluster *c, struct trial_detail *d);
/* The server's log as a note, for a trial that failed. */
void pg_cluster_tell_log(struct pg_cluster *c, struct trial_detail *d);
/* The same for one that make or prepare fail: into order->told, after the server's end. */
void pg_cluster_leave_log(struct pg_cluster *c);

/* The database that the restore of that index makes in this block and repeat; caller frees. */
char *pg_database_name(const struct workload_order *o, unsigned workload, const char *name);
/* The account that this process runs as, for messages; static. */
const char *pg_user_name(void);

#endif
