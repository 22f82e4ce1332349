/* Byte credit of the durable path: plain counting. Invariant of a pool: granted is the sum of what
 * its peers hold. */
#include "proto/window.h"

#define CREDIT_MIN (64 * 1024ULL)

void window_grant(struct window *w, uint64_t credit)
{
	w->credit = credit;
}

int window_may_send(const struct window *w, uint64_t bytes)
{
	return w->used == 0 || (w->used <= w->credit && bytes <= w->credit - w->used);
}

void window_sent(struct window *w, uint64_t bytes)
{
	w->used += bytes;
}

void window_acked(struct window *w, uint64_t bytes)
{
	w->used = bytes < w->used ? w->used - bytes : 0;
}

uint64_t window_pool_take(struct window_pool *p, uint64_t want)
{
	uint64_t left = p->granted < p->limit ? p->limit - p->granted : 0;
	uint64_t credit = want < left ? want : left;

	if (credit < CREDIT_MIN)
		credit = CREDIT_MIN;
	p->granted += credit;
	p->peers++;
	return credit;
}

void window_pool_give(struct window_pool *p, uint64_t credit)
{
	p->granted = credit < p->granted ? p->granted - credit : 0;
	if (p->peers)
		p->peers--;
}
