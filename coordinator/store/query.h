/* A query as a cursor that yields JSON lines piece by piece. */
#ifndef COORDINATOR_STORE_QUERY_H
#define COORDINATOR_STORE_QUERY_H

#include "common/base/json.h"
#include "coordinator/store/db.h"
#include "coordinator/store/store.h"

#define QUERY_KEYS 4

/* A run as lines need it; found once per query. */
struct query_run {
	uint64_t run;
	int64_t job_lo, job_hi; /* its jobs are this range */
	json_t *design;
};
struct query {
	enum store_query kind;
	char *target;
	size_t stage;
	int begun;               /* the stage's keys are set */
	int64_t key[QUERY_KEYS]; /* of the last row given */
	uint64_t lines;          /* made so far */
	int64_t only_job; /* an export of that job alone, without details; 0: of everything */
	struct query_run run;
	struct series_want *want; /* of QUERY_EXPORT_SERIES; else NULL */
	struct buf pending; /* lines made and not yet given */
	size_t given;       /* bytes of pending that are given */
};

void query_init(struct query *q, enum store_query kind, const char *target);
void query_clear(struct query *q);
/* Fills out (at most MSG_CHUNK_MAX bytes of whole lines) from one connection, in well under a
 * second. 1: more to come, 0: this was the last, -1: e. */
int query_step(struct query *q, struct db *db, struct buf *out, struct err *e);

/* One kind of line: a statement whose first n_keys columns are the row's key, in ascending order of
 * that key, with ?1 run, ?2 and ?3 first and last job, ?4… the key of the last row given. */
struct query_page {
	const char *sql;
	unsigned n_keys;
	int64_t start; /* each key begins behind it */
	/* Appends lines for the row. */
	int (*lines)(
		struct query *q, struct db *db, sqlite3_stmt *row, struct buf *out, struct err *e);
};
/* As a start: the first key is a job, and begins with the run's first one. Statements have no other
 * lower bound on it: SQLite would walk the index from there, over all rows that were given before. */
#define QUERY_FROM_FIRST_JOB (-1)
/* For SELECTs: pages end when they give fewer rows. */
#define QUERY_PAGE_ROWS 256
#define QUERY_LIMIT " LIMIT 256"

/* Of trial t of job j in unit u: 1 when a later attempt measured the unit again, or has to. */
#define QUERY_SUPERSEDED                                                                           \
	" ((coalesce(u.state, 0) <> 1 AND t.attempt < j.attempt) OR EXISTS (SELECT 1 FROM units n" \
	"  WHERE n.job = t.job AND n.attempt > t.attempt AND n.block = t.block"                    \
	"  AND n.layout = t.layout AND n.state = 1)),"

/* Lines of QUERY_SHOW for a kept line of an imported run: n, job, host, type, rest. */
int query_show_import(
	struct query *q, struct db *db, sqlite3_stmt *row, struct buf *out, struct err *e);
/* The trial that lines are about. */
struct query_trial {
	uint64_t run;
	int64_t job, attempt, trial;
	const char *host;
};
/* Lines "part", "fact" and "note" of QUERY_SHOW. */
void query_detail_lines(const struct query_trial *t, const struct trial_detail *d, struct buf *out);
/* The same fields from a kept line of an import. */
void query_detail_kept(json_t *o, const json_t *kept);
/* The whole answer of QUERY_PRECISION: 0 or -1. */
int query_precision(struct query *q, struct db *db, struct buf *out, struct err *e);

/* An export is its results, then their details: series and commands, then its end. */
extern const struct query_page query_pages_show[], query_pages_export[], query_pages_details[];
/* In the place of the details, for reports. */
extern const struct query_page query_pages_rest[];
/* The only page of QUERY_EXPORT_SERIES. */
extern const struct query_page query_wanted_series;
extern const size_t query_n_pages_show, query_n_pages_export, query_n_pages_details,
	query_n_pages_rest;

/* For lines: a wall time as RFC 3339 text, null when 0. */
json_t *query_time(int64_t wall_ns);
/* Name of a layout or workload of the run; "" when the run has none with that index. */
const char *query_layout(const struct query *q, int64_t layout);
const char *query_workload(const struct query *q, int64_t workload);
const char *query_op(const struct query *q, int64_t workload);
/* The metric that judges it; "" where the run does not say. */
const char *query_headline(const struct query *q, int64_t workload);
/* Of a step; NULL for a number that is none. */
const char *query_phase(int64_t phase);
/* Appends o as a line and drops the reference. */
void query_line(json_t *o, struct buf *out);

#endif
