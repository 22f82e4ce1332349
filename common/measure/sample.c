/*
 * Trial summaries: only their memory. Each owns its histogram's bytes and its text.
 * Invariant: a cleared struct is all zero and may be cleared again.
 */
#include "common/measure/sample.h"

#include <stdlib.h>

void trial_summary_clear(struct trial_summary *t)
{
	free(t->error);
	free(t->hist);
	*t = (struct trial_summary){0};
}
