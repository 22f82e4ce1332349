/* log: one clean line a message, levels, and a stderr that is a closed pipe. */
#include "tests/unit/test.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/log.h"

/* What speak() writes to stderr. */
static void capture(void (*speak)(void), struct buf *out)
{
	int saved = dup(STDERR_FILENO), ends[2];
	struct err e;

	assert_true(saved >= 0);
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	speak();
	dup2(saved, STDERR_FILENO);
	close(saved);
	assert_ok(fs_read_fd(ends[0], "stderr", 1 << 20, out, &e), e);
	close(ends[0]);
}

static void speak_all(void)
{
	log_error("agent knew", "pool '%s' is gone", "tank");
	log_warning("x", "two\nlines and \x1b[31m");
	log_info("x", "Zürich \xff \xc2\x9b");
	log_debug("x", "not shown");
	log_set_level(LOG_LEVEL_DEBUG);
	log_debug("x", "shown");
	log_set_level(LOG_LEVEL_ERROR);
	log_warning("x", "not shown");
	log_set_level(LOG_LEVEL_INFO);
}

static void lines_are_clean(void **state)
{
	struct buf out = {0};

	(void)state;
	log_set_program("coordinator");
	errno = ENOSPC;
	capture(speak_all, &out);
	assert_string_equal(out.data, "<3>coordinator: agent knew: pool 'tank' is gone\n"
				      "<4>coordinator: x: two\\x0alines and \\x1b[31m\n"
				      "<6>coordinator: x: Zürich \\xff \\xc2\\x9b\n"
				      "<7>coordinator: x: shown\n");
	buf_free(&out);
}

static char *huge;

static void speak_huge(void)
{
	log_info("x", "%s", huge);
	log_info("x", "after");
}

static void huge_messages_are_cut_to_a_line(void **state)
{
	struct buf out = {0};
	const char *end;

	(void)state;
	huge = malloc(100001);
	assert_non_null(huge);
	memset(huge, '\n', 100000);
	huge[100000] = '\0';
	capture(speak_huge, &out);
	end = strchr(out.data, '\n');
	assert_non_null(end);
	assert_true(end - out.data > 1000 && end - out.data < 5000);
	assert_has(end, "after\n");
	free(huge);
	buf_free(&out);
}

/* In a child, since a failure would be death by SIGPIPE. */
static void a_closed_pipe_does_not_kill(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		int ends[2];
		sigset_t pending;

		signal(SIGPIPE, SIG_DFL);
		if (pipe(ends) || dup2(ends[1], STDERR_FILENO) < 0)
			_exit(3);
		close(ends[0]);
		close(ends[1]);
		errno = 77;
		log_error("x", "nobody hears this");
		if (errno != 77)
			_exit(4);
		sigpending(&pending);
		_exit(sigismember(&pending, SIGPIPE) ? 5 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void limits_count_what_they_hide(void **state)
{
	struct log_limit l = {.burst = 2, .window_ms = 1000000};
	unsigned hidden = 99;

	(void)state;
	assert_int_equal(log_limit_pass(&l, &hidden), 1);
	assert_int_equal(hidden, 0);
	assert_int_equal(log_limit_pass(&l, &hidden), 1);
	for (int i = 0; i < 5; i++)
		assert_int_equal(log_limit_pass(&l, &hidden), 0);
	l.window_start_ms -= 1000000; /* as if the window had passed */
	assert_int_equal(log_limit_pass(&l, &hidden), 1);
	assert_int_equal(hidden, 5);
	assert_int_equal(log_limit_pass(&l, &hidden), 1);
	assert_int_equal(hidden, 0);
	assert_int_equal(log_limit_pass(&l, &hidden), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_clean),
		cmocka_unit_test(huge_messages_are_cut_to_a_line),
		cmocka_unit_test(a_closed_pipe_does_not_kill),
		cmocka_unit_test(limits_count_what_they_hide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
