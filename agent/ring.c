/*
 * The bounded ring of batches between what a job produces and the link's spool.
 * Owns every batch that is not confirmed. Invariant: the batches of a stream are without gaps and
 * overlaps, in order, from the first unconfirmed record to the last cut one.
 */
#include "agent/ring.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "common/base/mem.h"

#define SLOT_OVERHEAD 160 /* bytes that a batch costs beside its payload */

/* What may go first when there is no room. */
enum worth { WORTH_SAMPLES, WORTH_STEPS, WORTH_ALWAYS };

struct slot {
	TAILQ_ENTRY(slot) link;
	struct msg_batch b;
	enum worth worth;
	int given;
};
TAILQ_HEAD(slots, slot);

struct ring {
	struct slots slots;
	size_t limit, bytes, given_bytes;
	char *epoch;
	struct job_key key;
	uint64_t next; /* number of the next record */
	struct buf open;
	uint64_t open_first;
	enum worth open_worth;
	uint64_t lost;
};

struct ring *ring_new(size_t limit_bytes)
{
	struct ring *r = xcalloc(1, sizeof(*r));

	TAILQ_INIT(&r->slots);
	r->limit = limit_bytes;
	r->next = 1;
	return r;
}

static size_t slot_size(const struct slot *s)
{
	return s->b.payload_len + SLOT_OVERHEAD;
}

static void slot_remove(struct ring *r, struct slot *s)
{
	TAILQ_REMOVE(&r->slots, s, link);
	r->bytes -= slot_size(s);
	if (s->given)
		r->given_bytes -= slot_size(s);
	free(s->b.epoch);
	free(s->b.payload);
	free(s);
}

void ring_free(struct ring *r)
{
	if (!r)
		return;
	while (!TAILQ_EMPTY(&r->slots))
		slot_remove(r, TAILQ_FIRST(&r->slots));
	buf_free(&r->open);
	free(r->epoch);
	free(r);
}

void ring_begin(struct ring *r, const char *epoch, const struct job_key *key)
{
	ring_cut(r);
	free(r->epoch);
	r->epoch = xstrdup(epoch);
	r->key = *key;
	r->next = 1;
}

static int slot_is_droppable(const struct slot *s, enum worth worth)
{
	return !s->given && !s->b.lost && s->worth == worth;
}

static struct slot *find_droppable(struct ring *r)
{
	struct slot *s;

	for (enum worth w = WORTH_SAMPLES; w < WORTH_ALWAYS; w++)
		TAILQ_FOREACH(s, &r->slots, link)
			if (slot_is_droppable(s, w))
				return s;
	return NULL;
}

static int may_join(const struct slot *a, const struct slot *b)
{
	return a && b && a->b.lost && b->b.lost && !a->given && !b->given &&
	       job_key_equal(&a->b.key, &b->b.key) && a->b.last + 1 == b->b.first;
}

static void drop(struct ring *r, struct slot *s)
{
	struct slot *before = TAILQ_PREV(s, slots, link);
	struct slot *after = TAILQ_NEXT(s, link);

	r->lost += s->b.last - s->b.first + 1;
	r->bytes -= s->b.payload_len;
	free(s->b.payload);
	s->b.payload = NULL;
	s->b.payload_len = 0;
	s->b.lost = 1;
	if (may_join(before, s)) {
		s->b.first = before->b.first;
		slot_remove(r, before);
	}
	if (may_join(s, after)) {
		s->b.last = after->b.last;
		slot_remove(r, after);
	}
}

static void make_room(struct ring *r)
{
	while (r->bytes > r->limit) {
		struct slot *s = find_droppable(r);

		if (!s)
			return;
		drop(r, s);
	}
}

void ring_cut(struct ring *r)
{
	struct slot *s;

	if (r->open.len == 0)
		return;
	s = xcalloc(1, sizeof(*s));
	s->b.epoch = xstrdup(r->epoch);
	s->b.key = r->key;
	s->b.first = r->open_first;
	s->b.last = r->next - 1;
	s->b.payload_len = r->open.len;
	s->b.payload = xmemdup(r->open.data, r->open.len);
	s->worth = r->open_worth;
	buf_reset(&r->open);
	TAILQ_INSERT_TAIL(&r->slots, s, link);
	r->bytes += slot_size(s);
	make_room(r);
}

static enum worth record_worth(const struct record *rec)
{
	if (rec->type == RECORD_SAMPLE)
		return WORTH_SAMPLES;
	return rec->type == RECORD_STEP ? WORTH_STEPS : WORTH_ALWAYS;
}

uint64_t ring_add(struct ring *r, const struct record *rec)
{
	enum worth worth = record_worth(rec);

	if (r->open.len > 0 && worth != r->open_worth)
		ring_cut(r);
	if (r->open.len == 0) {
		r->open_first = r->next;
		r->open_worth = worth;
	}
	record_encode(rec, &r->open);
	r->next++;
	if (worth != WORTH_SAMPLES || r->open.len >= RING_BATCH_BYTES ||
		r->next - r->open_first >= RING_BATCH_RECORDS)
		ring_cut(r);
	return r->next - 1;
}

int ring_has_open(const struct ring *r)
{
	return r->open.len > 0;
}

const struct msg_batch *ring_next(struct ring *r)
{
	struct slot *s;

	TAILQ_FOREACH(s, &r->slots, link)
		if (!s->given)
			break;
	if (!s || (r->given_bytes > 0 && r->given_bytes + slot_size(s) > RING_WINDOW))
		return NULL;
	s->given = 1;
	r->given_bytes += slot_size(s);
	return &s->b;
}

void ring_confirm(struct ring *r, const struct job_key *key, uint64_t last)
{
	struct slot *s = TAILQ_FIRST(&r->slots);

	while (s && s->given) {
		struct slot *next = TAILQ_NEXT(s, link);

		if (job_key_equal(&s->b.key, key) && s->b.last <= last)
			slot_remove(r, s);
		s = next;
	}
}

void ring_rewind(struct ring *r)
{
	struct slot *s;

	TAILQ_FOREACH(s, &r->slots, link)
		s->given = 0;
	r->given_bytes = 0;
}

void ring_facts(const struct ring *r, struct ring_facts *ret)
{
	const struct slot *s;

	*ret = (struct ring_facts){.bytes = r->bytes, .lost = r->lost};
	TAILQ_FOREACH(s, &r->slots, link) {
		ret->batches++;
		ret->waiting += !s->given;
	}
}
