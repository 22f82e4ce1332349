/* results: an export that is not all there is no run. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "coordinator/results/import.h"
#include "tests/unit/results_kit.h"

static void add_run(struct buf *out, uint64_t id)
{
	char *layouts[] = {"raidz2"}, *workloads[] = {"write"};
	struct result_point points[2] = {{.start_ns = 1, .end_ns = 2}, {.start_ns = 2, .end_ns = 3}};
	size_t from = out->len;

	lines_run(out, id, "demo", 3, layouts, 1, workloads, 1);
	for (uint32_t i = 1; i <= 3; i++) {
		struct result_trial t = a_trial("knew", i, i, 0, 0, 5000000000 + i);
		struct result_series s = {.run = id,
			.host = "knew",
			.attempt = 1,
			.trial = i,
			.points = points,
			.n = 2};

		t.run = id;
		t.layout_name = "raidz2";
		t.workload_name = "write";
		export_trial(&t, out);
		export_series(&s, out);
	}
	export_end(id, export_count_lines(out, from), out);
}

/* What is said of the text as a file; "" when it is read, then with so many runs. */
static struct err read_text(const char *text, size_t len, size_t *ret_runs)
{
	const struct format *format = format_find("arraymark");
	struct import_options o = {.format = format};
	struct result_set set = {0};
	struct buf copy = {0};
	struct err e = {0};
	uint64_t run;

	buf_add(&copy, text, len);
	if (!import_text(&set, "run.jsonl", &copy, &o, NULL, &run, &e))
		assert_ok(export_read_end(&set, &e), e);
	*ret_runs = set.n_runs;
	buf_free(&copy);
	result_set_clear(&set);
	return e;
}

static void a_whole_export_is_read(void **state)
{
	struct buf text = {0};
	size_t runs;

	(void)state;
	add_run(&text, 1);
	assert_int_equal(export_count_lines(&text, 0), 8);
	assert_string_equal(read_text(text.data, text.len, &runs).text, "");
	assert_int_equal(runs, 1);
	assert_string_equal(read_text(text.data, text.len - 1, &runs).text, "");
	add_run(&text, 7);
	assert_string_equal(read_text(text.data, text.len, &runs).text, "");
	assert_int_equal(runs, 2);
	buf_free(&text);
}

static void one_that_is_cut_off_is_an_error_wherever(void **state)
{
	struct buf text = {0};
	char where[64];
	size_t runs, first, no = 0;

	(void)state;
	add_run(&text, 1);
	first = text.len;
	add_run(&text, 7);
	for (size_t at = 1; at < text.len - 1; at++) {
		struct err e = read_text(text.data, at, &runs);

		if (at >= first - 1 && at <= first) {
			assert_string_equal(e.text, "");
			no += text.data[at - 1] == '\n';
			continue;
		}
		assert_int_equal(e.code, ERR_INPUT);
		if (text.data[at - 1] != '\n') {
			snprintf(where, sizeof(where), "run.jsonl:%zu: ", no + 1);
			assert_has(e.text, where);
			continue;
		}
		snprintf(where, sizeof(where), "run.jsonl:%zu: the export of run %d is cut off", ++no,
			at > first ? 7 : 1);
		assert_has(e.text, where);
		assert_has(e.text, "export the run again; was it written by an older version?");
	}
	assert_int_equal(no, 15);
	buf_free(&text);
}

/* Lines lost, doubled, or moved into another run. */
static void lines_are_counted(void **state)
{
#define RUN(id) "{\"type\":\"run\",\"run\":" #id ",\"name\":\"r\"}\n"
#define STOP(id) "{\"type\":\"stop\",\"run\":" #id ",\"host\":\"h\",\"block\":1}\n"
#define END(id, n) "{\"type\":\"end\",\"run\":" #id ",\"lines\":" #n "}\n"
	static const struct {
		const char *name, *text, *words;
	} table[] = {
		{"all there", RUN(1) STOP(1) END(1, 2), ""},
		{"blank lines do not count", "\n" RUN(1) "\n\n" STOP(1) " \n" END(1, 2) "\n", ""},
		{"of two runs among each other", RUN(1) RUN(2) STOP(1) STOP(2) STOP(2) END(2, 3) END(1, 2), ""},
		{"a type of a newer version counts",
			RUN(1) "{\"type\":\"weather\",\"run\":1}\n" END(1, 2), ""},
		{"and is missed", RUN(1) END(1, 2),
			"run.jsonl:2: the export of run 1 was written with 2 lines, and has 1: export"},
		{"one line too many", RUN(1) STOP(1) STOP(1) END(1, 2),
			"run.jsonl:4: the export of run 1 was written with 2 lines, and has 3: export"},
		{"a line behind the end", RUN(1) STOP(1) END(1, 2) STOP(1), "written with 2 lines, and has 3"},
		{"the second of two is cut off", RUN(1) END(1, 1) RUN(2) STOP(2),
			"run.jsonl:4: the export of run 2 is cut off"},
		{"the first of two is", RUN(1) STOP(1) RUN(2) END(2, 1), "run.jsonl:2: the export of run 1 is cut off"},
		{"two ends", RUN(1) END(1, 1) END(1, 1), "run.jsonl:3: the end of run 1 is there twice"},
		{"an end without a number", RUN(1) "{\"type\":\"end\",\"run\":1}\n", "run.jsonl:2: end: lines"},
		{"an end of nothing", END(1, 0), "run.jsonl:1: end: lines: 0 is found"},
		{"an end alone", END(1, 5), "has 0"},
	};
	size_t runs;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct err e = read_text(table[i].text, strlen(table[i].text), &runs);

		if (*table[i].words ? !strstr(e.text, table[i].words) : *e.text != '\0')
			fail_msg("%s: \"%s\"", table[i].name, e.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_export_is_read),
		cmocka_unit_test(one_that_is_cut_off_is_an_error_wherever),
		cmocka_unit_test(lines_are_counted),
	};

	return cmocka_run_group_tests_name("export_end", tests, NULL, NULL);
}
