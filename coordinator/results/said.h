/*
 * Findings that say the same: of one run, rule and severity, about subjects of one kind, in texts that differ
 * in their percentages at most. Told once, with the range of each percentage. Pure.
 */
#ifndef COORDINATOR_RESULTS_SAID_H
#define COORDINATOR_RESULTS_SAID_H

#include "coordinator/results/rules.h"

struct said {
	const struct finding *const *v; /* borrowed */
	size_t n;
	size_t *first; /* by finding: the number of the first one that says what it says */
	size_t *next;  /* by finding: the number of the next one; n: none */
};

/* All of them, in order. Caller frees. */
const struct finding **said_list(const struct findings *f);
/* Whether findings of that run are told subject by subject, although they say the same. */
typedef int (*said_apart_fn)(const void *arg, uint64_t run);

/* Groups n findings, which stay borrowed. apart NULL: subjects are told together. Free with said_free. */
void said_group(const struct finding *const *v, size_t n, said_apart_fn apart, const void *arg,
	struct said *ret);
void said_free(struct said *s);
/* What the i-th finding and all that say the same say: "trials spread by 13…21%". Appended. */
void said_text(const struct said *s, size_t i, struct buf *out);
/* -1: what cannot be told has no severity. */
int said_level(const struct finding *f);

#endif
