/* Numbers, lists of times and summary rows: every spelling, and every spelling that is wrong. */
#include "tests/unit/test.h"

#include "common/base/mem.h"
#include "tests/unit/formats_kit.h"

struct one {
	const char *text, *metric;
	double value, resolution;
};

/* Each text is one list of one value. */
static const struct one values[] = {
	{"18m15.395s", "elapsed", 1095.395, 0.001},
	{"18m15,395s", "elapsed", 1095.395, 0.001},
	{"0:18:22", "elapsed", 1102, 1},
	{"18:22.5", "elapsed", 1102.5, 0.1},
	{"1102.99", "elapsed", 1102.99, 0.01},
	{"56s", "elapsed", 56, 1},
	{"1h2m3s", "elapsed", 3723, 1},
	{"340ms", "elapsed", 0.34, 0.001},
	{"250us", "elapsed", 250e-6, 1e-6},
	{"250\302\265s", "elapsed", 250e-6, 1e-6},
	{"2d", "elapsed", 172800, 86400},
	{"26:03:04", "elapsed", 93784, 1},
	{"1d2h3m4s", "elapsed", 93784, 1},
	{"4.5 millis", "elapsed", 0.0045, 1e-4},
	{"10 s", "elapsed", 10, 1},
	{"10 sec", "elapsed", 10, 1},
	{"10.5 secs", "elapsed", 10.5, 0.1},
	{"10 seconds", "elapsed", 10, 1},
	{"1 second", "elapsed", 1, 1},
	{"10\302\240sec", "elapsed", 10, 1},
	{"2 min 3 sec", "elapsed", 123, 1},
	{"2 min 3.5 sec", "elapsed", 123.5, 0.1},
	{"2min 3sec", "elapsed", 123, 1},
	{"2 minutes", "elapsed", 120, 60},
	{"1 hour", "elapsed", 3600, 3600},
	{"1 hour 2 minutes 3 seconds", "elapsed", 3723, 1},
	{"1h 2m 3s", "elapsed", 3723, 1},
	{"340 ms", "elapsed", 0.34, 0.001},
	{"250 microseconds", "elapsed", 250e-6, 1e-6},
	{"3. 10 sec", "elapsed", 10, 1},
	{"1.5e3", "elapsed", 1500, 100},
	{"1,234.5", "elapsed", 1234.5, 0.1},
	{"1.234,5", "elapsed", 1234.5, 0.1},
	{"12,34", "elapsed", 12.34, 0.01},
	{"1. 18m15.395s", "elapsed", 1095.395, 0.001},
	{"- 56s", "elapsed", 56, 1},
	{"  56s  ", "elapsed", 56, 1},
	{"549MiB/s", "throughput", 549.0 * 1048576, 1048576},
	{"549 MB/s", "throughput", 549e6, 1e6},
	{"549 MB/sec", "throughput", 549e6, 1e6},
	{"549MiB/sec", "throughput", 549.0 * 1048576, 1048576},
	{"7341.7 ops/sec", "ops_per_s", 7341.7, 0.1},
	{"96374 bytes/sec", "throughput", 96374, 1},
	{"7341.7 ops/s", "ops_per_s", 7341.7, 0.1},
	{"1526 IOPS", "ops_per_s", 1526, 1},
	{"metric: ops_per_s\n7341.7", "ops_per_s", 7341.7, 0.1},
	{"metric: latency_p99\n150000", "latency_p99", 150000, 1},
};

static void test_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const struct one *v = &values[i];
		struct format_found f = {0};

		kit_good(v->text, "list", &f);
		assert_int_equal(f.n_records, 1);
		kit_near(kit_value(&f.records[0], v->metric)->value, v->value, v->text);
		kit_near(kit_value(&f.records[0], v->metric)->resolution, v->resolution, v->text);
		format_found_clear(&f);
	}
}

static const struct {
	const char *text, *words;
} wrong[] = {
	{"56s\nnan\n", "x:2: 'nan' is not a number that can be used"},
	{"56s\ninf\n", "x:2: 'inf'"},
	{"56s\n-5s\n", "x:2: '-5s' is negative"},
	{"56s\n0s\n", "x:2: a time of zero"},
	{"0.00\n", "x:1: '0.00': a value of zero"},
	{"56\n1000000000\n", "x:2: a time of 1e+09 s, more than 10 years"},
	{"1e400\n", "x:1: '1e400' is too large a number"},
	{"1,234\n", "x:1: '1,234' could be one number or a thousand times that"},
	{"10,11,12,13\n", "x:1: '10,11,12,13' could be several numbers or one with commas in it"},
	{"112,113,114\n", "x:1: '112,113,114' could be several numbers"},
	{"10.5\n1,234,567.8\n", "x:2: '1,234,567' could be several numbers"},
	{"1 10.5\n2 10.7\n3 10.6\n", "x:2: rows that begin with 1, 2: do these count the rows"},
	{"1\t10.5\n2\t10.7\n", "x:2: rows that begin with 1, 2"},
	{"1 234.5\n", "x:1: '1 234.5' could be several values or one in groups of three digits"},
	{"56\n1 234.5\n", "x:2: '1 234.5' could be several values"},
	{"1\302\240234.5\n", "x:1: '1\302\240234.5' could be several"},
	{"120\342\200\257130\n", "could be several values"},
	{"1'234.5\n", "x:1: '1'234.5' could be several"},
	{"1\342\200\231234.5\n", "could be several values"},
	{"1 234,5\n", "could be several values"},
	{"1 234\n", "could be several values"},
	{"1 234 s\n", "could be several values"},
	{"1 234.5s\n", "could be several values"},
	{"1 234 567\n", "could be several values"},
	{"1 234 1 240 1 250\n", "could be several values"},
	{"45 123\n", "could be several values"},
	{"900 120\n", "could be several values"},
	{"55 056\n", "could be several values"},
	{"3 120 118 119\n", "could be several values"},
	{"549 340 MiB/s\n", "mixed units: throughput here, but elapsed in line 1"},
	{"10 MB/second\n", "x:1: 'MB/second' is no unit that is known"},
	{"10 sek\n", "x:1: 'sek' is no unit that is known"},
	{"10 Seconds\n", "x:1: 'Seconds' is no unit that is known"},
	{"10 sec fast\n", "x:1: 'fast' is not a number"},
	{"1m 58s 59s\n", "x:1: '1m 58s 59s': is that one time in parts, or several?"},
	{"59s 1 min 58 sec\n", "is that one time in parts, or several?"},
	{"1 min 2 h\n", "x:1: '1 min 2 h': is that one time in parts, or several?"},
	{"30s\n1 min 2 h\n", "x:2: '1 min 2 h'"},
	{"1 day 2:03:04\n", "x:1: '1 day 2:03:04': is that one time in parts, or several?"},
	{"1d 02:03:04\n", "is that one time in parts, or several?"},
	{"2:03:04 3 min\n", "is that one time in parts, or several?"},
	{"2s 100ms\n", "is that one time in parts, or several?"},
	{"20s 1m58s\n", "is that one time in parts, or several?"},
	{"0,10\n1,11\n2,12\n", "x:3: rows that begin with 1, 2"},
	{"1,10\n2,11\n3,10\n", "x:3: rows that begin with 2, 3"},
	{"1,123.5\n2,124.7\n3,122.9\n", "x:3: rows that begin with 2, 3"},
	{"12,5\n12.5\n", "x:2: a decimal point here, but a decimal comma in line 1"},
	{"56s\n57\n", "x:2: a number without a unit, but line 1 is with one"},
	{"56s\n549MiB/s\n", "x:2: mixed units: throughput here, but elapsed in line 1"},
	{"18m75.5s\n", "x:1: '18m75.5s' is not a time: its parts overlap"},
	{"1s2m\n", "x:1: '1s2m' is not a time"},
	{"0:61:00\n", "60 minutes or more"},
	{"18:75\n", "60 seconds or more"},
	{"1:2:3:4\n", "h:mm:ss or m:ss"},
	{"1-02:03:04\n", "'1-02:03:04' is not a time or a rate"},
	{"56s\n57x\n", "x:2: '57x' is not a time or a rate"},
	{"56s\n57s\nabout a minute\n", "x:3: 'about' is not a number"},
	{"11111111111111111111111111111111111111111111\n", "more digits than a number can have"},
	{"layout:\n56s\n", "x:1: 'layout' without a name behind it"},
	{"bytes: 12x\n56s\n", "x:1: '12x' is not a size"},
	{"metric: speed\n56\n", "x:1: metric 'speed' is not known"},
	{"data: zeros\n56s\n", "x:1: data 'zeros' is not known: random, zero or compressible 50% (did you mean "
				"zero?)"},
	{"data: compressible 100%\n56s\n", "x:1: data 'compressible 100%' is not known"},
	{"data: compressible 0%\n56s\n", "x:1: data 'compressible 0%' is not known"},
	{"data: compressible\n56s\n", "x:1: data 'compressible' is not known"},
	{"data: {compressible 50%}\n56s\n", "is not known"},
	{"data: compressible 50% or so\n56s\n", "is not known"},
	{"data:\n56s\n", "x:1: data '' is not known"},
	{"layuot: a\n56s\n", "x:1: 'layuot:' is no key (did you mean 'layout:'?)"},
	{"56s\ncolour: red\n", "x:2: 'colour:' is no key: run, host, layout, workload, op, cache"},
	{"56s\n1e-300\n", "x:2: a time of 1e-300 s, less than a nanosecond"},
	{"56s\nrun: late\n", "x:2: run: one name for the whole text"},
};

static void test_wrong(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		kit_bad(wrong[i].text, "list", wrong[i].words);
}

/* Several values a line, however they are divided, and whatever ends the lines. */
static const struct {
	const char *text;
	size_t n;
	double last;
} several[] = {
	{"10.1,10.2,10.3\n", 3, 10.3},
	{"10.123,10.456\n", 2, 10.456},
	{"10, 11, 12, 13\n", 4, 13},
	{"10;11;12;13\n", 4, 13},
	{"10s,11s,12s\n", 3, 12},
	{"10,5; 11,5\n", 2, 11.5},
	{"1. 10.5\n2. 10.7\n", 2, 10.7},
	{"1 10.5\n1 10.7\n", 4, 10.7},
	{"1,10\n2,11\n", 2, 2.11},
	{"1\n2\n3\n", 3, 3},
	{"layout: a\n1 10.5\nlayout: b\n2 10.7\n", 4, 10.7},
	{"10.1\r10.2\r10.3\r", 3, 10.3},
	{"55 56 57\n", 3, 57},
	{"120 130 140\n", 3, 140},
	{"98 102.5\n", 2, 102.5},
	{"55 56 157 60\n", 4, 60},
	{"99.5 234.5 10.5\n", 3, 10.5},
	{"1  234.5\n", 2, 234.5},
	{"1; 234.5\n", 2, 234.5},
	{"512 480 1024\n", 3, 1024},
	{"18m15.395s 18m20.1s\n", 2, 1100.1},
	{"1m58s 1m 59s\n", 2, 119},
	{"1m 58s 1m 59s\n", 2, 119},
	{"1 min 58 sec, 1 min 59 sec\n", 2, 119},
	{"10 sec 11 sec\n", 2, 11},
	{"1.5s 900ms\n", 2, 0.9},
	{"1s 900ms\n", 2, 0.9},
	{"2m 90s\n", 2, 90},
	{"45 sec 1 min\n", 2, 60},
	{"1m58s 2:03\n", 2, 123},
	{"2:03 2:04\n", 2, 124},
	{"1:03 12:04\n", 2, 724},
	{"1 min, 2 h\n", 2, 7200},
	{"1m58s 20s\n", 2, 20},
	{"10.1\r10.2\r\n10.3", 3, 10.3},
	{"10.1\r\r\n10.2\r\n", 2, 10.2},
	{"layout: a\n10.1\r\r10.2\n", 2, 10.2},
};

static void test_several(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(several) / sizeof(several[0]); i++) {
		struct format_found f = {0};

		kit_good(several[i].text, "list", &f);
		if (f.n_records != several[i].n)
			fail_msg("%s: %zu values", several[i].text, f.n_records);
		kit_near(f.records[f.n_records - 1].seconds, several[i].last, several[i].text);
		format_found_clear(&f);
	}
}

static void test_names(void **state)
{
	const char *text = "# times of two layouts\nrun: old\nhost: h\nbytes: 1M\nlayout: a b\n"
			   "workload: load\n56s 57s; 58s\nlayout: c\n\n59s\n";
	struct format_found f = {0};

	(void)state;
	kit_good(text, "list", &f);
	assert_string_equal(f.run, "old");
	assert_int_equal(f.n_records, 4);
	assert_string_equal(f.records[2].layout, "a b");
	assert_int_equal(f.records[2].line, 7);
	assert_string_equal(f.records[3].layout, "c");
	assert_string_equal(f.records[3].workload, "load");
	assert_string_equal(f.records[3].host, "h");
	kit_near(kit_value(&f.records[3], "throughput")->value, 1048576.0 / 59, "throughput");
	assert_int_equal(kit_value(&f.records[3], "throughput")->marks, FORMAT_COMPUTED);
	assert_string_equal(kit_note(&f, 1), "a comment");
	assert_string_equal(kit_note(&f, 5), "layout of what follows");
	assert_has(kit_note(&f, 10), "elapsed 59 s");
	format_found_clear(&f);
}

/* A list may change its unit where it says that something else follows. */
static void test_sections(void **state)
{
	struct format_found f = {0};

	(void)state;
	kit_good("layout: a\n56s\nlayout: b\n57\nmetric: throughput\n1000\n", "list", &f);
	assert_int_equal(f.n_records, 3);
	kit_near(kit_value(&f.records[2], "throughput")->value, 1000, "throughput");
	format_found_clear(&f);
}

/* MB is marked, since it may have been meant as MiB; MiB is not. */
static void test_unit_trap(void **state)
{
	struct format_found f = {0};

	(void)state;
	kit_good("549MB/s\n549MiB/s\n", "list", &f);
	assert_int_equal(f.records[0].v[0].marks, FORMAT_UNIT_ASSUMED);
	assert_int_equal(f.records[1].v[0].marks, 0);
	assert_has(kit_note(&f, 1), "a power of 1000 assumed");
	format_found_clear(&f);
}

/* Beside each other, each is what is written, and the doubt is told once a list. */
static void test_powers_beside_each_other(void **state)
{
	static const struct {
		const char *text;
		size_t line; /* of the doubt; 0: none */
		double last;
	} table[] = {
		{"549 MiB/s\n549 kB/s\n550 kB/s\n", 2, 550e3},
		{"549 MB/s\n551 MB/s\n550 KiB/s\n1 GiB/s\n", 3, 1073741824},
		{"549 MB/s\n1 GB/s\n", 0, 1e9},
		{"549 MiB/s\n1 B/s\n", 0, 1},
		{"layout: a\n549 MiB/s\nlayout: b\n1 MB/s\n", 0, 1e6},
		{"n=3 mean=549MiB/s min=500MiB/s max=600MB/s\n", 1, 549 * 1048576.0},
		{"n=3 mean=549MB/s min=500MB/s max=600MB/s\n", 0, 549e6},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct format_found f = {0};
		size_t line = 0, doubts = 0;
		struct err e;

		assert_ok(kit_read(table[i].text, NULL, &f, &e), e);
		for (size_t k = 0; k < f.n_notes; k++)
			if (f.notes[k].doubt) {
				doubts++;
				line = f.notes[k].first;
				assert_has(f.notes[k].text, "each is taken as it is written");
			}
		if (line != table[i].line || doubts > 1)
			fail_msg("%s: %zu doubts, line %zu", table[i].text, doubts, line);
		kit_near(f.records[f.n_records - 1].v[0].value, table[i].last, table[i].text);
		format_found_clear(&f);
	}
}

static void test_summary(void **state)
{
	const char *text = "layout: raidz2\nbytes: 30720MiB\n"
			   "n=10 mean=56s min=52s max=59s workload=write\n"
			   "min=29.5s max=31s mean=29.9s n=4 workload=\"read all\" sd=0.3s\n"
			   "n=3 mean=549MB/s\n";
	struct format_found f = {0};
	const struct format_value *v;

	(void)state;
	kit_good(text, "summary", &f);
	assert_int_equal(f.n_records, 3);
	v = &f.records[0].v[0];
	assert_int_equal(f.records[0].n, 10);
	assert_string_equal(f.records[0].layout, "raidz2");
	assert_string_equal(f.records[0].workload, "write");
	assert_true(f.records[0].bytes == 32212254720ull);
	assert_true(v->value == 56 && v->min == 52 && v->max == 59 && isnan(v->stddev));
	assert_true(v->resolution == 1 && v->min_resolution == 1 && v->max_resolution == 1);
	v = &f.records[1].v[0];
	assert_string_equal(f.records[1].workload, "read all");
	kit_near(v->resolution, 0.1, "resolution of the mean");
	kit_near(v->max_resolution, 1, "resolution of the maximum");
	kit_near(v->stddev, 0.3, "stddev");
	kit_near(v->stddev_resolution, 0.1, "resolution of the standard deviation");
	v = &f.records[2].v[0];
	assert_string_equal(v->metric, "throughput");
	assert_int_equal(v->marks, FORMAT_UNIT_ASSUMED);
	assert_true(isnan(v->min) && isnan(v->max));
	format_found_clear(&f);
}

/* Bytes over the mean time, between bytes over its extremes. */
static void test_summary_throughput(void **state)
{
	struct format_found f = {0};
	const struct format_value *v;

	(void)state;
	kit_good("bytes: 1000\nn=10 mean=50s min=40s max=80s sd=10s\nn=3 mean=20s layout=b\n"
		 "n=3 mean=549MiB/s layout=c\n",
		"summary", &f);
	v = kit_value(&f.records[0], "throughput");
	kit_near(v->value, 20, "mean");
	kit_near(v->resolution, 0.4, "resolution");
	kit_near(v->min, 12.5, "minimum");
	kit_near(v->max, 25, "maximum");
	kit_near(v->stddev, 4, "deviation");
	assert_int_equal(v->marks, FORMAT_COMPUTED);
	assert_string_equal(f.records[0].v[0].metric, "elapsed");
	v = kit_value(&f.records[1], "throughput");
	kit_near(v->value, 50, "mean alone");
	assert_true(isnan(v->min) && isnan(v->max) && isnan(v->stddev));
	assert_int_equal(f.records[2].n_v, 1);
	format_found_clear(&f);
}

static const struct {
	const char *text, *words;
} wrong_rows[] = {
	{"n=10 min=52s max=59s", "a summary needs n= and mean="},
	{"n=0 mean=56s", "n=0: not a number of trials"},
	{"n=ten mean=56s", "n=ten: not a number of trials"},
	{"n=10 mean=56s min=58s max=59s", "the minimum is above the mean"},
	{"n=10 mean=56s min=57s max=59s", "the minimum is above the mean"},
	{"n=10 mean=57s min=57s max=68s", "cannot have a mean of 57, only one of 58.1 to 66.9"},
	{"n=1 mean=5s min=5.0s max=5.4s", "are not the same"},
	{"n=10 mean=56s min=52s max=54s", "the maximum is below the mean"},
	{"n=10 mean=56s min=52 max=59s", "mixed units: mean is elapsed, another is a plain number"},
	{"n=10 mean=56s min=52MB/s", "mixed units"},
	{"n=10 mean=nan", "x:1: mean: 'nan'"},
	{"n=10 mean=-3s", "x:1: mean: '-3s' is negative"},
	{"n=10 mean=0s", "x:1: mean: a time of zero"},
	{"n=10 mean=56s mean=57s", "mean= is there twice"},
	{"n=10 mean=56s median=57s", "'median='"},
	{"n=10 mean=56s fast", "'fast': a summary has the form"},
	{"n=10 mean=1,234s", "could be one number or a thousand times that"},
	{"n=10 mean=1e9s", "more than 10 years"},
	{"n=10 mean=1e9", "not a measurement"},
	{"n=10 mean=56s min=52s max=59s sd=2", "mixed units"},
	{"n=10 mean=58s min=52s max=53s", "the maximum is below the mean"},
	{"n=10 mean=58.6s min=52.0s max=59.0s",
		"10 values from 52 to 59, both of them there, cannot have a mean of 58.6"},
	{"n=10 mean=52.3s min=52.0s max=59.0s", "only one of 52.7 to 58.3"},
	{"n=2 mean=56.0s min=52.0s max=59.0s", "only one of 55.5 to 55.5"},
	{"n=1 mean=56s min=52s max=59s", "one value is its own mean, minimum and maximum: 56, 52 and 59"},
	{"n=1 mean=56s sd=2s", "a standard deviation of 2 of one value"},
	{"n=10 mean=56.0s min=52.0s max=59.0s sd=0.00s", "a standard deviation of 0 is less than n"},
	{"n=10 mean=56.0s sd=0x", "not a time, a rate or a number"},
	{"n=4 mean=56.0s min=52.0s max=60.0s sd=5.6s", "more than n, mean, min and max allow"},
	{"n=3 mean=5.0s sd=9.5s", "a standard deviation of 9.5 is more than n, mean allow"},
	{"n=3 mean=5.0s sd=9.0s sd=0s", "sd= is there twice"},
	{"n=10 mean=56 sek min=52s", "'sek min=52s': a summary has the form"},
	{"n=10 mean=1 234.5", "mean=1 234.5: not a time, a rate or a number"},
	{"n=10 mean=56.0s min=52.0s max=59.0s sd=5.0s", "more than n, mean, min and max allow"},
	{"n=10 mean=56.0s min=52.0s max=59.0s sd=0.7s", "less than n, min and max allow"},
};

static void test_wrong_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong_rows) / sizeof(wrong_rows[0]); i++)
		kit_bad(wrong_rows[i].text, "summary", wrong_rows[i].words);
}

/* Rows that rounding explains, and units in words. */
static void test_possible_rows(void **state)
{
	static const struct {
		const char *text;
		double mean;
	} rows[] = {
		{"n=10 mean=56s min=52s max=59s", 56},
		{"n=10 mean=29s min=29s max=31s", 29},
		{"n=10 mean=156s min=147s max=159s", 156},
		{"n=2 mean=55s min=52s max=59s", 55},
		{"n=2 mean=56s min=52s max=59s", 56},
		{"n=1 mean=56s min=56s max=56s", 56},
		{"n=1 mean=56.2s min=56s max=56.25s sd=0", 56.2},
		{"n=10 mean=58.35s min=52.0s max=59.0s", 58.35},
		{"n=4 mean=56.0s min=52.0s max=60.0s sd=4.6s", 56},
		{"n=10 mean=56s min=56s max=56s sd=0.0s", 56},
		{"n=3 mean=5.0s sd=8.7s", 5},
		{"n=10 mean=56 sec min=52 secs, max=59 seconds", 56},
		{"n=10 mean=2 min 3 sec min=2 min max=2 min 9 sec sd=2 s workload=\"a b\"", 123},
		{"mean=1 hour n=3", 3600},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct format_found f = {0};

		struct err e;

		if (kit_read(rows[i].text, "summary", &f, &e))
			fail_msg("%s: %s", rows[i].text, e.text);
		assert_int_equal(f.n_records, 1);
		kit_near(f.records[0].v[0].value, rows[i].mean, rows[i].text);
		format_found_clear(&f);
	}
	struct format_found f = {0};

	kit_good("n=3 mean=520 MiB/s min=500 MB/s max=550 MiB/s\n", "summary", &f);
	assert_int_equal(f.records[0].v[0].marks, FORMAT_UNIT_ASSUMED);
	format_found_clear(&f);
}

/* A mean that was printed with a list, rounded or cut, follows from it; another is doubtful. */
static void test_printed_with_a_list(void **state)
{
	static const struct {
		const char *text, *doubt; /* NULL: none; else words of it */
	} table[] = {
		{"layout: a\n8m48.504s\n8m42.781s\n8m42.781s\n8m42.938s\nmean: 0:08:43\n",
			"a mean of 523 s was printed with this list, its values have 524.251 s"},
		{"layout: a\n9m16.837s\n9m13.830s\n9m15.795s\nmean: 9:14\n", "have 555.487"},
		{"layout: a\n9m16.837s\n9m13.830s\n9m15.795s\nmean: 9:15\n", NULL},
		{"layout: a\n9m16.837s\n9m13.830s\n9m15.795s\naverage: 9:16\n", NULL},
		{"layout: a\nmean: 10.5s\n10.4s\n10.6s\nmin: 10.4s\nmax: 10.6s\n", NULL},
		{"min: 10.1s\n10.4s\n10.6s\n", "a minimum of 10.1 s"},
		{"10.4s\n10.6s\nmax: 11s\n", NULL},
		{"10.4s\n10.6s\nmax: 11.0s\n", "a maximum of 11 s"},
		{"metric: ops_per_s\n100\n102\nmean: 105\n", "a mean of 105 ops/s"},
		{"layout: a\n10.0\nmean: 10.0\nlayout: b\n20.0\nmean: 10.0\n", "values have 20 s"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct format_found f = {0};
		const char *doubt = NULL;

		kit_good(table[i].text, "list", &f);
		for (size_t k = 0; k < f.n_notes; k++)
			doubt = f.notes[k].doubt ? f.notes[k].text : doubt;
		if (table[i].doubt ? !doubt || !strstr(doubt, table[i].doubt) : doubt != NULL)
			fail_msg("%zu: %s", i, doubt ? doubt : "no doubt");
		format_found_clear(&f);
	}
	kit_bad("layout: a\n10.1s\nmean: 10 MB/s\n", NULL, "x:3: mixed units");
	kit_bad("layout: a\nmean: 10s\nlayout: b\n10.1s\n10.2s\n", NULL, "x:2: the mean of a list without values");
	kit_bad("10.1s\nmean: 10s\navg: 10s\n10.2s\n", NULL, "x:3: line 2 says it");
	kit_bad("10.1s\n10.2s\nmean: soon\n", NULL, "x:3:");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_printed_with_a_list),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_unit_trap),
		cmocka_unit_test(test_powers_beside_each_other),
		cmocka_unit_test(test_possible_rows),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_summary_throughput),
		cmocka_unit_test(test_wrong_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
