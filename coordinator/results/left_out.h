/* Trials that went well and do not count, and why: for the reports that people read. Pure. */
#ifndef COORDINATOR_RESULTS_LEFT_OUT_H
#define COORDINATOR_RESULTS_LEFT_OUT_H

#include "coordinator/results/set.h"

enum left_out_kind { LEFT_UNMEASURED, LEFT_DOUBLED, LEFT_UNFINISHED, LEFT_SUPERSEDED, LEFT_KINDS };
struct left_out {
	unsigned n[LEFT_KINDS]; /* trials */
};
/* Those of one more row. */
void left_out_add(struct left_out *l, const struct result_row *row);
/* "unmeasured"; a literal. */
const char *left_out_word(enum left_out_kind kind);
/* "3 trials without a value: not counted"; nothing where there are none. Appended. */
void left_out_text(const struct left_out *l, enum left_out_kind kind, struct buf *out);

#endif
