/* UTF-8: the one place that knows which byte sequences are valid. */
#ifndef COMMON_BASE_UTF8_H
#define COMMON_BASE_UTF8_H

#include <stddef.h>

/* Bytes (1..4) of the valid sequence at s, of which len bytes may be read; 0 when there is none
 * (overlong forms, surrogates and anything above U+10FFFF are not valid). */
size_t utf8_valid(const char *s, size_t len);
/* 1 when the valid sequence of n bytes at s is a control character (C0, DEL, C1), or one that makes
 * the rest of a line look other than it is (U+2028 to U+202E, U+2066 to U+2069). */
int utf8_is_control(const char *s, size_t n);
/* The character of the valid sequence of n bytes at s. */
unsigned utf8_code_point(const char *s, size_t n);

#endif
