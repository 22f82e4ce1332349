/*
 * Watching a trial's worker: it must make progress, and end before the plan's trial-deadline.
 * Owns the trial's timer and its own view of the disks' counters.
 *
 * Progress is whatever the worker counted, the volume's disks moved, or its programs moved to and
 * from storage: a sync counts nothing for long, and so does a file system that is at work on its own.
 * While it prepares, nothing is counted yet and its inputs lie elsewhere: then what it reads and
 * writes counts, too. What a program prints does not. Waiting for the coordinator is none of the
 * worker's. Invariant: the timer is pending only while a worker prepares, waits or runs.
 */
#include "agent/job_internal.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/proc.h"
#include "common/base/units.h"

#define LOOK_MAX_NS (10 * NS_PER_S)
#define LOOK_MIN_NS (100 * NS_PER_MS)
#define PROCESSES_MAX 4096 /* descendants of a worker that are looked at */
#define PROC_MAX 65536 /* bytes that a file of /proc may have */
#define LOOKS 8 /* within the time that nothing may happen in */

/* What the disks moved; 0 without counters. */
static uint64_t disk_moves(const struct trial_watch *w)
{
	struct telemetry_reading now = {0};
	const struct telemetry *sum = &now.sum;
	struct err ignored;
	uint64_t moves = 0;

	if (w->disks && !telemetry_read(w->disks, &now, &ignored) && sum->disks)
		moves = sum->disk_read_ops + sum->disk_write_ops + sum->disk_read_bytes +
			sum->disk_write_bytes;
	telemetry_reading_clear(&now);
	return moves;
}

/* ---- the worker and its descendants ---- */

#define DEPTH_MAX 8 /* of descendants */

struct family {
	char program[PATH_MAX]; /* ours: workers and members of a parallel one */
	int prepares;
	uint64_t moved;
	unsigned left; /* processes to be looked at, at most */
};

static int read_proc(pid_t pid, const char *name, struct buf *ret)
{
	char path[400];
	struct err ignored;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	buf_reset(ret);
	return fs_read_file(path, PROC_MAX, ret, &ignored);
}

/* The program that it runs; "" when that is not told. */
static void program_of(pid_t pid, char ret[PATH_MAX])
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, ret, PATH_MAX - 1);
	ret[n > 0 ? n : 0] = '\0';
}

static int is_ours(const struct family *f, pid_t pid)
{
	char program[PATH_MAX];

	program_of(pid, program);
	return *program && strcmp(program, f->program) == 0;
}

/* What it and the children it waited for moved: bytes of storage, and with `all` whatever it read and
 * wrote. 0 without an account of it. */
static uint64_t moved_by(pid_t pid, int all)
{
	struct proc_io io;

	if (proc_io(pid, &io))
		return 0;
	return io.storage_read + io.storage_written + (all ? io.all_read + io.all_written : 0);
}

static void look_at(struct family *f, pid_t pid, unsigned depth);

/* Of one thread. Returns how many it has. */
static unsigned look_at_children(struct family *f, pid_t pid, const char *thread, unsigned depth)
{
	char name[300], *rest = NULL;
	struct buf text = {0};
	unsigned n = 0;

	snprintf(name, sizeof(name), "task/%s/children", thread);
	if (!read_proc(pid, name, &text) && text.data)
		for (char *child = strtok_r(text.data, " \n", &rest); child;
			child = strtok_r(NULL, " \n", &rest), n++)
			look_at(f, (pid_t)strtol(child, NULL, 10), depth + 1);
	buf_free(&text);
	return n;
}

/*
 * What a program prints is no progress: it would count when it is written and again when we read it.
 * So of programs counts what they move to and from storage; of ourselves, too, but for one that
 * prepares and has no program: all it reads and writes are its inputs and files.
 */
static void look_at(struct family *f, pid_t pid, unsigned depth)
{
	char path[64];
	unsigned children = 0;
	struct dirent *thread;
	DIR *d;

	if (f->left == 0 || depth > DEPTH_MAX)
		return;
	f->left--;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	while (d && (thread = readdir(d)))
		if (thread->d_name[0] != '.')
			children += look_at_children(f, pid, thread->d_name, depth);
	if (d)
		closedir(d);
	f->moved += moved_by(pid, f->prepares && children == 0 && is_ours(f, pid));
}

static uint64_t worker_moves(const struct job *j)
{
	struct family f = {.prepares = !j->trial.watch.go_ns, .left = PROCESSES_MAX};

	if (!j->worker)
		return 0;
	program_of(worker_pid(j->worker), f.program);
	look_at(&f, worker_pid(j->worker), 0);
	return f.moved;
}

static int64_t sooner(int64_t a, int64_t b)
{
	return b && b < a ? b : a;
}

static void look_later(struct job *j)
{
	const struct trial_watch *w = &j->trial.watch;
	int64_t ns = sooner(LOOK_MAX_NS, j->plan->stall_ns / LOOKS);
	struct timeval tv;

	if (w->go_ns && j->plan->trial_deadline_ns)
		ns = sooner(ns, w->go_ns + j->plan->trial_deadline_ns - clock_mono_ns());
	if (ns < LOOK_MIN_NS)
		ns = LOOK_MIN_NS;
	tv = (struct timeval){.tv_sec = ns / NS_PER_S, .tv_usec = ns % NS_PER_S / 1000};
	evtimer_add(j->watch, &tv);
}

static int is_over(const struct job *j, int64_t now, struct err *e)
{
	const struct trial_watch *w = &j->trial.watch;
	char text[UNITS_LEN];

	if (w->go_ns && j->plan->trial_deadline_ns && now - w->go_ns >= j->plan->trial_deadline_ns)
		return err_set(e, ERR_TIMEOUT,
			"it was not over after %s, the plan's trial-deadline: its processes were "
			"killed",
			units_duration(j->plan->trial_deadline_ns, text));
	if (j->plan->stall_ns && now - w->progress_ns >= j->plan->stall_ns)
		return err_set(e, ERR_TIMEOUT,
			"it made no progress for %s, neither by itself nor on the volume's disks: its "
			"processes were killed (a plan's 'stall' says how long it may stand still)",
			units_duration(j->plan->stall_ns, text));
	return 0;
}

void trial_watch_look(struct job *j)
{
	struct trial_watch *w = &j->trial.watch;
	uint64_t moves = disk_moves(w), by_worker;
	int64_t now = clock_mono_ns();
	struct err e;

	if (moves != w->moves || j->phase == JOB_AWAIT_TRIAL)
		w->progress_ns = now;
	w->moves = moves;
	/* A worker can have thousands of threads: it is asked where nothing else tells of progress. */
	if (w->progress_ns == w->seen_ns) {
		by_worker = worker_moves(j);
		if (by_worker != w->worker_moves)
			w->progress_ns = now;
		w->worker_moves = by_worker;
	}
	w->seen_ns = w->progress_ns;
	if (is_over(j, now, &e))
		trial_abort(j, &e);
	else
		look_later(j);
}

void trial_watch_start(struct job *j)
{
	struct trial_watch *w = &j->trial.watch;
	struct err ignored;

	if (!j->plan->stall_ns && !j->plan->trial_deadline_ns)
		return;
	telemetry_close(w->disks);
	*w = (struct trial_watch){.progress_ns = clock_mono_ns()};
	if (telemetry_open("", &job_volume(j)->disks, &w->disks, &ignored))
		w->disks = NULL; /* what the worker counts must do */
	w->moves = disk_moves(w);
	look_later(j);
}

void trial_watch_go(struct job *j)
{
	struct trial_watch *w = &j->trial.watch;

	w->go_ns = w->progress_ns = clock_mono_ns();
	w->moves = disk_moves(w);
	if (evtimer_pending(j->watch, NULL))
		look_later(j);
}

void trial_watch_progress(struct job *j, const struct sample *s)
{
	if (s->ops || s->bytes)
		j->trial.watch.progress_ns = clock_mono_ns();
}

void trial_watch_stop(struct job *j)
{
	evtimer_del(j->watch);
}
