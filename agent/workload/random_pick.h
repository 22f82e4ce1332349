/*
 * Which block comes next: uniform, by a Zipf law, or each of them once in a random order.
 *
 * A picker belongs to one thread. What it gives is a pure function of its seed and range.
 */
#ifndef AGENT_WORKLOAD_RANDOM_PICK_H
#define AGENT_WORKLOAD_RANDOM_PICK_H

#include <stdint.h>

#define PICK_NONE UINT64_MAX /* each block was there */

enum pick_kind { PICK_UNIFORM, PICK_ZIPF, PICK_EACH_ONCE };

struct picker {
	enum pick_kind kind;
	uint64_t state;    /* of the generator */
	uint64_t first, n; /* blocks first .. first + n - 1 */
	/* the order of PICK_EACH_ONCE, and where the blocks of a Zipf law lie */
	unsigned bits;
	uint64_t key[2], next;
	/* Zipf: see random_pick.c */
	double exponent, at_first, at_last, squeeze;
};

/* n: from 1. exponent: more than 0, of PICK_ZIPF: block of rank r comes up as r^-exponent. */
void picker_init(struct picker *p, enum pick_kind kind, uint64_t seed, uint64_t first, uint64_t n,
	double exponent);
/* 64 random bits (splitmix64). */
static inline uint64_t picker_bits(struct picker *p)
{
	uint64_t z = (p->state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}
uint64_t picker_next_other(struct picker *p);
/* The next block, or PICK_NONE. */
static inline uint64_t picker_next(struct picker *p)
{
	if (p->kind != PICK_UNIFORM)
		return picker_next_other(p);
	return p->first + (uint64_t)(((unsigned __int128)picker_bits(p) * p->n) >> 64);
}

#endif
