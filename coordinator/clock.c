/* Offsets of a peer's clocks; owns nothing. Wrap-around arithmetic: a peer may send any number. */
#include "coordinator/clock.h"

static int64_t minus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

void clock_offset_add(struct clock_offset *c, int64_t sent, int64_t now, int64_t now_wall,
	int64_t peer_mono, int64_t peer_wall)
{
	int64_t rtt = minus(now, sent), half = rtt / 2;
	unsigned at = c->n % CLOCK_PINGS;

	if (sent <= 0 || rtt < 0 || sent > now)
		return;
	c->ping[at].rtt_ns = rtt;
	c->ping[at].mono_ns = minus(peer_mono, now - half);
	c->ping[at].wall_ns = minus(peer_wall, now_wall - half);
	c->n++;
}

int clock_offset_get(const struct clock_offset *c, int64_t *ret_mono, int64_t *ret_wall,
	int64_t *ret_rtt)
{
	unsigned n = c->n < CLOCK_PINGS ? c->n : CLOCK_PINGS, best = 0;

	if (!n)
		return -1;
	for (unsigned i = 1; i < n; i++)
		if (c->ping[i].rtt_ns < c->ping[best].rtt_ns)
			best = i;
	*ret_mono = c->ping[best].mono_ns;
	*ret_wall = c->ping[best].wall_ns;
	*ret_rtt = c->ping[best].rtt_ns;
	return 0;
}
