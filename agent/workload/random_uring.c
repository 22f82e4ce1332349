/*
 * Random I/O with several operations under way. A slot is one of them with its buffer; its number
 * tags what the kernel is given. Owns the slots while it runs. Invariant: a slot's buffer is the
 * kernel's from the submission to the completion, and every slot has come back before this ends.
 */
#include <errno.h>
#include <stdlib.h>

#include "agent/workload/random_thread.h"
#include "common/base/mem.h"
#include "common/base/units.h"

enum slot_state { SLOT_FREE, SLOT_MOVES, SLOT_SYNCS };

struct slot {
	enum slot_state state;
	struct random_io op;
	size_t done; /* bytes of the block */
	int64_t sync_began_ns;
};
struct flight {
	struct random_thread *t;
	struct slot *slots;
	unsigned *free_slots;
	unsigned n_free, n;
	struct random_io next; /* begun and not yet due, where has_next */
	int has_next, over, failed;
};

static char *slot_buffer(const struct flight *f, unsigned i)
{
	return f->t->buffers + i * f->t->stride;
}

static void queue(struct flight *f, unsigned i)
{
	struct slot *s = &f->slots[i];

	uring_queue(&f->t->ring, s->op.is_read, s->op.at.file, slot_buffer(f, i) + s->done,
		f->t->files->block_size - s->done, s->op.at.offset + s->done, i);
}

/* 0: there is nothing more to start. */
static int have_next(struct flight *f, int64_t now)
{
	if (!f->over && random_is_over(f->t, now))
		f->over = 1;
	if (!f->over && !f->has_next) {
		f->has_next = random_begin(f->t, &f->next);
		f->over = !f->has_next;
	}
	return !f->over;
}

/* Starts what is due. Returns when the next one will be; INT64_MAX: after a completion. */
static int64_t start_due(struct flight *f, int64_t now)
{
	struct random_thread *t = f->t;

	while (f->n_free && have_next(f, now)) {
		unsigned i = f->free_slots[f->n_free - 1];

		if (t->interval_ns && f->next.due_ns > now)
			return f->next.due_ns < t->end_ns ? f->next.due_ns : t->end_ns;
		f->slots[i] = (struct slot){.state = SLOT_MOVES, .op = f->next};
		f->n_free--;
		f->has_next = 0;
		if (!f->next.is_read) {
			random_fill(t, &f->next, slot_buffer(f, i));
			now = clock_mono_ns();
		}
		if (!t->interval_ns)
			f->slots[i].op.due_ns = now;
		queue(f, i);
	}
	return INT64_MAX;
}

static void release(struct flight *f, unsigned i)
{
	f->slots[i].state = SLOT_FREE;
	f->free_slots[f->n_free++] = i;
}

static void fail(struct flight *f)
{
	f->failed = f->over = 1;
	f->has_next = 0;
	atomic_store(f->t->stop, 1);
}

static void synced(struct flight *f, unsigned i, int result, int64_t now)
{
	struct slot *s = &f->slots[i];

	if (result < 0 && !f->failed) {
		random_fsync_failed(f->t, s->op.at.file, -result);
		fail(f);
	} else if (result >= 0) {
		hist_add(f->t->fsyncs, (uint64_t)(now - s->sync_began_ns));
	}
	release(f, i);
}

static void moved(struct flight *f, unsigned i, int result, int64_t now)
{
	struct random_thread *t = f->t;
	struct slot *s = &f->slots[i];

	if (result == -EINTR || result == -EAGAIN) {
		queue(f, i);
		return;
	}
	if (result <= 0) {
		if (!f->failed)
			random_fail(t, &s->op, s->done, -result);
		fail(f);
		release(f, i);
		return;
	}
	s->done += (size_t)result;
	if (s->done < t->files->block_size) {
		queue(f, i);
		return;
	}
	if (!f->failed && random_finish(t, &s->op, slot_buffer(f, i), now) < 0)
		fail(f);
	if (f->failed || !random_fsync_due(t, &s->op)) {
		release(f, i);
		return;
	}
	s->state = SLOT_SYNCS;
	s->sync_began_ns = now;
	uring_queue_fsync(&t->ring, s->op.at.file, i);
}

static int fly(struct flight *f)
{
	struct random_thread *t = f->t;
	int64_t now = clock_mono_ns(), due = start_due(f, now);

	while (f->n_free < f->n || !f->over) {
		uint64_t tag;
		int result, rc = uring_next(&t->ring, due, &tag, &result, &t->error);

		if (rc < 0)
			return -1;
		now = clock_mono_ns();
		if (rc > 0 && f->slots[tag].state == SLOT_SYNCS)
			synced(f, (unsigned)tag, result, now);
		else if (rc > 0)
			moved(f, (unsigned)tag, result, now);
		if (rc > 0 && t->w->verify)
			now = clock_mono_ns();
		due = start_due(f, now);
	}
	return f->failed ? -1 : 0;
}

int random_move_uring(struct random_thread *t)
{
	struct flight f = {.t = t, .n = t->ring.depth};
	int rc;

	f.slots = xcalloc(f.n, sizeof(*f.slots));
	f.free_slots = xcalloc(f.n, sizeof(*f.free_slots));
	for (unsigned i = f.n; i > 0; i--)
		release(&f, i - 1);
	rc = fly(&f);
	free(f.slots);
	free(f.free_slots);
	return rc;
}
