/*
 * A stream with several blocks under way. A slot is one of them with its buffer; its number tags what
 * the kernel is given. Blocks are started in the order of the stretches and may end in any. Owns the
 * slots while it runs. Invariant: a slot's buffer is the kernel's from the submission to the
 * completion, and every slot has come back before this ends.
 */
#include <errno.h>
#include <stdlib.h>

#include "agent/workload/stream_thread.h"
#include "common/base/mem.h"
#include "common/base/units.h"

struct slot {
	const struct stretch *s;
	uint64_t at;
	size_t len, done;
	int64_t began_ns;
};
struct flow {
	struct stream_thread *t;
	struct slot *slots;
	unsigned *free_slots;
	unsigned n_free;
	/* what comes next */
	size_t stretch;
	uint64_t at, round, begun; /* begun: bytes */
	int over, failed;
};

static char *slot_buffer(const struct flow *f, unsigned i)
{
	return f->t->buffer + i * ((f->t->spec->block_size + 4095) / 4096 * 4096);
}

static void queue(struct flow *f, unsigned i)
{
	struct slot *s = &f->slots[i];

	uring_queue(&f->t->uring, f->t->spec->op == OP_READ, s->s->file, slot_buffer(f, i) + s->done,
		s->len - s->done, s->at + s->done, i);
}

/* Past the last block: over, or a timed one's next round. */
static void step_on(struct flow *f, size_t len)
{
	struct stream_thread *t = f->t;

	f->begun += len;
	f->at += len;
	if (f->at < t->stretches[f->stretch].end)
		return;
	if (++f->stretch == t->n_stretches) {
		f->stretch = 0;
		f->round++;
		f->over = !t->timed;
	}
	f->at = t->stretches[f->stretch].start;
}

static void fill(const struct flow *f, unsigned i)
{
	const struct slot *s = &f->slots[i];
	struct datagen gen = f->t->gen;

	if (f->t->spec->op == OP_READ || f->t->spec->data == DATA_ZERO)
		return;
	gen.seed += f->round * STREAM_ROUND_STEP;
	datagen_fill(&gen, s->s->file, s->at, slot_buffer(f, i), s->len);
}

static int is_over(struct flow *f, int64_t now)
{
	struct stream_thread *t = f->t;

	if ((t->timed && now >= t->end_ns) || atomic_load_explicit(t->stop, memory_order_relaxed))
		f->over = 1;
	return f->over;
}

/* Starts what is due. Returns when the next one will be; INT64_MAX: after a completion. */
static int64_t start_due(struct flow *f, int64_t now)
{
	struct stream_thread *t = f->t;

	while (f->n_free && !is_over(f, now)) {
		unsigned i = f->free_slots[f->n_free - 1];
		const struct stretch *s = &t->stretches[f->stretch];

		if (t->rate > 0) {
			int64_t due = t->start_ns +
				      (int64_t)((double)f->begun / t->rate * NS_PER_S);

			if (due > now)
				return t->timed && t->end_ns < due ? t->end_ns : due;
		}
		f->slots[i] = (struct slot){
			.s = s, .at = f->at, .len = stream_block_bytes(t, s, f->at)};
		f->n_free--;
		fill(f, i);
		f->slots[i].began_ns = now = clock_mono_ns();
		queue(f, i);
		step_on(f, f->slots[i].len);
	}
	return INT64_MAX;
}

static void fail(struct flow *f)
{
	f->failed = f->over = 1;
	atomic_store(f->t->stop, 1);
}

static void moved(struct flow *f, unsigned i, int result)
{
	struct stream_thread *t = f->t;
	struct slot *s = &f->slots[i];
	int64_t now = clock_mono_ns();

	if (result == -EINTR || result == -EAGAIN) {
		queue(f, i);
		return;
	}
	if (result <= 0) {
		errno = -result;
		if (!f->failed)
			stream_fail_block(t, s->s, s->at + s->done);
		fail(f);
	} else if ((s->done += (size_t)result) < s->len) {
		queue(f, i);
		return;
	} else if (!f->failed) {
		meter_count(t->lane, now - s->began_ns, s->len);
		if (stream_verify_block(t, s->s, s->at, slot_buffer(f, i), s->len) < 0)
			fail(f);
	}
	f->free_slots[f->n_free++] = i;
}

static int flow(struct flow *f)
{
	struct stream_thread *t = f->t;
	int64_t due = start_due(f, clock_mono_ns());

	while (f->n_free < t->depth || !f->over) {
		uint64_t tag;
		int result, rc = uring_next(&t->uring, due, &tag, &result, &t->error);

		if (rc < 0)
			return -1;
		if (rc > 0)
			moved(f, (unsigned)tag, result);
		due = start_due(f, clock_mono_ns());
	}
	return f->failed ? -1 : 0;
}

int stream_move_uring(struct stream_thread *t)
{
	struct flow f = {.t = t};
	int rc;

	if (!t->n_stretches)
		return 0;
	f.at = t->stretches[0].start;
	f.slots = xcalloc(t->depth, sizeof(*f.slots));
	f.free_slots = xcalloc(t->depth, sizeof(*f.free_slots));
	for (unsigned i = t->depth; i > 0; i--)
		f.free_slots[f.n_free++] = i - 1;
	rc = flow(&f);
	free(f.slots);
	free(f.free_slots);
	return rc;
}
