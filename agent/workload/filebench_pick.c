/* Picking files of a fileset: bits and rotors. Owns the words of the bits through the set. */
#include <sched.h>
#include <string.h>
#include <time.h>

#include "agent/workload/filebench_set.h"

/* The first bit set at `from` or behind it, going round; FB_NONE. */
static uint64_t next_bit(const struct fb_bits *b, uint64_t from)
{
	uint64_t words = (b->n + 63) / 64, at = from / 64;
	uint64_t mask = ~0ULL << (from % 64);

	for (uint64_t i = 0; i <= words; i++) {
		uint64_t w = atomic_load_explicit(&b->words[at], memory_order_acquire) & mask;

		if (w)
			return at * 64 + (unsigned)__builtin_ctzll(w);
		mask = ~0ULL;
		at = at + 1 == words ? 0 : at + 1;
	}
	return FB_NONE;
}

/* In rotation: two threads that ask at once get two different ones. */
static uint64_t rotate(struct fb_bits *b)
{
	uint64_t from = atomic_load_explicit(&b->rotor, memory_order_relaxed), found;

	do {
		found = next_bit(b, from);
		if (found == FB_NONE)
			return FB_NONE;
	} while (!atomic_compare_exchange_weak_explicit(&b->rotor, &from,
		found + 1 == b->n ? 0 : found + 1, memory_order_relaxed, memory_order_relaxed));
	return found;
}

/* Waits a moment while threads hold files that they may give back; 0 when there are none. A file that
 * moves while the bits are counted may be counted twice: only several counts in a row are believed. */
static int wait_for_held(const struct fb_group *g)
{
	struct timespec moment = {.tv_nsec = 20000};

	for (int i = 0; i < 8; i++) {
		if (atomic_load_explicit(g->stop, memory_order_relaxed))
			return 0;
		if (fb_bits_count(&g->exist) + fb_bits_count(&g->absent) < g->n) {
			nanosleep(&moment, NULL);
			return 1;
		}
		sched_yield();
	}
	return 0;
}

uint64_t fb_pick(struct fb_group *g, uint64_t *rotor)
{
	uint64_t found;

	if (g->n == 0)
		return FB_NONE;
	do {
		if (!rotor) {
			found = rotate(&g->exist);
		} else {
			found = next_bit(&g->exist, *rotor % g->n);
			*rotor = found == FB_NONE ? 0 : found + 1;
		}
	} while (found == FB_NONE && wait_for_held(g));
	return found;
}

uint64_t fb_pick_from(struct fb_group *g, uint64_t index)
{
	uint64_t found;

	if (g->n == 0)
		return FB_NONE;
	do
		found = next_bit(&g->exist, index % g->n);
	while (found == FB_NONE && wait_for_held(g));
	return found;
}

static int clear_bit(struct fb_bits *b, uint64_t i)
{
	uint64_t bit = 1ULL << (i % 64);

	return (atomic_fetch_and_explicit(&b->words[i / 64], ~bit, memory_order_acq_rel) & bit) != 0;
}

uint64_t fb_take(struct fb_group *g, struct fb_bits *from)
{
	uint64_t found;

	if (g->n == 0)
		return FB_NONE;
	do {
		found = rotate(from);
		if (found != FB_NONE && clear_bit(from, found))
			return found;
	} while (found != FB_NONE || wait_for_held(g));
	return FB_NONE;
}

int fb_take_this(struct fb_group *g, uint64_t index)
{
	return clear_bit(&g->exist, index) ? 0 : -1;
}

void fb_give(struct fb_bits *to, uint64_t index)
{
	atomic_fetch_or_explicit(&to->words[index / 64], 1ULL << (index % 64), memory_order_acq_rel);
}

uint64_t fb_bits_count(const struct fb_bits *b)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < (b->n + 63) / 64; i++)
		n += (unsigned)__builtin_popcountll(atomic_load(&b->words[i]));
	return n;
}

/* Eight digits, as printf's %08u makes them. */
static void digits(char *out, uint32_t n)
{
	for (int i = 7; i >= 0; i--, n /= 10)
		out[i] = (char)('0' + n % 10);
}

const char *fb_path(const struct fb_set *s, const struct fb_entry *f, char out[FB_PATH_MAX])
{
	size_t len = strlen(s->dirs[f->dir]);

	memcpy(out, s->dirs[f->dir], len);
	digits(out + len, f->number);
	out[len + 8] = '\0';
	return out;
}
