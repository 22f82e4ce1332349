/* proc: ends, deadlines, caps, groups, what a child inherits. Nothing here waits for a fixed time:
 * what must not hang is bounded by the deadline that is under test. */
#include "tests/unit/test.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/base/proc.h"
#include "common/base/units.h"

static struct strv vector(const char *first, ...)
{
	struct strv s = {0};
	va_list ap;

	va_start(ap, first);
	for (const char *word = first; word; word = va_arg(ap, const char *))
		strv_add(&s, word);
	va_end(ap);
	return s;
}

/* Runs a shell script: the tests' way to get children that misbehave. */
static void run_script(const char *script, unsigned deadline_ms, struct proc_result *r)
{
	struct strv argv = vector("/bin/sh", "-c", script, NULL);
	struct err e;

	assert_ok(proc_run(&argv, deadline_ms, r, &e), e);
	strv_free(&argv);
}

static void ends_and_output(void **state)
{
	static const struct {
		const char *script, *out, *err;
		int exited, status, signal;
	} cases[] = {
		{"echo out; echo err >&2", "out\n", "err\n", 1, 0, 0},
		{"exit 3", "", "", 1, 3, 0},
		{"kill -TERM $$", "", "", 0, 0, SIGTERM},
		{"cat; echo end", "end\n", "", 1, 0, 0},
		{"printf %s \"$LC_ALL|$LANG|$PATH\"",
			"C||/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin", "", 1, 0,
			0},
	};

	(void)state;
	setenv("LANG", "de_DE.UTF-8", 1);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct proc_result r;

		run_script(cases[i].script, 20000, &r);
		assert_string_equal(buf_str(&r.out), cases[i].out);
		assert_string_equal(buf_str(&r.err), cases[i].err);
		assert_int_equal(r.exited, cases[i].exited);
		assert_int_equal(r.exit_status, cases[i].status);
		assert_int_equal(r.signal, cases[i].signal);
		assert_false(r.timed_out);
		assert_true(r.elapsed_ns > 0);
		proc_result_free(&r);
	}
}

static void words_arrive_unchanged(void **state)
{
	struct strv argv = vector("/usr/bin/printf", "%s|", "a b", "$(id)", "'\"\\", "", "*", NULL);
	struct buf out = {0};
	struct err e;

	(void)state;
	assert_ok(proc_run_ok(&argv, 20000, &out, &e), e);
	assert_string_equal(out.data, "a b|$(id)|'\"\\||*|");
	buf_free(&out);
	strv_free(&argv);
}

static void what_cannot_start(void **state)
{
	struct strv gone = vector("/no/such/program", NULL), relative = vector("sh", NULL),
		    none = {0};
	struct proc_result r = {.exit_status = 77};
	struct err e;

	(void)state;
	assert_int_equal(proc_run(&gone, 1000, &r, &e), -1);
	assert_int_equal(e.code, ERR_NOTFOUND);
	assert_has(e.text, "cannot start /no/such/program: No such file");
	assert_int_equal(proc_run(&relative, 1000, &r, &e), -1);
	assert_has(e.text, "absolute path");
	assert_int_equal(proc_run(&none, 1000, &r, &e), -1);
	assert_int_equal(r.exit_status, 77);
	strv_free(&gone);
	strv_free(&relative);
}

static void output_is_capped_and_counted(void **state)
{
	struct proc_result r;

	(void)state;
	run_script("head -c 1000000 /dev/zero; head -c 300000 /dev/zero >&2", 20000, &r);
	assert_int_equal(r.out.len, PROC_OUTPUT_CAP);
	assert_int_equal(r.out_dropped, 1000000 - PROC_OUTPUT_CAP);
	assert_int_equal(r.err.len, PROC_OUTPUT_CAP);
	assert_int_equal(r.err_dropped, 300000 - PROC_OUTPUT_CAP);
	assert_true(r.exited && r.exit_status == 0);
	proc_result_free(&r);
}

/* Gone, or a zombie until its new parent looks at it. */
static int is_dead(pid_t pid)
{
	char path[64], kind = 'Z';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (!f)
		return 1;
	if (fscanf(f, "%*d (%*[^)]) %c", &kind) != 1)
		kind = 'Z';
	fclose(f);
	return kind == 'Z' || kind == 'X';
}

static void the_deadline_kills_all_that_it_started(void **state)
{
	static const char *const scripts[] = {"trap '' TERM; sleep 300 & echo $!; wait; sleep 300",
		/* out of its group */
		"setsid sleep 300 & echo $!; wait",
		"setsid sh -c 'setsid sleep 300 & echo $!; wait' & wait"};

	(void)state;
	for (size_t k = 0; k < ARRAY_LEN(scripts); k++) {
		struct proc_result r;
		pid_t grandchild;

		run_script(scripts[k], 3000, &r); /* time enough to say its number */
		assert_true(r.timed_out && !r.exited);
		assert_int_equal(r.signal, SIGKILL);
		assert_true(r.elapsed_ns < 100 * NS_PER_S);
		grandchild = (pid_t)strtol(buf_str(&r.out), NULL, 10);
		assert_true(grandchild > 1);
		for (int i = 0; i < 500 && !is_dead(grandchild); i++)
			usleep(10000); /* killed is not yet dead on a busy machine */
		assert_true(is_dead(grandchild));
		proc_result_free(&r);
	}
}

static void an_endless_writer_meets_its_deadline(void **state)
{
	struct proc_result r;

	(void)state;
	run_script("exec cat /dev/zero", 300, &r);
	assert_true(r.timed_out && !r.exited);
	assert_int_equal(r.signal, SIGKILL);
	proc_result_free(&r);
}

static void a_grandchild_with_the_pipes_does_not_hang_us(void **state)
{
	struct proc_result r;
	pid_t left;

	(void)state;
	run_script("sleep 300 & echo $!", 60000, &r);
	assert_true(r.exited && r.exit_status == 0 && !r.timed_out);
	assert_true(r.elapsed_ns < 50 * NS_PER_S);
	left = (pid_t)strtol(buf_str(&r.out), NULL, 10);
	assert_true(left > 1);
	assert_int_equal(kill(left, SIGKILL), 0);
	proc_result_free(&r);
}

static void a_child_inherits_no_descriptor(void **state)
{
	int leak = open("/dev/null", O_RDONLY); /* without close-on-exec, on purpose */
	struct proc_result r;

	(void)state;
	assert_true(leak > 2);
	run_script("exec ls /proc/self/fd", 20000, &r);
	/* 3 is the program's own, of the folder it lists. */
	assert_string_equal(buf_str(&r.out), "0\n1\n2\n3\n");
	proc_result_free(&r);
	close(leak);
}

/* Whatever number it has here: the first that is free is often the child's own. */
static void a_child_inherits_what_is_kept(void **state)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	const int numbers[] = {fd, fcntl(fd, F_DUPFD_CLOEXEC, PROC_KEPT + 1),
		fcntl(fd, F_DUPFD_CLOEXEC, 40)};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		struct proc_result r;

		assert_true(numbers[i] > 2);
		proc_keep(numbers[i]);
		run_script("readlink /proc/self/fd/3; exec ls /proc/self/fd", 20000, &r);
		proc_keep(-1);
		assert_string_equal(buf_str(&r.out), "/dev/zero\n0\n1\n2\n3\n4\n");
		proc_result_free(&r);
		close(numbers[i]);
	}
}

static void signal_masks_are_clean(void **state)
{
	uint64_t blocked = 1, ignored = 1;
	struct proc_result r;
	sigset_t set, old;

	(void)state;
	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, &old);
	signal(SIGPIPE, SIG_IGN);
	run_script("exec grep -E '^Sig(Blk|Ign)' /proc/self/status", 20000, &r);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	assert_int_equal(
		sscanf(buf_str(&r.out), "SigBlk: %" SCNx64 " SigIgn: %" SCNx64, &blocked, &ignored),
		2);
	assert_true(blocked == 0);
	/* Signals 32 and 33 are the C library's own. */
	assert_int_equal(ignored & 0x7fffffff, 0);
	proc_result_free(&r);
}

static void checks_quote_and_explain(void **state)
{
	static const char script[] = "echo first >&2; echo 'the reason' >&2; echo >&2; exit 4";
	struct strv argv = vector("/bin/sh", "-c", script, NULL);
	static const char hint[] =
		"echo 'mount: /x: no such device.' >&2; echo '       dmesg(1) may have more "
		"information after failed mount system call.' >&2; exit 32";
	struct strv hinting = vector("/bin/sh", "-c", hint, NULL);
	struct strv longer = vector("/bin/false", "1", "2", "3", "4", "5", "6", "7", NULL);
	struct strv slow = vector("/bin/sleep", "300", NULL);
	struct buf out = {0};
	struct err e;

	(void)state;
	assert_int_equal(proc_run_ok(&argv, 20000, &out, &e), -1);
	assert_int_equal(e.code, ERR_FAILED);
	assert_has(e.text, "`/bin/sh -c 'echo first");
	assert_has(e.text, "ended with status 4: the reason");
	assert_int_equal(proc_run_ok(&hinting, 20000, NULL, &e), -1);
	assert_has(e.text, "ended with status 32: mount: /x: no such device.");
	assert_int_equal(proc_run_ok(&longer, 20000, NULL, &e), -1);
	assert_string_equal(e.text, "`/bin/false 1 2 3 4 5 …` ended with status 1");
	assert_int_equal(proc_run_ok(&slow, 50, NULL, &e), -1);
	assert_int_equal(e.code, ERR_TIMEOUT);
	assert_has(e.text, "`/bin/sleep 300` did not end");
	assert_int_equal(out.len, 0);
	strv_free(&argv);
	strv_free(&hinting);
	strv_free(&longer);
	strv_free(&slow);
	buf_free(&out);
}

static void start_times_tell_processes_apart(void **state)
{
	uint64_t mine = 0, again = 0, childs = 0;
	struct err e;
	int ends[2];
	pid_t pid;

	(void)state;
	assert_ok(proc_start_time(getpid(), &mine, &e), e);
	assert_ok(proc_start_time(getpid(), &again, &e), e);
	assert_true(mine > 0 && mine == again);
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		char c;

		close(ends[1]);
		_exit(read(ends[0], &c, 1) == 0 ? 0 : 1);
	}
	assert_ok(proc_start_time(pid, &childs, &e), e);
	assert_true(childs >= mine);
	close(ends[1]);
	waitpid(pid, NULL, 0);
	close(ends[0]);
	assert_int_equal(proc_start_time(pid, &childs, &e), -1);
	assert_int_equal(e.code, ERR_NOTFOUND);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_and_output),
		cmocka_unit_test(words_arrive_unchanged),
		cmocka_unit_test(what_cannot_start),
		cmocka_unit_test(output_is_capped_and_counted),
		cmocka_unit_test(the_deadline_kills_all_that_it_started),
		cmocka_unit_test(an_endless_writer_meets_its_deadline),
		cmocka_unit_test(a_grandchild_with_the_pipes_does_not_hang_us),
		cmocka_unit_test(a_child_inherits_no_descriptor),
		cmocka_unit_test(a_child_inherits_what_is_kept),
		cmocka_unit_test(signal_masks_are_clean),
		cmocka_unit_test(checks_quote_and_explain),
		cmocka_unit_test(start_times_tell_processes_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
