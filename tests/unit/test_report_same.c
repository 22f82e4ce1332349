/* report: what one format says of a comparison or a finding, each of them says. */
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "coordinator/results/report.h"
#include "tests/unit/results_kit.h"

static char *layouts[] = {"one", "two", "three", NULL};
static char *workloads[] = {"load", "dump", NULL};

static json_t *json_of(const struct result_set *set)
{
	struct report_options o = {0};
	struct buf out = {0};
	struct err e = {0};
	json_t *doc;

	assert_ok(report_json(set, &o, &out, &e), e);
	assert_ok(json_parse("report", out.data, out.len, 1 << 20, &doc, &e), e);
	buf_free(&out);
	return doc;
}

static void run_of_pairs(struct buf *lines, const char *state)
{
	struct result_run run = {.id = 1,
		.name = "demo",
		.state = (char *)state,
		.plan_sha256 = "",
		.tool_version = "",
		.user = "",
		.blocks = 3,
		.cache = "",
		.design = "unknown",
		.baseline = -1,
		.layouts = {layouts, 3, 0},
		.workloads = {workloads, 2, 0}};

	export_run(&run, lines);
}

/* Two hosts, all pairs of three layouts; on the second one the first layout has no load, so that its tables
 * compare with another layout than the first host's. */
static void set_of_pairs(struct result_set *set)
{
	struct buf lines = {0};

	run_of_pairs(&lines, "done");
	for (uint32_t i = 0; i < 36; i++) {
		uint32_t block = i / 12 + 1, layout = i % 3, workload = i / 3 % 2, host = i / 6 % 2;
		struct result_trial t = a_trial(host ? "b" : "a", i + 1, block, layout, workload,
			(100 + 10 * layout + i % 5) * 1000000000ll);

		if (!host || layout || workload)
			export_trial(&t, &lines);
	}
	lines_read(lines.data, set);
	buf_free(&lines);
}

/* Whether a line says what the document says, however wide its columns are. */
static int is_told(const char *text, const char *words)
{
	struct buf line = {0};
	int told = 0;

	for (const char *p = text, *end; *p && !told; p = *end ? end + 1 : end) {
		end = p + strcspn(p, "\n");
		buf_reset(&line);
		for (const char *c = p; c < end; c++)
			if (*c != ' ' || (line.len && line.data[line.len - 1] != ' '))
				buf_addc(&line, *c);
		told = line.len && strstr(line.data, words) != NULL;
	}
	buf_free(&line);
	return told;
}

static void no_comparison_is_lost(void **state)
{
	struct report_options o = {0};
	struct result_set set = {0};
	struct buf text = {0};
	struct err e = {0};
	json_t *doc, *c;
	size_t i, n = 0;

	(void)state;
	set_of_pairs(&set);
	doc = json_of(&set);
	assert_ok(report_text(&set, &o, &text, &e), e);
	json_array_foreach(json_object_get(doc, "comparisons"), i, c)
	{
		const char *words = json_get_str(c, "text", "");

		assert_true(*words);
		if (!is_told(text.data, words))
			fail_msg("%s vs %s on %s, %s: '%s' is not in\n%s", json_get_str(c, "subject", ""),
				json_get_str(c, "baseline", ""), json_get_str(c, "workload", ""),
				json_get_str(c, "host", ""), words, text.data);
		n++;
	}
	assert_int_equal(n, 2 * 6 - 2);
	/* b's tables stand against the layout that its load has */
	assert_has(text.data, "  vs one (95% CI, all comparisons)\n");
	assert_has(text.data, "  vs two (95% CI, all comparisons)\n");
	assert_has(text.data, "\ndump  elapsed  two vs one ");
	json_decref(doc);
	buf_free(&text);
	result_set_clear(&set);
}

/* Nothing was read from the disks in any trial: 0 over 0 is no coefficient of variation. */
static void no_variation_of_nothing(void **state)
{
	struct report_options o = {.long_form = 1};
	struct result_set set = {.wish = {.metrics = {METRIC_PHYS_READ}, .n_metrics = 1, .only = 1}};
	struct buf lines = {0}, text = {0}, markdown = {0};
	struct err e = {0};

	(void)state;
	run_of_pairs(&lines, "done");
	for (uint32_t i = 0; i < 6; i++) {
		struct result_trial t = a_trial("a", i + 1, i / 2 + 1, i % 2, 0, 1000000000ll + i);

		t.sum.tele = (struct telemetry){.disks = 4};
		export_trial(&t, &lines);
	}
	lines_read(lines.data, &set);
	assert_ok(report_text(&set, &o, &text, &e), e);
	assert_ok(report_markdown(&set, &o, &markdown, &e), e);
	assert_null(strstr(text.data, "nan"));
	assert_null(strstr(markdown.data, "nan"));
	assert_has(markdown.data, "| one | 3 | 0 B ");
	buf_free(&lines);
	buf_free(&text);
	buf_free(&markdown);
	result_set_clear(&set);
}

/* Where all results are averages one finding is about all of them: its evidence is, too. */
static void averages_are_told_together(void **state)
{
	static const unsigned n[] = {10, 4, 7};
	struct result_set set = {0};
	struct buf lines = {0};
	json_t *doc, *f;
	size_t i, found = 0;

	(void)state;
	run_of_pairs(&lines, "imported");
	for (uint32_t l = 0; l < 3; l++) {
		struct result_summary m = {.run = 1, .host = "files", .layout = l, .n = n[l], .mean = 56 + l,
			.min = 52, .max = 61, .stddev = NAN, .resolution = 1};

		export_summary(&m, &lines);
	}
	lines_read(lines.data, &set);
	doc = json_of(&set);
	json_array_foreach(json_object_get(doc, "findings"), i, f)
	{
		const json_t *v = json_object_get(f, "evidence");

		if (strcmp(json_get_str(f, "rule", ""), "V24") != 0)
			continue;
		found++;
		assert_int_equal(json_get_int(v, "summaries", 0), 3);
		assert_int_equal(json_get_int(v, "n", 0), 4);
		assert_int_equal(json_get_int(v, "n_most", 0), 10);
		assert_true(json_is_true(json_object_get(v, "range")));
	}
	assert_int_equal(found, 1);
	json_decref(doc);
	buf_free(&lines);
	result_set_clear(&set);
}

/* The page's first sentence counts comparisons by the words that each of them has: what never differs does
 * not have too few trials, nor does what has too few blocks on both sides. */
static void the_first_sentence_counts_by_words(void **state)
{
	struct report_options o = {0};
	struct result_set set = {0};
	struct buf lines = {0}, html = {0}, text = {0};
	struct err e = {0};

	(void)state;
	lines_run(&lines, 1, "demo", 4, layouts, 3, workloads, 1);
	for (uint32_t i = 0; i < 11; i++) {
		/* the third layout lacks the blocks that the first has alone */
		struct result_trial t = a_trial("a", i + 1, i < 8 ? i / 2 + 1 : i - 5, i < 8 ? i % 2 : 2, 0,
			1000000000ll);

		export_trial(&t, &lines);
	}
	lines_read(lines.data, &set);
	assert_ok(report_text(&set, &o, &text, &e), e);
	assert_has(text.data, "identical: no spread to judge by");
	assert_has(text.data, "too few complete blocks (n = 2)");
	assert_ok(report_html(&set, &o, &html, &e), e);
	assert_has(html.data, "2 comparisons: 1 with too few complete blocks, 1 identical.");
	buf_free(&lines);
	buf_free(&html);
	buf_free(&text);
	result_set_clear(&set);
}

/* Pairs are counted to the last one, however many there are. */
static void counts_are_whole(void **state)
{
	struct report_options o = {.long_form = 1};
	struct result_set set = {0};
	struct buf lines = {0}, text = {0};
	struct err e = {0};

	(void)state;
	run_of_pairs(&lines, "done");
	for (uint32_t i = 0; i < 2202; i++) {
		struct result_trial t = a_trial("a", i + 1, i / 2 + 1, i % 2, 0, 1000000000ll + i + i % 2 * 1000000);

		export_trial(&t, &lines);
	}
	lines_read(lines.data, &set);
	assert_ok(report_text(&set, &o, &text, &e), e);
	assert_has(text.data, "U 1212201 of 1212201");
	buf_free(&lines);
	buf_free(&text);
	result_set_clear(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_comparison_is_lost),
		cmocka_unit_test(no_variation_of_nothing),
		cmocka_unit_test(averages_are_told_together),
		cmocka_unit_test(the_first_sentence_counts_by_words),
		cmocka_unit_test(counts_are_whole),
	};

	return cmocka_run_group_tests_name("report_same", tests, NULL, NULL);
}
