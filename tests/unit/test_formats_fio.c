/* What of fio's output is one trial, which trials failed, and how fine their figures are. */
#include <stdio.h>

#include "tests/unit/test.h"

#include "common/base/mem.h"
#include "tests/unit/formats_kit.h"

/* One job: its members behind the name, and the bytes that it wrote in so many ms. */
struct job {
	const char *name, *members;
	long bytes, ms;
};

static void add_document(struct buf *b, const char *members, const struct job *jobs, size_t n)
{
	buf_addf(b, "{ \"fio version\" : \"fio-3.33\", %s\"jobs\" : [", members);
	for (size_t i = 0; i < n; i++)
		buf_addf(b,
			"%s{\"jobname\" : \"%s\", %s\"read\" : {\"io_bytes\" : 0, \"io_kbytes\" : 0, "
			"\"runtime\" : 0, \"total_ios\" : 0}, \"write\" : {\"io_bytes\" : %ld, "
			"\"io_kbytes\" : %ld, \"runtime\" : %ld, \"total_ios\" : %ld}}",
			i ? ", " : "", jobs[i].name, jobs[i].members, jobs[i].bytes, jobs[i].bytes / 1024,
			jobs[i].ms, jobs[i].bytes / 4096);
	buf_adds(b, "]}\n");
}

#define FAILED_EARLY "\"error\" : 5, \"job options\" : {\"rw\" : \"randwrite\"}, "

/* Jobs that ran together add up; stages of one name that ran after each other do not; one that failed
 * takes those with it that ran with it. */
static void jobs_of_one_name_and_group_are_one_trial(void **state)
{
	static const struct {
		const char *name;
		struct job jobs[3];
		size_t n, records, failed;
		double throughput; /* of the first that did not fail */
	} table[] = {
		{"one group", {{"a", "\"groupid\" : 0, ", 4096000, 1000}, {"a", "\"groupid\" : 0, ", 4096000, 1000}},
			2, 1, 0, 8192000},
		{"no group is said", {{"a", "", 4096000, 1000}, {"a", "", 4096000, 1000}}, 2, 1, 0, 8192000},
		{"two groups", {{"a", "\"groupid\" : 0, ", 4096000, 1000}, {"a", "\"groupid\" : 1, ", 4096000, 1000}},
			2, 2, 0, 4096000},
		{"one failed before it wrote", {{"a", "", 4096000, 1000}, {"a", FAILED_EARLY, 0, 0}}, 2, 1, 1, NAN},
		{"the first failed before it wrote", {{"a", FAILED_EARLY, 0, 0}, {"a", "", 4096000, 1000}}, 2, 1, 1,
			NAN},
		{"one of another name failed", {{"a", "", 4096000, 1000}, {"b", FAILED_EARLY, 0, 0}}, 2, 2, 1,
			4096000},
		{"one of another group failed",
			{{"a", "\"groupid\" : 1, ", 4096000, 1000}, {"a", FAILED_EARLY, 0, 0}}, 2, 2, 1, 4096000},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		static const struct job good = {"z", "", 4096, 1000};
		struct format_found f = {0};
		struct buf b = {0};
		size_t failed = 0, first = SIZE_MAX;

		add_document(&b, "", table[i].jobs, table[i].n);
		add_document(&b, "", &good, 1);
		kit_good(b.data, "fio", &f);
		for (size_t k = 0; k + 1 < f.n_records; k++) {
			failed += f.records[k].error != NULL;
			first = !f.records[k].error && first == SIZE_MAX ? k : first;
			assert_string_equal(strchr(f.records[k].workload, ' '), " write");
		}
		if (f.n_records != table[i].records + 1 || failed != table[i].failed)
			fail_msg("%s: %zu records, %zu failed", table[i].name, f.n_records - 1, failed);
		if (first != SIZE_MAX)
			kit_near(kit_value(&f.records[first], "throughput")->value, table[i].throughput,
				table[i].name);
		format_found_clear(&f);
		buf_free(&b);
	}
	kit_bad("{\"fio version\" : \"x\", \"jobs\" : [{\"jobname\" : \"a\", \"error\" : 5, \"mixed\" : "
		"{\"io_bytes\" : 0, \"runtime\" : 0}}]}",
		NULL, "x:1: no result: fio reports error 5");
}

/* States of one run: the last counts, also of a job that had ended when it was written. */
static void states_and_runs_are_told_apart(void **state)
{
	static const struct {
		const char *name;
		struct {
			const char *members;
			struct job jobs[2];
			size_t n;
		} documents[2];
		size_t records;
	} table[] = {
		{"the first of two stages ended long before",
			{{"\"timestamp_ms\" : 1700000005000, ", {{"a", "\"elapsed\" : 5, ", 4096, 5000}}, 1},
				{"\"timestamp_ms\" : 1700000030000, ",
					{{"a", "\"elapsed\" : 30, ", 8192, 10000}, {"b", "\"elapsed\" : 30, ", 4096, 19000}},
					2}},
			2},
		{"another run of the same job",
			{{"\"timestamp_ms\" : 1700000005000, ", {{"a", "\"elapsed\" : 5, ", 4096, 5000}}, 1},
				{"\"timestamp_ms\" : 1700000010500, ", {{"a", "\"elapsed\" : 6, ", 8192, 5000}}, 1}},
			2},
		{"another run, of a time in whole seconds",
			{{"\"timestamp\" : 1700000005, ", {{"a", "\"elapsed\" : 6, ", 4096, 5500}}, 1},
				{"\"timestamp\" : 1700000011, ", {{"a", "\"elapsed\" : 6, ", 4096, 5500}}, 1}},
			2},
		{"one start of the job",
			{{"\"timestamp_ms\" : 1700000005000, ", {{"a", "\"job_start\" : 1700000000100, ", 4096, 4900}}, 1},
				{"\"timestamp_ms\" : 1700000030000, ",
					{{"a", "\"job_start\" : 1700000000100, ", 8192, 10000}}, 1}},
			1},
		{"two starts of the job",
			{{"\"timestamp_ms\" : 1700000005000, ", {{"a", "\"job_start\" : 1700000000100, ", 4096, 4900}}, 1},
				{"\"timestamp_ms\" : 1700000010000, ",
					{{"a", "\"job_start\" : 1700000004900, ", 8192, 5100}}, 1}},
			2},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct format_found f = {0};
		struct buf b = {0};

		for (size_t k = 0; k < 2; k++)
			add_document(&b, table[i].documents[k].members, table[i].documents[k].jobs,
				table[i].documents[k].n);
		kit_good(b.data, "fio", &f);
		if (f.n_records != table[i].records)
			fail_msg("%s: %zu records", table[i].name, f.n_records);
		format_found_clear(&f);
		buf_free(&b);
	}
}

/* A monotonic clock's job_start is no time of day. */
static void a_start_by_another_clock_is_no_time_of_day(void **state)
{
	static const struct job jobs[] = {{"a", "\"job_start\" : 5000, ", 4096, 1000}};
	struct format_found f = {0};
	struct buf b = {0};

	(void)state;
	add_document(&b, "\"timestamp_ms\" : 1700000005000, ", jobs, 1);
	kit_good(b.data, "fio", &f);
	assert_true(f.records[0].started_wall_ns == 1700000004000000000ll);
	format_found_clear(&f);
	buf_free(&b);
}

static void what_a_signal_ended_failed(void **state)
{
	static const struct job jobs[] = {{"a", "", 4096, 1000}};
	static const struct job errors[] = {
		{"a", "\"error\" : 0, \"total_err\" : 7, \"first_error\" : 5, ", 4096, 1000}};
	struct format_found f = {0};
	struct buf b = {0};

	(void)state;
	buf_adds(&b, "\nfio: terminating on signal 2\n");
	add_document(&b, "", jobs, 1);
	add_document(&b, "", jobs, 1);
	kit_good(b.data, "fio", &f);
	assert_int_equal(f.n_records, 2);
	assert_string_equal(f.records[0].error, "fio was ended by a signal");
	assert_null(f.records[1].error);
	assert_has(kit_note(&f, 2), "a signal ended it");
	format_found_clear(&f);
	/* Errors that it went on behind are told, once. */
	buf_reset(&b);
	add_document(&b, "", errors, 1);
	kit_good(b.data, "fio", &f);
	assert_null(f.records[0].error);
	assert_has(kit_note(&f, 1), "continue_on_error");
	assert_true(f.notes[0].doubt);
	format_found_clear(&f);
	buf_free(&b);
}

/* One terse line of version 3, whose writes are as given. */
static void add_terse(struct buf *b, const char *name, int group, long kib, long iops, long ms,
	const char *p99)
{
	static const char zeros[] = ";0;0;0.0;0.0";

	buf_addf(b, "3;fio-3.33;%s;%d;0;0;0;0;0%s%s", name, group, zeros, zeros);
	for (int i = 0; i < 20; i++)
		buf_adds(b, ";0%=0");
	buf_addf(b, "%s;0;0;0.000000%%;0.0;0.0;%ld;0;%ld;%ld%s;2;89;2.5;3.6", zeros, kib, iops, ms, zeros);
	for (int i = 0; i < 20; i++)
		buf_addf(b, i == 12 ? ";99.000000%%=%s" : ";0%%=0", p99);
	buf_addf(b, ";2;90;2.6;3.6;0;0;0.000000%%;0.0;0.0;0.1%%;0.2%%;10;0;5\n");
}

/* Whole operations a second and whole us are what a terse line has. */
static void terse_figures_are_as_coarse_as_printed(void **state)
{
	struct format_found f = {0};
	struct buf b = {0};

	(void)state;
	add_terse(&b, "a", 0, 4096, 12, 60000, "95");
	kit_good(b.data, "fio", &f);
	kit_near(kit_value(&f.records[0], "ops_per_s")->value, 12, "ops/s");
	kit_near(kit_value(&f.records[0], "ops_per_s")->resolution, 1 + 12e-3 / 60, "its step");
	kit_near(kit_value(&f.records[0], "throughput")->resolution,
		1024 / 60.0 + 4194304 / 60.0 * 1e-3 / 60, "throughput's step");
	kit_near(kit_value(&f.records[0], "latency_max")->value, 89000, "max");
	/* the middle of the last bin */
	kit_near(kit_value(&f.records[0], "latency_p99")->value, 89000, "p99 above the maximum");
	format_found_clear(&f);
	buf_free(&b);
}

static void terse_lines_that_could_be_of_one_run_are_told_once(void **state)
{
	static const struct {
		const char *first, *second;
		int group;
		const char *between;
		size_t doubts;
	} table[] = {{"a", "a", 0, "", 1}, {"a", "b", 0, "", 0}, {"a", "a", 1, "", 0}, {"a", "a", 0, "run 2\n", 0}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct format_found f = {0};
		struct buf b = {0};
		size_t doubts = 0;

		add_terse(&b, table[i].first, 0, 4096, 12, 60000, "5");
		buf_adds(&b, table[i].between);
		add_terse(&b, table[i].second, table[i].group, 4096, 12, 60000, "5");
		buf_adds(&b, table[i].between);
		add_terse(&b, table[i].second, table[i].group + 1, 4096, 12, 60000, "5");
		kit_good(b.data, "fio", &f);
		assert_int_equal(f.n_records, 3);
		for (size_t k = 0; k < f.n_notes; k++)
			doubts += f.notes[k].doubt != 0;
		if (doubts != table[i].doubts)
			fail_msg("%zu: %zu doubts", i, doubts);
		format_found_clear(&f);
		buf_free(&b);
	}
}

/* --output-format=terse,json prints the jobs twice: line by line, and together. */
static void jobs_in_both_formats_are_counted_once(void **state)
{
	static const struct {
		long kib[2]; /* of terse lines; 0: none */
		const char *name;
		size_t records;
	} table[] = {{{2000, 2000}, "a", 1}, {{1999, 2000}, "a", 1}, {{4001, 0}, "a", 2}, {{3990, 0}, "a", 2},
		{{4000, 0}, "b", 2}};
	static const struct job jobs[] = {{"a", "\"groupid\" : 0, ", 2048000, 1000}, {"a", "", 2048100, 1000}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct format_found f = {0};
		struct buf b = {0};

		for (size_t k = 0; k < 2 && table[i].kib[k]; k++)
			add_terse(&b, table[i].name, 0, table[i].kib[k], 12, 1000, "5");
		add_document(&b, "", jobs, 2);
		kit_good(b.data, "fio", &f);
		if (f.n_records != table[i].records)
			fail_msg("%zu: %zu records", i, f.n_records);
		if (f.n_records == 1) {
			assert_int_equal(f.records[0].bytes, 4096100);
			assert_has(kit_note(&f, 1), "of the jobs of the document in line 3");
			assert_has(kit_note(&f, 2), "of the jobs of the document in line 3");
			for (size_t k = 0; k < f.n_notes; k++)
				assert_int_equal(f.notes[k].doubt, 0);
		}
		format_found_clear(&f);
		buf_free(&b);
	}
}

/* fio 2 printed percentiles in whole us. */
static void figures_of_fio_2_are_as_coarse_as_printed(void **state)
{
	struct format_found f = {0};

	(void)state;
	kit_good("{ \"fio version\" : \"fio-2.2.10\", \"jobs\" : [ { \"jobname\" : \"g\", \"error\" : 0, "
		 "\"write\" : { \"io_bytes\" : 400000, \"bw\" : 6666, \"iops\" : 1666.67, \"runtime\" : 60000, "
		 "\"clat\" : { \"min\" : 1, \"max\" : 900, \"mean\" : 50.5, \"percentile\" : { \"50.000000\" : 40 "
		 "} } } } ] }",
		"fio", &f);
	kit_near(kit_value(&f.records[0], "latency_p50")->resolution, 1000, "p50");
	kit_near(kit_value(&f.records[0], "latency_max")->resolution, 1000, "max");
	assert_true(kit_value(&f.records[0], "latency_mean")->resolution == 0);
	format_found_clear(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_of_one_name_and_group_are_one_trial),
		cmocka_unit_test(states_and_runs_are_told_apart),
		cmocka_unit_test(a_start_by_another_clock_is_no_time_of_day),
		cmocka_unit_test(what_a_signal_ended_failed),
		cmocka_unit_test(terse_figures_are_as_coarse_as_printed),
		cmocka_unit_test(terse_lines_that_could_be_of_one_run_are_told_once),
		cmocka_unit_test(jobs_in_both_formats_are_counted_once),
		cmocka_unit_test(figures_of_fio_2_are_as_coarse_as_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
