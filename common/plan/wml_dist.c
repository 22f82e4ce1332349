/* Distributions of workload files. Owns nothing. */
#include "common/plan/wml_dist.h"

#include <math.h>

static uint64_t splitmix64(uint64_t *x)
{
	uint64_t z = (*x += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static uint64_t rotate(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

void wml_random_seed(struct wml_random *r, uint64_t seed, uint64_t stream)
{
	uint64_t x = seed;

	x = splitmix64(&x) ^ stream;
	for (int i = 0; i < 4; i++)
		r->s[i] = splitmix64(&x);
}

uint64_t wml_random_next(struct wml_random *r)
{
	uint64_t out = rotate(r->s[1] * 5, 7) * 9, t = r->s[1] << 17;

	r->s[2] ^= r->s[0];
	r->s[3] ^= r->s[1];
	r->s[1] ^= r->s[2];
	r->s[0] ^= r->s[3];
	r->s[2] ^= t;
	r->s[3] = rotate(r->s[3], 45);
	return out;
}

uint64_t wml_random_below(struct wml_random *r, uint64_t n)
{
	return (uint64_t)((unsigned __int128)wml_random_next(r) * n >> 64);
}

double wml_random_unit(struct wml_random *r)
{
	return (double)(wml_random_next(r) >> 11) * 0x1p-53;
}

/* Standard normal, by Marsaglia's polar method. */
static double normal(struct wml_random *r)
{
	double u, v, s;

	do {
		u = 2 * wml_random_unit(r) - 1;
		v = 2 * wml_random_unit(r) - 1;
		s = u * u + v * v;
	} while (s >= 1 || s == 0);
	return u * sqrt(-2 * log(s) / s);
}

double wml_random_gamma(struct wml_random *r, double shape)
{
	double d, c, x, v, u;

	if (shape < 1) /* Gamma(a) = Gamma(a + 1) U^(1/a) */
		return wml_random_gamma(r, shape + 1) *
		       pow(1 - wml_random_unit(r), 1 / shape);
	d = shape - 1.0 / 3;
	c = 1 / sqrt(9 * d);
	for (;;) {
		do {
			x = normal(r);
			v = 1 + c * x;
		} while (v <= 0);
		v = v * v * v;
		u = 1 - wml_random_unit(r);
		if (log(u) < x * x / 2 + d - d * v + d * log(v))
			return d * v;
	}
}

/* Triangular, by the inverse of its distribution function; a + x (b - a) with the mode at `peak`. */
static double triangular(double peak, double u)
{
	return u < peak ? sqrt(peak * u) : 1 - sqrt((1 - peak) * (1 - u));
}

static double draw_table(const struct wml_dist *d, struct wml_random *r)
{
	double at = wml_random_unit(r);
	size_t i = 0;

	while (i + 1 < d->n_slices && at >= d->slices[i].share)
		at -= d->slices[i++].share;
	return d->slices[i].low + wml_random_unit(r) * (d->slices[i].high - d->slices[i].low);
}

static double draw(const struct wml_dist *d, struct wml_random *r)
{
	switch (d->kind) {
	case DIST_UNIFORM:
		return d->a + wml_random_unit(r) * (d->b - d->a);
	case DIST_GAMMA:
		return wml_random_gamma(r, d->b) * d->a / d->b;
	case DIST_NORMAL:
		return d->a + d->b * normal(r);
	case DIST_EXPONENTIAL:
		return -d->a * log(1 - wml_random_unit(r));
	case DIST_LOGNORMAL:
		return exp(d->a + d->b * normal(r));
	case DIST_WEIBULL: /* by the inverse of its distribution function */
		return d->a * pow(-log(1 - wml_random_unit(r)), 1 / d->b);
	case DIST_TRIANGULAR:
		if (d->b <= d->a)
			return d->a;
		return d->a + (d->b - d->a) * triangular((d->c - d->a) / (d->b - d->a), wml_random_unit(r));
	case DIST_TABLE:
		return draw_table(d, r);
	}
	return 0;
}

double wml_dist_draw(const struct wml_dist *d, struct wml_random *r)
{
	double x = draw(d, r) + d->shift;

	if (d->round > 0)
		x = round(x / d->round) * d->round;
	return x < d->min ? d->min : x > d->max ? d->max : x;
}

double wml_dist_mean(const struct wml_dist *d)
{
	double sum = 0;

	switch (d->kind) {
	case DIST_UNIFORM:
		return d->shift + (d->a + d->b) / 2;
	case DIST_LOGNORMAL:
		return d->shift + exp(d->a + d->b * d->b / 2);
	case DIST_WEIBULL:
		return d->shift + d->a * tgamma(1 + 1 / d->b);
	case DIST_TRIANGULAR:
		return d->shift + (d->a + d->b + d->c) / 3;
	case DIST_TABLE:
		for (size_t i = 0; i < d->n_slices; i++)
			sum += d->slices[i].share * (d->slices[i].low + d->slices[i].high) / 2;
		return d->shift + sum;
	default:
		return d->shift + d->a;
	}
}
