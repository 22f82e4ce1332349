/*
 * Texts made safe for a terminal. Owns nothing.
 * Invariant: what is appended is valid UTF-8 without control characters, but for tabs where these
 * are wanted.
 */
#include "common/base/safe.h"

#include <stdio.h>
#include <string.h>

#include "common/base/utf8.h"

size_t safe_char(const char *s, size_t len, char out[SAFE_CHAR])
{
	size_t n = utf8_valid(s, len), take = n ? n : 1;

	if (n && utf8_is_steering(utf8_code_point(s, n))) {
		snprintf(out, SAFE_CHAR, "\\u{%x}", utf8_code_point(s, n));
	} else if (n == 0 || utf8_is_control(s, n)) {
		for (size_t k = 0; k < take; k++)
			snprintf(out + 4 * k, 5, "\\x%02x", (unsigned)(unsigned char)s[k]);
	} else {
		memcpy(out, s, n);
		out[n] = '\0';
	}
	return take;
}

void safe_cut(const char *s, size_t len, size_t most, char *out)
{
	char shown[SAFE_CHAR];
	size_t used = 0;

	for (size_t i = 0; i < len;) {
		i += safe_char(s + i, len - i, shown);
		if (used + strlen(shown) > most) {
			memcpy(out + used, "…", strlen("…"));
			used += strlen("…");
			break;
		}
		memcpy(out + used, shown, strlen(shown));
		used += strlen(shown);
	}
	out[used] = '\0';
}

void safe_add_n(const char *s, size_t len, int tabs, struct buf *out)
{
	char shown[SAFE_CHAR];

	for (size_t i = 0; i < len;) {
		if (tabs && s[i] == '\t') {
			buf_addc(out, s[i++]);
			continue;
		}
		i += safe_char(s + i, len - i, shown);
		buf_adds(out, shown);
	}
}

void safe_add(const char *s, struct buf *out)
{
	safe_add_n(s, strlen(s), 0, out);
}
