/*
 * Imports: from texts to result sets, through to the verdicts of the three published tests in
 * deploy/examples. Their known answers were computed from the listed times, not taken from what was
 * printed beside them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/test.h"
#include "common/base/json.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/export.h"
#include "coordinator/results/import.h"
#include "coordinator/results/report.h"

static void add(struct result_set *s, const char *name, const char *text,
	const struct import_options *o, uint64_t *ret_run)
{
	struct buf b = {0};
	struct err e = {0};

	buf_adds(&b, text);
	assert_ok(import_text(s, name, &b, o, NULL, ret_run, &e), e);
	buf_free(&b);
}

static void test_trials(void **state)
{
	struct import_options o = {0};
	struct result_set s = {0};
	struct err e = {0};
	uint64_t run = 0;

	(void)state;
	add(&s, "dir/old.box.txt", "host: h\nlayout: a\nworkload: w\n56s\n57s\nlayout: b\n58s\n",
		&o, &run);
	assert_ok(export_read_end(&s, &e), e);
	assert_int_equal(run, 1);
	assert_int_equal(s.n_trials, 3);
	assert_string_equal(s.runs[0].name, "old.box");
	assert_string_equal(s.runs[0].state, "imported");
	assert_string_equal(s.runs[0].design, "unknown");
	assert_int_equal(s.runs[0].layouts.n, 2);
	assert_int_equal(s.trials[1].block, 2);
	assert_int_equal(s.trials[2].block, 1);
	assert_int_equal(s.trials[2].layout, 1);
	assert_string_equal(s.trials[2].layout_name, "b");
	assert_true(s.trials[1].sum.elapsed_ns == 57000000000ll);
	assert_int_equal(s.trials[1].n_printed, 1);
	assert_true(s.trials[1].printed[0].resolution == 1);
	result_set_clear(&s);
}

/* Of several texts too the set stays within its limit, and an export's line too many ends it. */
static void test_set_limit(void **state)
{
	static const char run_line[] =
		"{\"type\":\"run\",\"run\":1,\"name\":\"r\",\"layouts\":[\"a\"],\"workloads\":[\"w\"]}";
	static const char stop_line[] =
		"{\"type\":\"stop\",\"run\":1,\"host\":\"h\",\"block\":1}";
	struct import_options o = {0};
	struct result_set s = {.n_trials = RESULT_SET_MAX - 1}; /* none of them is looked at */
	struct buf b = {0};
	struct err e = {0};
	uint64_t run = 0;

	(void)state;
	assert_int_equal(result_set_room(&s, 1, &e), 0);
	buf_adds(&b, "56s\n57s\n");
	assert_int_equal(import_text(&s, "dir/two.txt", &b, &o, NULL, &run, &e), -1);
	assert_has(e.text, "dir/two.txt: more than 1000000 trials and summaries");
	assert_int_equal(s.n_runs, 0);
	s.n_trials = 0;
	assert_ok(export_read_line(&s, "x.jsonl", 1, run_line, strlen(run_line), &e), e);
	s.n_summaries = RESULT_SET_MAX;
	assert_ok(export_read_line(&s, "x.jsonl", 2, stop_line, strlen(stop_line), &e), e);
	s.n_summaries = RESULT_SET_MAX + 1;
	assert_int_equal(export_read_line(&s, "x.jsonl", 3, stop_line, strlen(stop_line), &e), -1);
	assert_has(e.text, "x.jsonl:3: more than 1000000 trials and summaries");
	s.n_summaries = 0;
	result_set_clear(&s);
	buf_free(&b);
}

/* What a text does not tell is absent: not 0 for the CPU's time, and no build. */
static void test_what_is_not_told(void **state)
{
	struct import_options o = {0};
	struct report_options r = {0};
	struct result_set s = {0};
	struct buf out = {0};
	struct err e = {0};
	json_t *doc, *list, *one;
	uint64_t run = 0;
	size_t i;

	(void)state;
	add(&s, "f.json",
		"{\"fio version\": \"fio-3.33\", \"timestamp_ms\": 1700000000000, \"jobs\": "
		"[{\"jobname\": \"g\", \"error\": 0, \"read\": {\"io_bytes\": 4096000, "
		"\"io_kbytes\": 4000, \"bw\": 4000, \"iops\": 1000.0, \"runtime\": 1000, "
		"\"total_ios\": 1000}}]}\n",
		&o, &run);
	assert_ok(export_read_end(&s, &e), e);
	assert_ok(report_json(&s, &r, &out, &e), e);
	assert_ok(json_parse("report", buf_str(&out), out.len, out.len, &doc, &e), e);
	list = json_object_get(doc, "results");
	assert_int_equal(json_array_size(list), 3);
	json_array_foreach(list, i, one)
	{
		const json_t *trial = json_array_get(json_object_get(one, "trials"), 0);

		assert_string_not_equal(json_get_str(one, "metric", ""), "cpu_per_op");
		assert_true(json_is_string(json_object_get(trial, "started")));
		assert_true(json_is_null(json_object_get(trial, "build")));
	}
	json_decref(doc);
	buf_free(&out);
	result_set_clear(&s);
}

/* name=FILE: each file is a layout of one run. */
static void test_two_files(void **state)
{
	struct import_options o = {.layout = "before"};
	struct result_set s = {0};
	struct err e = {0};
	uint64_t run = 0, again = 0;

	(void)state;
	add(&s, "a", "56s\n57s\n", &o, &run);
	o = (struct import_options){.layout = "after", .into = run};
	add(&s, "b", "50s\n51s\n", &o, &again);
	assert_int_equal(again, run);
	o = (struct import_options){.layout = "before", .into = run};
	add(&s, "c", "58s\nlayout: x\n59s\n", &o, &again);
	assert_ok(export_read_end(&s, &e), e);
	assert_int_equal(s.n_runs, 1);
	assert_int_equal(s.runs[0].layouts.n, 3);
	assert_string_equal(s.runs[0].layouts.v[2], "before x");
	assert_int_equal(s.n_trials, 6);
	assert_int_equal(s.trials[4].block, 3);
	assert_string_equal(s.trials[4].workload_name, "command");
	o.into = 7;
	struct buf b = {0};
	buf_adds(&b, "56s\n");
	assert_int_equal(import_text(&s, "d", &b, &o, NULL, &again, &e), -1);
	assert_has(e.text, "d: there is no run 7");
	assert_int_equal(s.n_trials, 6);
	buf_free(&b);
	result_set_clear(&s);
}

static void refused(struct result_set *s, const char *name, const char *text,
	const struct import_options *o, const char *words)
{
	struct buf b = {0};
	struct err e = {0};
	uint64_t run;

	buf_adds(&b, text);
	assert_int_equal(import_text(s, name, &b, o, NULL, &run, &e), -1);
	assert_has(e.text, words);
	buf_free(&b);
}

/* Neither of two averages of one layout is left out: in one text, nor in a later one. */
static void test_second_summary(void **state)
{
	struct import_options o = {0};
	struct result_set s = {0};
	uint64_t run = 0;

	(void)state;
	refused(&s, "x", "layout: a\nn=10 mean=56s\n\nn=10 mean=80s min=70s max=90s\n", &o,
		"x:4: a second summary of layout 'a', workload 'command' on host 'imported': the "
		"first is in line 2");
	assert_int_equal(s.n_summaries, 0);
	add(&s, "y", "layout: a\nn=10 mean=56s\nn=10 mean=80s host=other\nn=9 mean=5MiB/s\n", &o, &run);
	assert_int_equal(s.n_summaries, 3);
	o.into = run;
	refused(&s, "z", "layout: a\nn=4 mean=57s\n", &o, "the first is in a text before this one");
	add(&s, "z", "layout: b\nn=4 mean=57s\n", &o, &run);
	assert_int_equal(s.n_summaries, 4);
	result_set_clear(&s);
}

static void test_names_from_outside(void **state)
{
	struct import_options o = {.run = "r", .host = "box", .layout = "l", .workload = "w"};
	struct result_set s = {0};
	uint64_t run = 0;

	(void)state;
	add(&s, "a", "1000 bytes (1.0 kB) copied, 1.5 s, 0.7 kB/s\n", &o, &run);
	assert_string_equal(s.runs[0].name, "r");
	assert_string_equal(s.trials[0].host, "box");
	assert_string_equal(s.trials[0].layout_name, "l");
	assert_string_equal(s.trials[0].workload_name, "w");
	assert_int_equal(s.trials[0].sum.bytes, 1000);
	result_set_clear(&s);
}

static void test_failed_trial(void **state)
{
	struct import_options o = {0};
	struct result_set s = {0};
	uint64_t run = 0;

	(void)state;
	add(&s, "a",
		"dd: error writing 'x': No space left on device\n1+0 records in\n"
		"1000 bytes (1.0 kB) copied, 1.5 s, 0.7 kB/s\n"
		"1000 bytes (1.0 kB) copied, 1.6 s, 0.7 kB/s\n",
		&o, &run);
	assert_int_equal(s.n_trials, 2);
	assert_int_equal(s.trials[0].sum.ok, 0);
	assert_has(s.trials[0].sum.error, "No space left");
	assert_int_equal(s.trials[0].n_printed, 0);
	assert_int_equal(s.trials[1].sum.ok, 1);
	result_set_clear(&s);
}

/* Names may change from each result to the next: what counts is how many there are. */
static void test_many_changes(void **state)
{
	struct import_options o = {0};
	struct result_set s = {0};
	struct buf text = {0};
	struct err e = {0};
	uint64_t run;

	(void)state;
	for (int i = 0; i < 12000; i++)
		buf_adds(&text, "workload: a\n10s\nworkload: b\n11s\n");
	assert_ok(import_text(&s, "x", &text, &o, NULL, &run, &e), e);
	assert_ok(export_read_end(&s, &e), e);
	assert_int_equal(s.runs[0].workloads.n, 2);
	assert_int_equal(s.n_trials, 24000);
	assert_int_equal(s.trials[23999].block, 12000);
	result_set_clear(&s);
	buf_reset(&text);
	for (int i = 0; i < 20001; i++)
		buf_addf(&text, "workload: w%d\n10s\n", i);
	assert_int_equal(import_text(&s, "x", &text, &o, NULL, &run, &e), -1);
	assert_has(e.text, "x: results of 1 layouts and 20001 workloads: the limit is 20000 of each");
	assert_int_equal(s.n_runs, 0);
	buf_free(&text);
}

static void test_log(void **state)
{
	struct import_options o = {0};
	struct result_set s = {0};
	struct buf b = {0}, log = {0};
	struct err e = {0};
	uint64_t run;

	(void)state;
	buf_adds(&b, "# a\n# b\n56s\n");
	assert_ok(import_text(&s, "f.txt", &b, &o, &log, &run, &e), e);
	assert_string_equal(
		log.data, "f.txt: read as list\nf.txt:1-2: a comment\nf.txt:3: elapsed 56 s\n");
	buf_free(&b);
	buf_free(&log);
	result_set_clear(&s);
}

static void near(double is, double expected, double within)
{
	if (!(fabs(is - expected) <= within))
		fail_msg("%.6f, expected %.6f", is, expected);
}

/* What was imported can be exported and is the same when it comes back. */
static void test_export_comes_back(void **state)
{
	struct import_options o = {0};
	struct result_set s = {0}, back = {0};
	struct buf lines = {0}, again = {0};
	struct err e = {0};
	uint64_t run = 0;

	(void)state;
	add(&s, "a", "layout: a\nworkload: w\nn=4 mean=56s min=52s max=59s\n", &o, &run);
	o.into = run;
	add(&s, "b", "layout: b\nworkload: w\n56.5s\n57s\n", &o, &run);
	add(&s, "c", "layout: c\nworkload: x\nn=4 mean=50MB/s min=48MB/s max=53MB/s sd=2.1MB/s\n", &o,
		&run);
	add(&s, "d", "layout: d\nworkload: x\n51 MB/s\n50 MiB/s\n", &o, &run);
	assert_ok(export_read_end(&s, &e), e);
	export_run(&s.runs[0], &lines);
	for (size_t i = 0; i < s.n_trials; i++)
		export_trial(&s.trials[i], &lines);
	for (size_t i = 0; i < s.n_summaries; i++)
		export_summary(&s.summaries[i], &lines);
	export_end(s.runs[0].id, export_count_lines(&lines, 0), &lines);
	buf_add(&again, lines.data, lines.len);
	o.into = 0;
	assert_ok(import_text(&back, "export", &again, &o, NULL, &run, &e), e);
	assert_int_equal(run, 0);
	assert_ok(export_read_end(&back, &e), e);
	assert_int_equal(back.n_trials, 4);
	assert_int_equal(back.n_summaries, 2);
	assert_true(isnan(back.summaries[0].stddev) && !back.summaries[0].unit_assumed);
	near(back.summaries[1].stddev, 2.1e6, 1);
	near(back.summaries[1].stddev_resolution, 1e5, 1);
	assert_true(back.summaries[1].unit_assumed);
	assert_true(back.trials[2].printed[0].unit_assumed);
	assert_false(back.trials[3].printed[0].unit_assumed);
	assert_true(back.summaries[0].mean == 56 && back.summaries[0].n == 4);
	assert_true(back.trials[0].printed[0].value == 56.5);
	buf_free(&lines);
	buf_free(&again);
	result_set_clear(&s);
	result_set_clear(&back);
	buf_adds(&again, "{\"type\":\"run\",\"run\":1}\n");
	assert_int_equal(import_text(&back, "export", &again, &o, NULL, &run, &e), -1);
	assert_has(e.text, "export:1:");
	buf_free(&again);
	result_set_clear(&back);
}

static void example(const char *name, struct result_set *s, struct analysis *a)
{
	struct import_options o = {0};
	struct err e = {0};
	uint64_t run;
	char path[128];

	snprintf(path, sizeof(path), "deploy/examples/%s.txt", name);
	assert_ok(import_file(s, path, &o, NULL, &run, &e), e);
	assert_ok(export_read_end(s, &e), e);
	assert_ok(analysis_make(s, a, &e), e);
	assert_string_equal(s->runs[0].name, name);
}

static const struct result_row *row(
	const struct analysis *a, const char *host, const char *layout, const char *workload)
{
	for (size_t i = 0; i < a->n_rows; i++)
		if (!strcmp(a->rows[i].host, host) && !strcmp(a->rows[i].layout, layout) &&
			!strcmp(a->rows[i].workload, workload) &&
			a->rows[i].metric == a->runs[0].headline[a->rows[i].workload_index])
			return &a->rows[i];
	fail_msg("no row %s/%s/%s", host, layout, workload);
	return NULL;
}

static const struct result_comparison *comparison(const struct analysis *a, const char *host,
	const char *base, const char *subject, const char *workload)
{
	for (size_t i = 0; i < a->n_comparisons; i++) {
		const struct result_comparison *c = &a->comparisons[i];

		if (!strcmp(c->base, base) && !strcmp(c->subject, subject) &&
			!strcmp(c->workload, workload) && (!c->host || !strcmp(c->host, host)))
			return c;
	}
	fail_msg("no comparison of %s with %s on %s", subject, base, workload);
	return NULL;
}

/* m:ss.mmm as the known answers have them. */
static void test_raidz2(void **state)
{
	struct result_set s = {0};
	struct analysis a;

	(void)state;
	example("raidz2-8-vs-10-disks", &s, &a);
	near(row(&a, "knew", "hba8", "load")->mean, 18 * 60 + 22.991, 0.0006);
	near(row(&a, "knew", "hba8+board2", "load")->mean, 18 * 60 + 21.243, 0.0006);
	near(row(&a, "knew", "hba8+sata2", "load")->mean, 18 * 60 + 25.832, 0.0006);
	near(row(&a, "knew", "hba8", "dump")->mean, 8 * 60 + 44.251, 0.0006);
	near(row(&a, "knew", "hba8+board2", "dump")->mean, 9 * 60 + 7.556, 0.0006);
	near(row(&a, "knew", "hba8+sata2", "dump")->mean, 9 * 60 + 15.487, 0.0006);
	assert_int_equal(row(&a, "knew", "hba8", "dump")->n, 4);
	assert_int_equal(comparison(&a, "knew", "hba8", "hba8+board2", "load")->c.verdict,
		VERDICT_NO_DIFFERENCE);
	assert_int_equal(comparison(&a, "knew", "hba8", "hba8+sata2", "load")->c.verdict,
		VERDICT_NO_DIFFERENCE);
	assert_int_equal(
		comparison(&a, "knew", "hba8", "hba8+board2", "dump")->c.verdict, VERDICT_SLOWER);
	assert_int_equal(
		comparison(&a, "knew", "hba8", "hba8+sata2", "dump")->c.verdict, VERDICT_SLOWER);
	near(exp(comparison(&a, "knew", "hba8", "hba8+sata2", "dump")->c.d), 1.060, 0.0006);
	analysis_clear(&a);
	result_set_clear(&s);
}

static void test_hardware_raid(void **state)
{
	struct result_set s = {0};
	struct analysis a;
	const struct result_comparison *c;

	(void)state;
	example("zfs-vs-hardware-raid", &s, &a);
	assert_int_equal(s.n_summaries, 16); /* times and throughputs */
	c = comparison(&a, "imported", "raid6", "raidz2", "H700-write");
	assert_int_equal(c->c.verdict, VERDICT_FASTER);
	near(exp(c->c.d) - 1, -0.82, 0.005);
	c = comparison(&a, "imported", "raid6", "raidz2", "H700-read");
	assert_int_equal(c->c.verdict, VERDICT_FASTER);
	near(exp(c->c.d) - 1, -0.53, 0.005);
	near(exp(c->c.lo) - 1, -0.59, 0.005);
	near(exp(c->c.hi) - 1, -0.45, 0.005);
	c = comparison(&a, "imported", "raid6", "raidz2", "H800-read");
	assert_int_equal(c->c.verdict, VERDICT_NO_DIFFERENCE);
	near(exp(c->c.d) - 1, 0.034, 0.0006);
	for (size_t i = 0; i < s.n_summaries; i++)
		assert_int_equal(s.summaries[i].data.known && s.summaries[i].data.kind == DATA_ZERO, 1);
	near(exp(c->c.lo) - 1, -0.06, 0.0006);
	near(exp(c->c.hi) - 1, 0.139, 0.0006);
	analysis_clear(&a);
	result_set_clear(&s);
}

/* 30720 MiB over the mean times, in whole MiB/s, as the page of the test has them. */
static void test_hardware_raid_throughput(void **state)
{
	static const struct {
		const char *host, *layout, *workload;
		double rate;
	} rates[] = {{"imported", "raidz2", "H700-write", 549}, {"imported", "raidz2", "H700-read", 415},
		{"imported", "raid6", "H700-write", 101}, {"imported", "raid6", "H700-read", 197},
		{"imported", "raidz2", "H800-write", 1097}, {"imported", "raidz2", "H800-read", 1024},
		{"imported", "raid6", "H800-write", 209}, {"imported", "raid6", "H800-read", 1059}};
	static const char *const told[] = {" 305s  [265…342]   101 MiB/s", "  56s  [52…59]     549 MiB/s",
		"  28s  [28…30]    1097 MiB/s", "  29s  [29…31]    1059 MiB/s", "  30s  [30…34]    1024 MiB/s"};
	struct report_options o = {0};
	struct result_set s = {0};
	struct analysis a;
	struct buf out = {0};
	struct err e = {0};

	(void)state;
	example("zfs-vs-hardware-raid", &s, &a);
	assert_int_equal(a.runs[0].headline[0], METRIC_ELAPSED);
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		near(round(row(&a, rates[i].host, rates[i].layout, rates[i].workload)->throughput /
			     1048576),
			rates[i].rate, 0.5);
	analysis_clear(&a);
	assert_ok(report_text(&s, &o, &out, &e), e);
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		assert_has(buf_str(&out), told[i]);
	buf_reset(&out);
	s.wish.only = 1;
	s.wish.metrics[s.wish.n_metrics++] = METRIC_THROUGHPUT;
	assert_ok(report_text(&s, &o, &out, &e), e);
	assert_has(buf_str(&out), "n  MiB/s  [min…max]");
	assert_has(buf_str(&out), "raidz2      10    549  ");
	assert_has(buf_str(&out), "raidz2      10   1097  ");
	assert_has(buf_str(&out), "raid6       10   1059  ");
	assert_has(buf_str(&out), "raidz2      10   1024  ");
	buf_free(&out);
	result_set_clear(&s);
}

/* Of three digits alone both sides of each would look the same. */
static void test_means_that_are_told_apart_look_different(void **state)
{
	static const struct {
		const char *a, *b, *a_row, *b_row;
	} sides[] = {
		{"101.20MiB/s\n101.21MiB/s\n101.22MiB/s\n", "101.35MiB/s\n101.36MiB/s\n101.37MiB/s\n",
			"a        3  101.2  ", "b        3  101.4  "},
		{"18m22.9910s\n18m22.9911s\n18m22.9909s\n", "18m22.9940s\n18m22.9941s\n18m22.9939s\n",
			"a        3  18m22.991s  ", "b        3  18m22.994s  "},
		{"7294.1 ops/s\n7294.2 ops/s\n7294.0 ops/s\n", "7293.6 ops/s\n7293.7 ops/s\n7293.5 ops/s\n",
			"a        3  7294.1  ", "b        3  7293.6  "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
		struct import_options o = {0};
		struct report_options r = {0};
		struct result_set s = {0};
		struct buf text = {0}, out = {0};
		struct err e = {0};
		uint64_t run;

		buf_addf(&text, "layout: a\n%slayout: b\n%s", sides[i].a, sides[i].b);
		add(&s, "x", text.data, &o, &run);
		assert_ok(export_read_end(&s, &e), e);
		assert_ok(report_text(&s, &r, &out, &e), e);
		assert_has(out.data, sides[i].a_row);
		assert_has(out.data, sides[i].b_row);
		buf_free(&text);
		buf_free(&out);
		result_set_clear(&s);
	}
}

/* Times of one layout and rates of another are compared by what both have. */
static void test_shared_metric(void **state)
{
	struct import_options o = {0};
	struct result_set s = {0};
	struct analysis a;
	struct err e = {0};
	uint64_t run;

	(void)state;
	add(&s, "x",
		"bytes: 1GiB\nlayout: a\n10.1\n10.2\n10.3\nlayout: b\n549 MB/s\n550 MB/s\n551 MB/s\n"
		"workload: w\nlayout: a\n1s\nlayout: b\n2s\n",
		&o, &run);
	add(&s, "y", "bytes: 1GiB\nlayout: a\nn=4 mean=9s\nlayout: b\nn=4 mean=5MiB/s\n", &o, &run);
	assert_ok(export_read_end(&s, &e), e);
	assert_ok(analysis_make(&s, &a, &e), e);
	assert_int_equal(a.runs[0].headline[0], METRIC_THROUGHPUT);
	assert_int_equal(a.runs[0].headline[1], METRIC_ELAPSED);
	assert_int_equal(a.runs[1].headline[0], METRIC_THROUGHPUT);
	assert_int_equal(a.comparisons[0].metric, METRIC_THROUGHPUT);
	assert_int_equal(a.comparisons[0].c.verdict, VERDICT_FASTER);
	analysis_clear(&a);
	result_set_clear(&s);
}

static void test_varmail(void **state)
{
	static const struct {
		const char *layout;
		double mean;
	} means[] = {{"zfs-on-hw-raid5", 7294.35}, {"raidz", 7567.55},
		{"ufs-on-hw-raid5 S10U2", 6512.15}, {"raidz S10U2", 7598.80}};
	struct result_set s = {0};
	struct analysis a;

	(void)state;
	example("raid5-varmail", &s, &a);
	assert_int_equal(a.runs[0].headline[0], METRIC_OPS);
	for (size_t i = 0; i < sizeof(means) / sizeof(means[0]); i++)
		near(row(&a, "v440", means[i].layout, "varmail")->mean, means[i].mean, 1e-6);
	assert_true(a.n_comparisons > 0);
	for (size_t i = 0; i < a.n_comparisons; i++)
		assert_int_equal(a.comparisons[i].c.verdict, VERDICT_TOO_FEW);
	analysis_clear(&a);
	result_set_clear(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trials),
		cmocka_unit_test(test_set_limit),
		cmocka_unit_test(test_what_is_not_told),
		cmocka_unit_test(test_two_files),
		cmocka_unit_test(test_second_summary),
		cmocka_unit_test(test_names_from_outside),
		cmocka_unit_test(test_failed_trial),
		cmocka_unit_test(test_many_changes),
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_export_comes_back),
		cmocka_unit_test(test_raidz2),
		cmocka_unit_test(test_hardware_raid),
		cmocka_unit_test(test_hardware_raid_throughput),
		cmocka_unit_test(test_means_that_are_told_apart_look_different),
		cmocka_unit_test(test_shared_metric),
		cmocka_unit_test(test_varmail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
