/*
 * Reports: a result set as text for people, as tables or as one JSON document. Pure: the set (after
 * export_read_end) goes in, text comes out, no clock, no terminal.
 */
#ifndef COORDINATOR_RESULTS_REPORT_H
#define COORDINATOR_RESULTS_REPORT_H

#include "common/base/buf.h"
#include "coordinator/results/set.h"

struct condition;
struct report_options {
	int color;                /* text: with ANSI colours */
	int long_form;            /* text: also median, standard deviation, range, each trial */
	unsigned width;           /* text: columns that there are; 0: any number */
	int redact;               /* host names become host-1, …; serials, WWNs and paths go */
	const char *tool_version; /* JSON; NULL: this program's */
	/* Said where the verdicts are, in Markdown, CSV and HTML. */
	const struct condition *conditions;
	size_t n_conditions;
	/* JSON, which may be large: takes what is written so far and resets the buffer; -1: e. NULL: all
	 * of the report stays in the buffer. */
	int (*drain)(void *arg, struct buf *out, struct err *e);
	void *drain_arg;
};

/* Per run and host: for each workload a table of its layouts (n, mean and its 95 % interval of the
 * headline metric; throughput, physical bytes over logical bytes where they are known; change and
 * verdict against the baseline), then other comparisons, what failed or is not counted, and the
 * findings. n counts blocks. Appended to out, with a final newline. */
int report_text(
	const struct result_set *s, const struct report_options *o, struct buf *out, struct err *e);
/* The document of `report --format json`. */
int report_json(
	const struct result_set *s, const struct report_options *o, struct buf *out, struct err *e);

/* Tables for a document or a ticket: results with verdicts, then findings, a section a run. */
int report_markdown(
	const struct result_set *s, const struct report_options *o, struct buf *out, struct err *e);
/* A line of column names, then one line for each result of every metric, each trial (long form),
 * comparison, condition and finding, told apart by the first column. Plain numbers in the unit named, "." as
 * decimal point; ratios are of the baseline. Text is safe in spreadsheets: what would be taken for
 * a formula gets a ' in front. Lines end in CR LF (RFC 4180). */
int report_csv(
	const struct result_set *s, const struct report_options *o, struct buf *out, struct err *e);

/* One page that holds all it needs: plots (where this program was built with the library for them),
 * a table beside each, findings, environment, plan. It loads and sends nothing. */
int report_html(
	const struct result_set *s, const struct report_options *o, struct buf *out, struct err *e);

/* Beside a value whose unit was assumed, and what that means. */
#define UNIT_MARK "?"
#define UNIT_MARK_TEXT                                                                             \
	"the unit was printed as KB, MB or GB and is taken as a power of 1000; nothing printed "   \
	"beside it tells whether powers of 1024 were meant"
const char *report_unit_mark(const struct result_row *row); /* UNIT_MARK or "" */

/* The host's name as reports show it; into out. Numbers follow the names' order. */
#define REPORT_HOST_MAX 256
const char *report_host(const struct result_set *s, const struct report_options *o,
	const char *host, char out[REPORT_HOST_MAX]);

struct analysis;
struct analysis_run;
struct result_comparison;
/* What to say of a run that has no row: a literal. */
const char *report_nothing(const struct result_set *s, const struct analysis_run *r);
/* The verdict in words, or what is lacking for one. Appended. */
void report_verdict_text(const struct result_set *s, const struct report_options *o,
	const struct result_comparison *c, struct buf *out);
/* Planned comparisons of the run that have nothing to show, each lack said once: "b has no result of
 * read on 3 hosts". Appended to the list. */
void report_absent(const struct result_set *s, const struct report_options *o,
	const struct analysis *a, const struct analysis_run *r, struct strv *ret);
/* analysis_make() for what a report shows: redacted, the findings' texts and evidence have hosts by
 * report_host() and neither serial, WWN nor path of a disk that the set tells of. */
int report_analysis(const struct result_set *s, const struct report_options *o,
	struct analysis *ret, struct err *e);

/* Whether a report shows this command of the set. */
int report_step_is_shown(const struct result_set *set, const struct result_step *s);

#endif
