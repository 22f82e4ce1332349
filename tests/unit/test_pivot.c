/* Result sets put together, turned, and shown as Markdown and CSV. */
#include "tests/unit/test.h"

#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/export.h"
#include "coordinator/results/import.h"
#include "coordinator/results/merge.h"
#include "coordinator/results/pivot.h"
#include "coordinator/results/report.h"

/* Adds a text as a source of its own. */
static void add(struct result_set *set, const char *name, const char *text)
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
	assert_int_equal(one.n_runs, 0);
	buf_free(&copy);
}

static void end(struct result_set *set)
{
	struct err e;

	assert_ok(export_read_end(set, &e), e);
}

#define JAN "host: one\nlayout: z1\n10.0s\n10.1s\n10.2s\nlayout: z2\n20.0s\n20.1s\n20.2s\n"
#define FEB "host: one\nlayout: z1\n11.0s\n11.1s\n11.2s\nlayout: z2\n20.1s\n20.0s\n20.2s\n"

static void runs_of_one_number_are_two(void **state)
{
	struct result_set set = {0};

	(void)state;
	add(&set, "jan.txt", JAN);
	add(&set, "feb.txt", FEB);
	add(&set, "sum.txt", "n=10 mean=56s min=52s max=59s\n");
	end(&set);
	assert_int_equal(set.n_runs, 3);
	assert_int_equal(set.runs[1].id, 2);
	assert_string_equal(set.runs[1].name, "feb");
	assert_int_equal(set.n_trials, 12);
	assert_int_equal(set.trials[6].run, 2);
	assert_int_equal(set.summaries[0].run, 3);
	result_set_clear(&set);
}

static void layouts_meet_by_name(void **state)
{
	const struct pivot_source v[] = {{2, "feb"}, {1, "jan"}};
	struct result_set set = {0};
	struct analysis a;
	struct err e;

	(void)state;
	add(&set, "jan.txt", JAN);
	add(&set, "feb.txt", FEB);
	end(&set);
	assert_ok(pivot_sources(&set, v, 2, &e), e);
	assert_int_equal(set.n_runs, 2);
	assert_string_equal(set.runs[0].name, "z1: feb vs jan");
	assert_ok(analysis_make(&set, &a, &e), e);
	assert_int_equal(a.n_comparisons, 2);
	/* One family of two: whatever layouts there are. */
	assert_int_equal(a.comparisons[0].k, 2);
	assert_string_equal(a.comparisons[0].base, "feb");
	assert_string_equal(a.comparisons[0].subject, "jan");
	assert_true(fabs(exp(a.comparisons[0].c.d) -
			    cbrt(10.0 * 10.1 * 10.2 / (11.0 * 11.1 * 11.2))) < 1e-12);
	assert_int_equal(a.comparisons[0].c.verdict, VERDICT_FASTER);
	assert_int_equal(a.comparisons[0].c.estimator, ESTIMATOR_WELCH);
	assert_int_equal(a.comparisons[1].c.verdict, VERDICT_NO_DIFFERENCE);
	analysis_clear(&a);
	result_set_clear(&set);
}

static void single_ones_meet(void **state)
{
	const struct pivot_source v[] = {{1, "old"}, {2, "new"}};
	struct result_set set = {0};
	struct analysis a;
	struct err e;

	(void)state;
	add(&set, "a.txt", "host: one\nworkload: w\nn=10 mean=56s min=52s max=59s\n");
	add(&set, "b.txt", "host: two\nworkload: w\n50.1s\n50.2s\n50.3s\n50.3s\n");
	end(&set);
	assert_ok(pivot_sources(&set, v, 2, &e), e);
	assert_int_equal(set.n_runs, 1);
	assert_string_equal(set.trials[0].host, "one, two");
	assert_ok(analysis_make(&set, &a, &e), e);
	assert_int_equal(a.n_comparisons, 1);
	assert_int_equal(a.comparisons[0].c.estimator, ESTIMATOR_SUMMARY);
	assert_int_equal(a.comparisons[0].c.verdict, VERDICT_FASTER);
	analysis_clear(&a);
	result_set_clear(&set);
}

static void strangers_do_not_meet(void **state)
{
	const struct pivot_source v[] = {{1, "a"}, {2, "b"}};
	struct result_set set = {0};
	struct err e = {0};

	(void)state;
	add(&set, "a.txt", "workload: load\n1.1s\n1.2s\n1.3s\n");
	add(&set, "b.txt", "workload: dump\n1.1s\n1.2s\n1.3s\n");
	end(&set);
	assert_int_equal(pivot_sources(&set, v, 2, &e), -1);
	assert_int_equal(e.code, ERR_INPUT);
	assert_int_equal(set.n_runs, 2);
	assert_int_equal(set.trials[5].run, 2);
	result_set_clear(&set);
}

#define THREE                                                                                      \
	"host: h\nworkload: w\nlayout: a\n10.0s\n10.1s\n10.2s\nlayout: b\n11.0s\n11.1s\n11.2s\n"   \
	"layout: c\n11.4s\n11.5s\n11.6s\n"

/* A pair that was not planned belongs to the family of all pairs. */
static void chosen_ones(void **state)
{
	struct result_set set = {0};
	struct analysis a;
	struct err e;

	(void)state;
	add(&set, "three.txt", THREE);
	end(&set);
	set.wish.by = BY_LAYOUT;
	strv_add(&set.wish.chosen, "c");
	strv_add(&set.wish.chosen, "b");
	pivot_choose(&set);
	assert_int_equal(set.n_trials, 6);
	assert_ok(analysis_make(&set, &a, &e), e);
	assert_int_equal(a.n_comparisons, 1);
	assert_string_equal(a.comparisons[0].base, "c");
	assert_string_equal(a.comparisons[0].subject, "b");
	assert_int_equal(a.comparisons[0].k, 3);
	analysis_clear(&a);
	result_set_clear(&set);
}

static void wishes(void **state)
{
	struct result_set set = {0};
	struct analysis a;
	struct err e;

	(void)state;
	add(&set, "t.txt", THREE "host: i\nlayout: a\n10.5s\n10.6s\n10.7s\n");
	end(&set);
	set.wish = (struct result_wish){.by = BY_HOST, .has_margin = 1, .margin = 0.25};
	assert_ok(analysis_make(&set, &a, &e), e);
	/* i has no trials of b and c: these are in the family all the same. */
	assert_int_equal(a.n_comparisons, 1);
	assert_int_equal(a.n_absent, 2);
	assert_int_equal(a.comparisons[0].k, 3);
	assert_true(a.comparisons[0].between_hosts);
	assert_string_equal(a.comparisons[0].base, "h");
	assert_string_equal(a.comparisons[0].subject, "i");
	assert_int_equal(a.comparisons[0].c.verdict, VERDICT_SLOWER);
	assert_true(a.comparisons[0].c.within_margin);
	assert_int_equal(a.absent[0].c.verdict, VERDICT_TOO_FEW);
	analysis_clear(&a);
	/* Nothing has that metric: it is not compared. */
	set.wish = (struct result_wish){.metrics = {METRIC_LAT_P99}, .n_metrics = 1};
	assert_ok(analysis_make(&set, &a, &e), e);
	assert_int_equal(a.n_comparisons, 2);
	assert_int_equal(a.comparisons[0].metric, METRIC_ELAPSED);
	assert_int_equal(a.n_absent, 2);
	assert_int_equal(a.comparisons[0].k, 4);
	analysis_clear(&a);
	set.wish.only = 1;
	assert_ok(analysis_make(&set, &a, &e), e);
	assert_int_equal(a.n_comparisons + a.n_absent, 0);
	analysis_clear(&a);
	result_set_clear(&set);
}

/* ---- Markdown and CSV ---- */

static void nasty(struct result_set *set)
{
	add(set, "n.txt",
		"host: =cmd|' /C calc'!A0\nworkload: w\n"
		"layout: @SUM(1,2)\n10.0s\n10.1s\n10.2s\n"
		"layout: -b\"q\" <script> | `x` _y_\n11.0s\n11.1s\n11.2s\n");
	end(set);
}

static void csv_is_safe(void **state)
{
	static const char *const there[] = {
		"kind,run,run_name,host,layout,workload,metric,unit,",
		"result,1,n,\"'=cmd|' /C calc'!A0\",\"'@SUM(1,2)\",w,elapsed,s,lower,3,0,10.1,10.1,0.0",
		"\"'-b\"\"q\"\" <script> | `x` _y_\"",
		"comparison,1,n,",
		",slower,,,,,,\r\n",
		"finding,1,n,",
		",V17,warning,order unknown,,\r\n",
	};
	struct result_set set = {0};
	struct report_options o = {0};
	struct buf out = {0};
	struct err e;
	unsigned columns = 1;

	(void)state;
	nasty(&set);
	assert_ok(report_csv(&set, &o, &out, &e), e);
	for (size_t i = 0; i < ARRAY_LEN(there); i++)
		assert_has(buf_str(&out), there[i]);
	assert_null(strstr(buf_str(&out), "trial,"));
	for (const char *s = buf_str(&out); *s != '\r'; s++)
		columns += *s == ',';
	for (const char *s = buf_str(&out); *s; s = strchr(s, '\n') + 1) {
		unsigned n = 1;
		int quoted = 0;

		for (const char *p = s; *p != '\n'; p++) {
			quoted ^= *p == '"';
			n += *p == ',' && !quoted;
		}
		assert_int_equal(n, columns);
	}
	buf_reset(&out);
	o.long_form = 1;
	assert_ok(report_csv(&set, &o, &out, &e), e);
	assert_has(buf_str(&out),
		"trial,1,n,\"'=cmd|' /C calc'!A0\",\"'@SUM(1,2)\",w,elapsed,s,lower,");
	assert_has(buf_str(&out), ",3,,10.2,");
	buf_reset(&out);
	o.redact = 1;
	assert_ok(report_csv(&set, &o, &out, &e), e);
	assert_null(strstr(buf_str(&out), "calc"));
	assert_has(buf_str(&out), ",host-1,");
	buf_free(&out);
	result_set_clear(&set);
}

static void markdown_is_tables(void **state)
{
	static const char *const there[] = {
		"## n\n\nrun 1, imported; order, cache unknown\n",
		"### =cmd\\|' /C calc'!A0: elapsed, less is better\n",
		"| workload | layout | n | mean | 95% CI or range | failed |\n"
		"| --- | --- | ---: | ---: | ---: | ---: |\n"
		"| w | \\@SUM(1,2) | 3 | 10.10s | ±2.5% | 0 |\n"
		"| w | -b\"q\" \\<script\\> \\| \\`x\\` \\_y\\_ | 3 | 11.10s | ±2.2% | 0 |\n",
		"| change | verdict |\n",
		" | slower |\n",
		"- **warning** V17: order unknown\n",
	};
	struct result_set set = {0};
	struct report_options o = {0};
	struct buf out = {0};
	struct err e;

	(void)state;
	nasty(&set);
	assert_ok(report_markdown(&set, &o, &out, &e), e);
	for (size_t i = 0; i < ARRAY_LEN(there); i++)
		assert_has(buf_str(&out), there[i]);
	buf_reset(&out);
	o.redact = o.long_form = 1;
	assert_ok(report_markdown(&set, &o, &out, &e), e);
	assert_null(strstr(buf_str(&out), "calc"));
	assert_has(buf_str(&out), "### host-1: elapsed");
	assert_has(buf_str(&out), "| median | stddev | cv | min | max |\n");
	buf_free(&out);
	result_set_clear(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_of_one_number_are_two),
		cmocka_unit_test(layouts_meet_by_name),
		cmocka_unit_test(single_ones_meet),
		cmocka_unit_test(strangers_do_not_meet),
		cmocka_unit_test(chosen_ones),
		cmocka_unit_test(wishes),
		cmocka_unit_test(csv_is_safe),
		cmocka_unit_test(markdown_is_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
