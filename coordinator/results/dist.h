/*
 * Distributions that the statistics need. A thin wrapper over GSL, which aborts by default: only
 * these functions call it. Pure.
 */
#ifndef COORDINATOR_RESULTS_DIST_H
#define COORDINATOR_RESULTS_DIST_H

/* The value that Student's t with df > 0 degrees of freedom (fractions are fine) stays below with
 * probability p, 0 < p < 1. NaN for arguments outside. */
double dist_t_quantile(double p, double df);
/* Probability of |T| >= t, t >= 0. NaN for arguments outside. */
double dist_t_two_sided(double t, double df);
/* Probability of at most k successes among n with chance 1/2 each. */
double dist_half_binomial(unsigned k, unsigned n);

#endif
