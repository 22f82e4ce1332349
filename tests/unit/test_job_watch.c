/*
 * Trials that stand still or take too long are ended by the monitor, whatever the worker does about
 * it; the volume is taken down as ever. On a file system without disks, so that nobody else's I/O
 * passes for progress.
 */
#include "tests/unit/job_kit.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "agent/workload/pg_find.h"
#include "agent/workload/pg_shape.h"

static void stop_worker(struct fixture *f)
{
	if (f->job->worker)
		kill(worker_pid(f->job->worker), SIGSTOP);
}

static void test_worker_stands_still(void **state)
{
	struct fixture f;

	(void)state;
	setup_in(&f, "/dev/shm");
	f.when = RECORD_SAMPLE;
	f.react = stop_worker;
	run(&f, 1, "stall: 1s\non-trial-failure: stop\n" SLOW, 0);
	assert_int_equal(f.state, ATTEMPT_FAILED);
	assert_int_equal(f.failed, 1);
	assert_has(f.error, "no progress for 1s");
	assert_has(f.error, "'stall'");
	teardown(&f);
}

/* Paced so that a block comes every 62 ms: it is slow, and not stuck. */
static void test_slow_is_not_stuck(void **state)
{
	struct fixture f;

	(void)state;
	setup_in(&f, "/dev/shm");
	run(&f, 1, "stall: 1s\nsamples: 100ms\nworkloads: {w: {stream: {op: write, size: 2M, "
		   "block-size: 64K, rate: 1M}}}", 0);
	assert_int_equal(f.state, ATTEMPT_DONE);
	assert_int_equal(f.failed, 0);
	teardown(&f);
}

static void test_trial_deadline(void **state)
{
	struct fixture f;

	(void)state;
	setup_in(&f, "/dev/shm");
	run(&f, 2, "trial-deadline: 1s\non-trial-failure: continue\n" SLOW, 0);
	assert_int_equal(f.state, ATTEMPT_FAILED);
	assert_int_equal(f.failed, 2); /* the second block is done all the same */
	assert_has(f.error, "not over after 1s");
	assert_has(f.error, "trial-deadline");
	assert_true(count(&f, RECORD_SAMPLE) > 0);
	teardown(&f);
}

static void test_retry_after_a_stall(void **state)
{
	struct fixture f;

	(void)state;
	setup_in(&f, "/dev/shm");
	f.when = RECORD_SAMPLE;
	f.react = stop_worker;
	run(&f, 1, "stall: 1s\non-trial-failure: retry 1\nsamples: 100ms\n"
		   "workloads: {w: {stream: {op: write, size: 5M, block-size: 64K, rate: 2M}}}", 0);
	assert_int_equal(f.state, ATTEMPT_DONE);
	assert_int_equal(f.trials, 2);
	assert_int_equal(f.failed, 1);
	teardown(&f);
}

/* It hangs before its time begins. */
static void test_rehearsal_stands_still(void **state)
{
	struct fixture f;

	(void)state;
	setup_in(&f, "/dev/shm");
	f.when = RECORD_VOLUME_READY;
	f.react = stop_worker;
	run(&f, 1, "cache: warm\nstall: 1s\non-trial-failure: stop\n" SLOW, 0);
	assert_int_equal(f.state, ATTEMPT_FAILED);
	assert_int_equal(f.failed, 1);
	assert_has(f.error, "no progress for 1s");
	teardown(&f);
}

/* PostgreSQL does not run as root. */
static void work_as_nobody(struct fixture *f)
{
	struct err e;

	if (getuid() != 0)
		return;
	assert_ok(spawn_user_find("nobody", &f->host.work_user, &e), e);
	assert_int_equal(chmod(f->dir, 0755), 0);
}

/* A dump of one gigabyte takes longer to read than the worker may stand still. */
static void test_reading_is_no_stall(void **state)
{
	static const char words[] = "-- PostgreSQL database dump\n";
	char begin[PG_HEAD_BYTES];
	struct pg_programs programs = {0};
	char path[100], plan[300];
	struct fixture f;
	struct err e;
	int fd;

	(void)state;
	if (pg_find(NULL, &programs, &e))
		skip();
	pg_programs_clear(&programs);
	setup_in(&f, "/dev/shm");
	work_as_nobody(&f);
	snprintf(path, sizeof(path), "%s/sparse.dump", f.dir);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	memset(begin, '\n', sizeof(begin)); /* as far as a begin is looked at, it is a dump */
	memcpy(begin, words, strlen(words));
	assert_int_equal(write(fd, begin, sizeof(begin)), sizeof(begin));
	assert_int_equal(ftruncate(fd, 1 << 30), 0);
	close(fd);
	snprintf(plan, sizeof(plan),
		"stall: 1s\non-trial-failure: stop\nworkloads: {p: {pg_restore: {dump: %s}}}", path);
	run(&f, 1, plan, 0);
	assert_int_equal(f.state, ATTEMPT_FAILED);
	assert_int_equal(f.failed, 1);
	assert_has(f.error, "sparse.dump is cut off");
	teardown(&f);
}

/* How many processes have that word on their command line. */
static unsigned running(const char *word)
{
	unsigned n = 0;
	struct dirent *de;
	DIR *d = opendir("/proc");

	assert_non_null(d);
	while ((de = readdir(d))) {
		char path[300], line[4096];
		size_t len;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/cmdline", de->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		len = fread(line, 1, sizeof(line) - 1, f);
		line[len] = 0;
		for (size_t i = 0; i < len; i += strlen(line + i) + 1)
			n += !strcmp(line + i, word);
		fclose(f);
	}
	closedir(d);
	return n;
}

/* It is the program that does nothing; it must not outlive the trial either. */
static void test_command_sleeps(void **state)
{
	char word[40], plan[200];
	struct fixture f;

	(void)state;
	if (access("/usr/bin/sleep", X_OK))
		skip();
	setup_in(&f, "/dev/shm");
	snprintf(word, sizeof(word), "600.%06d", (int)getpid());
	snprintf(plan, sizeof(plan),
		"stall: 1s\nworkloads: {c: {command: {argv: [/usr/bin/sleep, \"%s\"]}}}", word);
	run(&f, 1, plan, 0);
	assert_int_equal(f.state, ATTEMPT_FAILED);
	assert_int_equal(f.failed, 1);
	assert_has(f.error, "no progress for 1s");
	assert_int_equal(running(word), 0);
	teardown(&f);
}

/* A program of the policy, in the job's folder. */
static void write_program(struct fixture *f, const char *name, const char *script)
{
	char path[200];
	struct err e;

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	assert_ok(fs_write_file(path, script, strlen(script), 0755, &e), e);
}

static void runs_into_stall(struct fixture *f, const char *workload)
{
	char plan[400];

	snprintf(plan, sizeof(plan), "stall: 1s\nsamples: 100ms\non-trial-failure: stop\nworkloads: {c: %s}",
		workload);
	run(f, 1, plan, 0);
	assert_int_equal(f->state, ATTEMPT_FAILED);
	assert_int_equal(f->failed, 1);
	assert_has(f->error, "no progress for 1s");
}

#define COMPLAINS "while :; do echo 'nothing works' >&2; echo 'nor this'; sleep 0.05; done\n"

static void test_printing_is_no_progress(void **state)
{
	struct fixture f;
	char workload[200];

	(void)state;
	setup_in(&f, "/dev/shm");
	write_program(&f, "complain", "#!/bin/sh\n" COMPLAINS);
	snprintf(workload, sizeof(workload), "{command: {argv: [%s/complain]}}", f.dir);
	runs_into_stall(&f, workload);
	teardown(&f);
}

/* In their time; and while fio lays out what is to be read. */
static void test_printing_is_no_progress_of_fio_and_filebench(void **state)
{
	static const char *const workloads[][2] = {
		{"{fio: {program: ", "/fio, options: {rw: write, size: 1m}}}"},
		{"{fio: {program: ", "/fio, options: {rw: read, size: 1m}}}"},
		{"{filebench: {personality: varmail, program: ", "/filebench, duration: 1m}}"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(workloads); i++) {
		struct fixture f;
		char *workload;

		setup_in(&f, "/dev/shm");
		write_program(&f, "fio", "#!/bin/sh\n[ \"$1\" = --version ] && exec echo fio-3.33\n" COMPLAINS);
		write_program(&f, "filebench",
			"#!/bin/sh\n[ \"$1\" = -h ] && exec echo Filebench version 1.5-alpha3\n" COMPLAINS);
		workload = xasprintf("%s%s%s", workloads[i][0], f.dir, workloads[i][1]);
		runs_into_stall(&f, workload);
		free(workload);
		teardown(&f);
	}
}

/* On a volume without disks, what the kernel accounts to the program itself. */
static void test_io_of_a_program_is_progress(void **state)
{
	struct fixture f;
	char script[300], plan[300], file[] = "/tmp/arraymark-progress-XXXXXX";
	int fd = mkstemp(file);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	setup_in(&f, "/dev/shm");
	snprintf(script, sizeof(script),
		"#!/bin/sh\nfor i in 1 2 3 4 5 6 7; do head -c 100000 /dev/zero >%s; sleep 0.25; done\n", file);
	write_program(&f, "work", script);
	snprintf(plan, sizeof(plan),
		"stall: 1s\nworkloads: {c: {command: {argv: [%s/work], sync: none}}}", f.dir);
	run(&f, 1, plan, 0);
	unlink(file);
	assert_int_equal(f.failed, 0);
	assert_int_equal(f.state, ATTEMPT_DONE);
	teardown(&f);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worker_stands_still),
		cmocka_unit_test(test_slow_is_not_stuck),
		cmocka_unit_test(test_trial_deadline),
		cmocka_unit_test(test_retry_after_a_stall),
		cmocka_unit_test(test_rehearsal_stands_still),
		cmocka_unit_test(test_command_sleeps),
		cmocka_unit_test(test_printing_is_no_progress),
		cmocka_unit_test(test_printing_is_no_progress_of_fio_and_filebench),
		cmocka_unit_test(test_io_of_a_program_is_progress),
		cmocka_unit_test(test_reading_is_no_stall),
	};

	job_kit_main(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
