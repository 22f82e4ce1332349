/*
 * One helper child: fork, frames back, deadline.
 * Owns the child, its socketpair and its timer. Invariant: on_end is called exactly once, when the
 * child is gone and all it sent was read, or when it could not be killed (stuck in the kernel).
 */
#include "agent/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/spawn.h"
#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/proc.h"
#include "common/base/units.h"
#include "proto/conn.h"

#define STUCK_MS 5000 /* a killed helper that is not gone by then hangs in the kernel */
#define DRAIN_MS 2000 /* what an ended helper sent must be read by then */

struct helper {
	struct event_base *base;
	struct children *kids;
	struct helper_task task;
	struct conn *conn; /* NULL at its end */
	struct event *timer;
	pid_t pid; /* 0 when gone */
	uint64_t start_ticks;
	int64_t began_ns;
	int status, killed, stopping;
	json_t *result;
	struct err why; /* code ERR_NONE: none yet */
	int has_result;
};

struct helper_report {
	int fd;
	int lock_fd; /* -1: it holds no lock */
};

void helper_send(struct helper_report *to, const struct msg *m)
{
	struct err ignored;

	(void)frame_write_fd(to->fd, m, &ignored);
}

int helper_is_heard(const struct helper_report *to)
{
	struct pollfd p = {.fd = to->fd, .events = POLLRDHUP};

	return poll(&p, 1, 0) == 0;
}

static void child_send_end(struct helper_report *to, const json_t *result, const struct err *why)
{
	struct msg m = {.type = MSG_CHUNK};
	struct buf text = {0};

	if (why) {
		m.type = MSG_ERROR;
		m.u.error = *why;
	} else {
		if (result)
			json_line(result, &text);
		buf_addc(&text, '\n');
		m.u.chunk.data = text.data;
		m.u.chunk.len = text.len;
		m.u.chunk.end = 1;
	}
	helper_send(to, &m);
}

void helper_share_lock(const struct helper_report *to)
{
	if (to && to->lock_fd >= 0)
		proc_keep(to->lock_fd);
}

static int child_lock(const char *path, int *ret, struct err *e)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return err_sys(e, "cannot open %s", path);
	while (flock(fd, LOCK_EX))
		if (errno != EINTR)
			return err_sys(e, "cannot lock %s", path);
	*ret = fd;
	return 0;
}

static _Noreturn void child_main(const struct helper_task *task, int fd)
{
	struct helper_report to = {.fd = fd, .lock_fd = -1};
	json_t *result = NULL;
	struct err e = {0};

	setpgid(0, 0);
	spawn_reset_signals();
	signal(SIGPIPE, SIG_IGN);
	spawn_close_but(fd, task->keep_fd ? task->keep_fd : -1);
	if ((task->lock && child_lock(task->lock, &to.lock_fd, &e)) || task->run(&to, task->arg, &result, &e)) {
		if (e.code == ERR_NONE)
			err_set(&e, ERR_FAILED, "%s failed without a reason", task->what);
		child_send_end(&to, NULL, &e);
		_exit(1);
	}
	child_send_end(&to, result, NULL);
	_exit(0);
}

static void finish(struct helper *h)
{
	struct helper_task task = h->task;
	json_t *result = h->result;
	struct err why = h->why;
	int good = h->has_result && why.code == ERR_NONE;

	h->result = NULL;
	h->task.what = NULL;
	helper_free(h);
	task.on_end(task.owner, good ? NULL : &why, good ? result : NULL);
	json_decref(result);
	free((char *)task.what);
}

static void explain_end(struct helper *h)
{
	if (h->why.code != ERR_NONE || h->has_result)
		return;
	if (h->stopping)
		err_set(&h->why, ERR_CANCELLED, "%s was stopped", h->task.what);
	else if (WIFSIGNALED(h->status))
		err_set(&h->why, ERR_FAILED, "%s was killed by signal %d (%s)", h->task.what,
			WTERMSIG(h->status), strsignal(WTERMSIG(h->status)));
	else
		err_set(&h->why, ERR_FAILED, "%s ended without an answer", h->task.what);
}

static void set_timer(struct helper *h, unsigned ms)
{
	struct timeval tv = {.tv_sec = ms / 1000, .tv_usec = (ms % 1000) * 1000};

	event_add(h->timer, &tv);
}

static void maybe_finish(struct helper *h)
{
	if (h->pid || h->conn)
		return;
	explain_end(h);
	finish(h);
}

static void on_exit_(void *arg, pid_t pid, int status)
{
	struct helper *h = arg;

	(void)pid;
	h->pid = 0;
	h->status = status;
	if (h->killed || WIFSIGNALED(status))
		children_kill_strays(h->kids, h->start_ticks);
	set_timer(h, DRAIN_MS);
	maybe_finish(h);
}

static void kill_now(struct helper *h)
{
	if (!h->pid)
		return;
	h->killed = 1;
	kill(-h->pid, SIGKILL);
	kill(h->pid, SIGKILL);
	set_timer(h, STUCK_MS);
}

static void give_up(struct helper *h)
{
	log_error("helper", "%s does not die: process %d hangs in the kernel", h->task.what,
		(int)h->pid);
	if (h->why.code == ERR_NONE)
		err_set(&h->why, ERR_TIMEOUT, "%s hangs in the kernel", h->task.what);
	finish(h);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct helper *h = arg;
	char took[UNITS_LEN];

	(void)fd;
	(void)what;
	if (!h->pid) {
		/* none where it was stopped after its end, before its last word */
		if (h->conn)
			conn_abort(h->conn);
		h->conn = NULL;
		maybe_finish(h);
		return;
	}
	if (h->killed) {
		give_up(h);
		return;
	}
	if (!h->stopping)
		err_set(&h->why, ERR_TIMEOUT, "%s took longer than %s and was killed", h->task.what,
			units_duration(clock_mono_ns() - h->began_ns, took));
	kill_now(h);
}

static void take_result(struct helper *h, const struct msg_chunk *c)
{
	struct err e;

	h->has_result = 1;
	if (c->len > 1 && json_parse(h->task.what, c->data, c->len, MSG_FRAME_MAX, &h->result, &e)) {
		h->has_result = 0;
		h->why = e;
	}
}

static void on_msg(struct conn *c, struct msg *m, void *arg)
{
	struct helper *h = arg;

	(void)c;
	if (m->type == MSG_CHUNK && m->u.chunk.end)
		take_result(h, &m->u.chunk);
	else if (m->type == MSG_ERROR && h->why.code == ERR_NONE)
		h->why = m->u.error;
	else if (m->type != MSG_ERROR && h->task.on_msg && !h->stopping)
		h->task.on_msg(h->task.owner, m);
}

static void on_close(struct conn *c, const struct err *why, void *arg)
{
	struct helper *h = arg;

	(void)c;
	h->conn = NULL;
	if (why && why->code != ERR_CONN && h->why.code == ERR_NONE)
		err_copy(&h->why, why);
	maybe_finish(h);
}

static const struct conn_handler handler = {.on_msg = on_msg, .on_close = on_close};

int helper_start(struct event_base *base, struct children *kids, const struct helper_task *task,
	struct helper **ret, struct err *e)
{
	struct helper *h;
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return err_sys(e, "cannot start %s", task->what);
	pid = fork();
	if (pid < 0) {
		err_sys(e, "cannot start %s", task->what);
		close(fds[0]);
		close(fds[1]);
		return -1;
	}
	if (pid == 0)
		child_main(task, fds[1]);
	setpgid(pid, pid);
	close(fds[1]);
	h = xcalloc(1, sizeof(*h));
	h->base = base;
	h->kids = kids;
	h->task = *task;
	h->task.what = xstrdup(task->what);
	h->pid = pid;
	h->began_ns = clock_mono_ns();
	if (proc_start_time(pid, &h->start_ticks, e))
		h->start_ticks = UINT64_MAX;
	h->timer = evtimer_new(base, on_timer, h);
	children_add(kids, pid, on_exit_, h);
	h->conn = conn_plain(base, fds[0], &handler, h);
	set_timer(h, task->deadline_ms);
	*ret = h;
	return 0;
}

void helper_stop(struct helper *h, unsigned grace_ms)
{
	if (h->stopping)
		return;
	h->stopping = 1;
	h->has_result = 0;
	if (h->conn)
		conn_abort(h->conn);
	h->conn = NULL;
	if (h->pid)
		set_timer(h, grace_ms);
}

void helper_free(struct helper *h)
{
	if (!h)
		return;
	if (h->pid) {
		kill(-h->pid, SIGKILL);
		kill(h->pid, SIGKILL);
		children_abandon(h->kids, h->pid);
	}
	if (h->conn)
		conn_abort(h->conn);
	event_free(h->timer);
	json_decref(h->result);
	free((char *)h->task.what);
	free(h);
}
