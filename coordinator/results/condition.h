/*
 * Conditions of `compare --fail-if` and `--fail-unless`: "elapsed > +5%". They are judged by whole
 * intervals, never by an estimate alone. Pure.
 */
#ifndef COORDINATOR_RESULTS_CONDITION_H
#define COORDINATOR_RESULTS_CONDITION_H

#include "common/base/err.h"
#include "coordinator/results/analysis.h"

struct condition {
	char *text;     /* as it was given */
	char *workload; /* NULL: any */
	enum metric_id metric;
	int above;    /* ">", else "<" */
	double limit; /* ln ratio of subject over baseline */
	int unless;   /* it has to hold; else it must not */
};
enum condition_state {
	CONDITION_FALSE,     /* the whole interval lies on the other side of the limit */
	CONDITION_UNDECIDED, /* the limit lies inside it, or there is none, or it is invalid */
	CONDITION_TRUE,      /* the whole interval lies beyond the limit */
};

/* ERR_USAGE with a suggestion where one is near. */
int condition_metric(const char *word, enum metric_id *ret, struct err *e);

/* "[WORKLOAD ]METRIC >|< [+|-]N%", blanks around the sign of comparison as one likes; the change is
 * above -100 %. ERR_USAGE says what is expected where. */
int condition_parse(const char *text, int unless, struct condition *ret, struct err *e);
void condition_clear(struct condition *c);

/* Whether a comparison is one that the condition speaks of. */
int condition_concerns(const struct condition *c, const struct result_comparison *r);
enum condition_state condition_judge(const struct condition *c, const struct result_comparison *r);

/* What all comparisons together say: passed when each one does, failed when one does, else
 * undecided; undecided also when there is none. Invalid ones decide nothing. */
enum condition_outcome { OUTCOME_PASSED, OUTCOME_UNDECIDED, OUTCOME_FAILED };
enum condition_outcome condition_outcome(const struct condition *c, const struct analysis *a);
const char *condition_outcome_name(enum condition_outcome o);
/* The condition and the comparison that decides it, with its interval. Appended. */
void condition_reason(const struct condition *c, const struct analysis *a, struct buf *out);
/* One line: the outcome, then that. Appended, with its newline. */
void condition_text(const struct condition *c, const struct analysis *a, struct buf *out);

#endif
