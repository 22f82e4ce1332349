/* Builds, bytes, time and findable difference; Student's t against tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
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
	/* exp((3.1824 + 0.9785) * 0.03 * sqrt(2 / 4)) - 1 */
	assert_true(near(x.smallest_difference, 0.09228, 1e-3));
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
	assert_true(x.most.written_ram == 2);
	assert_true(x.most.read_ram == 0);
	assert_int_equal(plan_estimate(p, 4 * GIB, &x, &e), 0);
	assert_int_equal(x.most.written_bytes, 8 * GIB);
	assert_true(x.most.written_ram == 0);
	assert_true(isinf(x.smallest_difference));
	plan_free(p);
}

/* 2 layouts, 3 blocks; each trial writes 2 memories and 1 GiB and reads them, and a member's files of half
 * a memory are made before. */
static void test_ram_and_bytes(void **state)
{
	struct plan *p = parse("name: p\nhosts: all\ntrials: 3\nlayouts:\n  a: {existing: /x}\n  b: {existing: /y}\n"
			       "workloads:\n  w: {stream: {op: write, size: ram * 2 + 1G}}\n"
			       "  r: {stream: {op: read, of: w}}\n"
			       "  m: {parallel: [{stream: {op: read, size: ram / 2}}, {stream: {op: write, size: 1G}}]}\n");
	struct plan_estimate x;
	struct err e;

	(void)state;
	assert_int_equal(plan_estimate(p, 0, &x, &e), 0);
	assert_true(near(x.most.written_ram, 6 * 2.5, 1e-9));
	assert_true(near(x.most.read_ram, 6 * 2.5, 1e-9));
	assert_true(near((double)x.most.written_bytes, 6 * 2 * (double)GIB, 1e-9));
	assert_true(near((double)x.most.read_bytes, 6 * (double)GIB, 1e-9));
	plan_free(p);
}

/* More comparisons need wider intervals, and so does until, whose level is 3 %. t(0.99167, 3) = 4.8567,
 * t(0.9875, 4) = 3.4954, t(0.9925, 4) = 4.0880, t(0.8, 3) = 0.97847, t(0.8, 4) = 0.94096. */
static void test_smallest_difference(void **state)
{
	static const struct {
		const char *trials, *compare;
		double t;
		unsigned n;
	} table[] = {
		{"4", "", 3.18245 + 0.97847, 4},
		{"4", "compare: {metrics: [elapsed, throughput, ops_per_s]}\n", 4.8567 + 0.97847, 4},
		{"4", "compare: {pairs: [[b, a]]}\n", 3.18245 + 0.97847, 4},
		{"5", "compare: {metrics: [elapsed, throughput]}\n", 3.4954 + 0.94096, 5},
		{"3", "", 4.30265 + 1.06066, 3},
		/* not in pairs: t(0.975, 6) = 2.44691, t(0.9875, 6) = 2.96869, t(0.8, 6) = 0.90570 */
		{"4\norder: as-written", "", 2.44691 + 0.90570, 4},
		{"4\nbuilds: once", "", 2.44691 + 0.90570, 4},
		{"4", "compare: {by: host}\n", 2.96869 + 0.90570, 4},
		/* no verdict is to be had of two */
		{"2", "", INFINITY, 2},
		{"{min: 5, max: 9, until: 2%}", "compare: {metrics: [elapsed, throughput]}\n",
			4.0880 + 0.94096, 5},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		char text[512];
		struct plan_estimate x;
		struct plan *p;
		double want;
		struct err e;

		snprintf(text, sizeof(text),
			"name: p\nhosts: all\ntrials: %s\nlayouts: {a: {existing: /x}, b: {existing: "
			"/y}}\nworkloads: {w: {stream: {op: write, size: 1M}}}\n%s",
			table[i].trials, table[i].compare);
		p = parse(text);
		assert_int_equal(plan_estimate(p, 0, &x, &e), 0);
		want = expm1(table[i].t * 0.03 * sqrt(2.0 / table[i].n));
		if (isinf(want) ? !isinf(x.smallest_difference) : !near(x.smallest_difference, want, 1e-3))
			fail_msg("%s %s: %g", table[i].trials, table[i].compare, x.smallest_difference);
		plan_free(p);
	}
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

#define MIB (1LL << 20)

/* Of each kind, 2 blocks of 3 trials on one layout: what is written, the making of files included, what
 * is read, and of how many workloads that is not known. */
static const struct {
	const char *workloads;
	int64_t written, read;
	unsigned unknown;
} moves[] = {
	{"w: {stream: {op: write, size: 8M}}", 6 * 8 * MIB, 0, 0},
	{"w: {stream: {op: write, size: 8M}, duration: 5s}", 0, 0, 1},
	{"w: {stream: {op: write, size: 8M, rate: 1M}, duration: 5s}", 6 * 5 * MIB, 0, 0},
	{"w: {stream: {op: write, size: 8M}}\n  r: {stream: {op: read, of: w, size: 4M}}",
		6 * 8 * MIB, 6 * 4 * MIB, 0},
	{"r: {random: {op: read, size: 8M}}", 2 * 8 * MIB, 6 * 8 * MIB, 0},
	{"r: {random: {op: read, size: 8M, duration: 5s}}", 2 * 8 * MIB, 0, 1},
	{"r: {random: {op: read, size: 8M, duration: 5s, rate: 1000}}", 2 * 8 * MIB,
		6 * 5000 * 4096LL, 0},
	{"r: {random: {op: write, size: 8M}}", (2 + 6) * 8 * MIB, 0, 0},
	{"r: {random: {op: write, size: 8M, verify: true}}", (6 + 6) * 8 * MIB, 0, 0},
	{"r: {random: {op: mixed, reads: 75%, size: 8M, ops: 1000}}",
		2 * 8 * MIB + 6 * 250 * 4096LL, 6 * 750 * 4096LL, 0},
	{"w: {stream: {op: write, size: 8M}}\n  r: {random: {op: read, of: w}}", 6 * 8 * MIB,
		6 * 8 * MIB, 0},
	{"f: {fio: {options: {rw: write, size: 4m}}}", 6 * 4 * MIB, 0, 0},
	{"f: {fio: {options: {rw: read, size: 4m}}}", 2 * 4 * MIB, 6 * 4 * MIB, 0},
	{"f: {fio: {options: {rw: write, size: 4m, overwrite: yes}}}", (2 + 6) * 4 * MIB, 0, 0},
	{"f: {fio: {options: {rw: randread, size: 4m}}, duration: 5s}", 2 * 4 * MIB, 0, 1},
	{"a: {fio: {options: {rw: write, size: 4m, filename: x}}}\n"
	 "  b: {fio: {options: {rw: read, size: 4m, filename: x}}}",
		6 * 4 * MIB, 6 * 4 * MIB, 0},
	{"f: {fio: {job: /srv/x.fio}}", 0, 0, 1},
	{"m: {filebench: {personality: varmail}}", 6 * 800 * 16384LL, 0, 1},
	{"m: {filebench: {wml: /srv/x.f}}", 0, 0, 1},
	{"c: {command: {argv: [/x]}}", 0, 0, 1},
	{"p: {pg_restore: {dump: /x}}", 0, 0, 1},
	{"p: {pg_restore: {scale: 1}}\n  d: {pg_dump: {of: p}}", 0, 0, 2},
	{"p: {pgbench: {scale: 1}}", 0, 0, 1},
	{"s: {disk-scan: {}}", 0, 0, 1},
	{"s: {disk-scan: {disks: all, span: 1M}}", 0, 0, 1},
	{"s: {disk-scan: {disks: {controller: AHCI, count: 2}, span: 1M}}", 0, 6 * 8 * MIB, 0},
	{"p: {parallel: [{stream: {op: read, size: 8M}}, {stream: {op: write, size: 2M}}]}",
		(2 * 8 + 6 * 2) * MIB, 6 * 8 * MIB, 0},
	{"p: {parallel: [{stream: {op: read, size: 8M, rate: 1M}}, {random: {op: read, size: "
	 "2M}}], duration: 5s}",
		2 * 10 * MIB, 6 * 5 * MIB, 1},
};

static void test_every_kind_says_what_it_moves(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(moves); i++) {
		char *text = xasprintf("name: p\nhosts: all\ntrials: 2\nrepeat: 3\nlayouts:\n"
				       "  a: {existing: /x}\nworkloads:\n  %s\n",
			moves[i].workloads);
		struct plan *p = parse(text);
		struct plan_estimate x;
		struct err e;

		if (plan_estimate(p, 0, &x, &e))
			fail_msg("%s: %s", moves[i].workloads, e.text);
		if (x.most.written_bytes != moves[i].written || x.most.read_bytes != moves[i].read ||
			x.unknown != moves[i].unknown)
			fail_msg("%s: %lld written, %lld read, %u unknown; not %lld, %lld, %u",
				moves[i].workloads, (long long)x.most.written_bytes,
				(long long)x.most.read_bytes, x.unknown, (long long)moves[i].written,
				(long long)moves[i].read, moves[i].unknown);
		plan_free(p);
		free(text);
	}
}

/* Files that stay are made once a volume, and cost the time of writing them. */
static void test_the_making_of_files_takes_time(void **state)
{
	struct plan *p = parse("name: p\nhosts: all\ntrials: 4\nbuilds: once\nrepeat: 2\nlayouts:\n"
			       "  a: {existing: /x}\nworkloads:\n"
			       "  r: {random: {op: read, size: 1000MB, duration: 10s}}\n");
	struct plan_estimate x;
	struct err e;

	(void)state;
	assert_int_equal(plan_estimate(p, 0, &x, &e), 0);
	assert_true(near((double)x.most.duration_ns, (8 * 10 + 10 + 5 + 8 * 1) * 1e9, 1e-3));
	assert_true(near((double)x.most.written_bytes, 1e9, 1e-3));
	plan_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_student),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_rate_limits),
		cmocka_unit_test(test_ram),
		cmocka_unit_test(test_ram_and_bytes),
		cmocka_unit_test(test_smallest_difference),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_every_kind_says_what_it_moves),
		cmocka_unit_test(test_the_making_of_files_takes_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
