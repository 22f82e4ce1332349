/*
 * The owner's unix socket. Owns the listening descriptor and its clients.
 * Invariant: nobody but root and our own user gets a word in.
 */
#include "agent/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/log.h"
#include "common/base/mem.h"

#define SOCKET_NAME "agent.sock"
#define CLIENTS_MAX 8

struct owner {
	struct event_base *base;
	struct event *listen;
	int fd, folder;
	struct conn *clients[CLIENTS_MAX];
	void (*wants)(void *arg, enum agent_state state);
	void *arg;
};

/* Through the folder's descriptor, since a socket's path may have 107 bytes only. */
static int open_address(const char *state, int *ret_folder, struct sockaddr_un *ret, struct err *e)
{
	int folder = open(state, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (folder < 0)
		return err_sys(e, "cannot open %s", state);
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/" SOCKET_NAME, folder);
	*ret_folder = folder;
	return 0;
}

static void on_msg(struct conn *c, struct msg *m, void *arg)
{
	struct owner *o = arg;

	if (m->type == MSG_AGENT_STATUS && (m->u.agent_status.state == AGENT_STOPPED ||
						   m->u.agent_status.state == AGENT_IDLE)) {
		o->wants(o->arg, m->u.agent_status.state);
		return;
	}
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (o->clients[i] == c)
			o->clients[i] = NULL;
	conn_close(c);
}

static void on_close(struct conn *c, const struct err *why, void *arg)
{
	struct owner *o = arg;

	(void)why;
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (o->clients[i] == c)
			o->clients[i] = NULL;
}

static const struct conn_handler handler = {.on_msg = on_msg, .on_close = on_close};

static int is_owner(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
		(peer.uid == 0 || peer.uid == geteuid());
}

static void on_accept(evutil_socket_t listening, short what, void *arg)
{
	struct owner *o = arg;
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
	size_t i = 0;

	(void)what;
	while (i < CLIENTS_MAX && o->clients[i])
		i++;
	if (fd >= 0 && i < CLIENTS_MAX && is_owner(fd))
		o->clients[i] = conn_plain(o->base, fd, &handler, o);
	else if (fd >= 0)
		close(fd);
}

static int listen_on(struct owner *o, const char *state, struct err *e)
{
	struct sockaddr_un address;
	mode_t old;
	int status;

	if (open_address(state, &o->folder, &address, e))
		return -1;
	o->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (o->fd < 0)
		return err_sys(e, "cannot make a socket");
	(void)unlinkat(o->folder, SOCKET_NAME, 0);
	old = umask(0177);
	status = bind(o->fd, (struct sockaddr *)&address, sizeof(address));
	umask(old);
	if (status || listen(o->fd, CLIENTS_MAX))
		return err_sys(e, "cannot listen on %s/" SOCKET_NAME, state);
	return 0;
}

int owner_open(struct event_base *base, const char *state,
	void (*wants)(void *arg, enum agent_state state), void *arg, struct owner **ret,
	struct err *e)
{
	struct owner *o = xcalloc(1, sizeof(*o));

	o->base = base;
	o->fd = o->folder = -1;
	o->wants = wants;
	o->arg = arg;
	if (listen_on(o, state, e)) {
		owner_close(o);
		return -1;
	}
	o->listen = event_new(base, o->fd, EV_READ | EV_PERSIST, on_accept, o);
	event_add(o->listen, NULL);
	*ret = o;
	return 0;
}

void owner_close(struct owner *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (o->clients[i])
			conn_abort(o->clients[i]);
	if (o->listen)
		event_free(o->listen);
	if (o->folder >= 0) {
		if (o->listen)
			(void)unlinkat(o->folder, SOCKET_NAME, 0);
		close(o->folder);
	}
	if (o->fd >= 0)
		close(o->fd);
	free(o);
}

void owner_tell(struct owner *o, const struct msg *status)
{
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (o->clients[i])
			conn_send(o->clients[i], status);
}

int owner_connect(const char *state, int *ret_fd, struct err *e)
{
	struct sockaddr_un address;
	int folder, fd, status;

	if (open_address(state, &folder, &address, e))
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	status = fd < 0 ? -1 : connect(fd, (struct sockaddr *)&address, sizeof(address));
	if (status && (errno == ECONNREFUSED || errno == ENOENT))
		err_set(e, ERR_NOTFOUND, "no agent runs with state folder %s", state);
	else if (status)
		err_sys(e, "cannot reach the agent at %s/" SOCKET_NAME, state);
	close(folder);
	if (status) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	*ret_fd = fd;
	return 0;
}
