/* What the parts of the JSON report share. */
#ifndef COORDINATOR_RESULTS_REPORT_JSON_H
#define COORDINATOR_RESULTS_REPORT_JSON_H

#include "common/base/json.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/report.h"

/* null for no host */
json_t *report_json_host(
	const struct result_set *s, const struct report_options *o, const char *host);

/* The members "comparisons", "absent", "family", "outliers" and "findings". Caller owns them. */
json_t *report_json_comparisons(
	const struct result_set *s, const struct report_options *o, const struct analysis *a);
json_t *report_json_absent(
	const struct result_set *s, const struct report_options *o, const struct analysis *a);
json_t *report_json_family(const struct analysis *a);
json_t *report_json_outliers(
	const struct result_set *s, const struct report_options *o, const struct analysis *a);
json_t *report_json_findings(
	const struct result_set *s, const struct report_options *o, const struct analysis *a);

/* The member "details": parts, facts and notes; a redacted report has no notes. */
json_t *report_json_details(const struct result_set *s, const struct report_options *o);

#endif
