/*
 * The external filebench, in its place a script that answers as one does: what text it is given, and
 * what is made of its output.
 */
#include "tests/unit/filebench_kit.h"

#include <math.h>

#define HELP "if [ \"$1\" = -h ]; then echo '  Filebench version 1.5-alpha3'; exit 0; fi\n"

static void write_script(const char *body)
{
	char *path = xasprintf("%s/filebench", dir), *text = xasprintf("#!/bin/sh\n" HELP "%s", body);
	struct err e;

	assert_ok(fs_write_file(path, text, strlen(text), 0755, &e), e);
	free(path);
	free(text);
}

static char *given_text(void)
{
	char *path = xasprintf("%s/w.files/run.f", dir);
	struct buf text = {0};
	struct err e;

	assert_ok(fs_read_file(path, 1 << 20, &text, &e), e);
	free(path);
	return buf_take(&text);
}

static int run(struct trial *t, struct wml_setting *s, size_t n, struct err *e)
{
	t->f.program = xasprintf("%s/filebench", dir);
	t->f.settings = s;
	t->f.n_settings = n;
	t->w.duration_ns = 7000000000;
	return trial_run(t, e);
}

/* As printed by a build of 2017 or later. */
static const char output[] =
	"echo '2.017: Per-Operation Breakdown'\n"
	"echo 'closefile4           3000ops     1500ops/s   0.0mb/s    0.002ms/op [0.001ms - 0.5ms]'\n"
	"echo 'readfile4            3001ops     1500ops/s  23.4mb/s    0.010ms/op [0.001ms - 0.7ms]'\n"
	"echo '2.018: IO Summary: 39 ops 19500.000 ops/s 3000/3000 rd/wr  67.9mb/s 0.815ms/op'\n";

static void test_the_plan_is_in_its_text(void **state)
{
	struct wml_setting s[] = {{"nfiles", "12"}, {"filesize", "32K"}, {"iosize", "64K"}};
	struct trial t;
	struct err e;
	char *text, *line;

	(void)state;
	write_script(output);
	trial_init(&t, "varmail", NULL);
	assert_ok(run(&t, s, ARRAY_LEN(s), &e), e);
	text = given_text();
	line = xasprintf("set $dir=%s/w.files\n", dir);
	assert_has(text, line);
	assert_has(text, "set $nfiles=12\n");
	assert_has(text, "parameters=mean:32768;gamma:1.5)\n");
	assert_has(text, "set $iosize=65536\n");
	assert_has(text, "set $nthreads = 16\n");
	assert_null(strstr(text, "run 60"));
	assert_true(str_ends(text, "\nrun 7\n"));
	free(line);
	free(text);
	free(t.f.program);
	trial_clear(&t);
}

static void test_its_output_is_the_result(void **state)
{
	struct trial t;
	struct err e;

	(void)state;
	write_script(output);
	trial_init(&t, "varmail", NULL);
	assert_ok(run(&t, NULL, 0, &e), e);
	assert_int_equal(t.r->ops, 39);
	assert_int_equal(t.r->elapsed_ns, 2000000);
	assert_int_equal(part(&t, "closefile4")->ops, 3000);
	assert_int_equal(part(&t, "readfile4")->ops, 3001);
	assert_true(fact(&t, "latency_all_mean") > 814999 && fact(&t, "latency_all_mean") < 815001);
	assert_true(fabs(fact(&t, "latency_rw_mean") - 815e3 * 19500 / 6000) < 1);
	assert_true(fact(&t, "reads_per_s") == 3000 && fact(&t, "writes_per_s") == 3000);
	assert_null(detail_find_fact(&t.r->detail, "cpu_per_rw"));
	assert_has(note(&t, "settings"), "version 1.5-alpha3");
	assert_string_equal(note(&t, "IO Summary"),
		"IO Summary: 39 ops 19500.000 ops/s 3000/3000 rd/wr  67.9mb/s 0.815ms/op");
	free(t.f.program);
	trial_clear(&t);
}

/* The old summary, by read and write; of several the last. */
static void test_facts_have_the_native_names(void **state)
{
	struct trial t;
	struct err e;

	(void)state;
	write_script("echo 'IO Summary: 7 ops 700.0 ops/s, (1/1 r/w) 1.0mb/s, 1us cpu/op, 1.0ms latency'\n"
		     "echo 'IO Summary: 13 ops 1300.0 ops/s, (150/250 r/w) 36.1mb/s, 297us cpu/op, 6.5ms "
		     "latency'\n");
	trial_init(&t, "varmail", NULL);
	assert_ok(run(&t, NULL, 0, &e), e);
	assert_int_equal(t.r->ops, 13);
	assert_true(fact(&t, "reads_per_s") == 150 && fact(&t, "writes_per_s") == 250);
	assert_true(fabs(fact(&t, "latency_rw_mean") - 6.5e6) < 1);
	assert_true(fabs(fact(&t, "latency_all_mean") - 2e6) < 1);
	assert_true(fabs(fact(&t, "cpu_per_rw") - 297) < 1e-6);
	assert_null(detail_find_fact(&t.r->detail, "cpu_per_op")); /* which the native engine has not */
	assert_has(note(&t, "IO Summary"), "(150/250 r/w)");
	free(t.f.program);
	trial_clear(&t);
}

static void check_failure(const char *script, const char *wml, const char *expected)
{
	struct trial t;
	struct err e = {0};

	write_script(script);
	trial_init(&t, wml ? NULL : "varmail", wml);
	assert_int_equal(run(&t, NULL, 0, &e), -1);
	assert_has(e.text, expected);
	free(t.f.program);
	trial_clear(&t);
}

static void test_failures_of_the_program(void **state)
{
	(void)state;
	check_failure("echo 'out of resources' >&2; exit 3\n", NULL, "out of resources");
	check_failure("echo 'Run stopped early'\n", NULL,
		"filebench ended without an IO Summary; what it said is with the trial");
	check_failure("echo '1.2: Running...'; echo '1.3: Failed to write 4096 bytes on fd 6: Success'\n"
		      "echo '1.3: t-1: flowop a-1 failed'; echo '2.2: NO VALID RESULTS!'\n",
		NULL,
		"filebench ended without an IO Summary: 1.3: Failed to write 4096 bytes on fd 6: "
		"Success; what it said is with the trial");
	check_failure("echo 'IO Summary: 444386 ops 7341.704 ops/s 1129/1129 rd/wr 36.1mb/s 2.031ms/op'\n", NULL,
		"filebench's IO Summary tells of 444386 operations in 1m00.5");
	check_failure(output,
		"define fileset name=filesystem,path=$dir,entries=5,dirwidth=5\n"
		"define process name=p { thread name=t { flowop statfile name=s,filesetname=filesystem } }\n",
		"holds the word 'system'");
}

#define WITH_PATH(before, path)                                                                    \
	before "define fileset name=f,path=" path ",entries=5,dirwidth=5\n"                        \
	       "define process name=p { thread name=t { flowop statfile name=s,filesetname=f } }\n"

/* What would lie elsewhere is refused before the program runs, and before its text is written. */
static void test_files_lie_in_the_volume(void **state)
{
	static const char *const texts[] = {
		WITH_PATH("", "/etc"),
		WITH_PATH("set $other=/etc\n", "$other"),
		WITH_PATH("set $other=$dir\n", "$other"),
		WITH_PATH("", "\"$dir/../..\""),
		WITH_PATH("set $n=1 set $dir=/etc\n", "$dir"),
		WITH_PATH("set ${dir}=/etc\n", "$dir"),
		WITH_PATH("set $n=1 set $dir=5\n", "$dir"),
	};
	char *path = xasprintf("%s/w.files/run.f", dir);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		check_failure(output, texts[i], "the volume's folder");
		assert_int_equal(access(path, F_OK), -1);
	}
	free(path);
}

static void test_remarks_are_not_passed_on(void **state)
{
	struct trial t;
	struct err e;
	char *text;

	(void)state;
	write_script(output);
	trial_init(&t, NULL, WITH_PATH("# one, path=/etc\necho \"a # b\" # two, path=/etc\n", "$dir"));
	assert_ok(run(&t, NULL, 0, &e), e);
	text = given_text();
	assert_null(strstr(text, "/etc"));
	assert_has(text, "echo \"a # b\"");
	assert_has(text, "path=$dir,entries=5");
	free(text);
	free(t.f.program);
	trial_clear(&t);
}

static void test_a_value_brings_no_command(void **state)
{
	static const char *const values[] = {"5\nsystem \"id\"", "$x\nrun 1", "a b", "a\"b", "a;b", ""};
	char *path = xasprintf("%s/w.files/run.f", dir);

	(void)state;
	write_script(output);
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		struct wml_setting s[] = {{"nfiles", values[i]}};
		struct trial t;
		struct err e = {0};

		trial_init(&t, "varmail", NULL);
		assert_int_equal(run(&t, s, 1, &e), -1);
		assert_has(e.text, "the variable 'nfiles' takes letters, digits and . _ - $ %");
		assert_int_equal(access(path, F_OK), -1);
		free(t.f.program);
		trial_clear(&t);
	}
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(test_the_plan_is_in_its_text),
		IN_DIR(test_its_output_is_the_result),
		IN_DIR(test_facts_have_the_native_names),
		IN_DIR(test_failures_of_the_program),
		IN_DIR(test_files_lie_in_the_volume),
		IN_DIR(test_remarks_are_not_passed_on),
		IN_DIR(test_a_value_brings_no_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
