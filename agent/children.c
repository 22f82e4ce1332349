/*
 * The table of our child processes. Owns the SIGCHLD event.
 * Invariant: every child is reaped; a callback runs once, and may add or abandon others.
 */
#include "agent/children.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/shm.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/proc.h"
#include "common/base/units.h"

struct child {
	pid_t pid;
	child_ended fn; /* NULL: abandoned */
	void *arg;
};
struct children {
	struct event *sigchld;
	struct child *v;
	size_t n, cap;
};

static size_t find(const struct children *c, pid_t pid)
{
	size_t i = 0;

	while (i < c->n && c->v[i].pid != pid)
		i++;
	return i;
}

/* It was left behind by a child of ours, and killed; it is not reaped yet, so that its number is its
 * own. */
static void forget_stray(pid_t pid)
{
	struct timespec now;
	uint64_t ticks;
	struct err ignored;
	unsigned n;

	if (proc_start_time(pid, &ticks, &ignored) || clock_gettime(CLOCK_BOOTTIME, &now))
		return;
	n = shm_remove_of(pid, SHM_ANY_OWNER, time(NULL) - now.tv_sec +
		(int64_t)(ticks / (uint64_t)sysconf(_SC_CLK_TCK)));
	if (n)
		log_info("process", "%d was left behind with shared memory: %u removed", (int)pid, n);
}

static void on_sigchld(evutil_socket_t sig, short what, void *arg)
{
	struct children *c = arg;
	int status;

	(void)sig;
	(void)what;
	for (;;) {
		siginfo_t info = {.si_pid = 0};
		struct child ended;
		size_t i;
		pid_t pid;

		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
			return;
		pid = info.si_pid;
		i = find(c, pid);
		if (i == c->n && info.si_code != CLD_EXITED) /* else it had its time to tidy up */
			forget_stray(pid);
		if (waitpid(pid, &status, 0) != pid || i == c->n)
			continue;
		ended = c->v[i];
		c->v[i] = c->v[--c->n];
		if (ended.fn)
			ended.fn(ended.arg, pid, status);
	}
}

int children_new(struct event_base *base, struct children **ret, struct err *e)
{
	struct children *c;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		return err_sys(e, "cannot become the reaper of orphaned processes");
	c = xcalloc(1, sizeof(*c));
	c->sigchld = evsignal_new(base, SIGCHLD, on_sigchld, c);
	if (!c->sigchld || event_add(c->sigchld, NULL)) {
		children_free(c);
		return err_set(e, ERR_FAILED, "cannot watch child processes");
	}
	*ret = c;
	return 0;
}

void children_free(struct children *c)
{
	if (!c)
		return;
	if (c->sigchld)
		event_free(c->sigchld);
	free(c->v);
	free(c);
}

void children_add(struct children *c, pid_t pid, child_ended fn, void *arg)
{
	c->v = xgrow(c->v, c->n, &c->cap, sizeof(*c->v));
	c->v[c->n++] = (struct child){.pid = pid, .fn = fn, .arg = arg};
}

void children_abandon(struct children *c, pid_t pid)
{
	size_t i = find(c, pid);

	if (i < c->n)
		c->v[i].fn = NULL;
}

struct stray_search {
	const struct children *ours;
	uint64_t since_ticks;
};

static void kill_stray(pid_t pid, void *arg)
{
	const struct stray_search *s = arg;
	uint64_t ticks;
	struct err e;

	if (find(s->ours, pid) < s->ours->n || proc_parent(pid) != getpid())
		return;
	if (proc_start_time(pid, &ticks, &e) || ticks < s->since_ticks)
		return;
	log_info("process", "%d was left behind: killed", (int)pid);
	proc_kill_tree(pid);
}

void children_kill_strays(struct children *c, uint64_t since_ticks)
{
	struct stray_search s = {c, since_ticks};

	proc_each(kill_stray, &s);
}
