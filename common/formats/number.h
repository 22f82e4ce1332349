/* Numbers and quantities as people and tools print them. Internal to common/formats. */
#ifndef COMMON_FORMATS_NUMBER_H
#define COMMON_FORMATS_NUMBER_H

#include "common/base/err.h"

struct number {
	double value;
	double resolution; /* 10 to the power of its last digit's place */
	char decimal;      /* '.', ',' or 0: no fraction */
};

/* How a comma is read that could mean two things ("1,234"). */
enum comma {
	COMMA_UNSURE,  /* a comma before exactly three digits is an error */
	COMMA_DECIMAL, /* always a decimal comma: tools that never group digits */
};

/* A number at s: digits with a decimal point or comma, digits in groups of three, an exponent.
 * `1,234.5` and `1.234,5` are one thousand and so on. *ret_end: what follows. Negative numbers,
 * nan and inf are errors that say so. The text has no place: callers prefix name:line. */
int number_parse(
	const char *s, enum comma comma, struct number *ret, const char **ret_end, struct err *e);

/* A time: 18m15.395s, 1h2m3s, 56s, 10 sec, 2 min 3 sec, 340ms, 0:18:22, 8:42.9, in seconds. A plain
 * number has no unit: *ret_plain is 1 and the caller says what it is. */
int time_parse(const char *s, enum comma comma, struct number *ret, int *ret_plain,
	const char **ret_end, struct err *e);

/* The word at s as a unit of time, in seconds; 0, and *ret_end as it was, when it is none. */
double time_unit(const char *s, const char **ret_end);

/* A measured quantity with its unit. */
struct quantity {
	const char *metric, *unit; /* static; NULL: a plain number */
	struct number number;      /* in `unit` */
	int assumed;               /* KB, MB, GB per second: taken as powers of 1000 */
	int power2;                /* KiB, MiB, GiB per second */
};
/* A time, a rate (MB/s, MiB/s, KiB/s, B/s, ops/s, IOPS) or a plain number. Blanks may stand before
 * the unit. A zero is an error. */
int quantity_parse(
	const char *s, enum comma comma, struct quantity *ret, const char **ret_end, struct err *e);

/* What stands behind the unit of a time or a rate at s; NULL when there is none. */
const char *behind_unit(const char *s);

/* 0 when 0 < seconds <= 10 years; the error says what is wrong with them. */
int seconds_check(const struct number *seconds, struct err *e);
/* 1 when s is a whole number of at most 18 digits; *ret_end: what follows. */
int whole_parse(const char *s, unsigned long long *ret, const char **ret_end);

#endif
