/*
 * Numbers of one column. Owns nothing.
 * Invariant: what is printed is rounded once, to the decimals that are printed.
 */
#include "coordinator/results/scale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SMALLEST 0.1 /* of the column's unit; what is less has a unit of its own */
#define CLOCK_FROM 600.0 /* s: below it seconds are as readable, and are what they are compared by */
#define HOUR 3600.0
#define DAY 86400.0
#define DIGITS_MAX 12 /* beyond that a double's own rounding shows */
#define SECOND_PLACES 2 /* of times from 1 s on, for as long as they are told with seconds */

static int is_time(const struct scale *s)
{
	return strcmp(s->kind, "s") == 0 || strcmp(s->kind, "ns") == 0;
}

static double seconds_of(const struct scale *s, double v)
{
	return strcmp(s->kind, "ns") == 0 ? v / NS_PER_S : v;
}

static void time_unit(struct scale *s)
{
	static const struct {
		double seconds;
		const char *name;
	} units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
	double largest = seconds_of(s, s->largest);
	size_t i = 0;

	while (i < 3 && largest > 0 && units_rounded(largest / units[i].seconds, 3) < 1)
		i++;
	s->unit = units[i].seconds * (strcmp(s->kind, "ns") == 0 ? NS_PER_S : 1);
	snprintf(s->name, sizeof(s->name), "%s", units[i].name);
	s->clock = largest >= CLOCK_FROM;
}

static void binary_unit(struct scale *s, int is_rate)
{
	const char *name = units_binary(s->largest, is_rate, &s->unit);

	snprintf(s->name, sizeof(s->name), " %s%s", name, is_rate ? "/s" : "");
}

static void choose_unit(struct scale *s)
{
	if (is_time(s)) {
		time_unit(s);
	} else if (strcmp(s->kind, "B") == 0) {
		binary_unit(s, 0);
	} else if (strcmp(s->kind, "B/s") == 0) {
		binary_unit(s, 1);
	} else {
		s->unit = 1;
		snprintf(s->name, sizeof(s->name), "%s%.20s", *s->kind ? " " : "", s->kind);
	}
}

void scale_init(struct scale *s, const char *unit)
{
	*s = (struct scale){.kind = unit, .digits = UNITS_DIGITS};
	choose_unit(s);
}

void scale_take(struct scale *s, double v)
{
	if (!isfinite(v))
		return;
	s->broken |= seconds_of(s, v) != nearbyint(seconds_of(s, v));
	s->taken += s->taken < 2;
	if (fabs(v) <= s->largest)
		return;
	s->largest = fabs(v);
	choose_unit(s);
}

/* v in the column's unit. */
static int decimals(const struct scale *s, double v, double resolution)
{
	int places = units_decimals(v, s->digits), finest;

	if (v == 0 || (v == nearbyint(v) && s->digits == UNITS_DIGITS && (s->taken < 2 || !s->broken)))
		return 0;
	if (is_time(s) && s->name[0] == 's' && fabs(v) < HOUR && places < SECOND_PLACES)
		places = SECOND_PLACES;
	if (resolution > 0) {
		finest = (int)ceil(-log10(resolution / s->unit) - 1e-9);
		finest = finest < 0 ? 0 : finest;
		places = places < finest ? places : finest;
	}
	return places;
}

/* Whole minutes and more before the seconds, which have so many decimals. */
static void clock_text(double v, int places, char out[UNITS_LEN])
{
	double rounded = units_rounded(fabs(v), places), minutes = floor(rounded / 60);
	double seconds = rounded - 60 * minutes, hours = floor(minutes / 60);
	int width = places ? places + 3 : 2;
	const char *sign = v < 0 && rounded > 0 ? "-" : "";

	if (rounded >= DAY)
		snprintf(out, UNITS_LEN, "%s%.0fd%02.0fh%02.0fm%0*.*fs", sign, floor(hours / 24),
			fmod(hours, 24), fmod(minutes, 60), width, places, seconds);
	else if (hours > 0)
		snprintf(out, UNITS_LEN, "%s%.0fh%02.0fm%0*.*fs", sign, hours, fmod(minutes, 60), width,
			places, seconds);
	else if (minutes > 0)
		snprintf(out, UNITS_LEN, "%s%.0fm%0*.*fs", sign, minutes, width, places, seconds);
	else
		snprintf(out, UNITS_LEN, "%s%.*fs", sign, places, rounded);
}

int scale_fits(const struct scale *s, double v)
{
	struct scale own;

	if (!isfinite(v) || v == 0 || fabs(v) >= SMALLEST * s->unit)
		return 1;
	scale_init(&own, s->kind);
	scale_take(&own, v);
	return own.unit >= s->unit;
}

/* The scale of v alone where the column's is too coarse for it, else the column's. */
static const struct scale *scale_for(const struct scale *s, double v, struct scale *own)
{
	if (scale_fits(s, v))
		return s;
	scale_init(own, s->kind);
	scale_take(own, v);
	own->digits = s->digits;
	return own;
}

static const char *print(
	const struct scale *column, double v, double resolution, int with_unit, char out[UNITS_LEN])
{
	struct scale own;
	const struct scale *s;
	int places;
	double in_unit;

	if (isnan(v))
		return "-";
	s = scale_for(column, v, &own);
	in_unit = v / s->unit;
	places = decimals(s, in_unit, resolution);
	if (in_unit != 0 && !(fabs(in_unit) >= UNITS_LEAST && fabs(in_unit) < UNITS_MOST))
		snprintf(out, UNITS_LEN, "%.2e%.20s", in_unit, s->name);
	else if (s->clock)
		clock_text(in_unit, places, out);
	else
		snprintf(out, UNITS_LEN, "%.*f%s", places, units_rounded(in_unit, places),
			with_unit || s != column ? s->name : "");
	return out;
}

const char *scale_text(const struct scale *s, double v, double resolution, char out[UNITS_LEN])
{
	return print(s, v, resolution, 1, out);
}

const char *scale_number(const struct scale *s, double v, double resolution, char out[UNITS_LEN])
{
	return print(s, v, resolution, 0, out);
}

void scale_tell_apart(struct scale *s, double a, double a_resolution, double b, double b_resolution)
{
	char a_text[UNITS_LEN], b_text[UNITS_LEN];
	struct scale finer = *s;

	if (isnan(a) || isnan(b) || a == b)
		return;
	for (; finer.digits <= DIGITS_MAX; finer.digits++)
		if (strcmp(scale_text(&finer, a, a_resolution, a_text),
			    scale_text(&finer, b, b_resolution, b_text)) != 0) {
			*s = finer;
			return;
		}
}
