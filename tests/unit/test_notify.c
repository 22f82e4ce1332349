/* Words for a service manager: both kinds of addresses, and none. */
#include "tests/unit/test.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/base/notify.h"

/* A manager that listens at the address; name as in NOTIFY_SOCKET. */
static int listen_at(const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));

	memcpy(a.sun_path, name, strlen(name));
	if (*name == '@')
		a.sun_path[0] = '\0';
	assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
	return fd;
}

static void hears_at(const char *name)
{
	int manager = listen_at(name), fd;
	char text[64];

	setenv("NOTIFY_SOCKET", name, 1);
	fd = notify_open();
	assert_true(fd >= 0);
	assert_null(getenv("NOTIFY_SOCKET"));
	notify_say(fd, "READY=1");
	assert_int_equal(recv(manager, text, sizeof(text), 0), 7);
	assert_memory_equal(text, "READY=1", 7);
	close(manager);
	notify_say(fd, "STOPPING=1"); /* nobody is there any more */
	close(fd);
}

static void test_addresses(void **state)
{
	char dir[] = "/tmp/test_notify.XXXXXX", *path;

	(void)state;
	assert_non_null(mkdtemp(dir));
	path = xasprintf("%s/notify", dir);
	hears_at(path);
	unlink(path);
	rmdir(dir);
	*path = '@';
	hears_at(path);
	free(path);
}

static void test_nobody(void **state)
{
	static const char *const wrong[] = {"", "/", "relative", "/nowhere/at/all", "vsock:2:1234"};

	(void)state;
	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(notify_open(), -1);
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		setenv("NOTIFY_SOCKET", wrong[i], 1);
		assert_int_equal(notify_open(), -1);
		assert_null(getenv("NOTIFY_SOCKET"));
	}
	notify_say(-1, "READY=1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
