/*
 * Descriptive statistics. Owns nothing.
 * Invariant: mean and standard deviation keep the digits that the values have (two passes in long
 * double, as NIST's reference sets demand of values that differ in their last digits only).
 */
#include "coordinator/results/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_of(const double *v, size_t n)
{
	double *sorted = xreallocarray(NULL, n, sizeof(*v)), m;

	memcpy(sorted, v, n * sizeof(*v));
	qsort(sorted, n, sizeof(*v), by_value);
	m = n % 2 ? sorted[n / 2] : sorted[n / 2 - 1] / 2 + sorted[n / 2] / 2;
	free(sorted);
	return m;
}

void stats_describe(const double *v, size_t n, struct stats *ret)
{
	long double sum = 0, mean, squares = 0, rest = 0;

	*ret = (struct stats){NAN, NAN, NAN, NAN, NAN};
	if (n == 0)
		return;
	ret->min = ret->max = v[0];
	for (size_t i = 0; i < n; i++) {
		sum += v[i];
		ret->min = fmin(ret->min, v[i]);
		ret->max = fmax(ret->max, v[i]);
	}
	mean = sum / n;
	for (size_t i = 0; i < n; i++)
		rest += v[i] - mean;
	mean += rest / n;
	for (size_t i = 0; i < n; i++)
		squares += (v[i] - mean) * (v[i] - mean);
	ret->mean = (double)mean;
	ret->median = median_of(v, n);
	if (n > 1)
		ret->stddev = (double)sqrtl(squares / (n - 1));
}
