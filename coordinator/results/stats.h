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
	double median_ci[2];           /* see stats_median_interval; NaN for n < 6 */
};
void stats_describe(const double *v, size_t n, struct stats *ret);

/* The narrowest symmetric pair of order statistics that holds the median with at least 95 %
 * whatever the distribution: 0 and the values, -1 below six values, where there is none. */
int stats_median_interval(const double *v, size_t n, double ret[2]);

#endif
