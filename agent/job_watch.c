/*
 * Watching a trial's worker: it must make progress, and end before the plan's trial-deadline.
 * Owns the trial's timer and its own view of the disks' counters.
 *
 * Progress is whatever the worker counted or the volume's disks moved: a sync counts nothing for
 * long, and so does a file system that is at work on its own. While it prepares, nothing is counted
 * yet and its inputs lie elsewhere: then what it and its children read and write counts. Waiting for the coordinator is none
 * of the worker's. Invariant: the timer is pending only while a worker prepares, waits or runs.
 */
#include "agent/job_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/fs.h"
#include "common/base/units.h"

#define LOOK_MAX_NS (10 * NS_PER_S)
#define LOOK_MIN_NS (100 * NS_PER_MS)
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

static uint64_t number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* Bytes that a process and the children it waited for moved, by the kernel's account; 0 without. */
static uint64_t moved_by(pid_t pid)
{
	char path[64];
	struct buf text = {0};
	struct err ignored;
	uint64_t moved = 0;

	snprintf(path, sizeof(path), "/proc/%d/io", (int)pid);
	if (!fs_read_file(path, PROC_MAX, &text, &ignored))
		moved = number_after(buf_str(&text), "rchar: ") +
			number_after(buf_str(&text), "wchar: ");
	buf_free(&text);
	return moved;
}

/* Of a worker that prepares, which it does in its first thread. */
static uint64_t worker_moves(const struct job *j)
{
	char path[80], *rest = NULL;
	struct buf text = {0};
	struct err ignored;
	uint64_t moves;
	pid_t pid;

	if (!j->worker || j->trial.watch.go_ns)
		return 0;
	pid = worker_pid(j->worker);
	moves = moved_by(pid);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	if (!fs_read_file(path, PROC_MAX, &text, &ignored) && text.data)
		for (char *child = strtok_r(text.data, " \n", &rest); child;
			child = strtok_r(NULL, " \n", &rest))
			moves += moved_by((pid_t)strtol(child, NULL, 10));
	buf_free(&text);
	return moves;
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
	uint64_t moves = disk_moves(w) + worker_moves(j);
	int64_t now = clock_mono_ns();
	struct err e;

	if (moves != w->moves || j->phase == JOB_AWAIT_TRIAL)
		w->progress_ns = now;
	w->moves = moves;
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
