/*
 * Progress by /proc. Owns the thread and its eventfd.
 * A child's /proc number is found through /proc itself, never by fork's: /proc may be that of another
 * PID namespace.
 */
#include "agent/workload/pg_progress.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define LOOK_MIN_NS (50 * NS_PER_MS)
#define DEPTH_MAX 3

static void look(struct pg_progress *p)
{
	uint64_t now = p->moved(p->arg);

	if (p->limit && now > p->limit)
		now = p->limit;
	if (now <= p->counted)
		return;
	meter_moved(p->lane, now - p->counted);
	p->counted = now;
}

static void *watch(void *arg)
{
	struct pg_progress *p = arg;
	struct pollfd end = {.fd = p->wake_fd, .events = POLLIN};

	while (poll(&end, 1, (int)(p->interval_ns / NS_PER_MS)) <= 0)
		look(p);
	return NULL;
}

int pg_progress_start(struct pg_progress *p, struct err *e)
{
	int rc;

	p->interval_ns /= 2;
	if (p->interval_ns < LOOK_MIN_NS)
		p->interval_ns = LOOK_MIN_NS;
	p->wake_fd = eventfd(0, EFD_CLOEXEC);
	if (p->wake_fd < 0)
		return err_sys(e, "cannot make an eventfd");
	rc = pthread_create(&p->thread, NULL, watch, p);
	if (rc) {
		close(p->wake_fd);
		return err_set(e, ERR_FULL, "cannot start a thread: %s", strerror(rc));
	}
	p->started = 1;
	return 0;
}

void pg_progress_end(struct pg_progress *p, uint64_t total)
{
	uint64_t one = 1;

	if (!p->started)
		return;
	while (write(p->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(p->thread, NULL);
	close(p->wake_fd);
	p->started = 0;
	if (total > p->counted)
		meter_moved(p->lane, total - p->counted);
}

/* A small file of /proc into out; 0 when it is there. */
static int read_proc(const char *path, struct buf *out)
{
	struct err ignored;

	buf_reset(out);
	return fs_read_file(path, 65536, out, &ignored);
}

static uint64_t moved_by(const char *dir, int write)
{
	const char *key = write ? "wchar: " : "rchar: ", *at;
	char *path = xasprintf("%s/io", dir);
	struct buf text = {0};
	uint64_t n = 0;

	if (!read_proc(path, &text) && (at = strstr(buf_str(&text), key)))
		n = strtoull(at + strlen(key), NULL, 10);
	buf_free(&text);
	free(path);
	return n;
}

static int is_called(const char *dir, const char *program)
{
	char *path = xasprintf("%s/comm", dir);
	struct buf text = {0};
	size_t len = strlen(program);
	int same = !read_proc(path, &text) && !strncmp(buf_str(&text), program, len) &&
		   strcspn(text.data, "\n") == len;

	buf_free(&text);
	free(path);
	return same;
}

/* Over all children of a process, of whichever thread. */
static uint64_t sum_children(const char *dir, const char *program, int write, int depth)
{
	char *tasks = xasprintf("%s/task", dir);
	DIR *d = depth < DEPTH_MAX ? opendir(tasks) : NULL;
	struct buf text = {0};
	struct dirent *task;
	uint64_t sum = 0;

	while (d && (task = readdir(d))) {
		char *path, *rest = NULL;

		if (task->d_name[0] == '.')
			continue;
		path = xasprintf("%s/%s/children", tasks, task->d_name);
		if (!read_proc(path, &text) && text.data)
			for (char *pid = strtok_r(text.data, " \n", &rest); pid;
				pid = strtok_r(NULL, " \n", &rest)) {
				char *child = xasprintf("/proc/%s", pid);

				if (is_called(child, program))
					sum += moved_by(child, write) +
					       sum_children(child, program, write, depth + 1);
				free(child);
			}
		free(path);
	}
	if (d)
		closedir(d);
	buf_free(&text);
	free(tasks);
	return sum;
}

/* The process's account holds its threads and the children that it waited for. */
uint64_t pg_ended_moved(int write)
{
	uint64_t whole = moved_by("/proc/self", write), threads = 0;
	DIR *d = opendir("/proc/self/task");
	struct dirent *task;

	while (d && (task = readdir(d))) {
		char *dir = xasprintf("/proc/self/task/%s", task->d_name);

		if (task->d_name[0] != '.')
			threads += moved_by(dir, write);
		free(dir);
	}
	if (d)
		closedir(d);
	return whole > threads ? whole - threads : 0;
}

uint64_t pg_children_moved(const char *program, int write)
{
	return sum_children("/proc/self", program, write, 0);
}
