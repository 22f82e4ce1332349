/* compare: the three published tests, each estimate, margins, ties, zero spread, planning. */
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/compare.h"

#define SIDE(...)                                                                                  \
	{                                                                                          \
		.values = (const double[]){__VA_ARGS__},                                           \
		.n = sizeof((const double[]){__VA_ARGS__}) / sizeof(double)                        \
	}
#define SUMMARY(count, a, lo, hi)                                                                  \
	{                                                                                          \
		.summary_only = 1, .n = (count), .mean = (a), .min = (lo), .max = (hi),            \
		.resolution = 1                                                                    \
	}
#define MIN(m, s) ((m)*60 + (s))

static const uint32_t blocks[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
static const struct compare_terms plain = {COMPARE_ALPHA, 1, 0, 0};

static struct compared one(struct compare_side base, struct compare_side subject, int random_blocks,
	struct compare_terms t)
{
	struct compare_host h = {base, subject, random_blocks};
	struct compared c;

	if (random_blocks && !h.base.blocks)
		h.base.blocks = blocks;
	if (random_blocks && !h.subject.blocks)
		h.subject.blocks = blocks;
	compare(&h, 1, &t, &c);
	return c;
}

static void expect(const struct compared *c, double margin, const char *change, const char *words)
{
	struct buf out = {0};

	compare_change_text(c, &out);
	assert_string_equal(buf_str(&out), change);
	buf_reset(&out);
	compare_verdict_text(c, margin, &out);
	assert_string_equal(buf_str(&out), words);
	buf_free(&out);
}

#define near(a, b, within) assert_true(fabs((a) - (b)) <= (within))

/* "raidz2: 10 disks vs 8 disks": its listed times. */
static const struct compare_side load8 =
	SIDE(MIN(18, 15.395), MIN(18, 22.754), MIN(18, 26.974), MIN(18, 26.843));
static const struct compare_side load_board =
	SIDE(MIN(18, 13.562), MIN(18, 26.107), MIN(18, 24.061));
static const struct compare_side load_sata =
	SIDE(MIN(18, 17.284), MIN(18, 32.162), MIN(18, 28.050));
static const struct compare_side dump8 =
	SIDE(MIN(8, 48.504), MIN(8, 42.781), MIN(8, 42.781), MIN(8, 42.938));
static const struct compare_side dump_board = SIDE(MIN(9, 6.544), MIN(9, 7.623), MIN(9, 8.501));
static const struct compare_side dump_sata = SIDE(MIN(9, 16.837), MIN(9, 13.830), MIN(9, 15.795));

static void restores_and_dumps(void **state)
{
	static const struct {
		const struct compare_side *base, *subject;
		unsigned k;
		const char *change, *words;
	} table[] = {
		{&load8, &load_board, 2, "-0.2% (-1.7…+1.4%)", "no difference shown"},
		{&load8, &load_sata, 2, "+0.3% (-1.5…+2.1%)", "no difference shown"},
		{&dump8, &dump_board, 2, "+4.4% (+3.4…+5.5%)", "slower"},
		{&dump8, &dump_sata, 2, "+6.0% (+4.9…+7.0%)", "slower"},
		{&dump_board, &dump_sata, 3, "+1.4% (+0.6…+2.3%)", "slower"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct compare_terms t = {COMPARE_ALPHA, table[i].k, 0, 0};
		struct compared c = one(*table[i].base, *table[i].subject, 0, t);

		assert_int_equal(c.estimator, ESTIMATOR_WELCH);
		expect(&c, 0, table[i].change, table[i].words);
		assert_int_equal(c.p_adjusted < 0.05, c.verdict != VERDICT_NO_DIFFERENCE);
	}
}

/* "ZFS vs hardware RAID": means of ten with their range, in whole seconds. */
static void averages_with_ranges(void **state)
{
	static const struct {
		struct compare_side base, subject;
		const char *change, *words;
	} table[] = {
		{SUMMARY(10, 305, 265, 342), SUMMARY(10, 56, 52, 59), "-82% (-84…-79%)", "faster"},
		{SUMMARY(10, 156, 147, 159), SUMMARY(10, 74, 56, 83), "-53% (-59…-45%)", "faster"},
		{SUMMARY(10, 29, 29, 31), SUMMARY(10, 30, 30, 34), "+3.4% (-6.0…+13.9%)",
			"no difference shown"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct compared c = one(table[i].base, table[i].subject, 0, plain);

		assert_int_equal(c.estimator, ESTIMATOR_SUMMARY);
		assert_true(c.df == 9);
		expect(&c, 0, table[i].change, table[i].words);
	}
}

/* The eight varmail results: two a side, whatever they say. */
static void two_are_too_few(void **state)
{
	struct compare_side hw = SIDE(7341.7, 7247.0), z = SIDE(7567.3, 7567.8);
	struct compare_terms t = {COMPARE_ALPHA, 3, 1, 0};
	struct compared c = one(hw, z, 0, t);

	(void)state;
	assert_int_equal(c.verdict, VERDICT_TOO_FEW);
	assert_int_equal(c.estimator, ESTIMATOR_NONE);
	assert_true(isnan(c.lo) && isnan(c.p_adjusted) && isnan(c.se));
	expect(&c, 0, "+3.7%", "too few trials (n = 2)");
}

/* d = ln(1.1, 1.2, 1.3): mean 0.179999, sd 0.0835513; t(0.975, 2) = 4.302653. */
static void pairs_by_block(void **state)
{
	struct compare_side a = SIDE(10, 20, 30), b = SIDE(11, 24, 39);
	struct compared c = one(a, b, 1, plain);
	const double d = (log(1.1) + log(1.2) + log(1.3)) / 3,
		     half = 0.0835513 / sqrt(3) * 4.302653;

	(void)state;
	assert_int_equal(c.estimator, ESTIMATOR_PAIRED);
	assert_int_equal(c.n, 3);
	near(c.d, d, 1e-12);
	near(c.lo, d - half, 2e-5);
	near(c.hi, d + half, 2e-5);
	assert_true(c.df == 2);
}

/* A failed trial leaves with its pair: block 2 of one side, block 4 of the other. */
static void half_pairs_leave(void **state)
{
	static const uint32_t not2[] = {1, 3, 4, 5}, not4[] = {1, 2, 3, 5};
	struct compare_side a = SIDE(10, 30, 40, 50), b = SIDE(11, 99, 36, 65);
	struct compared c;

	(void)state;
	a.blocks = not2;
	b.blocks = not4;
	c = one(a, b, 1, plain);
	assert_int_equal(c.n, 3);
	near(c.d, (log(1.1) + log(1.2) + log(1.3)) / 3, 1e-12);
	b.n = 3;
	c = one(a, b, 1, plain);
	assert_int_equal(c.n, 2);
	assert_int_equal(c.verdict, VERDICT_TOO_FEW);
	expect(&c, 0, "+15%", "too few complete blocks (n = 2)");
}

/* Of eight blocks the base lost the first three and the subject the last three: five values a side, two
 * pairs. The machine got slower by 10 % a block, and both are alike; as two lists they differ. */
static void too_few_pairs_are_not_taken_apart(void **state)
{
	static const uint32_t last[] = {4, 5, 6, 7, 8}, first[] = {1, 2, 3, 4, 5};
	struct compare_side a = SIDE(133.1, 146.4, 161, 177.2, 194.9), b = SIDE(100, 110, 121, 133, 146.5);
	struct compared c = one(a, b, 0, plain);

	(void)state;
	assert_int_equal(c.estimator, ESTIMATOR_WELCH);
	assert_int_equal(c.verdict, VERDICT_FASTER);
	a.blocks = last;
	b.blocks = first;
	c = one(a, b, 1, plain);
	assert_int_equal(c.estimator, ESTIMATOR_NONE);
	assert_int_equal(c.verdict, VERDICT_TOO_FEW);
	assert_int_equal(c.n, 2);
	assert_true(fabs(c.d) < 0.001);
	assert_true(c.unpaired);
	/* Two blocks that both have are too few by themselves. */
	a.n = b.n = 2;
	a.blocks = b.blocks = first;
	assert_false(one(a, b, 1, plain).unpaired);
}

/* Rule 3 with more than twice as many on one side: the smaller side's degrees of freedom. */
static void unequal_counts_are_guarded(void **state)
{
	struct compare_side few = SIDE(10, 11, 12), six = SIDE(10, 11, 12, 10, 11, 12),
			    seven = SIDE(10, 11, 12, 10, 11, 12, 11);
	struct compared c = one(few, six, 0, plain);

	(void)state;
	assert_true(c.df > 2);
	c = one(few, seven, 0, plain);
	assert_true(c.df == 2);
	assert_int_equal(c.n, 3);
}

/* Rule 1: each host counts once, however many blocks it ran. */
static void hosts_are_replicates(void **state)
{
	struct compare_host h[4] = {
		{SIDE(10, 10, 10), SIDE(11, 11, 11), 1},
		{SIDE(10), SIDE(12), 1},
		{SIDE(20, 20), SIDE(26, 26), 0},
		{SIDE(10), {0}, 1},
	};
	struct compared c;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		h[i].base.blocks = h[i].subject.blocks = blocks;
	assert_int_equal(compare_hosts_with_both(h, 4), 3);
	compare(h, 4, &plain, &c);
	assert_int_equal(c.estimator, ESTIMATOR_HOSTS);
	assert_int_equal(c.n, 3);
	near(c.d, (log(1.1) + log(1.2) + log(1.3)) / 3, 1e-12);
	near(c.se, 0.0835513 / sqrt(3), 1e-5);
	assert_true(c.df == 2);
	compare(h + 1, 3, &plain, &c);
	assert_int_equal(c.verdict, VERDICT_TOO_FEW);
}

/* An interval that excludes 0 is not printed as if it ended there: the digits go on until it shows. */
static void what_is_called_is_seen(void **state)
{
	static const struct {
		double d, lo, hi;
		const char *says;
	} table[] = {
		{0.02, 0.0003, 0.04, "+2.02% (+0.03…+4.08%)"},
		{-0.02, -0.04, -0.0003, "-1.98% (-3.92…-0.03%)"},
		{0.12, 0.003, 0.24, "+12.7% (+0.3…+27.1%)"},
		{0.12, 0.00003, 0.24, "+12.75% (+0.003…+27.12%)"},
		{0.12, 1e-9, 0.24, "+12.75% (+0.000001…+27.12%)"},
		{-0.12, -0.24, -1e-9, "-11.31% (-21.34…-0.000001%)"},
		{0.12, -0.003, 0.24, "+13% (-0.3…+27%)"},
		{0.12, -0.00101051, 0.24, "+13% (-0.1…+27%)"},
		{-0.12, -0.24, 0.00001, "-11% (-21…+0.001%)"},
		{-0.12, -0.24, 0, "-11% (-21…+0%)"},
		{0.02, -0.0003, 0.04, "+2.0% (-0.03…+4.1%)"},
		{0.00003, 0.00001, 0.00005, "+0.003% (+0.001…+0.005%)"},
		{-1e-18, -0.02, 0.02, "+0.0% (-2.0…+2.0%)"},
		{-0.00001, NAN, NAN, "+0.0%"},
		{0.12, 0.05, 0.2, "+13% (+5…+22%)"},
		/* a ratio of a million, known to 1 % and to a hundredth of it; of a ten millionth more than 1 */
		{13.815510558, 13.80551, 13.82551, "+1.00e+08% (+9.90e+07…+1.01e+08%)"},
		{13.815510558, 13.81541, 13.81561, "+1.0000e+08% (+9.9990e+07…+1.0001e+08%)"},
		{13.815510558, NAN, NAN, "+1.00e+08%"},
		{1.3, -1.1, 800, "+267% (-67…+1.80e+308%)"},
		{1e-7, 0.9e-7, 1.1e-7, "+0.00001% (+0.00001…+0.00001%)"},
		{0.05, -2, 3, "+5.1% (-86.5…+1909%)"},
		{2.5, 2.49, 2.51, "+1118% (+1106…+1130%)"},
		{2.5, 2.4999, 2.5001, "+1118.2% (+1118.1…+1118.4%)"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct compared c = {.d = table[i].d, .lo = table[i].lo, .hi = table[i].hi};
		struct buf out = {0};

		compare_change_text(&c, &out);
		assert_string_equal(buf_str(&out), table[i].says);
		buf_free(&out);
	}
}

/* The bounds as they are printed. */
static void read_bounds(const char *text, double *ret_lo, double *ret_hi)
{
	const char *open = strchr(text, '('), *dots = open ? strstr(open, "…") : NULL;

	assert_non_null(dots);
	*ret_lo = strtod(open + 1, NULL);
	*ret_hi = strtod(dots + strlen("…"), NULL);
}

static int sign(double v)
{
	return (v > 0) - (v < 0);
}

/* Over all sizes of bounds: each has the sign that it has, the estimate lies between them, and -0 is
 * nowhere. */
static void printed_bounds_say_what_the_interval_says(void **state)
{
	(void)state;
	for (int near = -9; near <= 0; near++)
		for (int far = near; far <= 1; far++)
			for (int kind = 0; kind < 8; kind++) {
				double a = pow(10, near) * (kind & 4 ? 0.96 : 0.449), b = 1.7 * pow(10, far);
				struct compared c = {.lo = kind & 1 ? -a : a, .hi = b};
				double lo, hi, d;
				struct buf out = {0};

				if (kind & 2)
					c = (struct compared){.lo = -b, .hi = -c.lo};
				c.d = (c.lo + c.hi) / 2;
				compare_change_text(&c, &out);
				read_bounds(out.data, &lo, &hi);
				d = strtod(out.data, NULL);
				if (sign(lo) != sign(c.lo) || sign(hi) != sign(c.hi) || d < lo || d > hi ||
					(c.lo > 0 && d <= 0) || (c.hi < 0 && d >= 0) ||
					(d == 0 && out.data[0] == '-'))
					fail_msg("%g (%g, %g) is printed as %s", c.d, c.lo, c.hi, out.data);
				buf_free(&out);
			}
}

static void margins(void **state)
{
	static const struct {
		double a[3], b[3], margin;
		int higher;
		enum verdict verdict;
		int within;
		const char *words;
	} table[] = {
		{{100, 101, 102}, {101, 102, 102}, 0.1, 0, VERDICT_NO_DIFFERENCE, 1,
			"no difference above 10%"},
		{{100, 101, 102}, {101, 102, 102}, 0.001, 0, VERDICT_NO_DIFFERENCE, 0,
			"no difference shown"},
		{{100, 101, 102}, {101, 102.01, 103.03}, 0.02, 0, VERDICT_SLOWER, 1,
			"slower, but under 2%"},
		{{100, 101, 102}, {101, 102.01, 103.03}, 0.005, 0, VERDICT_SLOWER, 0, "slower"},
		{{100, 101, 102}, {101, 102.01, 103.03}, 0.02, 1, VERDICT_FASTER, 1,
			"faster, but under 2%"},
		{{101, 102.01, 103.03}, {100, 101, 102}, 0, 1, VERDICT_SLOWER, 0, "slower"},
		{{101, 102.01, 103.03}, {100, 101, 102}, 0, 0, VERDICT_FASTER, 0, "faster"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct compare_terms t = {COMPARE_ALPHA, 1, table[i].higher, table[i].margin};
		struct compare_side a = {.values = table[i].a, .n = 3},
				    b = {.values = table[i].b, .n = 3};
		struct compared c = one(a, b, 1, t);
		struct buf out = {0};

		assert_int_equal(c.verdict, table[i].verdict);
		assert_int_equal(c.within_margin, table[i].within);
		near(c.bound, fmax(fabs(exp(c.lo) - 1), fabs(exp(c.hi) - 1)), 1e-12);
		compare_verdict_text(&c, table[i].margin, &out);
		assert_string_equal(buf_str(&out), table[i].words);
		buf_free(&out);
	}
}

/* Equal values leave nothing to judge by, unless the timer's resolution does. */
static void no_spread(void **state)
{
	struct compare_side a = SIDE(28, 28, 28), b = SIDE(30, 30, 30);
	struct compared c = one(a, b, 0, plain);

	(void)state;
	assert_int_equal(c.verdict, VERDICT_TOO_FEW);
	assert_true(c.identical);
	expect(&c, 0, "+7.1%", "identical: no spread to judge by");
	c = one(a, b, 1, plain);
	assert_true(c.identical);
	a.resolution = b.resolution = 1;
	c = one(a, b, 0, plain);
	assert_int_equal(c.verdict, VERDICT_SLOWER);
	assert_true(isnan(c.p_adjusted));
	near(c.hi - c.d, 1 / 56.0 + 1 / 60.0, 1e-12);
	a.resolution = b.resolution = 10;
	c = one(a, b, 0, plain);
	assert_int_equal(c.verdict, VERDICT_NO_DIFFERENCE);
}

/* Whole seconds widen the interval by half a second over each mean. */
/* Printed to the nanosecond, alike on each side: the reports show no digit of it. */
static void less_than_a_millionth_is_no_difference(void **state)
{
	struct compare_side a = SIDE(10.123456789, 10.123456789, 10.123456789);
	struct compare_side b = SIDE(10.123456788, 10.123456788, 10.123456788);
	struct compare_side c = SIDE(10.123556789, 10.123556789, 10.123556789);
	struct compared r;

	(void)state;
	a.resolution = b.resolution = c.resolution = 1e-10;
	r = one(a, b, 0, plain);
	assert_true(r.hi < 0);
	assert_int_equal(r.verdict, VERDICT_NO_DIFFERENCE);
	r = one(b, a, 0, plain);
	assert_int_equal(r.verdict, VERDICT_NO_DIFFERENCE);
	r = one(a, c, 0, plain);
	assert_int_equal(r.verdict, VERDICT_SLOWER);
}

static void resolution_widens(void **state)
{
	struct compare_side a = SIDE(28, 29, 28, 29), b = SIDE(30, 31, 30, 30);
	struct compared exact = one(a, b, 0, plain), c;

	(void)state;
	a.resolution = b.resolution = 1;
	c = one(a, b, 0, plain);
	near((c.hi - c.lo) - (exact.hi - exact.lo), 2 * (0.5 / 28.5 + 0.5 / 30.25), 1e-12);
	assert_true(c.p_adjusted > exact.p_adjusted);
}

static void what_is_no_value_is_missing(void **state)
{
	struct compare_side a = SIDE(10, 0, -3, NAN, INFINITY, 11), b = SIDE(1, 2, 3);
	struct compare_side some = SIDE(10, 0, 11, 12), all = SIDE(10, 11, 12), sum = SUMMARY(4, 20, 18, 23);
	struct compared c = one(some, sum, 0, plain), same = one(all, sum, 0, plain);
	struct compare_side none = {0};

	(void)state;
	assert_int_equal(c.n_base, 3);
	assert_true(c.d == same.d && c.se == same.se && c.r == same.r && c.df == same.df);
	c = one(a, b, 0, plain);
	assert_int_equal(c.n_base, 2);
	assert_int_equal(c.verdict, VERDICT_TOO_FEW);
	c = one(none, b, 0, plain);
	assert_true(isnan(c.d));
	expect(&c, 0, "", "too few trials (n = 0)");
	c = one(none, none, 1, plain);
	assert_int_equal(c.n, 0);
}

/* Four are the least of a summary; its variance is the largest that fits. */
static void summaries_are_bounded(void **state)
{
	struct compare_side three = SUMMARY(3, 100, 90, 110), four = SUMMARY(4, 100, 90, 110),
			    lists = SIDE(100, 101, 102);
	struct compared c = one(three, four, 0, plain);

	(void)state;
	assert_int_equal(c.verdict, VERDICT_TOO_FEW);
	c = one(four, lists, 0, plain);
	assert_int_equal(c.estimator, ESTIMATOR_SUMMARY);
	assert_true(c.df == 2);
	/* two at each end: 10 * 10 * 4 / 3 */
	near(compare_summary_variance(4, 100, 90, 110, 0), 400 / 3.0, 1e-9);
	/* half a unit at each end; the mean stands in the middle already */
	near(compare_summary_variance(4, 100, 90, 110, 1), 10.5 * 10.5 * 4 / 3, 1e-9);
	/* the mean moves half a unit towards the middle */
	near(compare_summary_variance(10, 56, 52, 59, 1), (59.5 - 55.5) * (55.5 - 51.5) * 10 / 9,
		1e-9);
	assert_true(compare_summary_variance(10, 56, 56, 56, 0) == 0);
}

/* A standard deviation that is told stands instead of the bound: 56 s +- 2 s and 305 s +- 25 s, n = 10,
 * whole seconds. SE^2 = (2.5/56)^2/10 + (25.5/305)^2/10 = 0.029968^2, t(0.975, 9) = 2.262157,
 * r = 0.5/56 + 0.5/305 = 0.010568. */
static void told_spread_is_taken(void **state)
{
	struct compare_side hard = SUMMARY(10, 305, 265, 342), zfs = SUMMARY(10, 56, 52, 59), bare;
	struct compared bound = one(hard, zfs, 0, plain), told;

	(void)state;
	hard.has_stddev = zfs.has_stddev = 1;
	hard.stddev = 25;
	zfs.stddev = 2;
	hard.stddev_resolution = zfs.stddev_resolution = 1;
	told = one(hard, zfs, 0, plain);
	assert_int_equal(told.estimator, ESTIMATOR_SUMMARY);
	near(told.d, log(56.0 / 305), 1e-12);
	near(told.se, sqrt((2.5 / 56) * (2.5 / 56) / 10 + (25.5 / 305) * (25.5 / 305) / 10), 1e-12);
	near(told.hi - told.d, 2.262157 * 0.029968 + 0.010568, 1e-5);
	assert_true(told.se < bound.se);
	/* minimum and maximum are not needed then */
	bare = zfs;
	bare.min = bare.max = NAN;
	near(one(hard, bare, 0, plain).se, told.se, 1e-12);
	bare.has_stddev = 0;
	assert_int_equal(one(hard, bare, 0, plain).verdict, VERDICT_TOO_FEW);
}

/* What is lacking is said: the spread where there are enough trials, else these. */
static void untold_spread_is_said(void **state)
{
	struct compare_side range = SUMMARY(10, 305, 265, 342), bare = SUMMARY(10, 300, NAN, NAN),
			    few = SUMMARY(3, 300, NAN, NAN), list = SIDE(300, 301, 302), two = SIDE(300, 301);
	struct compared c = one(range, bare, 0, plain);

	(void)state;
	assert_int_equal(c.verdict, VERDICT_TOO_FEW);
	expect(&c, 0, "-1.6%", "no spread told");
	c = one(bare, bare, 0, plain);
	expect(&c, 0, "+0.0%", "no spread told");
	c = one(bare, list, 0, plain);
	assert_true(c.spread_untold);
	c = one(bare, few, 0, plain);
	expect(&c, 0, "+0.0%", "too few trials (n = 3)");
	c = one(bare, two, 0, plain);
	assert_false(c.spread_untold);
	assert_false(one(range, range, 0, plain).spread_untold);
}

static void families_widen(void **state)
{
	struct compare_side a = SIDE(10, 11, 12, 11), b = SIDE(12, 13, 13, 12);
	struct compare_terms t = plain;
	struct compared k1 = one(a, b, 0, t), k5;

	(void)state;
	t.k = 5;
	k5 = one(a, b, 0, t);
	near(k5.p_adjusted, fmin(1, 5 * k1.p_adjusted), 1e-12);
	assert_true(k5.hi - k5.lo > k1.hi - k1.lo);
	assert_int_equal(k1.p_adjusted<0.05, k1.lo> 0);
	assert_int_equal(k5.p_adjusted<0.05, k5.lo> 0);
}

/* t(0.975, 4) = 2.77645; t(0.9875, 4) = 3.49541; t(0.8, 4) = 0.94096. */
/* exp(-9) is 0.012 %: a ratio is above 0, however wide the interval. */
static void no_change_is_all(void **state)
{
	static const struct compared cases[] = {
		{.d = -2, .lo = -9, .hi = 5, .n = 3},
		{.d = -9, .lo = -40, .hi = 22, .n = 3},
	};
	static const char *const words[] = {"-86% (-99.99…+14741%)", "-99.99% (-99.999999…+3.58e+11%)"};

	(void)state;
	for (size_t i = 0; i < 2; i++)
		expect(&cases[i], 0, words[i], "too few trials (n = 3)");
}

static void planning(void **state)
{
	struct compare_precision p[] = {{0.01, 4}, {0.005, 4}};

	(void)state;
	assert_true(compare_is_precise(p, 2, 1, expm1(0.0278)));
	assert_false(compare_is_precise(p, 2, 1, expm1(0.0277)));
	assert_true(compare_is_precise(p, 2, 2, expm1(0.0350)));
	assert_false(compare_is_precise(p, 2, 2, expm1(0.0349)));
	p[1].se = NAN;
	assert_false(compare_is_precise(p, 2, 1, 0.5));
	assert_false(compare_is_precise(p, 0, 1, 0.5));
	near(compare_mde(0.01, 4, 0.05, 1), expm1(0.0277645 + 0.0094096), 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(restores_and_dumps),
		cmocka_unit_test(averages_with_ranges),
		cmocka_unit_test(two_are_too_few),
		cmocka_unit_test(pairs_by_block),
		cmocka_unit_test(half_pairs_leave),
		cmocka_unit_test(too_few_pairs_are_not_taken_apart),
		cmocka_unit_test(unequal_counts_are_guarded),
		cmocka_unit_test(hosts_are_replicates),
		cmocka_unit_test(what_is_called_is_seen),
		cmocka_unit_test(printed_bounds_say_what_the_interval_says),
		cmocka_unit_test(margins),
		cmocka_unit_test(no_spread),
		cmocka_unit_test(less_than_a_millionth_is_no_difference),
		cmocka_unit_test(resolution_widens),
		cmocka_unit_test(what_is_no_value_is_missing),
		cmocka_unit_test(summaries_are_bounded),
		cmocka_unit_test(told_spread_is_taken),
		cmocka_unit_test(untold_spread_is_said),
		cmocka_unit_test(families_widen),
		cmocka_unit_test(no_change_is_all),
		cmocka_unit_test(planning),
	};

	return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
