/* The service manager's socket. Owns nothing. */
#include "common/base/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int notify_open(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	size_t len = path ? strlen(path) : 0;
	int fd = -1;

	if (len > 1 && len < sizeof(a.sun_path) && (*path == '/' || *path == '@')) {
		memcpy(a.sun_path, path, len);
		if (*path == '@')
			a.sun_path[0] = '\0'; /* the abstract namespace */
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	}
	unsetenv("NOTIFY_SOCKET");
	if (fd >= 0 && connect(fd, (struct sockaddr *)&a,
			       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void notify_say(int fd, const char *text)
{
	if (fd >= 0 && send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
		return;
}
