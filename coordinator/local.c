/*
 * The local socket. Owns the listening descriptor and the socket file; a file left by a killed
 * daemon is replaced, which is safe because the state folder is locked.
 */
#include "coordinator/local.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/sessions.h"
#include "proto/conn.h"

#define LOCAL_ANSWER_MS (10 * 60 * 1000) /* a check of a large store takes its time */

struct local {
	struct coordinator *co;
	int fd;
	struct event *readable;
	char *path;
	struct log_limit refused;
};

/* A socket path has about a hundred bytes. */
static int address(const struct options *o, struct sockaddr_un *ret, char **ret_path, struct err *e)
{
	char *path = options_path(o, "control.sock");

	memset(ret, 0, sizeof(*ret));
	ret->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(ret->sun_path)) {
		err_set(e, ERR_INPUT, "%s: longer than the %zu bytes that a socket's path may have; use a "
			"shorter --state", path, sizeof(ret->sun_path) - 1);
		free(path);
		return -1;
	}
	memcpy(ret->sun_path, path, strlen(path) + 1);
	*ret_path = path;
	return 0;
}

static int peer_is_ours(int fd, uid_t *ret_uid)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return 0;
	*ret_uid = cred.uid;
	return cred.uid == 0 || cred.uid == geteuid();
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct local *l = arg;
	uid_t uid = (uid_t)-1;
	unsigned more;
	int c = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)what;
	if (c < 0)
		return;
	if (peer_is_ours(c, &uid)) {
		session_accept_local(l->co, c);
		return;
	}
	if (log_limit_pass(&l->refused, &more))
		log_warning("local", "uid %u refused: only root and uid %u may use %s", (unsigned)uid,
			(unsigned)geteuid(), l->path);
	close(c);
}

int local_open(struct coordinator *co, struct local **ret, struct err *e)
{
	struct sockaddr_un sa;
	struct local *l;
	mode_t old;
	char *path;
	int fd, r;

	if (address(co->opt, &sa, &path, e))
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		err_sys(e, "%s", path);
		free(path);
		return -1;
	}
	(void)unlink(path);
	old = umask(0177);
	r = bind(fd, (struct sockaddr *)&sa, sizeof(sa));
	umask(old);
	if (r || listen(fd, 16)) {
		err_sys(e, "can't listen on %s", path);
		close(fd);
		free(path);
		return -1;
	}
	l = xcalloc(1, sizeof(*l));
	l->co = co;
	l->fd = fd;
	l->path = path;
	l->refused = (struct log_limit){.burst = 1, .window_ms = 60000};
	l->readable = event_new(co->base, fd, EV_READ | EV_PERSIST, on_readable, l);
	event_add(l->readable, NULL);
	*ret = l;
	return 0;
}

void local_close(struct local *l)
{
	if (!l)
		return;
	event_free(l->readable);
	close(l->fd);
	(void)unlink(l->path);
	free(l->path);
	free(l);
}

/* ---- the other end ---- */

static int greet(int fd, struct err *e)
{
	struct msg m = {.type = MSG_HELLO}, answer;
	int r;

	m.u.hello.min_version = PROTO_VERSION_MIN;
	m.u.hello.max_version = PROTO_VERSION_MAX;
	m.u.hello.program_version = (char *)ARRAYMARK_VERSION;
	m.u.hello.store_epoch = (char *)"";
	if (frame_write_fd(fd, &m, e) || frame_read_fd(fd, LOCAL_ANSWER_MS, &answer, e))
		return -1;
	r = 0;
	if (answer.type == MSG_ERROR)
		r = err_set(e, answer.u.error.code, "%s", answer.u.error.text);
	else if (answer.type != MSG_HELLO_REPLY)
		r = err_set(e, ERR_PROTOCOL, "the daemon answered a hello with %s",
			msg_type_name(answer.type));
	msg_clear(&answer);
	return r;
}

int local_connect(const struct options *o, int *ret_fd, struct err *e)
{
	struct sockaddr_un sa;
	char *path;
	int fd, r = -1;

	if (address(o, &sa, &path, e))
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		err_sys(e, "%s", path);
	} else if (connect(fd, (struct sockaddr *)&sa, sizeof(sa))) {
		if (errno == ENOENT || errno == ECONNREFUSED)
			err_set(e, ERR_CONN, "no daemon listens on %s", path);
		else
			err_sys(e, "can't connect to %s", path);
	} else if (!greet(fd, e)) {
		*ret_fd = fd;
		fd = -1;
		r = 0;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return r;
}

static void give_lines(const char *data, struct buf *rest, void (*line)(void *arg, const char *text),
	void *arg)
{
	const char *nl;

	for (; (nl = strchr(data, '\n')); data = nl + 1) {
		buf_add(rest, data, (size_t)(nl - data));
		line(arg, buf_str(rest));
		buf_reset(rest);
	}
	buf_adds(rest, data);
}

/* Once. */
static int tell_trouble(const struct msg *ping, int told)
{
	const char *trouble = ping->u.ping.trouble;

	if (trouble && *trouble && !told)
		log_warning("store", "%s", trouble);
	return told || (trouble && *trouble);
}

int local_call(int fd, const struct msg_call *call, void (*line)(void *arg, const char *text),
	void *arg, struct err *e)
{
	struct msg m = {.type = MSG_CALL, .request = 1}, answer;
	struct buf rest = {0};
	int64_t until_ns = clock_mono_ns() + LOCAL_ANSWER_MS * NS_PER_MS;
	int r, end = 0, told = 0;

	m.u.call = *call;
	r = frame_write_fd(fd, &m, e);
	while (!r && !end) {
		int64_t left_ms = (until_ns - clock_mono_ns()) / NS_PER_MS;

		r = frame_read_fd(fd, left_ms > 0 ? (int)left_ms : 0, &answer, e);
		if (r)
			break;
		if (answer.type == MSG_PING) { /* it lives; that is no answer */
			told = tell_trouble(&answer, told);
		} else if (answer.type == MSG_CHUNK) {
			until_ns = clock_mono_ns() + LOCAL_ANSWER_MS * NS_PER_MS;
			give_lines(answer.u.chunk.len ? answer.u.chunk.data : "", &rest, line, arg);
			end = answer.u.chunk.end;
		} else if (answer.type == MSG_ERROR) {
			r = err_set(e, answer.u.error.code, "%s", answer.u.error.text);
		}
		msg_clear(&answer);
	}
	buf_free(&rest);
	return r;
}
