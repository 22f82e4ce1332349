/* A table of text cells, aligned by what a terminal shows. */
#ifndef COORDINATOR_RESULTS_TABLE_H
#define COORDINATOR_RESULTS_TABLE_H

#include <stddef.h>

#include "common/base/buf.h"

#define TABLE_COLUMNS 16

struct table {
	char *(*rows)[TABLE_COLUMNS]; /* NULL: an empty cell */
	size_t n, cap;
	unsigned columns;
	unsigned left; /* bit c: column c stands to the left; the first always does */
	unsigned stacked; /* so many columns in front have a line of their own, the others stand below
			     it, two columns in: where both do not fit beside each other. Not
			     repeated where they are those of the row above */
};
/* Begins a row. */
void table_row(struct table *t);
/* Next cell of the last row, made safe for a terminal; beyond TABLE_COLUMNS it is dropped. */
void table_cell(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Columns that the widest line takes. */
size_t table_total(const struct table *t);
/* Lines with two spaces between columns, those not in `left` to the right. Row i gets
 * before[i] and after[i] around it when these are given (colours); NULL entries are fine. */
void table_print(const struct table *t, const char *const *before, const char *const *after,
	struct buf *out);
void table_clear(struct table *t);

#endif
