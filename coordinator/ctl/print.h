/*
 * Printing for people: escaping of texts from outside, widths, colours, aligned tables, numbers.
 * Pure: everything goes into buffers.
 */
#ifndef COORDINATOR_CTL_PRINT_H
#define COORDINATOR_CTL_PRINT_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/json.h"

enum print_color {
	COLOR_NONE,
	COLOR_BOLD,
	COLOR_DIM,
	COLOR_RED,
	COLOR_GREEN,
	COLOR_YELLOW,
	COLOR_CYAN
};

/* Appends s with everything escaped that could steer a terminal: control characters and bytes that
 * are not UTF-8 as \xNN, invisible direction marks as \u{NNNN}. Newlines and tabs are escaped too.
 * NULL appends "-". */
void print_safe(const char *s, struct buf *out);
/* As print_safe, into a new string that the caller frees. */
char *print_safe_dup(const char *s);
/* As print_safe over several lines: each is indented and ends with a newline; tabs stay. */
void print_safe_lines(const char *s, const char *indent, struct buf *out);

/* Appends at most `width` columns of s; a text that is cut ends with "…". Returns the columns. */
unsigned print_fit(const char *s, unsigned width, struct buf *out);
/* The text in that colour when `on`; the text itself is not escaped. */
void print_colored(const char *s, enum print_color color, int on, struct buf *out);
/* The colour that goes with the state of a run, a job or a host. */
enum print_color print_state_color(const char *state);

/* "failed: WHY", just the state without a why, just the why when it begins with the state. The
 * caller frees; nothing is escaped. */
char *print_state_why(const char *state, const char *why);

/* "2026-11-30 13:18:02" in local time from RFC 3339 UTC; "-" for NULL, escaped as it is when it is
 * no such time. */
void print_time(const char *rfc3339, struct buf *out);
/* Seconds since the epoch of an RFC 3339 UTC time; -1 when it is none. */
int64_t print_time_seconds(const char *rfc3339);
/* "12s ago", "3m ago", "2h ago", "5d ago". */
void print_ago(int64_t seconds, struct buf *out);

#define GRID_COLUMNS_MAX 16
struct grid {
	const char *heads[GRID_COLUMNS_MAX];
	unsigned columns, right; /* bit i of right: column i is aligned to the right */
	unsigned hidden;         /* bit i: column i is not printed */
	char **cells;            /* row by row */
	unsigned char *colors;
	size_t n, cap, colors_cap;
};
/* heads: NULL-terminated. */
void grid_init(struct grid *t, const char *const *heads, unsigned right);
/* The next cell; NULL and "" show as "-". Escaped here. */
void grid_add(struct grid *t, const char *text);
void grid_add_color(struct grid *t, const char *text, enum print_color color);
void grid_addf(struct grid *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Hides a column whose cells all say `plain` (NULL: never): it would tell nothing. */
void grid_hide(struct grid *t, unsigned column, const char *plain);
/* Hides columns, in the order given (ended by 255), until the rest fits into so many columns of the
 * terminal; 0: any number. Returns how many were hidden. */
unsigned grid_fit(struct grid *t, unsigned width, const unsigned char *order);
/* Heads in bold and rows, columns two spaces apart; nothing when there is no row. */
void grid_print(const struct grid *t, int color, struct buf *out);
void grid_clear(struct grid *t);

#endif
