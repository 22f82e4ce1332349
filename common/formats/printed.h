/*
 * Lines such as "mean: 8:43" beside a list: what was printed with it of its mean and extremes, held
 * against the values. Internal to common/formats.
 */
#ifndef COMMON_FORMATS_PRINTED_H
#define COMMON_FORMATS_PRINTED_H

#include "common/formats/context.h"
#include "common/formats/number.h"

enum printed_part { PRINTED_MEAN, PRINTED_MIN, PRINTED_MAX, PRINTED_PARTS };

struct printed {
	size_t line[PRINTED_PARTS]; /* 0: nothing was printed of it */
	struct quantity q[PRINTED_PARTS];
	size_t first; /* the list's first record */
};

/* Whether the line has one of these keys. */
int printed_is_line(const char *s);
/* Takes such a line. -1: it is no number, or there twice. */
int printed_take(
	struct printed *p, struct reader *r, const struct context *c, struct format_found *f);
/* At the end of the list: notes what does not follow from its values as doubtful, and forgets it. -1: of
 * another metric than they, or there are none. */
int printed_end(struct printed *p, struct reader *r, struct format_found *f);

#endif
