/* What the readers of export lines share: a line under way, and its typed members. */
#ifndef COORDINATOR_RESULTS_EXPORT_LINE_H
#define COORDINATOR_RESULTS_EXPORT_LINE_H

#include "common/base/json.h"
#include "common/base/mem.h"
#include "coordinator/results/set.h"

struct export_line {
	const json_t *o;
	const char *name; /* of the file */
	size_t no;
};

/* ERR_INPUT: the line lacks `what`. */
int export_wrong(const struct export_line *l, struct err *e, const char *what);
/* The trial of that run that the line names by host, attempt and trial, or NULL. Mostly the one read
 * last: lines of a trial follow it, though a file may have been sorted; others are looked up. */
struct result_trial *export_find_trial(
	struct result_set *s, const struct export_line *l, uint64_t run);
void export_strv_read(const json_t *list, struct strv *ret);

static inline char *export_text(const json_t *o, const char *key)
{
	return xstrdup(json_get_str(o, key, ""));
}

/* 0 for what does not fit. */
static inline uint32_t export_u32(const json_t *o, const char *key)
{
	int64_t v = json_get_int(o, key, 0);

	return v < 0 || v > UINT32_MAX ? 0 : (uint32_t)v;
}

static inline uint64_t export_u64(const json_t *o, const char *key)
{
	int64_t v = json_get_int(o, key, 0);

	return v < 0 ? 0 : (uint64_t)v;
}

/* The series that the line belongs to: the last one of the set, or a new one. */
struct result_series *export_open_series(struct result_set *s, uint64_t run, const json_t *o);

/* json_parse() of a line. A list of buckets as we write it is not built number by number: it becomes
 * the text of its numbers, "512,3,1024,1", which export_hist_read() takes as well. */
int export_parse(const char *name, const char *line, size_t len, size_t max, json_t **ret,
	struct err *e);

/* ---- export_evidence.c, export_evidence_read.c ---- */
/* A member "evidence" of a trial's line. */
struct json_t *export_evidence_json(const struct trial_evidence *v); /* NULL gives null */
/* NULL where there is none. Caller frees. */
struct trial_evidence *export_evidence_read(const json_t *o);
int export_read_trial_disks(struct result_set *s, const struct export_line *l, uint64_t run,
	struct err *e);
int export_read_series_disks(struct result_set *s, const struct export_line *l, uint64_t run,
	struct err *e);
/* In a file that was sorted a series' points and its disks stand apart: after the series are in order,
 * makes one of both. */
void export_join_series(struct result_set *s);
int export_read_step(struct result_set *s, const struct export_line *l, uint64_t run,
	struct err *e);

#endif
