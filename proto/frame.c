/*
 * Whole frames over a plain descriptor, blocking with a deadline, for processes without an event
 * loop. Never reads beyond the frame it returns, so the descriptor can be handed on.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "proto/conn.h"

/* Waits until fd is ready for `events`. deadline_ns < 0: for ever. */
static int wait_ready(int fd, short events, int64_t deadline_ns, struct err *e)
{
	struct pollfd p = {.fd = fd, .events = events};
	int64_t left;
	int rc;

	do {
		left = deadline_ns < 0 ? -1 : deadline_ns - clock_mono_ns();
		if (deadline_ns >= 0 && left < 0)
			left = 0;
		rc = poll(&p, 1, left < 0 ? -1 : (int)((left + NS_PER_MS - 1) / NS_PER_MS));
	} while (rc < 0 && errno == EINTR);
	if (rc < 0)
		return err_sys(e, "waiting for a message");
	if (rc == 0)
		return err_set(e, ERR_TIMEOUT, "no message came in time");
	return 0;
}

static int would_block(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static int read_all(int fd, void *to, size_t len, int64_t deadline_ns, struct err *e)
{
	char *p = to;
	ssize_t n;

	while (len > 0) {
		if (wait_ready(fd, POLLIN, deadline_ns, e) < 0)
			return -1;
		n = read(fd, p, len);
		if (n < 0 && would_block())
			continue;
		if (n == 0 || (n < 0 && errno == ECONNRESET))
			return err_set(e, ERR_CONN, "the other process closed its end");
		if (n < 0)
			return err_sys(e, "reading a message");
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int frame_read_fd(int fd, int timeout_ms, struct msg *ret, struct err *e)
{
	int64_t deadline = timeout_ms < 0 ? -1 : clock_mono_ns() + timeout_ms * NS_PER_MS;
	uint32_t length;
	char *data;
	int rc;

	if (read_all(fd, &length, sizeof(length), deadline, e) < 0)
		return -1;
	length = ntohl(length);
	if (length > MSG_FRAME_MAX)
		return err_set(
			e, ERR_PROTOCOL, "frame: %u bytes are more than %d", length, MSG_FRAME_MAX);
	data = xmalloc(length + 1);
	rc = read_all(fd, data, length, deadline, e);
	if (rc == 0)
		rc = msg_decode(data, length, ret, e);
	free(data);
	return rc;
}

/* As write(2), without SIGPIPE where the descriptor is a socket. */
static ssize_t write_some(int fd, const char *data, size_t len)
{
	ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

	return n < 0 && errno == ENOTSOCK ? write(fd, data, len) : n;
}

int frame_write_fd(int fd, const struct msg *m, struct err *e)
{
	struct buf frame = {0};
	size_t at = 0;
	ssize_t n;
	int rc = msg_encode(m, &frame, e);

	while (rc == 0 && at < frame.len) {
		n = write_some(fd, frame.data + at, frame.len - at);
		if (n >= 0)
			at += (size_t)n;
		else if (would_block())
			rc = wait_ready(fd, POLLOUT, -1, e);
		else if (errno == EPIPE || errno == ECONNRESET)
			rc = err_set(e, ERR_CONN, "the other process closed its end");
		else
			rc = err_sys(e, "writing a message");
	}
	buf_free(&frame);
	return rc;
}
