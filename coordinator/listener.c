/*
 * Listens and accepts. Owns the listening socket and STATE/listen, which exists while it listens.
 * Running out of descriptors pauses accepting for a second instead of spinning.
 */
#include "coordinator/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "coordinator/sessions.h"
#include "proto/conn.h"

#define LISTENER_BACKLOG 1024
#define LISTENER_ACCEPTS 64 /* in one pass of the loop */

struct listener {
	struct coordinator *co;
	int fd;
	struct event *readable, *again;
	struct log_limit limit;
	char address[128];
};

static int bind_one(const struct addrinfo *ai, int *ret_fd)
{
	int one = 1, zero = 0;
	int fd = socket(ai->ai_family, ai->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (ai->ai_family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (!bind(fd, ai->ai_addr, ai->ai_addrlen) && !listen(fd, LISTENER_BACKLOG)) {
		*ret_fd = fd;
		return 0;
	}
	close(fd);
	return -1;
}

/* As conn_split_host_port, and port 0 is fine here. */
static int split(const char *listen_on, char host[256], char port[8], struct err *e)
{
	char *fixed;
	int r;

	if (!str_ends(listen_on, ":0"))
		return conn_split_host_port(listen_on, host, port, e);
	fixed = xasprintf("%.*s:1", (int)strlen(listen_on) - 2, listen_on);
	r = conn_split_host_port(fixed, host, port, e);
	free(fixed);
	if (!r)
		snprintf(port, 8, "0");
	return r;
}

static int bind_to(const char *listen_on, int *ret_fd, struct err *e)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *all, *ai;
	char host[256], port[8];
	int r = -1, gai;

	if (split(listen_on, host, port, e))
		return -1;
	gai = getaddrinfo(host[0] ? host : NULL, port, &hints, &all);
	if (gai)
		return err_set(e, ERR_INPUT, "listen: '%s': %s", listen_on, gai_strerror(gai));
	errno = 0;
	for (ai = all; ai && r; ai = ai->ai_next)
		r = bind_one(ai, ret_fd);
	if (r)
		err_sys(e, "can't listen on %s", listen_on);
	freeaddrinfo(all);
	return r;
}

static int name_of(int fd, char *out, size_t len)
{
	struct sockaddr_storage sa;
	socklen_t n = sizeof(sa);
	char host[64], port[8];

	if (getsockname(fd, (struct sockaddr *)&sa, &n) ||
		getnameinfo((struct sockaddr *)&sa, n, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return -1;
	snprintf(out, len, sa.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
	return 0;
}

static void address_of(const struct sockaddr_storage *sa, struct in6_addr *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (sa->ss_family == AF_INET6) {
		*ret = ((const struct sockaddr_in6 *)sa)->sin6_addr;
	} else if (sa->ss_family == AF_INET) {
		ret->s6_addr[10] = ret->s6_addr[11] = 0xff;
		memcpy(&ret->s6_addr[12], &((const struct sockaddr_in *)sa)->sin_addr, 4);
	}
}

static void accept_paused(struct listener *l)
{
	static const struct timeval second = {1, 0};
	unsigned more;

	if (log_limit_pass(&l->limit, &more))
		log_warning("listener", "can't accept connections (%s), trying again every second",
			strerror(errno));
	event_del(l->readable);
	event_add(l->again, &second);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct listener *l = arg;

	(void)what;
	for (int i = 0; i < LISTENER_ACCEPTS; i++) {
		struct sockaddr_storage sa;
		struct in6_addr address;
		socklen_t n = sizeof(sa);
		int one = 1, c = accept4(fd, (struct sockaddr *)&sa, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (c < 0) {
			if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
				accept_paused(l);
			if (errno != ECONNABORTED && errno != EINTR)
				return;
			continue;
		}
		(void)setsockopt(c, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		(void)setsockopt(c, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
		address_of(&sa, &address);
		session_accept_tls(l->co, c, &address);
	}
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
	struct listener *l = arg;

	(void)fd;
	(void)what;
	event_add(l->readable, NULL);
}

static int announce(const struct listener *l, struct err *e)
{
	char *path = options_path(l->co->opt, "listen"), *line = xasprintf("%s\n", l->address);
	int r = fs_write_file(path, line, strlen(line), 0644, e);

	free(line);
	free(path);
	return r;
}

int listener_open(struct coordinator *co, struct listener **ret, struct err *e)
{
	const char *where = co->opt->listen;
	struct listener *l;
	int fd;

	if (bind_to(where, &fd, e)) {
		if (!co->opt->listen_is_default || bind_to("0.0.0.0:7420", &fd, e))
			return -1;
	}
	l = xcalloc(1, sizeof(*l));
	l->co = co;
	l->fd = fd;
	l->limit = (struct log_limit){.burst = 1, .window_ms = 60000};
	if (name_of(fd, l->address, sizeof(l->address)))
		snprintf(l->address, sizeof(l->address), "%s", where);
	l->readable = event_new(co->base, fd, EV_READ | EV_PERSIST, on_readable, l);
	l->again = event_new(co->base, -1, 0, on_again, l);
	if (announce(l, e)) {
		listener_close(l);
		return -1;
	}
	event_add(l->readable, NULL);
	log_info("listener", "listening on %s", l->address);
	*ret = l;
	return 0;
}

void listener_close(struct listener *l)
{
	char *path;

	if (!l)
		return;
	path = options_path(l->co->opt, "listen");
	(void)unlink(path);
	free(path);
	event_free(l->readable);
	event_free(l->again);
	close(l->fd);
	free(l);
}

const char *listener_address(const struct listener *l)
{
	return l->address;
}
