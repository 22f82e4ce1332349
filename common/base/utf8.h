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
/* 1 when it is invisible and reorders, joins or hides the text around it: marks, embeddings, overrides
 * and isolates of the writing direction, separators of lines, zero-width characters. */
int utf8_is_steering(unsigned code_point);
/* The character of the valid sequence of n bytes at s. */
unsigned utf8_code_point(const char *s, size_t n);

/* Bytes of the character at s (len bytes may be read, 1 at least; 1 for a byte that begins none) and
 * how many columns of a terminal it takes: 2 for wide ones (East Asian, emoji), 0 for combining
 * ones, else 1. */
size_t utf8_next(const char *s, size_t len, unsigned *ret_columns);
/* Columns of all of s; NULL: 0. */
unsigned utf8_width(const char *s);

#endif
