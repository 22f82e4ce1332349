/* dd, time and filebench: outputs written by hand in the shapes that the tools print. */
#include <stdio.h>

#include "tests/unit/test.h"
#include "tests/unit/formats_kit.h"

struct transfer {
	const char *name, *text;
	double seconds, resolution;
	uint64_t bytes;
};

static const struct transfer transfers[] = {
	{"GNU",
		"200+0 records in\n200+0 records out\n"
		"209715200 bytes (210 MB, 200 MiB) copied, 2.17608 s, 96.4 MB/s\n",
		2.17608, 1e-5, 209715200},
	{"GNU, zeros left out", "209715200 bytes (210 MB, 200 MiB) copied, 56.12 s, 3.7 MB/s\n", 56.12,
		1e-4, 209715200},
	{"GNU, six digits", "209715200 bytes (210 MB, 200 MiB) copied, 561.123 s, 374 kB/s\n", 561.123,
		1e-3, 209715200},
	{"whole seconds, of progress", "209715200 bytes (210 MB, 200 MiB) copied, 56 s, 3.7 MB/s\n", 56, 1,
		209715200},
	{"an exponent", "2097152000000 bytes (2.1 TB, 1.9 TiB) copied, 1.23456e+06 s, 1.7 MB/s\n",
		1234560, 10, 2097152000000},
	{"uutils of old, one decimal",
		"200+0 records in\n200+0 records out\n"
		"209715200 bytes (210 MB, 200 MiB) copied, 2.2 s, 96 MB/s\n",
		2.2, 0.1, 209715200},
	{"toybox, three decimals",
		"200+0 records in\n200+0 records out\n209715200 bytes (200 M) copied, 2.176 s, 91 M/s\n",
		2.176, 1e-3, 209715200},
	{"toybox, with a zero at the end",
		"200+0 records in\n200+0 records out\n209715200 bytes (200 M) copied, 2.170 s, 92 M/s\n",
		2.17, 1e-3, 209715200},
	{"a zero at the end", "209715200 bytes (210 MB) copied, 2.170 s, 96.6 MB/s\n", 2.17, 1e-3,
		209715200},
	{"GNU, one unit",
		"200+0 records in\n200+0 records out\n"
		"209715200 bytes (210 MB) copied, 2.17608 seconds, 96.4 MB/s\n",
		2.17608, 1e-5, 209715200},
	{"GNU of old", "209715200 bytes transferred in 2.176080 seconds (96372946 bytes/sec)\n",
		2.17608, 1e-6, 209715200},
	{"BSD",
		"200+0 records in\n200+0 records out\n"
		"209715200 bytes transferred in 2.176 secs (96376470 bytes/sec)\n",
		2.176, 1e-3, 209715200},
	{"busybox",
		"200+0 records in\n200+0 records out\n"
		"209715200 bytes (200.0MB) copied, 2.176080 seconds, 91.9MB/s\n",
		2.17608, 1e-6, 209715200},
	{"German",
		"200+0 Datens\303\244tze ein\n200+0 Datens\303\244tze aus\n"
		"209715200 Bytes (210 MB, 200 MiB) kopiert, 2,17608 s, 96,4 MB/s\n",
		2.17608, 1e-5, 209715200},
	{"French",
		"200+0\302\240enregistrements lus\n200+0\302\240enregistrements \303\251crits\n"
		"209715200\302\240octets (210 MB, 200 MiB) copi\303\251s, 2,17608 s, 96,4 MB/s\n",
		2.17608, 1e-5, 209715200},
	{"Chinese",
		"输入了 200+0 块记录\n输出了 200+0 块记录\n"
		"209715200 字节 (210 MB, 200 MiB) 已复制，2.17608 s，96.4 MB/s\n",
		2.17608, 1e-5, 209715200},
	{"Chinese of old",
		"记录了200+0 的读入\n记录了200+0 的写出\n209715200字节(210 MB)已复制，2.17608 秒，96.4 MB/秒\n",
		2.17608, 1e-5, 209715200},
	{"Ukrainian",
		"200+0 записів прочитано\n200+0 записів записано\n"
		"скопійовано 209715200 байтів (210 MB, 200 MiB), 2,17608 s, 96,4 MB/s\n",
		2.17608, 1e-5, 209715200},
	{"Japanese",
		"200+0 レコード入力\n200+0 レコード出力\n"
		"209715200 バイト (210 MB) コピーされました、 2.17608 秒、 96.4 MB/秒\n",
		2.17608, 1e-5, 209715200},
	{"comma and three digits", "209715200 bytes (210 MB, 200 MiB) copied, 2,176 s, 96,4 MB/s\n",
		2.176, 1e-5, 209715200},
	{"short reads",
		"0+6400 records in\n0+6400 records out\n"
		"209715200 bytes (210 MB, 200 MiB) copied, 2.17608 s, 96.4 MB/s\n",
		2.17608, 1e-5, 209715200},
	{"CRLF",
		"200+0 records in\r\n200+0 records out\r\n"
		"209715200 bytes (210 MB, 200 MiB) copied, 2.17608 s, 96.4 MB/s\r\n",
		2.17608, 1e-5, 209715200},
	{"progress, overwritten",
		"\r104857600 bytes (105 MB, 100 MiB) copied, 1 s, 105 MB/s"
		"\r188743680 bytes (189 MB, 180 MiB) copied, 2 s, 94.4 MB/s\n"
		"200+0 records in\n200+0 records out\n"
		"209715200 bytes (210 MB, 200 MiB) copied, 2.17608 s, 96.4 MB/s\n",
		2.17608, 1e-5, 209715200},
	{"progress, line by line",
		"104857600 bytes (105 MB, 100 MiB) copied, 1 s, 105 MB/s\n"
		"188743680 bytes (189 MB, 180 MiB) copied, 2 s, 94.4 MB/s\n"
		"200+0 records in\n200+0 records out\n"
		"209715200 bytes (210 MB, 200 MiB) copied, 2.17608 s, 96.4 MB/s\n",
		2.17608, 1e-5, 209715200},
	{"progress that begins with nothing",
		"0 bytes copied, 1 s, 0.0 kB/s\n200+0 records in\n200+0 records out\n"
		"209715200 bytes (210 MB, 200 MiB) copied, 2.17608 s, 96.4 MB/s\n",
		2.17608, 1e-5, 209715200},
	{"signals",
		"100+0 records in\n100+0 records out\n"
		"104857600 bytes (105 MB, 100 MiB) copied, 1.00001 s, 105 MB/s\n"
		"200+0 records in\n200+0 records out\n"
		"209715200 bytes (210 MB, 200 MiB) copied, 2.17608 s, 96.4 MB/s\n",
		2.17608, 1e-5, 209715200},
	{"timed with its sync",
		"200+0 records in\n200+0 records out\n"
		"209715200 bytes (210 MB, 200 MiB) copied, 2.17608 s, 96.4 MB/s\n"
		"\nreal\t0m3.500s\nuser\t0m0.010s\nsys\t0m0.700s\n",
		3.5, 1e-3, 209715200},
};

static void test_dd(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(transfers) / sizeof(transfers[0]); i++) {
		const struct transfer *t = &transfers[i];
		struct format_found f = {0};
		const struct format_record *r;

		kit_good(t->text, "dd", &f);
		assert_int_equal(f.n_records, 1);
		r = &f.records[0];
		assert_int_equal(r->bytes, t->bytes);
		kit_near(kit_value(r, "elapsed")->value, t->seconds, t->name);
		kit_near(kit_value(r, "elapsed")->resolution, t->resolution, t->name);
		kit_near(kit_value(r, "throughput")->value, (double)t->bytes / t->seconds, t->name);
		format_found_clear(&f);
	}
}

/* Two transfers of one size are two trials, not the progress of one. */
static void test_dd_trials(void **state)
{
	const char *one = "30720+0 records in\n30720+0 records out\n"
			  "32212254720 bytes (32 GB, 30 GiB) copied, 56.1 s, 574 MB/s\n"
			  "30720+0 records in\n30720+0 records out\n"
			  "32212254720 bytes (32 GB, 30 GiB) copied, 57.2 s, 563 MB/s\n";
	const char *lines = "layout: a\n"
			    "1000 bytes (1.0 kB) copied, 1.5 s, 0.7 kB/s\n"
			    "2000 bytes (2.0 kB) copied, 1.6 s, 1.2 kB/s\n";
	struct format_found f = {0};

	(void)state;
	kit_good(one, "dd", &f);
	assert_int_equal(f.n_records, 2);
	/* 30720 MiB in 56.1 s: what is printed is 10^6, and both are said. */
	assert_has(kit_note(&f, 3), "574.2 MB/s = 547.6 MiB/s");
	format_found_clear(&f);
	kit_good(lines, "dd", &f);
	assert_int_equal(f.n_records, 2);
	assert_string_equal(f.records[1].layout, "a");
	format_found_clear(&f);
}

#define DD_AT(in, out, bytes, seconds, rate)                                                        \
	in " records in\n" out " records out\n" bytes " bytes (1 GB, 1 GiB) copied, " seconds         \
	   " s, " rate "\n"
#define DD(in, out, bytes, seconds) DD_AT(in, out, bytes, seconds, "95.3 MB/s")
#define LINE(bytes, seconds) bytes " bytes (1 GB, 1 GiB) copied, " seconds " s, 0.1 GB/s\n"
#define SHORT	DD("100+0", "100+0", "104857600", "1.1")
#define LONG	DD("200+0", "200+0", "209715200", "2.2")
#define LONGEST DD("300+0", "300+0", "314572800", "3.3")

/* What a signal makes dd print looks as its end does. */
static void test_dd_progress(void **state)
{
	static const struct {
		const char *name, *text;
		size_t records, doubts;
	} table[] = {
		{"a longer one of the same blocks could be the same", SHORT LONG, 1, 1},
		{"three of them are told of once", SHORT LONG LONGEST, 1, 1},
		{"a block that was read and not yet written",
			DD("101+0", "100+0", "104857600", "1.1") LONG, 1, 0},
		{"blocks of another size", SHORT DD("400+0", "400+0", "209715200", "2.2"), 2, 0},
		{"fewer blocks", SHORT DD("50+0", "50+0", "209715200", "2.2"), 2, 0},
		{"fewer blocks that are not whole",
			DD("0+900", "0+900", "104857600", "1.1") LONG, 2, 0},
		{"less time", SHORT DD_AT("200+0", "200+0", "209715200", "0.9", "233 MB/s"), 2, 0},
		{"a line between", SHORT "# next\n" LONG, 2, 0},
		{"each timed", SHORT "real 1.2\n" LONG "real 2.3\n", 2, 0},
		{"whole seconds without counts", LINE("104857600", "1") LINE("209715200", "2"), 1, 1},
		{"whole seconds of the same bytes", LINE("104857600", "1") LINE("104857600", "2"), 2, 0},
		{"whole seconds that are less", LINE("104857600", "2") LINE("209715200", "1"), 2, 0},
		{"parts of seconds without counts", LINE("104857600", "1.1") LINE("209715200", "2.2"), 2, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct format_found f = {0};
		size_t doubts = 0;

		kit_good(table[i].text, "dd", &f);
		for (size_t k = 0; k < f.n_notes; k++)
			doubts += f.notes[k].doubt != 0;
		if (f.n_records != table[i].records || doubts != table[i].doubts)
			fail_msg("%s: %zu records, %zu doubts", table[i].name, f.n_records, doubts);
		format_found_clear(&f);
	}
}

/* busybox prints no third line: the command's time is all there is. */
static void test_dd_only_timed(void **state)
{
	struct format_found f = {0};

	(void)state;
	kit_good("200+0 records in\n200+0 records out\nreal\t1m 3.50s\nuser\t0m 0.01s\n", "dd", &f);
	assert_int_equal(f.n_records, 1);
	kit_near(kit_value(&f.records[0], "elapsed")->value, 63.5, "elapsed");
	assert_int_equal(f.records[0].bytes, 0);
	assert_has(kit_note(&f, 3), "bytes not known");
	format_found_clear(&f);
	kit_good("bytes: 200M\n200+0 records in\n200+0 records out\nreal\t1m 3.50s\n", "dd", &f);
	kit_near(kit_value(&f.records[0], "throughput")->value, 209715200 / 63.5, "throughput");
	format_found_clear(&f);
}

/* What stands before a good dd; in what a dd prints whose line of progress ends in ^C both are of it. */
static void interrupted_dds(void)
{
#define GOOD                                                                                       \
	"9+0 records in\n9+0 records out\n"                                                        \
	"9437184 bytes (9.4 MB, 9.0 MiB) copied, 0.6 s, 15.7 MB/s\n"
	static const struct {
		const char *text;
		size_t failed;
	} table[] = {
		{"^C", 1},
		{"^C\n", 1},
		{"^C\n\n", 1},
		{"8388608 bytes (8.4 MB, 8.0 MiB) copied, 0.5 s, 16 MB/s\n^C", 1},
		{"8388608 bytes (8.4 MB, 8.0 MiB) copied, 0.5 s, 16 MB/s^C\n", 1},
		{"\r8388608 bytes (8.4 MB, 8.0 MiB) copied, 0.5 s, 16 MB/s^C\n", 1},
		{"$ sleep 100\n^C\n$ dd if=/dev/zero of=/t/a bs=1M count=9\n", 0},
		{"^C" GOOD "# next\n", 1},
		{"dd: /x: No such file or directory\n", 0},
		{"dd: /x: Permission denied\n", 0},
		{"dd: konnte '/x' nicht öffnen: Datei oder Verzeichnis nicht gefunden\n$ dd if=/x of=/y\n", 0},
		{"dd: Fehler beim Schreiben von '/x': Kein Platz mehr\n", 1},
		{"dd: Warnung: partielles Lesen (300 Bytes); vielleicht mit iflag=fullblock: so\n", 0},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct format_found f = {0};
		char text[512];
		size_t failed = 0;

		snprintf(text, sizeof(text), "%s%s# and\n%s", table[i].text, GOOD, GOOD);
		kit_good(text, "dd", &f);
		for (size_t k = 0; k < f.n_records; k++)
			failed += f.records[k].error != NULL;
		if (failed != table[i].failed || f.records[f.n_records - 1].error)
			fail_msg("%s: %zu failed", table[i].text, failed);
		format_found_clear(&f);
	}
#undef GOOD
}

static void test_dd_failures(void **state)
{
	const char *half = "dd: error writing '/t/a': No space left on device\n"
			   "10+0 records in\n9+0 records out\n"
			   "9437184 bytes (9.4 MB, 9.0 MiB) copied, 0.5 s, 18.9 MB/s\n"
			   "9+0 records in\n9+0 records out\n"
			   "9437184 bytes (9.4 MB, 9.0 MiB) copied, 0.6 s, 15.7 MB/s\n";
	struct format_found f = {0};

	(void)state;
	kit_good(half, "dd", &f);
	assert_int_equal(f.n_records, 2);
	assert_has(f.records[0].error, "No space left");
	assert_null(f.records[1].error);
	format_found_clear(&f);
	kit_good("dd: failed to open '/x': No such file or directory\n9+0 records in\n9+0 records out\n"
		 "9437184 bytes (9.4 MB, 9.0 MiB) copied, 0.6 s, 15.7 MB/s\n",
		"dd", &f);
	assert_null(f.records[0].error);
	assert_has(kit_note(&f, 1), "it began no transfer, so this is no trial: dd: failed to open");
	assert_true(f.notes[0].doubt);
	format_found_clear(&f);
	interrupted_dds();
	kit_bad("64+0 records in\n64+0 records out\n", NULL, "x:2: dd without its third line");
	kit_bad("dd: failed to open '/x': No such file or directory\n", NULL,
		"dd failed: dd: failed");
	kit_bad("0+0 records in\n0+0 records out\n0 bytes copied, 0.000454 s, 0.0 kB/s\n", NULL,
		"x:3: no result: dd transferred no bytes");
	kit_bad("^C7+0 records in\n6+0 records out\n6291456 bytes (6.3 MB) copied, 1.5 s, 4 MB/s\n",
		NULL, "dd was interrupted");
	kit_bad("9437184 bytes (9.4 MB) copied, 0 s, Infinity B/s\n", NULL, "x:1: a time of zero");
}

/* A pasted dd command says what was written by what follows it, until the next one; a line "data:" says
 * it where no command does. */
static void test_dd_commands(void **state)
{
#define END "1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.5 s, 2.1 MB/s\n"
	static const struct {
		const char *text, *data;
	} table[] = {
		{"$ dd if=/dev/zero of=/t/a bs=1M count=1\n" END, "zero"},
		{"root@x:~# dd bs=1M of=/t/a if=/dev/urandom\n" END, "random"},
		{"# dd if=/dev/random of=/t/a\n" END, "random"},
		{"time (dd if=/dev/zero of=/t/test-$i bs=1M && sync)\n" END, "zero"},
		{"$ sudo /bin/dd if=/dev/zero of=/t/a || echo no\n" END, "zero"},
		{"$ dd if=/t/a of=/dev/null\n" END, ""},
		{"$ dd if=/dev/zero | gzip -c | dd of=/t/a\n" END, ""},
		{"$ dd if=/dev/zero of=/t/a | tee log\n" END, ""},
		{"$ dd if=/dev/zero of=/t/a; dd if=/t/a of=/dev/null\n" END, ""},
		{"$ dd if=/dev/zeros of=/t/a\n" END, ""},
		{"$ odd if=/dev/zero of=/t/a\n" END, ""},
		{"it was not dd from if=/dev/zero to of=/t/a\n" END, ""},
		{END, ""},
		{"data: zero\n" END, "zero"},
		{"data: {compressible: 50%}\n" END, "compressible 50%"},
		{"data: zero\n$ dd if=/t/a of=/dev/null\n" END, "zero"},
		{"data: zero\n$ dd if=/dev/urandom of=/t/a\n" END, "random"},
		{"$ dd if=/dev/urandom of=/t/a\ndata: compressible 5%\n" END, "compressible 5%"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct format_found f = {0};
		char data[DATA_TOLD_LEN];

		kit_good(table[i].text, "dd", &f);
		assert_int_equal(f.n_records, 1);
		if (strcmp(data_told_text(&f.records[0].data, data), table[i].data) != 0)
			fail_msg("%s: data '%s'", table[i].text, data);
		format_found_clear(&f);
	}
	{
		struct format_found f = {0};

		kit_good("$ dd if=/dev/zero of=/t/a\n" END "real\t0m1.0s\n# next\n" END
			 "$ dd if=/dev/urandom of=/t/a\n" END, "dd", &f);
		assert_int_equal(f.n_records, 3);
		assert_int_equal(f.records[0].data.kind, DATA_ZERO);
		assert_int_equal(f.records[1].data.kind, DATA_ZERO);
		assert_int_equal(f.records[2].data.kind, DATA_RANDOM);
		assert_has(kit_note(&f, 1), "dd's command line: data zero of what follows");
		format_found_clear(&f);
	}
#undef END
}

struct timing {
	const char *name, *text;
	double seconds, resolution, user;
};

static const struct timing timings[] = {
	{"bash", "\nreal\t18m15.395s\nuser\t0m1.500s\nsys\t0m0.100s\n", 1095.395, 0.001, 1.5},
	{"bash, decimal comma", "real\t0m0,304s\nuser\t0m0,001s\nsys\t0m0,000s\n", 0.304, 0.001,
		0.001},
	{"posix", "real 1095.39\nuser 1.50\nsys 0.10\n", 1095.39, 0.01, 1.5},
	{"GNU",
		"1.50user 0.10system 18:15.39elapsed 0%CPU (0avgtext+0avgdata 1300maxresident)k\n"
		"0inputs+0outputs (0major+80minor)pagefaults 0swaps\n",
		1095.39, 0.01, 1.5},
	{"GNU, hours", "1.50user 0.10system 1:00:15elapsed 0%CPU\n", 3615, 1, 1.5},
	{"GNU -v",
		"\tCommand being timed: \"sleep 3\"\n\tUser time (seconds): 1.50\n"
		"\tSystem time (seconds): 0.10\n\tPercent of CPU this job got: 0%\n"
		"\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:03.25\n\tExit status: 0\n",
		3.25, 0.01, 1.5},
	{"BSD", "        3.25 real         1.50 user         0.10 sys\n", 3.25, 0.01, 1.5},
	{"zsh", "sleep 3  1.50s user 0.10s system 49% cpu 3.251 total\n", 3.251, 0.001, 1.5},
	{"zsh, hours", "sleep 3  1.50s user 0.10s system 0% cpu 1:00:15.25 total\n", 3615.25, 0.01, 1.5},
	{"GNU, more than a day", "1.50user 0.10system 26:03:04elapsed 0%CPU\n", 93784, 1, 1.5},
	{"BSD -h, more than a day", "\t1d2h3m4.25s real\t\t1.50s user\t\t0.10s sys\n", 93784.25, 0.01, 1.5},
	{"toybox", "\nreal\t3.251\nuser\t1.500\nsys\t0.100\n", 3.251, 0.001, 1.5},
	{"toybox -v", "Real time (s): 3.251234\nUser time (s): 1.500000\nSystem time (s): 0.100000\n",
		3.251234, 1e-6, 1.5},
	{"fish",
		"\n________\nExecuted in   18.25 mins    fish           external\n"
		"   usr time    1.50 secs    450.00 micros    1.49 secs\n"
		"   sys time  100.00 millis  329.00 micros   99.00 millis\n",
		1095, 0.6, 1.5},
	{"csh", "1.500u 0.100s 0:03.25 49.2%\t0+0k 0+0io 0pf+0w\n", 3.25, 0.01, 1.5},
	{"csh, hours", "1.5u 0.1s 1:02:03 0.0%\t0+0k 0+0io 0pf+0w\n", 3723, 1, 1.5},
};

static void test_time(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(timings) / sizeof(timings[0]); i++) {
		const struct timing *t = &timings[i];
		struct format_found f = {0};

		kit_good(t->text, "time", &f);
		assert_int_equal(f.n_records, 1);
		kit_near(f.records[0].v[0].value, t->seconds, t->name);
		kit_near(f.records[0].v[0].resolution, t->resolution, t->name);
		kit_near(f.records[0].cpu_user_s, t->user, t->name);
		format_found_clear(&f);
	}
}

static void test_time_in_a_log(void **state)
{
	const char *text = "layout: raidz2\n$ time pg_restore -j 8 db\n\nreal\t18m15.395s\n"
			   "user\t0m1.5s\nsys\t0m0.1s\nreal life is different\n$ time pg_restore\n"
			   "real\t18m22.754s\n";
	struct format_found f = {0};

	(void)state;
	kit_good(text, "time", &f);
	assert_int_equal(f.n_records, 2);
	assert_int_equal(f.records[1].line, 9);
	assert_string_equal(f.records[1].layout, "raidz2");
	assert_string_equal(kit_note(&f, 7), "not used");
	format_found_clear(&f);
}

static void test_time_failures(void **state)
{
	struct format_found f = {0};

	(void)state;
	kit_good("Command exited with non-zero status 2\n0.00user 0.00system 0:00.34elapsed 0%CPU\n"
		 "0.00user 0.00system 0:00.35elapsed 0%CPU\n",
		"time", &f);
	assert_has(f.records[0].error, "non-zero status 2");
	assert_null(f.records[1].error);
	format_found_clear(&f);
	kit_bad("\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:03.25\n\tExit status: 1\n", NULL,
		"x:1: no result: the command's exit status was 1");
	kit_bad("real\t0m0.000s\n", NULL, "x:1: a time of zero");
	kit_bad("real\t0m1.5s\nreal\tnan\n", NULL, "x:2: 'nan'");
	kit_bad("real\t-1.5\n", NULL, "x:1: '-1.5' is negative");
}

struct io_summary {
	const char *text;
	char dialect;
	double rate, throughput, latency_ns, cpu_us;
};

/* The latency of A to C is per read or write: of 13 operations of varmail, 4 are those. */
static const struct io_summary summaries[] = {
	{"IO Summary: 130000 ops 1300.0 ops/s, (200/200 r/w) 6.5mb/s, 325us cpu/op, 13.0ms latency",
		'A', 1300, 6.5 * 1048576, 4e6, 100},
	{" 3641: 61.2: IO Summary: 130000 ops, 1300.000 ops/s, (200/200 r/w),   6.5mb/s,    325us "
	 "cpu/op,  13.0ms latency",
		'B', 1300, 6.5 * 1048576, 4e6, 100},
	{"61.012: IO Summary: 130000 ops 1300.000 ops/s 200/200 rd/wr 6.5mb/s 13.0ms/op", 'C', 1300,
		6.5 * 1048576, 4e6, NAN},
	{"61.012: IO Summary: 130000 ops 1300.000 ops/s 200/200 rd/wr 6.5mb/s 4.000ms/op", 'D',
		1300, 6.5 * 1048576, 4e6, NAN},
};

static void test_filebench(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(summaries) / sizeof(summaries[0]); i++) {
		const struct io_summary *s = &summaries[i];
		struct format_found f = {0};
		char words[32];
		double cpu;

		kit_good(s->text, "filebench", &f);
		assert_int_equal(f.n_records, 1);
		assert_string_equal(f.records[0].v[0].metric, "ops_per_s");
		kit_near(kit_value(&f.records[0], "ops_per_s")->value, s->rate, "ops/s");
		kit_near(kit_value(&f.records[0], "throughput")->value, s->throughput, "mb/s");
		kit_near(kit_value(&f.records[0], "latency_mean")->value, s->latency_ns, "latency");
		cpu = kit_value(&f.records[0], "cpu_per_op")->value;
		assert_true(isnan(s->cpu_us) ? isnan(cpu) : fabs(cpu - s->cpu_us) < 1e-9);
		kit_near(f.records[0].seconds, 100, "seconds");
		assert_int_equal(f.records[0].ops, 130000);
		snprintf(words, sizeof(words), "dialect %c", s->dialect);
		assert_has(kit_note(&f, 1), words);
		format_found_clear(&f);
	}
}

static void test_filebench_log(void **state)
{
	const char *text = "1: 0.000: Varmail Version 2.1 personality successfully loaded\n"
			   "1: 61: IO Summary: 130000 ops 1300.0 ops/s, (200/200 r/w) 0.0mb/s, "
			   "325us cpu/op, 0.0ms latency\n1: 61: Shutting down processes\n";
	struct format_found f = {0};

	(void)state;
	kit_good(text, "filebench", &f);
	assert_string_equal(f.records[0].workload, "varmail");
	assert_true(isnan(kit_value(&f.records[0], "throughput")->value));
	assert_true(isnan(kit_value(&f.records[0], "latency_mean")->value));
	format_found_clear(&f);
	kit_bad("IO Summary: 0 ops 0.0 ops/s, (0/0 r/w) 0.0mb/s, 0us cpu/op, 0.0ms latency", NULL,
		"x:1: IO Summary of no operations");
	kit_bad("IO Summary: 130000 ops 1300.0 ops/s, (200/20", NULL, "x:1: IO Summary");
	kit_bad("IO Summary: 130000 ops nan ops/s, (1/1 r/w) 6.5mb/s", NULL, "x:1: 'nan'");
	kit_bad("IO Summary: 1 ops 1.0 ops/s, (9/9 r/w) 6.5mb/s, 1us cpu/op, 1.0ms latency", NULL,
		"more reads and writes than operations");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dd),
		cmocka_unit_test(test_dd_progress),
		cmocka_unit_test(test_dd_trials),
		cmocka_unit_test(test_dd_only_timed),
		cmocka_unit_test(test_dd_failures),
		cmocka_unit_test(test_dd_commands),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_time_in_a_log),
		cmocka_unit_test(test_time_failures),
		cmocka_unit_test(test_filebench),
		cmocka_unit_test(test_filebench_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
