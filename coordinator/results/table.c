/*
 * Aligned tables. Owns its cells.
 * Invariant: no line ends in spaces; a column is as wide as its widest cell.
 */
#include "coordinator/results/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/safe.h"
#include "common/base/utf8.h"

#define STACK_INDENT 2

void table_row(struct table *t)
{
	t->rows = xgrow(t->rows, t->n, &t->cap, sizeof(*t->rows));
	memset(t->rows[t->n++], 0, sizeof(*t->rows));
	t->columns = 0;
}

void table_cell(struct table *t, const char *fmt, ...)
{
	struct buf cell = {0};
	va_list ap;
	char *raw;

	if (t->columns >= TABLE_COLUMNS)
		return;
	va_start(ap, fmt);
	raw = xvasprintf(fmt, ap);
	va_end(ap);
	safe_add(raw, &cell);
	free(raw);
	t->rows[t->n - 1][t->columns++] = buf_take(&cell);
}

static void pad(size_t n, struct buf *out)
{
	while (n-- > 0)
		buf_addc(out, ' ');
}

/* Columns [from, to) of a row, behind `owed` blanks that are printed only when something follows. */
static void print_cells(const struct table *t, char *const *row, const size_t *width, unsigned from,
	unsigned to, size_t owed, struct buf *out)
{
	int to_left;

	for (unsigned c = from; c < to; c++) {
		size_t w = utf8_width(row[c]), gap = c > from && width[c] ? 2 : 0;

		if (w == 0) {
			owed += gap + width[c];
			continue;
		}
		to_left = c == 0 || (t->left >> c & 1);
		pad(owed + gap + (to_left ? 0 : width[c] - w), out);
		buf_adds(out, row[c]);
		owed = to_left ? width[c] - w : 0;
	}
}

static void widths_of(const struct table *t, size_t width[TABLE_COLUMNS])
{
	for (size_t i = 0; i < t->n; i++)
		for (unsigned c = 0; c < TABLE_COLUMNS; c++)
			if (utf8_width(t->rows[i][c]) > width[c])
				width[c] = utf8_width(t->rows[i][c]);
}

static size_t total_of(const size_t *width, unsigned from, unsigned to)
{
	size_t total = 0;

	for (unsigned c = from; c < to; c++)
		total += width[c] + (c > from && width[c] ? 2 : 0);
	return total;
}

size_t table_total(const struct table *t)
{
	size_t width[TABLE_COLUMNS] = {0}, front, rest;

	widths_of(t, width);
	if (!t->stacked)
		return total_of(width, 0, TABLE_COLUMNS);
	front = total_of(width, 0, t->stacked);
	rest = STACK_INDENT + total_of(width, t->stacked, TABLE_COLUMNS);
	return front > rest ? front : rest;
}

static int has_cells(char *const *row, unsigned from)
{
	for (unsigned c = from; c < TABLE_COLUMNS; c++)
		if (row[c] && *row[c])
			return 1;
	return 0;
}

/* Whether the columns in front say what those of the row above say. */
static int repeats(const struct table *t, size_t row)
{
	for (unsigned c = 0; c < t->stacked; c++)
		if (!row || !str_equal(t->rows[row][c], t->rows[row - 1][c]))
			return 0;
	return 1;
}

static void print_line(const struct table *t, size_t row, const size_t *width, unsigned from, unsigned to,
	const char *before, const char *after, struct buf *out)
{
	if (before)
		buf_adds(out, before);
	print_cells(t, t->rows[row], width, from, to, from ? STACK_INDENT : 0, out);
	if (after)
		buf_adds(out, after);
	buf_addc(out, '\n');
}

void table_print(
	const struct table *t, const char *const *before, const char *const *after, struct buf *out)
{
	size_t width[TABLE_COLUMNS] = {0};

	widths_of(t, width);
	for (size_t i = 0; i < t->n; i++) {
		if (!t->stacked || !repeats(t, i))
			print_line(t, i, width, 0, t->stacked ? t->stacked : TABLE_COLUMNS,
				before ? before[i] : NULL, after ? after[i] : NULL, out);
		if (t->stacked && has_cells(t->rows[i], t->stacked))
			print_line(t, i, width, t->stacked, TABLE_COLUMNS,
				before ? before[i] : NULL, after ? after[i] : NULL, out);
	}
}

void table_clear(struct table *t)
{
	for (size_t i = 0; i < t->n; i++)
		for (unsigned c = 0; c < TABLE_COLUMNS; c++)
			free(t->rows[i][c]);
	free(t->rows);
	*t = (struct table){0};
}
