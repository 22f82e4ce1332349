/* Descriptive statistics of a few values. */
#ifndef COORDINATOR_RESULTS_STATS_H
#define COORDINATOR_RESULTS_STATS_H

#include <stddef.h>

struct stats {
	double mean, median, min, max; /* NaN for n = 0 */
	double stddev;                 /* of the sample (n - 1); NaN for n < 2 */
};
void stats_describe(const double *v, size_t n, struct stats *ret);

#endif
