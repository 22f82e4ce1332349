/*
 * Printing for people. Owns nothing.
 * Invariant: no byte from outside reaches a buffer here unless it is a printable character.
 */
#include "coordinator/ctl/print.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/mem.h"
#include "common/base/safe.h"
#include "common/base/units.h"
#include "common/base/utf8.h"

void print_safe(const char *s, struct buf *out)
{
	if (s)
		safe_add_n(s, strlen(s), 0, out);
	else
		buf_addc(out, '-');
}

char *print_safe_dup(const char *s)
{
	struct buf b = {0};

	print_safe(s, &b);
	return buf_take(&b);
}

void print_safe_lines(const char *s, const char *indent, struct buf *out)
{
	while (s && *s) {
		size_t n = strcspn(s, "\n");

		buf_adds(out, indent);
		safe_add_n(s, n, 1, out);
		buf_addc(out, '\n');
		s += n + (s[n] == '\n');
	}
}

unsigned print_fit(const char *s, unsigned width, struct buf *out)
{
	unsigned all = utf8_width(s), used = 0, columns;
	size_t len = strlen(s), i = 0;

	if (all <= width) {
		buf_adds(out, s);
		return all;
	}
	if (width == 0)
		return 0;
	for (size_t n; i < len; i += n, used += columns) {
		n = utf8_next(s + i, len - i, &columns);
		if (used + columns > width - 1)
			break;
	}
	buf_add(out, s, i);
	buf_adds(out, "…");
	return used + 1;
}

void print_colored(const char *s, enum print_color color, int on, struct buf *out)
{
	static const char *const codes[] = {[COLOR_NONE] = "",
		[COLOR_BOLD] = "\x1b[1m",
		[COLOR_DIM] = "\x1b[2m",
		[COLOR_RED] = "\x1b[31m",
		[COLOR_GREEN] = "\x1b[32m",
		[COLOR_YELLOW] = "\x1b[33m",
		[COLOR_CYAN] = "\x1b[36m"};

	if (!on || color == COLOR_NONE || !*s) {
		buf_adds(out, s);
		return;
	}
	buf_adds(out, codes[color]);
	buf_adds(out, s);
	buf_adds(out, "\x1b[0m");
}

enum print_color print_state_color(const char *state)
{
	static const struct {
		const char *state;
		enum print_color color;
	} colors[] = {{"done", COLOR_GREEN}, {"idle", COLOR_GREEN}, {"running", COLOR_CYAN},
		{"cleaning", COLOR_CYAN}, {"failed", COLOR_RED}, {"cancelled", COLOR_YELLOW},
		{"cancelling", COLOR_YELLOW}, {"stopped", COLOR_YELLOW}, {"offline", COLOR_RED},
		{"revoked", COLOR_RED}, {"expired", COLOR_DIM}, {"waiting", COLOR_DIM},
		{"used", COLOR_DIM}, {"new", COLOR_DIM}};

	for (size_t i = 0; state && i < ARRAY_LEN(colors); i++)
		if (!strcmp(colors[i].state, state))
			return colors[i].color;
	return COLOR_NONE;
}

char *print_state_why(const char *state, const char *why)
{
	if (!why || !*why)
		return xstrdup(state);
	if (str_starts(why, state))
		return xstrdup(why);
	return xasprintf("%s: %s", state, why);
}

int64_t print_time_seconds(const char *rfc3339)
{
	struct tm tm = {0};
	const char *end = rfc3339 ? strptime(rfc3339, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;

	if (!end)
		return -1;
	if (*end == '.')
		end += 1 + strspn(end + 1, "0123456789");
	return strcmp(end, "Z") ? -1 : (int64_t)timegm(&tm);
}

void print_time(const char *rfc3339, struct buf *out)
{
	int64_t s = print_time_seconds(rfc3339);
	char text[UNITS_LEN];

	if (s < 0)
		print_safe(rfc3339, out);
	else
		buf_adds(out, units_wall(s * NS_PER_S, text));
}

void print_ago(int64_t seconds, struct buf *out)
{
	if (seconds < 0)
		seconds = 0;
	if (seconds < 120)
		buf_addf(out, "%llds ago", (long long)seconds);
	else if (seconds < 120 * 60)
		buf_addf(out, "%lldm ago", (long long)seconds / 60);
	else if (seconds < 48 * 3600)
		buf_addf(out, "%lldh ago", (long long)seconds / 3600);
	else
		buf_addf(out, "%lldd ago", (long long)seconds / 86400);
}

void grid_init(struct grid *t, const char *const *heads, unsigned right)
{
	memset(t, 0, sizeof(*t));
	t->right = right;
	while (heads[t->columns] && t->columns < GRID_COLUMNS_MAX) {
		t->heads[t->columns] = heads[t->columns];
		t->columns++;
	}
}

void grid_add_color(struct grid *t, const char *text, enum print_color color)
{
	t->cells = xgrow(t->cells, t->n, &t->cap, sizeof(*t->cells));
	t->colors = xgrow(t->colors, t->n, &t->colors_cap, 1);
	t->colors[t->n] = (unsigned char)color;
	t->cells[t->n++] = print_safe_dup(text && *text ? text : NULL);
}

void grid_add(struct grid *t, const char *text)
{
	grid_add_color(t, text, COLOR_NONE);
}

void grid_addf(struct grid *t, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	grid_add(t, text);
	free(text);
}

static void pad(struct buf *out, unsigned n)
{
	while (n--)
		buf_addc(out, ' ');
}

void grid_hide(struct grid *t, unsigned column, const char *plain)
{
	if (!plain)
		return;
	for (size_t i = column; i < t->n; i += t->columns)
		if (strcmp(t->cells[i], plain))
			return;
	t->hidden |= 1u << column;
}

static void print_cell(const struct grid *t, unsigned column, const char *text,
	enum print_color color, int on, unsigned width, struct buf *out)
{
	unsigned shown = ~t->hidden & ((1u << t->columns) - 1);
	unsigned gap = width - utf8_width(text);
	int right = t->right >> column & 1;

	if (!(shown >> column & 1))
		return;
	if (shown & ((1u << column) - 1))
		buf_adds(out, "  ");
	if (right)
		pad(out, gap);
	print_colored(text, color, on, out);
	if (!right && shown >> column > 1)
		pad(out, gap);
}

static void widths_of(const struct grid *t, unsigned width[GRID_COLUMNS_MAX])
{
	for (unsigned c = 0; c < t->columns; c++) {
		width[c] = utf8_width(t->heads[c]);
		for (size_t i = c; i < t->n; i += t->columns)
			if (utf8_width(t->cells[i]) > width[c])
				width[c] = utf8_width(t->cells[i]);
	}
}

unsigned grid_fit(struct grid *t, unsigned width, const unsigned char *order)
{
	unsigned columns[GRID_COLUMNS_MAX], total = 0, hidden = 0;

	widths_of(t, columns);
	for (unsigned c = 0; c < t->columns; c++)
		total += t->hidden >> c & 1 ? 0 : columns[c] + (total ? 2 : 0);
	for (; width && total > width && *order != 255; order++) {
		if (t->hidden >> *order & 1)
			continue;
		t->hidden |= 1u << *order;
		total -= columns[*order] + 2;
		hidden++;
	}
	return hidden;
}

void grid_print(const struct grid *t, int color, struct buf *out)
{
	unsigned width[GRID_COLUMNS_MAX];

	if (!t->n)
		return;
	widths_of(t, width);
	for (unsigned c = 0; c < t->columns; c++)
		print_cell(t, c, t->heads[c], COLOR_BOLD, color, width[c], out);
	buf_addc(out, '\n');
	for (size_t i = 0; i < t->n; i++) {
		unsigned c = (unsigned)(i % t->columns);

		print_cell(t, c, t->cells[i], (enum print_color)t->colors[i], color, width[c], out);
		if (c + 1 == t->columns)
			buf_addc(out, '\n');
	}
}

void grid_clear(struct grid *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t->colors);
	memset(t, 0, sizeof(*t));
}
