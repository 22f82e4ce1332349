/*
 * Generalised ESD. Owns nothing beyond a call.
 * Invariant: how many are called is decided by the last step whose statistic passes, so that
 * several outliers do not hide each other.
 */
#include "coordinator/results/outliers.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "coordinator/results/dist.h"

#define ALPHA 0.05
#define MIN_HOSTS 5

/* Critical value when i values were removed from n before this step (i from 0). */
static double critical(size_t n, size_t i, double alpha)
{
	double left = (double)(n - i), df = left - 2;
	double t = dist_t_quantile(1 - alpha / (2 * left), df);

	return (left - 1) * t / sqrt((df + t * t) * left);
}

/* The most extreme of the n values left, as an index; its deviate. */
static size_t most_extreme(const double *v, size_t n, double *ret_deviate)
{
	long double mean = 0, squares = 0;
	size_t at = 0;
	double spread;

	for (size_t i = 0; i < n; i++)
		mean += v[i] / (long double)n;
	for (size_t i = 0; i < n; i++)
		squares += (v[i] - mean) * (v[i] - mean);
	for (size_t i = 1; i < n; i++)
		if (fabsl(v[i] - mean) > fabsl(v[at] - mean))
			at = i;
	spread = (double)sqrtl(squares / (long double)(n - 1));
	*ret_deviate = spread > 0 ? (double)fabsl(v[at] - mean) / spread : 0;
	return at;
}

size_t outliers_esd(const double *v, size_t n, size_t most, double alpha, size_t *ret)
{
	double *left = xcalloc(n + 1, sizeof(*left)), deviate;
	size_t *index = xcalloc(n + 1, sizeof(*index)), called = 0;

	for (size_t i = 0; i < n; i++) {
		left[i] = v[i];
		index[i] = i;
	}
	for (size_t i = 0; i < most && n - i > 2 && n > 2; i++) {
		size_t at = most_extreme(left, n - i, &deviate);

		ret[i] = index[at];
		if (deviate > critical(n, i, alpha))
			called = i + 1;
		left[at] = left[n - i - 1];
		index[at] = index[n - i - 1];
	}
	free(left);
	free(index);
	return called;
}

double outliers_distance(const double *v, size_t n, const size_t *out, size_t n_out, size_t i)
{
	double sum = 0;
	size_t peers = 0;

	for (size_t k = 0; k < n; k++) {
		int is_out = k == i;

		for (size_t o = 0; o < n_out; o++)
			is_out |= out[o] == k;
		if (is_out)
			continue;
		sum += v[k];
		peers++;
	}
	return peers ? v[i] - sum / (double)peers : 0;
}

size_t outliers_hosts(const double *v, size_t n, double margin, size_t *ret)
{
	size_t most = n / 10 > 1 ? n / 10 : 1, called, kept = 0;
	size_t *all = xcalloc(most, sizeof(*all));

	called = n < MIN_HOSTS ? 0 : outliers_esd(v, n, most, ALPHA, all);
	for (size_t i = 0; i < called; i++)
		if (fabs(outliers_distance(v, n, all, called, all[i])) > log1p(margin))
			ret[kept++] = all[i];
	free(all);
	return kept;
}
