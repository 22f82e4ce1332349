/* Pieces of export lines that the report renderers use too. */
#ifndef COORDINATOR_RESULTS_EXPORT_WRITE_H
#define COORDINATOR_RESULTS_EXPORT_WRITE_H

#include "common/base/json.h"
#include "coordinator/results/set.h"

json_t *export_strv(const struct strv *s);
json_t *export_line_new(const char *type, uint64_t run);
void export_line_end(json_t *o, struct buf *out); /* appends the line, drops the reference */
/* The lines behind a trial's and behind a series' own. */
void export_trial_disks(const struct result_trial *t, struct buf *out);
void export_series_disks(const struct result_series *s, struct buf *out);

/* A counter of struct telemetry and its key; the same table writes and reads. */
struct telemetry_field {
	const char *key;
	size_t offset; /* of a uint64_t */
};
#define TELEMETRY_FIELDS 12
extern const struct telemetry_field telemetry_fields[TELEMETRY_FIELDS];

/* An encoded histogram as the lines have it; null when there is none. */
json_t *export_hist_json(const char *bytes, size_t len);
/* Behind export_line_end() of a line that has one: its buckets, a text until then, become a list. The
 * line began at `from`. */
void export_hist_end(struct buf *out, size_t from);
/* Back to bytes (caller frees *ret; NULL for null); -1 when the counts do not make one. */
int export_hist_read(const json_t *o, char **ret, size_t *ret_len);

/* What a trial tells beside its counters: its lines; and one of them back into its trial, by the
 * line's type ("part", "fact", "note"). -1: the line lacks what `*ret_lacks` says. */
void export_detail(const struct result_trial *t, struct buf *out);
int export_detail_read(
	struct result_trial *t, const json_t *line, const char *type, const char **ret_lacks);

#endif
