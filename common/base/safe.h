/* Texts from elsewhere made safe for a terminal. */
#ifndef COMMON_BASE_SAFE_H
#define COMMON_BASE_SAFE_H

#include <stddef.h>

#include "common/base/buf.h"

#define SAFE_CHAR 20 /* room for any character as it is shown, with its NUL */
/* The first character of s (len bytes, 1 at least) as it may be shown, into out: itself or its
 * escape, see below. Returns its length in s. */
size_t safe_char(const char *s, size_t len, char out[SAFE_CHAR]);
/* As much of s as fits into `most` bytes as it may be shown, into out (most + 4 bytes), "…" behind it when
 * that is not all. */
void safe_cut(const char *s, size_t len, size_t most, char *out);
/* Appends s with everything escaped that could steer a terminal: control characters and bytes that
 * are not UTF-8 as \xNN, invisible direction marks as \u{NNNN}; newlines too, tabs unless `tabs`.
 */
void safe_add_n(const char *s, size_t len, int tabs, struct buf *out);
void safe_add(const char *s, struct buf *out);

#endif
