/*
 * UTF-8 validation for texts that come from outside and end on a terminal, in a log or in JSON.
 * Owns nothing. Invariant: a sequence called valid here is valid by RFC 3629.
 */
#include "common/base/utf8.h"

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

unsigned utf8_code_point(const char *s, size_t n)
{
	static const unsigned char first_bits[5] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	unsigned c = (unsigned char)s[0] & first_bits[n];

	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	return c;
}
