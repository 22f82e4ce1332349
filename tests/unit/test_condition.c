/* compare --fail-if and --fail-unless: what is a condition, and when it is proven. */
#include "tests/unit/test.h"

#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/condition.h"

static void right_ones(void **state)
{
	static const struct {
		const char *text, *workload;
		enum metric_id metric;
		int above;
		double ratio;
	} cases[] = {
		{"elapsed > +5%", NULL, METRIC_ELAPSED, 1, 1.05},
		{"elapsed>5%", NULL, METRIC_ELAPSED, 1, 1.05},
		{"  throughput\t<\t-2.5% ", NULL, METRIC_THROUGHPUT, 0, 0.975},
		{"ops_per_s > +150%", NULL, METRIC_OPS, 1, 2.5},
		{"elapsed > 0%", NULL, METRIC_ELAPSED, 1, 1},
		{"elapsed < -0%", NULL, METRIC_ELAPSED, 0, 1},
		{"dump elapsed < +100%", "dump", METRIC_ELAPSED, 0, 2},
		{"cold read  latency_p99 > +10%", "cold read", METRIC_LAT_P99, 1, 1.1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct condition c;
		struct err e;

		assert_ok(condition_parse(cases[i].text, 1, &c, &e), e);
		assert_string_equal(c.text, cases[i].text);
		assert_true(str_equal(c.workload, cases[i].workload));
		assert_int_equal(c.metric, cases[i].metric);
		assert_int_equal(c.above, cases[i].above);
		assert_true(fabs(exp(c.limit) - cases[i].ratio) < 1e-12);
		assert_true(c.unless);
		condition_clear(&c);
	}
}

static void wrong_ones(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{"", "neither > nor <"},
		{"elapsed", "neither > nor <"},
		{"elapsed + 5%", "neither > nor <"},
		{"> 5%", "no metric"},
		{"   < 5%", "no metric"},
		{"elapsed > 5", "no percentage"},
		{"elapsed > five%", "no percentage"},
		{"elapsed > +-5%", "no percentage"},
		{"elapsed > --5%", "no percentage"},
		{"elapsed > 5% or so", "no percentage"},
		{"elapsed > 5% > 3%", "no percentage"},
		{"elapsed >= 5%", "no percentage"},
		{"elapsed > nan%", "no percentage"},
		{"elapsed > 2000000%", "no percentage"},
		{"elapsed > %", "no percentage"},
		{"elapsed > 1.2.3%", "no percentage"},
		{"elapsed > 0x5%", "no percentage"},
		{"elapsed > 1e3%", "no percentage"},
		{"elapsed < -100%", "100 %"},
		{"elasped > 5%", "did you mean 'elapsed'"},
		{"speed > 5%", "elapsed, throughput"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct condition c;
		struct err e = {0};

		assert_int_equal(condition_parse(cases[i].text, 0, &c, &e), -1);
		assert_int_equal(e.code, ERR_USAGE);
		assert_has(e.text, cases[i].why);
	}
}

static struct result_comparison between(double lo, double hi, const char *workload)
{
	struct result_comparison r = {.workload = workload,
		.metric = METRIC_ELAPSED,
		.base = "a",
		.subject = "b",
		.c = {.verdict = VERDICT_NO_DIFFERENCE, .estimator = ESTIMATOR_WELCH, .n = 4}};

	r.c.lo = log1p(lo);
	r.c.hi = log1p(hi);
	r.c.d = (r.c.lo + r.c.hi) / 2;
	return r;
}

/* The interval against +5 %, from below it to beyond it. */
static void whole_intervals_decide(void **state)
{
	static const struct {
		double lo, hi;
		enum condition_state above, below;
	} cases[] = {
		{-0.02, 0.03, CONDITION_FALSE, CONDITION_TRUE},
		{-0.02, 0.08, CONDITION_UNDECIDED, CONDITION_UNDECIDED},
		{0.04, 0.06, CONDITION_UNDECIDED, CONDITION_UNDECIDED},
		{0.06, 0.09, CONDITION_TRUE, CONDITION_FALSE},
		{-0.5, -0.3, CONDITION_FALSE, CONDITION_TRUE},
	};
	struct condition above, below;
	struct err e;

	(void)state;
	assert_ok(condition_parse("elapsed > +5%", 0, &above, &e), e);
	assert_ok(condition_parse("elapsed < +5%", 1, &below, &e), e);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct result_comparison r = between(cases[i].lo, cases[i].hi, "w");

		assert_int_equal(condition_judge(&above, &r), cases[i].above);
		assert_int_equal(condition_judge(&below, &r), cases[i].below);
		r.c.verdict = VERDICT_TOO_FEW;
		assert_int_equal(condition_judge(&above, &r), CONDITION_UNDECIDED);
		r.c.verdict = VERDICT_SLOWER;
		strv_add(&r.invalid, "V01");
		assert_int_equal(condition_judge(&above, &r), CONDITION_UNDECIDED);
		strv_free(&r.invalid);
	}
	condition_clear(&above);
	condition_clear(&below);
}

/* What verdicts call no difference is not proven to be above or below 0 either; of other limits the interval
 * tells. */
static void a_millionth_is_on_no_side_of_0(void **state)
{
	struct result_comparison r = between(0.8e-7, 1.2e-7, "w");
	struct condition any, some;
	struct err e;

	(void)state;
	r.c.verdict = VERDICT_NO_DIFFERENCE;
	assert_ok(condition_parse("elapsed > 0%", 0, &any, &e), e);
	assert_ok(condition_parse("elapsed > +0.1%", 0, &some, &e), e);
	assert_int_equal(condition_judge(&any, &r), CONDITION_UNDECIDED);
	assert_int_equal(condition_judge(&some, &r), CONDITION_FALSE);
	r = between(2e-6, 4e-6, "w");
	assert_int_equal(condition_judge(&any, &r), CONDITION_TRUE);
	condition_clear(&any);
	condition_clear(&some);
}

static void the_worst_comparison_counts(void **state)
{
	struct result_comparison v[] = {between(-0.01, 0.01, "load"), between(-0.1, 0.1, "dump"),
		between(0.06, 0.09, "scan"), between(0.5, 0.6, "other")};
	static const struct {
		const char *text;
		int unless;
		size_t n;
		enum condition_outcome outcome;
		const char *line;
	} cases[] = {
		{"elapsed > +5%", 0, 0, OUTCOME_UNDECIDED, "nothing was compared"},
		{"elapsed > +5%", 0, 1, OUTCOME_PASSED,
			"passed     fail-if elapsed > +5%: load, b vs a"},
		{"elapsed > +5%", 0, 2, OUTCOME_UNDECIDED, ": dump, b vs a"},
		{"elapsed > +5%", 0, 3, OUTCOME_FAILED,
			"failed     fail-if elapsed > +5%: scan, b vs a"},
		{"elapsed < +5%", 1, 1, OUTCOME_PASSED, "fail-unless"},
		{"elapsed < +5%", 1, 2, OUTCOME_UNDECIDED, ": dump"},
		{"elapsed < +5%", 1, 3, OUTCOME_FAILED, ": scan"},
		{"load elapsed > +5%", 0, 3, OUTCOME_PASSED, ": load"},
		{"throughput < -5%", 0, 3, OUTCOME_UNDECIDED, "nothing was compared"},
		{"none elapsed < +5%", 1, 3, OUTCOME_UNDECIDED, "nothing was compared"},
		{"elapsed > +5%", 0, 4, OUTCOME_FAILED, ": scan"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct analysis a = {.comparisons = v, .n_comparisons = cases[i].n};
		struct condition c;
		struct buf text = {0};
		struct err e;

		assert_ok(condition_parse(cases[i].text, cases[i].unless, &c, &e), e);
		assert_int_equal(condition_outcome(&c, &a), cases[i].outcome);
		condition_text(&c, &a, &text);
		assert_has(buf_str(&text), cases[i].line);
		assert_has(buf_str(&text), condition_outcome_name(cases[i].outcome));
		condition_clear(&c);
		buf_free(&text);
	}
}

/* What a side has no result of at all is no pass, whatever the others say. */
static void what_is_absent_is_undecided(void **state)
{
	struct result_comparison load = between(-0.01, 0.01, "load"), dump = between(0, 0, "dump");
	struct analysis a = {.comparisons = &load, .n_comparisons = 1, .absent = &dump, .n_absent = 1};
	struct condition c;
	struct buf text = {0};
	struct err e;

	(void)state;
	dump.lack = LACK_RESULTS;
	dump.lacking = "b";
	dump.c.verdict = VERDICT_TOO_FEW;
	dump.c.d = NAN;
	assert_ok(condition_parse("elapsed > +5%", 0, &c, &e), e);
	assert_int_equal(condition_outcome(&c, &a), OUTCOME_UNDECIDED);
	condition_reason(&c, &a, &text);
	assert_string_equal(
		buf_str(&text), "fail-if elapsed > +5%: dump, b vs a, b has no result of dump");
	condition_clear(&c);
	buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(right_ones),
		cmocka_unit_test(wrong_ones),
		cmocka_unit_test(whole_intervals_decide),
		cmocka_unit_test(a_millionth_is_on_no_side_of_0),
		cmocka_unit_test(the_worst_comparison_counts),
		cmocka_unit_test(what_is_absent_is_undecided),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
