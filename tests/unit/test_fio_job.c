/* Job files of fio: what is understood, what fio gets, what is wrong and in which line. */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/fio_job.h"

static int parse(const char *text, struct fio_jobs *jobs, struct buf *lines, struct err *e)
{
	struct strv errs = {0};
	int r = fio_jobs_parse("x.fio", text, strlen(text), NULL, jobs, &errs, e);

	for (size_t i = 0; i < errs.n; i++)
		buf_addf(lines, "%s\n", errs.v[i]);
	strv_free(&errs);
	return r;
}

struct text_case {
	const char *name, *text, *expected;
};

static void fio_gets_what_was_understood(void **state)
{
	static const struct text_case cases[] = {
		{"one job", "[a]\nrw=read\nsize=1m\n", "[a]\ndirectory=.\ngroup_reporting\nrw=read\nsize=1m\n"},
		{"global options, comments, blanks, aliases, CRLF",
			"; a comment\n[global]\n  blocksize = 4k ; so\r\ngroup_reporting\ndescription=my /dev\n"
			"# [x]\n[a]\nrw=read\nsize=1m#\ntime_based\nruntime=3\n",
			"[a]\ndirectory=.\ngroup_reporting\nbs=4k\nrw=read\nsize=1m\ntime_based\nruntime=3\n"},
		{"a later global speaks of later jobs; the last of a name counts",
			"[global]\nsize=1m\n[a]\nrw=read\nreadwrite=write\n[global]\nsize=2m\n[b]\nrw=read\n",
			"[a]\ndirectory=.\ngroup_reporting\nsize=1m\nrw=write\n[b]\ndirectory=.\n"
			"group_reporting\nnew_group\nsize=2m\nrw=read\n"},
		{"global is written small, else it is a job",
			"[Global]\nrw=read\nsize=1m\n[b-global]\nrw=read\nsize=2m\n",
			"[Global]\ndirectory=.\ngroup_reporting\nrw=read\nsize=1m\n[b-global]\n"
			"directory=.\ngroup_reporting\nnew_group\nrw=read\nsize=2m\n"},
		{"stages", "[a]\nrw=read\nsize=1m\n[b]\nrw=read\nsize=1m\nstonewall\n",
			"[a]\ndirectory=.\ngroup_reporting\nrw=read\nsize=1m\n[b]\ndirectory=.\n"
			"group_reporting\nrw=read\nsize=1m\nstonewall\n"},
		{"verify keeps no state", "[a]\nrw=write\nsize=1m\nverify=crc32c\n",
			"[a]\ndirectory=.\ngroup_reporting\nverify_state_save=0\nrw=write\nsize=1m\n"
			"verify=crc32c\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fio_jobs jobs = {0};
		struct buf lines = {0}, out = {0};
		struct err e = {0};

		if (parse(cases[i].text, &jobs, &lines, &e))
			fail_msg("%s: %s", cases[i].name, buf_str(&lines));
		fio_jobs_write(&jobs, FIO_WRITE_RUN, &out);
		if (strcmp(buf_str(&out), cases[i].expected))
			fail_msg("%s:\ngot:\n%s", cases[i].name, buf_str(&out));
		buf_free(&out);
		buf_free(&lines);
		fio_jobs_clear(&jobs);
	}
}

static const struct text_case wrong_cases[] = {
	{"nothing", "", "x.fio: there is no job in it\n"},
	{"only global", "[global]\nbs=4k\n", "x.fio: there is no job in it\n"},
	{"paths and commands",
		"[a]\nrw=read\ndirectory=/etc\nexec_prerun=rm -rf /\nfilename=/dev/sda\nsize=1m\n"
		"write_bw_log=/tmp/x\nioengine=external:/x.so\n",
		"x.fio:3: 'directory' is refused: the files lie in the volume's folder: leave it out\n"
		"x.fio:4: 'exec_prerun' is refused: it runs a command\n"
		"x.fio:5: filename: '/dev/sda' must be a plain name of one file in the volume's "
		"folder: letters, digits, '.', '_', '+', '-', not starting with '.' or '-'\n"
		"x.fio:7: 'write_bw_log' is refused: it writes log files: samples and histograms are "
		"kept anyway\n"
		"x.fio:8: ioengine: 'external:/x.so' must be one of: sync psync vsync pvsync pvsync2 "
		"libaio posixaio io_uring mmap filecreate filestat filedelete\n"},
	{"include, in all its spellings", "[a]\ninclude /etc/x\ninclude\t../y\ninclude=z\n",
		"x.fio:2: 'include' is refused: a job file is one file, so that what is checked is "
		"what runs\n"
		"x.fio:3: 'include' is refused: a job file is one file, so that what is checked is "
		"what runs\n"
		"x.fio:4: 'include' is refused: a job file is one file, so that what is checked is "
		"what runs\n"},
	{"environment and shell", "[a]\nsize=${SIZE}\nbs=$pagesize\nrw=`id`\n",
		"x.fio:2: size: '${SIZE}': fio would expand the '$' or '`', by the environment or "
		"through a shell\n"
		"x.fio:3: bs: '$pagesize': fio would expand the '$' or '`', by the environment or "
		"through a shell\n"
		"x.fio:4: rw: '`id`': fio would expand the '$' or '`', by the environment or through "
		"a shell\n"},
	{"sections", "bs=4k\n[a/b]\n[../x]\n[c\n[d] x\n[]\nbs=0\n",
		"x.fio:1: 'bs' stands before the first [section]\n"
		"x.fio:2: 'a/b' is not a job's name: files are called by it, so use letters, "
		"digits, '.', '_', '+', '-', not starting with '.' or '-', at most 64 bytes\n"
		"x.fio:3: '../x' is not a job's name: files are called by it, so use letters, "
		"digits, '.', '_', '+', '-', not starting with '.' or '-', at most 64 bytes\n"
		"x.fio:4: a section's line is [name]\n"
		"x.fio:5: a section's line is [name]\n"
		"x.fio:6: '' is not a job's name: files are called by it, so use letters, digits, "
		"'.', '_', '+', '-', not starting with '.' or '-', at most 64 bytes\n"
		"x.fio:7: bs: '0' is outside of 1 B to 64 MiB\n"},
	{"what fio takes for global", "[globals]\nrw=read\n[a]\nrw=read\nsize=1m\n[global.b]\nbs=0\n",
		"x.fio:1: 'globals' is not a job's name: fio takes what begins with 'global' for "
		"options of all jobs\n"
		"x.fio:6: 'global.b' is not a job's name: fio takes what begins with 'global' for "
		"options of all jobs\n"
		"x.fio:7: bs: '0' is outside of 1 B to 64 MiB\n"},
	{"what a job lacks", "[a]\nbs=4k\n[b]\nrw=read\nsize=1m\ntime_based\n[a]\nrw=read\nsize=1m\n",
		"x.fio:1: [a]: 'rw' is missing: read, write, randread, randwrite, randrw\n"
		"x.fio:1: [a]: 'size' is missing: how large its files are, such as 64m\n"
		"x.fio:6: [b]: time_based: needs a runtime\n"
		"x.fio:7: [a]: there is a job 'a' already\n"},
	{"buffers and clones",
		"[a]\nrw=read\nsize=1m\niodepth=1024\nbs=4k,2m\n[b]\nrw=read\nsize=1m\nnumjobs=1024\n",
		"x.fio:4: [a]: iodepth: 1 x 1024 blocks of 2 MiB need more than 1 GiB of buffers\n"
		"x.fio: 1025 jobs with their clones: at most 1024 run\n"},
	{"orders that fio does not keep",
		"[a]\nrw=read\nsize=1m\nwait_for=a\n[b]\nrw=read\nsize=1m\nwait_for=c\n"
		"[c]\nrw=read\nsize=1m\nwait_for=b\n",
		"x.fio:4: [a]: wait_for: there is no job 'a' before this one\n"
		"x.fio:8: [b]: wait_for: there is no job 'c' before this one\n"},
	{"a delay and a stonewall",
		"[a]\nrw=read\nsize=1m\nstartdelay=5\n[b]\nrw=read\nsize=1m\nstonewall\n",
		"x.fio:4: [a]: startdelay: counts from the start of all jobs, and does not go with a "
		"stonewall: use wait_for\n"},
	{"a control character", "[a]\nrw=\x01\n", "x.fio:2: a control character: not a job file\n"},
};

static void every_wrong_line_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong_cases); i++) {
		struct fio_jobs jobs = {0};
		struct buf lines = {0};
		struct err e = {0};

		if (parse(wrong_cases[i].text, &jobs, &lines, &e) == 0)
			fail_msg("%s: taken as right", wrong_cases[i].name);
		assert_int_equal(e.code, ERR_INPUT);
		if (strcmp(buf_str(&lines), wrong_cases[i].expected))
			fail_msg("%s:\ngot:\n%sexpected:\n%s", wrong_cases[i].name, buf_str(&lines),
				wrong_cases[i].expected);
		buf_free(&lines);
	}
}

static void a_nul_and_a_huge_file_are_refused(void **state)
{
	static const char nul[] = "[a]\nrw=read\0x\n";
	char *huge = xcalloc(1, FIO_MAX_JOB_FILE + 2);
	struct fio_jobs jobs = {0};
	struct strv errs = {0};
	struct err e;

	(void)state;
	assert_int_equal(fio_jobs_parse("x", nul, sizeof(nul) - 1, NULL, &jobs, &errs, &e), -1);
	assert_has(e.text, "x:2: ");
	memset(huge, '\n', FIO_MAX_JOB_FILE + 1);
	assert_int_equal(
		fio_jobs_parse("x", huge, FIO_MAX_JOB_FILE + 1, NULL, &jobs, &errs, &e), -1);
	assert_has(e.text, "64 KiB");
	strv_free(&errs);
	free(huge);
}

static void options_of_the_plan_take_the_place_of_the_files(void **state)
{
	static const char text[] = "[a]\nrw=read\nsize=1m\n[b]\nrw=write\n";
	struct fio_job instead = {0};
	struct fio_jobs jobs = {0};
	struct strv errs = {0};
	struct err e;

	(void)state;
	assert_int_equal(fio_jobs_parse("x", text, sizeof(text) - 1, NULL, &jobs, &errs, &e), -1);
	assert_ok(fio_job_set(&instead, "size", "8m", 0, &e), e);
	strv_free(&errs);
	errs = (struct strv){0};
	assert_ok(fio_jobs_parse("x", text, sizeof(text) - 1, &instead, &jobs, &errs, &e), e);
	assert_string_equal(fio_job_get(&jobs.v[0], "size")->value, "8m");
	assert_string_equal(fio_job_get(&jobs.v[1], "size")->value, "8m");
	fio_jobs_set_duration(&jobs, 1500 * NS_PER_MS);
	assert_string_equal(fio_job_get(&jobs.v[1], "runtime")->value, "1500ms");
	fio_jobs_clear(&jobs);
	fio_job_clear(&instead);
	strv_free(&errs);
}

static void sums(void **state)
{
	static const struct {
		const char *text;
		struct fio_sums s;
	} cases[] = {
		{"rw=read\nsize=1m\n",
			{.threads = 1, .reads = 1, .file_bytes = 1 << 20, .read_bytes = 1 << 20}},
		{"rw=randwrite\nsize=1m\nnumjobs=4\nend_fsync=1\n",
			{.threads = 4, .writes = 1, .syncs = 1, .file_bytes = 4 << 20,
				.write_bytes = 4 << 20}},
		{"rw=randrw\nrwmixread=75\nsize=4m\nnumjobs=2\nfilename=f\n",
			{.threads = 2, .reads = 1, .writes = 1, .file_bytes = 4 << 20,
				.read_bytes = 6 << 20, .write_bytes = 2 << 20}},
		{"rw=readwrite\nsize=1m\ntime_based\nruntime=2\nramp_time=1\nzero_buffers\n",
			{.threads = 1, .reads = 1, .writes = 1, .compressible = 1, .file_bytes = 1 << 20,
				.ramp_ns = NS_PER_S, .time_ns = 2 * NS_PER_S}},
		{"rw=write\nfilesize=4k-16k\nnrfiles=10\n",
			{.threads = 1, .writes = 1, .file_bytes = 160 << 10, .write_bytes = 160 << 10}},
		{"rw=write\nsize=1m\nloops=3\nfsync=0\nsync=none\n",
			{.threads = 1, .writes = 1, .file_bytes = 1 << 20, .write_bytes = 3 << 20}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *text = xasprintf("[a]\n%s", cases[i].text);
		struct fio_jobs jobs = {0};
		struct buf lines = {0};
		struct fio_sums got;
		struct err e = {0};

		assert_ok(parse(text, &jobs, &lines, &e), e);
		fio_job_sums(&jobs.v[0], &got);
		if (memcmp(&got, &cases[i].s, sizeof(got)))
			fail_msg("%s: files %lld, read %lld, written %lld, time %lld", text,
				(long long)got.file_bytes, (long long)got.read_bytes,
				(long long)got.write_bytes, (long long)got.time_ns);
		buf_free(&lines);
		fio_jobs_clear(&jobs);
		free(text);
	}
}

/* Seconds that each job took; those in which one ran, and the end of the last. */
static void time_is_that_in_which_a_job_runs(void **state)
{
	static const struct {
		const char *options[4];
		int took[4], ran, end;
	} cases[] = {
		{{""}, {7}, 7, 7},
		{{"", ""}, {7, 4}, 7, 7},
		{{"ramp_time=3\n", ""}, {7, 4}, 10, 10},
		{{"ramp_time=6\n", ""}, {7, 4}, 11, 13},
		{{"startdelay=5\n"}, {10}, 10, 15},
		{{"startdelay=5\n"}, {0}, 0, 0},
		{{"", "startdelay=5\n"}, {10, 10}, 15, 15},
		{{"", "startdelay=20\n"}, {10, 10}, 20, 30},
		{{"", "stonewall\n", "wait_for_previous\n"}, {3, 4, 5}, 12, 12},
		{{"", "", "stonewall\n"}, {3, 6, 5}, 11, 11},
		{{"", "wait_for=a\n", "wait_for=b\n"}, {3, 4, 5}, 12, 12},
		{{"", "", "wait_for=a\n"}, {3, 20, 5}, 20, 20},
		{{"", "wait_for=a\nstartdelay=9\n"}, {3, 4}, 7, 13},
		{{"", "wait_for=a\nstartdelay=1\n", "stonewall=0\n"}, {3, 4, 1}, 7, 7},
		{{"", "wait_for=a\nramp_time=2\n"}, {3, 4}, 7, 9},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int64_t took[4] = {0};
		struct buf text = {0}, lines = {0};
		struct fio_jobs jobs = {0};
		struct fio_time t;
		struct err e = {0};

		for (unsigned k = 0; k < 4 && cases[i].options[k]; k++) {
			buf_addf(&text, "[%c]\nrw=read\nsize=1m\n%s", 'a' + (int)k, cases[i].options[k]);
			took[k] = cases[i].took[k] * NS_PER_S;
		}
		assert_ok(parse(buf_str(&text), &jobs, &lines, &e), e);
		fio_jobs_time(&jobs, took, &t);
		if (t.ran_ns != cases[i].ran * NS_PER_S || t.end_ns != cases[i].end * NS_PER_S)
			fail_msg("%s: ran %g s, end at %g s", buf_str(&text), (double)t.ran_ns / 1e9,
				(double)t.end_ns / 1e9);
		buf_free(&text);
		buf_free(&lines);
		fio_jobs_clear(&jobs);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fio_gets_what_was_understood),
		cmocka_unit_test(every_wrong_line_is_named),
		cmocka_unit_test(a_nul_and_a_huge_file_are_refused),
		cmocka_unit_test(options_of_the_plan_take_the_place_of_the_files),
		cmocka_unit_test(sums),
		cmocka_unit_test(time_is_that_in_which_a_job_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
