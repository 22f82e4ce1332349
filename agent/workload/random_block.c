/*
 * Blocks: changing, sealing, checking. Owns nothing.
 *
 * The checksum multiplies and folds in four chains; each step of a chain can be undone, so damage to
 * any one word always shows, and damage to several escapes with a chance of 2^-64.
 */
#include "agent/workload/random_block.h"

#include <string.h>

#define MAGIC 0x6b636f6c426d41f1ULL

struct head {
	uint64_t magic, trial, file, offset, generation, len, body_sum, head_sum;
};
_Static_assert(sizeof(struct head) == BLOCK_HEAD, "the head has its size");

/* Random bytes of each unit of contents. */
static size_t random_bytes(const struct datagen *g)
{
	switch (g->kind) {
	case DATA_ZERO:
		return 0;
	case DATA_COMPRESSIBLE:
		return DATAGEN_UNIT - (size_t)DATAGEN_UNIT * g->compressible_percent / 100;
	default:
		return DATAGEN_UNIT;
	}
}

/* Four words at a time, by whatever the compiler's target has for that. */
#define ADD_TO_WORDS(b, len, change)                                                               \
	do {                                                                                       \
		words add_ = {change, change, change, change};                                     \
		size_t i_ = 0;                                                                     \
                                                                                                   \
		for (; i_ + 2 * sizeof(add_) <= (len); i_ += 2 * sizeof(add_)) {                   \
			words *p_ = (words *)(void *)((b) + i_);                                   \
                                                                                                   \
			p_[0] += add_;                                                             \
			p_[1] += add_;                                                             \
		}                                                                                  \
		for (; i_ + 8 <= (len); i_ += 8) {                                                 \
			uint64_t w_;                                                               \
                                                                                                   \
			memcpy(&w_, (b) + i_, 8);                                                  \
			w_ += change;                                                              \
			memcpy((b) + i_, &w_, 8);                                                  \
		}                                                                                  \
	} while (0)

typedef uint64_t words __attribute__((vector_size(32), aligned(8), may_alias));

#ifdef __x86_64__
__attribute__((target("avx2"))) static void add_wide(char *b, size_t len, uint64_t change)
{
	ADD_TO_WORDS(b, len, change);
}
#endif

static void add_to_words(char *b, size_t len, uint64_t change)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2")) {
		add_wide(b, len, change);
		return;
	}
#endif
	ADD_TO_WORDS(b, len, change);
}

void block_refresh(const struct datagen *g, uint64_t change, char *b, size_t len)
{
	size_t random = random_bytes(g);

	if (random == DATAGEN_UNIT) {
		add_to_words(b, len, change);
		return;
	}
	for (size_t at = 0; at < len && random; at += DATAGEN_UNIT)
		add_to_words(b + at, len - at < random ? len - at : random, change);
}

static uint64_t checksum(const char *b, size_t len)
{
	uint64_t h[4] = {0x243f6a8885a308d3ULL, 0x13198a2e03707344ULL, 0xa4093822299f31d0ULL,
		0x082efa98ec4e6c89ULL};
	uint64_t sum = len;

	for (size_t i = 0; i < len; i += 8) {
		uint64_t w, *to = &h[i / 8 % 4];

		memcpy(&w, b + i, 8);
		*to = (*to ^ w) * 0x9fb21c651e98df25ULL;
		*to ^= *to >> 29;
	}
	for (unsigned k = 0; k < 4; k++) {
		sum = (sum ^ h[k]) * 0xd6e8feb86659fd93ULL;
		sum ^= sum >> 32;
	}
	return sum;
}

static uint64_t head_checksum(const struct head *h)
{
	return checksum((const char *)h, offsetof(struct head, head_sum));
}

void block_seal(const struct block_id *id, char *b, size_t len)
{
	struct head h = {.magic = MAGIC, .trial = id->trial, .file = id->file,
		.offset = id->offset, .generation = id->generation, .len = len};

	h.body_sum = checksum(b + BLOCK_HEAD, len - BLOCK_HEAD);
	h.head_sum = head_checksum(&h);
	memcpy(b, &h, sizeof(h));
}

static int is_zero(const char *b, size_t len)
{
	return b[0] == 0 && memcmp(b, b + 1, len - 1) == 0;
}

enum block_state block_check(
	const struct block_id *id, const char *b, size_t len, struct block_id *found)
{
	struct head h;

	memcpy(&h, b, sizeof(h));
	if (h.magic != MAGIC || h.head_sum != head_checksum(&h))
		return is_zero(b, len) ? BLOCK_ZEROS : BLOCK_GARBAGE;
	*found = (struct block_id){h.trial, h.file, h.offset, h.generation};
	if (h.trial != id->trial || h.len != len)
		return BLOCK_OTHER_RUN;
	if (h.file != id->file || h.offset != id->offset)
		return BLOCK_ELSEWHERE;
	if (h.generation != id->generation)
		return h.generation < id->generation ? BLOCK_OLD : BLOCK_NEWER;
	return h.body_sum == checksum(b + BLOCK_HEAD, len - BLOCK_HEAD) ? BLOCK_RIGHT
									: BLOCK_DAMAGED;
}
