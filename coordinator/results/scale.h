/*
 * Numbers of one column: they share a unit, and have as many digits as show which of them differ. Pure.
 */
#ifndef COORDINATOR_RESULTS_SCALE_H
#define COORDINATOR_RESULTS_SCALE_H

#include "common/base/units.h"

struct scale {
	const char *kind; /* as metric_table spells units; not owned */
	double largest;   /* of what it was shown, in that unit */
	double unit;      /* so much of that unit is 1 of the column's */
	char name[24];    /* "ms", " MiB/s", " ops/s" */
	int broken;       /* some of them are not whole (times: in seconds): then none is shown so */
	unsigned taken;   /* how many there were, up to 2 */
	int clock;        /* times as "18m22.99s" */
	int digits;       /* significant ones, UNITS_DIGITS at least */
};
/* For values of that unit ("s", "ns", "B", "B/s": in the size that fits, others as they are). */
void scale_init(struct scale *s, const char *unit);
/* A value of the column; NaN is none. */
void scale_take(struct scale *s, double v);
/* Digits enough that a and b look different, where their resolutions (0: exact) let them have any. */
void scale_tell_apart(
	struct scale *s, double a, double a_resolution, double b, double b_resolution);
/* Whether v is told in the column's unit: not where it is less than a tenth of it. */
int scale_fits(const struct scale *s, double v);
typedef const char *scale_text_fn(const struct scale *s, double v, double resolution, char out[UNITS_LEN]);
/* "549 MiB/s", "305s", "18m22.99s", "-" for NaN. No digit is finer than the resolution (0: exact). Values
 * too small for the column's unit have one of their own. Into out; returns it or a literal. */
scale_text_fn scale_text;
/* The same without the unit where that is the column's: "549", "305", but "18m22.99s". */
scale_text_fn scale_number;

#endif
