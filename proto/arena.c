/*
 * Bump memory with a budget. Owns its chunks; the sum of what is given out between two resets
 * never exceeds the budget, alignment included.
 */
#include "proto/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

#define ARENA_ALIGN 8
#define ARENA_CHUNK_FIRST (8 * 1024)
#define ARENA_CHUNK_MAX (512 * 1024)

struct arena_chunk {
	struct arena_chunk *older;
	size_t cap;
	uint64_t data[];
};

void arena_init(struct arena *a, size_t budget)
{
	*a = (struct arena){.left = budget};
}

static void chunk_add(struct arena *a, size_t size)
{
	size_t cap = ARENA_CHUNK_FIRST;
	struct arena_chunk *c;

	if (a->chunk)
		cap = a->chunk->cap < ARENA_CHUNK_MAX ? a->chunk->cap * 2 : ARENA_CHUNK_MAX;
	if (cap < size)
		cap = size;
	c = xmalloc(sizeof(*c) + cap);
	c->older = a->chunk;
	c->cap = cap;
	a->chunk = c;
	a->used = 0;
}

static void *take(struct arena *a, size_t size)
{
	void *p;

	if (size > a->left || size > SIZE_MAX / 2)
		return NULL;
	size = (size + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
	if (size == 0)
		size = ARENA_ALIGN;
	if (size > a->left)
		return NULL;
	if (!a->chunk || a->chunk->cap - a->used < size)
		chunk_add(a, size);
	p = (char *)a->chunk->data + a->used;
	a->used += size;
	a->left -= size;
	return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
	void *p = take(a, size);

	return p ? memset(p, 0, size) : NULL;
}

void arena_reset(struct arena *a, size_t budget)
{
	struct arena_chunk *keep = NULL, *c, *older;

	for (c = a->chunk; c; c = c->older)
		if (!keep || c->cap > keep->cap)
			keep = c;
	for (c = a->chunk; c; c = older) {
		older = c->older;
		if (c != keep)
			free(c);
	}
	if (keep)
		keep->older = NULL;
	*a = (struct arena){.chunk = keep, .left = budget};
}

void arena_free(struct arena *a)
{
	struct arena_chunk *c, *older;

	for (c = a->chunk; c; c = older) {
		older = c->older;
		free(c);
	}
	*a = (struct arena){0};
}

static void *protobuf_alloc(void *data, size_t size)
{
	return take(data, size);
}

static void protobuf_free(void *data, void *p)
{
	(void)data;
	(void)p;
}

ProtobufCAllocator arena_allocator(struct arena *a)
{
	return (ProtobufCAllocator){protobuf_alloc, protobuf_free, a};
}
