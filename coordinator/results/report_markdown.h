/* What the parts of the Markdown report share. */
#ifndef COORDINATOR_RESULTS_REPORT_MARKDOWN_H
#define COORDINATOR_RESULTS_REPORT_MARKDOWN_H

#include "coordinator/results/report_text.h"

/* A text as it is, in one line: nothing in it is read as markup. */
void markdown_plain(const char *s, struct buf *out);
/* One cell of a table's line; NULL and "" are an empty one. */
void markdown_cell(struct buf *out, const char *s);
/* The first two lines of a table. Bit c of right: column c is of numbers. */
void markdown_head(struct buf *out, const char *const *names, size_t n, unsigned right);

/* Parts, facts and notes of the run's trials. */
void markdown_details(const struct text *t, const struct analysis_run *r);

#endif
