/*
 * Starting our own program as another user. Owns nothing.
 * Invariant: a child keeps no right, descriptor or signal handler of the monitor but its end of the
 * socketpair and stderr; when something of that fails, the child ends before it runs anything.
 */
#include "agent/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/log.h"

#define CHILD_FD 3

extern char **environ;

void spawn_reset_signals(void)
{
	struct sigaction dfl = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &dfl, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void close_from(int first, int last)
{
	if (first > last || syscall(SYS_close_range, first, last, 0) == 0)
		return;
	for (int fd = first; fd <= last && fd < 65536; fd++)
		close(fd);
}

void spawn_close_but(int keep, int also)
{
	int low = also >= 0 && also < keep ? also : keep, high = also > keep ? also : keep;

	close_from(3, low - 1);
	close_from(low + 1, high - 1);
	close_from(high + 1, INT32_MAX);
}

void spawn_close_others(int keep)
{
	spawn_close_but(keep, -1);
}

int spawn_user_find(const char *name, struct spawn_user *ret, struct err *e)
{
	struct passwd *pw;

	if (geteuid() != 0) {
		*ret = (struct spawn_user){.uid = getuid(), .gid = getgid()};
		return 0;
	}
	pw = getpwnam(name);
	if (!pw)
		return err_set(e, ERR_NOTFOUND,
			"there is no user '%s' here: make it with 'useradd --system --no-create-home "
			"--shell /usr/sbin/nologin %s', or run the agent as an ordinary user",
			name, name);
	if (pw->pw_uid == 0)
		return err_set(e, ERR_DENIED, "user '%s' must not be root", name);
	*ret = (struct spawn_user){.drop = 1, .uid = pw->pw_uid, .gid = pw->pw_gid};
	return 0;
}

static int drop_rights(const struct spawn_user *u)
{
	if (!u->drop)
		return 0;
	if (setgroups(0, NULL) || setresgid(u->gid, u->gid, u->gid) ||
		setresuid(u->uid, u->uid, u->uid))
		return -1;
	return getuid() == u->uid && geteuid() == u->uid && setuid(0) ? 0 : -1;
}

/* 0 stays the saved user: only it brings the rights back. A program that is started has none of it. */
int spawn_lend(const struct spawn_user *u, struct spawn_lent *ret, struct err *e)
{
	struct spawn_lent l = {.is_lent = u->drop, .gid = getgid()};

	*ret = l;
	if (!u->drop)
		return 0;
	ret->n_groups = getgroups(SPAWN_GROUPS_MAX, ret->groups);
	if (ret->n_groups < 0)
		return err_sys(e, "cannot tell our own groups");
	if (setgroups(0, NULL) || setresgid(u->gid, u->gid, l.gid) || setresuid(u->uid, u->uid, 0)) {
		err_sys(e, "cannot act as user %u", (unsigned)u->uid);
		spawn_take_back(ret);
		return -1;
	}
	return 0;
}

void spawn_take_back(const struct spawn_lent *l)
{
	if (!l->is_lent)
		return;
	if (setresuid(0, 0, 0) || setresgid(l->gid, l->gid, l->gid) ||
		setgroups((size_t)l->n_groups, l->groups))
		abort();
}

/* Above those that the child finds its own by, so that none is overwritten before it is moved. */
static int move_up(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, SPAWN_SHARED_FD + 1);
}

static int set_descriptors(const struct spawn_order *o, int fd)
{
	int null = open("/dev/null", O_RDWR), passed = o->pass_fd ? move_up(o->pass_fd) : 0;
	int shared = o->shared_fd ? move_up(o->shared_fd) : 0;

	fd = move_up(fd);
	if (null < 0 || fd < 0 || passed < 0 || shared < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0)
		return -1;
	close_from(CHILD_FD, SPAWN_SHARED_FD);
	if ((passed && dup2(passed, SPAWN_PASSED_FD) < 0) ||
		(shared && dup2(shared, SPAWN_SHARED_FD) < 0))
		return -1;
	return dup2(fd, CHILD_FD) < 0 ? -1 : 0;
}

static _Noreturn void child_main(const struct spawn_order *o, int fd, int self)
{
	char *argv[] = {(char *)"arraymark-agent", (char *)o->verb, (char *)"--fd", (char *)"3", NULL};
	struct rlimit no_core = {0};

	setsid();
	spawn_reset_signals();
	if (chdir(o->folder ? o->folder : "/") || setrlimit(RLIMIT_CORE, &no_core) ||
		drop_rights(&o->user) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_PDEATHSIG, SIGKILL))
		goto fail;
	self = move_up(self);
	if (self < 0 || set_descriptors(o, fd))
		goto fail;
	close_from(SPAWN_SHARED_FD + 1, self - 1);
	close_from(self + 1, INT32_MAX);
	/* By descriptor: the folder of the program need not be open to the child's user. */
	syscall(SYS_execveat, self, "", argv, environ, AT_EMPTY_PATH);
fail:
	log_error("process", "cannot start '%s' as user %u: %m", o->verb, (unsigned)o->user.uid);
	_exit(127);
}

/* As fork, into a new PID namespace: the child is its init, so that all it ever starts dies with
 * it. Into a new IPC namespace too: shared memory of a killed PostgreSQL goes with it. 0 in the
 * child. */
static pid_t fork_isolated(int *ret_isolated)
{
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWIPC | SIGCHLD, NULL, NULL, NULL,
		NULL);

	*ret_isolated = pid >= 0;
	return pid >= 0 ? pid : fork();
}

int spawn_self(const struct spawn_order *o, pid_t *ret_pid, int *ret_fd, int *ret_isolated,
	struct err *e)
{
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int fds[2], isolated = 0;
	pid_t pid;

	if (self < 0)
		return err_sys(e, "cannot open our own program");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)) {
		err_sys(e, "cannot start the agent's %s", o->verb);
		close(self);
		return -1;
	}
	pid = o->new_pid_namespace ? fork_isolated(&isolated) : fork();
	if (pid == 0)
		child_main(o, fds[1], self);
	close(self);
	close(fds[1]);
	if (pid < 0) {
		err_sys(e, "cannot start the agent's %s", o->verb);
		close(fds[0]);
		return -1;
	}
	*ret_pid = pid;
	*ret_fd = fds[0];
	if (ret_isolated)
		*ret_isolated = isolated;
	return 0;
}
