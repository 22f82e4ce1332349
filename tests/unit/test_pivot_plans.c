/* Runs beside each other keep what their plans say, and workloads of two names can be one. */
#include "tests/unit/test.h"

#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/merge.h"
#include "coordinator/results/pivot.h"
#include "coordinator/results/report.h"
#include "tests/unit/results_kit.h"

#define TOP "name: demo\nhosts: all\ntrials: 3\n"
#define ZFS "{scratch: {disks: 3, size: 1G}, pool: {level: raidz1, disks: 3, properties: {compression: %s}}}"
#define ONE_WRITE "workloads: {load: {stream: {op: write, size: 64M, data: zero}}}\n"

/* A source: one run of two layouts and one workload, as its export tells. */
static void add(struct result_set *set, const char *plan, const char *set_option, char *workload,
	int64_t ms)
{
	char *layouts[] = {"z1", "z2", NULL}, *workloads[] = {workload, NULL};
	struct result_run r = {.id = 1,
		.name = "demo",
		.state = "done",
		.plan_sha256 = (char *)(plan ? "00ff" : ""),
		.tool_version = "",
		.user = "",
		.blocks = 3,
		.cache = "cold",
		.design = "random-blocks",
		.plan_text = (char *)plan,
		.layouts = {layouts, 2, 0},
		.workloads = {workloads, 1, 0}};
	struct result_set one = {0};
	struct buf lines = {0};

	if (set_option)
		strv_add(&r.sets, set_option);
	export_run(&r, &lines);
	for (uint32_t b = 1; b <= 3; b++)
		for (uint32_t l = 0; l < 2; l++) {
			struct result_trial t = a_trial("knew", 2 * b + l, b, l, 0,
				(ms + b) * 1000000 * (l + 1));

			t.sum.bytes = 64 << 20;
			t.sum.tele = (struct telemetry){.disks = 3, .disk_write_bytes = 64 << 20};
			export_trial(&t, &lines);
		}
	lines_read(lines.data, &one);
	result_set_merge(set, &one);
	strv_free(&r.sets);
	buf_free(&lines);
}

static char *plan_of(const char *compression, const char *rest)
{
	char *zfs = xasprintf(ZFS, compression);
	char *plan = xasprintf(TOP "layouts:\n  z1: %s\n  z2: %s\n%s", zfs, zfs, rest);

	free(zfs);
	return plan;
}

static const struct {
	const char *name, *work[2], *set; /* set: of the second one */
	const char *compression[2];
	int has_plan;
} cases[] = {
	{"the same plan", {ONE_WRITE, ONE_WRITE}, NULL, {"off", "off"}, 1},
	{"other layouts, the same work", {ONE_WRITE, ONE_WRITE}, NULL, {"off", "lz4"}, 1},
	{"written otherwise",
		{ONE_WRITE, "workloads:\n  load:\n    stream:\n      data: zero\n      size: 64M\n"
			    "      op: write\n"},
		NULL, {"off", "off"}, 1},
	{"the workload has another name",
		{ONE_WRITE, "workloads: {fill: {stream: {op: write, size: 64M, data: zero}}}\n"}, NULL,
		{"off", "off"}, 1},
	{"more data", {ONE_WRITE, "workloads: {load: {stream: {op: write, size: 32M, data: zero}}}\n"},
		NULL, {"off", "off"}, 0},
	{"more data, set where it was run", {ONE_WRITE, ONE_WRITE}, "workloads.load.stream.size=32M",
		{"off", "off"}, 0},
	{"another state of the caches", {ONE_WRITE, ONE_WRITE "cache: warm\n"}, NULL, {"off", "off"},
		0},
	{"one has no plan", {ONE_WRITE, NULL}, NULL, {"off", "off"}, 0},
};

static void plans_are_kept(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct pivot_source v[] = {{1, "jan"}, {2, "feb"}};
		struct result_set set = {0};
		struct analysis a;
		struct err e = {0};

		for (size_t k = 0; k < 2; k++) {
			char *plan = cases[i].work[k]
					     ? plan_of(cases[i].compression[k], cases[i].work[k])
					     : NULL;

			add(&set, plan, k ? cases[i].set : NULL, "load", 100 + (int64_t)k);
			free(plan);
		}
		assert_ok(export_read_end(&set, &e), e);
		assert_ok(pivot_sources(&set, v, 2, &e), e);
		assert_int_equal(set.n_runs, 2); /* one per layout */
		assert_ok(analysis_make(&set, &a, &e), e);
		if ((a.runs[1].plan != NULL) != cases[i].has_plan)
			fail_msg("%s: %s plan", cases[i].name, a.runs[1].plan ? "a" : "no");
		for (size_t k = 0; cases[i].has_plan && k < 2; k++) {
			const struct layout *l = &a.runs[1].plan->layouts[k];

			assert_int_equal(a.runs[1].plan->n_layouts, 2);
			assert_string_equal(l->name, v[k].label);
			assert_string_equal(l->pool->props[0].value, cases[i].compression[k]);
		}
		assert_int_equal(a.n_comparisons, 2);
		assert_string_equal(a.comparisons[0].base, "jan");
		analysis_clear(&a);
		result_set_clear(&set);
	}
}

/* V02 speaks of the side whose pool compresses, and of that one alone. */
static void rules_know_each_side(void **state)
{
	const struct pivot_source v[] = {{1, "jan"}, {2, "feb"}};
	char *off = plan_of("off", ONE_WRITE), *lz4 = plan_of("lz4", ONE_WRITE);
	struct result_set set = {0};
	struct analysis a;
	struct err e = {0};
	int feb = 0;

	(void)state;
	add(&set, off, NULL, "load", 100);
	add(&set, lz4, NULL, "load", 101);
	free(off);
	free(lz4);
	assert_ok(export_read_end(&set, &e), e);
	assert_ok(pivot_sources(&set, v, 2, &e), e);
	assert_ok(analysis_make(&set, &a, &e), e);
	for (size_t i = 0; i < a.findings.n; i++) {
		const struct finding *f = &a.findings.v[i];

		if (strcmp(f->rule->id, "V02") != 0)
			continue;
		assert_false(f->unknown);
		assert_string_equal(f->layout, "feb");
		feb++;
	}
	assert_int_equal(feb, 2); /* in both pivoted runs */
	analysis_clear(&a);
	result_set_clear(&set);
}

static void two_names_are_one(void **state)
{
	const struct pivot_source v[] = {{1, "jan"}, {2, "feb"}};
	char *load = plan_of("off", ONE_WRITE);
	struct result_set set = {0};
	struct analysis a;
	struct err e = {0};

	(void)state;
	add(&set, load, NULL, "load", 100);
	add(&set, load, NULL, "fill", 110);
	free(load);
	assert_ok(export_read_end(&set, &e), e);
	assert_int_equal(pivot_same_workload(&set, "load", "filll", &e), -1);
	assert_non_null(strstr(e.text, "'filll'"));
	assert_int_equal(pivot_same_workload(&set, "lode", "fill", &e), -1);
	assert_non_null(strstr(e.text, "'lode'"));
	assert_ok(pivot_same_workload(&set, "load", "fill", &e), e);
	assert_ok(pivot_sources(&set, v, 2, &e), e);
	assert_ok(analysis_make(&set, &a, &e), e);
	assert_int_equal(a.n_comparisons, 2);
	assert_string_equal(a.comparisons[0].workload, "load");
	assert_int_equal(a.comparisons[0].c.n, 3);
	assert_true(a.comparisons[0].c.d > 0);
	assert_non_null(a.runs[0].plan);
	analysis_clear(&a);
	result_set_clear(&set);
}

static void not_within_one_run(void **state)
{
	char *workloads[] = {"load", "fill", NULL}, *layouts[] = {"z1", NULL};
	struct result_set set = {0};
	struct buf lines = {0};
	struct err e = {0};

	(void)state;
	lines_run(&lines, 1, "both", 1, layouts, 1, workloads, 2);
	lines_read(lines.data, &set);
	assert_int_equal(pivot_same_workload(&set, "load", "fill", &e), -1);
	assert_non_null(strstr(e.text, "both has both"));
	result_set_clear(&set);
	buf_free(&lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_are_kept),
		cmocka_unit_test(rules_know_each_side),
		cmocka_unit_test(two_names_are_one),
		cmocka_unit_test(not_within_one_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
