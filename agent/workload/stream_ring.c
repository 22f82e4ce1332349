/*
 * The ring between filler and mover. Owns the chunks. Invariant: chunks are claimed, and moved, in
 * the order of the stretches; a claimed chunk is its claimer's until it is filled, then the mover's
 * until it is released.
 *
 * A filler that found the ring full sleeps until half of it is free: waking a thread costs as much
 * as generating some ten kilobytes, and more where both share a core.
 */
#include "agent/workload/stream_ring.h"

#include <stdlib.h>
#include <string.h>

char *stream_buffer_new(size_t bytes, struct err *e)
{
	void *p;

	if (posix_memalign(&p, 4096, bytes) != 0) {
		err_set(e, ERR_FULL,
			"no memory for buffers of %zu bytes: use a smaller block-size or fewer threads",
			bytes);
		return NULL;
	}
	memset(p, 0, bytes); /* the pages exist before the clock starts */
	return p;
}

int stream_ring_init(struct stream_ring *r, size_t block_bytes, const struct stretch *stretches,
	size_t n_stretches, struct err *e)
{
	size_t blocks = STREAM_CHUNK_LEAST / block_bytes;

	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->more_filled, NULL);
	pthread_cond_init(&r->more_free, NULL);
	r->chunk_bytes = block_bytes * (blocks ? blocks : 1);
	r->stretches = stretches;
	r->n_stretches = n_stretches;
	r->at = n_stretches ? stretches[0].start : 0;
	for (unsigned i = 0; i < STREAM_CHUNKS; i++) {
		r->chunk[i].data = stream_buffer_new(r->chunk_bytes, e);
		if (!r->chunk[i].data)
			return -1;
	}
	return 0;
}

void stream_ring_clear(struct stream_ring *r)
{
	if (!r->chunk_bytes)
		return;
	for (unsigned i = 0; i < STREAM_CHUNKS; i++)
		free(r->chunk[i].data);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->more_filled);
	pthread_cond_destroy(&r->more_free);
	r->chunk_bytes = 0;
}

/* The next chunk in order; NULL after the last. Called with the lock, when a chunk is free. */
static struct stream_chunk *claim(struct stream_ring *r)
{
	struct stream_chunk *c = &r->chunk[r->claimed % STREAM_CHUNKS];
	const struct stretch *s = &r->stretches[r->stretch];

	if (r->stretch == r->n_stretches)
		return NULL;
	c->file = s->file;
	c->at = r->at;
	c->round = r->round;
	c->len = s->end - r->at < r->chunk_bytes ? s->end - r->at : r->chunk_bytes;
	c->filled = 0;
	r->at += c->len;
	r->claimed++;
	if (r->at != s->end)
		return c;
	r->stretch++;
	if (r->stretch == r->n_stretches && r->endless) {
		r->stretch = 0;
		r->round++;
	}
	if (r->stretch < r->n_stretches)
		r->at = r->stretches[r->stretch].start;
	return c;
}

struct stream_chunk *stream_ring_claim(struct stream_ring *r)
{
	struct stream_chunk *c = NULL;

	pthread_mutex_lock(&r->lock);
	if (r->claimed - r->used == STREAM_CHUNKS)
		while (!r->closed && r->claimed - r->used > STREAM_CHUNKS / 2)
			pthread_cond_wait(&r->more_free, &r->lock);
	if (!r->closed)
		c = claim(r);
	pthread_mutex_unlock(&r->lock);
	return c;
}

void stream_ring_filled(struct stream_ring *r, struct stream_chunk *c)
{
	pthread_mutex_lock(&r->lock);
	c->filled = 1;
	pthread_mutex_unlock(&r->lock);
	pthread_cond_signal(&r->more_filled);
}

struct stream_chunk *stream_ring_next(struct stream_ring *r)
{
	struct stream_chunk *c;

	pthread_mutex_lock(&r->lock);
	if (r->claimed == r->used) {
		c = claim(r);
	} else {
		c = &r->chunk[r->used % STREAM_CHUNKS];
		while (!c->filled)
			pthread_cond_wait(&r->more_filled, &r->lock);
	}
	pthread_mutex_unlock(&r->lock);
	return c;
}

void stream_ring_release(struct stream_ring *r)
{
	int wake;

	pthread_mutex_lock(&r->lock);
	r->used++;
	wake = r->claimed - r->used <= STREAM_CHUNKS / 2;
	pthread_mutex_unlock(&r->lock);
	if (wake)
		pthread_cond_signal(&r->more_free);
}

void stream_ring_close(struct stream_ring *r)
{
	pthread_mutex_lock(&r->lock);
	r->closed = 1;
	pthread_mutex_unlock(&r->lock);
	pthread_cond_signal(&r->more_free);
}
