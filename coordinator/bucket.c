/* Token buckets; owns nothing. Invariant: 0 <= tokens <= burst. */
#include "coordinator/bucket.h"

#include <string.h>

#include "common/base/units.h"

static void refill(struct bucket *b, const struct bucket_rule *r, int64_t now_ns)
{
	if (!b->at_ns) {
		b->tokens = r->burst;
	} else if (now_ns > b->at_ns) {
		b->tokens += (double)(now_ns - b->at_ns) / (double)NS_PER_S * r->per_s;
		if (b->tokens > r->burst)
			b->tokens = r->burst;
	}
	b->at_ns = now_ns;
}

static unsigned row_of(const struct bucket_table *t, const unsigned char key[16])
{
	uint64_t h = t->seed ^ 0xcbf29ce484222325u; /* FNV-1a */

	for (int i = 0; i < 16; i++)
		h = (h ^ key[i]) * 0x100000001b3u;
	return (unsigned)((h >> 32) % BUCKET_ROWS);
}

int bucket_take(struct bucket_table *t, const struct in6_addr *a, int64_t now_ns)
{
	unsigned char key[16];
	unsigned row, way, use = 0;

	memcpy(key, a->s6_addr, 16);
	if (!IN6_IS_ADDR_V4MAPPED(a))
		memset(key + 8, 0, 8);
	row = row_of(t, key);
	for (way = 0; way < BUCKET_WAYS; way++) {
		if (t->slot[row][way].b.at_ns && !memcmp(t->slot[row][way].key, key, 16))
			break;
		if (t->slot[row][way].b.at_ns < t->slot[row][use].b.at_ns)
			use = way;
	}
	if (way == BUCKET_WAYS) {
		way = use;
		memcpy(t->slot[row][way].key, key, 16);
		t->slot[row][way].b.at_ns = 0;
	}
	refill(&t->slot[row][way].b, &t->each, now_ns);
	refill(&t->total, &t->all, now_ns);
	if (t->slot[row][way].b.tokens < 1 || t->total.tokens < 1)
		return 0;
	t->slot[row][way].b.tokens--;
	t->total.tokens--;
	return 1;
}
