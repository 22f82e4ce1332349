/* stats, dist, outliers: certified values, published tables. */
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "coordinator/results/dist.h"
#include "coordinator/results/outliers.h"
#include "coordinator/results/stats.h"

/* Decimal digits that agree, as NIST counts them (log relative error). */
static double digits(double got, double certified)
{
	return got == certified ? 15 : -log10(fabs(got - certified) / fabs(certified));
}

/* NIST StRD, univariate: NumAcc1 to NumAcc4, whose certified values are exact. The later ones have
 * 1,001 values: the mean, then mean - 0.1 and mean + 0.1 in turns. A double holds 10000000.2 to 16
 * digits and thus its distance of 0.1 to 8 only. */
static void numacc(void **state)
{
	static const struct {
		double mean, digits_of_stddev;
	} table[] = {{1.2, 13.5}, {1000000.2, 9}, {10000000.2, 8}};
	const double first[] = {10000001, 10000003, 10000002};
	struct stats s;
	double v[1001];

	(void)state;
	stats_describe(first, 3, &s);
	assert_true(s.mean == 10000002 && s.stddev == 1 && s.median == 10000002);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		v[0] = table[i].mean;
		for (size_t k = 1; k < 1001; k++)
			v[k] = table[i].mean + (k % 2 ? -0.1 : 0.1);
		stats_describe(v, 1001, &s);
		assert_int_equal(s.n, 1001);
		assert_true(digits(s.mean, table[i].mean) >= 14);
		assert_true(digits(s.stddev, 0.1) >= table[i].digits_of_stddev);
	}
}

/* NIST StRD, univariate: Mavro (filter transmittance, 2 + v/10000) and Michelso (speed of light in
 * air, 290 + v/100, in 1000 km/s), with their certified means and standard deviations. */
static const int mavro[] = {18, 17, 18, 19, 18, 17, 15, 14, 15, 15, 17, 18, 18, 19, 19, 21, 20, 16,
	14, 13, 13, 15, 15, 16, 15, 14, 13, 14, 15, 14, 15, 16, 15, 16, 19, 20, 20, 21, 22, 23, 24,
	25, 27, 26, 26, 26, 27, 26, 25, 24};
static const int michelso[] = {985, 974, 990, 1007, 993, 985, 995, 998, 998, 988, 1000, 998, 993,
	965, 976, 981, 1000, 1000, 996, 996, 996, 994, 996, 994, 988, 980, 985, 988, 990, 984, 983,
	979, 981, 988, 988, 983, 980, 979, 976, 980, 988, 988, 988, 986, 972, 962, 986, 997, 995,
	988, 991, 985, 987, 984, 984, 985, 984, 984, 984, 989, 981, 981, 982, 980, 977, 976, 974,
	975, 976, 991, 992, 989, 986, 988, 972, 984, 985, 985, 978, 989, 984, 978, 981, 976, 981,
	979, 981, 982, 985, 987, 987, 981, 974, 981, 994, 995, 980, 981, 987, 972};

static void measured_sets(void **state)
{
	double v[100];
	struct stats s;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(mavro); i++)
		v[i] = (20000 + mavro[i]) / 1e4;
	stats_describe(v, ARRAY_LEN(mavro), &s);
	assert_true(digits(s.mean, 2.00185600000000) >= 14);
	assert_true(digits(s.stddev, 0.000429123454003053) >= 12);
	for (size_t i = 0; i < ARRAY_LEN(michelso); i++)
		v[i] = (29000 + michelso[i]) / 100.0;
	stats_describe(v, ARRAY_LEN(michelso), &s);
	assert_true(digits(s.mean, 299.852400000000) >= 14);
	assert_true(digits(s.stddev, 0.0790105478190518) >= 13);
}

/* NIST StRD, univariate: Lew (deflection of a steel and concrete beam) and Lottery (three-digit
 * numbers drawn from September 1989 to April 1990). */
static const int lew[] = {-213, -564, -35, -15, 141, 115,
	-420, -360, 203, -338, -431, 194, -220, -513, 154, -125,
	-559, 92, -21, -579, -52, 99, -543, -175, 162, -457, -346, 204, -300, -474, 164, -107,
	-572, -8, 83, -541, -224, 180, -420, -374, 201, -236, -531, 83, 27, -564, -112, 131,
	-507, -254, 199, -311, -495, 143, -46, -579, -90, 136, -472, -338, 202, -287, -477, 169,
	-124, -568, 17, 48, -568, -135, 162, -430, -422, 172, -74, -577, -13, 92, -534, -243,
	194, -355, -465, 156, -81, -578, -64, 139, -449, -384, 193, -198, -538, 110, -44, -577,
	-6, 66, -552, -164, 161, -460, -344, 205, -281, -504, 134, -28, -576, -118, 156, -437,
	-381, 200, -220, -540, 83, 11, -568, -160, 172, -414, -408, 188, -125, -572, -32, 139,
	-492, -321, 205, -262, -504, 142, -83, -574, 0, 48, -571, -106, 137, -501, -266, 190,
	-391, -406, 194, -186, -553, 83, -13, -577, -49, 103, -515, -280, 201, 300, -506, 131,
	-45, -578, -80, 138, -462, -361, 201, -211, -554, 32, 74, -533, -235, 187, -372, -442,
	182, -147, -566, 25, 68, -535, -244, 194, -351, -463, 174, -125, -570, 15, 72, -550,
	-190, 172, -424, -385, 198, -218, -536, 96};
static const int lottery[] = {162, 671, 933, 414,
	788, 730, 817, 33, 536, 875, 670, 236, 473, 167, 877, 980, 316, 950,
	456, 92, 517, 557, 956, 954, 104, 178, 794, 278, 147, 773, 437, 435, 502, 610, 582, 780,
	689, 562, 964, 791, 28, 97, 848, 281, 858, 538, 660, 972, 671, 613, 867, 448, 738, 966,
	139, 636, 847, 659, 754, 243, 122, 455, 195, 968, 793, 59, 730, 361, 574, 522, 97, 762,
	431, 158, 429, 414, 22, 629, 788, 999, 187, 215, 810, 782, 47, 34, 108, 986, 25, 644,
	829, 630, 315, 567, 919, 331, 207, 412, 242, 607, 668, 944, 749, 168, 864, 442, 533,
	805, 372, 63, 458, 777, 416, 340, 436, 140, 919, 350, 510, 572, 905, 900, 85, 389, 473,
	758, 444, 169, 625, 692, 140, 897, 672, 288, 312, 860, 724, 226, 884, 508, 976, 741,
	476, 417, 831, 15, 318, 432, 241, 114, 799, 955, 833, 358, 935, 146, 630, 830, 440, 642,
	356, 373, 271, 715, 367, 393, 190, 669, 8, 861, 108, 795, 269, 590, 326, 866, 64, 523,
	862, 840, 219, 382, 998, 4, 628, 305, 747, 247, 34, 747, 729, 645, 856, 974, 24, 568,
	24, 694, 608, 480, 410, 729, 947, 293, 53, 930, 223, 203, 677, 227, 62, 455, 387, 318,
	562, 242, 428, 968};

/* The first n digits of pi, by the spigot of Rabinowitz and Wagon, "A spigot algorithm for the digits
 * of pi", Amer. Math. Monthly 102 (1995): pi in the mixed base 1/3, 2/5, 3/7, … times ten, again and
 * again; a digit is certain once a later one is no 9 and did not carry. */
static void pi_digits(double *ret, size_t n)
{
	size_t len = 10 * (n + 2) / 3 + 1, given = 0, nines = 0;
	int *a = xcalloc(len, sizeof(*a)), held = -1;

	for (size_t i = 0; i < len; i++)
		a[i] = 2;
	while (given < n) {
		int carry = 0, digit;

		for (size_t i = len - 1; i > 0; i--) {
			int x = 10 * a[i] + carry * (int)(i + 1);

			a[i] = x % (int)(2 * i + 1);
			carry = x / (int)(2 * i + 1);
		}
		digit = 10 * a[0] + carry;
		a[0] = digit % 10;
		digit /= 10;
		if (digit == 9) {
			nines++;
			continue;
		}
		if (held >= 0)
			ret[given++] = held + digit / 10;
		for (; nines > 0 && given < n; nines--)
			ret[given++] = digit >= 10 ? 0 : 9;
		nines = 0;
		held = digit % 10;
	}
	free(a);
}

/* NIST StRD, univariate: PiDigits, the first 5,000. The certified values are those of NIST's list,
 * whose 957th digit is a 3 where pi has an 8. */
static void digits_of_pi(void **state)
{
	static const int begin[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9};
	double *v = xcalloc(5000, sizeof(*v));
	struct stats s;

	(void)state;
	pi_digits(v, 5000);
	for (size_t i = 0; i < ARRAY_LEN(begin); i++)
		assert_true(v[i] == begin[i]);
	assert_true(v[956] == 8);
	v[956] = 3;
	stats_describe(v, 5000, &s);
	assert_true(digits(s.mean, 4.53480000000000) >= 14);
	assert_true(digits(s.stddev, 2.86733906028871) >= 14);
	free(v);
}

static void described(const int *list, size_t n, struct stats *ret)
{
	double v[256];

	assert_true(n <= ARRAY_LEN(v));
	for (size_t i = 0; i < n; i++)
		v[i] = list[i];
	stats_describe(v, n, ret);
}

static void whole_numbers(void **state)
{
	struct stats s;

	(void)state;
	described(lew, ARRAY_LEN(lew), &s);
	assert_int_equal(s.n, 200);
	assert_true(digits(s.mean, -177.435000000000) >= 14.5);
	assert_true(digits(s.stddev, 277.332168044316) >= 14.5);
	described(lottery, ARRAY_LEN(lottery), &s);
	assert_int_equal(s.n, 218);
	assert_true(digits(s.mean, 518.958715596330) >= 14.5);
	assert_true(digits(s.stddev, 291.699727470969) >= 14.5);
}

static void few_values(void **state)
{
	const double v[] = {4, 1, 3, 2};
	struct stats s;

	(void)state;
	stats_describe(v, 0, &s);
	assert_true(isnan(s.mean) && isnan(s.median) && isnan(s.min) && isnan(s.stddev));
	stats_describe(v, 1, &s);
	assert_true(s.mean == 4 && s.median == 4 && isnan(s.stddev) && isnan(s.ci95[0]));
	stats_describe(v, 4, &s);
	assert_true(s.median == 2.5 && s.min == 1 && s.max == 4);
	/* s = sqrt(5/3), t = 3.18245 */
	assert_true(fabs(s.ci95[0] - (2.5 - 2.05426)) < 1e-4);
	assert_true(fabs(s.ci95[1] - (2.5 + 2.05426)) < 1e-4);
	assert_true(fabs(s.cv - sqrt(5.0 / 3) / 2.5) < 1e-15);
	assert_true(isnan(s.median_ci[0]));
}

/* Order statistics that hold the median with 95 %: Hahn and Meeker, Statistical Intervals. */
static void median_intervals(void **state)
{
	static const struct {
		size_t n, lo, hi;
	} table[] = {
		{6, 1, 6}, {7, 1, 7}, {8, 1, 8}, {9, 2, 8}, {10, 2, 9}, {15, 4, 12}, {20, 6, 15}};
	double v[20] = {0};
	struct stats s;

	(void)state;
	stats_describe(v, 5, &s);
	assert_true(isnan(s.median_ci[0]) && isnan(s.median_ci[1]));
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		for (size_t k = 0; k < table[i].n; k++)
			v[k] = (double)(table[i].n - k);
		stats_describe(v, table[i].n, &s);
		assert_true(s.median_ci[0] == (double)table[i].lo &&
			    s.median_ci[1] == (double)table[i].hi);
	}
}

static void quantiles_of_t(void **state)
{
	static const struct {
		double p, df, t;
	} table[] = {{0.975, 1, 12.7062}, {0.975, 2, 4.30265}, {0.975, 3, 3.18245},
		{0.975, 4, 2.77645}, {0.975, 9, 2.26216}, {0.975, 10, 2.22814},
		{0.975, 30, 2.04227}, {0.975, 120, 1.97993}, {0.995, 10, 3.16927},
		{0.95, 5, 2.01505}, {0.9995, 3, 12.9240}, {0.8, 5, 0.91954}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		assert_true(fabs(dist_t_quantile(table[i].p, table[i].df) / table[i].t - 1) < 5e-6);
		assert_true(fabs(dist_t_two_sided(table[i].t, table[i].df) - 2 * (1 - table[i].p)) <
			    1e-5);
	}
	assert_true(isnan(dist_t_quantile(1, 3)) && isnan(dist_t_quantile(0.5, 0)));
	assert_true(isnan(dist_t_quantile(NAN, 3)) && isnan(dist_t_two_sided(-1, 3)));
	assert_true(dist_t_two_sided(INFINITY, 3) == 0);
	assert_true(fabs(dist_half_binomial(2, 10) - 56.0 / 1024) < 1e-15);
	assert_true(dist_half_binomial(10, 10) == 1);
}

/* Rosner's 54 values, NIST/SEMATECH handbook 1.3.5.17.3: three outliers among at most ten, which no
 * test of one at a time would call. */
static void rosners_values(void **state)
{
	static const double v[] = {-0.25, 0.68, 0.94, 1.15, 1.20, 1.26, 1.26, 1.34, 1.38, 1.43,
		1.49, 1.49, 1.55, 1.56, 1.58, 1.65, 1.69, 1.70, 1.76, 1.77, 1.81, 1.91, 1.94, 1.96,
		1.99, 2.06, 2.09, 2.10, 2.14, 2.15, 2.23, 2.24, 2.26, 2.35, 2.37, 2.40, 2.47, 2.54,
		2.62, 2.64, 2.90, 2.92, 2.92, 2.93, 3.21, 3.26, 3.30, 3.59, 3.68, 4.30, 4.64, 5.34,
		5.42, 6.01};
	size_t out[10];

	(void)state;
	assert_int_equal(outliers_esd(v, ARRAY_LEN(v), 1, 0.05, out), 0);
	assert_int_equal(outliers_esd(v, ARRAY_LEN(v), 10, 0.05, out), 3);
	assert_true(v[out[0]] == 6.01 && v[out[1]] == 5.42 && v[out[2]] == 5.34);
}

/* One after the other, as the most extreme of those left: each end in its turn, whatever far values did
 * to sums before. */
static void many_that_stand_out(void **state)
{
	double v[2000];
	size_t out[200], far = 0;

	(void)state;
	for (int i = 0; i < 2000; i++)
		v[i] = 1e-3 * sin(i);
	for (int i = 0; i < 200; i++)
		v[10 * i] += i % 2 ? 1 + 1e-2 * i : -1 - 1e-2 * i;
	v[1990] = 1e12;
	assert_int_equal(outliers_esd(v, 2000, 200, 0.05, out), 200);
	assert_int_equal(out[0], 1990);
	for (int i = 1; i < 200; i++)
		far += fabs(v[out[i]]) >= 0.99 && out[i] % 10 == 0;
	assert_int_equal(far, 199);
	assert_true(fabs(outliers_peers(v, 2000, out, 200)) < 1e-4);
	assert_int_equal(outliers_hosts(v, 2000, 0, out, NULL), 200);
}

static void hosts_that_stand_out(void **state)
{
	static const double slow[] = {0.00, 0.01, -0.01, 0.002, 0.30};
	static const double flat[] = {1, 1, 1, 1, 1, 1};
	/* one whose logarithm was rounded the other way */
	static const double rounded[] = {13.4, 13.4, 13.4, 13.4, 13.4, 13.4, 13.4, 13.4, 13.400000000000002};
	size_t out[9];
	double peers;

	(void)state;
	assert_int_equal(outliers_hosts(slow, 5, 0.02, out, &peers), 1);
	assert_int_equal(out[0], 4);
	assert_true(fabs(peers - 0.0005) < 1e-12);
	assert_int_equal(outliers_hosts(slow, 5, 0.40, out, NULL), 0);  /* within the margin */
	assert_int_equal(outliers_hosts(slow + 1, 4, 0, out, NULL), 0); /* too few hosts */
	assert_int_equal(outliers_hosts(flat, 6, 0, out, NULL), 0);
	assert_int_equal(outliers_hosts(rounded, 9, 0, out, NULL), 0);
}

/* Twenty hosts, of which the test calls two: both are held against the eighteen others, whether or not the
 * margin lets each be named. */
static void peers_are_those_not_called(void **state)
{
	double v[20], peers;
	size_t out[20];

	(void)state;
	for (int i = 0; i < 20; i++)
		v[i] = i % 2 ? 0.001 : -0.001;
	v[3] = 0.1;
	v[4] = 1;
	assert_int_equal(outliers_hosts(v, 20, 0, out, &peers), 2);
	assert_true(fabs(peers) < 1e-15);
	assert_int_equal(outliers_hosts(v, 20, 0.5, out, &peers), 1);
	assert_int_equal(out[0], 4);
	assert_true(fabs(peers) < 1e-15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numacc),
		cmocka_unit_test(measured_sets),
		cmocka_unit_test(whole_numbers),
		cmocka_unit_test(digits_of_pi),
		cmocka_unit_test(few_values),
		cmocka_unit_test(median_intervals),
		cmocka_unit_test(quantiles_of_t),
		cmocka_unit_test(rosners_values),
		cmocka_unit_test(many_that_stand_out),
		cmocka_unit_test(hosts_that_stand_out),
		cmocka_unit_test(peers_are_those_not_called),
	};

	return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
