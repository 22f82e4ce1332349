/*
 * One worker process. Owns the child and its socketpair.
 * Invariant: on_end is called exactly once unless worker_free came first, and only after every
 * message of the worker was delivered.
 */
#include "agent/worker_launch.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/last_words.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/proc.h"
#include "proto/conn.h"

#define STUCK_MS 10000
#define DRAIN_MS 2000

struct worker {
	struct children *kids;
	struct worker_handler handler;
	struct conn *conn; /* NULL at its end */
	struct event *timer;
	pid_t pid, known_pid; /* pid is 0 when gone */
	uint64_t start_ticks;
	int isolated, killed, status;
	int words; /* descriptor of its last words */
	struct err why; /* known before its end: it hangs, or broke the protocol */
	struct msg order; /* until it is sent */
};

static void finish(struct worker *w)
{
	struct worker_handler h = w->handler;
	struct err how = w->why;
	int words = w->words;

	if (how.code == ERR_NONE && WIFSIGNALED(w->status))
		err_set(&how, ERR_FAILED, "worker %d was killed by signal %d (%s)",
			(int)w->known_pid, WTERMSIG(w->status), strsignal(WTERMSIG(w->status)));
	else if (how.code == ERR_NONE && WEXITSTATUS(w->status))
		err_set(&how, ERR_FAILED, "worker %d ended with status %d", (int)w->known_pid,
			WEXITSTATUS(w->status));
	w->words = -1;
	worker_free(w);
	h.on_end(h.owner, &how, words);
	if (words >= 0)
		close(words);
}

static void set_timer(struct worker *w, unsigned ms)
{
	struct timeval tv = {.tv_sec = ms / 1000, .tv_usec = (ms % 1000) * 1000};

	event_add(w->timer, &tv);
}

static void on_exit_(void *arg, pid_t pid, int status)
{
	struct worker *w = arg;

	(void)pid;
	w->pid = 0;
	w->status = status;
	if (!w->isolated) {
		kill(-w->known_pid, SIGKILL);
		children_kill_strays(w->kids, w->start_ticks);
	}
	set_timer(w, DRAIN_MS);
	if (!w->conn)
		finish(w);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;

	(void)fd;
	(void)what;
	if (!w->pid) {
		finish(w);
		return;
	}
	if (!w->killed) {
		worker_kill(w);
		return;
	}
	log_error("worker", "process %d does not die: it hangs in the kernel", (int)w->pid);
	err_set(&w->why, ERR_TIMEOUT, "worker %d hangs in the kernel", (int)w->pid);
	finish(w);
}

static void on_open(struct conn *c, void *arg)
{
	struct worker *w = arg;

	conn_send(c, &w->order);
	msg_clear(&w->order);
}

static void on_msg(struct conn *c, struct msg *m, void *arg)
{
	struct worker *w = arg;

	(void)c;
	if (!w->killed)
		w->handler.on_msg(w->handler.owner, m);
}

static void on_close(struct conn *c, const struct err *why, void *arg)
{
	struct worker *w = arg;

	(void)c;
	w->conn = NULL;
	if (why && why->code != ERR_CONN && w->why.code == ERR_NONE)
		err_copy(&w->why, why);
	if (!w->pid)
		finish(w);
	else if (!w->killed)
		set_timer(w, DRAIN_MS);
}

static const struct conn_handler conn_handler = {
	.on_open = on_open, .on_msg = on_msg, .on_close = on_close};

int worker_start(struct event_base *base, struct children *kids, const struct spawn_user *user,
	struct msg *order, int disks_fd, const struct worker_handler *handler, struct worker **ret,
	struct err *e)
{
	struct spawn_order how = {.verb = "worker", .user = *user, .pass_fd = disks_fd,
		.new_pid_namespace = 1};
	struct worker *w = xcalloc(1, sizeof(*w));
	int fd;

	if (last_words_new(&w->words, e)) { /* it can do without */
		log_warning("worker", "%s", e->text);
		w->words = -1;
	}
	how.shared_fd = w->words < 0 ? 0 : w->words;
	if (spawn_self(&how, &w->pid, &fd, &w->isolated, e)) {
		if (w->words >= 0)
			close(w->words);
		free(w);
		return -1;
	}
	w->order = *order;
	memset(order, 0, sizeof(*order));
	w->kids = kids;
	w->handler = *handler;
	w->known_pid = w->pid;
	if (proc_start_time(w->pid, &w->start_ticks, e))
		w->start_ticks = UINT64_MAX;
	w->timer = evtimer_new(base, on_timer, w);
	children_add(kids, w->pid, on_exit_, w);
	w->conn = conn_plain(base, fd, &conn_handler, w);
	*ret = w;
	return 0;
}

pid_t worker_pid(const struct worker *w)
{
	return w->known_pid;
}

uint64_t worker_start_ticks(const struct worker *w)
{
	return w->start_ticks;
}

void worker_send(struct worker *w, const struct msg *m)
{
	if (w->conn)
		conn_send(w->conn, m);
}

static void kill_all(const struct worker *w)
{
	if (!w->pid)
		return;
	if (!w->isolated)
		kill(-w->pid, SIGKILL);
	kill(w->pid, SIGKILL);
}

void worker_kill(struct worker *w)
{
	if (w->killed)
		return;
	w->killed = 1;
	kill_all(w);
	if (w->pid)
		set_timer(w, STUCK_MS);
}

void worker_expect_end(struct worker *w, unsigned grace_ms)
{
	if (w->pid && !w->killed)
		set_timer(w, grace_ms);
}

void worker_free(struct worker *w)
{
	if (!w)
		return;
	kill_all(w);
	if (w->pid)
		children_abandon(w->kids, w->pid);
	if (w->conn)
		conn_abort(w->conn);
	event_free(w->timer);
	msg_clear(&w->order);
	if (w->words >= 0)
		close(w->words);
	free(w);
}

int worker_kill_recorded(pid_t pid, uint64_t start_ticks)
{
	uint64_t ticks;
	struct err e;

	if (pid <= 1 || proc_start_time(pid, &ticks, &e) || ticks != start_ticks)
		return 0;
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	return 1;
}
