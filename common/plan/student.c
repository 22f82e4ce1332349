/*
 * Student's t by the closed forms of its distribution for whole degrees of freedom (Abramowitz and
 * Stegun, 26.7.3 and 26.7.4), inverted by bisection.
 */
#include <math.h>

#include "common/plan/student.h"

/* Probability of |T| <= t. */
static double student_two_sided(double t, unsigned df)
{
	double theta = atan(t / sqrt(df)), c = cos(theta), term, sum;

	if (df == 1)
		return 2 * theta / M_PI;
	term = sum = df % 2 ? c : 1;
	for (unsigned k = df % 2 ? 3 : 2; k < df; k += 2) {
		term *= (double)(k - 1) / k * c * c;
		sum += term;
	}
	return df % 2 ? 2 / M_PI * (theta + sin(theta) * sum) : sin(theta) * sum;
}

double student_quantile(double p, unsigned df)
{
	double lo = 0, hi = 1, want = 2 * p - 1;

	while (student_two_sided(hi, df) < want)
		hi *= 2;
	for (int i = 0; i < 60; i++) {
		double mid = (lo + hi) / 2;

		if (student_two_sided(mid, df) < want)
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}
