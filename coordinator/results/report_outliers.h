/* Hosts and disks that stand out, as the text, HTML and Markdown reports tell of them. Pure. */
#ifndef COORDINATOR_RESULTS_REPORT_OUTLIERS_H
#define COORDINATOR_RESULTS_REPORT_OUTLIERS_H

#include "coordinator/results/report_said.h"

/* Those of the run (NULL: of all), a line each, the furthest first: "knew disk sdc on raidz2/scan: throughput
 * -34% against its peers", "knew on raidz2/put: elapsed +51%, raidz2/load: elapsed +49% against its peers".
 * Names are as they came. Appended to the list. */
void report_outlier_lines(const struct analysis *a, const struct analysis_run *r, report_name_fn name,
	const void *arg, struct strv *ret);

#endif
