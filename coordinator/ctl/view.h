/*
 * Where a run is, kept from WATCH's lines and rendered as text: pure, no terminal, no clock but the
 * caller's. All texts in here are escaped already.
 */
#ifndef COORDINATOR_CTL_VIEW_H
#define COORDINATOR_CTL_VIEW_H

#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/json.h"

struct view_job {
	uint64_t job;
	char *host, *state, *why, *layout, *phase, *what, *workload, *headline; /* "" when null */
	int online;
	int64_t units_done, units, block, blocks, least_blocks, position, layouts, workload_index;
	int64_t bytes, planned_bytes;
	double unit_part; /* of the present build's work, 0..1; never less than it was */
	double rate, ops_rate, left_s; /* NaN: unknown */
	int64_t at_ns;                 /* when the line came, by the caller's clock */
};
struct view {
	uint64_t run; /* 0 before the first line */
	char *name, *state;
	struct strv workloads;
	struct view_job *jobs;
	size_t n_jobs, cap;
};

/* What a line was, for who prints lines. */
struct view_event {
	enum { VIEW_NOTHING, VIEW_PROGRESS, VIEW_EVENT, VIEW_RUN } what;
	int ok;        /* VIEW_EVENT: nothing went wrong */
	int important; /* VIEW_EVENT: worth a line above the bars: a failure, or the end of a job */
	struct buf line; /* VIEW_EVENT: "13:18:02 knew: …" */
};

/* Takes a line in; *ret is filled (line freed by the caller). Unknown types are VIEW_NOTHING. */
void view_feed(struct view *v, const json_t *line, int64_t now_ns, struct view_event *ret);
void view_clear(struct view *v);
/* The run has ended: nothing more will come. */
int view_is_over(const struct view *v);

struct view_style {
	unsigned width, height; /* of the terminal; at most height - 1 lines are made */
	int color, utf8;
};
/* A line per job: bar, block, layout, phase, rate, time left, as many of them as fit. Running jobs
 * come first when not all fit; the last line then counts the others. Returns the lines made. */
unsigned view_render(
	const struct view *v, const struct view_style *style, int64_t now_ns, struct buf *out);
/* Part of the job that is done, 0..1. */
double view_job_done(const struct view_job *j);
/* A bar of exactly `width` columns. */
void view_bar(double part, unsigned width, int utf8, struct buf *out);

#endif
