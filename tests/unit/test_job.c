/*
 * Whole jobs on an existing directory, with real helpers and real workers (this program started
 * again): the order of the records, cancelling in each phase, retries, Await and Continue, and that
 * nothing is left behind.
 */
#include "tests/unit/job_kit.h"

static void test_whole_job(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	run(&f, 2, QUICK, 0);
	assert_int_equal(f.state, ATTEMPT_DONE);
	EXPECT(&f, RECORD_ATTEMPT_START, RECORD_UNIT_START, RECORD_VOLUME_READY, RECORD_TRIAL_START,
		RECORD_TRIAL_END, RECORD_TRIAL_START, RECORD_TRIAL_END, RECORD_UNIT_END,
		RECORD_UNIT_START, RECORD_VOLUME_READY, RECORD_TRIAL_START, RECORD_TRIAL_END,
		RECORD_TRIAL_START, RECORD_TRIAL_END, RECORD_UNIT_END, RECORD_ATTEMPT_END);
	assert_int_equal(f.failed, 0);
	assert_true(count(&f, RECORD_STEP) > 0);
	teardown(&f);
}

static void test_repeats_and_builds_once(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	run(&f, 2, "repeat: 2\nbuilds: once\n" QUICK, 0);
	assert_int_equal(f.state, ATTEMPT_DONE);
	assert_int_equal(f.trials, 8);
	assert_int_equal(count(&f, RECORD_VOLUME_READY), 1);
	assert_int_equal(count(&f, RECORD_UNIT_END), 2);
	teardown(&f);
}

static void test_too_small(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	run(&f, 2, "workloads: {w: {stream: {op: write, size: 900P}}}", 0);
	assert_int_equal(f.state, ATTEMPT_FAILED);
	assert_int_equal(f.trials, 0);
	assert_int_equal(count(&f, RECORD_UNIT_START), 1); /* the second would be the same */
	assert_has(f.error, "too small");
	teardown(&f);
}

static void test_refused_offers(void **state)
{
	static const struct {
		unsigned blocks;
		const char *rest, *says;
	} cases[] = {
		{0, QUICK, "no block"},
		{1, "workloads: {w: {stream: {op: wrte, size: 1M}}}", "wrte"},
		{1, "layouts: {b: {existing: /}}\n" QUICK, "layouts"},
	};
	struct fixture f;
	struct err e;

	(void)state;
	setup(&f);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(try_job(&f, cases[i].blocks, cases[i].rest, 0, &e), -1);
		assert_has(e.text, cases[i].says);
	}
	assert_null(f.job);
	teardown(&f);
}

/* What an attempt built and kept is known by its journal alone: no second one may take its name. */
static void test_key_of_what_is_kept(void **state)
{
	struct fixture f;
	struct err e;
	char *kept;

	(void)state;
	setup(&f);
	kept = xasprintf("%s/kept-12-3-1.jsonl", f.dir);
	assert_ok(fs_write_file(kept, "", 0, 0600, &e), e);
	assert_int_equal(try_job(&f, 1, QUICK, 0, &e), -1);
	assert_int_equal(e.code, ERR_EXISTS);
	assert_int_equal(unlink(kept), 0);
	free(kept);
	run(&f, 1, QUICK, 0);
	teardown(&f);
}

/* As a full disk leaves it: nothing was begun, and nothing else is made of it. */
static void test_journal_without_a_header(void **state)
{
	struct host_task task = {0};
	struct fixture f;
	json_t *result = NULL;
	char *path;
	struct err e;

	(void)state;
	setup(&f);
	path = xasprintf("%s/journal-9-9-1.jsonl", f.dir);
	assert_ok(fs_write_file(path, "", 0, 0600, &e), e);
	task.host = &f.host;
	assert_ok(task_leftovers(NULL, &task, &result, &e), e);
	free(path);
	teardown(&f); /* asserts that no journal is left */
}

static void take_back(struct fixture *f)
{
	static const char rules[] = "allow: {directories: [{path: /srv/other}]}\n";
	struct err e;

	assert_ok(fs_write_file(f->opt.config, rules, strlen(rules), 0600, &e), e);
}

/* The owner changes the policy while a job runs: what it no longer allows is not built again. */
static void test_policy_that_shrinks(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.when = RECORD_TRIAL_START;
	f.react = take_back;
	run(&f, 2, QUICK, 0);
	assert_int_equal(f.state, ATTEMPT_FAILED);
	assert_int_equal(f.failed, 0);
	assert_int_equal(count(&f, RECORD_VOLUME_READY), 1);
	assert_has(f.error, "allow.directories");
	teardown(&f);
}

static void shorten_jobs(struct fixture *f)
{
	char *rules = xasprintf("allow: {directories: [{path: %s/bench}]}\nlimits: {job: 1h}\n", f->dir);
	struct err e;

	assert_ok(fs_write_file(f->opt.config, rules, strlen(rules), 0600, &e), e);
	free(rules);
}

static void test_policy_whose_limit_shrinks(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.deadline_s = 7200;
	f.when = RECORD_TRIAL_START;
	f.react = shorten_jobs;
	run(&f, 2, QUICK, 0);
	assert_int_equal(f.state, ATTEMPT_FAILED);
	assert_int_equal(count(&f, RECORD_VOLUME_READY), 1);
	assert_has(f.error, "limits.job");
	teardown(&f);
}

static void test_cancel_everywhere(void **state)
{
	static const enum record_type at[] = {RECORD_ATTEMPT_START, RECORD_UNIT_START, RECORD_STEP,
		RECORD_VOLUME_READY, RECORD_TRIAL_START, RECORD_SAMPLE, RECORD_TRIAL_END,
		RECORD_UNIT_END};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(at); i++) {
		struct fixture f;

		setup(&f);
		f.when = at[i];
		f.react = cancel;
		run(&f, 30, at[i] == RECORD_TRIAL_END || at[i] == RECORD_UNIT_END ? QUICK : SLOW, 0);
		assert_int_equal(f.state, ATTEMPT_CANCELLED);
		assert_int_equal(count(&f, RECORD_UNIT_START), count(&f, RECORD_UNIT_END));
		assert_int_equal(count(&f, RECORD_TRIAL_START), count(&f, RECORD_TRIAL_END));
		assert_true(count(&f, RECORD_UNIT_START) < 30);
		teardown(&f);
	}
}

static void kill_worker(struct fixture *f)
{
	if (f->job->worker)
		kill(worker_pid(f->job->worker), SIGKILL);
}

static void test_worker_killed(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.when = RECORD_SAMPLE;
	f.react = kill_worker;
	run(&f, 1, "on-trial-failure: stop\n" SLOW, 0);
	assert_int_equal(f.state, ATTEMPT_FAILED);
	assert_int_equal(f.failed, 1);
	assert_has(f.error, "killed by signal 9");
	teardown(&f);
}

static void test_retry(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.when = RECORD_SAMPLE;
	f.react = kill_worker;
	run(&f, 1, "on-trial-failure: retry 1\nsamples: 100ms\nworkloads: {w: {stream: {op: write, "
		   "size: 5M, block-size: 64K, rate: 2M}}}", 0);
	assert_int_equal(f.state, ATTEMPT_DONE); /* the second try was good */
	assert_int_equal(f.trials, 2);
	assert_int_equal(f.failed, 1);
	teardown(&f);
}

static void test_failure_goes_on(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.when = RECORD_SAMPLE;
	f.react = kill_worker;
	run(&f, 2, "on-trial-failure: continue\nsamples: 100ms\nworkloads: {w: {stream: {op: write, "
		   "size: 5M, block-size: 64K, rate: 2M}}}", 0);
	assert_int_equal(f.state, ATTEMPT_FAILED);
	assert_int_equal(f.trials, 2);
	assert_int_equal(f.failed, 1);
	assert_int_equal(count(&f, RECORD_UNIT_END), 2);
	teardown(&f);
}

static void remove_volume(struct fixture *f)
{
	struct err e;

	assert_ok(fs_remove_tree(job_volume(f->job)->directory, &e), e);
}

static void test_volume_gone(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.when = RECORD_SAMPLE;
	f.react = remove_volume;
	run(&f, 1, "on-trial-failure: retry 5\nsamples: 100ms\nworkloads: {w: {stream: {op: write, "
		   "size: 5M, block-size: 64K, rate: 2M}}}", 0);
	assert_int_equal(f.state, ATTEMPT_FAILED);
	assert_int_equal(f.trials, 1); /* the worker saw nothing, the check did; no retry on it */
	assert_int_equal(f.failed, 1);
	teardown(&f);
}

/* A whole trial goes before each, and is not counted. */
static void test_warm(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	run(&f, 1, "cache: warm\n" QUICK, 0);
	assert_int_equal(f.state, ATTEMPT_DONE);
	assert_int_equal(f.trials, 2);
	assert_has(f.step, "run r once to warm the caches, not counted: 1 MiB in ");
	assert_has(f.cache, "warm: r ran once before, not counted (1 MiB in ");
	teardown(&f);
}

/* Whoever makes its files after the caches were emptied is not cold, whatever was done to them. */
static void test_late_files_are_not_cold(void **state)
{
	static const char text[] = "name: p\nhosts: [all]\ntrials: 3\nlayouts: {a: {existing: /srv/a}}\n"
		"workloads:\n"
		"  own: {filebench: {personality: varmail}}\n"
		"  late: {filebench: {personality: varmail, program: /opt/filebench}}\n";
	static const struct {
		unsigned workload;
		const char *done, *told;
	} cases[] = {
		{0, "cold: mounted anew", "cold: mounted anew"},
		{1, "cold: mounted anew",
			"not cold: late makes what it reads after this (cold: mounted anew)"},
		{1, "as-is: left alone", "as-is: left alone"},
	};
	struct yaml_errors errs = {0};
	struct job j = {0};
	struct err e;

	(void)state;
	assert_ok(plan_parse("plan", text, strlen(text), NULL, &j.plan, &errs, &e), e);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *told;

		j.trial.workload = cases[i].workload;
		told = rehearse_cache_text(&j, cases[i].done);
		assert_string_equal(told, cases[i].told);
		free(told);
	}
	yaml_errors_free(&errs);
	plan_free(j.plan);
}

static void test_warming_fails(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	run(&f, 1, "cache: warm\nworkloads: {r: {stream: {op: read, file: none, size: 1M}}}", 0);
	assert_int_equal(f.state, ATTEMPT_FAILED);
	assert_int_equal(f.trials, 1);
	assert_int_equal(f.failed, 1);
	assert_has(f.error, "cannot open 'none'");
	assert_has(f.step, "cannot open 'none'");
	teardown(&f);
}

/* The format with the folder at each %s. */
static void fill_in(char *out, size_t size, const char *format, const char *dir)
{
	struct buf b = {0};

	for (const char *at; (at = strstr(format, "%s")); format = at + 2)
		buf_addf(&b, "%.*s%s", (int)(at - format), format, dir);
	buf_adds(&b, format);
	snprintf(out, size, "%s", buf_str(&b));
	buf_free(&b);
}

static void write_input(const struct fixture *f, const char *name, mode_t mode, const char *text)
{
	char *path = xasprintf("%s/%s", f->dir, name);
	struct err e;

	assert_ok(fs_write_file(path, text, strlen(text), mode, &e), e);
	free(path);
}

static void write_inputs(const struct fixture *f)
{
	write_input(f, "wrong.f", 0644,
		"define process name=p { thread name=t {\n  flowop opnfile name=o\n } }\n");
	write_input(f, "wrong.fio", 0644, "[a]\nrw=read\nsize=1m\n");
	write_input(f, "fio", 0755, "#!/bin/sh\necho fio-2.21\n");
	write_input(f, "text", 0644, "no program\n");
}

/* A wrong program or input is told before anything is built, whichever workload has it. */
static void test_a_workload_that_cannot_run(void **state)
{
	static const struct {
		const char *workloads, *says;
	} table[] = {
		{"w: {stream: {op: write, size: 1M}}, f: {filebench: {wml: %s/wrong.f}}",
			"workload f: %s/wrong.f:2:10: 'opnfile' is not a flowop"},
		{"f: {filebench: {wml: %s/none.f}}", "workload f: the workload file: cannot read %s/none.f: No such file"},
		{"f: {fio: {job: %s/wrong.fio, program: %s/fio}}", "workload f: %s/fio is fio-2.21"},
		{"f: {fio: {options: {rw: read, size: 1M}, program: %s/text}}",
			"workload f: cannot start %s/text: Permission denied"},
		{"f: {fio: {options: {rw: read, size: 1M}, program: %s/none}}",
			"workload f: there is no %s/none"},
		{"f: {filebench: {personality: varmail, program: %s/fio}}",
			"workload f: %s/fio is no filebench of version 1.4 or 1.5"},
		{"p: {parallel: [{stream: {op: write, size: 1M}}, {command: {argv: ['%s/none']}}]}",
			"workload p: member p.2: cannot run %s/none"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char rest[1024], work[512], says[256];
		struct fixture f;

		setup(&f);
		write_inputs(&f);
		fill_in(work, sizeof(work), table[i].workloads, f.dir);
		fill_in(says, sizeof(says), table[i].says, f.dir);
		snprintf(rest, sizeof(rest), "workloads: {%s}", work);
		run(&f, 2, rest, 0);
		EXPECT(&f, RECORD_ATTEMPT_START, RECORD_ATTEMPT_END);
		assert_int_equal(count(&f, RECORD_STEP), 0);
		assert_int_equal(f.state, ATTEMPT_FAILED);
		assert_has(f.end_error, says);
		teardown(&f);
	}
}

/* What a command has yet to make is no fault before it has run. */
static void test_input_that_a_command_makes(void **state)
{
	char rest[512], maker[256];
	struct fixture f;

	(void)state;
	setup(&f);
	write_input(&f, "whole.f", 0644,
		"define fileset name=s,path=/tmp,entries=2,size=4k,prealloc=100\n"
		"define process name=p { thread name=t {\n"
		"  flowop readwholefile name=r,filesetname=s,iters=1\n"
		"  flowop finishoncount name=end,value=1\n} }\n");
	fill_in(maker, sizeof(maker), "#!/bin/sh\ncp %s/whole.f %s/made.f\n", f.dir);
	write_input(&f, "maker", 0755, maker);
	fill_in(rest, sizeof(rest),
		"workloads: {make: {command: {argv: ['%s/maker']}}, read: {filebench: {wml: '%s/made.f'}}}",
		f.dir);
	run(&f, 1, rest, 0);
	assert_string_equal(f.error, "");
	assert_int_equal(f.state, ATTEMPT_DONE);
	assert_int_equal(f.trials, 2);
	teardown(&f);
}

/* Members read files that were made before; the volume is emptied as ever. */
static void test_parallel(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	run(&f, 2, "workloads: {p: {parallel: [{stream: {op: read, files: 4, threads: 2, size: "
		   "4M}}, {stream: {op: write, size: 2M}}]}}", 0);
	assert_int_equal(f.state, ATTEMPT_DONE);
	assert_int_equal(f.trials, 2);
	assert_has(f.step, "make the files that p reads");
	teardown(&f);
}

static void answer(struct fixture *f)
{
	struct msg_continue c = {.unit = {.block = 77}, .repeat = 1};

	job_continue(f->job, &c); /* not what it waits for */
	assert_int_equal(f->job->phase, JOB_AWAIT_UNIT);
	c.unit = f->await.unit;
	f->when_number = 2;
	if (f->await.unit.block == 2)
		job_continue(f->job, &c);
	else
		job_finish(f->job);
}

static void test_await_and_finish(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.when = RECORD_AWAIT;
	f.react = answer;
	run(&f, 5, QUICK, 1); /* the plan's one block is done unasked */
	assert_int_equal(f.state, ATTEMPT_DONE);
	assert_int_equal(count(&f, RECORD_AWAIT), 2);
	assert_int_equal(count(&f, RECORD_UNIT_END), 2);
	assert_int_equal(f.await.unit.block, 3);
	teardown(&f);
}

static void test_cancel_while_waiting(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.when = RECORD_AWAIT;
	f.react = cancel;
	run(&f, 5, QUICK, 1);
	assert_int_equal(f.state, ATTEMPT_CANCELLED);
	assert_int_equal(count(&f, RECORD_UNIT_END), 1);
	teardown(&f);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_job),
		cmocka_unit_test(test_repeats_and_builds_once),
		cmocka_unit_test(test_too_small),
		cmocka_unit_test(test_refused_offers),
		cmocka_unit_test(test_key_of_what_is_kept),
		cmocka_unit_test(test_journal_without_a_header),
		cmocka_unit_test(test_policy_that_shrinks),
		cmocka_unit_test(test_policy_whose_limit_shrinks),
		cmocka_unit_test(test_cancel_everywhere),
		cmocka_unit_test(test_worker_killed),
		cmocka_unit_test(test_retry),
		cmocka_unit_test(test_failure_goes_on),
		cmocka_unit_test(test_volume_gone),
		cmocka_unit_test(test_warm),
		cmocka_unit_test(test_late_files_are_not_cold),
		cmocka_unit_test(test_warming_fails),
		cmocka_unit_test(test_a_workload_that_cannot_run),
		cmocka_unit_test(test_input_that_a_command_makes),
		cmocka_unit_test(test_parallel),
		cmocka_unit_test(test_await_and_finish),
		cmocka_unit_test(test_cancel_while_waiting),
	};

	job_kit_main(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
