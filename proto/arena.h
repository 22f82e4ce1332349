/*
 * Bump memory with a budget: what one frame unpacks to is given back in one go, and a frame that
 * would unpack to more than its budget fails instead of growing.
 */
#ifndef PROTO_ARENA_H
#define PROTO_ARENA_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>

struct arena_chunk;
struct arena {
	struct arena_chunk *chunk; /* newest; older ones hang on it */
	size_t used;               /* bytes given out of the newest */
	size_t left;               /* bytes of budget */
};

#define ARENA_NO_LIMIT ((size_t)-1)

void arena_init(struct arena *a, size_t budget);
/* Zeroed and aligned for any type of the wire; NULL when the budget does not reach. */
void *arena_alloc(struct arena *a, size_t size);
/* Everything given out becomes invalid; the largest piece of memory stays for the next use. */
void arena_reset(struct arena *a, size_t budget);
void arena_free(struct arena *a);
/* For protobuf-c. Its memory is not zeroed; its free does nothing. */
ProtobufCAllocator arena_allocator(struct arena *a);

#endif
