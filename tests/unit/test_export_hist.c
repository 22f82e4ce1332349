/* results: histograms in export lines, however their buckets are spelled. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "tests/unit/results_kit.h"

#define BEFORE                                                                                     \
	"{\"type\":\"trial\",\"run\":1,\"host\":\"h\",\"trial\":1,\"block\":1,\"layout\":0,"       \
	"\"workload\":0,\"ok\":true,\"hist\":"
#define TOTALS "\"count\":5,\"sum_ns\":1250,\"min_ns\":100,\"max_ns\":400"

/* words NULL: read, with as many operations counted as `count`. */
static const struct {
	const char *name, *line, *words;
	uint64_t count;
} cases[] = {
	{"as we write it", BEFORE "{" TOTALS ",\"buckets\":[100,2,350,2,400,1]}}", NULL, 5},
	{"with blanks", BEFORE "{" TOTALS ", \"buckets\": [100, 2, 350, 2, 400, 1]}}", NULL, 5},
	{"the totals behind them", BEFORE "{\"buckets\":[100,2,350,2,400,1]," TOTALS "}}", NULL, 5},
	{"as a text", BEFORE "{" TOTALS ",\"buckets\":\"100,2,350,2,400,1\"}}", NULL, 5},
	{"none", BEFORE "null}", NULL, 0},
	{"a text of buckets beside it",
		BEFORE "{" TOTALS ",\"buckets\":[100,2,350,2,400,1]},"
		       "\"cache\":\"\\\"buckets\\\":[1,2]}\"}",
		NULL, 5},
	{"other buckets before it",
		"{\"type\":\"trial\",\"run\":1,\"host\":\"h\",\"trial\":1,\"block\":1,"
		"\"layout\":0,\"workload\":0,\"x\":{\"buckets\":[1,1]},\"hist\":{" TOTALS
		",\"buckets\":[100,2,350,2,400,1]}}",
		NULL, 5},
	{"counts that do not add up", BEFORE "{" TOTALS ",\"buckets\":[100,2,350,2]}}",
		"whole histogram", 0},
	{"a bucket outside", BEFORE "{" TOTALS ",\"buckets\":[100,2,350,2,40000,1]}}",
		"whole histogram", 0},
	{"an odd number of them", BEFORE "{" TOTALS ",\"buckets\":[100,2,350,2,400]}}",
		"whole histogram", 0},
	{"no comma between them", BEFORE "{" TOTALS ",\"buckets\":[100,2,350,,2]}}", "histogram", 0},
	{"a number too long",
		BEFORE "{" TOTALS ",\"buckets\":[100,2,350,2,1234567890123456789012,1]}}",
		"histogram", 0},
	{"words as a text", BEFORE "{" TOTALS ",\"buckets\":\"many\"}}", "whole histogram", 0},
	{"a line that is cut off behind them",
		BEFORE "{" TOTALS ",\"buckets\":[100,2,350,2,400,1]}", "not valid JSON", 0},
	{"a line that is cut off in them", BEFORE "{" TOTALS ",\"buckets\":[100,2,350", "not valid JSON",
		0},
};

static void spellings(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct result_set set = {0};
		struct err e = {0};
		int rc = export_read_line(
			&set, "lines", 1, cases[i].line, strlen(cases[i].line), &e);

		if (cases[i].words ? !rc || !strstr(e.text, cases[i].words) : rc != 0)
			fail_msg("%s: %s", cases[i].name, rc ? e.text : "read");
		if (!rc && cases[i].count) {
			struct hist *h = xcalloc(1, sizeof(*h));
			const struct trial_summary *t = &set.trials[0].sum;

			assert_ok(hist_decode(t->hist, t->hist_len, h, &e), e);
			assert_int_equal(h->count, cases[i].count);
			assert_int_equal(h->sum, 1250);
			assert_int_equal(h->bucket[hist_index(350)], 2);
			free(h);
		}
		if (!rc && !cases[i].count)
			assert_null(set.trials[0].sum.hist);
		result_set_clear(&set);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spellings),
	};

	return cmocka_run_group_tests_name("export_hist", tests, NULL, NULL);
}
