/*
 * A result that a finding makes invalid is called faster or slower nowhere without that word: what spoils
 * the trials spoils all their metrics, what spoils one metric alone leaves the others.
 */
#include "tests/unit/test.h"

#include <string.h>

#include "coordinator/results/import.h"
#include "coordinator/results/report.h"
#include "tests/unit/rules_kit.h"

typedef int report_fn(
	const struct result_set *s, const struct report_options *o, struct buf *out, struct err *e);

static unsigned count(const char *text, const char *part)
{
	unsigned n = 0;

	for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
		n++;
	return n;
}

/* Each format's way to put the rule beside a verdict: as often as there are verdicts that it spoils. */
static void formats_say(const struct result_set *set, const char *rule, unsigned n)
{
	static const struct {
		const char *name;
		report_fn *fn;
		const char *before, *after;
		unsigned each; /* times that it shows a verdict */
	} formats[] = {
		{"text", report_text, "slower [invalid: ", "]", 1},
		{"markdown", report_markdown, "slower (invalid: ", ")", 1},
		{"csv", report_csv, "slower,", ",", 1},
		{"json", report_json, "[invalid: ", "]", 1},
		{"html", report_html, "slower [invalid: ", "]", 3}, /* sentence, plot, table */
	};

	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		struct report_options o = {0};
		struct buf out = {0};
		struct err e;
		char *part = xasprintf("%s%s%s", formats[i].before, rule, formats[i].after);

		assert_ok(formats[i].fn(set, &o, &out, &e), e);
		if (count(buf_str(&out), part) != n * formats[i].each)
			fail_msg("%s: '%s' is there %u times, %u expected", formats[i].name, part,
				count(buf_str(&out), part), n * formats[i].each);
		free(part);
		buf_free(&out);
	}
}

static const struct result_comparison *of_metric(const struct analysis *a, enum metric_id m)
{
	for (size_t i = 0; i < a->n_comparisons; i++)
		if (a->comparisons[i].metric == m)
			return &a->comparisons[i];
	fail_msg("nothing is compared by %s", metric_table[m].name);
	return NULL;
}

static void wish(struct result_set *set, enum metric_id first, enum metric_id second)
{
	set->wish.only = 1;
	set->wish.metrics[0] = first;
	set->wish.metrics[1] = second;
	set->wish.n_metrics = 2;
}

/* A layout that syncs less: its times and its rates are none to be compared, whichever comes first. */
static void what_spoils_trials_spoils_all_their_metrics(void **state)
{
	static const enum metric_id order[][2] = {
		{METRIC_ELAPSED, METRIC_THROUGHPUT}, {METRIC_THROUGHPUT, METRIC_ELAPSED}};
	const struct scene scene = {.factor = 1.5,
		.right = "{scratch: {disks: 4, size: 500G}, pool: {level: raidz1, disks: 4, "
			 "properties: {sync: disabled}}}"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		struct result_set set;
		struct analysis a;
		struct err e;

		analysis_of(&scene, &set, &a);
		analysis_clear(&a);
		for (size_t k = 0; k < set.n_trials; k++) /* no two blocks differ alike */
			set.trials[k].sum.elapsed_ns += (int64_t)(k * k) * NS_PER_MS;
		wish(&set, order[i][0], order[i][1]);
		assert_ok(analysis_make(&set, &a, &e), e);
		assert_int_equal(a.n_comparisons, 2);
		for (size_t k = 0; k < 2; k++) {
			const struct result_comparison *c = of_metric(&a, order[i][k]);

			assert_int_equal(c->c.verdict, VERDICT_SLOWER);
			assert_int_equal(c->invalid.n, 1);
			assert_string_equal(c->invalid.v[0], "V25");
		}
		analysis_clear(&a);
		formats_say(&set, "V25", 2);
		result_set_clear(&set);
	}
}

/* Twice the data takes longer, which says nothing; the rate at which it went does. */
static void times_of_unlike_work_leave_their_rates(void **state)
{
	static const enum metric_id order[][2] = {
		{METRIC_ELAPSED, METRIC_THROUGHPUT}, {METRIC_THROUGHPUT, METRIC_ELAPSED}};
	static const char text[] = "layout: a\nbytes: 1GiB\n10.1s\n10.2s\n10.3s\n"
				   "layout: b\nbytes: 2GiB\n30.1s\n30.2s\n30.3s\n";

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		struct import_options o = {0};
		struct result_set set = {0};
		struct buf file = {0};
		struct analysis a;
		struct err e;
		uint64_t run;

		buf_adds(&file, text);
		assert_ok(import_text(&set, "x", &file, &o, NULL, &run, &e), e);
		assert_ok(export_read_end(&set, &e), e);
		wish(&set, order[i][0], order[i][1]);
		assert_ok(analysis_make(&set, &a, &e), e);
		assert_int_equal(of_metric(&a, METRIC_ELAPSED)->c.verdict, VERDICT_SLOWER);
		assert_int_equal(of_metric(&a, METRIC_ELAPSED)->invalid.n, 1);
		assert_string_equal(of_metric(&a, METRIC_ELAPSED)->invalid.v[0], "V13");
		assert_int_equal(of_metric(&a, METRIC_THROUGHPUT)->c.verdict, VERDICT_SLOWER);
		assert_int_equal(of_metric(&a, METRIC_THROUGHPUT)->invalid.n, 0);
		analysis_clear(&a);
		formats_say(&set, "V13", 1);
		result_set_clear(&set);
		buf_free(&file);
	}
}

/* What two of three layouts lack alike spoils what compares them with the third, and nothing between them. */
static void layouts_that_lack_the_same_can_be_compared(void **state)
{
	static char *three[] = {"a", "b", "c", NULL}, *load[] = {"load", NULL};
	struct result_run r = {.id = 1,
		.name = "demo",
		.state = "done",
		.plan_sha256 = "",
		.tool_version = "",
		.user = "",
		.blocks = 3,
		.cache = "cold",
		.design = "random-blocks",
		.layouts = {three, 3, 0},
		.workloads = {load, 1, 0}};
	struct buf plan = {0}, lines = {0};
	struct result_set set = {0};
	struct analysis a;
	struct err e;

	(void)state;
	buf_adds(&plan, "name: demo\nhosts: all\ntrials: 3\nlayouts:\n");
	for (unsigned i = 0; i < 3; i++)
		buf_addf(&plan, "  %s: {scratch: {disks: 4, size: 500G}, pool: {level: raidz1, disks: 4, "
				"properties: {sync: %s}}}\n", three[i], i ? "disabled" : "standard");
	buf_adds(&plan, "workloads: {load: {stream: {op: write, size: 64G, sync: all}}}\n"
			"compare: {pairs: all}\n");
	r.plan_text = plan.data;
	export_run(&r, &lines);
	for (uint32_t i = 0; i < 9; i++) {
		struct result_trial t = a_trial("knew", i + 1, i / 3 + 1, i % 3, 0, 1000000000 + i * 1000000);

		export_trial(&t, &lines);
	}
	lines_read(lines.data, &set);
	assert_ok(analysis_make(&set, &a, &e), e);
	assert_int_equal(a.n_comparisons, 3);
	for (size_t i = 0; i < a.n_comparisons; i++)
		assert_int_equal(a.comparisons[i].invalid.n, strcmp(a.comparisons[i].base, "a") == 0);
	analysis_clear(&a);
	result_set_clear(&set);
	buf_free(&lines);
	buf_free(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_spoils_trials_spoils_all_their_metrics),
		cmocka_unit_test(layouts_that_lack_the_same_can_be_compared),
		cmocka_unit_test(times_of_unlike_work_leave_their_rates),
	};

	return cmocka_run_group_tests_name("invalid", tests, NULL, NULL);
}
