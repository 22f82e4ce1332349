/*
 * A peer's clocks as seen from here, by ping and pong: of the last 8 round trips the shortest
 * counts (its half is the bound of the error). Pure.
 */
#ifndef COORDINATOR_CLOCK_H
#define COORDINATOR_CLOCK_H

#include <stdint.h>

#define CLOCK_PINGS 8

struct clock_offset {
	struct {
		int64_t rtt_ns, mono_ns, wall_ns;
	} ping[CLOCK_PINGS];
	unsigned n; /* pings ever taken */
};

/* sent and now: our monotonic clock when the ping went and the pong came; now_wall: our wall clock
 * at `now`; peer_mono, peer_wall: the peer's clocks when it answered. Nonsense (negative round
 * trips) is left out. */
void clock_offset_add(struct clock_offset *c, int64_t sent, int64_t now, int64_t now_wall,
	int64_t peer_mono, int64_t peer_wall);
/* 0 and the offsets (peer minus us) with the round trip they came from; -1 before the first pong. */
int clock_offset_get(const struct clock_offset *c, int64_t *ret_mono, int64_t *ret_wall,
	int64_t *ret_rtt);

#endif
