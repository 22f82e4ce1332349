/* Runs and files of one host each become one run, whose hosts are compared. */
#include "tests/unit/test.h"

#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/import.h"
#include "coordinator/results/merge.h"
#include "coordinator/results/pivot.h"
#include "tests/unit/results_kit.h"

static void add_text(struct result_set *set, const char *name, const char *text)
{
	struct result_set one = {0};
	struct import_options o = {0};
	struct buf copy = {0};
	uint64_t run;
	struct err e;

	buf_adds(&copy, text);
	assert_ok(import_text(&one, name, &copy, &o, NULL, &run, &e), e);
	assert_ok(export_read_end(&one, &e), e);
	result_set_merge(set, &one);
	buf_free(&copy);
}

static const struct pivot_source three[] = {{1, "a"}, {2, "b"}, {3, "c"}};

static void by_host(struct result_set *set, size_t n, struct analysis *a)
{
	struct err e;

	assert_ok(export_read_end(set, &e), e);
	assert_ok(pivot_hosts(set, three, n, &e), e);
	set->wish.by = BY_HOST;
	assert_ok(analysis_make(set, a, &e), e);
	assert_int_equal(set->n_runs, 1);
}

#define TEN "10.0s\n10.1s\n10.2s\n"
#define TWELVE "12.0s\n12.1s\n12.2s\n"

static void hosts_meet(void **state)
{
	struct result_set set = {0};
	struct analysis a;

	(void)state;
	add_text(&set, "a.txt", "host: h1\nlayout: z1\n" TEN "layout: z2\n" TWELVE);
	add_text(&set, "b.txt", "host: h2\nlayout: z2\n" TEN "layout: z1\n" TWELVE);
	add_text(&set, "c.txt", "host: h3\nlayout: z1\nn=4 mean=20s min=19s max=21s\n");
	by_host(&set, 3, &a);
	assert_string_equal(set.runs[0].name, "a vs b vs c");
	assert_int_equal(set.runs[0].layouts.n, 2);
	assert_int_equal(set.n_trials, 12);
	assert_int_equal(a.n_comparisons, 3); /* h3 has no z2 */
	for (size_t i = 0; i < a.n_comparisons; i++) {
		const struct result_comparison *c = &a.comparisons[i];
		double ratio = exp(c->c.d), expected = strcmp(c->subject, "h3") == 0 ? 20 / 10.1
				: strcmp(c->layout, "z1") == 0		      ? 12.1 / 10.1
									      : 10.1 / 12.1;

		assert_int_equal(c->between_hosts, 1);
		assert_string_equal(c->base, "h1");
		if (fabs(ratio / expected - 1) > 0.001)
			fail_msg("%s on %s: %g, not %g", c->layout, c->subject, ratio, expected);
	}
	analysis_clear(&a);
	result_set_clear(&set);
}

/* The name of a file is no name of a layout: where each has one, these are the same. */
static void files_of_one_layout_meet(void **state)
{
	struct result_set set = {0};
	struct analysis a;

	(void)state;
	add_text(&set, "a.txt", "host: h1\n" TEN);
	add_text(&set, "b.txt", "host: h2\n" TWELVE);
	by_host(&set, 2, &a);
	assert_int_equal(set.runs[0].layouts.n, 1);
	assert_string_equal(set.runs[0].layouts.v[0], "a, b");
	assert_string_equal(set.runs[0].state, "imported");
	assert_int_equal(a.n_comparisons, 1);
	assert_int_equal(a.comparisons[0].c.verdict, VERDICT_SLOWER);
	analysis_clear(&a);
	result_set_clear(&set);
}

static void what_cannot_be_compared_is_told(void **state)
{
	static const struct {
		const char *a, *b, *words;
	} table[] = {
		{"host: h1\n" TEN, "host: h1\n" TWELVE, "b was measured on the host 'h1'"},
		{"host: h1\n" TEN, TWELVE, "b does not say on which host it was measured: put a line "
					   "'host: NAME'"},
		{TEN, TWELVE, "a does not say on which host"},
		{"host: h1\nworkload: w\n" TEN, "host: h2\nworkload: v\n" TWELVE, "have a layout and a workload "
										  "in common"},
		{"host: h1\nlayout: x\n" TEN "layout: y\n" TEN, "host: h2\nlayout: z\n" TWELVE,
			"have a layout and a workload in common"},
		{"host: h1\nlayout: x\n" TEN "host: h2\n" TEN, "host: h2\nlayout: x\n" TWELVE,
			"b was measured on the host 'h2'"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct result_set set = {0};
		struct err e = {0};

		add_text(&set, "a.txt", table[i].a);
		add_text(&set, "b.txt", table[i].b);
		assert_ok(export_read_end(&set, &e), e);
		assert_int_equal(pivot_hosts(&set, three, 2, &e), -1);
		assert_has(e.text, table[i].words);
		assert_int_equal(set.n_runs, 2); /* nothing was done */
		assert_int_equal(set.trials[set.n_trials - 1].run, 2);
		result_set_clear(&set);
	}
}

static char *layouts[] = {"z1", NULL}, *workloads[] = {"load", NULL};

static void add_run(struct result_set *set, const char *host, const char *sha, const char *design)
{
	struct result_run r = {.id = 1, .name = "n", .state = "done", .plan_sha256 = (char *)sha,
		.plan_text = "name: n\n", .tool_version = "", .user = "", .cache = "cold",
		.design = (char *)design, .layouts = {layouts, 1, 0}, .workloads = {workloads, 1, 0},
		.blocks = 3};
	struct result_environment v = {.run = 1, .host = (char *)host, .inventory = json_object()};
	struct result_set one = {0};
	struct buf lines = {0};

	export_run(&r, &lines);
	export_environment(&v, &lines);
	json_decref(v.inventory);
	for (uint32_t b = 1; b <= 3; b++) {
		struct result_trial t = a_trial(host, b, b, 0, 0, 1000000000 + b * 1000000);

		t.layout_name = layouts[0];
		t.workload_name = workloads[0];
		export_trial(&t, &lines);
	}
	lines_read(lines.data, &one);
	result_set_merge(set, &one);
	buf_free(&lines);
}

/* Runs of one plan are as one run of it on several hosts; of others the plan tells nothing of all. */
static void one_plan_is_kept(void **state)
{
	static const struct {
		const char *sha, *design;
		int kept;
	} second[] = {{"s1", "random-blocks", 1}, {"s2", "random-blocks", 0}, {"s1", "as-written", 0},
		{"", "random-blocks", 0}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(second); i++) {
		struct result_set set = {0};
		struct analysis a;

		add_run(&set, "h1", "s1", "random-blocks");
		add_run(&set, "h2", second[i].sha, second[i].design);
		by_host(&set, 2, &a);
		assert_int_equal(set.runs[0].plan_text != NULL, second[i].kept);
		assert_string_equal(set.runs[0].plan_sha256, second[i].kept ? "s1" : "");
		assert_string_equal(set.runs[0].design,
			strcmp(second[i].design, "as-written") ? "random-blocks" : "unknown");
		assert_string_equal(set.runs[0].cache, "cold");
		assert_int_equal(set.n_envs, 2);
		assert_int_equal(set.envs[1].run, 1);
		assert_int_equal(a.n_comparisons, 1);
		analysis_clear(&a);
		result_set_clear(&set);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_meet),
		cmocka_unit_test(files_of_one_layout_meet),
		cmocka_unit_test(what_cannot_be_compared_is_told),
		cmocka_unit_test(one_plan_is_kept),
	};

	return cmocka_run_group_tests_name("pivot_hosts", tests, NULL, NULL);
}
