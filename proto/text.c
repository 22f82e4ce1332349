/*
 * Texts of the wire. Nothing that fails text_is reaches a plain struct, so whoever shows a peer's
 * text on a terminal need not fear its control characters.
 */
#include "proto/text.h"

#include <string.h>

#include "common/base/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd"

const char *text_class_name(enum text_class c)
{
	switch (c) {
	case TEXT_NAME:
		return "a name (a-zA-Z0-9_+-. starting with a letter or digit)";
	case TEXT_TAG:
		return "a tag (a-zA-Z0-9_+-.: starting with a letter or digit)";
	case TEXT_ID:
		return "an identifier (a-zA-Z0-9_+-.)";
	case TEXT_LINE:
		return "one line of UTF-8";
	case TEXT_LINES:
		break;
	}
	return "UTF-8 text";
}

static int is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static int is_word(const char *s, const char *also)
{
	for (; *s; s++)
		if (!is_alnum(*s) && !strchr(also, *s))
			return 0;
	return 1;
}

/* Bytes of the valid and allowed character at s, 0 when it is neither. */
static size_t allowed_char(const char *s, size_t len, enum text_class c)
{
	unsigned char first = (unsigned char)*s;
	size_t n;

	if (first >= 0x20 && first < 0x7f)
		return 1;
	n = utf8_valid(s, len);
	if (n == 0 || (n == 1 && c == TEXT_LINES && (*s == '\n' || *s == '\t')))
		return n;
	return utf8_is_control(s, n) ? 0 : n;
}

int text_is(const char *s, enum text_class c, size_t max)
{
	size_t len = strlen(s), at, n;

	if (len > max)
		return 0;
	switch (c) {
	case TEXT_NAME:
		return is_alnum(*s) && is_word(s, "_+-.");
	case TEXT_TAG:
		return is_alnum(*s) && is_word(s, "_+-.:");
	case TEXT_ID:
		return is_word(s, "_+-.");
	case TEXT_LINE:
	case TEXT_LINES:
		break;
	}
	for (at = 0; at < len; at += n) {
		n = allowed_char(s + at, len - at, c);
		if (n == 0)
			return 0;
	}
	return 1;
}

const char *text_fit(const char *s, enum text_class c, size_t max, struct arena *a)
{
	size_t len, at, n, put = 0;
	const char *from;
	char *out;

	if ((c != TEXT_LINE && c != TEXT_LINES) || text_is(s, c, max))
		return s;
	len = strlen(s);
	out = arena_alloc(a, max + 1);
	for (at = 0; at < len; at += n) {
		size_t width = n = allowed_char(s + at, len - at, c);

		from = s + at;
		if (n == 0) {
			n = utf8_valid(s + at, len - at);
			from = n ? " " : REPLACEMENT;
			width = strlen(from);
			n = n ? n : 1;
		}
		if (put + width > max)
			break;
		memcpy(out + put, from, width);
		put += width;
	}
	return out;
}
