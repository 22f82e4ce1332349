/* Pieces of export lines that the report renderers use too. */
#ifndef COORDINATOR_RESULTS_EXPORT_WRITE_H
#define COORDINATOR_RESULTS_EXPORT_WRITE_H

#include "common/base/json.h"
#include "coordinator/results/set.h"

json_t *export_strv(const struct strv *s);
json_t *export_line_new(const char *type, uint64_t run);
void export_line_end(json_t *o, struct buf *out); /* appends the line, drops the reference */
/* A line about a trial that was told before. */
json_t *export_of_trial(
	const char *type, uint64_t run, const char *host, uint32_t attempt, uint32_t trial);
/* The lines behind a trial's own: its disks; its parts, facts and notes. */
void export_trial_disks(const struct result_trial *t, struct buf *out);
void export_detail(const struct result_trial *t, struct buf *out);

/* An encoded histogram as a line's member "hist", with the comma before it; null when there is none. */
void export_hist(const char *bytes, size_t len, struct buf *out);
#endif
