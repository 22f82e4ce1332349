/*
 * The words of a comparison. Owns nothing.
 * Invariant: percentages are of the metric itself, a geometric ratio less one.
 */
#include <float.h>
#include <math.h>

#include "common/base/units.h"
#include "coordinator/results/compare.h"

#define PLACES_MAX 6
#define SIDE_PLACES_MAX 2 /* decimals of all three numbers; beyond that a bound has its own */
#define HALF_PLACES_MAX 4 /* decimals that a narrow interval makes readable */
#define EXPONENT_FROM 1e6 /* per cent, whose digits nobody counts */
#define EXPONENT_PLACES 2
#define WHOLE_FROM 1000 /* per cent, which wide intervals make no use of decimals of */
#define NOISE 1e-10 /* per cent: what is left of 0 where logarithms are added and taken away */

const char *verdict_name(enum verdict v)
{
	static const char *const names[] = {"too-few", "no-difference", "faster", "slower"};

	return names[v];
}

const char *estimator_name(enum estimator e)
{
	static const char *const names[] = {NULL, "hosts", "paired", "welch", "bounded"};

	return names[e];
}

/* "+1.00e+08": three digits, and more where what it may be off by makes more of them readable. */
static void large_text(double percent, double half, struct buf *out)
{
	double places = round(log10(percent / half));

	if (!(places > EXPONENT_PLACES))
		places = EXPONENT_PLACES;
	buf_addf(out, "%+.*e", places < PLACES_MAX ? (int)places : PLACES_MAX, fmin(percent, DBL_MAX));
}

/* A ratio is above 0, so no change is -100%: what would be rounded to that gets more decimals. So does what
 * would be rounded to 0 where it is to show its `side`; what has no digit there either is printed as the
 * least that has one. half: half of the interval's width, NaN where there is none. */
static void percent_text(double percent, double half, int places, int side, struct buf *out)
{
	double v;

	if (percent >= EXPONENT_FROM) {
		large_text(percent, half, out);
		return;
	}
	if (percent >= WHOLE_FROM && half >= 1)
		places = 0;
	v = units_rounded(percent, places);
	side = side && fabs(percent) > NOISE;
	while ((v <= -100 || (v == 0 && side)) && places < PLACES_MAX)
		v = units_rounded(percent, ++places);
	if (v <= -100)
		v = -100 + pow(10, -PLACES_MAX);
	if (v == 0 && side)
		v = copysign(pow(10, -PLACES_MAX), percent);
	buf_addf(out, "%+.*f", places, v);
}

/* As many decimals as the interval's width makes readable, and up to two that show on which side of 0 it
 * lies. */
static int decimals(double percent, double lo, double hi)
{
	double half = (hi - lo) / 2, near = lo > 0 ? lo : hi;
	int places = 1;

	while (half < pow(10, -places) && places < HALF_PLACES_MAX)
		places++;
	if (fabs(percent) >= 10 && !(half < 0.5))
		places = 0;
	while ((lo > 0 || hi < 0) && units_rounded(near, places) == 0 && places < SIDE_PLACES_MAX)
		places++;
	return places;
}

void compare_percent_text(double ln, struct buf *out)
{
	percent_text(100 * expm1(ln), NAN, 1, 1, out);
	buf_addc(out, '%');
}

/* A difference that is called is not printed as one that may be none, nor the other way round. */
void compare_change_text(const struct compared *c, struct buf *out)
{
	double d = 100 * expm1(c->d), lo = 100 * expm1(c->lo), hi = 100 * expm1(c->hi);
	double half = (hi - lo) / 2;
	int places = decimals(d, lo, hi);

	if (isnan(d))
		return;
	percent_text(d, half, places, c->lo > 0 || c->hi < 0, out);
	buf_addc(out, '%');
	if (isnan(lo))
		return;
	buf_adds(out, " (");
	percent_text(lo, half, places, 1, out);
	buf_adds(out, "…");
	percent_text(hi, half, places, 1, out);
	buf_adds(out, "%)");
}

static void too_few_text(const struct compared *c, struct buf *out)
{
	if (c->identical)
		buf_adds(out, "identical: no spread to judge by");
	else if (c->spread_untold)
		buf_adds(out, "no spread told");
	else if (c->unpaired)
		buf_addf(out, "too few complete blocks (n = %u)", c->n);
	else
		buf_addf(out, "too few trials (n = %u)", c->n);
}

void compare_verdict_text(const struct compared *c, double margin, struct buf *out)
{
	switch (c->verdict) {
	case VERDICT_TOO_FEW:
		too_few_text(c, out);
		break;
	case VERDICT_NO_DIFFERENCE:
		if (c->within_margin)
			buf_addf(out, "no difference above %g%%", 100 * margin);
		else
			buf_adds(out, "no difference shown");
		break;
	default:
		buf_adds(out, verdict_name(c->verdict));
		if (c->within_margin)
			buf_addf(out, ", but under %g%%", 100 * margin);
	}
}
