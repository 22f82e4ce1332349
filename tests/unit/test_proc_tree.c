/* Trees of processes: all that a program started ends at its deadline, however deep and in whatever
 * PID namespace it runs, and nobody else does. */
#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/workload/program.h"
#include "common/base/mem.h"
#include "common/base/proc.h"
#include "common/base/units.h"

#define DEADLINE_S 60
#define DEEP 60

static _Noreturn void wait_for_ever(void)
{
	for (;;)
		pause();
}

static pid_t start_bystander(void)
{
	pid_t pid = fork();

	if (pid == 0)
		wait_for_ever();
	assert_true(pid > 0);
	return pid;
}

static void end_bystander(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, WNOHANG), 0); /* it was not ended by others */
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

/* A chain of that many processes, each the child of the one before and in a session of its own; all
 * hold the pipe, whose end says that none is left. The last writes a byte. */
static pid_t start_chain(unsigned n, int *ret_fd)
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		while (--n && (pid = fork()) == 0)
			setsid();
		if (n == 0 && write(ends[1], "x", 1) != 1)
			_exit(1);
		wait_for_ever();
	}
	close(ends[1]);
	*ret_fd = ends[0];
	return pid;
}

static void a_deep_tree_takes_few_descriptors(void **state)
{
	struct rlimit old, low;
	pid_t bystander = start_bystander(), top;
	char c;
	int fd;

	(void)state;
	alarm(DEADLINE_S);
	top = start_chain(DEEP, &fd);
	assert_int_equal(read(fd, &c, 1), 1);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	low = old;
	low.rlim_cur = (rlim_t)fd + 8;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	proc_kill_tree(top);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(read(fd, &c, 1), 0);
	assert_int_equal(waitpid(top, NULL, 0), top);
	alarm(0);
	close(fd);
	end_bystander(bystander);
}

static void only_the_children_end(void **state)
{
	int fd, status;
	pid_t top;
	char c;

	(void)state;
	alarm(DEADLINE_S);
	top = start_chain(3, &fd);
	assert_int_equal(read(fd, &c, 1), 1);
	proc_kill_children(top);
	assert_int_equal(waitpid(top, &status, WNOHANG), 0);
	assert_int_equal(kill(top, SIGKILL), 0);
	assert_int_equal(waitpid(top, NULL, 0), top);
	assert_int_equal(read(fd, &c, 1), 0);
	alarm(0);
	close(fd);
}

static int run_as_step(const struct strv *argv, struct buf *out, int *ret_killed, struct err *e)
{
	struct proc_result r;

	if (proc_run(argv, 3000, &r, e))
		return -1;
	*ret_killed = r.timed_out && !r.exited && r.signal == SIGKILL;
	buf_adds(out, buf_str(&r.out));
	proc_result_free(&r);
	return 0;
}

static int run_as_workload(const struct strv *argv, struct buf *out, int *ret_killed, struct err *e)
{
	int dir = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC), status;
	const struct program p = {.argv = argv, .dir = dir, .home = "/tmp", .in_fd = -1,
		.timeout_ns = 3 * NS_PER_S};
	struct program_end r = {0};

	status = program_run(&p, &r, e);
	close(dir);
	if (status)
		return -1;
	*ret_killed = r.timed_out && !r.exited && r.signal == SIGKILL;
	buf_adds(out, buf_str(&r.out));
	program_end_clear(&r);
	return 0;
}

typedef int (*runner)(const struct strv *argv, struct buf *out, int *ret_killed, struct err *e);

/* Runs a program past its deadline; the numbers of the two that it started, each in a session of its
 * own. NULL, or what was not as it should be. */
static const char *meet_deadline(runner run, int numbers[2])
{
	static const char script[] =
		"setsid sh -c 'setsid sleep 300 & echo $!; wait' & setsid sleep 300 & echo $!; wait";
	static struct err e;
	struct strv argv = {0};
	struct buf out = {0};
	const char *wrong = NULL;
	int killed = 0;

	strv_add(&argv, "/bin/sh");
	strv_add(&argv, "-c");
	strv_add(&argv, script);
	if (run(&argv, &out, &killed, &e))
		wrong = e.text;
	else if (!killed)
		wrong = "the program was not killed at its deadline";
	else if (sscanf(buf_str(&out), "%d %d", &numbers[0], &numbers[1]) != 2 ||
		numbers[0] < 2 || numbers[1] < 2)
		wrong = "the program did not say whom it started";
	strv_free(&argv);
	buf_free(&out);
	return wrong;
}

/* Those that lost their parent are the init's: the two and the shell between. What lives on would be
 * waited for. */
static const char *await_descendants(pid_t bystander, const int numbers[2])
{
	int status;
	pid_t pid;

	for (unsigned i = 0; i < 3; i++) {
		pid = waitpid(-1, &status, 0);
		if (pid < 0)
			return "descendants were lost";
		if (pid == bystander || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
			return "somebody else ended, or in another way";
	}
	for (unsigned i = 0; i < 2; i++)
		if (kill(numbers[i], 0) == 0 || errno != ESRCH)
			return "a descendant lives on";
	return waitpid(bystander, &status, WNOHANG) ? "the worker's other child ended" : NULL;
}

/* A worker's part: the init of its namespace, with the /proc of the one around it. Says what was not
 * as it should be. */
static _Noreturn void be_worker(runner run, int out)
{
	const char *wrong = NULL;
	int numbers[2] = {0};
	pid_t bystander;

	alarm(DEADLINE_S);
	bystander = fork();
	if (bystander == 0)
		wait_for_ever();
	if (getpid() != 1)
		wrong = "the worker is not the init of a namespace";
	if (!wrong)
		wrong = meet_deadline(run, numbers);
	if (!wrong)
		wrong = await_descendants(bystander, numbers);
	if (!wrong)
		wrong = "fine";
	_exit(write(out, wrong, strlen(wrong)) < 0);
}

static void the_deadline_holds_in_a_namespace_of_its_own(void **state)
{
	static const runner runners[] = {run_as_step, run_as_workload};

	(void)state;
	if (geteuid() != 0) {
		print_message("SKIP: a PID namespace takes root\n");
		skip();
	}
	for (size_t i = 0; i < ARRAY_LEN(runners); i++) {
		pid_t bystander = start_bystander(), worker;
		char said[ERR_TEXT_MAX + 1] = "";
		int ends[2], status;

		assert_int_equal(pipe(ends), 0);
		worker = (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, NULL);
		if (worker == 0)
			be_worker(runners[i], ends[1]);
		close(ends[1]);
		assert_true(worker > 0);
		assert_true(read(ends[0], said, sizeof(said) - 1) >= 0);
		assert_string_equal(said, "fine");
		assert_int_equal(waitpid(worker, &status, 0), worker);
		close(ends[0]);
		end_bystander(bystander);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_deep_tree_takes_few_descriptors),
		cmocka_unit_test(only_the_children_end),
		cmocka_unit_test(the_deadline_holds_in_a_namespace_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
