/* The order of a job's units; owns nothing. The same seed, host and plan give the same order. */
#include "coordinator/sched/units.h"

#include <stdlib.h>

#include "common/base/mem.h"
#include "common/plan/order.h"

struct unit *units_expand(const struct plan *p, uint64_t seed, const char *host, unsigned blocks,
	size_t *ret_n)
{
	size_t n = 0, total = (size_t)blocks * p->n_layouts;
	struct unit *u = xcalloc(total ? total : 1, sizeof(*u));
	unsigned *order = xcalloc(p->n_layouts ? p->n_layouts : 1, sizeof(*order));

	if (p->builds == BUILDS_ONCE && p->order == ORDER_AS_WRITTEN) {
		for (unsigned l = 0; l < p->n_layouts; l++)
			for (unsigned b = 1; b <= blocks; b++)
				u[n++] = (struct unit){.block = b, .layout = l};
	} else {
		for (unsigned b = 1; b <= blocks; b++) {
			plan_block_order(p, seed, host, b, order);
			for (unsigned i = 0; i < p->n_layouts; i++)
				u[n++] = (struct unit){.block = b, .layout = order[i]};
		}
	}
	free(order);
	*ret_n = n;
	return u;
}
