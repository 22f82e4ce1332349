/* Trials that went well and do not count are told of. */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "coordinator/results/report.h"
#include "tests/unit/results_kit.h"

static char *layouts[] = {"hba8", NULL}, *workloads[] = {"load", NULL};

typedef int report_fn(
	const struct result_set *s, const struct report_options *o, struct buf *out, struct err *e);

/* A report of trials that took so long, in blocks 1 to n, or all in that block. Caller frees. */
static char *of_times(report_fn *make, const int64_t *ns, size_t n, uint32_t block)
{
	struct report_options o = {0};
	struct result_set set = {0};
	struct buf lines = {0}, out = {0};
	struct err e;

	lines_run(&lines, 1, "times", 3, layouts, 1, workloads, 1);
	for (uint32_t i = 0; i < n; i++) {
		struct result_trial t = a_trial("knew", i + 1, block ? block : i + 1, 0, 0, ns[i]);

		export_trial(&t, &lines);
	}
	lines_read(lines.data, &set);
	assert_ok(make(&set, &o, &out, &e), e);
	buf_free(&lines);
	result_set_clear(&set);
	return buf_take(&out);
}

static void trials_without_a_value_are_counted(void **state)
{
	static const int64_t some[] = {1000000000, 0, 1100000000}, none[] = {0, 0, 0};
	char *text = of_times(report_text, some, 3, 0);

	(void)state;
	assert_has(text, "\nunmeasured 1 trial without a value: not counted\n");
	assert_has(text, "\nhba8  2  1.05s");
	free(text);
	text = of_times(report_text, none, 3, 0);
	assert_has(text, "\nno trial has a value: each took no time\n");
	free(text);
}

static void trials_that_are_there_twice_are_counted(void **state)
{
	static const int64_t ns[] = {1000000000, 1050000000, 1100000000};
	char *text = of_times(report_text, ns, 3, 1);

	(void)state;
	assert_has(text, "\ndoubled    2 trials of a block and repeat that another trial is of: not counted\n");
	free(text);
	text = of_times(report_markdown, ns, 3, 1);
	assert_has(text, "\ndoubled: 2 trials of a block");
	free(text);
	text = of_times(report_html, ns, 3, 1);
	assert_has(text, "<p class=\"hint\">doubled: 2 trials of a block");
	free(text);
	text = of_times(report_text, ns, 3, 0);
	assert_null(strstr(text, "doubled"));
	assert_null(strstr(text, "unmeasured"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trials_without_a_value_are_counted),
		cmocka_unit_test(trials_that_are_there_twice_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
