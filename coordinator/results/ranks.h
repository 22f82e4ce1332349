/*
 * Two samples compared by ranks alone: Mann and Whitney's U, and the estimate of Hodges and Lehmann.
 * Shown in long reports beside the verdicts, and deciding none: at the few trials that storage tests
 * have, ranks can't tell differences that are there (4 against 3 never at 5 %). Pure.
 */
#ifndef COORDINATOR_RESULTS_RANKS_H
#define COORDINATOR_RESULTS_RANKS_H

#include <stddef.h>

struct ranks {
	unsigned n_base, n_subject;
	double u;      /* pairs in which the subject's value is the greater one; ties are halves */
	double p;      /* two-sided; NaN where a side is empty */
	int exact;     /* p by counting all arrangements, ties as they are; else by the normal law */
	double shift;  /* median of all differences of logarithms, subject minus base; NaN: none */
	double lo, hi; /* its interval of at least 95 %; NaN where so few values have none */
};
/* Values that are not above 0 are left out. Arrangements are counted up to 30 by 30 values; shift and
 * interval are made up to 2,000 by 2,000.
 * U: Mann and Whitney, "On a test of whether one of two random variables is stochastically larger
 * than the other", Ann. Math. Statist. 18 (1947): its recurrence counts the arrangements; with ties
 * those of the mid-ranks, by the shift algorithm of Streitberg and Roehmel (1986).
 * Shift: Hodges and Lehmann, "Estimates of location based on rank tests", Ann. Math. Statist. 34
 * (1963); its interval are the ordered differences that U's distribution names (Moses). */
void ranks_compare(const double *base, size_t n_base, const double *subject, size_t n_subject,
	struct ranks *ret);

#endif
