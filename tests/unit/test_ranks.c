/*
 * Ranks: published distributions and examples, ties against all arrangements, shifts against the
 * definition.
 */
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>

#include "coordinator/results/ranks.h"

static void near(double got, double want, double within, const char *name)
{
	if (!(fabs(got - want) <= within))
		fail_msg("%s: %.10g, expected %.10g", name, got, want);
}

/* Base 1…n; subject above i of them, one value, and the rest above all: any U can be had. */
static void values_with_u(unsigned n, unsigned m, unsigned u, double *base, double *subject)
{
	for (unsigned i = 0; i < n; i++)
		base[i] = 10 * (i + 1);
	for (unsigned j = 0; j < m; j++) {
		unsigned above = u > n ? n : u;

		subject[j] = 10 * above + 1 + 0.01 * j;
		u -= above;
	}
}

/* Two-sided probabilities of U at most u, from the counts of arrangements in the tables of Mann and
 * Whitney (1947): 1, 1, 2, 3, 5, 7, … of C(n + m, n). */
static const struct {
	const char *name;
	unsigned n, m, u;
	double below, all; /* arrangements with U <= u, of all */
} table[] = {
	{"4 and 4: 0", 4, 4, 0, 1, 70},
	{"4 and 4: 1", 4, 4, 1, 2, 70},
	{"4 and 4: 3", 4, 4, 3, 7, 70},
	{"4 and 3: 0", 4, 3, 0, 1, 35},
	{"3 and 3: 0", 3, 3, 0, 1, 20},
	{"5 and 5: 2", 5, 5, 2, 4, 252},
	{"5 and 5: 4", 5, 5, 4, 12, 252},
	{"6 and 4: 3", 6, 4, 3, 7, 210},
	{"10 and 10: 4", 10, 10, 4, 12, 184756},
	{"1 and 1: 0", 1, 1, 0, 1, 2},
};

static void exact_without_ties(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		double base[16], subject[16];
		struct ranks r, turned;

		values_with_u(table[i].n, table[i].m, table[i].u, base, subject);
		ranks_compare(base, table[i].n, subject, table[i].m, &r);
		ranks_compare(subject, table[i].m, base, table[i].n, &turned);
		assert_true(r.exact);
		near(r.u, table[i].u, 0, table[i].name);
		near(r.p, 2 * table[i].below / table[i].all, 1e-12, table[i].name);
		near(turned.u, (double)table[i].n * table[i].m - table[i].u, 0, table[i].name);
		near(turned.p, r.p, 1e-12, table[i].name);
		near(turned.shift, -r.shift, 1e-12, table[i].name);
	}
}

/* Hollander and Wolfe, Nonparametric Statistical Methods (1973), table 1 of chapter 4:
 * permeability constants of the human chorioamnion; W = 35 against the term group, one-sided
 * p = 0.1272. */
static const double at_term[] = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
static const double weeks_12_to_26[] = {1.15, 0.88, 0.90, 0.74, 1.21};

static void published_example(void **state)
{
	struct ranks r;

	(void)state;
	ranks_compare(weeks_12_to_26, 5, at_term, 10, &r);
	near(r.u, 35, 0, "W");
	near(r.p, 2 * 0.1272, 1e-4, "p");
	assert_true(r.exact);
}

/* U's two-sided probability by going through all ways to choose which values are the subject's. */
static double by_all_arrangements(const double *v, unsigned n, unsigned m, double u)
{
	unsigned all = n + m, ways = 0, beyond = 0;

	for (unsigned set = 0; set < 1u << all; set++) {
		double x = 0;

		if ((unsigned)__builtin_popcount(set) != m)
			continue;
		for (unsigned i = 0; i < all; i++)
			for (unsigned j = 0; j < all; j++)
				if (!(set >> i & 1) && set >> j & 1)
					x += v[j] > v[i] ? 1 : v[j] == v[i] ? 0.5 : 0;
		ways++;
		beyond += fabs(x - n * m / 2.0) >= fabs(u - n * m / 2.0);
	}
	return (double)beyond / ways;
}

static void ties_are_counted_as_they_are(void **state)
{
	static const struct {
		const char *name;
		double v[10]; /* base, then subject */
		unsigned n, m;
	} cases[] = {
		{"whole seconds", {52, 52, 53, 53, 54, 53, 54, 54, 55, 56}, 5, 5},
		{"one tie across", {1, 2, 3, 3, 4, 5}, 3, 3},
		{"one tie within", {1, 1, 3, 4, 5, 6, 7}, 3, 4},
		{"all equal", {7, 7, 7, 7, 7, 7}, 2, 4},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ranks r;

		ranks_compare(cases[i].v, cases[i].n, cases[i].v + cases[i].n, cases[i].m, &r);
		assert_true(r.exact);
		near(r.p, by_all_arrangements(cases[i].v, cases[i].n, cases[i].m, r.u), 1e-12,
			cases[i].name);
	}
}

/* The normal law takes over where counting ends, and nearly agrees. */
static void many_values(void **state)
{
	double base[40], subject[40];
	struct ranks few, many;

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		base[i] = 100 + i * 1.37;
		subject[i] = 107 + i * 1.29;
	}
	ranks_compare(base, 30, subject, 30, &few);
	ranks_compare(base, 31, subject, 30, &many);
	assert_true(few.exact);
	assert_false(many.exact);
	near(many.p, few.p, 0.05, "31 and 30 against 30 and 30");
	ranks_compare(base, 40, base, 40, &many);
	near(many.p, 1, 1e-9, "the same values");
	near(many.shift, 0, 1e-12, "no shift");
	assert_true(many.lo < 0 && many.hi > 0);
}

/* 4 against 4 at 95 %: U = 0 is one of C(8, 4) = 70 at either end, U <= 1 were 4/70 at both, over 5 %.
 * So the interval goes from the least of the 16 differences to the greatest. */
static void shift_and_interval(void **state)
{
	const double base[] = {1, 2, 4, 8}, subject[] = {3, 6, 12, 24};
	const double five[] = {1, 2, 4, 8, 16}, fifteen[] = {3, 6, 12, 24, 48};
	struct ranks r;

	(void)state;
	ranks_compare(base, 4, subject, 4, &r);
	near(r.shift, log(3), 1e-12, "three times");
	near(r.lo, log(3.0 / 8), 1e-12, "least");
	near(r.hi, log(24), 1e-12, "greatest");
	/* 5 against 5: U <= 2 has 4 of 252, twice that is 3.2 %; U <= 3 has 7, too many. So two of the
	 * ordered differences go at each end: one is 3/16, two are 3/8. */
	ranks_compare(five, 5, fifteen, 5, &r);
	near(r.shift, log(3), 1e-12, "three times");
	near(r.lo, log(3.0 / 8), 1e-12, "the third from below");
	near(r.hi, log(24), 1e-12, "the third from above");
	/* 4 against 3 never has one: 2/35 is over 5 %. */
	ranks_compare(base, 4, subject, 3, &r);
	assert_true(isnan(r.lo) && isnan(r.hi));
	assert_false(isnan(r.shift));
}

static void what_is_no_value(void **state)
{
	const double base[] = {1, 0, -2, NAN, INFINITY, 2}, none[] = {0, NAN};
	struct ranks r;

	(void)state;
	ranks_compare(base, 6, base, 6, &r);
	assert_int_equal(r.n_base, 2);
	near(r.u, 2, 0, "ties are halves");
	ranks_compare(base, 6, none, 2, &r);
	assert_int_equal(r.n_subject, 0);
	assert_true(isnan(r.p) && isnan(r.shift));
	ranks_compare(NULL, 0, NULL, 0, &r);
	assert_true(isnan(r.p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_without_ties),
		cmocka_unit_test(published_example),
		cmocka_unit_test(ties_are_counted_as_they_are),
		cmocka_unit_test(many_values),
		cmocka_unit_test(shift_and_interval),
		cmocka_unit_test(what_is_no_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
