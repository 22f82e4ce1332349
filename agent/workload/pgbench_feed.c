/*
 * The feed. Owns the FIFOs, their descriptors and the thread that reads them.
 * Invariant: we hold the FIFOs open for reading and writing before pgbench begins, so that it neither
 * waits for a reader nor loses one.
 */
#include "agent/workload/pgbench_feed.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/base/units.h"

#define PIPE_BYTES (1 << 20) /* pgbench is never held up by a reader that is late */
#define LINE_MAX_BYTES 512

int pgbench_line(const char *line, int64_t *ret_ns, int *ret_failed)
{
	unsigned long long client, number, us;
	char word[32];

	*ret_failed = 0;
	if (sscanf(line, "%llu %llu %31s", &client, &number, word) != 3)
		return -1;
	if (sscanf(word, "%llu", &us) == 1) {
		if (us > INT64_MAX / 1000)
			return -1;
		*ret_ns = (int64_t)us * 1000;
		return 1;
	}
	if (!strcmp(word, "skipped"))
		return 0;
	*ret_failed = !strcmp(word, "failed") || !strcmp(word, "serialization") ||
		      !strcmp(word, "deadlock");
	return *ret_failed ? 0 : -1;
}

static void take_line(struct pgbench_feed *f, const char *line)
{
	int64_t ns = 0;
	int failed;

	switch (pgbench_line(line, &ns, &failed)) {
	case 1:
		f->counted++;
		meter_count(f->lane, ns, 0);
		break;
	case 0:
		if (failed) {
			f->failed++;
			meter_error(f->lane);
		} else {
			f->skipped++;
		}
		break;
	default:
		f->odd++;
	}
}

static void take_lines(struct pgbench_feed *f, struct buf *b)
{
	char *from = b->data, *end;

	while ((end = memchr(from, '\n', b->len - (size_t)(from - b->data)))) {
		*end = '\0';
		take_line(f, from);
		from = end + 1;
	}
	b->len -= (size_t)(from - b->data);
	if (b->len > LINE_MAX_BYTES) { /* no line is that long */
		f->odd++;
		b->len = 0;
	}
	memmove(b->data, from, b->len);
	b->data[b->len] = '\0';
}

/* What is there; 1 when there was something. */
static int take(struct pgbench_feed *f, unsigned i)
{
	char step[16384];
	ssize_t n = read(f->fds[i], step, sizeof(step));

	if (n <= 0)
		return 0;
	buf_add(&f->rest[i], step, (size_t)n);
	take_lines(f, &f->rest[i]);
	return 1;
}

static void *read_all(void *arg)
{
	struct pgbench_feed *f = arg;
	struct pollfd *p = xcalloc(f->n + 1, sizeof(*p));
	int some = 0;

	for (unsigned i = 0; i < f->n; i++)
		p[i] = (struct pollfd){.fd = f->fds[i], .events = POLLIN};
	p[f->n] = (struct pollfd){.fd = f->wake_fd, .events = POLLIN};
	while (!p[f->n].revents || some) { /* told to end, it takes what is left */
		poll(p, f->n + 1, -1);
		some = 0;
		for (unsigned i = 0; i < f->n; i++)
			some |= take(f, i);
	}
	free(p);
	return NULL;
}

static int open_one(struct pgbench_feed *f, unsigned i, pid_t pid, struct err *e)
{
	f->paths[i] = i ? xasprintf("%s.%d.%u", f->prefix, (int)pid, i)
			: xasprintf("%s.%d", f->prefix, (int)pid);
	unlink(f->paths[i]);
	if (mkfifo(f->paths[i], 0600))
		return err_sys(e, "cannot make the FIFO %s for pgbench's log", f->paths[i]);
	f->fds[i] = open(f->paths[i], O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (f->fds[i] < 0)
		return err_sys(e, "cannot open the FIFO %s", f->paths[i]);
	if (fcntl(f->fds[i], F_SETPIPE_SZ, PIPE_BYTES) < 0)
		fcntl(f->fds[i], F_SETPIPE_SZ, PIPE_BYTES / 4); /* the user's limit */
	return 0;
}

int pgbench_feed_open(struct pgbench_feed *f, const char *folder, pid_t pid, unsigned threads,
	struct meter_lane *lane, struct err *e)
{
	f->lane = lane;
	f->n = threads;
	f->prefix = xasprintf("%s/transactions", folder);
	f->fds = xcalloc(threads, sizeof(*f->fds));
	f->rest = xcalloc(threads, sizeof(*f->rest));
	f->paths = xcalloc(threads, sizeof(*f->paths));
	for (unsigned i = 0; i < threads; i++)
		f->fds[i] = -1;
	for (unsigned i = 0; i < threads; i++)
		if (open_one(f, i, pid, e))
			return -1;
	return 0;
}

int pgbench_feed_start(struct pgbench_feed *f, struct err *e)
{
	int rc;

	f->wake_fd = eventfd(0, EFD_CLOEXEC);
	if (f->wake_fd < 0)
		return err_sys(e, "cannot make an eventfd");
	rc = pthread_create(&f->thread, NULL, read_all, f);
	if (rc)
		return err_set(e, ERR_FULL, "cannot start a thread: %s", strerror(rc));
	f->started = 1;
	return 0;
}

void pgbench_feed_end(struct pgbench_feed *f)
{
	uint64_t one = 1;

	if (!f->started)
		return;
	while (write(f->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(f->thread, NULL);
	f->started = 0;
}

void pgbench_feed_close(struct pgbench_feed *f)
{
	pgbench_feed_end(f);
	if (f->wake_fd >= 0)
		close(f->wake_fd);
	for (unsigned i = 0; i < f->n; i++) {
		if (f->fds[i] >= 0)
			close(f->fds[i]);
		if (f->paths[i])
			unlink(f->paths[i]);
		buf_free(&f->rest[i]);
		free(f->paths[i]);
	}
	free(f->fds);
	free(f->rest);
	free(f->paths);
	free(f->prefix);
	*f = (struct pgbench_feed){.wake_fd = -1};
}
