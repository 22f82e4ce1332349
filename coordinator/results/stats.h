/* Descriptive statistics of a few values. Pure. */
#ifndef COORDINATOR_RESULTS_STATS_H
#define COORDINATOR_RESULTS_STATS_H

#include <stddef.h>

struct stats {
	size_t n;
	double mean, median, min, max; /* NaN for n = 0 */
	double stddev;                 /* of the sample (n - 1); NaN for n < 2 */
	double cv;                     /* stddev / |mean|; NaN where either is none */
	double ci95[2];                /* of the mean, by Student's t; NaN for n < 2 */
	/* The narrowest symmetric pair of order statistics that holds the median with at least 95 %
	 * whatever the distribution; NaN below six values, where there is none. */
	double median_ci[2];
};
void stats_describe(const double *v, size_t n, struct stats *ret);

#endif
