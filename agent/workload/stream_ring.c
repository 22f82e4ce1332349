/*
 * The ring between filler and mover. Owns the chunks. Invariant: chunks used .. filled - 1 (modulo
 * their number) are the mover's, the others the filler's.
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

int stream_ring_init(struct stream_ring *r, size_t block_bytes, struct err *e)
{
	size_t blocks = STREAM_CHUNK_LEAST / block_bytes;

	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->more_filled, NULL);
	pthread_cond_init(&r->more_free, NULL);
	r->chunk_bytes = block_bytes * (blocks ? blocks : 1);
	for (unsigned i = 0; i < STREAM_CHUNKS; i++) {
		r->chunk[i] = stream_buffer_new(r->chunk_bytes, e);
		if (!r->chunk[i])
			return -1;
	}
	return 0;
}

void stream_ring_clear(struct stream_ring *r)
{
	if (!r->chunk_bytes)
		return;
	for (unsigned i = 0; i < STREAM_CHUNKS; i++)
		free(r->chunk[i]);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->more_filled);
	pthread_cond_destroy(&r->more_free);
	r->chunk_bytes = 0;
}

char *stream_ring_free(struct stream_ring *r)
{
	char *c = NULL;

	pthread_mutex_lock(&r->lock);
	if (r->filled - r->used == STREAM_CHUNKS)
		while (!r->closed && r->filled - r->used > STREAM_CHUNKS / 2)
			pthread_cond_wait(&r->more_free, &r->lock);
	if (!r->closed)
		c = r->chunk[r->filled % STREAM_CHUNKS];
	pthread_mutex_unlock(&r->lock);
	return c;
}

void stream_ring_publish(struct stream_ring *r)
{
	pthread_mutex_lock(&r->lock);
	r->filled++;
	pthread_mutex_unlock(&r->lock);
	pthread_cond_signal(&r->more_filled);
}

char *stream_ring_filled(struct stream_ring *r)
{
	char *c;

	pthread_mutex_lock(&r->lock);
	while (r->filled == r->used)
		pthread_cond_wait(&r->more_filled, &r->lock);
	c = r->chunk[r->used % STREAM_CHUNKS];
	pthread_mutex_unlock(&r->lock);
	return c;
}

void stream_ring_release(struct stream_ring *r)
{
	int wake;

	pthread_mutex_lock(&r->lock);
	r->used++;
	wake = r->filled - r->used <= STREAM_CHUNKS / 2;
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
