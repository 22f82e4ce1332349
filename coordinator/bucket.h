/*
 * Rate limits by peer address: token buckets in a table of fixed size, so that a flood of addresses
 * costs no memory. An IPv6 address counts by its /64. Pure: time is a parameter.
 */
#ifndef COORDINATOR_BUCKET_H
#define COORDINATOR_BUCKET_H

#include <netinet/in.h>
#include <stdint.h>

#define BUCKET_ROWS 256
#define BUCKET_WAYS 8

struct bucket {
	double tokens;
	int64_t at_ns; /* when tokens was right; 0: unused */
};
struct bucket_rule {
	double burst, per_s;
};
struct bucket_table {
	struct bucket_rule each, all;
	struct bucket total;
	struct {
		unsigned char key[16];
		struct bucket b;
	} slot[BUCKET_ROWS][BUCKET_WAYS];
	uint64_t seed; /* random: rows can't be aimed at */
};

/* Takes one token for the address and one of all: 1, or 0 when either is empty (then none is
 * taken). A full row gives its longest unused slot away, which can only be too generous to an
 * address; the common bucket still holds. */
int bucket_take(struct bucket_table *t, const struct in6_addr *a, int64_t now_ns);

#endif
