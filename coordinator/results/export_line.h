/* What the readers of export lines share: finding what a line belongs to, and the kinds of lines that
 * have files of their own. */
#ifndef COORDINATOR_RESULTS_EXPORT_LINE_H
#define COORDINATOR_RESULTS_EXPORT_LINE_H

#include "coordinator/results/export_field.h"

/* ERR_INPUT: what the line belongs to, such as "trial", does not stand before it. of NULL: a run. */
int export_orphan(const struct export_line *l, uint64_t run, const struct export_piece *of,
	const char *what, struct err *e);

/* ---- export_index.c: each in the same time, however many there are; NULL where there is none ---- */
struct result_run *export_find_run(struct result_set *s, uint64_t run);
struct result_environment *export_find_environment(
	struct result_set *s, uint64_t run, const char *host);
/* Mostly the one read last: lines of a trial follow it, though a file may have been sorted. */
struct result_trial *export_find_trial(
	struct result_set *s, uint64_t run, const struct export_piece *of);
struct result_series *export_find_series(
	struct result_set *s, uint64_t run, const struct export_piece *of);

/* The lines of a run that were read, in files that may have several. */
struct export_count {
	uint64_t run, lines; /* but the end line */
	size_t last;         /* the last one's number */
	size_t end;          /* the end line's number; 0: none yet */
	uint64_t told;       /* what it says of lines */
};
/* A new one where there is none; valid until the next call. */
struct export_count *export_count_of(struct result_set *s, uint64_t run);
/* All there are, in the order of each run's first line. */
const struct export_count *export_counts(const struct result_set *s, size_t *ret_n);

/* json_parse() of a line. A list of buckets as we write it is not built number by number: it becomes
 * the text of its numbers, "512,3,1024,1", which export_hist_read() takes as well. */
int export_parse(const char *name, const char *line, size_t len, size_t max, json_t **ret,
	struct err *e);
/* The member "hist": bytes (caller frees *ret; NULL for null). */
int export_hist_read(
	const struct export_line *l, char **ret, size_t *ret_len, struct err *e);

/* ",\"hist\":…" of a line that is scanned, in the same way: 1, or 0 where it is to be read by other
 * means. */
struct export_scan;
int export_hist_scan(struct export_scan *s, char **ret, size_t *ret_len);

/* ---- export_read.c, export_plain.c ---- */
/* Adds it to the set, which takes what it owns. */
void export_take_trial(struct result_set *s, struct result_trial *t);
/* A trial's line just as we write it: 1, it was taken, and *ret_run is its run. 0: it is to be read as
 * any line, which says what is wrong with it. */
int export_read_plain_trial(struct result_set *s, const char *line, size_t len, uint64_t *ret_run);
/* The same for the line of a trial's disks. */
int export_read_plain_disks(struct result_set *s, const char *line, size_t len, uint64_t *ret_run);

/* ---- export_evidence.c, export_evidence_read.c ---- */
/* A member "evidence" of a trial's line. */
struct json_t *export_evidence_json(const struct trial_evidence *v); /* NULL gives null */
/* *ret NULL where there is none. Caller frees. */
int export_evidence_read(
	const struct export_line *l, struct trial_evidence **ret, struct err *e);
int export_read_environment(struct result_set *s, const struct export_line *l, uint64_t run,
	struct err *e);
int export_read_environment_disks(struct result_set *s, const struct export_line *l, uint64_t run,
	struct err *e);
int export_read_trial_disks(struct result_set *s, const struct export_line *l, uint64_t run,
	struct err *e);
int export_read_step(struct result_set *s, const struct export_line *l, uint64_t run,
	struct err *e);

/* ---- export_series.c ---- */
int export_read_series(struct result_set *s, const struct export_line *l, uint64_t run,
	struct err *e);
/* A series' line just as we write it, of which there are the most: 1, it was taken, without a JSON value
 * for each number, and *ret_run is its run. 0: it is to be read as any line, which says what is wrong
 * with it. */
int export_read_plain_series(
	struct result_set *s, const char *line, size_t len, uint64_t *ret_run);
int export_read_series_disks(struct result_set *s, const struct export_line *l, uint64_t run,
	struct err *e);
/* After the last line: puts the series in order, and what each has, whatever order its pieces came in. */
void export_order_series(struct result_set *s);

/* ---- export_end.c ---- */
int export_read_end_line(struct result_set *s, const struct export_line *l, uint64_t run,
	struct err *e);

/* ---- export_detail.c: "part", "fact" and "note" ---- */
int export_read_detail(struct result_set *s, const struct export_line *l, uint64_t run,
	struct err *e);

#endif
