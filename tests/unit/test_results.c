/* results: metrics, rows, summaries, export lines there and back. */
#include "tests/unit/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "tests/unit/results_kit.h"

static void metrics_of_a_trial(void **state)
{
	struct hist *h = xcalloc(1, sizeof(*h));
	struct buf bytes = {0};
	struct trial_summary t = {.ok = 1,
		.elapsed_ns = 2000000000,
		.bytes = 1000,
		.ops = 500,
		.cpu_user_ns = 600000,
		.cpu_system_ns = 400000,
		.tele = {.disk_read_bytes = 7, .disk_write_bytes = 1250, .disks = 8}};

	(void)state;
	hist_add_n(h, 100, 99);
	hist_add_n(h, 120, 1);
	hist_encode(h, &bytes);
	free(h);
	assert_true(isnan(trial_metric(&t, METRIC_LAT_P50)));
	t.hist = bytes.data;
	t.hist_len = bytes.len;
	assert_true(trial_metric(&t, METRIC_ELAPSED) == 2);
	assert_true(trial_metric(&t, METRIC_THROUGHPUT) == 500);
	assert_true(trial_metric(&t, METRIC_OPS) == 250);
	assert_true(trial_metric(&t, METRIC_CPU_PER_OP) == 2);
	assert_true(trial_metric(&t, METRIC_PHYS_WRITE) == 1250);
	assert_true(trial_metric(&t, METRIC_PHYS_READ) == 7);
	assert_true(trial_metric(&t, METRIC_LAT_P50) == 100);
	assert_true(trial_metric(&t, METRIC_LAT_P999) == 120);
	assert_true(trial_metric(&t, METRIC_LAT_MAX) == 120);
	assert_true(fabs(trial_metric(&t, METRIC_LAT_MEAN) - 100.2) < 1e-9);
	t.ops = 0;
	t.tele.disks = 0;
	assert_true(isnan(trial_metric(&t, METRIC_CPU_PER_OP)));
	assert_true(isnan(trial_metric(&t, METRIC_PHYS_WRITE)));
	buf_free(&bytes);
}

static char *layouts[] = {"hba8", "hba10", NULL}, *workloads[] = {"write", "read", NULL};

struct rows {
	struct result_set set;
	struct result_row *v;
	size_t n;
};

static struct rows rows_of(
	const struct result_trial *t, size_t n, const enum metric_id *metrics, size_t n_metrics)
{
	struct buf lines = {0};
	struct rows r = {0};
	struct err e;

	lines_run(&lines, 1, "demo", 4, layouts, 2, workloads, 2);
	for (size_t i = 0; i < n; i++)
		export_trial(&t[i], &lines);
	lines_read(lines.data, &r.set);
	buf_free(&lines);
	assert_ok(result_rows(&r.set, metrics, n_metrics, &r.v, &r.n, &e), e);
	return r;
}

static void rows_clear(struct rows *r)
{
	result_rows_free(r->v, r->n);
	result_set_clear(&r->set);
}

static const enum metric_id elapsed[] = {METRIC_ELAPSED};

static void rows_stand_in_order(void **state)
{
	static const struct {
		const char *host, *workload, *layout;
		enum metric_id metric;
	} want[] = {
		{"a", "write", "hba8", METRIC_ELAPSED},
		{"a", "write", "hba10", METRIC_ELAPSED},
		{"a", "write", "hba8", METRIC_THROUGHPUT},
		{"a", "write", "hba10", METRIC_THROUGHPUT},
		{"a", "read", "hba8", METRIC_ELAPSED},
		{"b", "write", "hba8", METRIC_ELAPSED},
	};
	const enum metric_id metrics[] = {METRIC_ELAPSED, METRIC_THROUGHPUT};
	struct result_trial t[] = {a_trial("b", 1, 1, 0, 0, 5), a_trial("a", 1, 1, 1, 0, 5),
		a_trial("a", 2, 1, 0, 0, 5), a_trial("a", 3, 1, 0, 1, 5)};
	struct rows r;

	(void)state;
	t[1].sum.bytes = t[2].sum.bytes = 10;
	r = rows_of(t, ARRAY_LEN(t), metrics, 2);
	assert_int_equal(r.n, ARRAY_LEN(want));
	for (size_t i = 0; i < r.n; i++) {
		assert_string_equal(r.v[i].host, want[i].host);
		assert_string_equal(r.v[i].workload, want[i].workload);
		assert_string_equal(r.v[i].layout, want[i].layout);
		assert_int_equal(r.v[i].metric, want[i].metric);
	}
	rows_clear(&r);
}

static void blocks_are_the_replicates(void **state)
{
	struct result_trial t[] = {a_trial("a", 1, 2, 0, 0, 4000000000),
		a_trial("a", 2, 2, 0, 0, 6000000000), a_trial("a", 3, 1, 0, 0, 7000000000),
		a_trial("a", 4, 1, 0, 0, 7000000000)};
	struct rows r;

	(void)state;
	t[1].repeat = t[3].repeat = 2;
	r = rows_of(t, ARRAY_LEN(t), elapsed, 1);
	assert_int_equal(r.n, 1);
	assert_int_equal(r.v[0].n, 2);
	assert_int_equal(r.v[0].blocks[0], 1);
	assert_true(r.v[0].values[0] == 7 && r.v[0].values[1] == 5);
	assert_true(r.v[0].mean == 6);
	assert_int_equal(r.v[0].trials[1]->sum.trial, 1);
	rows_clear(&r);
}

static void what_does_not_count_is_counted(void **state)
{
	struct result_trial t[] = {
		a_trial("a", 1, 1, 0, 0, 1000000000), /* superseded by attempt 2 */
		a_trial("a", 1, 1, 0, 0, 2000000000),
		a_trial("a", 2, 2, 0, 0, 3000000000), /* failed, then tried again */
		a_trial("a", 3, 2, 0, 0, 4000000000),
		a_trial("a", 4, 3, 0, 0, 5000000000), /* its unit is not complete */
		a_trial("a", 5, 4, 0, 0, 6000000000), /* failed */
		a_trial("a", 6, 1, 1, 0, 6000000000), /* the only one of its layout failed */
	};
	struct rows r;

	(void)state;
	t[0].superseded = 1;
	for (size_t i = 1; i < ARRAY_LEN(t); i++)
		t[i].attempt = 2;
	t[2].sum.ok = t[5].sum.ok = t[6].sum.ok = 0;
	t[2].sum.error = t[5].sum.error = t[6].sum.error = "short write";
	t[4].complete = 0;
	r = rows_of(t, ARRAY_LEN(t), elapsed, 1);
	assert_int_equal(r.n, 2);
	assert_int_equal(r.v[0].n, 2);
	assert_true(r.v[0].values[0] == 2 && r.v[0].values[1] == 4);
	assert_int_equal(r.v[0].superseded, 1);
	assert_int_equal(r.v[0].failed, 2);
	assert_int_equal(r.v[0].incomplete, 1);
	assert_int_equal(r.v[1].n, 0);
	assert_int_equal(r.v[1].failed, 1);
	assert_true(isnan(r.v[1].mean));
	rows_clear(&r);
}

/* Should two attempts claim the same unit, the later one counts, whole. */
static void last_complete_attempt_counts(void **state)
{
	struct result_trial t[] = {a_trial("a", 1, 1, 0, 0, 1000000000),
		a_trial("a", 2, 1, 0, 0, 2000000000), a_trial("a", 1, 1, 0, 0, 3000000000)};
	struct rows r;

	(void)state;
	t[1].repeat = 2;
	t[2].attempt = 2;
	r = rows_of(t, ARRAY_LEN(t), elapsed, 1);
	assert_int_equal(r.v[0].n, 1);
	assert_true(r.v[0].mean == 3);
	rows_clear(&r);
}

/* A list that prints 56 and a summary: printed values stand before counters, summaries are rows
 * unless trials of the layout are listed. */
static void imports_have_rows_too(void **state)
{
	static const char lines[] =
		"{\"type\":\"run\",\"run\":1,\"name\":\"x\",\"layouts\":[\"a\",\"b\"],"
		"\"workloads\":[\"w\"]}\n"
		"{\"type\":\"summary\",\"run\":1,\"host\":\"h\",\"layout\":0,\"workload\":0,"
		"\"metric\":\"elapsed\",\"n\":10,\"mean\":56,\"min\":52,\"max\":59,"
		"\"resolution\":1}\n"
		"{\"type\":\"summary\",\"run\":1,\"host\":\"h\",\"layout\":1,\"workload\":0,"
		"\"metric\":\"elapsed\",\"n\":9,\"mean\":1,\"resolution\":1}\n"
		"{\"type\":\"trial\",\"run\":1,\"host\":\"h\",\"attempt\":1,\"trial\":1,"
		"\"block\":1,\"layout\":1,\"workload\":0,\"ok\":true,\"complete\":true,"
		"\"elapsed_ns\":7000000000,\"printed\":[{\"metric\":\"elapsed\","
		"\"value\":7.04,\"resolution\":0.01}]}\n";
	struct rows r = {0};
	struct buf again = {0};
	struct err e;

	(void)state;
	lines_read(lines, &r.set);
	assert_ok(result_rows(&r.set, elapsed, 1, &r.v, &r.n, &e), e);
	assert_int_equal(r.n, 2);
	assert_true(r.v[0].summary_only && r.v[0].n == 10 && r.v[0].listed == 0);
	assert_true(r.v[0].mean == 56 && r.v[0].min == 52 && r.v[0].resolution == 1);
	assert_true(!r.v[1].summary_only && r.v[1].n == 1 && r.v[1].mean == 7.04);
	assert_true(r.v[1].resolution == 0.01);
	export_summary(&r.set.summaries[0], &again);
	assert_has(again.data, "\"mean\":56");
	buf_reset(&again);
	export_trial(&r.set.trials[0], &again);
	assert_has(again.data, "\"printed\":[{\"metric\":\"elapsed\",\"value\":7.04");
	buf_free(&again);
	rows_clear(&r);
}

static json_t *big_inventory(size_t disks)
{
	json_t *o = json_object(), *list = json_array();

	json_object_set_new(o, "host", json_string("a"));
	for (size_t i = 0; i < disks; i++)
		json_array_append_new(list, json_pack("{sI}", "bytes", (json_int_t)i));
	json_object_set_new(o, "disks", list);
	return o;
}

static void add_series(struct buf *lines, size_t n)
{
	struct result_series s = {.run = 1, .host = "a", .attempt = 1, .trial = 1, .n = n};

	s.points = xcalloc(n, sizeof(*s.points));
	for (size_t i = 0; i < n; i++)
		s.points[i] = (struct result_point){(int64_t)i, (int64_t)i + 1, 2 * i, 3 * i, 4, 5,
			6, {.disk_read_bytes = 7 * i, .disks = 8, .arc_bytes = 9}, {0}};
	export_series(&s, lines);
	free(s.points);
}

static void export_set(const struct result_set *s, struct buf *out)
{
	for (size_t i = 0; i < s->n_runs; i++)
		export_run(&s->runs[i], out);
	for (size_t i = 0; i < s->n_envs; i++)
		export_environment(&s->envs[i], out);
	for (size_t i = 0; i < s->n_trials; i++)
		export_trial(&s->trials[i], out);
	for (size_t i = 0; i < s->n_series; i++)
		export_series(&s->series[i], out);
}

static void sample_lines(struct buf *lines, struct buf *hist)
{
	struct result_trial t = a_trial("a", 1, 1, 1, 1, 123456789012);
	struct result_environment v = {.run = 1, .host = "a", .inventory = big_inventory(250)};
	struct result_run r = {.id = 1,
		.name = "demo",
		.state = "running",
		.plan_sha256 = "aa",
		.tool_version = "0.1.0",
		.user = "ann",
		.seed = UINT64_MAX,
		.blocks = 3,
		.started_wall_ns = 5,
		.finished_wall_ns = 6,
		.design = "once",
		.cache = "warm",
		.baseline = -1,
		.margin = 0.05,
		.layouts = {layouts, 2, 0},
		.workloads = {workloads, 2, 0}};
	struct buf plan = {0};
	struct hist *h = xcalloc(1, sizeof(*h));

	for (int i = 0; i < 30000; i++)
		buf_adds(&plan, "µx"); /* pieces must not cut a character */
	r.plan_text = plan.data;
	export_run(&r, lines);
	export_environment(&v, lines);
	for (uint64_t ns = 1; ns < 1000000000; ns += 1 + ns / 3)
		hist_add_n(h, ns, ns % 7 + 1);
	hist_encode(h, hist);
	t.sum.hist = hist->data;
	t.sum.hist_len = hist->len;
	t.sum.tele = (struct telemetry){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
	t.lost = 3;
	t.layout_name = "hba10";
	t.workload_name = "read";
	t.usable_bytes = 1ull << 40;
	export_trial(&t, lines);
	add_series(lines, 250);
	json_decref(v.inventory);
	buf_free(&plan);
	free(h);
}

static void export_comes_back_whole(void **state)
{
	struct buf lines = {0}, again = {0}, hist = {0};
	struct result_set set = {0};

	(void)state;
	sample_lines(&lines, &hist);
	lines_read(lines.data, &set);
	assert_int_equal(strlen(set.runs[0].plan_text), 90000);
	assert_true(set.runs[0].seed == UINT64_MAX);
	assert_int_equal(json_array_size(json_object_get(set.envs[0].inventory, "disks")), 250);
	assert_int_equal(set.n_series, 1);
	assert_int_equal(set.series[0].n, 250);
	assert_int_equal(set.series[0].points[249].tele.disk_read_bytes, 7 * 249);
	assert_int_equal(set.trials[0].sum.hist_len, hist.len);
	assert_memory_equal(set.trials[0].sum.hist, hist.data, hist.len);
	export_set(&set, &again);
	assert_string_equal(lines.data, again.data);
	for (const char *p = lines.data, *end; *p; p = end + 1) {
		end = strchr(p, '\n');
		assert_true(end - p < 256 * 1024);
	}
	result_set_clear(&set);
	result_set_clear(&set);
	buf_free(&lines);
	buf_free(&again);
	buf_free(&hist);
}

#define RUN "{\"type\":\"run\",\"run\":1,\"name\":\"x\"}"
#define TRIAL_HEAD "{\"type\":\"trial\",\"run\":1,\"host\":\"a\",\"attempt\":1,"

static void bad_lines_are_named(void **state)
{
	static const struct {
		const char *line, *part;
	} table[] = {
		{"", "f:2: not a line of an export"},
		{"hello", "f:2: not a line of an export"},
		{"[1]", "no object with a type"},
		{"{\"run\":1}", "no object with a type"},
		{"{\"type\":\"run\",\"name\":\"x\"}", "run: nothing is found, a whole number from 1"},
		{"{\"type\":\"run\",\"run\":-1,\"name\":\"x\"}", "run: -1 is found"},
		{"{\"type\":\"run\",\"run\":2}", "name: nothing is found"},
		{RUN, "there twice"},
		{"{\"type\":\"plan\",\"run\":2,\"text\":\"x\"}", "plan: no line of run 2 stands before this line"},
		{"{\"type\":\"plan\",\"run\":1}", "text: nothing is found"},
		{"{\"type\":\"environment\",\"run\":1,\"host\":\"a\"}",
			"inventory: nothing is found, an object is expected"},
		{"{\"type\":\"environment-disks\",\"run\":1,\"host\":\"a\",\"disks\":[]}",
			"no environment of run 1, host 'a' stands before"},
		{"{\"type\":\"trial\",\"run\":1}", "host: nothing is found"},
		{TRIAL_HEAD "\"trial\":1}", "layout: nothing is found"},
		{TRIAL_HEAD "\"trial\":1,\"layout\":0,\"workload\":0}", "block: nothing is found"},
		{TRIAL_HEAD "\"trial\":1,\"block\":1,\"layout\":0,\"workload\":0,"
			    "\"hist\":{\"count\":5,\"sum_ns\":5,\"min_ns\":1,\"max_ns\":1,"
			    "\"buckets\":[1,2]}}",
			"a whole histogram"},
		{TRIAL_HEAD "\"trial\":1,\"block\":1,\"layout\":0,\"workload\":0,"
			    "\"printed\":[{\"metric\":\"elapsed\",\"value\":-1}]}",
			"printed[0].value: -1 is found, a number above 0"},
		{"{\"type\":\"summary\",\"run\":1,\"host\":\"a\",\"metric\":\"x\"}", "layout: nothing is found"},
		{"{\"type\":\"summary\",\"run\":1,\"host\":\"a\",\"layout\":0,\"workload\":0,"
		 "\"metric\":\"elapsed\",\"n\":3,\"mean\":5,\"min\":6}",
			"min: 6 is found, at most the mean"},
		{"{\"type\":\"series\",\"run\":1,\"host\":\"a\",\"trial\":1}",
			"columns: nothing is found, a list is expected"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct result_set set = {0};
		struct err e = {0};

		assert_ok(export_read_line(&set, "f", 1, RUN, strlen(RUN), &e), e);
		assert_int_equal(
			export_read_line(&set, "f", 2, table[i].line, strlen(table[i].line), &e),
			-1);
		assert_int_equal(e.code, ERR_INPUT);
		assert_has(e.text, "f:2");
		assert_has(e.text, table[i].part);
		assert_ok(export_read_end(&set, &e), e);
		result_set_clear(&set);
	}
}

/* A series just as it is written takes another way than one with a blank in it: both read the same, and
 * refuse the same. */
static void series_are_read_the_same_in_any_spelling(void **state)
{
	static const char *const points[] = {
		"[[0,5,1048576,7],[5,9000000000000000000,0,9223372036854775807]]",
		"[[0,5,1048576,7]]",
		"[]",
		"[[]]",
		"[[0,5,7]]",
		"[[0,5,7,1,2]]",
		"[[0,5,9223372036854775808,7]]",
		"[[0,5,-7,1]]",
		"[[0,5,07,1]]",
		"[[0,5,7.5,1]]",
		"[[0,5,\"7\",1]]",
		"[[0,5,7,1],]",
		"[[0,5,7,1]",
		"[[0,5,7,1]]]",
		"[[0,5,7,1]],\"more\":1",
		"[0,5,7,1]",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(points); i++) {
		struct result_set set[2] = {{.n_runs = 0}, {.n_runs = 0}};
		int rc[2];

		for (int spelling = 0; spelling < 2; spelling++) {
			struct err e = {0};
			char *line = xasprintf("{\"type\":\"series\",\"run\":1,\"host\":\"a\","
					       "\"attempt\":1,\"trial\":2,\"columns\":[\"start_ns\","
					       "\"end_ns\",\"bytes\",\"news\"],\"points\":%s%s}",
				spelling ? " " : "", points[i]);

			rc[spelling] = export_read_line(
				&set[spelling], "f", 1, line, strlen(line), &e);
			free(line);
		}
		assert_int_equal(rc[0], rc[1]);
		assert_int_equal(set[0].n_series, set[1].n_series);
		for (size_t k = 0; k < set[0].n_series; k++) {
			const struct result_series *a = &set[0].series[k], *b = &set[1].series[k];

			assert_string_equal(a->host, b->host);
			assert_int_equal(a->trial, 2);
			assert_int_equal(a->n, b->n);
			if (a->n)
				assert_memory_equal(a->points, b->points, a->n * sizeof(*a->points));
		}
		assert_int_equal(rc[0] == 0 && set[0].n_series > 0 && set[0].series[0].n > 0, i < 2 || i == 14);
		result_set_clear(&set[0]);
		result_set_clear(&set[1]);
	}
}

static void unknown_types_are_skipped(void **state)
{
	static const char later[] = "{\"type\":\"finding\",\"anything\":1}\n";
	struct result_set set = {0};
	struct err e;

	(void)state;
	assert_ok(export_read_line(&set, "f", 1, later, strlen(later), &e), e);
	assert_ok(export_read_end(&set, &e), e);
	assert_int_equal(set.n_runs, 0);
}

static void sets_must_hang_together(void **state)
{
	struct result_trial t = a_trial("a", 1, 1, 1, 7, 5);
	struct result_set set = {0};
	struct buf one = {0}, run = {0};
	struct err e;

	(void)state;
	export_trial(&t, &one);
	assert_ok(export_read_line(&set, "f", 1, one.data, one.len, &e), e);
	assert_int_equal(export_read_end(&set, &e), -1);
	assert_has(e.text, "run 1 has trials, but no line of its own");
	lines_run(&run, 1, "demo", 1, layouts, 2, workloads, 2);
	assert_ok(export_read_line(&set, "f", 2, run.data, run.len, &e), e);
	assert_ok(export_read_end(&set, &e), e);
	assert_string_equal(set.trials[0].layout_name, "hba10");
	assert_string_equal(set.trials[0].workload_name, "7");
	assert_ok(export_read_line(&set, "f", 3, one.data, one.len, &e), e);
	assert_int_equal(export_read_end(&set, &e), -1);
	assert_has(e.text, "trial 1 is there twice");
	result_set_clear(&set);
	buf_free(&one);
	buf_free(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_of_a_trial),
		cmocka_unit_test(rows_stand_in_order),
		cmocka_unit_test(blocks_are_the_replicates),
		cmocka_unit_test(what_does_not_count_is_counted),
		cmocka_unit_test(last_complete_attempt_counts),
		cmocka_unit_test(imports_have_rows_too),
		cmocka_unit_test(export_comes_back_whole),
		cmocka_unit_test(bad_lines_are_named),
		cmocka_unit_test(series_are_read_the_same_in_any_spelling),
		cmocka_unit_test(unknown_types_are_skipped),
		cmocka_unit_test(sets_must_hang_together),
	};

	return cmocka_run_group_tests_name("results", tests, NULL, NULL);
}
