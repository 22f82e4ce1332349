/* Result sets put together. Pure. */
#ifndef COORDINATOR_RESULTS_MERGE_H
#define COORDINATOR_RESULTS_MERGE_H

#include "coordinator/results/set.h"

/* Moves all of `from` into `to` and leaves `from` empty. Runs of `from` whose number is taken in
 * `to` get the next one that neither of them has; others keep theirs. Both sets are after
 * export_read_end, and `to` needs it again before it is read. The wish of `to` stays. */
void result_set_merge(struct result_set *to, struct result_set *from);

#endif
