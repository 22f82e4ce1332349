/* Details of trials in reports: what their printers share. */
#ifndef COORDINATOR_RESULTS_REPORT_DETAILS_H
#define COORDINATOR_RESULTS_REPORT_DETAILS_H

#include "coordinator/results/details.h"
#include "coordinator/results/report_text.h"

#define DETAIL_NOTE_LINES 12 /* of a note in a report; `show` has all of it */

/* "18m22.99s", "1.50 GiB", "709" by the unit, as a column of that value alone has it; "-" for NaN. Returns
 * out or a literal. */
const char *report_quantity(double v, const char *unit, char out[UNITS_LEN]);
/* "sync_ops 709", "sync_latency_mean 316us [300…350]" where trials differ. Appended. */
void detail_fact_text(const struct detail_sum_fact *f, struct buf *out);
/* "settings", "output of block 3", "settings of 5 trials". Appended. */
void detail_note_title(const struct detail_sum *s, const struct detail_sum_note *n, struct buf *out);
/* Length of the first DETAIL_NOTE_LINES lines; *ret_more: lines behind them. */
size_t detail_note_head(const char *text, size_t *ret_more);

/* Whether a note says what `model` says but for DETAIL_NOTE_DIFFERENT lines at most, such as a seed:
 * these, with "; " between, overwrite the buffer. 0 also where they have no line in common. */
#define DETAIL_NOTE_DIFFERENT 3
int detail_note_is_like(const char *model, const char *text, struct buf *ret_different);
/* How the note k of v[i] is told where one before it, of the same workload, says nearly the same:
 * in a line for all such notes of v[i], appended with the first of them: "settings of 3 trials: as on
 * raidz, in block 1, but for: seed 7; seed 8; seed 9". */
enum detail_told { DETAIL_NOT_TOLD, /* there is none: all of it has to be told */
	DETAIL_TOLD_BELOW, /* by the line */
	DETAIL_TOLD_ABOVE }; /* by that of an earlier note */
enum detail_told detail_note_as(const struct detail_sum *v, size_t i, size_t k, struct buf *ret);

/* Long reports: parts, facts and notes of one host's trials. */
void report_details(const struct text *t, const struct analysis_run *r, const char *host);

#endif
