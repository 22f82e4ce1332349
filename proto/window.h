/* Byte credit of the durable path: how many unacknowledged payload bytes may be under way. */
#ifndef PROTO_WINDOW_H
#define PROTO_WINDOW_H

#include <stdint.h>

struct window {
	uint64_t credit; /* granted by the peer */
	uint64_t used;   /* sent and not acknowledged */
};
void window_grant(struct window *w, uint64_t credit);
/* A batch may always go when nothing is under way, so that a small credit can't stop the path. */
int window_may_send(const struct window *w, uint64_t bytes);
void window_sent(struct window *w, uint64_t bytes);
void window_acked(struct window *w, uint64_t bytes);

/* Server side: the sum over all peers is capped. */
struct window_pool {
	uint64_t limit, granted;
	unsigned peers;
};
/* Credit for one more peer (at least 64 KiB); give it back when the peer goes. */
uint64_t window_pool_take(struct window_pool *p, uint64_t want);
void window_pool_give(struct window_pool *p, uint64_t credit);

#endif
