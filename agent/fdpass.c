/* Sending and taking descriptors. Owns what it took until it hands it over. */
#include "agent/fdpass.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr align;
	char room[CMSG_SPACE(FDPASS_MAX * sizeof(int))];
};

int fds_send(int to, const int *fds, size_t n, struct err *e)
{
	union control control = {0};
	char byte = 0;
	struct iovec one = {.iov_base = &byte, .iov_len = 1};
	struct msghdr m = {.msg_iov = &one, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = CMSG_SPACE(n * sizeof(int))};
	struct cmsghdr *c;

	if (n == 0 || n > FDPASS_MAX)
		return err_set(e, ERR_INPUT, "%zu descriptors cannot be passed on", n);
	c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	while (sendmsg(to, &m, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return err_sys(e, "cannot pass %zu descriptors on", n);
	return 0;
}

static void close_all(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
}

int fds_receive(int from, int *fds, size_t n, struct err *e)
{
	union control control = {0};
	char byte;
	struct iovec one = {.iov_base = &byte, .iov_len = 1};
	struct msghdr m = {.msg_iov = &one, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control.room)};
	int got[FDPASS_MAX];
	size_t n_got = 0;
	ssize_t len;

	while ((len = recvmsg(from, &m, MSG_CMSG_CLOEXEC)) < 0)
		if (errno != EINTR)
			return err_sys(e, "cannot take %zu descriptors", n);
	for (struct cmsghdr *c = len > 0 ? CMSG_FIRSTHDR(&m) : NULL; c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n_got = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(got, CMSG_DATA(c), n_got * sizeof(int));
		break;
	}
	if (n_got != n || (m.msg_flags & MSG_CTRUNC)) {
		close_all(got, n_got);
		return err_set(e, ERR_PROTOCOL, "%zu descriptors came where %zu were due", n_got, n);
	}
	memcpy(fds, got, n * sizeof(int));
	return 0;
}
