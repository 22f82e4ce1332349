/*
 * Trials that stand still or take too long are ended by the monitor, whatever the worker does about
 * it; the volume is taken down as ever. On a file system without disks, so that nobody else's I/O
 * passes for progress.
 */
#include "tests/unit/job_kit.h"

#include <fcntl.h>

#include "agent/workload/pg_find.h"

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

/* A dump of one gigabyte takes longer to read than the worker may stand still. */
static void test_reading_is_no_stall(void **state)
{
	struct pg_programs programs = {0};
	char path[100], plan[300];
	struct fixture f;
	struct err e;
	int fd;

	(void)state;
	if (getuid() == 0 || pg_find(NULL, &programs, &e)) /* PostgreSQL does not run as root */
		skip();
	pg_programs_clear(&programs);
	setup_in(&f, "/dev/shm");
	snprintf(path, sizeof(path), "%s/sparse.dump", f.dir);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 1 << 30), 0);
	close(fd);
	snprintf(plan, sizeof(plan),
		"stall: 1s\non-trial-failure: stop\nworkloads: {p: {pg_restore: {dump: %s}}}", path);
	run(&f, 1, plan, 0);
	assert_int_equal(f.state, ATTEMPT_FAILED);
	assert_int_equal(f.failed, 1);
	assert_has(f.error, "sparse.dump is not a dump");
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

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worker_stands_still),
		cmocka_unit_test(test_slow_is_not_stuck),
		cmocka_unit_test(test_trial_deadline),
		cmocka_unit_test(test_retry_after_a_stall),
		cmocka_unit_test(test_rehearsal_stands_still),
		cmocka_unit_test(test_command_sleeps),
		cmocka_unit_test(test_reading_is_no_stall),
	};

	job_kit_main(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
