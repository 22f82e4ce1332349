/*
 * Numbers with units, parsed and printed without floating point where a whole number is meant, and
 * without the locale. Owns nothing.
 * Invariant: a parser takes the whole string or none of it.
 */
#include "common/base/units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FRACTION_DIGITS 15 /* more are an error: nobody means them */
#define SIZE_MOST 1023.5 /* of a unit, then the next one */
#define MIB 2 /* of the names of units */
#define RATE_MOST 9999.5 /* MiB/s: a volume's rates are told in these for as long as they are readable */

struct unit {
	const char *name;
	int64_t factor;
};

static const struct unit sizes[] = {
	{"", 1},
	{"B", 1},
	{"K", 1LL << 10},
	{"M", 1LL << 20},
	{"G", 1LL << 30},
	{"T", 1LL << 40},
	{"P", 1LL << 50},
	{"KiB", 1LL << 10},
	{"MiB", 1LL << 20},
	{"GiB", 1LL << 30},
	{"TiB", 1LL << 40},
	{"PiB", 1LL << 50},
	{"KB", 1000LL},
	{"MB", 1000000LL},
	{"GB", 1000000000LL},
	{"TB", 1000000000000LL},
	{"PB", 1000000000000000LL},
	{NULL, 0},
};

static const struct unit times[] = {
	{"ms", NS_PER_MS},
	{"s", NS_PER_S},
	{"m", 60 * NS_PER_S},
	{"h", 3600 * NS_PER_S},
	{"d", 86400 * NS_PER_S},
	{NULL, 0},
};

#define TIME_MAX_NS (3653LL * 86400 * NS_PER_S) /* 10 years */

struct decimal {
	uint64_t whole;
	uint64_t fraction, scale; /* the part behind the point is fraction / scale, scale = 10^n */
};

/* Digits, optionally a point and digits; returns what follows, NULL when it is no such number. */
static const char *parse_decimal(const char *s, struct decimal *d)
{
	unsigned digits = 0;

	*d = (struct decimal){.scale = 1};
	if (!isdigit((unsigned char)*s))
		return NULL;
	for (; isdigit((unsigned char)*s); s++)
		if (__builtin_mul_overflow(d->whole, 10, &d->whole) ||
			__builtin_add_overflow(d->whole, (uint64_t)(*s - '0'), &d->whole))
			return NULL;
	if (*s != '.')
		return s;
	if (!isdigit((unsigned char)*++s))
		return NULL;
	for (; isdigit((unsigned char)*s); s++) {
		if (++digits > FRACTION_DIGITS)
			return NULL;
		d->fraction = d->fraction * 10 + (uint64_t)(*s - '0');
		d->scale *= 10;
	}
	return s;
}

/* d * factor, rounded down; -1 when it exceeds max. */
static int scaled(const struct decimal *d, int64_t factor, int64_t max, int64_t *ret)
{
	unsigned __int128 total = (unsigned __int128)d->whole * (uint64_t)factor +
				  (unsigned __int128)d->fraction * (uint64_t)factor / d->scale;

	if (total > (unsigned __int128)max)
		return -1;
	*ret = (int64_t)total;
	return 0;
}

static const struct unit *find_unit(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (strcmp(units->name, name) == 0)
			return units;
	return NULL;
}

int units_parse_size(const char *s, int64_t *ret_bytes, struct err *e)
{
	struct decimal d;
	const char *rest = parse_decimal(s, &d);
	const struct unit *u = rest ? find_unit(sizes, rest) : NULL;

	if (!u)
		return err_set(e, ERR_INPUT,
			"'%.64s' is not a size: write 64K, 1.5G (powers of 1024) or 30GB (of 1000)",
			s);
	if (u->factor == 1 && d.scale != 1)
		return err_set(e, ERR_INPUT, "'%.64s' is not a size: bytes have no fractions", s);
	if (scaled(&d, u->factor, INT64_MAX, ret_bytes))
		return err_set(e, ERR_INPUT, "'%.64s' is too large: the limit is 8191P", s);
	return 0;
}

int units_parse_time(const char *s, int64_t *ret_ns, struct err *e)
{
	struct decimal d;
	const char *rest = parse_decimal(s, &d);
	const struct unit *u = rest ? find_unit(times, rest) : NULL;

	if (!u)
		return err_set(
			e, ERR_INPUT, "'%.64s' is not a time: write 500ms, 30s, 5m, 2h or 3d", s);
	if (scaled(&d, u->factor, TIME_MAX_NS, ret_ns))
		return err_set(e, ERR_INPUT, "'%.64s' is too long: the limit is 10 years", s);
	return 0;
}

int units_parse_int(const char *s, int64_t min, int64_t max, int64_t *ret, struct err *e)
{
	const char *digits = *s == '-' ? s + 1 : s;
	char *end;
	int64_t v;

	if (!isdigit((unsigned char)*digits))
		return err_set(e, ERR_INPUT, "'%.64s' is not a whole number", s);
	errno = 0;
	v = strtoll(s, &end, 10);
	if (*end)
		return err_set(e, ERR_INPUT, "'%.64s' is not a whole number", s);
	if (errno || v < min || v > max)
		return err_set(e, ERR_INPUT, "%.64s is out of range (%" PRId64 " to %" PRId64 ")",
			s, min, max);
	*ret = v;
	return 0;
}

int units_parse_double(const char *s, double *ret, struct err *e)
{
	locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	int shaped = strspn(s, "0123456789.eE+-") == strlen(s) && *s && *s != '+';
	char *end = NULL;
	double v = 0;

	if (c) {
		v = strtod_l(s, &end, c);
		freelocale(c);
	}
	if (!shaped || !end || end == s || *end)
		return err_set(e, ERR_INPUT, "'%.64s' is not a number", s);
	if (!isfinite(v))
		return err_set(e, ERR_INPUT, "%.64s is too large a number", s);
	*ret = v;
	return 0;
}

int units_parse_percent(const char *s, double *ret, struct err *e)
{
	size_t len = strlen(s);
	char number[32];
	double v;

	if (len < 2 || s[len - 1] != '%')
		return err_set(e, ERR_INPUT, "'%.64s' is not a percentage: write 2%%", s);
	if (len > sizeof(number))
		return err_set(e, ERR_INPUT, "'%.64s' is not a percentage", s);
	memcpy(number, s, len - 1);
	number[len - 1] = '\0';
	if (units_parse_double(number, &v, e))
		return err_set(e, ERR_INPUT, "'%.64s' is not a percentage: write 2%%", s);
	if (v < 0 || v > 100)
		return err_set(e, ERR_INPUT, "%.64s is out of range (0%% to 100%%)", s);
	*ret = v / 100;
	return 0;
}

double units_rounded(double v, int places)
{
	double scale = pow(10, places), x = v * scale, r;

	/* 555.795 is meant to be 555.80, though the nearest double is a little less */
	r = round(fabs(x) < 1e12 ? x * (1 + 1e-15) : x) / scale;
	return r == 0 ? 0 : r;
}

int units_decimals(double v, int digits)
{
	int places = digits - 1, before;

	v = fabs(v);
	if (v == 0 || !isfinite(v))
		return 0;
	before = (int)floor(log10(v));
	places -= before;
	if (places > 0 && units_rounded(v, places) >= pow(10, before + 1))
		places--; /* 99.96 is 100 */
	return places < 0 ? 0 : places > UNITS_PLACES ? UNITS_PLACES : places;
}

const char *units_number(double v, int digits, char *out)
{
	int places = units_decimals(v, digits);

	if (v != 0 && (!isfinite(v) || fabs(v) < UNITS_LEAST || fabs(v) >= UNITS_MOST)) {
		snprintf(out, UNITS_LEN, "%.*g", digits, v);
		return out;
	}
	while (places > 0 && units_rounded(v, places) == units_rounded(v, places - 1))
		places--;
	snprintf(out, UNITS_LEN, "%.*f", places, units_rounded(v, places));
	return out;
}

const char *units_binary(double v, int is_rate, double *ret_bytes)
{
	static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	size_t i = 0;

	*ret_bytes = 1;
	for (; i + 1 < sizeof(names) / sizeof(names[0]); i++) {
		if (fabs(v) / *ret_bytes < (is_rate && i == MIB ? RATE_MOST : SIZE_MOST))
			break;
		*ret_bytes *= 1024;
	}
	return names[i];
}

static void print_binary(double v, int is_rate, char *out)
{
	char number[UNITS_LEN];
	double unit;
	const char *name = units_binary(v, is_rate, &unit);

	units_number(unit > 1 ? v / unit : round(v), UNITS_DIGITS, number);
	snprintf(out, UNITS_LEN, "%.20s %s%s", number, name, is_rate ? "/s" : "");
}

const char *units_size(int64_t bytes, char *out)
{
	char positive[UNITS_LEN];

	if (bytes >= 0) {
		print_binary((double)bytes, 0, out);
	} else {
		print_binary(-(double)bytes, 0, positive);
		snprintf(out, UNITS_LEN, "-%.*s", UNITS_LEN - 2, positive);
	}
	return out;
}

const char *units_rate(double bytes_per_s, char *out)
{
	if (!isfinite(bytes_per_s) || bytes_per_s < 0 || bytes_per_s > 1e21)
		snprintf(out, UNITS_LEN, "-");
	else
		print_binary(bytes_per_s, 1, out);
	return out;
}

static void print_short(const char *sign, uint64_t v, uint64_t unit, const char *name, char *out)
{
	char number[UNITS_LEN];

	units_number((double)v / (double)unit, UNITS_DIGITS, number);
	snprintf(out, UNITS_LEN, "%s%.20s%s", sign, number, name);
}

/* Under an hour, with hundredths of a second, which whole seconds go without. */
static void print_seconds(const char *sign, unsigned hundredths, int whole, char *out)
{
	unsigned minutes = hundredths / 6000, seconds = hundredths / 100 % 60;
	char part[8] = "";

	if (!whole)
		snprintf(part, sizeof(part), ".%02u", hundredths % 100);
	if (minutes)
		snprintf(out, UNITS_LEN, "%s%um%02u%ss", sign, minutes, seconds, part);
	else
		snprintf(out, UNITS_LEN, "%s%u%ss", sign, seconds, part);
}

const char *units_duration(int64_t ns, char *out)
{
	const char *sign = ns < 0 ? "-" : "";
	uint64_t v = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	int64_t hundredths = (int64_t)((v + 5000000) / 10000000), s = hundredths / 100;
	int whole = v % NS_PER_S == 0;

	if (v == 0)
		snprintf(out, UNITS_LEN, "0s");
	else if (v < 1000)
		snprintf(out, UNITS_LEN, "%s%" PRIu64 "ns", sign, v);
	else if (v < 999500)
		print_short(sign, v, 1000, "us", out);
	else if (v < 999500000)
		print_short(sign, v, NS_PER_MS, "ms", out);
	else if (s < 3600)
		print_seconds(sign, (unsigned)hundredths, whole, out);
	else if (s < 86400)
		snprintf(out, UNITS_LEN, "%s%dh%02dm%02ds", sign, (int)(s / 3600),
			(int)(s / 60 % 60), (int)(s % 60));
	else
		snprintf(out, UNITS_LEN, "%s%" PRId64 "d%02dh%02dm", sign, s / 86400,
			(int)(s / 3600 % 24), (int)(s / 60 % 60));
	return out;
}

/* Whole seconds, rounded down, and the milliseconds that remain (0..999). */
static time_t split_wall(int64_t wall_ns, int *ret_ms)
{
	int64_t s = wall_ns / NS_PER_S, rest = wall_ns % NS_PER_S;

	if (rest < 0) {
		s--;
		rest += NS_PER_S;
	}
	*ret_ms = (int)(rest / NS_PER_MS);
	return (time_t)s;
}

const char *units_wall(int64_t wall_ns, char *out)
{
	int ms;
	time_t s = split_wall(wall_ns, &ms);
	struct tm tm;

	if (!localtime_r(&s, &tm) || !strftime(out, UNITS_LEN, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(out, UNITS_LEN, "-");
	return out;
}

const char *units_wall_rfc3339(int64_t wall_ns, char *out)
{
	int ms;
	time_t s = split_wall(wall_ns, &ms);
	char text[UNITS_LEN - 8];
	struct tm tm;

	if (!gmtime_r(&s, &tm) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
		snprintf(out, UNITS_LEN, "-");
	else
		snprintf(out, UNITS_LEN, "%s.%03dZ", text, ms);
	return out;
}

static int64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int64_t clock_mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

int64_t clock_wall_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}
