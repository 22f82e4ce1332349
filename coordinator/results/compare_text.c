/*
 * The words of a comparison. Owns nothing.
 * Invariant: percentages are of the metric itself, a geometric ratio less one.
 */
#include <math.h>

#include "coordinator/results/compare.h"

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

/* As many decimals as the interval's width makes readable. */
static int decimals(double percent, double half)
{
	if (fabs(percent) >= 10 && !(half < 0.5))
		return 0;
	return half < 0.1 ? 2 : 1;
}

/* -0.0 is printed as +0.0. */
static double rounded(double percent, int places)
{
	double scale = pow(10, places), v = round(percent * scale) / scale;

	return v == 0 ? 0 : v;
}

void compare_change_text(const struct compared *c, struct buf *out)
{
	double d = 100 * expm1(c->d), lo = 100 * expm1(c->lo), hi = 100 * expm1(c->hi);
	int places = decimals(d, (hi - lo) / 2);

	if (isnan(d))
		return;
	buf_addf(out, "%+.*f%%", places, rounded(d, places));
	if (!isnan(lo))
		buf_addf(out, " (%+.*f…%+.*f%%)", places, rounded(lo, places), places,
			rounded(hi, places));
}

static void too_few_text(const struct compared *c, struct buf *out)
{
	if (c->identical)
		buf_adds(out, "identical: no spread to judge by");
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
