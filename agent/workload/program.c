/*
 * Running one program. Owns, for the time of a call, the child and its pipes.
 * Invariant: between fork and exec the child only makes system calls: other threads may hold locks.
 */
#include "agent/workload/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/base/proc.h"
#include "common/base/units.h"

#define AFTER_END_NS (200 * NS_PER_MS) /* reading goes on so long when a grandchild holds the pipes */
#define PATH_OF_PROGRAMS "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

struct child {
	pid_t pid;
	int pidfd;
	int out, err, failed; /* our ends; failed: errno of a child that could not start */
	int ended, status;
};

void program_end_clear(struct program_end *r)
{
	buf_free(&r->out);
	buf_free(&r->err);
	*r = (struct program_end){0};
}

static int make_pipes(int ends[3][2], struct err *e)
{
	for (int i = 0; i < 3; i++) {
		ends[i][0] = ends[i][1] = -1;
		if (pipe2(ends[i], O_CLOEXEC) < 0) {
			while (i-- > 0) {
				close(ends[i][0]);
				close(ends[i][1]);
			}
			return err_sys(e, "cannot make a pipe");
		}
	}
	return 0;
}

static _Noreturn void child_main(const struct program *p, int in, int out, int err, int failed,
	pid_t parent, char *const *env)
{
	struct sigaction dfl = {.sa_handler = SIG_DFL};
	sigset_t none;
	int number;

	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &dfl, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpgid(0, 0);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent || fchdir(p->dir) ||
		dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		goto fail;
	syscall(SYS_close_range, 3, failed - 1, 0);
	syscall(SYS_close_range, failed + 1, ~0U, 0);
	execve(p->argv->v[0], p->argv->v, env);
fail:
	number = errno;
	if (write(failed, &number, sizeof(number)) != sizeof(number))
		_exit(126);
	_exit(127);
}

static void close_all(int fds[3])
{
	for (int i = 0; i < 3; i++)
		close(fds[i]);
}

static int start(const struct program *p, struct child *c, struct err *e)
{
	char *home = xasprintf("HOME=%s", p->home), *tmp = xasprintf("TMPDIR=%s", p->home);
	char *env[] = {(char *)"LC_ALL=C", (char *)"PATH=" PATH_OF_PROGRAMS, home, tmp, NULL};
	int ends[3][2], null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int theirs[3], ours[3], in = p->in_fd >= 0 ? p->in_fd : null;
	pid_t self = getpid();

	if (null < 0 || make_pipes(ends, e)) {
		if (null < 0)
			err_sys(e, "cannot open /dev/null");
		else
			close(null);
		free(home);
		free(tmp);
		return -1;
	}
	for (int i = 0; i < 3; i++) {
		ours[i] = ends[i][0];
		theirs[i] = ends[i][1];
	}
	c->pid = fork();
	if (c->pid == 0)
		child_main(p, in, theirs[0], theirs[1], theirs[2], self, env);
	close_all(theirs);
	close(null);
	free(home);
	free(tmp);
	if (c->pid < 0) {
		err_sys(e, "cannot start %s", p->argv->v[0]);
		close_all(ours);
		return -1;
	}
	c->out = ours[0];
	c->err = ours[1];
	c->failed = ours[2];
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	return 0;
}

/* Keeps the end of what comes. */
static void keep(struct buf *b, size_t *dropped, const char *data, size_t len)
{
	buf_add(b, data, len);
	if (b->len < 2 * PROGRAM_KEEP)
		return;
	*dropped += b->len - PROGRAM_KEEP;
	memmove(b->data, b->data + b->len - PROGRAM_KEEP, PROGRAM_KEEP);
	b->len = PROGRAM_KEEP;
	b->data[b->len] = '\0';
}

static void cut(struct buf *b, size_t *dropped)
{
	if (b->len <= PROGRAM_KEEP)
		return;
	*dropped += b->len - PROGRAM_KEEP;
	memmove(b->data, b->data + b->len - PROGRAM_KEEP, PROGRAM_KEEP);
	b->len = PROGRAM_KEEP;
	b->data[b->len] = '\0';
}

static void take(const struct program *p, int *fd, struct buf *b, size_t *dropped)
{
	char step[32768];
	ssize_t n = read(*fd, step, sizeof(step));

	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0) {
		close(*fd);
		*fd = -1;
	} else if (dropped) {
		keep(b, dropped, step, (size_t)n);
	} else {
		p->on_out(p->arg, step, (size_t)n);
	}
}

static void reap(struct child *c)
{
	pid_t pid;

	do
		pid = waitpid(c->pid, &c->status, WNOHANG);
	while (pid < 0 && errno == EINTR);
	if (pid)
		c->ended = 1;
}

/* Until it has ended and its pipes are at their end, or quiet for a while after it. */
static void follow(const struct program *p, struct child *c, int64_t start_ns, struct program_end *r)
{
	int64_t limit = p->timeout_ns ? start_ns + p->timeout_ns : INT64_MAX;

	while (!c->ended || c->out >= 0 || c->err >= 0) {
		struct pollfd fds[3] = {{.fd = c->out, .events = POLLIN}, {.fd = c->err, .events = POLLIN},
			{.fd = c->ended ? -1 : c->pidfd, .events = POLLIN}};
		int64_t left = limit == INT64_MAX ? 1000 : (limit - clock_mono_ns()) / NS_PER_MS + 1;

		if (c->pidfd < 0 && left > 10)
			left = 10;
		if (clock_mono_ns() >= limit && (c->ended || r->timed_out))
			break;
		if (clock_mono_ns() >= limit) {
			r->timed_out = 1;
			proc_kill_tree(c->pid);
			kill(-c->pid, SIGKILL);
			limit = INT64_MAX;
		}
		poll(fds, 3, left < 0 ? 0 : left > 1000 ? 1000 : (int)left);
		if (fds[0].revents)
			take(p, &c->out, &r->out, p->on_out ? NULL : &r->out_dropped);
		if (fds[1].revents)
			take(p, &c->err, &r->err, &r->err_dropped);
		if (c->ended)
			continue;
		reap(c);
		if (c->ended) {
			r->elapsed_ns = clock_mono_ns() - start_ns;
			limit = clock_mono_ns() + AFTER_END_NS;
		}
	}
}

static int start_failed(const struct program *p, const struct child *c, struct err *e)
{
	int number;

	if (read(c->failed, &number, sizeof(number)) != sizeof(number))
		return 0;
	errno = number;
	err_sys(e, "cannot start %s", p->argv->v[0]);
	return 1;
}

int program_run(const struct program *p, struct program_end *ret, struct err *e)
{
	struct program_end r = {0};
	struct child c = {0};
	int64_t start_ns = clock_mono_ns();
	struct proc_io before, after;
	int failed, is_told = proc_io(0, &before) == 0;

	if (start(p, &c, e) < 0)
		return -1;
	failed = start_failed(p, &c, e); /* waits for its exec */
	close(c.failed);
	follow(p, &c, start_ns, &r);
	is_told = is_told && proc_io(0, &after) == 0;
	r.file_bytes_written =
		is_told ? (int64_t)(after.storage_written - before.storage_written) : -1;
	for (int i = 0; i < 3; i++) {
		int fd = i == 0 ? c.out : i == 1 ? c.err : c.pidfd;

		if (fd >= 0)
			close(fd);
	}
	cut(&r.out, &r.out_dropped);
	cut(&r.err, &r.err_dropped);
	if (failed) {
		program_end_clear(&r);
		return -1;
	}
	r.exited = WIFEXITED(c.status);
	r.exit_status = r.exited ? WEXITSTATUS(c.status) : 0;
	r.signal = r.exited ? 0 : WTERMSIG(c.status);
	*ret = r;
	return 0;
}

/* The last line that is not blank. */
static const char *last_line(const struct buf *b, int *ret_len)
{
	const char *text = buf_str(b);
	size_t end = b->len, from;

	while (end > 0 && strchr(" \t\r\n", text[end - 1]))
		end--;
	for (from = end; from > 0 && text[from - 1] != '\n';)
		from--;
	*ret_len = end - from > 400 ? 400 : (int)(end - from);
	return text + from;
}

/* Errors of storage that programs print, whatever they print behind them. */
static const struct {
	const char *text;
	enum err_code code;
} storage_errors[] = {{"No space left on device", ERR_FULL}, {"Disk quota exceeded", ERR_FULL},
	{"Input/output error", ERR_IO}, {"Read-only file system", ERR_IO}};

/* The line of stderr that says such an error, cut as last_line; NULL: none does, and *ret_code stays. */
static const char *storage_line(const struct buf *b, int *ret_len, enum err_code *ret_code)
{
	const char *text = buf_str(b), *at = NULL, *from;
	size_t len;

	for (size_t i = 0; !at && i < ARRAY_LEN(storage_errors); i++)
		if ((at = strstr(text, storage_errors[i].text)))
			*ret_code = storage_errors[i].code;
	if (!at)
		return NULL;
	for (from = at; from > text && from[-1] != '\n';)
		from--;
	len = strcspn(from, "\r\n");
	*ret_len = len > 400 ? 400 : (int)len;
	return from;
}

int program_check(const struct program *p, const struct program_end *r, struct err *e)
{
	const char *name = p->argv->v[0], *line, *colon;
	enum err_code code = ERR_FAILED;
	char time[UNITS_LEN];
	int len;

	if (r->exited && r->exit_status == 0 && !r->timed_out)
		return 0;
	line = storage_line(&r->err, &len, &code);
	if (!line)
		line = last_line(&r->err, &len);
	if (len == 0)
		line = last_line(&r->out, &len);
	colon = len ? ": " : "";
	if (r->timed_out)
		return err_set(e, ERR_TIMEOUT, "%s took longer than its timeout of %s and was killed%s%.*s",
			name, units_duration(p->timeout_ns, time), colon, len, line);
	if (r->exited)
		return err_set(e, code, "%s ended with status %d%s%.*s", name, r->exit_status,
			colon, len, line);
	return err_set(e, ERR_FAILED, "%s was killed by signal %d (%s)%s%.*s", name, r->signal,
		sigdescr_np(r->signal) ? sigdescr_np(r->signal) : "unknown", colon, len, line);
}

int program_open_folder(const struct msg_worker_spec *spec, int *ret_fd, struct err *e)
{
	int fd = open(spec->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (fd < 0)
		return err_sys(e, "cannot open the volume's directory %s", spec->directory);
	if (fstat(fd, &st) < 0)
		err_sys(e, "cannot look at the volume's directory %s", spec->directory);
	else if (st.st_dev != spec->dev)
		err_set(e, ERR_WRONG_STATE,
			"%s lies on another device than the volume that was built: it is not mounted "
			"any more",
			spec->directory);
	else {
		*ret_fd = fd;
		return 0;
	}
	close(fd);
	return -1;
}
