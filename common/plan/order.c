/*
 * The order of layouts in a block, the same wherever it is computed:
 *   state = seed, then for each of FNV-1a-64(host) and block: state = mix(state ^ value)
 *   Fisher-Yates from the end, each draw from splitmix64 with rejection, so every order is equally
 *   likely and neighbouring seeds, hosts and blocks have nothing in common.
 * splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014).
 */
#include "common/plan/order.h"

static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static uint64_t next(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15ULL;
	return mix(*state);
}

static uint64_t hash_text(const char *s)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ULL;
	return h;
}

/* 0 .. n - 1; values from the incomplete last span of 2^64 / n are drawn again */
static unsigned draw(uint64_t *state, unsigned n)
{
	uint64_t limit = UINT64_MAX - UINT64_MAX % n, v;

	do {
		v = next(state);
	} while (v >= limit);
	return (unsigned)(v % n);
}

void plan_block_order(
	const struct plan *p, uint64_t seed, const char *host, unsigned block, unsigned *order)
{
	uint64_t state = seed;
	unsigned n = (unsigned)p->n_layouts;

	for (unsigned i = 0; i < n; i++)
		order[i] = i;
	if (p->order == ORDER_AS_WRITTEN)
		return;
	if (p->start != START_TOGETHER)
		state = mix((state + 0x9e3779b97f4a7c15ULL) ^ hash_text(host));
	state = mix((state + 0x9e3779b97f4a7c15ULL) ^ block);
	for (unsigned i = n; i > 1; i--) {
		unsigned j = draw(&state, i), other = order[j];

		order[j] = order[i - 1];
		order[i - 1] = other;
	}
}
