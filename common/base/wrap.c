/*
 * Wrapping at words. Owns nothing.
 * Invariant: but for blanks at breaks nothing is lost, and no line gets blanks at its end.
 */
#include "common/base/wrap.h"

#include <string.h>

#include "common/base/utf8.h"

#define DOT "·"

/* Behind the character at s, and how many columns it takes: escape sequences of colours none. */
static const char *next_char(const char *s, unsigned *columns)
{
	unsigned own;

	if (s[0] == '\x1b' && s[1] == '[') {
		s += 2 + strspn(s + 2, "0123456789;");
		return *s == 'm' ? s + 1 : s;
	}
	s += utf8_next(s, strnlen(s, 4), &own);
	*columns += own;
	return s;
}

static unsigned columns_of(const char *s, const char *end)
{
	unsigned n = 0;

	while (s < end)
		s = next_char(s, &n);
	return n;
}

/* Where what follows begins: behind the first gap, when that is not too far to the right. */
static unsigned indent_of(const char *line, const char *end, unsigned width)
{
	const char *gap = memmem(line, (size_t)(end - line), "  ", 2);
	unsigned at, ignored = 0;

	if (!gap || gap == line)
		return 2 < width ? 2 : 0;
	while (gap < end && (*gap == ' ' || *gap == '\x1b'))
		gap = next_char(gap, &ignored);
	at = columns_of(line, gap);
	return at <= width / 2 ? at : 2;
}

/* Behind the word at s, with a dot that follows it. */
static const char *word_end(const char *s, const char *end)
{
	const char *space = s;

	while (space < end && *space != ' ')
		space++;
	if (end - space > (long)strlen(DOT) && !strncmp(space + 1, DOT, strlen(DOT)) &&
		(space + 1 + strlen(DOT) == end || space[1 + strlen(DOT)] == ' '))
		return space + 1 + strlen(DOT);
	return space;
}

static const char *skip_blanks(const char *s, const char *end)
{
	while (s < end && *s == ' ')
		s++;
	return s;
}

static int ends_in_dot(const char *s, const char *end)
{
	return end - s >= (long)strlen(DOT) && !strncmp(end - strlen(DOT), DOT, strlen(DOT));
}

/* Behind the words from s on up to a dot, which stay together. */
static const char *piece_end(const char *s, const char *end)
{
	const char *to = word_end(s, end);

	while (to < end && !ends_in_dot(s, to))
		to = word_end(skip_blanks(to, end), end);
	return to;
}

static void wrap_line(const char *line, const char *end, unsigned width, struct buf *out)
{
	unsigned indent = indent_of(line, end, width), at = 0, empty = 0;
	int dotted = memmem(line, (size_t)(end - line), " " DOT, strlen(" " DOT)) != NULL;
	const char *s = line, *loose = line; /* it breaks at words up to here */

	while (s < end) {
		const char *word = skip_blanks(s, end), *to = word_end(word, end);
		unsigned blanks = (unsigned)(word - s), columns;

		if (dotted && word >= loose) {
			loose = piece_end(word, end);
			if (columns_of(word, loose) <= (at ? width - indent : width))
				to = loose;
		}
		columns = columns_of(word, to);
		if (at > empty && at + blanks + columns > width) {
			buf_addf(out, "\n%*s", (int)indent, "");
			at = empty = indent;
		} else {
			buf_add(out, s, blanks);
			at += blanks;
		}
		buf_add(out, word, (size_t)(to - word));
		at += columns;
		s = to;
	}
}

void wrap_lines(const char *text, unsigned width, struct buf *out)
{
	while (*text) {
		const char *end = strchrnul(text, '\n');

		if (width && columns_of(text, end) > width)
			wrap_line(text, end, width, out);
		else
			buf_add(out, text, (size_t)(end - text));
		if (*end)
			buf_addc(out, '\n');
		text = *end ? end + 1 : end;
	}
}
