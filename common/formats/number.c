/*
 * Numbers as tools and people print them: decimal points and commas, digits in groups, times,
 * rates. Owns nothing.
 * Invariant: what could be read as two different numbers is an error.
 */
#include "common/formats/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/mem.h"
#include "common/formats/reader.h"

#define DIGITS_MAX 40
#define TEN_YEARS_S (3653.0 * 86400)

static size_t digits_at(const char *s)
{
	size_t n = 0;

	while (isdigit((unsigned char)s[n]))
		n++;
	return n;
}

static int shown(const char *s)
{
	size_t n = strcspn(s, " \t,;");

	return n > 40 ? 40 : (int)n;
}

static int not_number(const char *s, struct err *e)
{
	const char *word = *s == '-' || *s == '+' ? s + 1 : s;

	if (!strncasecmp(word, "nan", 3) || !strncasecmp(word, "inf", 3))
		return err_set(
			e, ERR_INPUT, "'%.*s' is not a number that can be used", shown(s), s);
	if (*s == '-' && isdigit((unsigned char)s[1]))
		return err_set(e, ERR_INPUT, "'%.*s' is negative", shown(s), s);
	return err_set(e, ERR_INPUT, "'%.*s' is not a number", shown(s), s);
}

/* What the separators at s do: sep is the decimal one ('\0': none), group the other. */
struct shape {
	char sep, group;
	size_t len; /* of digits and separators */
};

/* Groups: one to three digits, then separator and three digits, as often as that goes. */
static size_t grouped(const char *s, char group)
{
	size_t n = digits_at(s), whole = n;

	if (n == 0 || n > 3)
		return 0;
	while (s[n] == group && digits_at(s + n + 1) == 3)
		n += 4;
	return n > whole ? n : 0;
}

/* A separator, digits, and no further separator of a number behind them. */
static int is_decimal(const char *s, char separator)
{
	size_t n = *s == separator ? digits_at(s + 1) : 0;

	return n > 0 && !((s[n + 1] == '.' || s[n + 1] == ',') && isdigit((unsigned char)s[n + 2]));
}

static int shape_of(const char *s, enum comma comma, struct shape *ret, struct err *e)
{
	size_t whole = digits_at(s), n;
	char c = s[whole];

	*ret = (struct shape){.len = whole};
	if ((c != '.' && c != ',') || !digits_at(s + whole + 1))
		return 0;
	n = grouped(s, c);
	/* Several groups, or a group and then the other separator: c groups digits. But in
	 * 10.123,10.456 the other one stands between two numbers. */
	if (n && (n > whole + 4 || is_decimal(s + n, c == '.' ? ',' : '.'))) {
		ret->group = c;
		ret->len = n;
		c = c == '.' ? ',' : '.';
		whole = n;
		if (s[n] != c || !digits_at(s + n + 1))
			return 0;
	} else if (n && c == ',' && comma == COMMA_UNSURE) {
		return err_set(e, ERR_INPUT,
			"'%.*s' could be one number or a thousand times that: write it with a "
			"decimal point and without groups",
			(int)(n > 40 ? 40 : n), s);
	}
	ret->sep = c;
	ret->len = whole + 1 + digits_at(s + whole + 1);
	return 0;
}

/* Exponent at s ("e-3"), 0 when there is none; *ret_end moves behind it. */
static int exponent_at(const char *s, const char **ret_end)
{
	const char *p = s + 1;
	int sign = 1, v = 0;

	if (*s != 'e' && *s != 'E')
		return 0;
	if (*p == '+' || *p == '-')
		sign = *p++ == '-' ? -1 : 1;
	if (!isdigit((unsigned char)*p))
		return 0;
	for (; isdigit((unsigned char)*p); p++)
		v = v > 999 ? v : v * 10 + (*p - '0');
	*ret_end = p;
	return sign * v;
}

int number_parse(
	const char *s, enum comma comma, struct number *ret, const char **ret_end, struct err *e)
{
	struct shape shape;
	char plain[DIGITS_MAX + 16];
	const char *end;
	size_t n = 0;
	int places = 0, exponent;

	if (!isdigit((unsigned char)*s))
		return not_number(s, e);
	if (shape_of(s, comma, &shape, e))
		return -1;
	if (shape.len > DIGITS_MAX)
		return err_set(e, ERR_INPUT, "'%.40s…' has more digits than a number can have", s);
	for (size_t i = 0; i < shape.len; i++) {
		if (shape.group && s[i] == shape.group)
			continue;
		if (shape.sep && s[i] == shape.sep) {
			places = (int)(shape.len - i - 1);
			plain[n++] = '.';
		} else {
			plain[n++] = s[i];
		}
	}
	end = s + shape.len;
	exponent = exponent_at(end, &end);
	snprintf(plain + n, sizeof(plain) - n, "e%d", exponent);
	ret->value = strtod(plain, NULL);
	ret->resolution = pow(10, exponent - places);
	ret->decimal = shape.sep;
	if (!isfinite(ret->value) || !isfinite(ret->resolution))
		return err_set(e, ERR_INPUT, "'%.*s' is too large a number", shown(s), s);
	*ret_end = end;
	return 0;
}

int whole_parse(const char *s, unsigned long long *ret, const char **ret_end)
{
	size_t n = digits_at(s);

	if (n == 0 || n > 18)
		return 0;
	*ret = strtoull(s, NULL, 10);
	*ret_end = s + n;
	return 1;
}

static const struct {
	const char *name;
	double seconds;
} time_units[] = {{"ns", 1e-9}, {"nsec", 1e-9}, {"nanosecond", 1e-9}, {"nanoseconds", 1e-9},
	{"us", 1e-6}, {"usec", 1e-6}, {"micros", 1e-6}, {"µs", 1e-6}, {"microsecond", 1e-6}, {"microseconds", 1e-6},
	{"ms", 1e-3}, {"msec", 1e-3}, {"millis", 1e-3}, {"millisecond", 1e-3}, {"milliseconds", 1e-3}, {"s", 1},
	{"sec", 1}, {"secs", 1}, {"second", 1}, {"seconds", 1}, {"m", 60}, {"min", 60}, {"mins", 60},
	{"minute", 60}, {"minutes", 60}, {"h", 3600}, {"hr", 3600}, {"hrs", 3600}, {"hour", 3600},
	{"hours", 3600}, {"d", 86400}, {"day", 86400}, {"days", 86400}};

double time_unit(const char *s, const char **ret_end)
{
	size_t n = 0;

	while (isalpha((unsigned char)s[n]) || !strncmp(s + n, "µ", 2))
		n += (unsigned char)s[n] >= 0x80 ? 2 : 1;
	for (size_t i = 0; i < ARRAY_LEN(time_units); i++)
		if (strlen(time_units[i].name) == n && !strncmp(time_units[i].name, s, n)) {
			*ret_end = s + n;
			return time_units[i].seconds;
		}
	return 0;
}

static int too_many(const char *s, const char *what, struct err *e)
{
	return err_set(e, ERR_INPUT, "'%.*s' is not a time: 60 %s or more", shown(s), s, what);
}

/* h:mm:ss or m:ss, the seconds with a fraction; s has a colon behind its first digits. */
static int clock_parse(const char *s, struct number *ret, const char **ret_end, struct err *e)
{
	unsigned long long first, second;
	const char *p, *q;
	struct number last;
	double before;

	if (!whole_parse(s, &first, &p) || *p != ':')
		return not_number(s, e);
	before = (double)first;
	p++;
	if (whole_parse(p, &second, &q) && *q == ':') {
		if (second > 59)
			return too_many(s, "minutes", e);
		before = before * 60 + (double)second;
		p = q + 1;
	}
	if (number_parse(p, COMMA_DECIMAL, &last, &p, e))
		return -1;
	if (last.value >= 60)
		return too_many(s, "seconds", e);
	if (*p == ':')
		return err_set(e, ERR_INPUT, "'%.*s' is not a time: h:mm:ss or m:ss", shown(s), s);
	*ret = last;
	ret->value = before * 60 + last.value;
	*ret_end = p;
	return 0;
}

/* The number and its unit at s, 0 where it is not a whole part of a time that goes on behind a blank:
 * of seconds or more, and less than one of the unit before. */
static int is_next_part(const char *s, double before)
{
	struct number n;
	struct err ignored;
	double unit;

	if (!isdigit((unsigned char)*s) || number_parse(s, COMMA_DECIMAL, &n, &s, &ignored))
		return 0;
	unit = time_unit(skip_blanks(s), &s);
	return unit >= 1 && unit < before && n.value * unit < before;
}

/* 1h2m3.5s, "2 min 3 sec": parts with units, each smaller than the one before. */
static int parts_parse(
	const char *s, double unit, struct number *n_all, const char **end, struct err *e)
{
	struct number sum = {n_all->value * unit, n_all->resolution * unit, n_all->decimal};

	for (;;) {
		const char *p = *end;
		struct number n;
		double next;

		if (!sum.decimal && is_next_part(skip_blanks(p), unit))
			p = skip_blanks(p);
		if (!isdigit((unsigned char)*p))
			break;
		if (number_parse(p, COMMA_DECIMAL, &n, &p, e))
			return -1;
		next = time_unit(skip_blanks(p), &p);
		if (!(next > 0) || next >= unit)
			return err_set(e, ERR_INPUT, "'%.*s' is not a time", shown(s), s);
		if (n.value * next >= unit)
			return err_set(e, ERR_INPUT, "'%.*s' is not a time: its parts overlap",
				shown(s), s);
		sum.value += n.value * next;
		sum.resolution = n.resolution * next;
		sum.decimal = n.decimal ? n.decimal : sum.decimal;
		unit = next;
		*end = p;
	}
	*n_all = sum;
	return 0;
}

int time_parse(const char *s, enum comma comma, struct number *ret, int *ret_plain,
	const char **ret_end, struct err *e)
{
	size_t whole = digits_at(s);
	const char *end = s;
	struct number n;
	double unit;
	int plain;

	if (whole > 0 && s[whole] == ':') {
		if (clock_parse(s, &n, &end, e))
			return -1;
		plain = 0;
	} else {
		if (number_parse(s, comma, &n, &end, e))
			return -1;
		unit = time_unit(skip_blanks(end), &end);
		plain = !(unit > 0);
		if (!plain && parts_parse(s, unit, &n, &end, e))
			return -1;
	}
	*ret = n;
	*ret_plain = plain;
	*ret_end = end;
	return 0;
}

static const struct {
	const char *name;
	double factor;
	const char *metric, *unit;
	int assumed;
} rates[] = {
	{"B/s", 1, "throughput", "B/s", 0},
	{"bytes/s", 1, "throughput", "B/s", 0},
	{"KiB/s", 1024, "throughput", "B/s", 0},
	{"MiB/s", 1048576, "throughput", "B/s", 0},
	{"GiB/s", 1073741824, "throughput", "B/s", 0},
	{"kB/s", 1e3, "throughput", "B/s", 1},
	{"KB/s", 1e3, "throughput", "B/s", 1},
	{"MB/s", 1e6, "throughput", "B/s", 1},
	{"mb/s", 1e6, "throughput", "B/s", 1},
	{"GB/s", 1e9, "throughput", "B/s", 1},
	{"ops/s", 1, "ops_per_s", "ops/s", 0},
	{"IOPS", 1, "ops_per_s", "ops/s", 0},
	{"iops", 1, "ops_per_s", "ops/s", 0},
	{"us/op", 1, "cpu_per_op", "us/op", 0},
};

/* A unit of a rate at s, /s or /sec, or -1. */
static int rate_at(const char *s, const char **ret_end)
{
	for (size_t i = 0; i < ARRAY_LEN(rates); i++) {
		size_t n = strlen(rates[i].name);

		if (strncmp(s, rates[i].name, n) != 0)
			continue;
		if (!strcmp(rates[i].name + n - 2, "/s") && !strncmp(s + n, "ec", 2))
			n += 2;
		if (!isalnum((unsigned char)s[n])) {
			*ret_end = s + n;
			return (int)i;
		}
	}
	return -1;
}

const char *behind_unit(const char *s)
{
	const char *end = s;

	return time_unit(s, &end) > 0 || rate_at(s, &end) >= 0 ? end : NULL;
}

int seconds_check(const struct number *seconds, struct err *e)
{
	if (!(seconds->value > 0))
		return err_set(e, ERR_INPUT,
			"a time of zero (printed in steps of %g s): nothing to compare",
			seconds->resolution);
	if (seconds->value < 1e-9)
		return err_set(e, ERR_INPUT, "a time of %g s, less than a nanosecond", seconds->value);
	if (seconds->value > TEN_YEARS_S)
		return err_set(e, ERR_INPUT, "a time of %g s, more than 10 years", seconds->value);
	return 0;
}

int quantity_parse(
	const char *s, enum comma comma, struct quantity *ret, const char **ret_end, struct err *e)
{
	struct quantity q = {0};
	const char *end, *unit_end = NULL;
	int plain, rate;

	if (time_parse(s, comma, &q.number, &plain, &end, e))
		return -1;
	rate = plain ? rate_at(skip_blanks(end), &unit_end) : -1;
	if (rate >= 0) {
		q.number.value *= rates[rate].factor;
		q.number.resolution *= rates[rate].factor;
		q.metric = rates[rate].metric;
		q.unit = rates[rate].unit;
		q.assumed = rates[rate].assumed;
		q.power2 = !q.assumed && rates[rate].factor > 1;
		end = unit_end;
	} else if (!plain) {
		q.metric = "elapsed";
		q.unit = "s";
	}
	if (q.metric && !strcmp(q.metric, "elapsed")) {
		if (seconds_check(&q.number, e))
			return -1;
	} else if (!(q.number.value > 0)) {
		return err_set(e, ERR_INPUT, "'%.*s': a value of zero has no ratio to another",
			shown(s), s);
	}
	*ret = q;
	*ret_end = end;
	return 0;
}
