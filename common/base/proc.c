/*
 * Programs run to their end. Owns, for the time of one call, the child and its pipes.
 * Invariant: a call returns within its deadline and a few seconds, whatever the child, its
 * grandchildren or the storage under them do; no descriptor of ours reaches the child but the one that
 * proc_keep named.
 */
#include "common/base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define DEFAULT_DEADLINE_MS 60000
#define AFTER_END_MS 200   /* reading goes on so long when a grandchild holds the pipes */
#define AFTER_KILL_MS 2000 /* a killed process in uninterruptible sleep is left behind then */
#define POLL_STEP_MS 10    /* without pidfd */

extern char **environ;

static int kept = -1; /* what all programs have; the process' own, as its environment is */

struct child {
	pid_t pid;
	int pidfd;    /* -1: the kernel has none */
	int pipes[2]; /* our ends of stdout and stderr; -1 when at their end */
	int ended, status;
	int64_t give_up_ns; /* reading or waiting stops here */
};

void proc_result_free(struct proc_result *r)
{
	buf_free(&r->out);
	buf_free(&r->err);
	*r = (struct proc_result){0};
}

static int is_own_variable(const char *entry)
{
	return str_starts(entry, "LC_") || str_starts(entry, "LANG=") ||
	       str_starts(entry, "LANGUAGE=") || str_starts(entry, "PATH=");
}

/* Ours, with the language and the search path fixed. The entries are borrowed. */
static char **child_environment(void)
{
	static char language[] = "LC_ALL=C";
	static char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin";
	size_t n = 0;
	char **env;

	while (environ[n])
		n++;
	env = xcalloc(n + 3, sizeof(*env));
	n = 0;
	for (char **from = environ; *from; from++)
		if (!is_own_variable(*from))
			env[n++] = *from;
	env[n++] = language;
	env[n] = path;
	return env;
}

void proc_keep(int fd)
{
	kept = fd;
}

/* Onto its own number dup2 takes close-on-exec away. */
static int set_actions(posix_spawn_file_actions_t *actions, int out, int err)
{
	return posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0) ||
	       posix_spawn_file_actions_adddup2(actions, out, 1) ||
	       posix_spawn_file_actions_adddup2(actions, err, 2) ||
	       (kept >= 0 && posix_spawn_file_actions_adddup2(actions, kept, PROC_KEPT)) ||
	       posix_spawn_file_actions_addclosefrom_np(actions, kept >= 0 ? PROC_KEPT + 1 : PROC_KEPT);
}

static int set_attributes(posix_spawnattr_t *attr)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	return posix_spawnattr_setpgroup(attr, 0) || posix_spawnattr_setsigmask(attr, &none) ||
	       posix_spawnattr_setsigdefault(attr, &all) ||
	       posix_spawnattr_setflags(attr,
		       POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int spawn(const struct strv *argv, int out, int err, pid_t *ret_pid, struct err *e)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	char **env = child_environment();
	int number = 0;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	if (set_actions(&actions, out, err) || set_attributes(&attr))
		number = ENOMEM;
	if (!number)
		number = posix_spawn(ret_pid, argv->v[0], &actions, &attr, argv->v, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	free(env);
	if (!number)
		return 0;
	errno = number;
	return err_sys(e, "cannot start %s", argv->v[0]);
}

/* A pipe whose ends are above 2, so that dup2 onto 1 and 2 cannot meet them. */
static int open_pipe(int ends[2])
{
	int raw[2];

	if (pipe2(raw, O_CLOEXEC))
		return -1;
	for (int i = 0; i < 2; i++) {
		ends[i] = raw[i] > 2 ? raw[i] : fcntl(raw[i], F_DUPFD_CLOEXEC, 3);
		if (ends[i] != raw[i])
			close(raw[i]);
	}
	if (ends[0] >= 0 && ends[1] >= 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0)
		return 0;
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
	return -1;
}

static int start(const struct strv *argv, struct child *c, struct err *e)
{
	int out[2], err[2];
	int status;

	if (argv->n == 0 || argv->v[0][0] != '/')
		return err_set(e, ERR_INPUT, "cannot start '%s': a program needs an absolute path",
			argv->n ? argv->v[0] : "");
	if (open_pipe(out))
		return err_sys(e, "cannot start %s", argv->v[0]);
	if (open_pipe(err)) {
		status = err_sys(e, "cannot start %s", argv->v[0]);
		close(out[0]);
		close(out[1]);
		return status;
	}
	status = spawn(argv, out[1], err[1], &c->pid, e);
	close(out[1]);
	close(err[1]);
	c->pipes[0] = out[0];
	c->pipes[1] = err[0];
	if (status) {
		close(out[0]);
		close(err[0]);
		return -1;
	}
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	return 0;
}

static void keep(struct buf *b, size_t *dropped, const char *data, size_t len)
{
	size_t room = PROC_OUTPUT_CAP - b->len;
	size_t take = len < room ? len : room;

	buf_add(b, data, take);
	*dropped += len - take;
}

/* Takes what is there, at most 1 MiB a call so that the deadline is looked at in between. */
static void drain(int *fd, struct buf *b, size_t *dropped)
{
	char step[16384];

	for (int i = 0; i < 64; i++) {
		ssize_t n = read(*fd, step, sizeof(step));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			close(*fd);
			*fd = -1;
			return;
		}
		keep(b, dropped, step, (size_t)n);
	}
}

static void drain_both(struct child *c, struct proc_result *r)
{
	if (c->pipes[0] >= 0)
		drain(&c->pipes[0], &r->out, &r->out_dropped);
	if (c->pipes[1] >= 0)
		drain(&c->pipes[1], &r->err, &r->err_dropped);
}

static void reap(struct child *c)
{
	pid_t pid;

	if (c->ended)
		return;
	do
		pid = waitpid(c->pid, &c->status, WNOHANG);
	while (pid < 0 && errno == EINTR);
	if (pid == 0)
		return;
	c->ended = pid > 0 ? 1 : -1;
	c->give_up_ns = clock_mono_ns() + AFTER_END_MS * NS_PER_MS;
}

static void wait_for_news(const struct child *c, int64_t until_ns)
{
	struct pollfd fds[3] = {
		{.fd = c->pipes[0], .events = POLLIN},
		{.fd = c->pipes[1], .events = POLLIN},
		{.fd = c->ended ? -1 : c->pidfd, .events = POLLIN},
	};
	int64_t left = (until_ns - clock_mono_ns() + NS_PER_MS - 1) / NS_PER_MS;

	if (left < 0)
		left = 0;
	if (!c->ended && c->pidfd < 0 && left > POLL_STEP_MS)
		left = POLL_STEP_MS;
	poll(fds, ARRAY_LEN(fds), (int)left);
}

/* Reads until the child has ended and its pipes are at their end, or have been quiet for too
 * long after that; kills it and all it started at the deadline. */
static void follow(struct child *c, int64_t deadline_ns, struct proc_result *r)
{
	c->give_up_ns = deadline_ns;
	for (;;) {
		drain_both(c, r);
		reap(c);
		if (c->ended && c->pipes[0] < 0 && c->pipes[1] < 0)
			return;
		if (clock_mono_ns() >= c->give_up_ns) {
			if (c->ended || r->timed_out)
				return;
			r->timed_out = 1;
			proc_kill_tree(c->pid);
			kill(-c->pid, SIGKILL);
			c->give_up_ns = clock_mono_ns() + AFTER_KILL_MS * NS_PER_MS;
		}
		wait_for_news(c, c->give_up_ns);
	}
}

static void finish(struct child *c, struct proc_result *r)
{
	for (int i = 0; i < 2; i++)
		if (c->pipes[i] >= 0)
			close(c->pipes[i]);
	if (c->pidfd >= 0)
		close(c->pidfd);
	if (c->ended > 0 && WIFEXITED(c->status)) {
		r->exited = 1;
		r->exit_status = WEXITSTATUS(c->status);
	} else {
		r->signal = c->ended > 0 ? WTERMSIG(c->status) : SIGKILL;
	}
}

int proc_run(const struct strv *argv, unsigned deadline_ms, struct proc_result *ret, struct err *e)
{
	int64_t started = clock_mono_ns();
	struct proc_result r = {0};
	struct child c = {0};

	if (start(argv, &c, e))
		return -1;
	follow(&c, started + (deadline_ms ? deadline_ms : DEFAULT_DEADLINE_MS) * NS_PER_MS, &r);
	finish(&c, &r);
	r.elapsed_ns = clock_mono_ns() - started;
	if (c.ended < 0) {
		proc_result_free(&r);
		return err_set(
			e, ERR_IO, "%s: its end was taken by someone else (waitpid)", argv->v[0]);
	}
	*ret = r;
	return 0;
}

/* The vector for a message: its first words, cut. */
static void quote_short(const struct strv *argv, struct buf *out)
{
	struct strv head = {.v = argv->v, .n = argv->n < 6 ? argv->n : 6};
	size_t cut = 160;

	strv_quote(&head, out);
	if (out->len <= cut && head.n == argv->n)
		return;
	if (out->len > cut) {
		while (cut > 0 && (out->data[cut] & 0xc0) == 0x80)
			cut--;
		out->len = cut;
		out->data[cut] = '\0';
	}
	buf_adds(out, " …");
}

/* Where a usage text begins: what is wrong stands before it. 0 when there is none. */
static size_t usage_offset(const char *text)
{
	const char *at = strcasestr(text, "\nusage:");

	return at ? (size_t)(at - text) : 0;
}

/* What mount says after the reason. */
static size_t hint_offset(const char *text)
{
	const char *at = strstr(text, "dmesg(1) may have more information");

	while (at && at > text && at[-1] != '\n')
		at--;
	return at ? (size_t)(at - text) : 0;
}

/* The last line that is not blank, no usage text and no hint, without its newline. */
static const char *last_line(const struct buf *b, size_t *ret_len)
{
	const char *text = buf_str(b);
	size_t end = usage_offset(text), start;

	if (!end)
		end = hint_offset(text);
	if (!end)
		end = b->len;
	while (end > 0 && strchr(" \t\r\n", text[end - 1]))
		end--;
	for (start = end; start > 0 && text[start - 1] != '\n';)
		start--;
	*ret_len = end - start;
	return text + start;
}

int proc_check(const struct strv *argv, const struct proc_result *r, struct err *e)
{
	struct buf command = {0};
	size_t len;
	const char *line = last_line(&r->err, &len);
	const char *colon = len ? ": " : "";
	int shown = len < 400 ? (int)len : 400;
	char time[UNITS_LEN];

	if (r->exited && r->exit_status == 0 && !r->timed_out)
		return 0;
	quote_short(argv, &command);
	if (r->timed_out)
		err_set(e, ERR_TIMEOUT,
			"`%s` did not end within its deadline and was killed after %s%s%.*s",
			command.data, units_duration(r->elapsed_ns, time), colon, shown, line);
	else if (r->exited)
		err_set(e, ERR_FAILED, "`%s` ended with status %d%s%.*s", command.data,
			r->exit_status, colon, shown, line);
	else
		err_set(e, ERR_FAILED, "`%s` was killed by signal %d (%s)%s%.*s", command.data,
			r->signal, sigdescr_np(r->signal) ? sigdescr_np(r->signal) : "unknown",
			colon, shown, line);
	buf_free(&command);
	return -1;
}

int proc_run_ok(const struct strv *argv, unsigned deadline_ms, struct buf *out, struct err *e)
{
	struct proc_result r;
	int status;

	if (proc_run(argv, deadline_ms, &r, e))
		return -1;
	status = proc_check(argv, &r, e);
	if (!status && out)
		buf_add(out, buf_str(&r.out), r.out.len);
	proc_result_free(&r);
	return status;
}

int proc_start_time(pid_t pid, uint64_t *ret_ticks, struct err *e)
{
	struct buf text = {0};
	char path[64];
	const char *p;
	int status = -1;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	if (fs_read_file(path, 4096, &text, e))
		return -1;
	/* The command's name stands in parentheses and may hold any: fields count from the last. */
	p = strrchr(text.data ? text.data : "", ')');
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	if (p && sscanf(p, " %" SCNu64, ret_ticks) == 1)
		status = 0;
	else
		err_set(e, ERR_IO, "cannot read the start time of process %ld from %s", (long)pid,
			path);
	buf_free(&text);
	return status;
}

/* The number behind the key, which begins a line. */
static int io_count(const char *text, const char *key, uint64_t *ret)
{
	const char *at = strstr(text, key);

	while (at && at != text && at[-1] != '\n')
		at = strstr(at + 1, key);
	return at && sscanf(at + strlen(key), " %" SCNu64, ret) == 1 ? 0 : -1;
}

int proc_io(pid_t pid, struct proc_io *ret)
{
	struct buf text = {0};
	struct err ignored;
	char path[64];
	int status;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%ld/io", (long)pid);
	else
		snprintf(path, sizeof(path), "/proc/self/io");
	status = fs_read_file(path, 4096, &text, &ignored) ||
		 io_count(buf_str(&text), "read_bytes:", &ret->storage_read) ||
		 io_count(buf_str(&text), "write_bytes:", &ret->storage_written) ||
		 io_count(buf_str(&text), "rchar:", &ret->all_read) ||
		 io_count(buf_str(&text), "wchar:", &ret->all_written);
	buf_free(&text);
	return status ? -1 : 0;
}
