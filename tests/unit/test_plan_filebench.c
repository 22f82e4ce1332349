/* Plans with `filebench`: what they mean, and what is said about wrong ones. See plan_wrong.h. */
#include "tests/unit/plan_wrong.h"

#include "common/plan/work_filebench.h"
#include "common/plan/workload.h"

#define FILEBENCH(body) TOP EXISTING "workloads:\n  w: {filebench: " body "}\n"

static const struct wrong wrongs[] = {
	{"nothing", FILEBENCH("{}"),
		"7:18: workloads.w.filebench: 'personality' is missing: varmail, fileserver, … (or "
		"'wml', a file of the host)\n"},
	{"no map", FILEBENCH("varmail"),
		"7:18: workloads.w.filebench: must be a map, such as {personality: varmail, duration: "
		"60s}\n"},
	{"personality", FILEBENCH("{personality: vermail}"),
		"7:32: workloads.w.filebench.personality: 'vermail' is not a personality (varmail, "
		"fileserver, webserver, webproxy, oltp, videoserver, randomread, randomwrite); did you "
		"mean 'varmail'?\n"},
	{"both", FILEBENCH("{personality: varmail, wml: /srv/x.f}"),
		"7:46: workloads.w.filebench.wml: beside 'personality': one of them says what runs\n"},
	{"relative file", FILEBENCH("{wml: x.f}"),
		"7:24: workloads.w.filebench.wml: 'x.f' must be an absolute path\n"},
	{"variables", FILEBENCH("{personality: varmail, nfile: 10, nthreads: 4, x-y: 1}"),
		"7:41: workloads.w.filebench: 'nfile' is neither a key of filebench nor a variable of "
		"varmail; did you mean 'nfiles'?\n"
		"7:65: workloads.w.filebench: 'x-y' is neither a key of filebench nor the name of a "
		"variable\n"},
	{"value", FILEBENCH("{personality: varmail, nfiles: 0}"),
		"7:18: workloads.w.filebench: varmail:11:8: fileset 'spool' has no files: 'entries=' is "
		"missing or 0\n"},
	{"value of two lines", FILEBENCH("{personality: varmail, nfiles: \"5\\nsystem \\\"id\\\"\"}"),
		"7:49: workloads.w.filebench.nfiles: '5\\x0asystem \"id\"' is no value of a variable: letters, "
		"digits and . _ - $ %, at most 79\n"},
	{"program", FILEBENCH("{personality: varmail, program: other}"),
		"7:50: workloads.w.filebench.program: 'other' must be native, filebench "
		"(/usr/local/bin/filebench) or the path of one\n"},
	{"data of the program", FILEBENCH("{personality: varmail, program: filebench, data: zero}"),
		"7:67: workloads.w.filebench.data: filebench itself writes what its memory holds: only "
		"the native engine makes data\n"},
	{"dialect", FILEBENCH("{personality: varmail, io-summary: E}"),
		"7:53: workloads.w.filebench.io-summary: 'E' is not a dialect of the IO Summary (A, B, "
		"C, D)\n"},
	{"duration in two places", FILEBENCH("{personality: varmail, duration: 5s}, duration: 5s"),
		"7:66: workloads.w.duration: is given twice: workloads.w.filebench.duration says one "
		"already, in line 7\n"},
	{"duration", FILEBENCH("{personality: varmail, duration: 10ms}"),
		"7:51: workloads.w.filebench.duration: '10ms' is outside of 1s to 7d00h00m\n"},
};
WRONG_TEST(wrongs)

static struct plan *parse(const char *text)
{
	struct yaml_errors errs = {0};
	struct plan *p = NULL;
	struct err e;

	if (plan_parse("plan.yaml", text, strlen(text), NULL, &p, &errs, &e))
		fail_msg("%s", e.text);
	yaml_errors_free(&errs);
	return p;
}

static void test_a_personality_says_what_it_needs(void **state)
{
	struct plan *p = parse(FILEBENCH("{personality: varmail, duration: 5s, nfiles: 100, "
					 "filesize: 32k, io-summary: A}"));
	struct workload *w = &p->workloads[0];
	struct workload_needs n;
	struct err e;

	(void)state;
	assert_int_equal(w->kind, WORKLOAD_FILEBENCH);
	assert_int_equal(w->filebench->dialect, 'A');
	assert_int_equal(workload_needs(p, 0, 0, &n, &e), 0);
	assert_int_equal(n.duration_ns, 5000000000LL);
	assert_int_equal(n.space_bytes, 100 * 32768);
	assert_int_equal(n.kept_bytes, 80 * 32768);
	assert_string_equal(workload_headline(w), "ops_per_s");
	assert_string_equal(workload_op(w), "varmail");
	assert_int_equal(workload_syncs(w), 1);
	plan_free(p);
}

static void test_a_run_is_as_long_as_the_personality_says(void **state)
{
	struct plan *p = parse(FILEBENCH("{personality: fileserver}"));
	struct workload_needs n;
	struct err e;

	(void)state;
	assert_int_equal(workload_needs(p, 0, 0, &n, &e), 0);
	assert_int_equal(n.duration_ns, 60000000000LL);
	assert_int_equal(workload_syncs(&p->workloads[0]), 0);
	plan_free(p);
}

static void test_a_policy_must_name_file_and_program(void **state)
{
	struct plan *p = parse(FILEBENCH("{wml: /srv/mine.f, program: filebench, size: 3}"));
	struct strv inputs = {0}, programs = {0};

	(void)state;
	workload_access(&p->workloads[0], &inputs, &programs);
	assert_int_equal(inputs.n, 1);
	assert_string_equal(inputs.v[0], "/srv/mine.f");
	assert_int_equal(programs.n, 1);
	assert_string_equal(programs.v[0], "/usr/local/bin/filebench");
	assert_string_equal(workload_op(&p->workloads[0]), "wml");
	assert_int_equal(workload_syncs(&p->workloads[0]), -1);
	strv_free(&inputs);
	strv_free(&programs);
	plan_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrongs),
		cmocka_unit_test(test_a_personality_says_what_it_needs),
		cmocka_unit_test(test_a_run_is_as_long_as_the_personality_says),
		cmocka_unit_test(test_a_policy_must_name_file_and_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
