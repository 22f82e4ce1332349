/* The filebench engine where something is wrong: the error, and what is known all the same. */
#include "tests/unit/filebench_kit.h"

#include <signal.h>
#include <sys/resource.h>

static void check_failure(const char *text, const char *expected)
{
	struct trial t;
	struct err e = {0};

	trial_init(&t, NULL, text);
	t.w.duration_ns = 5000000000;
	assert_int_equal(trial_run(&t, &e), -1);
	assert_has(e.text, expected);
	trial_clear(&t);
}

static void test_failures_name_flowop_and_place(void **state)
{
	(void)state;
	check_failure(ONE("flowop closefile name=c,fd=3", ""),
		"/x.f:4:8: flowop 'c': fd 3 is not open");
	check_failure(ONE("flowop openfile name=o,filesetname=f,fd=1", ""),
		"/x.f:4:8: flowop 'o': fd 1 is open already: close it first");
	check_failure(ONE("flowop read name=r,filesetname=f,iosize=64k,random", ""),
		"/x.f:4:8: flowop 'r': iosize 65536 is larger than the file");
	check_failure(ONE("flowop deletefile name=d,filesetname=f", "set mode quit timeout"),
		"/x.f:4:8: flowop 'd': there is no file left to take in the fileset 'f' (0 of 1 exist): "
		"give it more files, or fewer threads, or a shorter time");
	check_failure(ONE("flowop read name=r,fd=2,iosize=1k,", ""), "/x.f:5:1: an attribute is wanted");
}

/* Each flowop that would take a file where there are folders only, with and without a number. */
static void test_a_fileset_of_folders_has_no_file_to_open(void **state)
{
	static const char *const ops[] = {"openfile", "openfile name=o,opennext", "createfile",
		"createfile name=o,opennext", "deletefile", "statfile", "readwholefile name=o,opennext",
		"read name=o,iosize=1k,opennext", "appendfile name=o,iosize=1k", "fsyncset"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
		char *text = xasprintf("define fileset name=f,path=$dir,leafdirs=5,dirwidth=5\n"
				       "define process name=p { thread name=t {\n"
				       " flowop %s%s,filesetname=f\n} }\n",
			ops[i], strchr(ops[i], ' ') ? "" : " name=o");

		check_failure(text, "the fileset 'f' has no files, only folders: give it 'entries='");
		free(text);
	}
}

static void test_an_io_error_names_file_and_offset(void **state)
{
	struct rlimit old, small;
	struct trial t;
	struct err e = {0};

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = 20000;
	signal(SIGXFSZ, SIG_IGN);
	trial_init(&t, NULL, ONE("flowop appendfile name=a,filesetname=f,iosize=10000", ""));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(trial_run(&t, &e), -1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_string_equal(e.text,
		"flowop 'a': appending to 'w.files/f/00000001/00000001' at byte 20000: File too large (EFBIG)");
	assert_int_equal(t.r->errors, 1);
	assert_int_equal(part(&t, "a")->ops, 1); /* and the summary is there */
	assert_has(note(&t, "IO Summary"), "IO Summary: 1 ops");
	trial_clear(&t);
}

static void test_files_that_cannot_fit_are_told_before(void **state)
{
	struct wml_setting s[] = {{"filesize", "900T"}};
	struct trial t;
	struct err e = {0};

	(void)state;
	trial_init(&t, "randomread", NULL);
	t.f.settings = s;
	t.f.n_settings = 1;
	assert_int_equal(trial_run(&t, &e), -1);
	assert_int_equal(e.code, ERR_FULL);
	assert_has(e.text, "the files of randomread take 900 TiB, and ");
	trial_clear(&t);
}

static void test_a_program_that_is_not_there(void **state)
{
	struct trial t;
	struct err e = {0};

	(void)state;
	trial_init(&t, "varmail", NULL);
	t.f.program = (char *)"/nonexistent/filebench";
	assert_int_equal(trial_run(&t, &e), -1);
	assert_has(e.text, "there is no filebench to run at /nonexistent/filebench");
	trial_clear(&t);
	trial_init(&t, "varmail", NULL);
	t.f.program = (char *)"/bin/true";
	assert_int_equal(trial_run(&t, &e), -1);
	assert_has(e.text, "/bin/true is no filebench of version 1.4 or 1.5");
	trial_clear(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(test_failures_name_flowop_and_place),
		IN_DIR(test_a_fileset_of_folders_has_no_file_to_open),
		IN_DIR(test_an_io_error_names_file_and_offset),
		IN_DIR(test_files_that_cannot_fit_are_told_before),
		IN_DIR(test_a_program_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
