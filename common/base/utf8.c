/*
 * UTF-8 validation for texts that come from outside and end on a terminal, in a log or in JSON.
 * Owns nothing. Invariant: a sequence called valid here is valid by RFC 3629.
 */
#include "common/base/utf8.h"

#include <string.h>

static int is_tail(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* The second byte's range depends on the first: this is what shuts out overlong forms,
 * surrogates and code points beyond the last. */
static int second_fits(unsigned char first, unsigned char second)
{
	switch (first) {
	case 0xe0:
		return second >= 0xa0 && second <= 0xbf;
	case 0xed:
		return second >= 0x80 && second <= 0x9f;
	case 0xf0:
		return second >= 0x90 && second <= 0xbf;
	case 0xf4:
		return second >= 0x80 && second <= 0x8f;
	default:
		return is_tail(second);
	}
}

size_t utf8_valid(const char *s, size_t len)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t need;

	if (len == 0)
		return 0;
	if (u[0] < 0x80)
		return 1;
	if (u[0] >= 0xc2 && u[0] <= 0xdf)
		need = 2;
	else if (u[0] >= 0xe0 && u[0] <= 0xef)
		need = 3;
	else if (u[0] >= 0xf0 && u[0] <= 0xf4)
		need = 4;
	else
		return 0;
	if (len < need || !second_fits(u[0], u[1]))
		return 0;
	for (size_t i = 2; i < need; i++)
		if (!is_tail(u[i]))
			return 0;
	return need;
}

/* Line and paragraph separators, embeddings, overrides and isolates of the writing direction. */
static int turns_text(unsigned c)
{
	return (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

int utf8_is_control(const char *s, size_t n)
{
	const unsigned char *u = (const unsigned char *)s;

	if (n == 1)
		return u[0] < 0x20 || u[0] == 0x7f;
	if (n == 2)
		return u[0] == 0xc2 && u[1] < 0xa0;
	return n == 3 && turns_text(utf8_code_point(s, n));
}

int utf8_is_steering(unsigned c)
{
	return c == 0x61c || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

unsigned utf8_code_point(const char *s, size_t n)
{
	static const unsigned char first_bits[5] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	unsigned c = (unsigned char)s[0] & first_bits[n];

	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	return c;
}

struct range {
	unsigned first, last;
};

static int is_in(unsigned c, const struct range *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (c >= v[i].first && c <= v[i].last)
			return 1;
	return 0;
}

/* Of Unicode's East Asian Width the wide and fullwidth ones, emoji among them. */
static int is_wide(unsigned c)
{
	static const struct range wide[] = {{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf},
		{0xa960, 0xa97c}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f},
		{0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
		{0x1f900, 0x1faff}, {0x20000, 0x3fffd}};

	return is_in(c, wide, sizeof(wide) / sizeof(wide[0]));
}

/* Marks that stand on the character before them. */
static int is_combining(unsigned c)
{
	static const struct range marks[] = {{0x300, 0x36f}, {0x483, 0x489}, {0x591, 0x5bd},
		{0x610, 0x61a}, {0x64b, 0x65f}, {0x93c, 0x93c}, {0x941, 0x948}, {0x94d, 0x94d},
		{0xe31, 0xe31}, {0xe34, 0xe3a}, {0xe47, 0xe4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
		{0x200b, 0x200f}, {0x20d0, 0x20ff}, {0x302a, 0x302d}, {0x3099, 0x309a},
		{0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};

	return is_in(c, marks, sizeof(marks) / sizeof(marks[0]));
}

size_t utf8_next(const char *s, size_t len, unsigned *ret_columns)
{
	size_t n = utf8_valid(s, len);
	unsigned c = n > 1 ? utf8_code_point(s, n) : 0;

	*ret_columns = c < 0x300 ? 1 : is_combining(c) ? 0 : is_wide(c) ? 2 : 1;
	return n ? n : 1;
}

unsigned utf8_width(const char *s)
{
	size_t len = s ? strlen(s) : 0;
	unsigned width = 0, columns;

	for (size_t i = 0; i < len; width += columns)
		i += utf8_next(s + i, len - i, &columns);
	return width;
}
