/*
 * Children and their logs. Owns, for each log, a pipe and the thread that empties it.
 * Invariant: a log's thread never waits for anything but its pipe, so no program is held up by it.
 */
#include "agent/workload/pg_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/base/units.h"

#define HEAD_MAX (8 * 1024)
#define TAIL_MAX (24 * 1024)
#define LOOK_MS 50
#define END_LOOKS 10 /* of LOOK_MS */
#define STEP_MS 5    /* without pidfd */

struct pg_log {
	pthread_mutex_t lock; /* guards head, tail, cut */
	struct buf head, tail, whole;
	size_t cut; /* bytes between head and tail that are gone */
	struct last_words *words; /* or NULL */
	int fd;
	atomic_int stop;
	int ended; /* the thread was joined */
	pthread_t thread;
};

/* Appends what is kept. */
static void render(const struct pg_log *l, struct buf *out)
{
	buf_adds(out, buf_str(&l->head));
	if (l->cut)
		buf_addf(out, "\n… %zu bytes left out …\n", l->cut);
	buf_adds(out, buf_str(&l->tail));
}

static void leave(struct pg_log *l)
{
	struct buf text = {0};

	if (!l->words)
		return;
	render(l, &text);
	last_words_put(l->words, buf_str(&text), text.len);
	buf_free(&text);
}

static void keep(struct pg_log *l, const char *data, size_t len)
{
	size_t room = HEAD_MAX - l->head.len, take = len < room ? len : room;

	buf_add(&l->head, data, take);
	buf_add(&l->tail, data + take, len - take);
	if (l->tail.len > 2 * TAIL_MAX) {
		size_t drop = l->tail.len - TAIL_MAX;

		memmove(l->tail.data, l->tail.data + drop, TAIL_MAX + 1);
		l->tail.len = TAIL_MAX;
		l->cut += drop;
	}
}

static void *empty_pipe(void *arg)
{
	struct pg_log *l = arg;
	unsigned looks = 0;
	char step[8192];

	for (;;) {
		struct pollfd p = {.fd = l->fd, .events = POLLIN};
		ssize_t n;

		if (poll(&p, 1, LOOK_MS) <= 0) {
			if (atomic_load(&l->stop) && ++looks >= END_LOOKS)
				return NULL;
			continue;
		}
		n = read(l->fd, step, sizeof(step));
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return NULL;
		pthread_mutex_lock(&l->lock);
		keep(l, step, (size_t)n);
		leave(l);
		pthread_mutex_unlock(&l->lock);
	}
}

int pg_log_open(struct last_words *words, struct pg_log **ret, int *ret_fd, struct err *e)
{
	struct pg_log *l;
	int ends[2], rc;

	if (pipe2(ends, O_CLOEXEC))
		return err_sys(e, "cannot make a pipe");
	l = xcalloc(1, sizeof(*l));
	pthread_mutex_init(&l->lock, NULL);
	l->fd = ends[0];
	l->words = words;
	rc = pthread_create(&l->thread, NULL, empty_pipe, l);
	if (rc) {
		close(ends[0]);
		close(ends[1]);
		pthread_mutex_destroy(&l->lock);
		free(l);
		return err_set(e, ERR_FULL, "cannot start a thread: %s", strerror(rc));
	}
	*ret = l;
	*ret_fd = ends[1];
	return 0;
}

void pg_log_peek(struct pg_log *l, struct buf *out)
{
	pthread_mutex_lock(&l->lock);
	render(l, out);
	pthread_mutex_unlock(&l->lock);
}

const char *pg_log_end(struct pg_log *l)
{
	if (!l->ended) {
		atomic_store(&l->stop, 1);
		pthread_join(l->thread, NULL);
		l->ended = 1;
		pg_log_peek(l, &l->whole);
	}
	return buf_str(&l->whole);
}

void pg_log_free(struct pg_log *l)
{
	if (!l)
		return;
	pg_log_end(l);
	close(l->fd);
	pthread_mutex_destroy(&l->lock);
	buf_free(&l->head);
	buf_free(&l->tail);
	buf_free(&l->whole);
	free(l);
}

/* Between fork and exec: system calls alone. */
static _Noreturn void child_main(char *const *argv, int out, int gate)
{
	struct sigaction dfl = {.sa_handler = SIG_DFL};
	sigset_t none;
	char go;
	int null = open("/dev/null", O_RDONLY);

	sigemptyset(&none);
	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &dfl, NULL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (gate >= 0 && read(gate, &go, 1) != 1)
		_exit(126);
	if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		_exit(126);
	if (syscall(SYS_close_range, 3, ~0U, 0))
		for (int fd = 3; fd < 4096; fd++)
			close(fd);
	execv(argv[0], argv);
	_exit(127);
}

int pg_spawn(const struct strv *argv, int out, int gate, pid_t *ret, struct err *e)
{
	pid_t pid = fork();

	if (pid == 0)
		child_main(argv->v, out, gate);
	if (pid < 0)
		return err_sys(e, "cannot start %s", argv->v[0]);
	*ret = pid;
	return 0;
}

/* /proc may be that of another PID namespace: there we have another number. */
char *pg_fd_path(int fd, struct err *e)
{
	char number[32];
	ssize_t n = readlink("/proc/self", number, sizeof(number) - 1);

	if (n < 0) {
		err_sys(e, "cannot read /proc/self");
		return NULL;
	}
	number[n] = '\0';
	return xasprintf("/proc/%s/fd/%d", number, fd);
}

int pg_wait(pid_t pid, int ms, int *ret_status)
{
	int64_t until = clock_mono_ns() + ms * NS_PER_MS;
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	int ended = 0;

	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int64_t left = (until - clock_mono_ns()) / NS_PER_MS;
		pid_t got = waitpid(pid, ret_status, WNOHANG);

		if (got == pid || (got < 0 && errno != EINTR)) {
			ended = 1;
			if (got < 0)
				*ret_status = 0;
			break;
		}
		if (left <= 0)
			break;
		poll(&p, fd >= 0, fd >= 0 || left < STEP_MS ? (int)left : STEP_MS);
	}
	if (fd >= 0)
		close(fd);
	return ended;
}
