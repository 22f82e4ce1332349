/*
 * Texts made safe for a terminal. Owns nothing.
 * Invariant: what is appended is valid UTF-8 without control characters, but for tabs where these
 * are wanted.
 */
#include "common/base/safe.h"

#include <string.h>

#include "common/base/utf8.h"

/* Invisible characters that reorder or hide the text around them. */
static int is_steering(unsigned c)
{
	return c == 0x61c || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

void safe_add_n(const char *s, size_t len, int tabs, struct buf *out)
{
	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_valid(s + i, len - i);
		if (n && is_steering(utf8_code_point(s + i, n))) {
			buf_addf(out, "\\u{%x}", utf8_code_point(s + i, n));
		} else if (n == 0 || (utf8_is_control(s + i, n) && !(tabs && s[i] == '\t'))) {
			n = n ? n : 1;
			for (size_t k = 0; k < n; k++)
				buf_addf(out, "\\x%02x", (unsigned char)s[i + k]);
		} else {
			buf_add(out, s + i, n);
		}
	}
}

void safe_add(const char *s, struct buf *out)
{
	safe_add_n(s, strlen(s), 0, out);
}
