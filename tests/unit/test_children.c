/* The monitor's children: what a killed worker leaves behind goes with all that it started. */
#include "tests/unit/test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "agent/children.h"
#include "agent/shm.h"
#include "common/base/fs.h"
#include "common/base/mem.h"

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

static void end_well(int signal_)
{
	(void)signal_;
	_exit(0);
}

/* A stray that made a segment, and waits for SIGUSR1, at which it ends by itself. Its parent ends at
 * once. */
static pid_t leave_one_with_memory(int *ret_id)
{
	struct {
		pid_t pid;
		int id;
	} told = {0};
	pid_t middle;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	middle = fork();
	if (middle == 0) {
		if (fork() > 0)
			_exit(0);
		setsid();
		signal(SIGUSR1, end_well);
		told.pid = getpid();
		told.id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
		if (write(ends[1], &told, sizeof(told)) != sizeof(told))
			_exit(1);
		wait_for_ever();
	}
	assert_int_equal(waitpid(middle, NULL, 0), middle);
	assert_int_equal(read(ends[0], &told, sizeof(told)), sizeof(told));
	close(ends[0]);
	close(ends[1]);
	*ret_id = told.id;
	return told.pid;
}

static int segment_is_there(int id)
{
	struct shmid_ds ds;

	return shmctl(id, IPC_STAT, &ds) == 0;
}

static void shared_memory_of_a_killed_stray_goes(void **state)
{
	int own = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600), id, n;
	struct event_base *base = event_base_new();
	struct children *kids;
	struct err e;
	pid_t pid;

	(void)state;
	assert_ok(children_new(base, &kids, &e), e);
	pid = leave_one_with_memory(&id);
	assert_true(segment_is_there(id));
	kill(pid, SIGKILL);
	alarm(DEADLINE_S);
	while (kill(pid, 0) == 0)
		event_base_loop(base, EVLOOP_ONCE); /* until it is reaped */
	alarm(0);
	assert_false(segment_is_there(id));
	assert_true(segment_is_there(own));
	/* of a maker whose number comes again: what is older stays */
	n = (int)shm_remove_of(getpid(), SHM_ANY_OWNER, time(NULL) + 60);
	assert_int_equal(n, 0);
	n = (int)shm_remove_of(getpid(), getuid() + 1, 0);
	assert_int_equal(n, 0);
	n = (int)shm_remove_of(getpid(), getuid(), 0);
	assert_int_equal(n, 1);
	assert_false(segment_is_there(own));
	children_free(kids);
	event_base_free(base);
}

/* Such as what a program left for others on purpose. */
static void shared_memory_of_one_that_ended_by_itself_stays(void **state)
{
	struct event_base *base = event_base_new();
	struct children *kids;
	struct err e;
	pid_t pid;
	int id;

	(void)state;
	assert_ok(children_new(base, &kids, &e), e);
	pid = leave_one_with_memory(&id);
	kill(pid, SIGUSR1);
	alarm(DEADLINE_S);
	while (kill(pid, 0) == 0)
		event_base_loop(base, EVLOOP_ONCE); /* until it is reaped */
	alarm(0);
	assert_true(segment_is_there(id));
	assert_int_equal(shmctl(id, IPC_RMID, NULL), 0);
	children_free(kids);
	event_base_free(base);
}

/* By the file that it keeps: a number, its folder, when it began. */
static void shared_memory_of_a_lost_server_goes(void **state)
{
	int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	char top[] = "/tmp/test-server[1]*-XXXXXX"; /* no pattern */
	char memory[] = SHM_FOLDER "XXXXXX";
	char *data, *file, *link, *text;
	struct err e;

	(void)state;
	assert_non_null(mkdtemp(top));
	data = xasprintf("%s/pg/data-p.1", top);
	file = xasprintf("%s/postmaster.pid", data);
	link = xasprintf("%s/pg_dynshmem", data);
	assert_ok(fs_mkdir_p(data, 0700, &e), e);
	assert_int_equal(shm_remove_of_servers(top, getuid()), 0);
	assert_non_null(mkdtemp(memory));
	assert_int_equal(symlink(memory, link), 0);
	text = xasprintf("%d\n%s\n%lld\n5432\n", (int)getpid(), data, (long long)time(NULL));
	assert_ok(fs_write_file(file, text, strlen(text), 0600, &e), e);
	assert_true(segment_is_there(id));
	assert_int_equal(shm_remove_of_servers(top, getuid()), 2);
	assert_false(segment_is_there(id));
	assert_int_equal(access(memory, F_OK), -1);
	assert_ok(fs_remove_tree(top, &e), e);
	free(text);
	free(link);
	free(file);
	free(data);
}

static void links_lead_to_no_other_folders(void **state)
{
	char top[] = "/tmp/test-server-XXXXXX", other[] = "/dev/shm/other-test-XXXXXX";
	char *link;
	struct err e;

	(void)state;
	assert_non_null(mkdtemp(top));
	assert_non_null(mkdtemp(other));
	link = xasprintf("%s/link", top);
	for (unsigned i = 0; i < 3; i++) {
		char *to = i == 0 ? xstrdup(other)
			: i == 1 ? xasprintf("%s../%s", SHM_FOLDER, strrchr(other, '/') + 1)
				 : xasprintf("%s/././", SHM_FOLDER);

		unlink(link);
		assert_int_equal(symlink(to, link), 0);
		assert_int_equal(shm_remove_folder(link, getuid()), 0);
		free(to);
	}
	assert_int_equal(access(other, F_OK), 0);
	assert_int_equal(rmdir(other), 0);
	assert_ok(fs_remove_tree(top, &e), e);
	free(link);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stray_goes_with_its_children),
		cmocka_unit_test(shared_memory_of_a_killed_stray_goes),
		cmocka_unit_test(shared_memory_of_one_that_ended_by_itself_stays),
		cmocka_unit_test(shared_memory_of_a_lost_server_goes),
		cmocka_unit_test(links_lead_to_no_other_folders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
