/* What the parts of the JSON report share. */
#ifndef COORDINATOR_RESULTS_REPORT_JSON_H
#define COORDINATOR_RESULTS_REPORT_JSON_H

#include "common/base/json.h"
#include "common/base/json_out.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/report.h"

/* null for no host */
json_t *report_json_host(
	const struct result_set *s, const struct report_options *o, const char *host);

/* Members of the document. "results" with their rows: of every metric there is. */
int report_json_rows(
	const struct result_set *s, struct result_row **ret, size_t *ret_n, struct err *e);
void report_json_results(struct json_out *w, const struct result_set *s,
	const struct report_options *o, const struct result_row *rows, size_t n);
/* "details": parts, facts and notes; a redacted report has no notes. */
void report_json_details(
	struct json_out *w, const struct result_set *s, const struct report_options *o);
/* "comparisons" and "findings". */
void report_json_comparisons(struct json_out *w, const struct result_set *s,
	const struct report_options *o, const struct analysis *a);
void report_json_findings(struct json_out *w, const struct result_set *s,
	const struct report_options *o, const struct analysis *a);
/* The values of "absent", "family" and "outliers". Caller owns them. */
json_t *report_json_absent(
	const struct result_set *s, const struct report_options *o, const struct analysis *a);
json_t *report_json_family(const struct analysis *a);
json_t *report_json_outliers(
	const struct result_set *s, const struct report_options *o, const struct analysis *a);

#endif
