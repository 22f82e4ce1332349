/*
 * The words of a comparison. Owns nothing.
 * Invariant: percentages are of the metric itself, a geometric ratio less one.
 */
#include <math.h>

#include "common/base/units.h"
#include "coordinator/results/compare.h"

#define PLACES_MAX 6
#define SIDE_PLACES_MAX 2 /* decimals of all three numbers; beyond that a bound has its own */
#define HALF_PLACES_MAX 4 /* decimals that a narrow interval makes readable */
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

/* A ratio is above 0, so no change is -100%: what would be rounded to that gets more decimals. So does what
 * would be rounded to 0 where it is to show its `side`; what has no digit there either is printed as the
 * least that has one. */
static void percent_text(double percent, int places, int side, struct buf *out)
{
	double v = units_rounded(percent, places);

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
	percent_text(100 * expm1(ln), 1, 1, out);
	buf_addc(out, '%');
}

/* A difference that is called is not printed as one that may be none, nor the other way round. */
void compare_change_text(const struct compared *c, struct buf *out)
{
	double d = 100 * expm1(c->d), lo = 100 * expm1(c->lo), hi = 100 * expm1(c->hi);
	int places = decimals(d, lo, hi);

	if (isnan(d))
		return;
	percent_text(d, places, c->lo > 0 || c->hi < 0, out);
	buf_addc(out, '%');
	if (isnan(lo))
		return;
	buf_adds(out, " (");
	percent_text(lo, places, 1, out);
	buf_adds(out, "…");
	percent_text(hi, places, 1, out);
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
