/*
 * Which executed commands a report shows. Pure. Owns nothing.
 * Invariant: a fleet's commands are mostly the same: those of the first block of the first host that
 * has any stand for all; what failed is always shown.
 */
#include <string.h>

#include "coordinator/results/report.h"

int report_step_is_shown(const struct result_set *set, const struct result_step *s)
{
	const char *first = NULL;

	if (!s->ok)
		return 1;
	if (s->block > 1)
		return 0;
	for (size_t i = 0; i < set->n_steps && !first; i++)
		if (set->steps[i].run == s->run)
			first = set->steps[i].host;
	return first && strcmp(first, s->host) == 0;
}
