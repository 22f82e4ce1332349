/* report: the text as people see it, the JSON document as programs do. */
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/utf8.h"
#include "coordinator/results/report.h"
#include "coordinator/results/table.h"
#include "tests/unit/results_kit.h"

/* Restores and dumps of one database on three raidz2 layouts, the times listed in the published
 * test "raidz2: 10 disks vs 8 disks"; blocks are the order of the list. */
static const struct {
	uint32_t layout, workload;
	int minutes;
	double seconds;
} published[] = {
	{0, 0, 18, 15.395},
	{0, 0, 18, 22.754},
	{0, 0, 18, 26.974},
	{0, 0, 18, 26.843},
	{1, 0, 18, 13.562},
	{1, 0, 18, 26.107},
	{1, 0, 18, 24.061},
	{2, 0, 18, 17.284},
	{2, 0, 18, 32.162},
	{2, 0, 18, 28.050},
	{0, 1, 8, 48.504},
	{0, 1, 8, 42.781},
	{0, 1, 8, 42.781},
	{0, 1, 8, 42.938},
	{1, 1, 9, 6.544},
	{1, 1, 9, 7.623},
	{1, 1, 9, 8.501},
	{2, 1, 9, 16.837},
	{2, 1, 9, 13.830},
	{2, 1, 9, 15.795},
};

static char *layouts[] = {"hba8", "hba8+board2", "hba8+sata2", NULL};
static char *workloads[] = {"load", "dump", NULL};

static void published_set(struct result_set *set)
{
	struct result_run run = {.id = 1,
		.name = "raidz2-8-vs-10-disks",
		.state = "imported",
		.plan_sha256 = "",
		.tool_version = "",
		.user = "",
		.blocks = 4,
		.cache = "",
		.design = "unknown",
		.layouts = {layouts, 3, 0},
		.workloads = {workloads, 2, 0}};
	struct buf lines = {0};
	uint32_t block = 0;

	export_run(&run, &lines);
	for (uint32_t i = 0; i < ARRAY_LEN(published); i++) {
		double seconds = published[i].minutes * 60 + published[i].seconds;
		struct result_printed printed = {METRIC_ELAPSED, seconds, 0.001, 0};
		struct result_trial t;

		if (i && (published[i].layout != published[i - 1].layout ||
				 published[i].workload != published[i - 1].workload))
			block = 0;
		t = a_trial("knew", i + 1, ++block, published[i].layout, published[i].workload,
			(int64_t)llround(seconds * 1e9));
		t.printed = &printed;
		t.n_printed = 1;
		t.cache = "";
		export_trial(&t, &lines);
	}
	lines_read(lines.data, set);
	buf_free(&lines);
}

static void text_of_the_published_test(void **state)
{
	/* Means: 18:22.9915, 18:21.2433, 18:25.832; 8:44.251, 9:07.556, 9:15.4873. Changes and
	 * intervals by Welch on logarithms, two comparisons a workload. */
	static const char want[] =
		"raidz2-8-vs-10-disks · run 1 · imported; order, cache unknown · 4 blocks\n"
		"\n"
		"knew · elapsed, less is better\n"
		"load         n       mean  95% CI  vs hba8 (95% CI, all comparisons)\n"
		"hba8         4  18m22.99s  ±0.8%   baseline\n"
		"hba8+board2  3  18m21.24s  ±1.5%   -0.2% (-1.7…+1.4%)  no difference shown\n"
		"hba8+sata2   3  18m25.83s  ±1.7%   +0.3% (-1.5…+2.1%)  no difference shown\n"
		"dump\n"
		"hba8         4   8m44.25s  ±0.9%   baseline\n"
		"hba8+board2  3   9m07.56s  ±0.4%   +4.4% (+3.4…+5.5%)  slower\n"
		"hba8+sata2   3   9m15.49s  ±0.7%   +6.0% (+4.9…+7.0%)  slower\n"
		"warning    V07 hba8/dump: trials 2, 3 both 8m42.781s (chance 0.06%)\n"
		"warning    V17 order unknown · V23 these builds only\n"
		"unknown    no plan: V02 V03 V15 V16 V25 V26 · nothing told beside the trials: V08 "
		"V10 V11 V19 V20 V21 V22 · no list of the disks: V09 V14 V28 · "
		"no use of the CPUs: V12 · no description of every host: V13 · "
		"no usable sizes: V16 · no size of the data and the memory: V18 · too few trials: V27\n"
		"findings   see arraymark-findings(7)\n";
	struct result_set set = {0};
	struct report_options o = {0};
	struct buf out = {0};
	struct err e;

	(void)state;
	published_set(&set);
	assert_ok(report_text(&set, &o, &out, &e), e);
	assert_string_equal(out.data, want);
	buf_free(&out);
	result_set_clear(&set);
}

/* 30720 MiB in 52, 56, 60 s: 549 MiB/s (the H700 test's mean); the disks moved 1.25 times that; the
 * read came from a cache. */
static void rates_and_ratios(void **state)
{
	struct result_trial t[4];
	struct result_set set = {0};
	struct report_options o = {0};
	struct buf lines = {0}, out = {0};
	struct err e;

	(void)state;
	lines_run(&lines, 1, "h700", 3, layouts, 3, (char *[]){"write", "read"}, 2);
	for (uint32_t i = 0; i < 4; i++) {
		t[i] = a_trial(
			"pool1", i + 1, i % 3 + 1, 0, i / 3, (52 + 4 * (int64_t)i) * 1000000000);
		t[i].sum.bytes = 30720ull << 20;
		t[i].sum.tele = (struct telemetry){.disks = 12, .disk_write_bytes = 38400ull << 20};
		t[i].op = i == 3 ? "read" : "write";
		export_trial(&t[i], &lines);
	}
	lines_read(lines.data, &set);
	assert_ok(report_text(&set, &o, &out, &e), e);
	assert_has(out.data, "hba8   3   56s  ±17.7%   549 MiB/s              1.25  baseline\n");
	assert_has(out.data, "hba8   1   64s  -        480 MiB/s              0.00  baseline\n");
	buf_free(&out);
	buf_free(&lines);
	result_set_clear(&set);
}

static void faulty_set(struct result_set *set)
{
	struct result_trial t[] = {a_trial("b", 1, 1, 0, 0, 1000000000),
		a_trial("b", 2, 2, 0, 0, 1000000000), a_trial("b", 1, 1, 0, 0, 1000000000),
		a_trial("b", 2, 2, 0, 0, 1000000000), a_trial("b", 3, 2, 1, 0, 1000000000),
		a_trial("a", 1, 1, 0, 0, 2000000000)};
	struct buf lines = {0};

	t[0].superseded = t[1].superseded = 1;
	t[2].attempt = t[3].attempt = t[4].attempt = 2;
	t[3].sum.ok = 0;
	t[3].sum.error = "test30G-2: No space left on device";
	t[4].complete = 0;
	t[2].lost = 7;
	lines_run(&lines, 1, "demo", 2, layouts, 3, workloads, 2);
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		export_trial(&t[i], &lines);
	lines_read(lines.data, set);
	buf_free(&lines);
}

static void faults_are_told(void **state)
{
	static const char want[] =
		"demo · run 1 · done · 2 blocks in random order · cold\n"
		"\n"
		"a · elapsed, less is better\n"
		"load  n  mean  [min…max]  vs hba8 (95% CI, all comparisons)\n"
		"hba8  1    2s  -          baseline\n"
		"warning    V04 hba8/load: n = 1: 3 are needed for an interval\n"
		"\n"
		"b · elapsed, less is better\n"
		"load         n  mean  [min…max]  vs hba8 (95% CI, all comparisons)\n"
		"hba8         1    1s  -          baseline\n"
		"hba8+board2  0     -  -          too few trials (n = 0)\n"
		"failed     hba8/load block 2: test30G-2: No space left on device\n"
		"unfinished 1 trial of units that have not ended well: not counted\n"
		"superseded 2 trials of interrupted attempts: kept, not counted\n"
		"warning    V04 hba8/load: n = 1: 3 are needed for an interval\n"
		"warning    V04 hba8+board2/load: n = 0: 3 are needed for an interval\n"
		"warning    V20 hba8/load: block 1: 7 records with samples were lost on the host; "
		"the totals are whole\n"
		"absent     hba8+board2 has no result of load on a\n"
		"absent     hba8+sata2 has no result of load on 2 hosts\n"
		"absent     there is no result of dump\n"
		"unknown    no plan: V01 V02 V03 V15 V16 V25 V26 · too few trials: V06 V27 · "
		"nothing told beside the trials: V08 V10 V11 V19 V21 V22 · "
		"no list of the disks: V09 V14 V28 · no use of the CPUs: V12 · "
		"no description of every host: V13 V29 · no usable sizes: V16 · "
		"no size of the data and the memory: V18\n"
		"findings   see arraymark-findings(7)\n";
	struct result_set set = {0};
	struct report_options o = {0};
	struct buf out = {0};
	struct err e;

	(void)state;
	faulty_set(&set);
	assert_ok(report_text(&set, &o, &out, &e), e);
	assert_string_equal(out.data, want);
	buf_reset(&out);
	o.color = 1;
	assert_ok(report_text(&set, &o, &out, &e), e);
	assert_has(out.data, "\x1b[31mfailed    \x1b[0m hba8/load");
	buf_free(&out);
	result_set_clear(&set);
}

static void long_form_shows_each_trial(void **state)
{
	struct result_set set = {0};
	struct report_options o = {.long_form = 1};
	struct buf out = {0};
	struct err e;

	(void)state;
	published_set(&set);
	assert_ok(report_text(&set, &o, &out, &e), e);
	assert_has(out.data, "median");
	/* sample sd of the four restores: 5.430 s, 0.492 % */
	assert_has(out.data, "18m24.80s   5.43s  0.5%");
	assert_has(out.data, "trials     hba8/dump: block 1 8m48.50s · block 2 8m42.78s");
	buf_free(&out);
	result_set_clear(&set);
}

/* The plan asked for cold; the trials say what was done. */
static void caches_are_told_as_they_were(void **state)
{
	static const struct {
		const char *first, *second, *part;
	} table[] = {
		{"cold: export/import", "cold: new", "less is better\n"},
		{"as it was: left alone", "as it was: left alone", "better · cache as it was\n"},
		{"as it was: left alone", "cold: export/import", "better · cache mixed\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct result_trial t[] = {
			a_trial("a", 1, 1, 0, 0, 1000000000), a_trial("a", 2, 2, 0, 0, 1000000000)};
		struct result_set set = {0};
		struct report_options o = {0};
		struct buf lines = {0}, out = {0};
		struct err e;

		t[0].cache = (char *)table[i].first;
		t[1].cache = (char *)table[i].second;
		lines_run(&lines, 1, "demo", 2, layouts, 3, workloads, 2);
		export_trial(&t[0], &lines);
		export_trial(&t[1], &lines);
		lines_read(lines.data, &set);
		assert_ok(report_text(&set, &o, &out, &e), e);
		assert_has(out.data, table[i].part);
		buf_free(&out);
		buf_free(&lines);
		result_set_clear(&set);
	}
}

static void nothing_yet_is_said(void **state)
{
	struct result_set set = {0};
	struct report_options o = {0};
	struct buf lines = {0}, out = {0};
	struct err e;

	(void)state;
	lines_run(&lines, 7, "demo", 2, layouts, 3, workloads, 2);
	lines_read(lines.data, &set);
	assert_ok(report_text(&set, &o, &out, &e), e);
	assert_has(out.data, "demo · run 7");
	assert_has(out.data, "no trial has ended yet");
	buf_free(&out);
	buf_free(&lines);
	result_set_clear(&set);
}

/* Names from files do not steer the terminal. */
static void names_are_harmless(void **state)
{
	static const char lines[] =
		"{\"type\":\"run\",\"run\":1,\"name\":\"r\\u001b[2J\",\"layouts\":[\"l\\nx\"],"
		"\"workloads\":[\"w\\u202e\"],\"user\":\"\\u0007\"}\n"
		"{\"type\":\"trial\",\"run\":1,\"host\":\"h\\u009b\",\"attempt\":1,\"trial\":1,"
		"\"block\":1,\"layout\":0,\"workload\":0,\"ok\":false,\"complete\":true,"
		"\"error\":\"e\\u001b\"}\n";
	struct report_options o = {.long_form = 1};
	struct result_set set = {0};
	struct buf out = {0};
	struct err e;

	(void)state;
	lines_read(lines, &set);
	assert_ok(report_text(&set, &o, &out, &e), e);
	assert_null(strchr(out.data, '\x1b'));
	assert_null(strchr(out.data, '\a'));
	assert_null(strstr(out.data, "\xc2\x9b"));
	assert_null(strstr(out.data, "\xe2\x80\xae"));
	assert_has(out.data, "l\\x0ax");
	assert_has(out.data, "e\\x1b");
	buf_free(&out);
	result_set_clear(&set);
}

static json_t *json_of(const struct result_set *set, const struct report_options *o)
{
	struct buf out = {0};
	json_t *doc;
	struct err e;

	assert_ok(report_json(set, o, &out, &e), e);
	assert_ok(json_parse("report", out.data, out.len, 1 << 20, &doc, &e), e);
	buf_free(&out);
	return doc;
}

static const json_t *result(const json_t *doc, const char *host, const char *layout,
	const char *workload, const char *metric)
{
	json_t *o;
	size_t i;

	json_array_foreach(json_object_get(doc, "results"), i, o)
	{
		if (strcmp(json_get_str(o, "host", ""), host) == 0 &&
			strcmp(json_get_str(o, "layout", ""), layout) == 0 &&
			strcmp(json_get_str(o, "workload", ""), workload) == 0 &&
			strcmp(json_get_str(o, "metric", ""), metric) == 0)
			return o;
	}
	fail_msg("no result %s %s %s %s", host, layout, workload, metric);
	return NULL;
}

#define assert_near(a, b) assert_true(fabs((a) - (b)) < 5e-4)

static void json_has_the_schema(void **state)
{
	static const char *const keys[] = {"schema", "tool_version", "runs", "environments",
		"results", "comparisons", "family", "margin", "findings"};
	static const char *const of_result[] = {"host", "layout", "workload", "metric", "unit",
		"better", "resolution", "n", "mean", "median", "stddev", "cv", "min", "max", "ci95",
		"trials"};
	static const char *const of_trial[] = {
		"value", "block", "position", "build", "started", "valid"};
	struct result_set set = {0};
	struct report_options o = {.tool_version = "9.9"};
	const json_t *r, *t;
	json_t *doc;

	(void)state;
	published_set(&set);
	doc = json_of(&set, &o);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		assert_non_null(json_object_get(doc, keys[i]));
	assert_int_equal(json_get_int(doc, "schema", 0), 1);
	assert_string_equal(json_get_str(doc, "tool_version", ""), "9.9");
	assert_int_equal(json_array_size(json_object_get(doc, "results")), 6);
	r = result(doc, "knew", "hba8", "load", "elapsed");
	for (size_t i = 0; i < ARRAY_LEN(of_result); i++)
		assert_non_null(json_object_get(r, of_result[i]));
	assert_int_equal(json_get_int(r, "n", 0), 4);
	assert_near(json_get_num(r, "mean", 0), 1102.9915);
	assert_near(json_get_num(r, "median", 0), 1104.7985);
	assert_near(json_get_num(r, "stddev", 0), 5.4301);
	assert_near(json_get_num(r, "cv", 0), 0.0049);
	assert_string_equal(json_get_str(r, "unit", ""), "s");
	assert_string_equal(json_get_str(r, "better", ""), "lower");
	t = json_array_get(json_object_get(r, "trials"), 1);
	for (size_t i = 0; i < ARRAY_LEN(of_trial); i++)
		assert_non_null(json_object_get(t, of_trial[i]));
	assert_near(json_get_num(t, "value", 0), 1102.754);
	assert_int_equal(json_get_int(t, "block", 0), 2);
	assert_string_equal(json_get_str(t, "started", ""), "2023-11-14T22:13:22.000Z");
	r = json_array_get(json_object_get(doc, "runs"), 0);
	assert_string_equal(json_get_str(r, "design", ""), "unknown");
	assert_true(json_is_null(json_object_get(r, "started")));
	json_decref(doc);
	result_set_clear(&set);
}

static void json_keeps_failed_trials(void **state)
{
	struct result_set set = {0};
	struct report_options o = {0};
	const json_t *r, *t;
	json_t *doc;

	(void)state;
	faulty_set(&set);
	doc = json_of(&set, &o);
	r = result(doc, "b", "hba8", "load", "elapsed");
	assert_int_equal(json_get_int(r, "n", -1), 1);
	assert_int_equal(json_get_int(r, "failed", -1), 1);
	assert_int_equal(json_get_int(r, "superseded", -1), 2);
	assert_true(json_is_null(json_object_get(r, "stddev")));
	assert_int_equal(json_array_size(json_object_get(r, "trials")), 2);
	t = json_array_get(json_object_get(r, "trials"), 1);
	assert_true(json_is_null(json_object_get(t, "value")));
	assert_true(json_is_false(json_object_get(t, "valid")));
	r = result(doc, "b", "hba8+board2", "load", "elapsed");
	assert_int_equal(json_get_int(r, "n", -1), 0);
	assert_true(json_is_null(json_object_get(r, "mean")));
	json_decref(doc);
	result_set_clear(&set);
}

static void redacted_reports_hide_names(void **state)
{
	struct result_environment v = {.run = 1, .host = "b"};
	struct report_options o = {.redact = 1};
	struct result_set set = {0};
	struct buf line = {0}, out = {0};
	json_t *doc, *disk;
	struct err e;

	(void)state;
	v.inventory = json_pack("{ss s[{ss ss ss ss}]}", "os", "Debian 12", "disks", "serial",
		"SECRET", "wwn", "SECRET", "controller", "SAS2008", "id", "serial:SECRET");
	faulty_set(&set);
	export_environment(&v, &line);
	assert_ok(export_read_line(&set, "f", 1, line.data, line.len, &e), e);
	json_decref(v.inventory);
	doc = json_of(&set, &o);
	result(doc, "host-1", "hba8", "load", "elapsed");
	result(doc, "host-2", "hba8", "load", "elapsed");
	disk = json_array_get(
		json_object_get(json_array_get(json_object_get(doc, "environments"), 0), "disks"),
		0);
	assert_string_equal(json_get_str(disk, "controller", ""), "SAS2008");
	assert_ok(report_json(&set, &o, &out, &e), e);
	assert_null(strstr(out.data, "SECRET"));
	buf_reset(&out);
	assert_ok(report_text(&set, &o, &out, &e), e);
	assert_has(out.data, "\nhost-2 · elapsed");
	json_decref(doc);
	buf_free(&out);
	buf_free(&line);
	result_set_clear(&set);
}

/* On a narrow terminal the verdicts have a table of their own. */
static void narrow_terminals_get_two_tables(void **state)
{
	struct report_options o = {.width = 60};
	struct result_set set = {0};
	struct buf out = {0};
	struct err e = {0};

	(void)state;
	published_set(&set);
	assert_ok(report_text(&set, &o, &out, &e), e);
	assert_has(out.data, "load         n       mean  95% CI\n"
			     "hba8         4  18m22.99s  ±0.8%\n");
	assert_has(out.data, "load         vs hba8 (95% CI, all comparisons)\n"
			     "hba8         baseline\n"
			     "hba8+board2  -0.2% (-1.7…+1.4%)  no difference shown\n");
	o.width = 80;
	buf_reset(&out);
	assert_ok(report_text(&set, &o, &out, &e), e);
	assert_has(out.data, "hba8+board2  3  18m21.24s  ±1.5%   -0.2% (-1.7…+1.4%)  no difference "
			     "shown\n");
	buf_free(&out);
	result_set_clear(&set);
}

/* Every line of a table fits, if the terminal has room for the longest words in it. */
static void long_tables_fit_the_terminal(void **state)
{
	static const unsigned widths[] = {60, 80, 100, 132};
	struct result_set set = {0};
	struct buf out = {0};
	struct err e = {0};

	(void)state;
	published_set(&set);
	for (size_t i = 0; i < ARRAY_LEN(widths); i++) {
		struct report_options o = {.width = widths[i], .long_form = 1};

		buf_reset(&out);
		assert_ok(report_text(&set, &o, &out, &e), e);
		for (const char *line = out.data; *line; line += strcspn(line, "\n") + 1) {
			char *one = xstrndup(line, strcspn(line, "\n"));

			if (strncmp(line, "hba8", 4) == 0 && utf8_width(one) > widths[i])
				fail_msg("%u columns: '%s'", widths[i], one);
			free(one);
		}
		assert_has(out.data, "median");
		assert_has(out.data, "vs hba8");
	}
	buf_free(&out);
	result_set_clear(&set);
}

/* Names that leave no room beside them have lines of their own. */
static void long_names_stand_above_their_values(void **state)
{
	char *names[] = {(char *)"raidz2-of-ten-disks-on-the-big-controller-and-the-board",
		(char *)"raidz2-of-eight-disks-on-the-big-controller", NULL};
	struct report_options o = {.width = 60};
	struct result_set set = {0};
	struct buf lines = {0}, out = {0};
	struct err e = {0};

	(void)state;
	lines_run(&lines, 1, "demo", 3, names, 2, workloads, 1);
	for (uint32_t i = 0; i < 6; i++) {
		struct result_trial t = a_trial("knew", i + 1, i / 2 + 1, i % 2, 0,
			(10 + i % 2) * 1000000000ll + (i + i / 3) * 10000000ll);

		export_trial(&t, &lines);
	}
	lines_read(lines.data, &set);
	assert_ok(report_text(&set, &o, &out, &e), e);
	assert_has(out.data, "\nload\n  n    mean  95% CI\n"
			     "raidz2-of-ten-disks-on-the-big-controller-and-the-board\n"
			     "  3  10.02s  ±");
	buf_free(&lines);
	buf_free(&out);
	result_set_clear(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(narrow_terminals_get_two_tables),
		cmocka_unit_test(long_tables_fit_the_terminal),
		cmocka_unit_test(long_names_stand_above_their_values),
		cmocka_unit_test(text_of_the_published_test),
		cmocka_unit_test(rates_and_ratios),
		cmocka_unit_test(faults_are_told),
		cmocka_unit_test(long_form_shows_each_trial),
		cmocka_unit_test(caches_are_told_as_they_were),
		cmocka_unit_test(nothing_yet_is_said),
		cmocka_unit_test(names_are_harmless),
		cmocka_unit_test(json_has_the_schema),
		cmocka_unit_test(json_keeps_failed_trials),
		cmocka_unit_test(redacted_reports_hide_names),
	};

	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
