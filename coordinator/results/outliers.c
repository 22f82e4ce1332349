/*
 * Generalised ESD. Owns nothing beyond a call.
 * Invariant: how many are called is decided by the last step whose statistic passes, so that
 * several outliers do not hide each other.
 */
#include "coordinator/results/outliers.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "coordinator/results/compare.h"
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

/* A value as its distance from the median, and where it stood. */
struct placed {
	long double v;
	size_t at;
};
/* Values by size, of which v[lo..hi] are left. Sums run outwards from the median, so that what a far
 * value would round away from the sum of near ones is never in it: sum[i] is of all between the median
 * and i, both included. */
struct ordered {
	struct placed *v;
	long double *sum, *squares;
	size_t n, middle, lo, hi;
};

static int by_value(const void *va, const void *vb)
{
	const struct placed *a = va, *b = vb;

	if (a->v != b->v)
		return a->v < b->v ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static void sum_outwards(struct ordered *o)
{
	o->sum[o->middle] = o->squares[o->middle] = 0; /* the median's distance from itself */
	for (size_t i = o->middle; i-- > 0;) {
		o->sum[i] = o->sum[i + 1] + o->v[i].v;
		o->squares[i] = o->squares[i + 1] + o->v[i].v * o->v[i].v;
	}
	for (size_t i = o->middle + 1; i < o->n; i++) {
		o->sum[i] = o->sum[i - 1] + o->v[i].v;
		o->squares[i] = o->squares[i - 1] + o->v[i].v * o->v[i].v;
	}
}

/* n > 0. */
static void order(struct ordered *o, const double *v, size_t n)
{
	long double median;

	*o = (struct ordered){.v = xcalloc(n, sizeof(*o->v)),
		.sum = xcalloc(n, sizeof(*o->sum)),
		.squares = xcalloc(n, sizeof(*o->squares)),
		.n = n,
		.middle = n / 2,
		.hi = n - 1};
	for (size_t i = 0; i < n; i++)
		o->v[i] = (struct placed){v[i], i};
	qsort(o->v, n, sizeof(*o->v), by_value);
	median = o->v[o->middle].v;
	for (size_t i = 0; i < n; i++)
		o->v[i].v -= median;
	sum_outwards(o);
}

static void ordered_clear(struct ordered *o)
{
	free(o->v);
	free(o->sum);
	free(o->squares);
}

/* Takes the most extreme of those left, which is at one end; its deviate. */
static size_t take_extreme(struct ordered *o, double *ret_deviate)
{
	long double n = (long double)(o->hi - o->lo + 1), mean = (o->sum[o->lo] + o->sum[o->hi]) / n;
	long double squares = o->squares[o->lo] + o->squares[o->hi] - n * mean * mean;
	long double below = mean - o->v[o->lo].v, above = o->v[o->hi].v - mean;
	double spread = o->v[o->lo].v < o->v[o->hi].v ? (double)sqrtl(squares / (n - 1)) : 0;

	*ret_deviate = spread > 0 ? (double)fmaxl(below, above) / spread : 0;
	return above > below ? o->v[o->hi--].at : o->v[o->lo++].at;
}

size_t outliers_esd(const double *v, size_t n, size_t most, double alpha, size_t *ret)
{
	struct ordered left;
	size_t called = 0;
	double deviate;

	if (n <= 2)
		return 0;
	order(&left, v, n);
	most = most < n / 2 ? most : n / 2; /* the median stays */
	for (size_t i = 0; i < most && n - i > 2; i++) {
		ret[i] = take_extreme(&left, &deviate);
		if (deviate > critical(n, i, alpha))
			called = i + 1;
	}
	ordered_clear(&left);
	return called;
}

double outliers_peers(const double *v, size_t n, const size_t *out, size_t n_out)
{
	unsigned char *is_out = xcalloc(n + 1, 1);
	size_t peers = 0;
	double sum = 0;

	for (size_t i = 0; i < n_out; i++)
		is_out[out[i]] = 1;
	for (size_t i = 0; i < n; i++) {
		sum += is_out[i] ? 0 : v[i];
		peers += !is_out[i];
	}
	free(is_out);
	return peers ? sum / (double)peers : NAN;
}

size_t outliers_hosts(const double *v, size_t n, double margin, size_t *ret, double *ret_peers)
{
	size_t most = n / 10 > 1 ? n / 10 : 1, called, kept = 0;
	size_t *all = xcalloc(most, sizeof(*all));
	double peers, least = fmax(log1p(margin), COMPARE_NO_RATIO);

	called = n < MIN_HOSTS ? 0 : outliers_esd(v, n, most, ALPHA, all);
	peers = outliers_peers(v, n, all, called);
	for (size_t i = 0; i < called; i++)
		if (fabs(v[all[i]] - peers) > least)
			ret[kept++] = all[i];
	free(all);
	if (ret_peers)
		*ret_peers = peers;
	return kept;
}
