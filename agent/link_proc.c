/*
 * Starting and restarting the link. Owns the child, the socketpair and the back-off.
 * Invariant: there is at most one link, and its key's text is in our memory only while it is handed
 * over.
 */
#include "agent/link_proc.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/spawn.h"
#include "common/base/fs.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "proto/conn.h"

#define BACKOFF_FIRST_MS 50
#define BACKOFF_MOST_MS 10000
#define LIVED_LONG_NS (10 * NS_PER_S)
#define PEM_MAX (64 * 1024)
#define SPOOL_FILE "spool.db"

struct link_proc {
	struct event_base *base;
	struct children *kids;
	const struct host *host;
	char *coordinator, *spool;
	struct link_handler handler;
	struct conn *conn;
	pid_t pid; /* 0: none */
	int64_t began_ns;
	unsigned backoff_ms;
	struct event *again;
};

static int make_spool_folder(const struct link_proc *p, struct err *e)
{
	const struct spawn_user *u = &p->host->link_user;
	struct stat st;

	if (mkdir(p->spool, 0700) && errno != EEXIST)
		return err_sys(e, "cannot make %s", p->spool);
	if (lstat(p->spool, &st))
		return err_sys(e, "cannot look at %s", p->spool);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ERR_EXISTS, "%s is not a folder", p->spool);
	if (u->drop && st.st_uid != u->uid && lchown(p->spool, u->uid, u->gid))
		return err_sys(e, "cannot give %s to the link's user", p->spool);
	return 0;
}

static void wipe(char *s)
{
	if (s)
		explicit_bzero(s, strlen(s));
	free(s);
}

static int send_setup(struct link_proc *p, struct err *e)
{
	struct msg m = {.type = MSG_LINK_SETUP};
	struct msg_link_setup *s = &m.u.link_setup;
	const char *state = p->host->state;
	int status = -1;

	if (!host_read(state, "key.pem", PEM_MAX, &s->key_pem, e) &&
		!host_read(state, "cert.pem", PEM_MAX, &s->cert_pem, e) &&
		!host_read(state, "ca.pem", PEM_MAX, &s->ca_pem, e)) {
		s->coordinator = p->coordinator;
		s->spool = (char *)SPOOL_FILE;
		conn_send(p->conn, &m);
		status = 0;
	}
	wipe(s->key_pem);
	free(s->cert_pem);
	free(s->ca_pem);
	return status;
}

static void retry_later(struct link_proc *p)
{
	struct timeval tv = {.tv_sec = p->backoff_ms / 1000,
		.tv_usec = (p->backoff_ms % 1000) * 1000};

	event_add(p->again, &tv);
	p->backoff_ms = p->backoff_ms * 4 < BACKOFF_MOST_MS ? p->backoff_ms * 4 : BACKOFF_MOST_MS;
}

static void forget(struct link_proc *p)
{
	if (p->conn)
		conn_abort(p->conn);
	p->conn = NULL;
}

static void on_ended(void *arg, pid_t pid, int status)
{
	struct link_proc *p = arg;

	p->pid = 0;
	forget(p);
	if (WIFSIGNALED(status))
		log_error("link", "process %d was killed by signal %d: starting another", (int)pid,
			WTERMSIG(status));
	else
		log_error("link", "process %d ended with status %d: starting another", (int)pid,
			WEXITSTATUS(status));
	if (clock_mono_ns() - p->began_ns > LIVED_LONG_NS)
		p->backoff_ms = BACKOFF_FIRST_MS;
	p->handler.on_lost(p->handler.owner);
	retry_later(p);
}

static void on_open(struct conn *c, void *arg)
{
	struct link_proc *p = arg;
	struct err e;

	(void)c;
	if (send_setup(p, &e) == 0) {
		p->handler.on_start(p->handler.owner);
		return;
	}
	log_error("link", "%s", e.text);
	kill(p->pid, SIGKILL);
}

static void on_msg(struct conn *c, struct msg *m, void *arg)
{
	struct link_proc *p = arg;

	(void)c;
	p->handler.on_msg(p->handler.owner, m);
}

/* Its end is told by on_ended; a link that only lost its connection to us ends by itself. */
static void on_close(struct conn *c, const struct err *why, void *arg)
{
	struct link_proc *p = arg;

	(void)c;
	(void)why;
	p->conn = NULL;
	if (p->pid)
		kill(p->pid, SIGKILL);
}

static const struct conn_handler conn_handler = {
	.on_open = on_open, .on_msg = on_msg, .on_close = on_close};

static int start(struct link_proc *p, struct err *e)
{
	struct spawn_order order = {
		.verb = "link", .user = p->host->link_user, .folder = p->spool};
	int fd;

	if (make_spool_folder(p, e) || spawn_self(&order, &p->pid, &fd, NULL, e))
		return -1;
	p->began_ns = clock_mono_ns();
	children_add(p->kids, p->pid, on_ended, p);
	p->conn = conn_plain(p->base, fd, &conn_handler, p);
	log_debug("link", "process %d started", (int)p->pid);
	return 0;
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
	struct link_proc *p = arg;
	struct err e;

	(void)fd;
	(void)what;
	if (p->pid || start(p, &e) == 0)
		return;
	log_error("link", "%s", e.text);
	if (!p->pid)
		retry_later(p);
}

int link_proc_start(struct event_base *base, struct children *kids, const struct host *host,
	const char *coordinator, const struct link_handler *handler, struct link_proc **ret,
	struct err *e)
{
	struct link_proc *p = xcalloc(1, sizeof(*p));

	p->base = base;
	p->kids = kids;
	p->host = host;
	p->coordinator = xstrdup(coordinator);
	p->spool = xasprintf("%s/spool", host->state);
	p->handler = *handler;
	p->backoff_ms = BACKOFF_FIRST_MS;
	p->again = evtimer_new(base, on_again, p);
	*ret = p;
	if (start(p, e)) {
		*ret = NULL;
		link_proc_free(p);
		return -1;
	}
	return 0;
}

void link_proc_send(struct link_proc *p, const struct msg *m)
{
	if (p->conn)
		conn_send(p->conn, m);
}

void link_proc_free(struct link_proc *p)
{
	if (!p)
		return;
	if (p->pid) {
		kill(p->pid, SIGKILL);
		children_abandon(p->kids, p->pid);
	}
	forget(p);
	event_free(p->again);
	free(p->coordinator);
	free(p->spool);
	free(p);
}
