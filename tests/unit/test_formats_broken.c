/*
 * A line that begins as a result and cannot be read is an error with its line, in a text where all else
 * is good; a line that only has some of the words is passed over.
 */
#include <stdio.h>

#include "tests/unit/test.h"

#include "common/base/mem.h"
#include "tests/unit/formats_kit.h"

struct broken {
	const char *line, *words;
};

/* Each alone, found by content, and as the line behind two good ones. */
static void check_broken(const char *good, const char *format, const struct broken *table, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct buf text = {0}, where = {0};

		for (int with_good = 0; with_good < 2; with_good++) {
			buf_reset(&text);
			buf_reset(&where);
			buf_addf(&text, "%s%s", with_good ? good : "", table[i].line);
			buf_addf(&where, "x:%d: ", with_good ? 3 : 1);
			kit_bad(text.data, with_good ? format : NULL, table[i].words);
			kit_bad(text.data, with_good ? format : NULL, where.data);
		}
		/* It is an error in the middle, too, unless only the end of the text makes it one. */
		buf_addf(&text, "\n%s", good);
		if (table[i].line[strlen(table[i].line) - 1] == '\n')
			kit_bad(text.data, NULL, "x:3: ");
		buf_free(&text);
		buf_free(&where);
	}
}

#define DD_GOOD                                                                                    \
	"1048576000 bytes (1.0 GB, 1000 MiB) copied, 11.0 s, 95.3 MB/s\n"                         \
	"1048576000 bytes (1.0 GB, 1000 MiB) copied, 11.2 s, 93.6 MB/s\n"

static void broken_lines_of_dd_are_errors(void **state)
{
	static const struct broken table[] = {
		{"1048576 bytes (1.0 MB, 1.0 MiB) copied, nan s, 1 MB/s\n", "'nan' is not a number"},
		{"1048576 bytes (1.0 MB, 1.0 MiB) copied, inf s, 1 MB/s\n", "'inf' is not a number"},
		{"1048576 bytes (1.0 MB, 1.0 MiB) copied, -1 s, 1 MB/s\n", "'-1' is negative"},
		{"1048576 bytes (1.0 MB, 1.0 MiB) copied, 1 234.5 s, 849 B/s\n", "not a number of seconds"},
		{"1048576 bytes (1.0 MB, 1.0 MiB) copied, 1.5 ms, 700 MB/s\n", "not a number of seconds"},
		{"1048576 bytes (1.0 MB, 1.0 MiB) copied, 1.5.5 s, 1 MB/s\n", "not a number of seconds"},
		{"1048576 bytes (1.0 MB, 1.0 MiB) copied, 1 s, nan MB/s\n", "the rate: 'nan'"},
		{"-1048576 bytes (1.0 MB, 1.0 MiB) copied, 1 s, 1 MB/s\n", "does not begin with a number of"},
		{"1,048,576 bytes (1.0 MB, 1.0 MiB) copied, 1 s, 1 MB/s\n", "does not begin with a number of"},
		{"99999999999999999999 bytes (100 EB) copied, 1 s, 100 EB/s\n", "does not begin with a"},
		{"nan bytes (1.0 MB) copied, 1 s, 1 MB/s\n", "does not begin with a number of bytes"},
		{"1048576000 bytes (1.0 GB, 1000 MiB) copied, 11", "it is not whole"},
		{"1048576000 bytes (1.0 GB, 1000 MiB) copied, 11.2 s", "it is not whole"},
		{"1048576000 bytes (1.0 GB, 1000 MiB) copied, 11.2 s, 9", "it is not whole"},
		{"1048576000 bytes (1.0 GB, 1000 MiB) copied, 11.2 s, 9\n", "it is not whole"},
		{"1048576000 bytes (1.0 GB, 1000 MiB) cop", "it is not whole"},
		{"1048576000 bytes (", "it is not whole"},
		{"512 bytes cop", "it is not whole"},
		{"512 bytes copied, 0.001", "it is not whole"},
		{"1048576000 bytes transf", "it is not whole"},
		{"1048576000 bytes transferred in 11.2", "it is not whole"},
		{"1048576 bytes transferred in nan secs (1 bytes/sec)\n", "'nan' is not a number"},
		{"67108864 Bytes (67 MB, 64 MiB) kopiert, nan s, 2,0 GB/s\n", "'nan' is not a number"},
		{"67108864\302\240octets (67 MB, 64 MiB) copi\303\251s, 0,03\n", "it is not whole"},
		{"512 Bytes kopiert, nan s, 5,0 kB/s\n", "'nan' is not a number"},
		{"67108864字节（67 MB，64 MiB）已复制，nan s，2.0 GB/s\n", "'nan' is not a number"},
		{"h1: 1048576 bytes (1.0 MB) copied, 1 s, 1.0 MB/s\n", "does not begin with a number of"},
		{"12:00:01 1048576 bytes transferred in 1 secs (1048576 bytes/sec)\n", "does not begin"},
	};

	(void)state;
	check_broken(DD_GOOD, "dd", table, ARRAY_LEN(table));
	kit_bad(DD_GOOD "100+0 records in\n100+0 records out\n", NULL, "x:4: dd without its third line");
	kit_bad(DD_GOOD "100+0 records in\n", NULL, "x:3: dd without its third line");
	kit_bad(DD_GOOD "100+0 rec", NULL, "x:3: dd without its third line");
	kit_bad(DD_GOOD "100+0 records in\n100", NULL, "x:4: '100' is cut off");
	kit_bad(DD_GOOD "100+", NULL, "x:3: '100+' is cut off");
}

static void broken_lines_of_time_are_errors(void **state)
{
	static const struct broken table[] = {
		{"real 1,234.5.6\n", "'1,234.5.6' is not a time"},
		{"real\t18m15.395.5s\n", "'18m15.395.5s' is not a time"},
		{"real 1 234.5\n", "'1 234.5' is not a time"},
		{"real\t1.5 fast\n", "'1.5 fast' is not a time"},
		{"real 12x\n", "'12x' is not a time"},
		{"real nan\n", "'nan' is not a number"},
		{"real nans\n", "'nans' is not a number"},
		{"real -1.5\n", "'-1.5' is negative"},
		{"real\n", "no time behind 'real'"},
		{"real\t\n", "no time behind 'real'"},
		{"user\t\n", "no time behind 'user'"},
		{"sys nan\n", "'nan' is not a number"},
		{"real\t18m\n", "'18m' is not a time"},
		{"real\t18m15", "'18m15' is not a time"},
		{"0.00user 0.00system 0:nanelapsed 0%CPU\n", "'nanelapsed"},
		{"0.00user 0.00system nanelapsed 0%CPU\n", "'nanelapsed' is not a number"},
		{"0.00user 0.00system -1:00elapsed 0%CPU\n", "'-1:00elapsed' is negative"},
		{"nanuser 0.00system 0:00.34elapsed 0%CPU\n", "'nanuser' is not a number"},
		{"0:nanelapsed\n", "'nanelapsed' is not a number"},
		{"nanelapsed\n", "'nanelapsed"},
		{"0.00user 0.00system 0:0", "is cut off or has another number"},
		{"0.00user 0.0", "is cut off or has another number"},
		{"3.25 real 1.50 us", "is cut off or has another number"},
		{"3.25 real", "is cut off or has another number"},
		{"3.25 real nan user 0.10 sys\n", "'nan' is not a number"},
		{"nan real 1.50 user 0.10 sys\n", "'nan' is not a number"},
		{"sleep 3  1.50s user 0.10s system 49% cpu nan total\n", "'nan' is not a number"},
		{"sleep 3  1.50s user 0.10s system 49% cpu", "is cut off or has another number"},
		{"sleep 3  1.50s user 0.1", "is cut off or has another number"},
		{"Elapsed (wall clock) time (h:mm:ss or m:ss): nan\n", "'nan' is not a number"},
		{"Elapsed (wall clock) time (h:mm:ss or m:ss): soon\n", "'soon' is not a time"},
		{"Elapsed (wall clock) time (h:mm:ss or m:ss): 0:03.25x\n", "'0:03.25x' is not a time"},
		{"Elapsed (wall clock) time (h:mm:ss or m:ss):", "'' is not a time"},
		{"Elapsed (wall clock) time (h:m", "is not a whole line"},
		{"User time (seconds): x\n", "'x' is not a time"},
		{"Real time (s): nan\n", "'nan' is not a number"},
		{"Executed in    1.00 se", "is not a whole line of fish's time"},
		{"Executed in    1.0", "is not a whole line of fish's time"},
		{"Executed in    nan secs   fish   external\n", "'nan' is not a number"},
		{"1.500u 0.100s nan 49.2%\t0+0k\n", "'nan' is not a number"},
		{"1.500u 0.100s 0:03.25", "is not a whole line of csh's time"},
	};

	(void)state;
	check_broken("real 1.5\nreal 1.6\n", "time", table, ARRAY_LEN(table));
	kit_bad("real 1.5\nExit status: \n", NULL, "x:2: 'Exit status: ' does not say");
	kit_bad("real 1.5\nreal\t18", NULL, "x:2: the text ends in 'real 18', which is cut off");
	kit_bad("real 1.5\nreal 1095.3", NULL, "x:2: the text ends in 'real 1095.3'");
	kit_bad("Elapsed (wall clock) time (h:mm:ss or m:ss): 0:03.2", NULL, "is cut off");
	kit_bad("real 1.5\nreal\n", NULL, "put this line of time right or take it away");
}

static void broken_lines_of_filebench_are_errors(void **state)
{
	static const struct broken table[] = {
		{"61: IO Summ", "cut off"},
		{"61.012: IO", "cut off"},
		{"61: IO Summary", "cut off"},
		{"61: IO Summary:\n", "cut off"},
		{"61: IO Summary 130000 ops\n", "cut off"},
		{"IO Summary: 130000 ops, 1300.000 ops/s, (200/200 r/w),   6.5mb/s,    325us cpu/op,  13.0ms lat\n",
			"'ms lat' is no unit"},
		{"IO Summary: 130000 ops 1300.0 ops/s, (200/200 r/w) 6.5mb/s\n", "without a latency"},
		{"IO Summary: 130000 ops nan ops/s\n", "'nan' is not a number"},
		{"IO Summary: 130000 ops -1300.0 ops/s\n", "'-1300.0' is negative"},
		{"IO Summary: 130000 ops 1300.0 ops/s 200/nan rd/wr 6.5mb/s 4.000ms/op\n", "'/nan rd/wr"},
		{"IO Summary: 130000 ops 1300.0 ops 1 ops/s 1/1 rd/wr 6.5mb/s 4.000ms/op\n", "there twice"},
	};
	static const char good[] = "IO Summary: 130000 ops 1300.000 ops/s 200/200 rd/wr 6.5mb/s 4.000ms/op\n"
				   "IO Summary: 130000 ops 1301.000 ops/s 200/200 rd/wr 6.5mb/s 4.000ms/op\n";

	(void)state;
	check_broken(good, "filebench", table, ARRAY_LEN(table));
}

static void broken_lines_of_other_tools_are_errors(void **state)
{
#define BONNIE                                                                                     \
	"box,8G,700,99,204800,20,102400,10,900,99,307200,15,250.5,5,16,6000,50,+++++,+++,7000,60,5000," \
	"55,+++++,+++,1500,20\n"
#define BONNIE_98                                                                                  \
	"1.98,2.00a,b ox,1,17,8G,,8192,5,700,99,204800,20,102400,10,900,99,307200,15,250.5,5,16,,,,,"  \
	"6000,50,+++++,+++,7000,60,5000,55,+++++,+++,1500,20,12ms,4060us,46us,80ms,66us,60ms,7ms,5ms," \
	"66ms,40ms,4ms,28m"
#define IOZONE "              kB  reclen    write  rewrite\n           65536      64   100000   110000\n"
	static const struct broken table[] = {
		{BONNIE "1.98,2.00a,box,1,17,8G,,8192,5,700,99,2", "x:2: a csv line of bonnie++ with 12"},
		{BONNIE "box,8G,700,99,204800", "x:2: a csv line of bonnie++ with 5 fields"},
		{BONNIE "box,8G,nan,99,204800,20,102400,10,900,99,307200,15,250.5,5,16,6000,50,+++++,+++,7000,"
			"60,5000,55,+++++,+++,1500,20\n",
			"x:2: 'nan' is not a number"},
		{BONNIE_98, "x:1: '28m' is not a latency of bonnie++"},
		{"------Sequential Output------\nbox              8G            200m  36  100", "cut off"},
		{"------Sequential Output------\nbox  8G:64k 700k 99 200m 20 100m 10 900k 99 300m 15 250.5 5",
			"x:2: a row of bonnie++'s table that is cut off"},
		{IOZONE "           65536     128      nan   110000\n", "x:3: 'nan' is not a number"},
		{IOZONE "           65536     128      -10   110000\n", "x:3: '-10' is negative"},
		{IOZONE "          -65536     128   100000   110000\n", "x:3: '-65536' is negative"},
		{IOZONE "             nan     128   100000   110000\n", "x:3: 'nan' is not a number"},
		{IOZONE "           65536     128   100000   110.0.0\n", "x:3: '110.0.0' is not a figure"},
		{IOZONE "\tChildren see throughput f", "x:3: a line of iozone's throughput mode that is cut"},
		{IOZONE "\tChildren see throughput for 4 writers = nan kB/sec\n", "x:3: 'nan' is not a"},
		{"{\"fio version\":\"x\",\"jobs\":[{\"jobname\":\"g\",\"read\":{\"io_bytes\":4096,\"io_kbytes\":4,"
		 "\"runtime\":10}}]}\n  \"jobs\" : [\n",
			"x:2: not whole JSON: '\"jobs\" : [' stands outside of a document"},
		{"fio-3.33\n6;fio-3.50;a;0;0;1;2\n", "x:2: fio's terse output is read in the versions"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		kit_bad(table[i].line, NULL, table[i].words);
}

static int has_number(const struct format_found *f, const struct format_value *v)
{
	for (size_t i = 0; i < f->n_records; i++) {
		double is = kit_value(&f->records[i], v->metric)->value;

		if (fabs(is - v->value) <= 1e-9 * v->value)
			return 1;
	}
	return 0;
}

/* Of a text that is cut off anywhere, nothing is read that the whole does not say. */
static void a_cut_text_has_no_other_numbers(void **state)
{
	static const struct {
		const char *format, *text;
	} whole[] = {
		{"dd", DD_GOOD "10+0 records in\n10+0 records out\n"
			"10485760 bytes (10 MB, 10 MiB) copied, 0.123456 s, 84.9 MB/s\n"},
		{"dd", "209715200 bytes transferred in 2.176080 secs (96372946 bytes/sec)\n"},
		{"time", "real\t18m15.395s\nuser\t0m1.500s\nsys\t0m0.100s\nreal\t1m 3.50s\n"},
		{"time", "real 1095.39\nuser 1.50\nsys 0.10\n"},
		{"time", "1.50user 0.10system 18:15.39elapsed 0%CPU (0avgtext+0avgdata 1300maxresident)k\n"},
		{"time", "\tUser time (seconds): 1.50\n\tSystem time (seconds): 0.10\n"
			 "\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:03.25\n\tExit status: 0\n"},
		{"time", "        3.25 real         1.50 user         0.10 sys\n"},
		{"time", "sleep 3  1.50s user 0.10s system 49% cpu 3.251 total\n"},
		{"time", "Executed in   18.25 mins    fish           external\n"
			 "   usr time    1.50 secs    450.00 micros    1.49 secs\n"},
		{"time", "1.500u 0.100s 0:03.25 49.2%\t0+0k 0+0io 0pf+0w\n"},
		{"time", "Real time (s): 3.251234\nUser time (s): 1.500000\n"},
		{"filebench", "61.0: IO Summary: 130000 ops 1300.000 ops/s 200/200 rd/wr 6.5mb/s 4.000ms/op\n"},
		{"filebench", "IO Summary: 130000 ops 1300.0 ops/s, (200/200 r/w) 6.5mb/s, 325us cpu/op, "
			      "13.0ms latency\n"},
		{"iozone", IOZONE "\tChildren see throughput for  4 writers \t=  300000.50 kB/sec\n"},
		{"bonnie++", BONNIE},
		{"bonnie++", BONNIE_98 "s\n"},
		{"bonnie++", "------Sequential Output------\n"
			     "box           8G:64k  700k  99  200m  20  100m  10  900k  99  300m  15 250.5   5\n"
			     "Latency             12ms    4060us      46us   80493us      66us   60707us\n"},
		{"fio", "{\"fio version\":\"x\",\"jobs\":[{\"jobname\":\"g\",\"read\":{\"io_bytes\":4096,"
			"\"io_kbytes\":4,\"runtime\":1234}}]}\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(whole); i++) {
		struct format_found all = {0};

		kit_good(whole[i].text, whole[i].format, &all);
		for (size_t cut = 1; cut < strlen(whole[i].text); cut++) {
			struct format_found f = {0};
			struct err e;

			if (kit_read_n(whole[i].text, cut, whole[i].format, &f, &e))
				continue;
			for (size_t k = 0; k < f.n_records; k++)
				for (size_t m = 0; m < f.records[k].n_v; m++)
					if (!f.records[k].error && !has_number(&all, &f.records[k].v[m]))
						fail_msg("%.*s: %g", (int)cut, whole[i].text,
							f.records[k].v[m].value);
			format_found_clear(&f);
		}
		format_found_clear(&all);
	}
}

/* Prose and other programs' lines that have words of a result in them. */
static void other_lines_are_passed_over(void **state)
{
	static const char *const lines[] = {"Executed in parallel", "usr time is short", "4u rack",
		"2 sys time of it", "real life is different", "real 10 times faster",
		"real information", "user information", "user", "users 5", "sys", "real-time clock",
		"10 real disks", "time elapsed", "5 min elapsed", "user\tsystem\telapsed",
		"1048576 bytes free", "1048576 bytes written to disk", "512 bytes (see above)",
		"1024 bytes", "12 files copied", "$ dd if=/dev/zero of=/t/a bs=1M count=64",
		"# 1048576 bytes (1.0 MB) copied, nan s, 1 MB/s", "4 disks (4 TB) attached",
		"the IO Summary is below", "IO errors: none", "2 + 2", "8+2 disks"};
	static const struct {
		const char *format, *text;
		size_t records;
	} good[] = {{"dd", DD_GOOD, 2}, {"time", "real 1.5\nuser 1.0\nsys 0.5\n", 1},
		{"filebench", "IO Summary: 130000 ops 1300.000 ops/s 200/200 rd/wr 6.5mb/s 4.000ms/op\n", 1}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		for (size_t k = 0; k < ARRAY_LEN(good); k++)
			for (int last = 0; last < 2; last++) {
				struct format_found f = {0};
				struct buf b = {0};
				struct err e = {0};

				buf_addf(&b, "%s%s%s%s", last ? good[k].text : "", lines[i],
					last ? "" : "\n", last ? "" : good[k].text);
				if (kit_read(b.data, good[k].format, &f, &e))
					fail_msg("%s: %s", lines[i], e.text);
				if (f.n_records != good[k].records)
					fail_msg("%s: %zu records", lines[i], f.n_records);
				format_found_clear(&f);
				buf_free(&b);
			}
}

/* Lines that had the same words twice on the way: the doubt is told. */
static void what_a_dd_lost_is_warned_of(void **state)
{
	struct format_found f = {0};

	(void)state;
	kit_good("100+0 records in\n100+0 records out\nnext\n100+0 records in\n100+0 records out\n"
		 "104857600 bytes (105 MB, 100 MiB) copied, 1.1 s, 95.3 MB/s\n"
		 "real 0.5\n",
		"dd", &f);
	assert_int_equal(f.n_records, 1);
	assert_has(kit_note(&f, 2), "without bytes and a time");
	assert_has(kit_note(&f, 7), "shorter than the dd before it");
	for (size_t i = 0; i < f.n_notes; i++)
		assert_int_equal(f.notes[i].doubt, f.notes[i].first == 2 || f.notes[i].first == 7);
	format_found_clear(&f);
}

/* Within the digits that are printed, in one of the units that are meant by the letters. */
static void the_rate_of_dd_may_not_contradict(void **state)
{
	static const struct {
		const char *line;
		int good;
	} table[] = {
		{"1048576000 bytes (1.0 GB, 1000 MiB) copied, 1234 s, 850 kB/s", 1},
		{"1048576000 bytes (1.0 GB, 1000 MiB) copied, 1,234 s, 850 MB/s", 1},
		{"1048576000 bytes (1.0 GB, 1000 MiB) copied, 1,234 s, 850 kB/s", 0},
		{"1048576000 bytes (1.0 GB, 1000 MiB) copied, 1.234 s, 850 kB/s", 0},
		{"1048576000 bytes (1000.0MB) copied, 1.234000 seconds, 810.4MB/s", 1},
		{"1048576000 bytes (1000.0MB) copied, 1.234000 seconds, 810.4MiB/s", 1},
		{"1048576000 bytes (1000.0MB) copied, 1.234000 seconds, 850MiB/s", 0},
		{"1048576000 bytes (1000.0MB) copied, 1.234000 seconds, 700.0MB/s", 0},
		{"1048576000 bytes (1.0 GB, 1000 MiB) copied, 12 s, 91.2 MB/s", 1},
		{"1048576000 bytes (1.0 GB, 1000 MiB) copied, 12 s, 0.1 GB/s", 1},
		{"1048576000 bytes (1.0 GB, 1000 MiB) copied, 12 s, 9.1 MB/s", 0},
		{"67108864 bytes (67 MB, 64 MiB) copied, 0.0134465 s, 5.0 GB/s", 1},
		{"67108864 octets (67 MB, 64 MiB) copiÃ©s, 0,0386664 s, 1,7 Go/s", 1},
		{"67108864 octets (67 MB, 64 MiB) copiÃ©s, 0,0386664 s, 1,7 Mo/s", 0},
		{"67108864 bytes (67 MB, 64 MiB) copied, 0.04 s, 1,7 ÐÐ/s", 1},
		{"1048576000 bytes transferred in 11.234 secs (93339505 bytes/sec)", 1},
		{"1048576000 bytes transferred in 11.234 secs (93339.505 bytes/sec)", 0},
		{"1048576000 bytes transferred in 11.234 secs (89.0MB/sec)", 1},
		{"512 bytes copied, 0.001 s, 512 kB/s", 1},
		{"512 bytes copied, 0.001 s, 512 B/s", 0},
		{"512 Bytes kopiert, 1,234 s, 415 kB/s", 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct format_found f = {0};

		if (!table[i].good) {
			kit_bad(table[i].line, NULL, "bytes a second, but its rate is");
			continue;
		}
		kit_good(table[i].line, "dd", &f);
		assert_int_equal(f.n_records, 1);
		format_found_clear(&f);
	}
	kit_bad(table[2].line, NULL,
		"1048576000 bytes in '1,234 s', read as 1.234 s, are 849737439 bytes a second, but its rate "
		"is '850 kB/s'");
}

/* BSD's line of progress has its seconds behind a word. */
static void progress_of_bsd_is_read(void **state)
{
	struct format_found f = {0};

	(void)state;
	kit_good("  104857600 bytes (105 MB, 100 MiB) transferred 1.100s, 95 MB/s\n100+0 records in\n"
		 "200+0 records out\n209715200 bytes transferred in 2.200000 secs (95325091 bytes/sec)\n",
		"dd", &f);
	assert_int_equal(f.n_records, 1);
	kit_near(f.records[0].seconds, 2.2, "seconds");
	format_found_clear(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(broken_lines_of_dd_are_errors),
		cmocka_unit_test(broken_lines_of_time_are_errors),
		cmocka_unit_test(broken_lines_of_filebench_are_errors),
		cmocka_unit_test(broken_lines_of_other_tools_are_errors),
		cmocka_unit_test(a_cut_text_has_no_other_numbers),
		cmocka_unit_test(other_lines_are_passed_over),
		cmocka_unit_test(what_a_dd_lost_is_warned_of),
		cmocka_unit_test(the_rate_of_dd_may_not_contradict),
		cmocka_unit_test(progress_of_bsd_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
