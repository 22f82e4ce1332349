/*
 * U and the shift. Owns nothing beyond a call.
 * Invariant: only sums of counts, never differences, make a probability.
 */
#include "coordinator/results/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

#define EXACT_MAX 900     /* n_base * n_subject */
#define SHIFT_MAX 4000000 /* differences */
#define OUTSIDE 0.05
#define NORMAL_975 1.959963985 /* quantile of the normal law */

struct sample {
	double value;
	int of_subject;
	double rank; /* mid-rank among all, from 1 */
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static unsigned logs_of(const double *v, size_t n, double *ret)
{
	unsigned kept = 0;

	for (size_t i = 0; i < n; i++)
		if (isfinite(v[i]) && v[i] > 0)
			ret[kept++] = log(v[i]);
	return kept;
}

/* Ranks all values; returns the sum of t^3 - t over groups of t equal ones, 0: none are. */
static double rank_all(
	const double *base, unsigned n, const double *subject, unsigned m, struct sample *ret)
{
	double ties = 0;
	size_t to;

	for (unsigned i = 0; i < n; i++)
		ret[i] = (struct sample){base[i], 0, 0};
	for (unsigned i = 0; i < m; i++)
		ret[n + i] = (struct sample){subject[i], 1, 0};
	qsort(ret, n + m, sizeof(*ret), by_value); /* value comes first */
	for (size_t from = 0; from < n + m; from = to) {
		double t;

		for (to = from; to < n + m && ret[to].value == ret[from].value;)
			to++;
		for (size_t i = from; i < to; i++)
			ret[i].rank = (double)(from + 1 + to) / 2;
		t = (double)(to - from);
		ties += t * t * t - t;
	}
	return ties;
}

/* ret[u] = arrangements of n and m values with that U, u <= n * m. N(n, m, u) = N(n - 1, m, u - m) +
 * N(n, m - 1, u): the greatest value of all is one of the n, before which all m stand, or of the m. */
static void count_untied(unsigned n, unsigned m, double *ret)
{
	size_t top = (size_t)n * m + 1;
	double *f = xcalloc((m + 1) * top, sizeof(*f)); /* f[j * top + u] for the present i */

	for (unsigned j = 0; j <= m; j++)
		f[j * top] = 1;
	for (unsigned i = 1; i <= n; i++)
		for (unsigned j = 1; j <= m; j++)
			for (size_t u = top; u-- > 0;)
				f[j * top + u] = (u >= j ? f[j * top + u - j] : 0) +
						 f[(j - 1) * top + u];
	memcpy(ret, f + m * top, top * sizeof(*ret));
	free(f);
}

static double untied_p(unsigned n, unsigned m, double u)
{
	size_t top = (size_t)n * m;
	double *count = xcalloc(top + 1, sizeof(*count)), all = 0, beyond = 0,
	       middle = (double)top / 2;

	count_untied(n, m, count);
	for (size_t i = 0; i <= top; i++) {
		all += count[i];
		if (fabs((double)i - middle) >= fabs(u - middle))
			beyond += count[i];
	}
	free(count);
	return beyond / all;
}

/* Subsets of m of the mid-ranks by their sum; doubled, these are whole numbers. */
static double tied_p(const struct sample *all, unsigned n, unsigned m, double sum)
{
	size_t top = (size_t)(n + m) * (n + m + 1) + 1;
	double *f = xcalloc((m + 1) * top, sizeof(*f)), ways = 0, beyond = 0,
	       middle = (double)m * (n + m + 1); /* of the doubled sum */

	f[0] = 1;
	for (unsigned i = 0; i < n + m; i++) {
		size_t score = (size_t)llround(2 * all[i].rank);

		for (unsigned k = m; k > 0; k--)
			for (size_t s = top - 1; s >= score; s--)
				f[k * top + s] += f[(k - 1) * top + s - score];
	}
	for (size_t s = 0; s < top; s++) {
		ways += f[m * top + s];
		if (fabs((double)s - middle) >= fabs(2 * sum - middle))
			beyond += f[m * top + s];
	}
	free(f);
	return beyond / ways;
}

static double normal_p(unsigned n, unsigned m, double u, double ties)
{
	double all = (double)n + m, pairs = (double)n * m;
	double var = pairs / 12 * (all + 1 - ties / (all * (all - 1)));
	double off = fmax(0, fabs(u - pairs / 2) - 0.5);

	return var > 0 ? erfc(off / sqrt(var) / M_SQRT2) : 1;
}

static void find_u(const double *base, unsigned n, const double *subject, unsigned m,
	struct ranks *ret)
{
	struct sample *all = xcalloc(n + m, sizeof(*all));
	double ties = rank_all(base, n, subject, m, all), sum = 0;

	for (unsigned i = 0; i < n + m; i++)
		sum += all[i].of_subject ? all[i].rank : 0;
	ret->u = sum - (double)m * (m + 1) / 2;
	ret->exact = (size_t)n * m <= EXACT_MAX && n + m <= 2 * 30;
	if (!ret->exact)
		ret->p = normal_p(n, m, ret->u, ties);
	else if (ties > 0)
		ret->p = tied_p(all, n, m, sum);
	else
		ret->p = untied_p(n, m, ret->u);
	free(all);
}

/* How many differences lie outside of the interval at either end; -1: not even one may. */
static long cut_off(unsigned n, unsigned m)
{
	size_t pairs = (size_t)n * m;
	double *count, all = 0, below = 0;
	long c = -1;

	if (pairs > EXACT_MAX)
		return (long)floor((double)pairs / 2 -
				   NORMAL_975 * sqrt((double)pairs * (n + m + 1) / 12)) -
		       1;
	count = xcalloc(pairs + 1, sizeof(*count));
	count_untied(n, m, count);
	for (size_t i = 0; i <= pairs; i++)
		all += count[i];
	for (size_t i = 0; i <= pairs && 2 * (below + count[i]) <= OUTSIDE * all; i++) {
		below += count[i];
		c = (long)i;
	}
	free(count);
	return c;
}

static void find_shift(const double *base, unsigned n, const double *subject, unsigned m,
	struct ranks *ret)
{
	size_t pairs = (size_t)n * m, k = 0;
	long c = cut_off(n, m);
	double *d;

	if (pairs > SHIFT_MAX)
		return;
	d = xcalloc(pairs, sizeof(*d));
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < m; j++)
			d[k++] = subject[j] - base[i];
	qsort(d, pairs, sizeof(*d), by_value);
	ret->shift = (d[(pairs - 1) / 2] + d[pairs / 2]) / 2;
	if (c >= 0) {
		ret->lo = d[c];
		ret->hi = d[pairs - 1 - (size_t)c];
	}
	free(d);
}

void ranks_compare(const double *base, size_t n_base, const double *subject, size_t n_subject,
	struct ranks *ret)
{
	double *a = xcalloc(n_base + 1, sizeof(*a)), *b = xcalloc(n_subject + 1, sizeof(*b));
	unsigned n = logs_of(base, n_base, a), m = logs_of(subject, n_subject, b);

	*ret = (struct ranks){n, m, NAN, NAN, 0, NAN, NAN, NAN};
	if (n && m) {
		find_u(a, n, b, m, ret);
		find_shift(a, n, b, m, ret);
	}
	free(a);
	free(b);
}
