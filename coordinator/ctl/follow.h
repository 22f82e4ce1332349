/*
 * Following a run live: bars on a terminal, a line per event elsewhere, all on stderr; or WATCH's
 * lines as they come on stdout. A lost connection is taken up again, with back-off up to a minute
 * and without end; that is said once an outage.
 */
#ifndef COORDINATOR_CTL_FOLLOW_H
#define COORDINATOR_CTL_FOLLOW_H

#include <stdint.h>

#include "coordinator/ctl/client.h"
#include "coordinator/ctl/ctl.h"

struct follow_options {
	const char *run; /* number, name or "last" */
	int known;       /* the run is there: also the first connection is tried again and again */
	int as_lines;    /* JSON lines on stdout instead of a view */
	int (*check)(void *arg, struct err *e); /* asked now and then: -1 ends following with e, 1: e is said */
	void *check_arg;
	int cancel; /* a signal cancels the run and goes on following; a second one stops */
};
struct follow_end {
	uint64_t run;       /* 0 when no line came */
	char *name, *state; /* of the run; escaped; NULL when no line came */
	json_t *jobs;       /* [{"job", "host", "state", "why"}] */
	int interrupted;    /* by a signal: stopped following, or cancelled by us */
};

/* Returns when the run has ended or a signal came; the client stays connected in the first case. */
int follow_run(struct ctl *ctl, struct client *c, const struct follow_options *o,
	struct follow_end *ret, struct err *e);
void follow_end_clear(struct follow_end *f);
/* 0 when the run ended well, EXIT_WORK_FAILED or EXIT_INTERRUPTED otherwise. */
int follow_status(const struct follow_end *f);
/* "run 12 (name): done", and a line for each job that is not. */
void follow_end_text(const struct follow_end *f, int color, struct buf *out);
/* The members run, name, state and jobs, for --json. */
json_t *follow_json(const struct follow_end *f);

#endif
