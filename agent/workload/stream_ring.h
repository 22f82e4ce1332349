/*
 * Generated data on its way from the thread that fills it to the one that moves it, so that
 * generating overlaps with writing. It travels in chunks: one block, or as many small ones as make
 * handing a chunk over cheap beside moving it.
 *
 * A chunk is filled by whoever claims it. Mostly that is the filler, ahead of the mover; a mover
 * that finds nobody at its next chunk claims it itself, so that it never waits for a thread that
 * waits for a processor.
 */
#ifndef AGENT_WORKLOAD_STREAM_RING_H
#define AGENT_WORKLOAD_STREAM_RING_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/workload/stream_files.h"
#include "common/base/err.h"

#define STREAM_CHUNKS 4
#define STREAM_CHUNK_LEAST (256 * 1024)

struct stream_chunk {
	char *data;
	uint32_t file;
	uint64_t at; /* offset in the file */
	uint64_t round; /* through the stretches, from 0 */
	size_t len;
	int filled;
};
struct stream_ring {
	struct stream_chunk chunk[STREAM_CHUNKS]; /* data: chunk_bytes each, page aligned */
	size_t chunk_bytes;                       /* a multiple of the block size */
	const struct stretch *stretches;          /* borrowed */
	size_t n_stretches;
	int endless; /* set before the start: after the last stretch comes the first again */
	pthread_mutex_t lock; /* guards all below and each chunk's filled */
	pthread_cond_t more_filled, more_free;
	size_t stretch; /* where the next chunk to claim begins */
	uint64_t at, round;
	unsigned claimed, used; /* counts; claimed - used <= STREAM_CHUNKS */
	int closed;
};

/* Allocates the chunks and touches their pages. On failure: stream_ring_clear. */
int stream_ring_init(struct stream_ring *r, size_t block_bytes, const struct stretch *stretches,
	size_t n_stretches, struct err *e);
void stream_ring_clear(struct stream_ring *r);

/* The filler: waits for a free chunk and claims it; NULL when all are claimed or the ring is
 * closed. Then says that it is filled. */
struct stream_chunk *stream_ring_claim(struct stream_ring *r);
void stream_ring_filled(struct stream_ring *r, struct stream_chunk *c);
/* The mover: its next chunk, NULL after the last. When `filled` is 0, the mover has to fill it. */
struct stream_chunk *stream_ring_next(struct stream_ring *r);
/* The mover has moved that chunk. */
void stream_ring_release(struct stream_ring *r);
/* The mover ends: so must the filler. */
void stream_ring_close(struct stream_ring *r);

/* A page-aligned buffer whose pages exist; the caller frees it. NULL and an error: no memory. */
char *stream_buffer_new(size_t bytes, struct err *e);

#endif
