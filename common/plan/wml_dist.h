/*
 * Random numbers of workload files: distributions and the generator they draw from. Pure.
 */
#ifndef COMMON_PLAN_WML_DIST_H
#define COMMON_PLAN_WML_DIST_H

#include <stddef.h>
#include <stdint.h>

/* xoshiro256** (Blackman and Vigna, 2018): one per thread, no lock. */
struct wml_random {
	uint64_t s[4];
};
/* Streams of different numbers under one seed are independent. */
void wml_random_seed(struct wml_random *r, uint64_t seed, uint64_t stream);
uint64_t wml_random_next(struct wml_random *r);
/* 0 .. n - 1, each as likely (Lemire's multiplication; n < 2^64); n 0 gives 0. */
uint64_t wml_random_below(struct wml_random *r, uint64_t n);
/* 0 <= x < 1, 53 bits. */
double wml_random_unit(struct wml_random *r);
/* Gamma with shape > 0 and scale 1, by Marsaglia and Tsang, "A simple method for generating gamma
 * variables", ACM TOMS 26 (2000). */
double wml_random_gamma(struct wml_random *r, double shape);

enum wml_dist_kind { DIST_UNIFORM, DIST_GAMMA, DIST_NORMAL, DIST_EXPONENTIAL, DIST_LOGNORMAL,
	DIST_WEIBULL, DIST_TRIANGULAR, DIST_TABLE };
/* A part of a table: `share` of all draws are uniform in low .. high. */
struct wml_slice {
	double share, low, high;
};
#define WML_SLICES 64
struct wml_dist {
	enum wml_dist_kind kind;
	/* uniform: low, high; gamma: mean, shape; normal: mean, sigma; exponential: mean; lognormal: mean
	 * and sigma of the logarithm; Weibull: scale, shape; triangular: low, high, mode */
	double a, b, c;
	double shift; /* added to a draw */
	double min, max, round; /* a draw is rounded to multiples of round (0: not), then clamped */
	int relative;           /* no mean was given: draws have the mean 1, and stand for a part */
	struct wml_slice *slices; /* DIST_TABLE: shares add up to 1 */
	size_t n_slices;
};
double wml_dist_draw(const struct wml_dist *d, struct wml_random *r);
/* Of the distribution, before rounding and clamping. */
double wml_dist_mean(const struct wml_dist *d);

#endif
