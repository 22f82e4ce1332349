/* Starting our own programs. Owns nothing; children belong to the caller. */
#include "coordinator/ctl/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/mem.h"

#define LOG_TAIL 4096

int program_find(const char *name, char **ret, struct err *e)
{
	char self[4096], *slash, *path;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return err_sys(e, "cannot find our own program");
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	path = xasprintf("%s/%s", self, name);
	if (access(path, X_OK)) {
		free(path);
		return err_set(e, ERR_NOTFOUND,
			"%s is not in %s: put all three programs into one folder", name, self);
	}
	*ret = path;
	return 0;
}

/* A pipe that holds the whole text; or /dev/null. */
static int input_fd(const char *input, struct err *e)
{
	size_t len = input ? strlen(input) : 0;
	int ends[2];

	if (!input) {
		ends[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		return ends[0] < 0 ? err_sys(e, "/dev/null") : ends[0];
	}
	if (pipe2(ends, O_CLOEXEC))
		return err_sys(e, "pipe");
	if (len > 4096 || write(ends[1], input, len) != (ssize_t)len) {
		close(ends[0]);
		close(ends[1]);
		return err_set(e, ERR_IO, "the input does not fit a pipe");
	}
	close(ends[1]);
	return ends[0];
}

static void __attribute__((noreturn))
child(char **argv, int in, int log, int dies_with_us, pid_t parent)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	setsid();
	if (dies_with_us)
		prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (dies_with_us && getppid() != parent)
		_exit(127);
	if (dup2(in, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
		_exit(127);
	execv(argv[0], argv);
	dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

int program_start(const struct strv *argv, const char *input, const char *log, int dies_with_us,
	pid_t *ret, struct err *e)
{
	pid_t pid, parent = getpid();
	int in = input_fd(input, e), out;

	if (in < 0)
		return -1;
	out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (out < 0) {
		close(in);
		return err_sys(e, "cannot write %s", log);
	}
	pid = fork();
	if (pid == 0)
		child(argv->v, in, out, dies_with_us, parent);
	close(in);
	close(out);
	if (pid < 0)
		return err_sys(e, "cannot start %s", argv->v[0]);
	*ret = pid;
	return 0;
}

int program_gone(pid_t pid, int timeout_ms)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), r;
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (fd < 0)
		return errno == ESRCH;
	do
		r = poll(&p, 1, timeout_ms);
	while (r < 0 && errno == EINTR);
	close(fd);
	return r > 0;
}

int program_ended(pid_t pid, int timeout_ms, int *ret_status)
{
	if (!program_gone(pid, timeout_ms))
		return 0;
	return waitpid(pid, ret_status, WNOHANG) == pid;
}

static void last_line(const char *log, struct buf *out)
{
	int fd = open(log, O_RDONLY | O_CLOEXEC);
	char text[LOG_TAIL + 1], *line;
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	ssize_t n = fd < 0 ? 0 : pread(fd, text, LOG_TAIL, size > LOG_TAIL ? size - LOG_TAIL : 0);

	if (fd >= 0)
		close(fd);
	while (n > 0 && text[n - 1] == '\n')
		n--;
	if (n <= 0)
		return;
	text[n] = '\0';
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	if (line[0] == '<' && line[1] && line[2] == '>')
		line += 3; /* a priority for journald */
	buf_adds(out, line);
}

void program_say_end(const char *name, int status, const char *log, struct err *e)
{
	struct buf said = {0};

	last_line(log, &said);
	if (WIFSIGNALED(status))
		err_set(e, ERR_FAILED, "%s was killed by signal %d (log: %s)", name,
			WTERMSIG(status), log);
	else
		err_set(e, ERR_FAILED, "%s ended with status %d: %s (log: %s)", name,
			WEXITSTATUS(status), said.len ? buf_str(&said) : "it said nothing", log);
	buf_free(&said);
}

int program_run(const struct strv *argv, const char *input, const char *log, struct err *e)
{
	const char *name = strrchr(argv->v[0], '/');
	int status = 0;
	pid_t pid;

	if (program_start(argv, input, log, 1, &pid, e))
		return -1;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_sys(e, "waiting for %s", argv->v[0]);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	program_say_end(name ? name + 1 : argv->v[0], status, log, e);
	return -1;
}
