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

/* A worker's part, as the init of its namespace, with the /proc of the one around it. Says what
 * was not as it should be. */
static _Noreturn void be_worker(int out)
{
	static const char script[] =
		"setsid sh -c 'setsid sleep 300 & echo $!; wait' & setsid sleep 300 & echo $!; wait";
	struct strv argv = {0};
	struct proc_result r;
	long numbers[2] = {0};
	unsigned ended = 0;
	const char *wrong = "";
	pid_t bystander, pid;
	struct err e;
	int status;

	alarm(DEADLINE_S);
	bystander = fork();
	if (bystander == 0)
		wait_for_ever();
	strv_add(&argv, "/bin/sh");
	strv_add(&argv, "-c");
	strv_add(&argv, script);
	if (getpid() != 1)
		wrong = "the worker is not the init of a namespace";
	else if (proc_run(&argv, 3000, &r, &e))
		wrong = e.text;
	else if (!r.timed_out || r.exited || r.signal != SIGKILL)
		wrong = "the program did not meet its deadline";
	else if (sscanf(buf_str(&r.out), "%ld %ld", &numbers[0], &numbers[1]) != 2)
		wrong = "the program did not say whom it started";
	/* Those that lost their parent are ours. What lives on would be waited for. */
	while (!*wrong && ended < 3) {
		pid = waitpid(-1, &status, 0);
		if (pid < 0)
			wrong = "descendants were lost";
		else if (pid == bystander || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
			wrong = "somebody else ended, or in another way";
		ended++;
	}
	for (unsigned i = 0; i < 2 && !*wrong; i++)
		if (numbers[i] < 2 || kill((pid_t)numbers[i], 0) == 0 || errno != ESRCH)
			wrong = "a descendant lives on";
	if (!*wrong && (waitpid(bystander, &status, WNOHANG) || kill(bystander, 0)))
		wrong = "the worker's other child ended";
	if (!*wrong)
		wrong = "fine";
	_exit(write(out, wrong, strlen(wrong)) < 0);
}

static void the_deadline_holds_in_a_namespace_of_its_own(void **state)
{
	pid_t bystander = start_bystander(), worker;
	char said[600] = "";
	int ends[2];
	long n;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	worker = (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, NULL);
	if (worker < 0) {
		print_message("SKIP: a PID namespace takes root: %s\n", strerror(errno));
		end_bystander(bystander);
		close(ends[0]);
		close(ends[1]);
		skip();
	}
	if (worker == 0)
		be_worker(ends[1]);
	close(ends[1]);
	n = read(ends[0], said, sizeof(said) - 1);
	assert_true(n >= 0);
	assert_string_equal(said, "fine");
	assert_int_equal(waitpid(worker, NULL, 0), worker);
	close(ends[0]);
	end_bystander(bystander);
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
