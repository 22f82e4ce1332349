/*
 * Options of fio: which may be set, and to what. The refused ones are those of fio's HOWTO (3.33)
 * that name a file, a folder, a device, a host or a command, or change the system beside the volume.
 */
#include "tests/unit/test.h"

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/fio_option.h"

static void every_row_is_sound(void **state)
{
	(void)state;
	for (const struct fio_row *row = fio_rows; row->name; row++) {
		const struct fio_row *of = fio_option_find(row->name);

		if (!of || (row->of && strcmp(of->name, row->of)))
			fail_msg("%s leads to %s", row->name, of ? of->name : "nothing");
		if (of->kind != row->kind)
			fail_msg("%s has another kind than %s", row->name, of->name);
		if (fio_option_refused(row->name))
			fail_msg("%s is allowed and refused", row->name);
		if ((row->kind == FIO_WORD || row->kind == FIO_WORDS) &&
			(row->words[0] != ' ' || row->words[strlen(row->words) - 1] != ' '))
			fail_msg("%s: words stand between blanks", row->name);
		for (const struct fio_row *k = fio_rows; k < row; k++)
			if (strcmp(k->name, row->name) == 0)
				fail_msg("%s is there twice", row->name);
	}
}

static void what_reaches_outside_is_refused_with_a_reason(void **state)
{
	static const struct {
		const char *name, *why;
	} refused[] = {
		{"directory", "volume's folder"},
		{"filename_format", "volume's folder"},
		{"unique_filename", "volume's folder"},
		{"opendir", "outside"},
		{"aux-path", "outside"},
		{"include", "one file"},
		{"exec_prerun", "command"},
		{"exec_postrun", "command"},
		{"trigger", "command"},
		{"trigger-file", "command"},
		{"trigger_remote", "command"},
		{"program", "command"},
		{"profile", "ready-made"},
		{"write_bw_log", "log files"},
		{"write_lat_log", "log files"},
		{"write_iops_log", "log files"},
		{"write_hist_log", "log files"},
		{"write_iolog", "log files"},
		{"read_iolog", "trace"},
		{"replay_redirect", "trace"},
		{"merge_blktrace_file", "trace"},
		{"verify_state_load", "outside"},
		{"verify_state_save", "files of its own"},
		{"verify_dump", "outside"},
		{"ioscheduler", "beside the volume"},
		{"allow_mounted_write", "beside the volume"},
		{"zonemode", "beside the volume"},
		{"lockmem", "beside the volume"},
		{"hugepage-size", "beside the volume"},
		{"cgroup", "rights"},
		{"uid", "rights"},
		{"gid", "rights"},
		{"fill_device", "use size"},
		{"file_append", "use size"},
		{"continue_on_error", "an error ends the trial"},
		{"ignore_error", "an error ends the trial"},
		{"flow", "start together"},
		{"duration", "stands beside 'fio'"},
		{"output", "arraymark says"},
		{"client", "other hosts"},
		{"hostname", ""},
		{"rbdname", "other hosts"},
		{"kb_base", "1024"},
		{"trim_percentage", "trims"},
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		assert_int_equal(fio_option_check(refused[i].name, "1", &e), -1);
		assert_int_equal(e.code, ERR_DENIED);
		assert_has(e.text, refused[i].name);
		assert_has(e.text, "is refused");
		assert_has(e.text, refused[i].why);
	}
}

/* Whatever the option: none of these is a value. */
static void no_option_takes_a_path_or_a_command(void **state)
{
	static const char *const values[] = {"/etc/passwd", "/dev/sda", "../x", "a/../../x", "x:/etc",
		"mmap:/etc/passwd", "mmapshared:/x", "external:/tmp/x.so", "external:x", "'/etc/passwd'",
		"\"text\"", "$HOME", "${HOME}", "$pagesize", "4k$(id)", "`id`", "x;y", "x y", "a\nb",
		"[global]", "1|2", "-", ".", "..", "~", "%"};
	static const char *const engines[] = {"exec", "sg", "net", "netsplice", "rbd", "rados", "nbd",
		"gfapi", "http", "libhdfs", "libpmem", "dev-dax", "mtd", "cpuio", "e4defrag", "rdma"};
	struct err e;

	(void)state;
	for (const struct fio_row *row = fio_rows; row->name; row++)
		for (size_t i = 0; i < ARRAY_LEN(values) && row->kind != FIO_IGNORED; i++)
			if (fio_option_check(row->name, values[i], &e) == 0 &&
				!(row->kind == FIO_CHARS && strcmp(values[i], "-") == 0))
				fail_msg("%s=%s passed", row->name, values[i]);
	for (size_t i = 0; i < ARRAY_LEN(engines); i++)
		assert_int_equal(fio_option_check("ioengine", engines[i], &e), -1);
}

static void unknown_options_are_refused(void **state)
{
	static const struct {
		const char *name, *says;
	} cases[] = {{"iodepht", "did you mean 'iodepth'?"}, {"some_new_option", "not an option of fio that"},
		{"", "not an option"}, {"rw ", "not an option"}, {"RW", "not an option"}};
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(fio_option_check(cases[i].name, "1", &e), -1);
		assert_has(e.text, cases[i].says);
	}
}

struct value_case {
	const char *name, *value, *says; /* says NULL: it is fine */
};

static const struct value_case value_cases[] = {
	{"rw", "randread", NULL},
	{"rw", "rw:8", NULL},
	{"readwrite", "randwrite", NULL},
	{"rw", "trim", "'trim' is refused: fio trims block devices alone"},
	{"rw", "randtrimwrite", "is refused: fio trims block devices alone"},
	{"wait_for", "../a", "'../a' is not a job's name"},
	{"startdelay", "1-5", "'1-5' is not a time of fio's"},
	{"rw", "read write", "must be one of"},
	{"rw", "read:x", "behind the ':'"},
	{"rw", NULL, "has no value"},
	{"bs", "4k", NULL},
	{"bs", "4K,64k", NULL},
	{"bs", ",8k", NULL},
	{"bs", "4k,4k,4k,4k", "one to three"},
	{"bs", ",", "one to three"},
	{"bs", "128m", "is outside of 1 B to 64 MiB"},
	{"bs", "4kib", "is not a size"},
	{"bs", "4 k", "is not a size"},
	{"bs", "-4k", "is not a size"},
	{"bs", "0", "is outside"},
	{"bs", "99999999999999999999999999", "is not a size"},
	{"bsrange", "1k-4k,8k-64k", NULL},
	{"bsrange", "4k-1k", "smaller"},
	{"bsrange", "4k", "range"},
	{"bssplit", "4k/50:8k/50", NULL},
	{"size", "1gb", NULL},
	{"size", "10%", "a share of the volume"},
	{"size", "9000000t", "is not a size"},
	{"filesize", "4k-64k", NULL},
	{"filesize", "16k", NULL},
	{"filename", "data.1", NULL},
	{"filename", "a:b", "plain name"},
	{"filename", "-", "plain name"},
	{"runtime", "30", NULL},
	{"runtime", "500ms", NULL},
	{"runtime", "1x", "is not a time"},
	{"runtime", "0", "is outside"},
	{"thinktime", "100us", NULL},
	{"time_based", NULL, NULL},
	{"time_based", "1", NULL},
	{"time_based", "yes", "must be 0 or 1"},
	{"direct", NULL, "has no value"},
	{"direct", "2", "must be 0 or 1"},
	{"iodepth", "32", NULL},
	{"iodepth", "4097", "from 1 to 4096"},
	{"iodepth", "1k", "whole number"},
	{"numjobs", "1025", "from 1 to 1024"},
	{"rwmixread", "101", "from 0 to 100"},
	{"rate_iops", "100,200", NULL},
	{"ioengine", "io_uring", NULL},
	{"ioengine", "sg", "must be one of"},
	{"ioengine", "external:/x.so", "must be one of"},
	{"mem", "mmaphuge", "must be one of"},
	{"random_distribution", "zipf:1.2", NULL},
	{"random_distribution", "zoned:60/10:30/20:8/30:2/40", NULL},
	{"verify", "crc32c", NULL},
	{"verify_pattern", "0xdeadbeef", NULL},
	{"verify_pattern", "%o", NULL},
	{"verify_pattern", "0x", "hexadecimal"},
	{"verify_pattern", "abcd", "hexadecimal"},
	{"latency_percentile", "99.9", NULL},
	{"latency_percentile", "nan", "number from 0 to 100"},
	{"cpus_allowed", "0-3,7", NULL},
	{"description", "any text; /even/this", NULL},
};

static void values(void **state)
{
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(value_cases); i++) {
		const struct value_case *c = &value_cases[i];
		int r = fio_option_check(c->name, c->value, &e);

		if (r == 0 && c->says)
			fail_msg("%s=%s passed", c->name, c->value ? c->value : "");
		if (r != 0 && !c->says)
			fail_msg("%s=%s: %s", c->name, c->value ? c->value : "", e.text);
		if (c->says)
			assert_has(e.text, c->says);
	}
}

static void sizes_are_powers_of_1024_and_times_have_their_own_plain_unit(void **state)
{
	int64_t v;

	(void)state;
	assert_int_equal(fio_parse_size("4k", &v), 0);
	assert_int_equal(v, 4096);
	assert_int_equal(fio_parse_size("1gb", &v), 0);
	assert_int_equal(v, 1 << 30);
	assert_int_equal(fio_parse_size("64P", &v), 0);
	assert_int_equal(v, FIO_SIZE_MAX);
	assert_int_equal(fio_parse_size("65P", &v), -1);
	assert_int_equal(fio_parse_time("30", NS_PER_S, &v), 0);
	assert_int_equal(v, 30 * NS_PER_S);
	assert_int_equal(fio_parse_time("30", 1000, &v), 0);
	assert_int_equal(v, 30000);
	assert_int_equal(fio_parse_time("2m", 1000, &v), 0);
	assert_int_equal(v, 120 * NS_PER_S);
	assert_int_equal(fio_parse_time("9223372036854775807s", 1000, &v), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_sound),
		cmocka_unit_test(what_reaches_outside_is_refused_with_a_reason),
		cmocka_unit_test(no_option_takes_a_path_or_a_command),
		cmocka_unit_test(unknown_options_are_refused),
		cmocka_unit_test(values),
		cmocka_unit_test(sizes_are_powers_of_1024_and_times_have_their_own_plain_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
