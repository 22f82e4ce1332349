/* What the parts of the text report share. */
#ifndef COORDINATOR_RESULTS_REPORT_TEXT_H
#define COORDINATOR_RESULTS_REPORT_TEXT_H

#include "common/base/units.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/details.h"
#include "coordinator/results/report.h"
#include "coordinator/results/scale.h"

#define BOLD "\x1b[1m"
#define RED "\x1b[31m"
#define YELLOW "\x1b[33m"
#define PLAIN "\x1b[0m"
#define NOTES_MAX 20 /* lines of one kind below a table; more are counted */

struct text {
	const struct result_set *set;
	const struct report_options *opt;
	const struct analysis *analysis;
	struct buf *out;
	const struct detail_sum *details; /* long forms: see details.h */
	size_t n_details;
	const struct finding **findings; /* by run, then host (those of no host first), then as found */
};
const char *report_colored(const struct text *t, const char *code);
/* Appends one piece of a line, made safe for a terminal: names and texts come from files. */
void report_addf(struct buf *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A value of the metric by itself with its unit, "-" for NaN. Returns out or a literal. */
const char *report_value(enum metric_id m, double v, char out[UNITS_LEN]);
/* Sorted as struct text wants them; caller frees. */
const struct finding **report_findings_by_host(const struct analysis *a);
/* How values of the metric are shown beside each other: for those of these rows that are of it, and so that
 * means which a comparison of the run (on that host; NULL: on any) tells apart look different. */
struct scale report_scale(const struct analysis *a, const struct analysis_run *r, const char *host,
	const struct result_row *rows, size_t n, enum metric_id m);
/* The last digit that a row's mean carries; 0: exact. */
double report_mean_resolution(const struct result_row *r);
/* "done", "imported; order, cache unknown". Appended. */
void report_state_text(const struct result_set *s, const struct result_run *r, struct buf *out);
/* "4 blocks in random order"; nothing where their number is not known. Appended. */
void report_blocks_text(const struct analysis_run *r, struct buf *out);
/* "elapsed, less is better". Appended. */
void report_metric_text(enum metric_id m, struct buf *out);
/* The spread of a row, appended: "±0.8%" for the 95 % interval of its mean where there are values enough,
 * "(0…3.21)" for one that ends at 0, else "[min…max]", both in the unit of the mean beside it; "-" where
 * there is one value. */
void report_spread_text(const struct result_row *r, const struct scale *s, struct buf *out);
/* "0.8%": the standard deviation over the mean; "-" where either is none, or the mean 0. Appended. */
void report_cv_text(const struct result_row *r, struct buf *out);
/* "3.2…4 MiB/s" of values with their units: the first one's is left out where the other has the same. */
void report_range_text(const char *from, const char *to, struct buf *out);
int report_has_interval(const struct result_row *r);
int report_has_range(const struct result_row *r); /* and no interval */

/* Tables of one host's rows (all of one run), one a metric, with the verdicts against the run's
 * baseline beside them. */
void report_tables(const struct text *t, const struct analysis_run *r,
	const struct result_row *rows, size_t n);
/* What the tables of that host compare its layouts with: the side of its first comparison in the run. NULL:
 * nothing is compared on it, and host NULL has no table. */
const char *report_baseline(const struct text *t, const struct analysis_run *r, const char *host);
/* Comparisons that no table shows: host NULL: over hosts and between them. */
void report_other_comparisons(const struct text *t, const struct analysis_run *r, const char *host);
/* What was to be compared and has nothing to show, over all hosts. */
void report_absent_lines(const struct text *t, const struct analysis_run *r);
/* Long reports: that host's comparisons by ranks alone, which decide nothing. NULL: those between
 * hosts. */
void report_ranks(const struct text *t, const struct analysis_run *r, const char *host);
void report_outliers(const struct text *t, const struct analysis_run *r);
/* host NULL: findings about the whole run. */
void report_findings(const struct text *t, const struct analysis_run *r, const char *host);
/* Those about single hosts, of all hosts together. */
void report_findings_of_hosts(const struct text *t, const struct analysis_run *r);
/* A report_name_fn of a struct text. */
const char *report_text_name(const void *text, const char *host, char out[REPORT_HOST_MAX]);

/* Whether hosts are too many to be printed one after the other. */
int report_is_fleet(const struct text *t, const struct analysis_run *r);
/* Instead of each host's tables: what the hosts' means are, over all of them, and at which hosts they are
 * least and most; then what failed and the findings. rows: as those of report_tables, of all hosts. */
void report_fleet(const struct text *t, const struct analysis_run *r, const struct result_row *rows,
	size_t n);
/* The run's trials that failed on that host, a line each until *n of them are NOTES_MAX; *n counts all. Then
 * how many more there are. */
void report_failed(const struct text *t, uint64_t run, const char *host, int with_host, size_t *n);
void report_failed_more(const struct text *t, size_t n);
/* How many trials of these rows are not counted, and why. */
void report_left_out(const struct text *t, const struct result_row *rows, size_t n);

#endif
