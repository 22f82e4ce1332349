/* Text for a terminal: lines that would be too wide go on below. */
#ifndef COMMON_BASE_WRAP_H
#define COMMON_BASE_WRAP_H

#include "common/base/buf.h"

/* Appends the lines of text (each ends with a newline). One of more than `width` columns breaks at
 * blanks; what follows begins below the text behind the line's first gap of two blanks, or with two
 * blanks where it has none. A word that is wider than the rest of a line stands alone. A "·" stays
 * with the word before it, and what stands between two of them breaks only where it does not fit a
 * line of its own. Colours (ESC [ … m) take no room, other characters the columns
 * that utf8_next() says.
 * width 0: unchanged. */
void wrap_lines(const char *text, unsigned width, struct buf *out);

#endif
