/*
 * The order of layouts in each block: a pure function of seed, host and block (Fisher-Yates over
 * splitmix64/xoshiro), so that a coordinator and an agent compute the same. Under `start: together`
 * the host is left out.
 */
#ifndef COMMON_PLAN_ORDER_H
#define COMMON_PLAN_ORDER_H

#include <stdint.h>

#include "common/plan/plan.h"

/* Fills order[0..n_layouts-1] with layout indices. block from 1. */
void plan_block_order(const struct plan *p, uint64_t seed, const char *host, unsigned block,
	unsigned *order);

#endif
