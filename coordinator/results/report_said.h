/* Whom findings that say the same are about, for the HTML and Markdown reports. Pure. */
#ifndef COORDINATOR_RESULTS_REPORT_SAID_H
#define COORDINATOR_RESULTS_REPORT_SAID_H

#include "coordinator/results/analysis.h"
#include "coordinator/results/report.h"
#include "coordinator/results/said.h"

/* A said_apart_fn of a struct analysis: several hosts of a subject are told together or, where a run has but
 * one host, several subjects. */
int report_said_apart(const void *analysis, uint64_t run);

/* What a host is called in the report: in out, or a literal. */
typedef const char *(*report_name_fn)(const void *arg, const char *host, char out[REPORT_HOST_MAX]);
/* "xfs/write, xfs/read and 2 more on knew", "xfs/write on all 60 hosts", of all that say what the i-th
 * says, the first of them. Appended; names are as they came. */
void report_said_about(const struct said *s, size_t i, const struct analysis *a, report_name_fn name,
	const void *arg, struct buf *out);

#endif
