/*
 * Helper children, real ones: results and errors come back, messages stream, a deadline kills the
 * helper with all it started, a helper that is not wanted any more learns it.
 */
#include "tests/unit/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/helper.h"
#include "common/base/fs.h"
#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/proc.h"
#include "common/base/units.h"

#define DEADLINE_S 20

struct fixture {
	struct event_base *base;
	struct children *kids;
	char dir[64];
	int ended, messages, late;
	struct err why; /* ERR_NONE: success */
	json_t *result;
	int64_t numbers[8];
	void (*when_message)(struct fixture *f);
	struct helper *helper;
};

static void on_msg(void *owner, struct msg *m)
{
	struct fixture *f = owner;

	assert_int_equal(m->type, MSG_PING);
	assert_in_range(f->messages, 0, 7);
	f->numbers[f->messages++] = m->u.ping.sent_ns;
	if (f->when_message)
		f->when_message(f);
}

static void on_end(void *owner, const struct err *why, const json_t *result)
{
	struct fixture *f = owner;

	f->ended++;
	if (why)
		f->why = *why;
	f->result = json_deep_copy(result);
	event_base_loopbreak(f->base);
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
	struct fixture *f = arg;

	(void)fd;
	(void)what;
	f->late = 1;
	event_base_loopbreak(f->base);
}

static void setup(struct fixture *f)
{
	struct err e;

	memset(f, 0, sizeof(*f));
	snprintf(f->dir, sizeof(f->dir), "/tmp/arraymark-test-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->base = event_base_new();
	assert_ok(children_new(f->base, &f->kids, &e), e);
}

static void teardown(struct fixture *f)
{
	struct err e;

	json_decref(f->result);
	children_free(f->kids);
	event_base_loop(f->base, EVLOOP_NONBLOCK);
	event_base_loop(f->base, EVLOOP_NONBLOCK);
	event_base_free(f->base);
	assert_ok(fs_remove_tree(f->dir, &e), e);
}

static void run(struct fixture *f)
{
	const struct timeval limit = {.tv_sec = DEADLINE_S};
	struct event *late = evtimer_new(f->base, on_late, f);

	event_add(late, &limit);
	event_base_dispatch(f->base);
	event_free(late);
	assert_false(f->late);
	assert_int_equal(f->ended, 1);
}

static void begin(struct fixture *f,
	int (*fn)(struct helper_report *to, void *arg, json_t **ret, struct err *e), void *arg,
	unsigned deadline_ms, const char *lock)
{
	const struct helper_task task = {.what = "the test's task", .run = fn, .arg = arg,
		.deadline_ms = deadline_ms, .lock = lock, .on_msg = on_msg, .on_end = on_end,
		.owner = f};
	struct err e;

	assert_ok(helper_start(f->base, f->kids, &task, &f->helper, &e), e);
}

/* ---- what the helpers do ---- */

static void send_number(struct helper_report *to, int64_t n)
{
	struct msg m = {.type = MSG_PING, .u.ping.sent_ns = n};

	helper_send(to, &m);
}

static int give_result(struct helper_report *to, void *arg, json_t **ret, struct err *e)
{
	(void)e;
	for (int i = 1; i <= 3; i++)
		send_number(to, i);
	*ret = json_pack("{s:s, s:i}", "text", (const char *)arg, "pid", (int)getpid());
	return 0;
}

static int give_nothing(struct helper_report *to, void *arg, json_t **ret, struct err *e)
{
	(void)to;
	(void)arg;
	(void)ret;
	(void)e;
	return 0;
}

static int give_error(struct helper_report *to, void *arg, json_t **ret, struct err *e)
{
	(void)to;
	(void)arg;
	*ret = json_object();
	return err_set(e, ERR_BUSY, "disk 'sdq' is in use");
}

static int crash(struct helper_report *to, void *arg, json_t **ret, struct err *e)
{
	(void)to;
	(void)arg;
	(void)ret;
	(void)e;
	signal(SIGABRT, SIG_DFL);
	raise(SIGKILL);
	return 0;
}

/* Leaves pid files and a child in its group and one in a group of its own, as programs have. */
static void write_pid(const char *dir, const char *name)
{
	char path[128], text[16];
	struct err e;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	snprintf(text, sizeof(text), "%d", (int)getpid());
	if (fs_write_file(path, text, strlen(text), 0600, &e))
		_exit(1);
}

static void fork_sleeper(const char *dir, const char *name, int own_group)
{
	if (fork() == 0) {
		if (own_group)
			setpgid(0, 0);
		write_pid(dir, name);
		for (;;)
			pause();
	}
}

static int hang(struct helper_report *to, void *arg, json_t **ret, struct err *e)
{
	const char *dir = arg;

	(void)ret;
	(void)e;
	fork_sleeper(dir, "same", 0);
	fork_sleeper(dir, "own", 1);
	write_pid(dir, "helper");
	send_number(to, 1);
	for (;;)
		pause();
	return 0;
}

/* Ends without an answer, while what it left keeps the way to the monitor open. */
static int leave_one(struct helper_report *to, void *arg, json_t **ret, struct err *e)
{
	const char *dir = arg;

	(void)to;
	(void)ret;
	(void)e;
	fork_sleeper(dir, "own", 1);
	write_pid(dir, "helper");
	_exit(0);
}

/* Runs a program as steps do, one that lives on when its helper is killed. */
static int run_program(struct helper_report *to, void *arg, json_t **ret, struct err *e)
{
	struct strv argv = {0};

	(void)ret;
	helper_share_lock(to);
	write_pid(arg, "helper");
	strv_add_all(&argv, (const char *const[]){"/bin/sh", "-c",
		"printf %s $$ >\"$0/new\" && mv \"$0/new\" \"$0/program\" && exec sleep 1000", arg, NULL});
	return proc_run_ok(&argv, 100000, NULL, e);
}

static int until_unheard(struct helper_report *to, void *arg, json_t **ret, struct err *e)
{
	(void)ret;
	send_number(to, 1);
	while (helper_is_heard(to))
		sched_yield();
	write_pid(arg, "stopped");
	return err_set(e, ERR_CANCELLED, "nobody listens");
}

/* ---- tests ---- */

static void test_result(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	begin(&f, give_result, (void *)(uintptr_t) "from memory", 10000, NULL);
	run(&f);
	assert_int_equal(f.why.code, ERR_NONE);
	assert_int_equal(f.messages, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(f.numbers[i], i + 1);
	assert_string_equal(json_get_str(f.result, "text", ""), "from memory");
	assert_int_not_equal(json_get_int(f.result, "pid", 0), getpid());
	teardown(&f);
}

static void test_no_result(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	begin(&f, give_nothing, NULL, 10000, NULL);
	run(&f);
	assert_int_equal(f.why.code, ERR_NONE);
	assert_null(f.result);
	teardown(&f);
}

static void test_error(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	begin(&f, give_error, NULL, 10000, NULL);
	run(&f);
	assert_int_equal(f.why.code, ERR_BUSY);
	assert_string_equal(f.why.text, "disk 'sdq' is in use");
	assert_null(f.result);
	teardown(&f);
}

static void test_crash(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	begin(&f, crash, NULL, 10000, NULL);
	run(&f);
	assert_int_equal(f.why.code, ERR_FAILED);
	assert_has(f.why.text, "the test's task");
	assert_has(f.why.text, "signal 9");
	teardown(&f);
}

static pid_t pid_in(const struct fixture *f, const char *name)
{
	char path[128];
	struct buf text = {0};
	struct err e;
	int64_t pid;

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	assert_ok(fs_read_file(path, 100, &text, &e), e);
	assert_ok(units_parse_int(text.data, 2, INT32_MAX, &pid, &e), e);
	buf_free(&text);
	return (pid_t)pid;
}

/* The subreaper (we) has to have reaped it: then there is no such process, not even a zombie. */
static void assert_gone(const struct fixture *f, const char *name)
{
	int64_t until = clock_mono_ns() + DEADLINE_S * NS_PER_S;
	pid_t pid = pid_in(f, name);

	while (kill(pid, 0) == 0 && clock_mono_ns() < until)
		event_base_loop(f->base, EVLOOP_NONBLOCK);
	if (kill(pid, 0) == 0 || errno != ESRCH)
		fail_msg("the process '%s' still lives", name);
}

static void test_deadline_kills_all(void **state)
{
	struct fixture f;
	int64_t began = clock_mono_ns();

	(void)state;
	setup(&f);
	begin(&f, hang, f.dir, 700, NULL);
	run(&f);
	assert_int_equal(f.why.code, ERR_TIMEOUT);
	assert_has(f.why.text, "the test's task took longer than");
	assert_true(clock_mono_ns() - began >= 700 * NS_PER_MS);
	assert_int_equal(f.messages, 1);
	assert_gone(&f, "helper");
	assert_gone(&f, "same");
	assert_gone(&f, "own");
	teardown(&f);
}

static void stop_it(struct fixture *f)
{
	helper_stop(f->helper, 10000);
}

static void test_stop_is_heard(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.when_message = stop_it;
	begin(&f, until_unheard, f.dir, 15000, NULL);
	run(&f);
	assert_int_equal(f.why.code, ERR_CANCELLED);
	assert_true(pid_in(&f, "stopped") > 1); /* it ended by itself */
	teardown(&f);
}

static void wait_for_file(const struct fixture *f, const char *name)
{
	int64_t until = clock_mono_ns() + DEADLINE_S * NS_PER_S;
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	while (access(path, F_OK) != 0 && clock_mono_ns() < until)
		event_base_loop(f->base, EVLOOP_NONBLOCK);
	assert_int_equal(access(path, F_OK), 0);
}

static void test_stopped_after_its_end(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	begin(&f, leave_one, f.dir, 15000, NULL);
	wait_for_file(&f, "own");
	wait_for_file(&f, "helper");
	assert_gone(&f, "helper");
	assert_int_equal(f.ended, 0);
	helper_stop(f.helper, 10000);
	run(&f);
	assert_int_equal(f.why.code, ERR_CANCELLED);
	kill(pid_in(&f, "own"), SIGKILL);
	assert_gone(&f, "own");
	teardown(&f);
}

static void stop_at_once(struct fixture *f)
{
	helper_stop(f->helper, 10);
}

static void test_stop_by_force(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.when_message = stop_at_once;
	begin(&f, hang, f.dir, 15000, NULL);
	run(&f);
	assert_int_equal(f.why.code, ERR_CANCELLED);
	assert_gone(&f, "helper");
	assert_gone(&f, "own");
	teardown(&f);
}

static void test_lock_is_waited_for(void **state)
{
	struct fixture f;
	char lock[128];
	int fd;

	(void)state;
	setup(&f);
	snprintf(lock, sizeof(lock), "%s/work.lock", f.dir);
	fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	begin(&f, give_nothing, NULL, 300, lock);
	run(&f);
	assert_int_equal(f.why.code, ERR_TIMEOUT);
	f.ended = 0;
	err_clear(&f.why);
	close(fd);
	begin(&f, give_nothing, NULL, 10000, lock);
	run(&f);
	assert_int_equal(f.why.code, ERR_NONE);
	teardown(&f);
}

/* Somebody kills a helper: what it had started still works on the host, so nobody else may, and then
 * it is ended. */
static void test_killed_by_another(void **state)
{
	siginfo_t how;
	struct fixture f;
	char lock[128];
	int fd;

	(void)state;
	setup(&f);
	snprintf(lock, sizeof(lock), "%s/work.lock", f.dir);
	begin(&f, run_program, f.dir, 15000, lock);
	wait_for_file(&f, "program");
	assert_int_equal(kill(pid_in(&f, "helper"), SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid_in(&f, "helper"), &how, WEXITED | WNOWAIT), 0);
	fd = open(lock, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1);
	run(&f);
	assert_int_equal(f.why.code, ERR_FAILED);
	assert_has(f.why.text, "signal 9");
	assert_gone(&f, "program");
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	close(fd);
	teardown(&f);
}

static int count_descriptors(struct helper_report *to, void *arg, json_t **ret, struct err *e)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *de;
	int n = 0;

	(void)to;
	(void)arg;
	(void)e;
	while ((de = readdir(d)))
		n += de->d_name[0] != '.';
	closedir(d);
	*ret = json_pack("{s:i}", "n", n - 1);
	return 0;
}

static void test_no_descriptors_are_left(void **state)
{
	struct fixture f;
	int fd = open("/dev/null", O_RDONLY);

	(void)state;
	assert_true(fd >= 0);
	setup(&f);
	begin(&f, count_descriptors, NULL, 10000, NULL);
	run(&f);
	assert_int_equal(json_get_int(f.result, "n", 0), 4); /* 0, 1, 2 and the report */
	close(fd);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_result),
		cmocka_unit_test(test_no_result),
		cmocka_unit_test(test_error),
		cmocka_unit_test(test_crash),
		cmocka_unit_test(test_deadline_kills_all),
		cmocka_unit_test(test_stop_is_heard),
		cmocka_unit_test(test_stopped_after_its_end),
		cmocka_unit_test(test_stop_by_force),
		cmocka_unit_test(test_lock_is_waited_for),
		cmocka_unit_test(test_killed_by_another),
		cmocka_unit_test(test_no_descriptors_are_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
