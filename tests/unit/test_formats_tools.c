/* fio, bonnie++, iozone and elbencho: outputs written by hand in the shapes that the tools print.
 */
#include <stdio.h>

#include "tests/unit/test.h"

#include "common/base/mem.h"
#include "tests/unit/formats_kit.h"
#include "common/measure/hist.h"

/* A side of a fio job: `bytes` in `ms`, with `latency` as the rest of the object. */
static void side(struct buf *b, const char *op, long long bytes, long ms, const char *latency)
{
	buf_addf(b,
		"\"%s\" : {\"io_bytes\" : %lld, \"io_kbytes\" : %lld, \"bw\" : %lld, \"iops\" : "
		"0.0, "
		"\"runtime\" : %ld, \"total_ios\" : %lld%s%s}",
		op, bytes, bytes / 1024, ms ? bytes / 1024 * 1000 / ms : 0, ms, bytes / 4096,
		*latency ? ", " : "", latency);
}

static void doc_open(struct buf *b, long long written_ms)
{
	buf_addf(b,
		"{\n  \"fio version\" : \"fio-3.33\",\n  \"timestamp_ms\" : %lld,\n  \"jobs\" : "
		"[\n",
		written_ms);
}

static void job(struct buf *b, const char *name, int error, long long read, long long written,
	long ms, const char *latency)
{
	buf_addf(b, "    {\"jobname\" : \"%s\", \"error\" : %d, ", name, error);
	side(b, "read", read, read ? ms : 0, read ? latency : "");
	buf_adds(b, ", ");
	side(b, "write", written, written ? ms : 0, written ? latency : "");
	buf_adds(b, "}");
}

static const char *const with_percentiles =
	"\"clat_ns\" : {\"min\" : 1000, \"max\" : 900000, \"mean\" : 50000.5, \"N\" : 1000, "
	"\"percentile\" : {\"50.000000\" : 40192, \"99.000000\" : 700416, \"99.900000\" : 880640, "
	"\"0.00\" : 0, \"0.00\" : 0}}, "
	"\"lat_ns\" : {\"min\" : 1100, \"max\" : 900100, \"mean\" : 50100.5, \"N\" : 1000}";

static void test_fio(void **state)
{
	struct format_found f = {0};
	struct buf b = {0};

	(void)state;
	buf_adds(&b, "g: (g=0): rw=randread\nfio-3.33\n");
	doc_open(&b, 1700000060000ll);
	job(&b, "g", 0, 409600000, 0, 60000, with_percentiles);
	buf_adds(&b, "\n  ]\n}\n\nRun status group 0 (all jobs):\n");
	kit_good(b.data, "fio", &f);
	assert_int_equal(f.n_records, 1);
	assert_string_equal(f.records[0].workload, "g read");
	assert_string_equal(f.records[0].op, "read");
	assert_int_equal(f.records[0].line, 3);
	assert_true(f.records[0].started_wall_ns == 1700000000000000000ll);
	assert_string_equal(f.records[0].v[0].metric, "ops_per_s");
	kit_near(f.records[0].v[0].value, 100000 / 60.0, "ops/s");
	kit_near(kit_value(&f.records[0], "throughput")->value, 409600000 / 60.0, "throughput");
	kit_near(kit_value(&f.records[0], "elapsed")->resolution, 0.001, "resolution");
	kit_near(kit_value(&f.records[0], "latency_mean")->value, 50000.5, "mean");
	kit_near(kit_value(&f.records[0], "latency_p99")->value, 700416, "p99");
	kit_near(kit_value(&f.records[0], "latency_max")->value, 900000, "max");
	assert_has(kit_note(&f, 1), "not used");
	assert_has(kit_note(&f, 8), "fio: 1 result");
	assert_has(kit_note(&f, 11), "not used");
	format_found_clear(&f);
	buf_free(&b);
}

/* fio 2 printed us under clat and KiB under io_bytes. */
static void test_fio_of_old(void **state)
{
	const char *text =
		"{ \"fio version\" : \"fio-2.2.10\", \"jobs\" : [ { \"jobname\" : \"g\", "
		"\"error\" : 0, \"write\" : { \"io_bytes\" : 400000, \"bw\" : 6666, "
		"\"iops\" : 1666.67, \"runtime\" : 60000, \"clat\" : { \"min\" : 1, "
		"\"max\" : 900, \"mean\" : 50.5, \"percentile\" : { \"50.000000\" : 40 } "
		"} } } ] }";
	struct format_found f = {0};

	(void)state;
	kit_good(text, "fio", &f);
	assert_int_equal(f.n_records, 1);
	assert_int_equal(f.records[0].bytes, 409600000);
	assert_int_equal(f.records[0].ops, 100000);
	kit_near(kit_value(&f.records[0], "latency_mean")->value, 50500, "mean");
	kit_near(kit_value(&f.records[0], "latency_p50")->value, 40000, "p50");
	format_found_clear(&f);
}

/* Jobs of one name that ran together: bytes add up, the time is the longest, bins merge. */
static void test_fio_bins(void **state)
{
	const char *one =
		"\"clat_ns\" : {\"min\" : 100, \"max\" : 1010, \"mean\" : 554.0, \"N\" : 4, "
		"\"bins\" : {\"100\" : 1, \"129\" : 1, \"980\" : 1, \"1012\" : 1}}";
	const char *two = "\"clat_ns\" : {\"min\" : 126, \"max\" : 25000000000, \"mean\" : "
			  "8390000000.0, \"N\" : 3, \"bins\" : {\"126\" : 1, \"17112760320\" : 2}}";
	struct format_found f = {0};
	struct hist h;
	struct buf b = {0};
	struct err e;

	(void)state;
	doc_open(&b, 1700000060000ll);
	job(&b, "g", 0, 16384, 0, 60000, one);
	buf_adds(&b, ",\n");
	job(&b, "g", 0, 12288, 0, 59000, two);
	buf_adds(&b, "]}");
	kit_good(b.data, "fio", &f);
	assert_int_equal(f.n_records, 1);
	assert_int_equal(f.records[0].bytes, 28672);
	assert_int_equal(f.records[0].ops, 7);
	kit_near(f.records[0].seconds, 60, "seconds");
	assert_ok(hist_decode(f.records[0].hist, f.records[0].hist_len, &h, &e), e);
	assert_int_equal(h.count, 7);
	assert_int_equal(h.min, 100);
	assert_true(h.max == 25000000000ull);
	assert_int_equal(h.bucket[hist_index(129)], 1);
	/* fio's last bin: one of its two is the maximum, the other stays where it was. */
	assert_int_equal(h.bucket[hist_index(17112760320ull)], 1);
	assert_int_equal(h.bucket[hist_index(25000000000ull)], 1);
	assert_int_equal(hist_percentile(&h, 0.01), 100);
	format_found_clear(&f);
	buf_free(&b);
}

/* Percentiles of parts are not averaged: without bins there are none of the whole. */
static void test_fio_two_jobs_without_bins(void **state)
{
	struct format_found f = {0};
	struct buf b = {0};

	(void)state;
	doc_open(&b, 1700000060000ll);
	job(&b, "g", 0, 409600000, 0, 60000, with_percentiles);
	buf_adds(&b, ",");
	job(&b, "g", 0, 409600000, 4096, 60000, with_percentiles);
	buf_adds(&b, "]}");
	kit_good(b.data, "fio", &f);
	assert_int_equal(f.n_records, 2);
	assert_true(isnan(kit_value(&f.records[0], "latency_p99")->value));
	kit_near(kit_value(&f.records[0], "latency_mean")->value, 50000.5, "mean");
	kit_near(kit_value(&f.records[0], "throughput")->value, 819200000 / 60.0, "throughput");
	assert_string_equal(f.records[1].workload, "g write");
	format_found_clear(&f);
	buf_free(&b);
}

/* Documents that follow each other: states of one run, or runs. */
static void test_fio_documents(void **state)
{
	struct format_found f = {0};
	struct buf b = {0};

	(void)state;
	for (int i = 1; i <= 3; i++) {
		doc_open(&b, 1700000000000ll + i * 1000);
		job(&b, "g", 0, 4096 * i, 0, i * 1000, "");
		buf_adds(&b, "]}\n");
	}
	kit_good(b.data, "fio", &f);
	assert_int_equal(f.n_records, 1);
	assert_int_equal(f.records[0].ops, 3);
	assert_has(kit_note(&f, 1), "an earlier state of the document in line 6");
	format_found_clear(&f);
	buf_reset(&b);
	/* All on one line, with text behind the last. */
	for (int i = 1; i <= 2; i++)
		buf_addf(&b,
			"{\"fio version\" : \"x\", \"timestamp_ms\" : 1700000%d00000, \"jobs\" : "
			"[{\"jobname\" : \"g\", \"read\" : {\"io_bytes\" : 4096, \"io_kbytes\" : "
			"4, \"runtime\" : 10}}]}",
			i);
	buf_adds(&b, " done\nmore\n");
	kit_good(b.data, "fio", &f);
	assert_int_equal(f.n_records, 2);
	assert_int_equal(f.records[1].line, 1);
	assert_int_equal(f.notes[f.n_notes - 1].last, 2);
	for (size_t i = 0; i < f.n_notes; i++)
		assert_true(f.notes[i].first <= f.notes[i].last);
	format_found_clear(&f);
	buf_reset(&b);
	for (int i = 1; i <= 3; i++) {
		doc_open(&b, 1700000000000ll + i * 61000);
		job(&b, "g", 0, 409600, 0, 60000, "");
		buf_adds(&b, "]}");
	}
	kit_good(b.data, "fio", &f);
	assert_int_equal(f.n_records, 3);
	assert_true(f.records[0].started_wall_ns < f.records[1].started_wall_ns);
	for (size_t i = 0; i < f.n_notes; i++)
		assert_true(f.notes[i].first <= f.notes[i].last);
	format_found_clear(&f);
	buf_free(&b);
}

static void test_fio_clients(void **state)
{
	struct format_found f = {0};
	struct buf b = {0};

	(void)state;
	buf_adds(&b, "{\"fio version\" : \"fio-3.33\", \"client_stats\" : [");
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = {"g", "g", "All clients"};
		static const char *const hosts[] = {"a", "b", "b"};

		buf_addf(&b, "%s{\"jobname\" : \"%s\", \"hostname\" : \"%s\", \"error\" : 0, ",
			i ? "," : "", names[i], hosts[i]);
		side(&b, "write", i == 2 ? 12288 : 4096 * (i + 1), 1000, "");
		buf_adds(&b, "}");
	}
	buf_adds(&b, "]}");
	kit_good(b.data, "fio", &f);
	assert_int_equal(f.n_records, 2);
	assert_string_equal(f.records[0].host, "a");
	assert_string_equal(f.records[1].host, "b");
	assert_int_equal(f.records[1].bytes, 8192);
	format_found_clear(&f);
	buf_free(&b);
}

static void test_fio_failures(void **state)
{
	struct format_found f = {0};
	struct buf b = {0};

	(void)state;
	doc_open(&b, 1700000060000ll);
	job(&b, "g", 28, 0, 40960, 1000, "");
	buf_adds(&b, ",");
	job(&b, "h", 0, 0, 40960, 1000, "");
	buf_adds(&b, "]}");
	kit_good(b.data, "fio", &f);
	assert_int_equal(f.n_records, 2);
	assert_string_equal(f.records[0].workload, "g write");
	assert_has(f.records[0].error, "fio reports error 28");
	assert_null(f.records[1].error);
	format_found_clear(&f);
	for (size_t cut = 30; cut < b.len; cut += 37) {
		struct err e = {0};

		assert_int_equal(kit_read_n(b.data, cut, "fio", &f, &e), -1);
		assert_has(e.text, "x:");
		assert_has(e.text, "not whole JSON");
	}
	buf_free(&b);
	kit_bad("fio: /x is not a directory\nfio: failed parsing directory=/x\n", NULL,
		"x:1: fio failed: /x is not a directory");
	kit_bad("fio-3.33\nStarting 1 process\n", NULL, "run fio with --output-format=json+");
	kit_bad("{\"fio version\" : \"x\", \"jobs\" : [{\"jobname\" : \"g\", \"read\" : "
		"{\"io_bytes\" "
		": nan}}]}",
		NULL, "not whole JSON");
	kit_bad("{\"fio version\" : \"x\", \"disk_util\" : []}", NULL,
		"neither jobs nor client_stats");
	kit_bad("{\"fio version\" : \"x\", \"jobs\" : [{\"read\" : {\"io_kbytes\" : 1, "
		"\"io_bytes\" : "
		"-5}}]}",
		NULL, "read.io_bytes is no number from 0 on");
	kit_bad("{\"fio version\" : \"x\", \"jobs\" : [{\"read\" : {\"io_kbytes\" : 4, "
		"\"io_bytes\" : "
		"4096, \"runtime\" : 0}}]}",
		NULL, "4096 bytes in 0 ms");
	kit_bad("{\"fio version\" : \"x\", \"jobs\" : [{\"read\" : {\"io_kbytes\" : 4, "
		"\"io_bytes\" : "
		"4096, \"runtime\" : 9, \"clat_ns\" : {\"max\" : 5, \"bins\" : {\"5\" : -1}}}}]}",
		NULL, "bins that are no histogram");
}

/* Nothing is taken as 0 for being of another type, or below 0. */
static void test_fio_types(void **state)
{
	static const struct {
		const char *job, *words;
	} jobs[] = {
		{"\"error\":\"bad\"", "error is no number"},
		{"\"read\":[1,2]", "read is no object"},
		{"\"read\":{\"io_bytes\":\"100\",\"runtime\":5}", "read.io_bytes is no number from 0 on"},
		{"\"write\":{\"io_bytes\":100,\"runtime\":\"5\"}", "write.runtime is no number"},
		{"\"read\":{\"io_bytes\":100,\"runtime\":5,\"total_ios\":{}}", "read.total_ios is no"},
		{"\"read\":{\"io_bytes\":100,\"runtime\":5,\"iops\":-1}", "read.iops is no"},
		{"\"read\":{\"io_bytes\":100,\"runtime\":5,\"bw\":null}", "read.bw is no"},
		{"\"read\":{\"io_bytes\":100,\"runtime\":5,\"clat_ns\":{\"max\":5,\"mean\":-3}}",
			"read.clat_ns.mean is no number from 0 on"},
		{"\"read\":{\"io_bytes\":100,\"runtime\":5,\"lat_ns\":{\"max\":5,\"N\":\"5\"}}",
			"read.lat_ns.N is no"},
		{"\"read\":{\"io_bytes\":100,\"runtime\":5,\"clat_ns\":{\"max\":5,\"percentile\":"
		 "{\"99.000000\":\"5\"}}}",
			"read.clat_ns.99.000000 is no"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(jobs); i++) {
		char text[512];

		snprintf(text, sizeof(text),
			"{\"fio version\":\"x\",\"jobs\":[{\"jobname\":\"a\",%s}]}", jobs[i].job);
		kit_bad(text, NULL, jobs[i].words);
		kit_bad(text, NULL, "x:1: fio job 'a': ");
	}
}

/* An unset minimum is printed as 2^64 - 1, which is no number for most readers. */
static void test_fio_large_number(void **state)
{
	struct format_found f = {0};

	(void)state;
	kit_good("{\"fio version\" : \"x\", \"jobs\" : [{\"jobname\" : \"g\", \"read\" : "
		 "{\"io_bytes\" "
		 ": 4096, \"io_kbytes\" : 4, \"runtime\" : 10, \"total_ios\" : 1, \"clat_ns\" : "
		 "{\"min\" : 18446744073709551615, \"max\" : 0}}}]}",
		"fio", &f);
	assert_int_equal(f.n_records, 1);
	kit_near(kit_value(&f.records[0], "throughput")->value, 409600, "throughput");
	format_found_clear(&f);
}

/* One direction of a terse line: 41 fields, with 6 more in version 5. */
static void terse_side(struct buf *b, long kib, double iops, long ms, int version)
{
	buf_addf(b, ";%ld;%ld;%.0f;%ld;0;0;0.0;0.0;2;89;2.5;3.6", kib, ms ? kib * 1000 / ms : 0,
		iops, ms);
	for (int i = 0; i < 20; i++)
		buf_adds(b, i == 6 ? ";50.000000%=2" : i == 12 ? ";99.000000%=5" : ";0%=0");
	buf_adds(b, ";2;89;2.6;3.6;0;0;0.000000%;0.0;0.0");
	if (version == 5)
		buf_adds(b, ";1;2;3;2.5;0.5;1");
}

static void test_fio_terse(void **state)
{
	for (int version = 3; version <= 5; version++) {
		struct format_found f = {0};
		struct buf b = {0};

		(void)state;
		buf_addf(&b, "%d;fio-3.33;seq;0;0", version);
		terse_side(&b, 0, 0, 0, version);
		terse_side(&b, 4096, 1000, 2000, version);
		if (version > 3)
			terse_side(&b, 0, 0, 0, version);
		buf_adds(&b, ";0.1%;0.2%;10;0;5\n");
		kit_good(b.data, "fio", &f);
		assert_int_equal(f.n_records, 1);
		assert_string_equal(f.records[0].workload, "seq write");
		assert_int_equal(f.records[0].bytes, 4194304);
		assert_int_equal(f.records[0].ops, 2000);
		kit_near(kit_value(&f.records[0], "throughput")->value, 2097152, "throughput");
		kit_near(kit_value(&f.records[0], "latency_p99")->value, 5000, "p99");
		kit_near(kit_value(&f.records[0], "latency_p99")->resolution, 1000, "p99's step");
		kit_near(kit_value(&f.records[0], "latency_mean")->value, 2500, "mean");
		format_found_clear(&f);
		buf_free(&b);
	}
	kit_bad("3;fio-3.33;seq;0;0;1;2;3\n", NULL, "it is cut off");
}

/* fio prints the middle of the last bin, which is above the longest latency there was. */
static void test_fio_percentile_above_maximum(void **state)
{
	struct format_found f = {0};
	struct buf b = {0};

	(void)state;
	doc_open(&b, 1700000000000);
	job(&b, "g", 0, 4096000, 0, 1000,
		"\"clat_ns\" : {\"min\" : 1000, \"max\" : 2175918, \"mean\" : 18995.3, \"N\" : 1000, "
		"\"percentile\" : {\"50.000000\" : 13760, \"99.000000\" : 37632, "
		"\"99.900000\" : 2179072}}");
	buf_adds(&b, "]}\n");
	kit_good(b.data, "fio", &f);
	assert_int_equal(f.n_records, 1);
	kit_near(kit_value(&f.records[0], "latency_p99")->value, 37632, "p99");
	kit_near(kit_value(&f.records[0], "latency_p999")->value, 2175918, "p99.9");
	kit_near(kit_value(&f.records[0], "latency_max")->value, 2175918, "max");
	format_found_clear(&f);
	buf_free(&b);
}

static void test_bonnie(void **state)
{
	/* 1.98, 1.97 and 1.03: the same figures in three layouts. */
	static const char *const lines[] = {
		"1.98,2.00a,box,1,1700000000,8G,,8192,5,700,99,204800,20,102400,10,900,99,307200,"
		"15,"
		"250.5,5,16,,,,,6000,50,+++++,+++,7000,60,5000,55,+++++,+++,1500,20,12ms,4060us,"
		"46us,"
		"80ms,66us,60ms,7ms,5ms,66ms,40ms,4ms,28ms",
		"1.97,1.97,box,1,1700000000,8G,,700,99,204800,20,102400,10,900,99,307200,15,250.5,"
		"5,16,"
		",,,,6000,50,+++++,+++,7000,60,5000,55,+++++,+++,1500,20,12ms,4060us,46us,80ms,"
		"66us,"
		"60ms,7ms,5ms,66ms,40ms,4ms,28ms",
		"box,8G,700,99,204800,20,102400,10,900,99,307200,15,250.5,5,16,6000,50,+++++,+++,"
		"7000,"
		"60,5000,55,+++++,+++,1500,20",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct format_found f = {0};

		kit_good(lines[i], "bonnie++", &f);
		assert_int_equal(f.n_records, 10);
		assert_string_equal(f.records[1].workload, "bonnie++ write");
		assert_string_equal(f.records[1].host, "box");
		kit_near(kit_value(&f.records[1], "throughput")->value, 204800 * 1024.0, lines[i]);
		kit_near(kit_value(&f.records[5], "ops_per_s")->value, 250.5, lines[i]);
		assert_string_equal(f.records[6].workload, "bonnie++ sequential create");
		if (i < 2)
			kit_near(
				kit_value(&f.records[1], "latency_max")->value, 4060000, "latency");
		format_found_clear(&f);
	}
	kit_bad("1.98,2.00a,box,1,17,8G,,8192,5,700,99,204800,20,102400,10,900,99,307200,15,250.5,"
		"5,16,,,,,"
		"6000,50\n",
		NULL, "cut off");
}

static void test_bonnie_table(void **state)
{
	const char *text =
		"Version  2.00       ------Sequential Output------ --Sequential Input- --Random-\n"
		"                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--\n"
		"Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n"
		"box           8G:64k  700k  99  200m  20  100m  10  900k  99  300m  15 250.5   5\n"
		"Latency             12ms    4060us      46us   80493us      66us   60707us\n"
		"Version  2.00       ------Sequential Create------ --------Random Create--------\n"
		"box                 -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--\n"
		"files:max            /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n"
		"                 16 +++++ +++ +++++ +++  7000  60 +++++ +++ +++++ +++  1500  20\n";
	struct format_found f = {0};

	(void)state;
	kit_good(text, "bonnie++", &f);
	assert_int_equal(f.n_records, 8);
	kit_near(kit_value(&f.records[1], "throughput")->value, 200 * 1048576.0, "write");
	kit_near(kit_value(&f.records[1], "latency_max")->value, 4060000, "latency");
	assert_int_equal(f.records[1].line, 4);
	assert_string_equal(f.records[7].workload, "bonnie++ random delete");
	assert_string_equal(f.records[7].host, "box");
	kit_near(kit_value(&f.records[7], "ops_per_s")->value, 1500, "delete");
	format_found_clear(&f);
	kit_bad("------Sequential Output------\nbox 8G 700k nan 200m 20 100m 10 900k 99 nan 15 "
		"250.5 5\n",
		"bonnie++", "'nan' is not a number that can be used");
}

/* What version 2 prints: phases that -f left out are blank, and where the files' rates belong stands
 * how many there were. */
static void test_bonnie_gaps(void **state)
{
	const char *text =
		"Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-\n"
		"                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--\n"
		"Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n"
		"box              8G            200m  36  100m  62           300m  15 250.5   5\n"
		"Latency                          16ms   12092us              4570us   20355us\n"
		"Version 2.00a       ------Sequential Create------ --------Random Create--------\n"
		"box                 -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--\n"
		"files:max            /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n"
		"            3:100:0  3072  21 +++++ +++  3072   1  3072  30 +++++ +++  3072   1\n"
		"Latency             21980us   20061us   27755us   24705us    1389us   21124us\n";
	struct format_found f = {0};

	(void)state;
	kit_good(text, "bonnie++", &f);
	assert_int_equal(f.n_records, 4);
	assert_string_equal(f.records[0].workload, "bonnie++ write");
	kit_near(kit_value(&f.records[0], "throughput")->value, 200 * 1048576.0, "write");
	kit_near(kit_value(&f.records[0], "latency_max")->value, 16e6, "write's latency");
	assert_string_equal(f.records[1].workload, "bonnie++ rewrite");
	assert_string_equal(f.records[2].workload, "bonnie++ read");
	kit_near(kit_value(&f.records[2], "throughput")->value, 300 * 1048576.0, "read");
	kit_near(kit_value(&f.records[2], "latency_max")->value, 4570e3, "read's latency");
	assert_string_equal(f.records[3].workload, "bonnie++ seeks");
	kit_near(kit_value(&f.records[3], "ops_per_s")->value, 250.5, "seeks");
	assert_has(kit_note(&f, 9), "the number of files in the place of rates");
	assert_has(kit_note(&f, 10), "not used");
	format_found_clear(&f);
	kit_bad("------Sequential Output------\nbox 8G 700k 99\n", "bonnie++",
		"a row of bonnie++'s table with 4 words");
}

static void test_iozone(void **state)
{
	const char *text =
		"\tIozone: Performance Test of File I/O\n\tOutput is in kBytes/sec\n"
		"              kB  reclen    write  rewrite    read    reread    read     write\n"
		"           65536      64   100000   110000   200000   210000                  \n"
		"           65536     128   100001            200001\n"
		"\n\tChildren see throughput for  4 initial writers \t=  300000.50 kB/sec\n"
		"\tParent sees throughput for  4 initial writers \t=  290000.00 kB/sec\n"
		"iozone test complete.\n";
	struct format_found f = {0};

	(void)state;
	kit_good(text, "iozone", &f);
	assert_int_equal(f.n_records, 7);
	assert_string_equal(f.records[0].workload, "iozone write 65536k/64k");
	kit_near(f.records[0].v[0].value, 102400000, "write");
	assert_string_equal(f.records[5].workload, "iozone read 65536k/128k");
	kit_near(f.records[5].v[0].value, 200001 * 1024.0, "read");
	assert_string_equal(f.records[6].workload, "iozone initial writers \303\2274");
	kit_near(f.records[6].v[0].value, 300000.5 * 1024, "writers");
	format_found_clear(&f);
	/* Two figures under one heading, one under none, a row that ends too soon. */
	kit_bad("              kB  reclen    write  rewrite\n           65536      64   100 200\n",
		NULL, "x:2: a figure of iozone's table that stands under no heading");
	kit_bad("              kB  reclen    write  rewrite\n           65536      64         "
		"                   1000\n",
		NULL, "stands under no heading (character 56)");
	kit_bad("              kB  reclen    write  rewrite\n           65536      64   100", NULL,
		"x:2: a row of iozone's table that is cut off");
	kit_bad("              kB  reclen    write  rewrite\n           65536      64\n", NULL,
		"cut off");
}

#define ELBENCHO_HEAD                                                                              \
	"ISO DATE,label,path type,threads,operation,time ms [first],time ms [last],entries/s "     \
	"[first],"                                                                                 \
	"entries/s [last],IOPS [first],IOPS [last],MiB/s [first],MiB/s [last],MiB [first],MiB "    \
	"[last],"                                                                                  \
	"Ent lat us [avg],Ent lat us [max],IO lat us [avg],IO lat us [max],command\n"

static void test_elbencho(void **state)
{
	const char *text = ELBENCHO_HEAD "2026-01-01T00:00:00,raidz2,dir,4,MKDIRS,1,4,100,2000,,,,,"
					 ",,500,900,,,\"elbencho, -d\"\n"
					 "2026-01-01T00:00:01,raidz2,dir,4,WRITE,900,2000,1,2,900,"
					 "1000,900,1000,900,2000,1,2,250,"
					 "9000,\"elbencho \"\"x\"\", -w\"\n";
	struct format_found f = {0};

	(void)state;
	kit_good(text, "elbencho", &f);
	assert_int_equal(f.n_records, 2);
	assert_string_equal(f.records[0].workload, "elbencho mkdirs");
	kit_near(kit_value(&f.records[0], "ops_per_s")->value, 2000, "mkdirs");
	kit_near(kit_value(&f.records[0], "latency_mean")->value, 500000, "latency");
	assert_string_equal(f.records[1].layout, "raidz2");
	assert_string_equal(f.records[1].v[0].metric, "throughput");
	kit_near(f.records[1].v[0].value, 1000 * 1048576.0, "throughput of the whole time");
	kit_near(kit_value(&f.records[1], "ops_per_s")->value, 1000, "IOPS");
	kit_near(kit_value(&f.records[1], "latency_max")->value, 9e6, "longest");
	kit_near(kit_value(&f.records[1], "elapsed")->value, 2, "elapsed");
	format_found_clear(&f);
	kit_bad(ELBENCHO_HEAD "2026-01-01T00:00:00,a,dir,4,WRITE,1,4\n", NULL,
		"x:2: 7 columns, but the header has 20");
	kit_bad(ELBENCHO_HEAD "d,a,dir,4,WRITE,1,nan,,,,,,,,,,,,,\n", NULL,
		"x:2: time ms [last]: 'nan'");
	kit_bad("2026-01-01T00:00:00,a,dir,4,WRITE,1,4\n", "elbencho",
		"x:1: a row before the names");
	kit_bad(ELBENCHO_HEAD, NULL, "there is no result in it");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fio_types),
		cmocka_unit_test(test_fio),
		cmocka_unit_test(test_fio_of_old),
		cmocka_unit_test(test_fio_bins),
		cmocka_unit_test(test_fio_two_jobs_without_bins),
		cmocka_unit_test(test_fio_documents),
		cmocka_unit_test(test_fio_clients),
		cmocka_unit_test(test_fio_failures),
		cmocka_unit_test(test_fio_large_number),
		cmocka_unit_test(test_fio_terse),
		cmocka_unit_test(test_fio_percentile_above_maximum),
		cmocka_unit_test(test_bonnie),
		cmocka_unit_test(test_bonnie_table),
		cmocka_unit_test(test_bonnie_gaps),
		cmocka_unit_test(test_iozone),
		cmocka_unit_test(test_elbencho),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
