/* Builds, bytes, time and findable difference; Student's t against tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/mem.h"
#include "common/plan/estimate.h"
#include "common/plan/student.h"

#define GIB (1LL << 30)

static struct plan *parse(const char *text)
{
	struct yaml_errors errs = {0};
	struct plan *p = NULL;
	struct err e;

	if (plan_parse("plan.yaml", text, strlen(text), NULL, &p, &errs, &e))
		fail_msg("%s", e.text);
	yaml_errors_free(&errs);
	return p;
}

static int near(double a, double b, double relative)
{
	return fabs(a - b) <= relative * fabs(b);
}

/* Quantiles as printed in the tables of t (NIST/SEMATECH e-Handbook, 1.3.6.7.2, and for p = 0.8
 * any table of the 20 % point). */
static void test_student(void **state)
{
	static const struct {
		double p;
		unsigned df;
		double t;
	} table[] = {
		{0.975, 1, 12.706},
		{0.975, 2, 4.303},
		{0.975, 3, 3.182},
		{0.975, 4, 2.776},
		{0.975, 9, 2.262},
		{0.975, 10, 2.228},
		{0.975, 30, 2.042},
		{0.975, 100, 1.984},
		{0.95, 5, 2.015},
		{0.99, 7, 2.998},
		{0.999, 20, 3.552},
		{0.8, 1, 1.376},
		{0.8, 3, 0.978},
		{0.8, 10, 0.879},
		{0.975, 10000, 1.960},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (fabs(student_quantile(table[i].p, table[i].df) - table[i].t) > 0.0006)
			fail_msg("t(%g, %u) = %.6f, expected %.3f", table[i].p, table[i].df,
				student_quantile(table[i].p, table[i].df), table[i].t);
}

static void test_counts(void **state)
{
	struct plan *p =
		parse("name: p\nhosts: all\ntrials: 4\nrepeat: 3\nlayouts:\n"
		      "  a: {scratch: {disks: 4, size: 2G}, pool: {level: raidz1, disks: 4}}\n"
		      "  b: {pool: {level: raidz2, disks: 8}}\nworkloads:\n"
		      "  w: {stream: {op: write, size: 1G}}\n"
		      "  r: {stream: {op: read, of: w}}\n"
		      "  x: {stream: {op: rewrite, of: w, size: 512M}}\n");
	struct plan_estimate x;
	struct err e;

	(void)state;
	assert_int_equal(plan_estimate(p, 0, &x, &e), 0);
	assert_int_equal(x.most.blocks, 4);
	assert_int_equal(x.most.builds, 8);
	assert_int_equal(x.most.trials, 4 * 2 * 3 * 3);
	assert_int_equal(x.most.written_bytes, 24 * (GIB + GIB / 2));
	assert_int_equal(x.most.read_bytes, 24 * GIB);
	/* 12 passes of 2.5 GiB at 100 MB/s and at 600 MB/s, 8 builds, 72 trials */
	assert_true(near((double)x.most.duration_ns,
		(12 * 2.5 * GIB * (1 / 100e6 + 1 / 600e6) + 8 * 5 + 72 * 1) * 1e9, 1e-6));
	/* (3.1824 + 0.9785) * 0.03 * sqrt(2 / 4) */
	assert_true(near(x.smallest_difference, 0.08827, 1e-3));
	p->builds = BUILDS_ONCE;
	assert_int_equal(plan_estimate(p, 0, &x, &e), 0);
	assert_int_equal(x.most.builds, 2);
	plan_free(p);
}

static void test_rate_limits(void **state)
{
	struct plan *p =
		parse("name: p\nhosts: all\ntrials: 3\nlayouts:\n  a: {existing: /x}\n"
		      "workloads:\n  w: {stream: {op: write, size: 1000MB, rate: 10MB}}\n");
	struct plan_estimate x;
	struct err e;

	(void)state;
	assert_int_equal(plan_estimate(p, 0, &x, &e), 0);
	assert_true(near((double)x.most.duration_ns, 3 * (100 + 5 + 1) * 1e9, 1e-6));
	plan_free(p);
}

static void test_ram(void **state)
{
	struct plan *p = parse("name: p\nhosts: all\ntrials: 1\nlayouts:\n  a: {existing: /x}\n"
			       "workloads:\n  w: {stream: {op: write, size: ram * 2}}\n");
	struct plan_estimate x;
	struct err e;

	(void)state;
	assert_int_equal(plan_estimate(p, 0, &x, &e), 0);
	assert_int_equal(x.most.written_bytes, 0);
	assert_int_equal(plan_estimate(p, 4 * GIB, &x, &e), 0);
	assert_int_equal(x.most.written_bytes, 8 * GIB);
	assert_true(isinf(x.smallest_difference));
	plan_free(p);
}

static void test_overflow(void **state)
{
	struct plan *p = parse("name: p\nhosts: all\ntrials: 10000\nlayouts:\n  a: {existing: /x}\n"
			       "workloads:\n  w: {stream: {op: write, size: 1000P}}\n");
	struct plan_estimate x;
	struct err e;

	(void)state;
	assert_int_equal(plan_estimate(p, 0, &x, &e), -1);
	assert_int_equal(e.code, ERR_INPUT);
	plan_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_student),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_rate_limits),
		cmocka_unit_test(test_ram),
		cmocka_unit_test(test_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
