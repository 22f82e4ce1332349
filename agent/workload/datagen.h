/*
 * Contents of stream files: zeros, fresh incompressible bytes, or a mixture that compresses to a
 * known part. Contents are a pure function of (seed, file, offset), so that no two blocks are equal
 * (deduplication finds nothing) and a reader can verify them without keeping a copy.
 */
#ifndef AGENT_WORKLOAD_DATAGEN_H
#define AGENT_WORKLOAD_DATAGEN_H

#include <stddef.h>
#include <stdint.h>

#include "proto/msg.h"

#define DATAGEN_UNIT 4096 /* bytes that share one generator state and one mixture of zeros */

struct datagen {
	enum data_kind kind;
	unsigned compressible_percent; /* DATA_COMPRESSIBLE: share of zero bytes in each unit, 0..100 */
	uint64_t seed;
};

/* Fills out[0..len) with the bytes that stand at `offset` of file number `file`. */
void datagen_fill(const struct datagen *g, uint32_t file, uint64_t offset, void *out, size_t len);
/* 0 when data equals what datagen_fill gives, else -1 and the offset of the first unit that does
 * not (rounded down to DATAGEN_UNIT). scratch: at least DATAGEN_UNIT bytes. */
int datagen_verify(const struct datagen *g, uint32_t file, uint64_t offset, const void *data,
	size_t len, uint64_t *ret_bad_offset);

#endif
