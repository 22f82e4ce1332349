/*
 * Trial summaries: only their memory. Each owns its histogram's bytes, its text, its evidence and
 * its detail.
 * Invariant: a cleared struct is all zero and may be cleared again.
 */
#include "common/measure/sample.h"

#include <stdlib.h>

void trial_summary_clear(struct trial_summary *t)
{
	free(t->error);
	free(t->hist);
	if (t->evidence)
		trial_evidence_clear(t->evidence);
	free(t->evidence);
	detail_clear(&t->detail);
	*t = (struct trial_summary){0};
}
