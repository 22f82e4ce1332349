/*
 * Data generator: xoshiro256+ (Blackman and Vigna, "Scrambled linear pseudorandom number
 * generators", 2021) on interleaved lanes through the compiler's vector types, one fresh
 * state per 4 KiB unit from splitmix64 of (seed, file, unit). Owns nothing.
 *
 * The low bits of xoshiro256+ are weak for statistics; for incompressibility they don't matter.
 */
#include "agent/workload/datagen.h"

#include <string.h>

/* Two lanes fit the baseline's vector registers; STREAMS independent ones hide their latency. */
#define STREAMS 2

typedef uint64_t lanes __attribute__((vector_size(16)));

struct generator {
	lanes s[4][STREAMS];
};

static uint64_t splitmix64(uint64_t *x)
{
	uint64_t z = (*x += 0x9e3779b97f4a7c15ULL);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Distinct states per lane without 32 draws a unit: every lane xors a constant of its own into the
 * unit's four draws, and adds a rotation that differs by stream. */
static void generator_seed(struct generator *g, uint64_t seed, uint32_t file, uint64_t unit)
{
	static const uint64_t constant[STREAMS][2] = {
		{0x2545f4914f6cdd1dULL, 0x9fb21c651e98df25ULL},
		{0xd6e8feb86659fd93ULL, 0xff51afd7ed558ccdULL}};
	uint64_t x = seed ^ ((uint64_t)file << 48) ^ unit;

	for (int i = 0; i < 4; i++) {
		uint64_t draw = splitmix64(&x) | 1;
		for (int k = 0; k < STREAMS; k++) {
			uint64_t mixed = draw << (7 * k + 5) | draw >> (64 - 7 * k - 5);
			lanes l = {(draw ^ constant[k][0]) + mixed, (draw ^ constant[k][1]) - mixed};
			g->s[i][k] = l;
		}
	}
}

static inline __attribute__((always_inline)) void generator_next(
	struct generator *g, lanes out[STREAMS])
{
#pragma GCC unroll 4
	for (int k = 0; k < STREAMS; k++) {
		lanes t = g->s[1][k] << 17;

		out[k] = g->s[0][k] + g->s[3][k];
		g->s[2][k] ^= g->s[0][k];
		g->s[3][k] ^= g->s[1][k];
		g->s[1][k] ^= g->s[2][k];
		g->s[0][k] ^= g->s[3][k];
		g->s[2][k] ^= t;
		g->s[3][k] = (g->s[3][k] << 45) | (g->s[3][k] >> 19);
	}
}

static void fill_random(struct generator *from, char *out, size_t len)
{
	struct generator g = *from;
	lanes v[STREAMS];

	while (len >= sizeof(v)) {
		generator_next(&g, v);
		memcpy(out, v, sizeof(v));
		out += sizeof(v);
		len -= sizeof(v);
	}
	if (len > 0) {
		generator_next(&g, v);
		memcpy(out, v, len);
	}
}

/* One unit's first `len` bytes. */
static void fill_unit(const struct datagen *g, uint32_t file, uint64_t unit, char *out, size_t len)
{
	struct generator gen;
	size_t random = DATAGEN_UNIT;

	if (g->kind == DATA_COMPRESSIBLE)
		random = DATAGEN_UNIT - (size_t)DATAGEN_UNIT * g->compressible_percent / 100;
	if (random > len)
		random = len;
	generator_seed(&gen, g->seed, file, unit);
	fill_random(&gen, out, random);
	memset(out + random, 0, len - random);
}

void datagen_fill(const struct datagen *g, uint32_t file, uint64_t offset, void *out, size_t len)
{
	char *p = out;
	char whole[DATAGEN_UNIT];

	if (g->kind == DATA_ZERO) {
		memset(out, 0, len);
		return;
	}
	while (len > 0) {
		uint64_t unit = offset / DATAGEN_UNIT;
		size_t in = offset % DATAGEN_UNIT;
		size_t n = DATAGEN_UNIT - in < len ? DATAGEN_UNIT - in : len;

		if (in == 0) {
			fill_unit(g, file, unit, p, n);
		} else {
			fill_unit(g, file, unit, whole, in + n);
			memcpy(p, whole + in, n);
		}
		p += n;
		offset += n;
		len -= n;
	}
}

int datagen_verify(const struct datagen *g, uint32_t file, uint64_t offset, const void *data,
	size_t len, uint64_t *ret_bad_offset)
{
	const char *p = data;
	char want[DATAGEN_UNIT];

	while (len > 0) {
		size_t in = offset % DATAGEN_UNIT;
		size_t n = DATAGEN_UNIT - in < len ? DATAGEN_UNIT - in : len;

		datagen_fill(g, file, offset, want, n);
		if (memcmp(p, want, n) != 0) {
			*ret_bad_offset = offset - in;
			return -1;
		}
		p += n;
		offset += n;
		len -= n;
	}
	return 0;
}
