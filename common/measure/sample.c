/*
 * Samples and trial summaries: only their memory. Each owns its histogram's bytes and its text.
 * Invariant: a cleared struct is all zero and may be cleared again.
 */
#include "common/measure/sample.h"

#include <stdlib.h>

void sample_clear(struct sample *s)
{
	free(s->hist);
	*s = (struct sample){0};
}

void trial_summary_clear(struct trial_summary *t)
{
	free(t->error);
	free(t->hist);
	*t = (struct trial_summary){0};
}
