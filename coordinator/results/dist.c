/*
 * Distributions, by GSL. Owns nothing.
 * Invariant: arguments are checked here, so that GSL's error handler is never asked; it is off all
 * the same.
 */
#include "coordinator/results/dist.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <math.h>

double dist_t_quantile(double p, double df)
{
	gsl_set_error_handler_off();
	if (!(p > 0 && p < 1) || !(df > 0) || isinf(df))
		return NAN;
	return gsl_cdf_tdist_Pinv(p, df);
}

double dist_t_two_sided(double t, double df)
{
	gsl_set_error_handler_off();
	if (!(t >= 0) || !(df > 0) || isinf(df))
		return NAN;
	return isinf(t) ? 0 : 2 * gsl_cdf_tdist_Q(t, df);
}

double dist_half_binomial(unsigned k, unsigned n)
{
	gsl_set_error_handler_off();
	return k >= n ? 1 : gsl_cdf_binomial_P(k, 0.5, n);
}
