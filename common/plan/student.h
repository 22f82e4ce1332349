/* Student's t for planning: quantiles only. Pure. */
#ifndef COMMON_PLAN_STUDENT_H
#define COMMON_PLAN_STUDENT_H

/* The value that a t variable of df >= 1 degrees of freedom stays below with probability p,
 * 0.5 <= p < 1. Relative error under 1e-6. */
double student_quantile(double p, unsigned df);

#endif
