/* The monitor's children: what a killed worker leaves behind goes with all that it started. */
#include "tests/unit/test.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>

#include "agent/children.h"

#define DEADLINE_S 30

static _Noreturn void wait_for_ever(void)
{
	for (;;)
		pause();
}

/* A stray and its child, each in a session of its own, as a server and its backends are. Their parent
 * ends at once. */
static pid_t leave_strays(void)
{
	pid_t middle, below = 0;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	middle = fork();
	if (middle == 0) {
		if (fork() > 0)
			_exit(0);
		setsid();
		below = fork();
		if (below == 0) {
			setsid();
			wait_for_ever();
		}
		if (write(ends[1], &below, sizeof(below)) != sizeof(below))
			_exit(1);
		wait_for_ever();
	}
	assert_int_equal(waitpid(middle, NULL, 0), middle);
	assert_int_equal(read(ends[0], &below, sizeof(below)), sizeof(below));
	close(ends[0]);
	close(ends[1]);
	return below;
}

static void a_stray_goes_with_its_children(void **state)
{
	struct event_base *base = event_base_new();
	struct children *kids;
	unsigned killed = 0;
	struct err e;
	pid_t below;
	int status;

	(void)state;
	assert_ok(children_new(base, &kids, &e), e);
	below = leave_strays();
	children_kill_strays(kids, 0);
	alarm(DEADLINE_S); /* what lives on would be waited for */
	while (waitpid(-1, &status, 0) > 0)
		killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	alarm(0);
	assert_int_equal(killed, 2);
	assert_int_equal(kill(below, 0), -1);
	assert_int_equal(errno, ESRCH);
	children_free(kids);
	event_base_free(base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_stray_goes_with_its_children)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
