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
#include "coordinator/results/dist.h"

#define CONFIDENCE 0.95
#define MEDIAN_MIN_N 6 /* 1 - 2/2^5 = 93.75 %: five values cannot hold the median with 95 % */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double *sorted_copy(const double *v, size_t n)
{
	double *sorted = xreallocarray(NULL, n, sizeof(*v));

	memcpy(sorted, v, n * sizeof(*v));
	qsort(sorted, n, sizeof(*v), by_value);
	return sorted;
}

static void order_statistics(const double *sorted, size_t n, double ret[2])
{
	size_t j = 0; /* sorted[j] and its mirror: P(outside) = 2 * P(at most j of n below) */

	while (j + 1 < n / 2 &&
		2 * dist_half_binomial((unsigned)(j + 1), (unsigned)n) <= 1 - CONFIDENCE)
		j++;
	ret[0] = sorted[j];
	ret[1] = sorted[n - 1 - j];
}

static void describe_order(const double *v, size_t n, struct stats *ret)
{
	double *sorted = sorted_copy(v, n);

	ret->min = sorted[0];
	ret->max = sorted[n - 1];
	ret->median = n % 2 ? sorted[n / 2] : sorted[n / 2 - 1] / 2 + sorted[n / 2] / 2;
	if (n >= MEDIAN_MIN_N)
		order_statistics(sorted, n, ret->median_ci);
	free(sorted);
}

void stats_describe(const double *v, size_t n, struct stats *ret)
{
	long double sum = 0, mean, squares = 0, rest = 0;
	double half;

	*ret = (struct stats){n, NAN, NAN, NAN, NAN, NAN, NAN, {NAN, NAN}, {NAN, NAN}};
	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++)
		sum += v[i];
	mean = sum / n;
	for (size_t i = 0; i < n; i++)
		rest += v[i] - mean;
	mean += rest / n;
	for (size_t i = 0; i < n; i++)
		squares += (v[i] - mean) * (v[i] - mean);
	ret->mean = (double)mean;
	describe_order(v, n, ret);
	if (n < 2)
		return;
	ret->stddev = (double)sqrtl(squares / (n - 1));
	if (ret->mean != 0)
		ret->cv = ret->stddev / fabs(ret->mean);
	half = dist_t_quantile(1 - (1 - CONFIDENCE) / 2, (double)(n - 1)) * ret->stddev /
	       sqrt((double)n);
	ret->ci95[0] = ret->mean - half;
	ret->ci95[1] = ret->mean + half;
}
