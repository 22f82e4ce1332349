/*
 * Generated data on its way from the thread that fills it to the one that moves it, so that
 * generating overlaps with writing. It travels in chunks: one block, or as many small ones as make
 * handing a chunk over cheap beside moving it.
 */
#ifndef AGENT_WORKLOAD_STREAM_RING_H
#define AGENT_WORKLOAD_STREAM_RING_H

#include <pthread.h>
#include <stddef.h>

#include "common/base/err.h"

#define STREAM_CHUNKS 4
#define STREAM_CHUNK_LEAST (256 * 1024)

struct stream_ring {
	char *chunk[STREAM_CHUNKS]; /* chunk_bytes each, page aligned */
	size_t chunk_bytes;         /* a multiple of the block size */
	pthread_mutex_t lock;
	pthread_cond_t more_filled, more_free;
	unsigned filled, used; /* counts; filled - used <= STREAM_CHUNKS */
	int closed;            /* the mover ended: the filler must too */
};

/* Allocates the chunks and touches their pages. On failure: stream_ring_clear. */
int stream_ring_init(struct stream_ring *r, size_t block_bytes, struct err *e);
void stream_ring_clear(struct stream_ring *r);

/* The filler: waits for a free chunk, NULL when the ring is closed; then says that it is filled. */
char *stream_ring_free(struct stream_ring *r);
void stream_ring_publish(struct stream_ring *r);
/* The mover: waits for a filled chunk; then gives it back. There must be one to come. */
char *stream_ring_filled(struct stream_ring *r);
void stream_ring_release(struct stream_ring *r);
void stream_ring_close(struct stream_ring *r);

/* A page-aligned buffer whose pages exist; the caller frees it. NULL and an error: no memory. */
char *stream_buffer_new(size_t bytes, struct err *e);

#endif
