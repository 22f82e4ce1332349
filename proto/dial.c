/*
 * TCP connections by name. A dial owns its lookup, its socket until it is handed on, and one event.
 * Invariant: at most one of lookup, event is pending.
 */
#include "proto/dial.h"

#include <errno.h>
#include <event2/util.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "proto/conn.h"
#include "proto/resolve.h"

#define DIAL_ADDRESSES_MAX 8
#define DIAL_ATTEMPT_MIN_MS 250

struct dial {
	struct event_base *base;
	struct resolve *lookup;
	struct event *event;
	int fd;
	struct sockaddr_storage address[DIAL_ADDRESSES_MAX];
	socklen_t length[DIAL_ADDRESSES_MAX];
	unsigned n, next;
	unsigned deadline_ms;
	char *target;
	struct err last;
	dial_fn *fn;
	void *arg;
};

int conn_split_host_port(const char *s, char host[256], char port[8], struct err *e)
{
	const char *colon = strrchr(s, ':'), *end;
	int64_t number = 7420;
	struct err ignored;
	size_t len;

	if (*s == '[') {
		end = strchr(s, ']');
		if (!end || (end[1] && end[1] != ':'))
			return err_set(e, ERR_USAGE, "'%.300s' is not HOST:PORT ([v6]:port)", s);
		colon = end[1] ? end + 1 : NULL;
		s++;
	} else {
		if (colon && strchr(s, ':') != colon)
			colon = NULL; /* an IPv6 address without port */
		end = colon ? colon : s + strlen(s);
	}
	len = (size_t)(end - s);
	if (len == 0 || len > 255)
		return err_set(e, ERR_USAGE, "'%.300s' is not HOST:PORT: the host is %s", s,
			len ? "too long" : "missing");
	if (colon && units_parse_int(colon + 1, 1, 65535, &number, &ignored) < 0)
		return err_set(
			e, ERR_USAGE, "'%.300s' is not HOST:PORT: the port is not 1..65535", s);
	memcpy(host, s, len);
	host[len] = '\0';
	snprintf(port, 8, "%u", (unsigned)number & 0xffff);
	return 0;
}

static void dial_free(struct dial *d)
{
	if (d->lookup)
		resolve_cancel(d->lookup);
	if (d->event)
		event_free(d->event);
	if (d->fd >= 0)
		close(d->fd);
	free(d->target);
	free(d);
}

void dial_cancel(struct dial *d)
{
	dial_free(d);
}

static void finish(struct dial *d, int fd)
{
	dial_fn *fn = d->fn;
	void *arg = d->arg;
	struct err why;

	err_copy(&why, &d->last);
	d->fd = -1;
	dial_free(d);
	fn(arg, fd, fd >= 0 ? NULL : &why);
}

static void on_result(evutil_socket_t fd, short what, void *arg);

/* 0: an attempt is under way. */
static int attempt(struct dial *d, const struct sockaddr *address, socklen_t length)
{
	unsigned ms = d->deadline_ms / d->n;
	struct timeval limit;

	d->fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (d->fd < 0)
		return err_sys(&d->last, "%s: making a socket", d->target);
	if (connect(d->fd, address, length) < 0 && errno != EINPROGRESS) {
		err_sys(&d->last, "%s: connecting", d->target);
		d->last.code = ERR_CONN;
		close(d->fd);
		d->fd = -1;
		return -1;
	}
	if (ms < DIAL_ATTEMPT_MIN_MS)
		ms = DIAL_ATTEMPT_MIN_MS;
	limit = (struct timeval){ms / 1000, ms % 1000 * 1000};
	d->event = event_new(d->base, d->fd, EV_WRITE, on_result, d);
	event_add(d->event, &limit);
	return 0;
}

static void try_next(struct dial *d)
{
	unsigned at;

	while (d->next < d->n) {
		at = d->next++;
		if (attempt(d, (const struct sockaddr *)&d->address[at], d->length[at]) == 0)
			return;
	}
	finish(d, -1);
}

static void on_result(evutil_socket_t fd, short what, void *arg)
{
	struct dial *d = arg;
	socklen_t size = sizeof(errno);
	int error = ETIMEDOUT;

	if (what & EV_WRITE)
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
	event_free(d->event);
	d->event = NULL;
	if (error == 0) {
		finish(d, d->fd);
		return;
	}
	close(d->fd);
	d->fd = -1;
	err_set(&d->last, error == ETIMEDOUT ? ERR_TIMEOUT : ERR_CONN, "%s: connecting: %s%s",
		d->target, strerror(error),
		error == ECONNREFUSED ? " (is the coordinator running there?)" : "");
	try_next(d);
}

static void on_resolved(void *arg, const struct evutil_addrinfo *list, const struct err *why)
{
	struct dial *d = arg;

	d->lookup = NULL;
	for (; list && d->n < DIAL_ADDRESSES_MAX; list = list->ai_next) {
		if (list->ai_addrlen > sizeof(d->address[0]))
			continue;
		memcpy(&d->address[d->n], list->ai_addr, list->ai_addrlen);
		d->length[d->n++] = (socklen_t)list->ai_addrlen;
	}
	if (why)
		err_copy(&d->last, why);
	try_next(d);
}

int dial_start(struct event_base *base, const char *host_port, unsigned deadline_ms, dial_fn *fn,
	void *arg, struct dial **ret, struct err *e)
{
	char host[256], port[8];
	struct dial *d;

	if (conn_split_host_port(host_port, host, port, e) < 0)
		return -1;
	d = xcalloc(1, sizeof(*d));
	d->base = base;
	d->fd = -1;
	d->deadline_ms = deadline_ms;
	d->target = xstrdup(host_port);
	err_set(&d->last, ERR_NOTFOUND, "%s: no address that can be used", host_port);
	d->fn = fn;
	d->arg = arg;
	d->lookup = resolve_start(base, host, port, on_resolved, d);
	*ret = d;
	return 0;
}
