/* Texts from elsewhere made safe for a terminal. */
#ifndef COMMON_BASE_SAFE_H
#define COMMON_BASE_SAFE_H

#include <stddef.h>

#include "common/base/buf.h"

/* Appends s with everything escaped that could steer a terminal: control characters and bytes that
 * are not UTF-8 as \xNN, invisible direction marks as \u{NNNN}; newlines too, tabs unless `tabs`.
 */
void safe_add_n(const char *s, size_t len, int tabs, struct buf *out);
void safe_add(const char *s, struct buf *out);

#endif
