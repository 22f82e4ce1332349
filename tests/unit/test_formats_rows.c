/* Tables of iozone and elbencho and lines of filebench: which figure is whose, and how fine it is. */
#include <stdio.h>

#include "tests/unit/test.h"

#include "common/base/mem.h"
#include "tests/unit/formats_kit.h"

#define IOZONE_HEAD                                                                                \
	"              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite" \
	"      read   fwrite frewrite    fread  freread  pwrite repwrite   pread   repread\n"

/* -E has more columns; a whole row is read in their order, though wide figures push the rest aside. */
static void more_columns_of_iozone_are_read_in_order(void **state)
{
	static const char *const names[] = {"write", "rewrite", "read", "reread", "random read",
		"random write", "backward read", "record rewrite", "stride read", "fwrite", "frewrite", "fread",
		"freread", "pwrite", "repwrite", "pread", "repread"};
	struct format_found f = {0};
	struct buf b = {0};

	(void)state;
	buf_adds(&b, IOZONE_HEAD "           65536      64");
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		buf_addf(&b, " %zu", 123456789 + i);
	buf_addc(&b, '\n');
	kit_good(b.data, "iozone", &f);
	assert_int_equal(f.n_records, ARRAY_LEN(names));
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char workload[64];

		snprintf(workload, sizeof(workload), "iozone %s 65536k/64k", names[i]);
		assert_string_equal(f.records[i].workload, workload);
		kit_near(kit_value(&f.records[i], "throughput")->value, (123456789.0 + (double)i) * 1024, workload);
		kit_near(kit_value(&f.records[i], "throughput")->resolution, 1024, workload);
	}
	format_found_clear(&f);
	buf_addf(&b, "           65536     128");
	for (size_t i = 0; i <= ARRAY_LEN(names); i++)
		buf_adds(&b, " 5");
	buf_addc(&b, '\n');
	kit_bad(b.data, NULL, "x:3: a row of iozone's table with more than 19 figures");
	buf_free(&b);
}

static void tests_of_iozone_that_were_too_short_are_told_once(void **state)
{
#define ROW   "           65536      64   100000   110000\n"
#define QUICK "\nThe test completed too quickly to give a good result\n"
	struct format_found f = {0};
	size_t doubts = 0;

	(void)state;
	kit_good(IOZONE_HEAD ROW QUICK ROW QUICK, "iozone", &f);
	assert_int_equal(f.n_records, 4);
	for (size_t i = 0; i < f.n_notes; i++)
		doubts += f.notes[i].doubt != 0;
	assert_int_equal(doubts, 1);
	assert_has(kit_note(&f, 4), "ended too soon to give a good result");
	format_found_clear(&f);
#undef ROW
#undef QUICK
}

/* Of several outputs in one text each has its unit. */
static void a_unit_of_iozone_holds_for_its_output(void **state)
{
#define ROW   IOZONE_HEAD "           65536      64   100000   110000\n"
#define TITLE "\tIozone: Performance Test of File I/O\n"
#define OPS   "\tOPS Mode. Output is in operations per second.\n"
#define USEC  "\tMicroseconds/op Mode. Output is in microseconds per operation.\n"
	static const char *const metrics[] = {"ops_per_s", "throughput", "latency_mean", "throughput"};
	struct format_found f = {0};

	(void)state;
	kit_good(TITLE OPS ROW TITLE "\tOutput is in kBytes/sec\n" ROW USEC ROW TITLE ROW, "iozone", &f);
	assert_int_equal(f.n_records, 2 * ARRAY_LEN(metrics));
	for (size_t i = 0; i < f.n_records; i++)
		assert_string_equal(f.records[i].v[0].metric, metrics[i / 2]);
	format_found_clear(&f);
#undef ROW
#undef TITLE
#undef OPS
#undef USEC
}

#define ELBENCHO_HEAD                                                                              \
	"ISO DATE,label,operation,time ms [first],time ms [last],IOPS [last],MiB/s [first],"       \
	"MiB/s [last],MiB [last],IO lat us [avg],rwmix read IOPS [first],rwmix read IOPS [last],"  \
	"rwmix read MiB/s [last],rwmix read MiB [last],rwmix read IO lat us [avg]\n"

/* What a mixed phase wrote and what it read are two results; neither is the whole. */
static void mixed_phases_of_elbencho_are_writes_and_reads(void **state)
{
	struct format_found f = {0};

	(void)state;
	kit_good(ELBENCHO_HEAD "2026-01-01T00:00:00,a,RWMIX30,1900,2000,700,1,350,700,250,9,300,150,300,90\n"
			       "2026-01-01T00:00:01,a,WRITE,1900,2000,700,1,350,700,250,,,,,\n",
		"elbencho", &f);
	assert_int_equal(f.n_records, 3);
	assert_string_equal(f.records[0].workload, "elbencho rwmix30 write");
	assert_string_equal(f.records[0].op, "write");
	kit_near(kit_value(&f.records[0], "throughput")->value, 350 * 1048576.0, "writes");
	assert_string_equal(f.records[1].workload, "elbencho rwmix30 read");
	assert_string_equal(f.records[1].op, "read");
	assert_string_equal(f.records[1].layout, "a");
	kit_near(kit_value(&f.records[1], "throughput")->value, 150 * 1048576.0, "reads");
	kit_near(kit_value(&f.records[1], "ops_per_s")->value, 300, "IOPS of reads");
	kit_near(kit_value(&f.records[1], "latency_mean")->value, 90e3, "latency of reads");
	assert_string_equal(f.records[2].workload, "elbencho write");
	assert_has(kit_note(&f, 2), "its writes and its reads");
	format_found_clear(&f);
}

/* MiB are whole, and cut: over a short time the rate is finer. */
static void rates_of_elbencho_are_as_fine_as_what_they_come_from(void **state)
{
	struct format_found f = {0};

	(void)state;
	kit_good(ELBENCHO_HEAD "2026-01-01T00:00:00,a,WRITE,1,4000,700,1,9,39,250,,,,,\n"
			       "2026-01-01T00:00:01,a,READ,1,20,700,1,179,3,250,,,,,\n"
			       "2026-01-01T00:00:01,a,READ,1,4000,700,1,9,,250,,,,,\n",
		"elbencho", &f);
	kit_near(kit_value(&f.records[0], "throughput")->value, 9.75 * 1048576, "of MiB and time");
	kit_near(kit_value(&f.records[0], "throughput")->resolution,
		1048576 / 4.0 + 9.75 * 1048576 * 1e-3 / 4, "a MiB and a ms");
	kit_near(kit_value(&f.records[1], "throughput")->value, 179 * 1048576.0, "as printed");
	kit_near(kit_value(&f.records[1], "throughput")->resolution, 1048576, "a MiB/s");
	kit_near(kit_value(&f.records[2], "throughput")->value, 9 * 1048576.0, "without MiB");
	format_found_clear(&f);
}

/* Reads and writes a second are whole numbers: what is divided by them is no finer. */
static void latency_that_filebench_took_per_read_is_as_coarse_as_their_number(void **state)
{
	struct format_found f = {0};

	(void)state;
	kit_good("IO Summary: 130000 ops 1300.0 ops/s, (3/1 r/w) 6.5mb/s, 325us cpu/op, 13.0ms latency\n"
		 "IO Summary: 130000 ops 1300.000 ops/s 3/1 rd/wr 6.5mb/s 4.000ms/op\n",
		"filebench", &f);
	kit_near(kit_value(&f.records[0], "latency_mean")->value, 40e3, "latency");
	kit_near(kit_value(&f.records[0], "latency_mean")->resolution, 1e5 * 4 / 1300 + 40e3 * 2 / 4, "its step");
	kit_near(kit_value(&f.records[1], "latency_mean")->resolution, 1e3, "per operation as printed");
	format_found_clear(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_columns_of_iozone_are_read_in_order),
		cmocka_unit_test(tests_of_iozone_that_were_too_short_are_told_once),
		cmocka_unit_test(a_unit_of_iozone_holds_for_its_output),
		cmocka_unit_test(mixed_phases_of_elbencho_are_writes_and_reads),
		cmocka_unit_test(rates_of_elbencho_are_as_fine_as_what_they_come_from),
		cmocka_unit_test(latency_that_filebench_took_per_read_is_as_coarse_as_their_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
