/*
 * Zipf by rejection-inversion (W. Hörmann and G. Derflinger, "Rejection-inversion to generate
 * variates from monotone discrete distributions", ACM TOMACS 6(3), 1996): constant time and no table,
 * for any exponent and range. Ranks are spread over the range by a permutation, so that hot blocks
 * are no neighbours. Owns nothing.
 */
#include "agent/workload/random_pick.h"

#include <math.h>

/* ---- a permutation of 0 .. n - 1 ---- */

static uint64_t permute_bits(const struct picker *p, uint64_t x)
{
	uint64_t mask = ((uint64_t)1 << p->bits) - 1;
	unsigned half = p->bits / 2 + 1;

	for (unsigned i = 0; i < 2; i++) {
		x = (x * (p->key[i] | 1) + (p->key[i] >> 7)) & mask;
		x ^= x >> half;
		x = (x * 0x9e3779b97f4a7c15ULL) & mask;
		x ^= x >> half;
	}
	return x;
}

/* Each step above can be undone on 2^bits numbers; following the cycle until it comes back into the
 * range makes that a permutation of the range (cycle walking). */
static uint64_t permute(const struct picker *p, uint64_t x)
{
	do
		x = permute_bits(p, x);
	while (x >= p->n);
	return x;
}

/* ---- Zipf: H is the integral of x^-exponent from 1, by forms that hold near an exponent of 1 ---- */

/* (e^x - 1) / x */
static double growth(double x)
{
	return fabs(x) > 1e-8 ? expm1(x) / x : 1 + x / 2;
}

/* log(1 + x) / x */
static double shrinkage(double x)
{
	return fabs(x) > 1e-8 ? log1p(x) / x : 1 - x / 2;
}

static double integral(const struct picker *p, double x)
{
	double l = log(x);

	return growth((1 - p->exponent) * l) * l;
}

static double integral_inverse(const struct picker *p, double y)
{
	double t = y * (1 - p->exponent);

	if (t < -1) /* rounding at the far end */
		t = -1;
	return exp(shrinkage(t) * y);
}

static double density(const struct picker *p, double x)
{
	return exp(-p->exponent * log(x));
}

/* A rank from 1. */
static uint64_t zipf_rank(struct picker *p)
{
	for (;;) {
		double u = (double)(picker_bits(p) >> 11) * 0x1p-53, x, k;

		u = p->at_last + u * (p->at_first - p->at_last);
		x = integral_inverse(p, u);
		k = floor(x + 0.5);
		if (!(k >= 1))
			k = 1;
		if (k > (double)p->n)
			k = (double)p->n;
		if (k - x <= p->squeeze || u >= integral(p, k + 0.5) - density(p, k))
			return (uint64_t)k;
	}
}

void picker_init(struct picker *p, enum pick_kind kind, uint64_t seed, uint64_t first, uint64_t n,
	double exponent)
{
	*p = (struct picker){
		.kind = kind, .state = seed, .first = first, .n = n, .exponent = exponent};
	p->bits = n > 2 ? 64 - (unsigned)__builtin_clzll(n - 1) : 1;
	p->key[0] = picker_bits(p);
	p->key[1] = picker_bits(p);
	if (kind != PICK_ZIPF)
		return;
	p->at_first = integral(p, 1.5) - 1;
	p->at_last = integral(p, (double)n + 0.5);
	p->squeeze = 2 - integral_inverse(p, integral(p, 2.5) - density(p, 2));
}

uint64_t picker_next_other(struct picker *p)
{
	if (p->kind == PICK_ZIPF)
		return p->first + permute(p, zipf_rank(p) - 1);
	if (p->next == p->n)
		return PICK_NONE;
	return p->first + permute(p, p->next++);
}
