/*
 * Contents of randomly written blocks: fresh for each write at a small cost, and, where they are to
 * be verified, sealed with who they are.
 *
 * A sealed block begins with a head of BLOCK_HEAD bytes: trial, file, offset, generation, a checksum
 * of the rest and one of itself; so what stands in a block's place can be told from what belongs
 * there, and named.
 */
#ifndef AGENT_WORKLOAD_RANDOM_BLOCK_H
#define AGENT_WORKLOAD_RANDOM_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "agent/workload/datagen.h"

#define BLOCK_HEAD 64

/* Where a block belongs, and which of its writes it is. */
struct block_id {
	uint64_t trial, file, offset, generation; /* generation from 1 */
};

/* Makes other contents of those in b, which datagen_fill filled at a unit's border: `change` is added
 * to each 64-bit word that is random. Two blocks of different changes share nothing that a compressor
 * or deduplication could use; zeros stay zeros. */
void block_refresh(const struct datagen *g, uint64_t change, char *b, size_t len);
/* len: at least 512, a multiple of 8. */
void block_seal(const struct block_id *id, char *b, size_t len);

enum block_state {
	BLOCK_RIGHT,
	BLOCK_ZEROS,
	BLOCK_ELSEWHERE,  /* of another file or offset: found has it */
	BLOCK_OLD,        /* an earlier generation */
	BLOCK_NEWER,      /* a later one */
	BLOCK_OTHER_RUN,  /* of another trial */
	BLOCK_DAMAGED,    /* its head, with other contents */
	BLOCK_GARBAGE,
	BLOCK_STATE_COUNT
};
/* found: what the head says, where there is one. */
enum block_state block_check(
	const struct block_id *id, const char *b, size_t len, struct block_id *found);

#endif
