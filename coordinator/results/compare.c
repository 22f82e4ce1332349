/*
 * The verdict procedure. Owns nothing beyond a call.
 * Invariant: a verdict other than too-few rests on an interval; the family's size and level are
 * what the caller fixed before it looked at data.
 */
#include "coordinator/results/compare.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "coordinator/results/dist.h"
#include "coordinator/results/stats.h"

#define MIN_HOSTS 3
#define MIN_PAIRS 3
#define MIN_SIDE 3
#define MIN_SUMMARY 4
#define POWER 0.8
/* Logarithms of equal ratios differ in their last bits: spread below this is none. */
#define NO_SPREAD 1e-14

static int is_value(double v)
{
	return isfinite(v) && v > 0;
}

/* Logarithms of a side's values. */
static unsigned side_logs(const struct compare_side *s, double *ret)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n && !s->summary_only; i++)
		if (is_value(s->values[i]))
			ret[n++] = log(s->values[i]);
	return n;
}

/* Of listed values, those that are none left out. */
static void describe(const struct compare_side *s, struct stats *ret)
{
	double *v = xcalloc(s->n + 1, sizeof(*v));
	size_t n = 0;

	for (unsigned i = 0; i < s->n; i++)
		if (is_value(s->values[i]))
			v[n++] = s->values[i];
	stats_describe(v, n, ret);
	free(v);
}

static double mean_of(const struct compare_side *s)
{
	struct stats d;

	if (s->summary_only)
		return s->mean;
	describe(s, &d);
	return d.mean;
}

/* What rounding can do to the ln ratio. */
static double rounding(const struct compare_host *h)
{
	double r = 0;

	if (h->base.resolution > 0)
		r += h->base.resolution / (2 * mean_of(&h->base));
	if (h->subject.resolution > 0)
		r += h->subject.resolution / (2 * mean_of(&h->subject));
	return r;
}

/* ln ratios of complete pairs; ret has room for the smaller side. */
static unsigned pair_logs(const struct compare_host *h, double *ret)
{
	const struct compare_side *a = &h->base, *b = &h->subject;
	unsigned n = 0;

	for (unsigned i = 0, k = 0; i < a->n && k < b->n;) {
		if (a->blocks[i] < b->blocks[k]) {
			i++;
		} else if (a->blocks[i] > b->blocks[k]) {
			k++;
		} else {
			if (is_value(a->values[i]) && is_value(b->values[k]))
				ret[n++] = log(b->values[k]) - log(a->values[i]);
			i++;
			k++;
		}
	}
	return n;
}

static int is_paired(const struct compare_host *h)
{
	return h->random_blocks && h->base.blocks && h->subject.blocks && !h->base.summary_only &&
	       !h->subject.summary_only;
}

/* A failed trial leaves with its pair: what is left of others is no sample for Welch's estimate, whose
 * sides would be of different times. */
static void estimate_paired(const struct compare_host *h, struct compared *ret)
{
	double *d = xcalloc(h->base.n + 1, sizeof(*d));
	struct stats s;
	unsigned m = pair_logs(h, d);

	stats_describe(d, m, &s);
	free(d);
	ret->n = ret->n_base = ret->n_subject = m;
	ret->d = s.mean;
	if (m < MIN_PAIRS) {
		ret->unpaired = m < h->base.n && m < h->subject.n;
		return;
	}
	ret->estimator = ESTIMATOR_PAIRED;
	ret->se = s.stddev / sqrt(m);
	ret->df = m - 1;
}

/* Welch and Satterthwaite; where one side has more than twice the other's values, the smaller
 * side's own degrees of freedom. */
static double welch_df(double va, unsigned na, double vb, unsigned nb)
{
	unsigned lo = na < nb ? na : nb, hi = na < nb ? nb : na;
	double sum = va + vb;

	if (hi > 2 * lo || !(sum > 0))
		return lo - 1;
	return sum * sum / (va * va / (na - 1) + vb * vb / (nb - 1));
}

static void estimate_welch(const struct compare_host *h, struct compared *ret)
{
	double *a = xcalloc(h->base.n + 1, sizeof(*a)), *b = xcalloc(h->subject.n + 1, sizeof(*b));
	unsigned na = side_logs(&h->base, a), nb = side_logs(&h->subject, b);
	struct stats sa, sb;
	double va, vb;

	stats_describe(a, na, &sa);
	stats_describe(b, nb, &sb);
	free(a);
	free(b);
	ret->n_base = na;
	ret->n_subject = nb;
	ret->n = na < nb ? na : nb;
	ret->d = sb.mean - sa.mean;
	if (ret->n < MIN_SIDE)
		return;
	va = sa.stddev * sa.stddev / na;
	vb = sb.stddev * sb.stddev / nb;
	ret->estimator = ESTIMATOR_WELCH;
	ret->se = sqrt(va + vb);
	ret->df = welch_df(va, na, vb, nb);
}

double compare_summary_variance(unsigned n, double mean, double min, double max, double resolution)
{
	double half = resolution / 2, hi = max + half, lo = min - half, worst = (hi + lo) / 2;

	worst = fmin(fmax(worst, mean - half), mean + half);
	return fmax(0, (hi - worst) * (worst - lo) * n / (n - 1));
}

/* What is told of a summary's spread: itself, or what bounds it. NaN: nothing. */
static double summary_variance(const struct compare_side *s)
{
	double sd = s->stddev + s->stddev_resolution / 2;

	if (s->has_stddev)
		return sd * sd;
	if (isnan(s->min) || isnan(s->max))
		return NAN;
	return compare_summary_variance(s->n, s->mean, s->min, s->max, s->resolution);
}

/* Squared relative standard error of a side's mean; -1 when it has too few trials. */
static double side_error(const struct compare_side *s, unsigned *ret_n)
{
	double variance;
	struct stats d;

	if (s->summary_only) {
		*ret_n = s->n;
		variance = summary_variance(s);
		if (s->n < MIN_SUMMARY || !is_value(s->mean) || isnan(variance))
			return -1;
		return variance / (s->n * s->mean * s->mean);
	}
	describe(s, &d);
	*ret_n = (unsigned)d.n;
	return d.n < MIN_SIDE ? -1 : d.stddev * d.stddev / ((double)d.n * d.mean * d.mean);
}

/* Neither a standard deviation nor a range stands beside the mean. */
static int lacks_spread(const struct compare_side *s)
{
	return s->summary_only && s->n >= MIN_SUMMARY && is_value(s->mean) && isnan(summary_variance(s));
}

static int has_enough(const struct compare_side *s, double error)
{
	return error >= 0 || lacks_spread(s);
}

static void estimate_summary(const struct compare_host *h, struct compared *ret)
{
	double ma = mean_of(&h->base), mb = mean_of(&h->subject);
	double a = side_error(&h->base, &ret->n_base), b = side_error(&h->subject, &ret->n_subject);

	ret->n = ret->n_base < ret->n_subject ? ret->n_base : ret->n_subject;
	if (is_value(ma) && is_value(mb))
		ret->d = log(mb) - log(ma);
	if (a < 0 || b < 0 || isnan(ret->d)) {
		ret->spread_untold = (a < 0 || b < 0) && has_enough(&h->base, a) &&
				     has_enough(&h->subject, b);
		return;
	}
	ret->estimator = ESTIMATOR_SUMMARY;
	ret->se = sqrt(a + b);
	ret->df = ret->n - 1;
}

static void estimate_host(const struct compare_host *h, struct compared *ret)
{
	if (is_paired(h))
		estimate_paired(h, ret);
	else if (h->base.summary_only || h->subject.summary_only)
		estimate_summary(h, ret);
	else
		estimate_welch(h, ret);
	ret->r = rounding(h);
}

/* A host's mean ln ratio; NaN when it lacks a side. */
static double host_ratio(const struct compare_host *h, struct compared *one)
{
	*one = (struct compared){.d = NAN};
	if (!h->base.summary_only && !h->subject.summary_only)
		estimate_host(h, one);
	return one->d;
}

size_t compare_hosts_with_both(const struct compare_host *hosts, size_t n_hosts)
{
	struct compared one;
	size_t n = 0;

	for (size_t i = 0; i < n_hosts; i++)
		n += !isnan(host_ratio(&hosts[i], &one));
	return n;
}

static void estimate_hosts(const struct compare_host *hosts, size_t n_hosts, struct compared *ret)
{
	double *d = xcalloc(n_hosts + 1, sizeof(*d)), r = 0;
	struct compared one;
	struct stats s;

	for (size_t i = 0; i < n_hosts; i++) {
		double ratio = host_ratio(&hosts[i], &one);

		if (isnan(ratio))
			continue;
		d[ret->n++] = ratio;
		ret->n_base += one.n_base;
		ret->n_subject += one.n_subject;
		r += one.r;
	}
	stats_describe(d, ret->n, &s);
	free(d);
	ret->d = s.mean;
	ret->r = ret->n ? r / ret->n : 0;
	if (ret->n < MIN_HOSTS)
		return;
	ret->estimator = ESTIMATOR_HOSTS;
	ret->se = s.stddev / sqrt(ret->n);
	ret->df = ret->n - 1;
}

double compare_mde(double se, double df, double alpha, unsigned k)
{
	double t = dist_t_quantile(1 - alpha / k / 2, df) + dist_t_quantile(POWER, df);

	return exp(t * se) - 1;
}

static void judge(const struct compare_terms *t, struct compared *c)
{
	double a = t->alpha / t->k, half, inside = log1p(t->margin);

	if (c->estimator == ESTIMATOR_NONE)
		return;
	if (c->se < NO_SPREAD)
		c->se = 0;
	if (c->se + c->r <= 0) {
		c->identical = 1;
		return;
	}
	half = dist_t_quantile(1 - a / 2, c->df) * c->se + c->r;
	c->lo = c->d - half;
	c->hi = c->d + half;
	c->bound = fmax(fabs(expm1(c->lo)), fabs(expm1(c->hi)));
	c->mde = compare_mde(c->se, c->df, t->alpha, t->k);
	if (c->se > 0)
		c->p_adjusted =
			fmin(1, t->k * dist_t_two_sided(fmax(0, fabs(c->d) - c->r) / c->se, c->df));
	c->within_margin = t->margin > 0 && c->lo > -inside && c->hi < inside;
	c->verdict = VERDICT_NO_DIFFERENCE;
	if (fabs(c->d) < COMPARE_NO_RATIO)
		return;
	if (c->lo > 0)
		c->verdict = t->higher_is_better ? VERDICT_FASTER : VERDICT_SLOWER;
	else if (c->hi < 0)
		c->verdict = t->higher_is_better ? VERDICT_SLOWER : VERDICT_FASTER;
}

void compare(const struct compare_host *hosts, size_t n_hosts, const struct compare_terms *t,
	struct compared *ret)
{
	*ret = (struct compared){.estimator = ESTIMATOR_NONE,
		.verdict = VERDICT_TOO_FEW,
		.d = NAN,
		.se = NAN,
		.df = NAN,
		.r = NAN,
		.lo = NAN,
		.hi = NAN,
		.p_adjusted = NAN,
		.bound = NAN,
		.mde = NAN};
	if (n_hosts == 1)
		estimate_host(hosts, ret);
	else if (n_hosts >= MIN_HOSTS)
		estimate_hosts(hosts, n_hosts, ret);
	judge(t, ret);
}

double compare_half_width(const struct compare_precision *c, unsigned k)
{
	if (!(c->df > 0) || !isfinite(c->se))
		return NAN;
	return dist_t_quantile(1 - 0.025 / k, c->df) * c->se;
}

int compare_is_precise(const struct compare_precision *c, size_t n, unsigned k, double until)
{
	for (size_t i = 0; i < n; i++)
		if (!(compare_half_width(&c[i], k) <= log1p(until)))
			return 0;
	return n > 0;
}
