/* results: what a set that a stranger sent must be before it is kept. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "tests/unit/results_kit.h"

#define RUN                                                                                        \
	"{\"type\":\"run\",\"run\":1,\"name\":\"r\",\"layouts\":[\"l\"],\"workloads\":[\"w\"]"
#define TRIAL                                                                                      \
	"{\"type\":\"trial\",\"run\":1,\"host\":\"h\",\"trial\":1,\"block\":1,\"layout\":0,"       \
	"\"workload\":0,\"ok\":true"
#define SUMMARY                                                                                    \
	"{\"type\":\"summary\",\"run\":1,\"host\":\"h\",\"layout\":0,\"workload\":0,"              \
	"\"metric\":\"elapsed\",\"n\":3,\"mean\":2"
#define SERIES                                                                                     \
	"{\"type\":\"series\",\"run\":1,\"host\":\"h\",\"trial\":1,\"columns\":[\"start_ns\","     \
	"\"disk_busy_ns\"],\"points\":"
#define OF_TRIAL(type) "{\"type\":\"" type "\",\"run\":1,\"host\":\"h\",\"trial\":1"
#define STEP "{\"type\":\"step\",\"run\":1,\"host\":\"h\",\"argv\":[\"true\"]"

/* NULL: read and kept. Else words of the error, whether reading or the check says it. */
/* Under the sanitizer each growth of a list copies it, whatever the allocator could do. */
#ifdef __SANITIZE_ADDRESS__
#define SHUFFLED_LINES 2000u
#else
#define SHUFFLED_LINES 100000u
#endif

static const struct {
	const char *name, *lines, *words;
} cases[] = {
	{"a trial", RUN "}\n" TRIAL "}\n", NULL},
	{"a summary", RUN "}\n" SUMMARY "}\n", NULL},
	{"a summary without its maximum", RUN "}\n" SUMMARY ",\"max\":null,\"min\":1}\n", NULL},
	{"a series", RUN "}\n" TRIAL "}\n" SERIES "[[1,2]]}\n", NULL},
	{"nothing", "", "0 runs: one is expected"},
	{"no results", RUN "}\n", "has no results"},
	{"two runs",
		RUN "}\n{\"type\":\"run\",\"run\":2,\"name\":\"s\"}\n" TRIAL "}\n",
		"2 runs: one is expected"},
	{"a name with control characters",
		"{\"type\":\"run\",\"run\":1,\"name\":\"r\\u001b[31m\",\"layouts\":[\"l\"],"
		"\"workloads\":[\"w\"]}\n" TRIAL "}\n",
		"name is no line"},
	{"a layout with an end of line",
		"{\"type\":\"run\",\"run\":1,\"name\":\"r\",\"layouts\":[\"l\\n\"],"
		"\"workloads\":[\"w\"]}\n" TRIAL "}\n",
		"layouts or workloads"},
	{"a layout that turns the line round",
		"{\"type\":\"run\",\"run\":1,\"name\":\"r\",\"layouts\":[\"\\u202e\"],"
		"\"workloads\":[\"w\"]}\n" TRIAL "}\n",
		"layouts or workloads"},
	{"a layout without a name",
		"{\"type\":\"run\",\"run\":1,\"name\":\"r\",\"layouts\":[\"\"],"
		"\"workloads\":[\"w\"]}\n" TRIAL "}\n",
		"layouts or workloads"},
	{"a version that is no line", RUN ",\"tool_version\":\"a\\u0007\"}\n" TRIAL "}\n", "no line"},
	{"a baseline out of range", RUN ",\"baseline\":1}\n" TRIAL "}\n", "baseline"},
	{"a negative margin", RUN ",\"margin\":-0.1}\n" TRIAL "}\n", "margin"},
	{"a start before time", RUN ",\"started_wall_ns\":-1}\n" TRIAL "}\n", "times"},
	{"a layout that the run lacks",
		RUN "}\n{\"type\":\"trial\",\"run\":1,\"host\":\"h\",\"trial\":1,\"block\":1,"
		    "\"layout\":1,\"workload\":0}\n",
		"layout or workload"},
	{"a layout of another name", RUN "}\n" TRIAL ",\"layout_name\":\"m\"}\n",
		"layout or workload"},
	{"a host with control characters",
		RUN "}\n{\"type\":\"trial\",\"run\":1,\"host\":\"\\u0001\",\"trial\":1,"
		    "\"block\":1,\"layout\":0,\"workload\":0}\n",
		"host has no name"},
	{"an op with control characters", RUN "}\n" TRIAL ",\"op\":\"\\u0009\"}\n", "no line"},
	{"a negative time", RUN "}\n" TRIAL ",\"elapsed_ns\":-1}\n", "elapsed_ns: -1 is found"},
	{"a time beyond all", RUN "}\n" TRIAL ",\"elapsed_ns\":9000000000000000000}\n",
		"make no sense"},
	{"a printed zero",
		RUN "}\n" TRIAL ",\"printed\":[{\"metric\":\"elapsed\",\"value\":0}]}\n",
		"printed"},
	{"a trial twice", RUN "}\n" TRIAL "}\n" TRIAL "}\n", "twice"},
	{"a summary of another layout", RUN "}\n" SUMMARY ",\"layout_name\":\"m\"}\n",
		"summary 1 of host 'h'"},
	{"a negative minimum", RUN "}\n" SUMMARY ",\"min\":-1}\n", "a number above 0"},
	{"a minimum above the mean", RUN "}\n" SUMMARY ",\"min\":3}\n", "at most the mean"},
	{"a negative point", RUN "}\n" TRIAL "}\n" SERIES "[[-1,2]]}\n", "makes no sense"},
	{"a step", RUN "}\n" TRIAL "}\n" STEP "}\n", NULL},
	{"a step with control characters", RUN "}\n" TRIAL "}\n" STEP ",\"what\":\"\\u0001\"}\n",
		"step 1 of host 'h'"},
	{"a step before its start", RUN "}\n" TRIAL "}\n" STEP ",\"elapsed_ns\":-1}\n", "elapsed_ns: -1"},
	{"a part, a fact and a note",
		RUN "}\n" TRIAL "}\n" OF_TRIAL("part") ",\"name\":\"p\",\"kind\":\"job\"}\n" OF_TRIAL(
			"fact") ",\"name\":\"f\",\"value\":1}\n" OF_TRIAL("note") ",\"name\":\"n\","
		"\"text\":\"a\\u001b[1m\\nb\"}\n",
		NULL},
	{"a part with control characters",
		RUN "}\n" TRIAL "}\n" OF_TRIAL("part") ",\"name\":\"\\u0001\"}\n", "a part"},
	{"a kind with control characters",
		RUN "}\n" TRIAL "}\n" OF_TRIAL("part") ",\"name\":\"p\",\"kind\":\"\\n\"}\n",
		"a part"},
	{"a fact with control characters",
		RUN "}\n" TRIAL "}\n" OF_TRIAL("fact") ",\"name\":\"\\u0001\",\"value\":1}\n",
		"a fact"},
	{"a unit that turns the line round",
		RUN "}\n" TRIAL "}\n" OF_TRIAL("fact") ",\"name\":\"f\",\"value\":1,"
		"\"unit\":\"\\u202e\"}\n",
		"a fact"},
	{"a note with control characters",
		RUN "}\n" TRIAL "}\n" OF_TRIAL("note") ",\"name\":\"\\u0001\"}\n", "a note"},
	{"a disk with control characters",
		RUN "}\n" TRIAL ",\"evidence\":{}}\n" OF_TRIAL("trial-disks") ",\"disks\":["
		"{\"name\":\"\\u001b[31m\"}]}\n",
		"a disk"},
	{"a setting with an end of line",
		RUN "}\n" TRIAL ",\"evidence\":{\"settings\":[{\"name\":\"a\\nb\"}]}}\n", "a setting"},
	{"a source that is no line",
		RUN "}\n" TRIAL ",\"evidence\":{\"sources\":[{\"name\":\"a\\u001b\"}]}}\n", "a source"},
	{"maintenance with an end of line",
		RUN "}\n" TRIAL ",\"evidence\":{\"maintenance_before_text\":\"a\\nb\"}}\n",
		"maintenance"},
	{"a stop of no host",
		RUN "}\n" TRIAL "}\n{\"type\":\"stop\",\"run\":1,\"host\":\"\\u0001\",\"block\":1}\n",
		"a stop"},
	{"a stop of another run",
		RUN "}\n" TRIAL "}\n{\"type\":\"stop\",\"run\":2,\"host\":\"h\",\"block\":1}\n",
		"a stop"},
	{"an environment of no host",
		RUN "}\n" TRIAL "}\n{\"type\":\"environment\",\"run\":1,\"host\":\"\\u0001\","
		    "\"inventory\":{}}\n",
		"environment"},
	{"a series of another run",
		RUN "}\n" TRIAL "}\n{\"type\":\"series\",\"run\":2,\"host\":\"h\",\"trial\":1,"
		    "\"columns\":[],\"points\":[]}\n",
		"another run"},
};

static int read_all(const char *lines, struct result_set *set, struct err *e)
{
	size_t no = 1;

	for (const char *p = lines, *end; *p; p = end + 1) {
		end = strchr(p, '\n');
		if (export_read_line(set, "lines", no++, p, (size_t)(end - p), e))
			return -1;
	}
	return export_read_end(set, e) || result_set_check(set, e) ? -1 : 0;
}

static void strangers_are_checked(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct result_set set = {0};
		struct err e = {0};
		int rc = read_all(cases[i].lines, &set, &e);

		if (!cases[i].words && rc)
			fail_msg("%s: %s", cases[i].name, e.text);
		if (cases[i].words && (!rc || !strstr(e.text, cases[i].words)))
			fail_msg("%s: '%s', '%s' expected", cases[i].name, rc ? e.text : "kept",
				cases[i].words);
		result_set_clear(&set);
	}
}

static void sizes_are_limited(void **state)
{
	struct result_set set = {0};
	struct err e = {0};

	(void)state;
	assert_ok(read_all(RUN "}\n" TRIAL "}\n", &set, &e), e);
	for (int i = 0; i < 20000; i++)
		strv_add(&set.runs[0].layouts, "more");
	assert_int_equal(result_set_check(&set, &e), -1);
	assert_has(e.text, "more than 20000");
	strv_free(&set.runs[0].layouts);
	strv_add(&set.runs[0].layouts, "l");
	assert_ok(result_set_check(&set, &e), e);
	result_set_clear(&set);
}

/* Pieces of a plan add up. */
static void plans_are_limited(void **state)
{
	struct result_set set = {0};
	struct buf line = {0};
	struct err e = {0};

	(void)state;
	assert_ok(read_all(RUN "}\n" TRIAL "}\n", &set, &e), e);
	buf_adds(&line, "{\"type\":\"plan\",\"run\":1,\"text\":\"");
	for (int i = 0; i < 300 * 1024; i++)
		buf_addc(&line, 'x');
	buf_adds(&line, "\"}");
	for (int i = 0; i < 3; i++)
		assert_ok(export_read_line(&set, "lines", 3, line.data, line.len, &e), e);
	assert_int_equal(export_read_line(&set, "lines", 6, line.data, line.len, &e), -1);
	assert_has(e.text, "lines:6: a plan of more than 1048576 bytes");
	buf_free(&line);
	result_set_clear(&set);
}

/* Before there is memory for them. */
static void points_and_spans_are_limited(void **state)
{
	static const char *const heads[] = {
		OF_TRIAL("series") ",\"columns\":[],\"points\":[[]",
		OF_TRIAL("series-disks") ",\"disks\":1024,\"spans\":[[]"};
	static const char *const words[] = {
		"a series of more than 100000 points", "spans: more than 16384 of all disks together"};
	static const int n[] = {100000, 16};

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct result_set set = {0};
		struct buf line = {0};
		struct err e = {0};

		buf_adds(&line, heads[k]);
		for (int i = 0; i < n[k]; i++)
			buf_adds(&line, ",[]");
		buf_adds(&line, "]}");
		assert_int_equal(export_read_line(&set, "lines", 1, line.data, line.len, &e), -1);
		assert_has(e.text, words[k]);
		assert_int_equal(set.n_series, 0);
		buf_free(&line);
		result_set_clear(&set);
	}
}

/* As of a file that was sorted by type: each line finds its own of 100,000 trials, in any order. */
static void shuffled_lines_find_their_trials(void **state)
{
	const uint32_t n = SHUFFLED_LINES, step = 7919; /* a prime that does not divide n */
	struct result_set set = {0};
	struct err e = {0};
	char line[256];

	(void)state;
	for (uint32_t i = 0; i < 2 * n; i++) {
		uint32_t trial = 1 + (uint32_t)((uint64_t)i * step % n);
		int len = i < n ? snprintf(line, sizeof(line),
					  "{\"type\":\"trial\",\"run\":1,\"host\":\"h\","
					  "\"trial\":%u,\"block\":1,\"layout\":0,\"workload\":0}",
					  i + 1)
				: snprintf(line, sizeof(line),
					  "{\"type\":\"fact\",\"run\":1,\"host\":\"h\","
					  "\"trial\":%u,\"name\":\"f\",\"value\":%u}",
					  trial, trial);

		assert_ok(export_read_line(&set, "lines", i + 1, line, (size_t)len, &e), e);
	}
	assert_int_equal(set.n_trials, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(set.trials[i].sum.detail.n_facts, 1);
		assert_true(set.trials[i].sum.detail.facts[0].value == i + 1);
	}
	result_set_clear(&set);
}

/* Runs and their hosts, a plan in pieces of a letter: each line costs the same, however many there are.
 * What grew with their square would take minutes. */
static void many_runs_and_pieces_are_found(void **state)
{
	const uint32_t n = SHUFFLED_LINES / 2, step = 7919;
	struct result_set set = {0};
	struct err e = {0};
	char line[256];
	int len;

	(void)state;
	for (uint32_t i = 0; i < 3 * n; i++) {
		uint32_t run = 1 + (uint32_t)((uint64_t)i * step % n);

		if (i < n)
			len = snprintf(line, sizeof(line), "{\"type\":\"run\",\"run\":%u,\"name\":\"r\"}",
				run);
		else if (i < 2 * n)
			len = snprintf(line, sizeof(line),
				"{\"type\":\"environment\",\"run\":1,\"host\":\"h%u\","
				"\"inventory\":{\"disks\":[]}}",
				run);
		else
			len = snprintf(line, sizeof(line),
				"{\"type\":\"environment-disks\",\"run\":1,\"host\":\"h%u\","
				"\"disks\":[{\"bytes\":%u}]}",
				run, run);
		assert_ok(export_read_line(&set, "lines", i + 1, line, (size_t)len, &e), e);
		len = snprintf(line, sizeof(line),
			"{\"type\":\"plan\",\"run\":1,\"text\":\"x\"}");
		assert_ok(export_read_line(&set, "lines", i + 1, line, (size_t)len, &e), e);
	}
	assert_int_equal(set.n_runs, n);
	assert_int_equal(set.n_envs, n);
	assert_int_equal(strlen(set.runs[0].plan_text), 3 * n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(json_array_size(json_object_get(set.envs[i].inventory, "disks")), 1);
	result_set_clear(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strangers_are_checked),
		cmocka_unit_test(sizes_are_limited),
		cmocka_unit_test(plans_are_limited),
		cmocka_unit_test(points_and_spans_are_limited),
		cmocka_unit_test(shuffled_lines_find_their_trials),
		cmocka_unit_test(many_runs_and_pieces_are_found),
	};

	return cmocka_run_group_tests_name("set_check", tests, NULL, NULL);
}
