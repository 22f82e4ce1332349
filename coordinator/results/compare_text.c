/*
 * The words of a comparison. Owns nothing.
 * Invariant: percentages are of the metric itself, a geometric ratio less one.
 */
#include <math.h>

#include "coordinator/results/compare.h"

#define PLACES_MAX 6
#define SIDE_PLACES_MAX 4 /* decimals that show on which side of 0 an interval lies */

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


/* -0.0 is printed as +0.0. */
static double rounded(double percent, int places)
{
	double scale = pow(10, places), v = round(percent * scale) / scale;

	return v == 0 ? 0 : v;
}

/* A ratio is above 0, so no change is -100%: what would be rounded to that gets more decimals. */
static void percent_text(double percent, int places, struct buf *out)
{
	double v = rounded(percent, places);

	while (v <= -100 && places < PLACES_MAX)
		v = rounded(percent, ++places);
	if (v <= -100)
		v = -100 + pow(10, -PLACES_MAX);
	buf_addf(out, "%+.*f", places, v);
}

/* As many decimals as the interval's width makes readable, and as show on which side of 0 it lies: a
 * difference that is called is not printed as one that may be none. */
static int decimals(double percent, double lo, double hi)
{
	double half = (hi - lo) / 2, near = lo > 0 ? lo : hi;
	int places = half < 0.1 ? 2 : 1;

	if (fabs(percent) >= 10 && !(half < 0.5))
		places = 0;
	while ((lo > 0 || hi < 0) && rounded(near, places) == 0 && places < SIDE_PLACES_MAX)
		places++;
	return places;
}

void compare_change_text(const struct compared *c, struct buf *out)
{
	double d = 100 * expm1(c->d), lo = 100 * expm1(c->lo), hi = 100 * expm1(c->hi);
	int places = decimals(d, lo, hi);

	if (isnan(d))
		return;
	percent_text(d, places, out);
	buf_addc(out, '%');
	if (isnan(lo))
		return;
	buf_adds(out, " (");
	percent_text(lo, places, out);
	buf_adds(out, "…");
	percent_text(hi, places, out);
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
