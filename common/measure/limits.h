/* How many results are taken at once: a mistaken or hostile file must not use up the memory. */
#ifndef COMMON_MEASURE_LIMITS_H
#define COMMON_MEASURE_LIMITS_H

/* Trials and summaries of one text of another tool, and lines of one import. */
#define RESULTS_MAX 200000

#endif
