/*
 * Numbers with units. Sizes: K M G T P are powers of 1024, KB MB GB TB PB powers of 1000, plain is
 * bytes (also B, KiB … PiB, as printed here; letter case matters). Times: ms s m h d, combinations not
 * allowed.
 */
#ifndef COMMON_BASE_UNITS_H
#define COMMON_BASE_UNITS_H

#include <stdint.h>
#include <stddef.h>

#include "common/base/err.h"

#define NS_PER_S 1000000000LL
#define NS_PER_MS 1000000LL

/* Whole string must match; fractions allowed ("1.5G"); 0..INT64_MAX bytes. */
int units_parse_size(const char *s, int64_t *ret_bytes, struct err *e);
/* 0..10 years, in nanoseconds. */
int units_parse_time(const char *s, int64_t *ret_ns, struct err *e);
int units_parse_int(const char *s, int64_t min, int64_t max, int64_t *ret, struct err *e);
int units_parse_double(const char *s, double *ret, struct err *e); /* finite, '.' only */
/* "2%" -> 0.02; the % is required. 0..100 %. */
int units_parse_percent(const char *s, double *ret, struct err *e);

/* v with so many decimals; what is rounded to 0 has no sign. */
double units_rounded(double v, int places);

/* Decimals with which v shows so many significant digits; 0 where it has them before the point. */
int units_decimals(double v, int digits);

#define UNITS_LEN 32
#define UNITS_DIGITS 3 /* significant ones, of all quantities that people are told; whole numbers are told
			  in full */
#define UNITS_PLACES 9
/* v with so many significant digits, more where it has more before the point, and no zeros behind it: never
 * with an exponent but for values that are no measurement. Into out (UNITS_LEN bytes), returns out. */
const char *units_number(double v, int digits, char *out);
#define UNITS_LEAST 1e-6 /* what is less than this, or not less than that, has an exponent */
#define UNITS_MOST 1e15
/* The unit that v bytes (or bytes/s) are told in: "MiB" and its bytes. */
const char *units_binary(double v, int is_rate, double *ret_bytes);
/* Into out (UNITS_LEN bytes), returns out. Zeros behind the point are left out. */
const char *units_size(int64_t bytes, char *out);       /* "1.5 GiB", "512 B" */
const char *units_rate(double bytes_per_s, char *out);  /* "549 MiB/s", "1059 MiB/s", "12.1 GiB/s" */
const char *units_duration(int64_t ns, char *out);      /* "18m22.99s", "3.21s", "56ms" */
const char *units_wall(int64_t wall_ns, char *out);     /* "2026-11-30 13:18:02" local time */
/* RFC 3339 UTC with milliseconds, for JSON. */
const char *units_wall_rfc3339(int64_t wall_ns, char *out);

int64_t clock_mono_ns(void); /* CLOCK_MONOTONIC: the only clock that measures */
int64_t clock_wall_ns(void); /* CLOCK_REALTIME: labels only */

#endif
