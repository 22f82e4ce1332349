/*
 * What layouts and workloads lack: metrics that only some have, layouts without a result. In families,
 * in conditions, and in every report the same.
 */
#include "tests/unit/test.h"

#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/condition.h"
#include "coordinator/results/export.h"
#include "coordinator/results/import.h"
#include "coordinator/results/report.h"

#define LOAD(layout, s) "layout: " layout "\nworkload: load\n" s ".0s\n" s ".1s\n" s ".2s\n"
#define MAIL(layout, s)                                                                            \
	"layout: " layout "\nworkload: mail\n" s "0 ops/s\n" s "1 ops/s\n" s "2 ops/s\n"

static void set_of(const char *text, struct result_set *ret)
{
	struct import_options o = {0};
	struct buf copy = {0};
	uint64_t run;
	struct err e;

	buf_adds(&copy, text);
	assert_ok(import_text(ret, "t.txt", &copy, &o, NULL, &run, &e), e);
	assert_ok(export_read_end(ret, &e), e);
	buf_free(&copy);
}

static void wish_for(struct result_set *set, enum metric_id m, int only)
{
	set->wish.metrics[0] = m;
	set->wish.n_metrics = 1;
	set->wish.only = only;
}

/* One workload is timed, the other one counted: each is compared by what it has. */
static void a_metric_asked_for_enlarges_only_families_that_have_it(void **state)
{
	static const struct {
		const char *name;
		enum metric_id metric;
		int only;
		unsigned load, mail; /* comparisons, and k */
	} cases[] = {
		{"a metric of one workload, beside its own", METRIC_OPS, 0, 2, 2},
		{"the same alone", METRIC_OPS, 1, 0, 2},
		{"a metric that nothing has", METRIC_LAT_P99, 0, 2, 2},
		{"the same alone", METRIC_LAT_P99, 1, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct result_set set = {0};
		unsigned n[2] = {0};
		struct analysis a;
		struct err e;

		set_of(LOAD("a", "10") MAIL("a", "300") LOAD("b", "11") MAIL("b", "250") LOAD("c", "12")
				MAIL("c", "200"),
			&set);
		set.runs[0].baseline = 0;
		wish_for(&set, cases[i].metric, cases[i].only);
		assert_ok(analysis_make(&set, &a, &e), e);
		for (size_t k = 0; k < a.n_comparisons; k++) {
			int mail = strcmp(a.comparisons[k].workload, "mail") == 0;

			n[mail]++;
			assert_int_equal(a.comparisons[k].k, mail ? cases[i].mail : cases[i].load);
			assert_int_equal(a.comparisons[k].lack, LACK_NOTHING);
		}
		if (n[0] != cases[i].load || n[1] != cases[i].mail || a.n_absent)
			fail_msg("%s: %u and %u comparisons, %zu absent", cases[i].name, n[0], n[1],
				a.n_absent);
		analysis_clear(&a);
		result_set_clear(&set);
	}
}

/* A layout that has the metric makes the workload have it: the pair without it stays in the family. */
static void a_pair_that_lacks_it_stays_in_the_family(void **state)
{
	struct result_set set = {0};
	struct condition c;
	struct analysis a;
	struct err e;

	(void)state;
	set_of(LOAD("a", "10") LOAD("b", "11") "layout: a\nworkload: load\n300 ops/s\n", &set);
	set.runs[0].baseline = 0;
	wish_for(&set, METRIC_OPS, 0);
	assert_ok(analysis_make(&set, &a, &e), e);
	assert_int_equal(a.n_comparisons, 2);
	assert_int_equal(a.comparisons[0].k, 2);
	assert_int_equal(a.comparisons[0].metric, METRIC_ELAPSED);
	assert_int_equal(a.comparisons[0].c.verdict, VERDICT_SLOWER);
	assert_int_equal(a.comparisons[1].lack, LACK_METRIC);
	assert_string_equal(a.comparisons[1].lacking, "b");
	assert_ok(condition_parse("ops_per_s < -5%", 0, &c, &e), e);
	assert_int_equal(condition_outcome(&c, &a), OUTCOME_UNDECIDED);
	condition_clear(&c);
	analysis_clear(&a);
	result_set_clear(&set);
}

struct report_case {
	const char *name;
	int (*make)(const struct result_set *s, const struct report_options *o, struct buf *out,
		struct err *e);
	const char *says[5];
	const char *not; /* of a row about nothing */
};

static void check_reports(const char *text, const struct report_case *cases, size_t n)
{
	struct report_options o = {0};
	struct result_set set = {0};
	struct err e;

	set_of(text, &set);
	set.runs[0].baseline = 0;
	for (size_t i = 0; i < n; i++) {
		struct buf out = {0};

		assert_ok(cases[i].make(&set, &o, &out, &e), e);
		for (size_t k = 0; k < 5 && cases[i].says[k]; k++)
			if (!strstr(out.data, cases[i].says[k]))
				fail_msg("%s does not say '%s': %s", cases[i].name, cases[i].says[k],
					strlen(out.data) < 8000 ? out.data : "");
		if (cases[i].not && strstr(out.data, cases[i].not))
			fail_msg("%s says '%s'", cases[i].name, cases[i].not);
		buf_free(&out);
	}
	result_set_clear(&set);
}

static void a_layout_without_the_metric_is_shown_by_its_own(void **state)
{
	static const struct report_case cases[] = {
		{"text", report_text,
			{"b     3  11.10s  ±2.2%   +9.9% (+6.0…+14.0%)  slower\n",
				"ops_per_s, more is better\n",
				"c     3    301  ±0.8%   no metric in common with a\n"},
			"n = 0"},
		{"markdown", report_markdown,
			{"| load | c | 3 | 301 ops/s | ±0.8% | 0 |\n",
				"| elapsed | c | a |   | no metric in common with a |\n"},
			"n = 0"},
		{"csv", report_csv, {"too-few,,,,no metric in common with a,"}, NULL},
		{"json", report_json, {"\"no metric in common with a\""}, NULL},
		{"html", report_html,
			{"1 slower, 1 without a metric in common.", ">no metric in common with a<",
				"301 ops/s"},
			"n = 0"},
	};

	(void)state;
	check_reports(LOAD("a", "10") LOAD("b", "11") "layout: c\nworkload: load\n300 ops/s\n301 ops/s\n"
						      "302 ops/s\n",
		cases, ARRAY_LEN(cases));
}

/* b has the metric of a and that of c: a and b are judged by theirs, and c says what it lacks. */
static void what_it_has_with_others_is_another_matter(void **state)
{
	struct result_set set = {0};
	struct analysis a;
	struct buf text = {0};
	struct err e;

	(void)state;
	set_of(MAIL("a", "300") LOAD("b", "11") "layout: b\nworkload: mail\n10.1s\nlayout: b\nworkload: mail\n"
						"250 ops/s\nlayout: c\nworkload: mail\n10.2s\n",
		&set);
	set.runs[0].baseline = 1;
	assert_ok(analysis_make(&set, &a, &e), e);
	for (size_t i = 0; i < a.n_comparisons; i++) {
		const struct result_comparison *c = &a.comparisons[i];

		if (strcmp(c->workload, "mail") || strcmp(c->subject, "c"))
			continue;
		assert_int_equal(c->lack, LACK_METRIC);
		analysis_verdict_text(c, c->base, c->lacking, &text);
	}
	assert_string_equal(buf_str(&text), "c has no ops_per_s");
	buf_free(&text);
	analysis_clear(&a);
	result_set_clear(&set);
}

static void a_layout_without_the_workload_is_told_once(void **state)
{
	static const struct report_case cases[] = {
		{"text", report_text, {"\nabsent     b has no result of mail\n"}, "n = 0"},
		{"markdown", report_markdown, {"\nNot compared:\n\n- b has no result of mail\n"}, "n = 0"},
		{"csv", report_csv, {"\nabsent,1,t,imported,b,mail,", ",b has no result of mail,"},
			"\ncomparison,1,t,imported,b,mail,"},
		{"json", report_json, {"\"text\": \"b has no result of mail\""}, "\"n\": 0"},
		{"html", report_html, {"<p class=\"hint\">Not compared: b has no result of mail</p>"},
			"n = 0"},
	};

	(void)state;
	check_reports(LOAD("a", "10") MAIL("a", "300") LOAD("b", "11") LOAD("c", "12") MAIL("c", "200"), cases,
		ARRAY_LEN(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_metric_asked_for_enlarges_only_families_that_have_it),
		cmocka_unit_test(a_pair_that_lacks_it_stays_in_the_family),
		cmocka_unit_test(a_layout_without_the_metric_is_shown_by_its_own),
		cmocka_unit_test(what_it_has_with_others_is_another_matter),
		cmocka_unit_test(a_layout_without_the_workload_is_told_once),
	};

	return cmocka_run_group_tests_name("lacks", tests, NULL, NULL);
}
