/*
 * The threads that move a stream's bytes. A mover owns its stretches. Invariant: a chunk is given to
 * the kernel only after it was filled, and filled again only after the kernel took it.
 */
#include "agent/workload/stream_thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/base/units.h"

size_t stream_block_bytes(const struct stream_thread *t, const struct stretch *s, uint64_t at)
{
	uint64_t left = s->end - at;

	return left < t->spec->block_size ? (size_t)left : (size_t)t->spec->block_size;
}

static int prepare_uring(struct stream_thread *t, struct err *e)
{
	size_t len = (t->spec->block_size + 4095) / 4096 * 4096 * t->depth;
	int *fd = xcalloc(t->files->n, sizeof(*fd)), rc = -1;

	for (unsigned i = 0; i < t->files->n; i++)
		fd[i] = t->files->v[i].fd;
	t->buffer = stream_buffer_new(len, e);
	if (t->buffer)
		rc = uring_open(&t->uring, t->depth, fd, t->files->n, t->buffer, len, e);
	free(fd);
	return rc;
}

int stream_thread_prepare(struct stream_thread *t, struct err *e)
{
	t->ring.endless = t->timed;
	if (t->generates)
		return stream_ring_init(&t->ring, t->spec->block_size, t->stretches, t->n_stretches, e);
	if (t->engine == IO_URING)
		return prepare_uring(t, e);
	t->buffer = stream_buffer_new(t->spec->block_size, e);
	return t->buffer ? 0 : -1;
}

static void fill_chunk(const struct stream_thread *t, const struct stream_chunk *c)
{
	struct datagen gen = t->gen;

	gen.seed += c->round * STREAM_ROUND_STEP;
	datagen_fill(&gen, c->file, c->at, c->data, c->len);
}

static void *fill_chunks(void *arg)
{
	struct stream_thread *t = arg;
	struct stream_chunk *c;

	while ((c = stream_ring_claim(&t->ring))) {
		fill_chunk(t, c);
		stream_ring_filled(&t->ring, c);
	}
	return NULL;
}

/* ---- the mover ---- */

/* Moves one block whole, however the kernel cuts it. Returns 0, or -1 with errno (0: end of file). */
static int move_block(struct stream_thread *t, int fd, char *b, size_t len, uint64_t at)
{
	while (len > 0) {
		ssize_t n = t->spec->op == OP_READ ? pread(fd, b, len, (off_t)at)
						   : pwrite(fd, b, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (n == 0)
				errno = 0;
			return -1;
		}
		b += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int stream_fail_block(struct stream_thread *t, const struct stretch *s, uint64_t at)
{
	const char *verb = t->spec->op == OP_READ ? "reading" : "writing";
	const char *name = t->files->v[s->file].name;

	meter_error(t->lane);
	if (errno == 0)
		return err_set(&t->error, ERR_IO, "%s '%s' in %s ended early at byte %llu", verb,
			name, t->spec->directory, (unsigned long long)at);
	return err_io(&t->error, "%s '%s' in %s at byte %llu", verb, name, t->spec->directory,
		(unsigned long long)at);
}

int stream_verify_block(struct stream_thread *t, const struct stretch *s, uint64_t at, const char *b,
	size_t len)
{
	uint64_t bad;

	if (!t->spec->verify || t->spec->op != OP_READ)
		return 0;
	if (datagen_verify(&t->gen, s->file, at, b, len, &bad) == 0)
		return 0;
	return err_set(&t->error, ERR_IO,
		"'%s' in %s does not hold what was written from byte %llu on: check the disks and the "
		"controller",
		t->files->v[s->file].name, t->spec->directory, (unsigned long long)bad);
}

/* Sleeps until `moved` bytes are due at the thread's rate. */
static void pace(const struct stream_thread *t, uint64_t moved)
{
	int64_t due;
	struct timespec ts;

	if (t->rate <= 0)
		return;
	due = t->start_ns + (int64_t)((double)moved / t->rate * NS_PER_S);
	if (t->timed && due > t->end_ns)
		due = t->end_ns;
	ts.tv_sec = due / NS_PER_S;
	ts.tv_nsec = due % NS_PER_S;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/* The blocks of one part of a file. data: theirs; NULL: `buffer` serves each of them. */
static int move_blocks(struct stream_thread *t, const struct stretch *s, char *data,
	uint64_t *moved)
{
	int fd = t->files->v[s->file].fd;

	for (uint64_t at = s->start; at < s->end; at += t->spec->block_size) {
		size_t len = stream_block_bytes(t, s, at);
		char *b = data ? data + (at - s->start) : t->buffer;
		int64_t before;

		if (atomic_load_explicit(t->stop, memory_order_relaxed))
			return 0;
		pace(t, *moved);
		before = clock_mono_ns();
		t->over = t->timed && before >= t->end_ns;
		if (t->over)
			return 0;
		if (move_block(t, fd, b, len, at) < 0)
			return stream_fail_block(t, s, at);
		meter_count(t->lane, clock_mono_ns() - before, len);
		if (stream_verify_block(t, s, at, b, len) < 0)
			return -1;
		*moved += len;
	}
	return 0;
}

static int move_generated(struct stream_thread *t)
{
	struct stream_chunk *c;
	uint64_t moved = 0;
	int rc = 0;

	while (rc == 0 && !t->over && !atomic_load_explicit(t->stop, memory_order_relaxed) &&
		(c = stream_ring_next(&t->ring))) {
		struct stretch part = {.file = c->file, .start = c->at, .end = c->at + c->len};

		if (!c->filled)
			fill_chunk(t, c);
		rc = move_blocks(t, &part, c->data, &moved);
		stream_ring_release(&t->ring);
	}
	stream_ring_close(&t->ring);
	return rc;
}

static int move_plain(struct stream_thread *t)
{
	uint64_t moved = 0;
	int rc = 0;

	do {
		for (size_t i = 0; i < t->n_stretches && rc == 0 && !t->over; i++)
			rc = move_blocks(t, &t->stretches[i], NULL, &moved);
	} while (rc == 0 && t->timed && t->n_stretches && !t->over &&
		 !atomic_load_explicit(t->stop, memory_order_relaxed));
	return rc;
}

static void *move_stretches(void *arg)
{
	struct stream_thread *t = arg;

	t->failed = (t->engine == IO_URING ? stream_move_uring(t)
			    : t->generates ? move_generated(t)
					   : move_plain(t)) < 0;
	if (t->failed)
		atomic_store(t->stop, 1);
	meter_ended(t->meter);
	return NULL;
}

int stream_thread_start(struct stream_thread *t, struct err *e)
{
	int rc;

	if (t->generates) {
		rc = pthread_create(&t->filler, NULL, fill_chunks, t);
		if (rc != 0) {
			t->generates = 0;
			return err_set(e, ERR_FULL, "cannot start a thread: %s", strerror(rc));
		}
	}
	rc = pthread_create(&t->mover, NULL, move_stretches, t);
	if (rc == 0)
		return 0;
	if (t->generates) {
		stream_ring_close(&t->ring);
		pthread_join(t->filler, NULL);
	}
	return err_set(e, ERR_FULL, "cannot start a thread: %s", strerror(rc));
}

void stream_thread_join(struct stream_thread *t)
{
	pthread_join(t->mover, NULL);
	if (t->generates)
		pthread_join(t->filler, NULL);
}

void stream_thread_clear(struct stream_thread *t)
{
	uring_close(&t->uring);
	stream_ring_clear(&t->ring);
	free(t->buffer);
	free(t->stretches);
}
