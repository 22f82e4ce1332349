/*
 * What both engines of random I/O share, and the one that moves a block at a time. Owns a thread's
 * buffers and counts. Invariant: a block under way is busy, so no second operation of a verified
 * trial meets it; threads of such a trial have ranges of their own.
 */
#include "agent/workload/random_thread.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/workload/stream_ring.h"
#include "common/base/mem.h"
#include "common/base/units.h"

/* ---- of both engines ---- */

/* With blocks under way, the next one that is not. Depth is less than the range, so there is one. */
static uint64_t pick_free(struct random_thread *t)
{
	uint64_t block = picker_next(&t->picker), last = t->picker.first + t->picker.n - 1;
	uint32_t *generation = t->files->generation;

	if (!generation || block == PICK_NONE)
		return block;
	while (generation[block] & GENERATION_BUSY)
		block = block == last ? t->picker.first : block + 1;
	generation[block] |= GENERATION_BUSY;
	return block;
}

int random_begin(struct random_thread *t, struct random_io *op)
{
	if (t->ops_left == 0)
		return 0;
	op->block = pick_free(t);
	if (op->block == PICK_NONE)
		return 0;
	op->at = random_place(t->files, op->block);
	op->is_read = t->reads_below == UINT64_MAX ||
		      (t->reads_below && picker_bits(&t->chance) < t->reads_below);
	if (t->ops_left != UINT64_MAX)
		t->ops_left--;
	if (t->interval_ns)
		op->due_ns = t->start_ns + t->phase_ns + (int64_t)t->begun * t->interval_ns;
	t->begun++;
	return 1;
}

void random_fill(struct random_thread *t, const struct random_io *op, char *b)
{
	const struct random_files *f = t->files;
	struct block_id id = {f->trial, op->at.file, op->at.offset, 0};

	block_refresh(&f->gen, picker_bits(&t->chance), b, f->block_size);
	if (!f->generation)
		return;
	id.generation = (f->generation[op->block] & ~GENERATION_BUSY) + 1;
	block_seal(&id, b, f->block_size);
}

int random_finish(
	struct random_thread *t, const struct random_io *op, const char *b, int64_t now_ns)
{
	struct random_files *f = t->files;

	meter_count(&t->lanes[op->is_read ? RANDOM_LANE_READ : RANDOM_LANE_WRITE],
		now_ns - op->due_ns, f->block_size);
	if (f->generation) {
		f->generation[op->block] &= ~GENERATION_BUSY;
		if (!op->is_read)
			f->generation[op->block]++;
	}
	if (!t->w->verify || !op->is_read)
		return 0;
	return random_files_check(
		f, op->at, f->generation ? f->generation[op->block] : 0, b, &t->error);
}

int random_fail(struct random_thread *t, const struct random_io *op, uint64_t moved, int error)
{
	const char *verb = op->is_read ? "reading" : "writing";
	const char *name = t->files->names.v[op->at.file];
	unsigned long long at = op->at.offset + moved;

	meter_error(&t->lanes[op->is_read ? RANDOM_LANE_READ : RANDOM_LANE_WRITE]);
	errno = error;
	if (error == EINVAL && t->w->direct)
		return err_set(&t->error, ERR_INPUT,
			"%s '%s' in %s at byte %llu: direct I/O is not possible in blocks of %llu bytes "
			"there: use a larger block-size, or 'direct: false'",
			verb, name, t->files->directory, at,
			(unsigned long long)t->files->block_size);
	if (error == 0)
		return err_set(&t->error, ERR_IO, "%s '%s' in %s ended early at byte %llu", verb,
			name, t->files->directory, at);
	return err_io(&t->error, "%s '%s' in %s at byte %llu", verb, name, t->files->directory,
		at);
}

int random_fsync_due(struct random_thread *t, const struct random_io *op)
{
	if (!t->w->fsync_every || op->is_read ||
		++t->unsynced[op->at.file] < t->w->fsync_every)
		return 0;
	t->unsynced[op->at.file] = 0;
	return 1;
}

int random_fsync_failed(struct random_thread *t, unsigned file, int error)
{
	meter_error(&t->lanes[RANDOM_LANE_WRITE]);
	errno = error;
	return err_io(&t->error, "fsync of '%s' in %s", t->files->names.v[file],
		t->files->directory);
}

/* ---- one block at a time ---- */

/* Where an offset fits into a register, past what the C library does around each call so that a
 * thread may be cancelled in it: nobody cancels these, and it costs two locked instructions. */
static ssize_t move_bytes(int fd, int is_read, char *b, size_t len, off_t at)
{
#if __SIZEOF_LONG__ == 8
	return syscall(is_read ? SYS_pread64 : SYS_pwrite64, fd, b, len, at);
#else
	return is_read ? pread(fd, b, len, at) : pwrite(fd, b, len, at);
#endif
}

static int move_block(struct random_thread *t, const struct random_io *op, char *b)
{
	int fd = t->files->fd[op->at.file];
	size_t done = 0, len = t->files->block_size;

	while (done < len) {
		off_t at = (off_t)(op->at.offset + done);
		ssize_t n = move_bytes(fd, op->is_read, b + done, len - done, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return random_fail(t, op, done, n < 0 ? errno : 0);
		done += (size_t)n;
	}
	return 0;
}

static int sync_file(struct random_thread *t, unsigned file)
{
	int64_t before = clock_mono_ns();

	if (fsync(t->files->fd[file]) < 0)
		return random_fsync_failed(t, file, errno);
	hist_add(t->fsyncs, (uint64_t)(clock_mono_ns() - before));
	return 0;
}

/* Sleeps until then, or says that the end comes first. */
static int await_due(const struct random_thread *t, int64_t due_ns)
{
	int64_t until = due_ns < t->end_ns ? due_ns : t->end_ns;
	struct timespec ts = {.tv_sec = until / NS_PER_S, .tv_nsec = until % NS_PER_S};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
	return due_ns < t->end_ns;
}

/* Sets due_ns, what the latency counts from. before: the clock when the last one ended. 0: over. */
static int await_turn(const struct random_thread *t, struct random_io *op, int64_t before)
{
	if (t->interval_ns)
		return op->due_ns <= before || await_due(t, op->due_ns);
	/* A read begins where the last operation ended, but for picking its place: one clock call. */
	op->due_ns = op->is_read ? before : clock_mono_ns();
	return 1;
}

int random_move_pread(struct random_thread *t)
{
	char *b = t->buffers;
	int64_t now = clock_mono_ns();
	struct random_io op = {0};

	while (!random_is_over(t, now) && random_begin(t, &op)) {
		if (!op.is_read)
			random_fill(t, &op, b);
		if (!await_turn(t, &op, now))
			break;
		if (move_block(t, &op, b) < 0)
			return -1;
		now = clock_mono_ns();
		if (random_finish(t, &op, b, now) < 0)
			return -1;
		if (random_fsync_due(t, &op) && sync_file(t, op.at.file) < 0)
			return -1;
		if (t->w->verify || t->w->fsync_every)
			now = clock_mono_ns();
	}
	return 0;
}

/* ---- the thread ---- */

static void *move(void *arg)
{
	struct random_thread *t = arg;

	/* With a table of descriptors of its own, the kernel counts no reference at each operation. Who
	 * joins a thread may be ahead of the end of its table: what is in it is closed here. */
	int own_table = unshare(CLONE_FILES) == 0;

	t->failed = (t->w->engine == IO_URING ? random_move_uring(t) : random_move_pread(t)) < 0;
	if (t->failed)
		atomic_store(t->stop, 1);
	meter_ended(t->meter);
	if (own_table)
		syscall(SYS_close_range, 0, ~0U, 0);
	return NULL;
}

int random_thread_prepare(struct random_thread *t, struct err *e)
{
	const struct random_files *f = t->files;
	unsigned depth = t->w->depth;
	size_t len;

	if (f->generation && depth >= t->picker.n)
		depth = (unsigned)t->picker.n; /* no more can be under way at once */
	t->stride = (f->block_size + 4095) / 4096 * 4096;
	len = t->stride * depth;
	t->buffers = stream_buffer_new(len, e);
	if (!t->buffers)
		return -1;
	for (unsigned i = 0; i < depth; i++)
		datagen_fill(&f->gen, UINT16_MAX, picker_bits(&t->chance) % (1u << 30) *
			DATAGEN_UNIT, t->buffers + i * t->stride, f->block_size);
	t->unsynced = xcalloc(f->n, sizeof(*t->unsynced));
	t->fsyncs = xcalloc(1, sizeof(*t->fsyncs));
	if (t->w->engine == IO_PREAD)
		return 0;
	return uring_open(&t->ring, depth, f->fd, f->n, t->buffers, len, e);
}

int random_thread_start(struct random_thread *t, struct err *e)
{
	int rc = pthread_create(&t->thread, NULL, move, t);

	return rc == 0 ? 0 : err_set(e, ERR_FULL, "cannot start a thread: %s", strerror(rc));
}

void random_thread_clear(struct random_thread *t)
{
	uring_close(&t->ring);
	free(t->buffers);
	free(t->unsynced);
	free(t->fsyncs);
}
