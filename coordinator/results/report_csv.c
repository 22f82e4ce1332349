/*
 * A result set as CSV (RFC 4180). Owns nothing beyond a call.
 * Invariant: every line has all columns; a cell of text never begins as a formula, one of a number
 * always reads back as one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/safe.h"
#include "common/base/units.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/condition.h"
#include "coordinator/results/report.h"
#include "coordinator/results/until.h"

enum column { KIND, RUN, RUN_NAME, HOST, LAYOUT, WORKLOAD, METRIC, UNIT, BETTER, N, FAILED, MEAN,
	MEDIAN, STDDEV, CV, MIN, MAX, CI95_LOW, CI95_HIGH, RESOLUTION, BLOCK, STARTED, VALUE,
	BASELINE, RATIO, RATIO_LOW, RATIO_HIGH, P_ADJUSTED, K, VERDICT, INVALID, RULE, SEVERITY,
	TEXT, UNIT_ASSUMED, DISK, COLUMNS };
static const char *const names[COLUMNS] = {"kind", "run", "run_name", "host", "layout", "workload",
	"metric", "unit", "better", "n", "failed", "mean", "median", "stddev", "cv", "min", "max",
	"ci95_low", "ci95_high", "resolution", "block", "started", "value", "baseline", "ratio",
	"ratio_low", "ratio_high", "p_adjusted", "k", "verdict", "invalid", "rule", "severity",
	"text", "unit_assumed", "disk"};

struct csv {
	const struct result_set *set;
	const struct report_options *opt;
	struct buf *out;
	char *cell[COLUMNS]; /* of the line being made; NULL: empty */
};

/* Characters that make a spreadsheet compute what it should show. */
static int is_formula(const char *s)
{
	return *s && strchr("=+-@\t\r\n", *s);
}

static void text(struct csv *c, enum column at, const char *s)
{
	struct buf cell = {0};
	char shown[SAFE_CHAR];
	int quoted;

	if (!s || !*s)
		return;
	quoted = strpbrk(s, "\",;'\t\r\n") || *s == ' ' || s[strlen(s) - 1] == ' ';
	if (quoted)
		buf_addc(&cell, '"');
	if (is_formula(s))
		buf_addc(&cell, '\'');
	while (*s) {
		if (strchr("\n\r\t", *s)) {
			buf_addc(&cell, ' ');
			s++;
			continue;
		}
		if (*s == '"')
			buf_addc(&cell, '"');
		s += safe_char(s, strnlen(s, 4), shown);
		buf_adds(&cell, shown);
	}
	if (quoted)
		buf_addc(&cell, '"');
	free(c->cell[at]);
	c->cell[at] = buf_take(&cell);
}

static void number(struct csv *c, enum column at, double v)
{
	if (!isfinite(v))
		return;
	free(c->cell[at]);
	c->cell[at] = xasprintf("%.15g", v);
}

static void host(struct csv *c, enum column at, const char *name)
{
	char shown[REPORT_HOST_MAX];

	if (name)
		text(c, at, report_host(c->set, c->opt, name, shown));
}

static void end_line(struct csv *c)
{
	for (unsigned i = 0; i < COLUMNS; i++) {
		buf_addf(c->out, "%s%s", i ? "," : "", c->cell[i] ? c->cell[i] : "");
		free(c->cell[i]);
		c->cell[i] = NULL;
	}
	buf_adds(c->out, "\r\n");
}

static void begin(struct csv *c, const char *kind, uint64_t run)
{
	text(c, KIND, kind);
	number(c, RUN, (double)run);
	for (size_t i = 0; i < c->set->n_runs; i++)
		if (c->set->runs[i].id == run)
			text(c, RUN_NAME, c->set->runs[i].name);
}

static void metric(struct csv *c, enum metric_id m)
{
	text(c, METRIC, metric_table[m].name);
	text(c, UNIT, metric_table[m].unit);
	text(c, BETTER, metric_table[m].higher_is_better ? "higher" : "lower");
}

static void begin_row(struct csv *c, const char *kind, const struct result_row *r)
{
	begin(c, kind, r->run);
	host(c, HOST, r->host);
	text(c, LAYOUT, r->layout);
	text(c, WORKLOAD, r->workload);
	metric(c, r->metric);
}

static void result_line(struct csv *c, const struct result_row *r)
{
	begin_row(c, "result", r);
	number(c, N, r->n);
	number(c, FAILED, r->failed);
	number(c, MEAN, r->mean);
	number(c, MEDIAN, r->median);
	number(c, STDDEV, r->stddev);
	number(c, CV, r->mean != 0 ? r->stddev / r->mean : NAN);
	number(c, MIN, r->min);
	number(c, MAX, r->max);
	number(c, CI95_LOW, r->ci95[0]);
	number(c, CI95_HIGH, r->ci95[1]);
	number(c, RESOLUTION, r->resolution);
	if (r->unit_assumed)
		number(c, UNIT_ASSUMED, 1);
	end_line(c);
}

static void trial_lines(struct csv *c, const struct result_row *r)
{
	char when[UNITS_LEN];

	for (unsigned i = 0; i < r->listed; i++) {
		int64_t started = r->trials[i]->sum.started_wall_ns;

		begin_row(c, "trial", r);
		number(c, BLOCK, r->blocks[i]);
		number(c, VALUE, r->values[i]);
		text(c, STARTED, started ? units_wall_rfc3339(started, when) : NULL);
		end_line(c);
	}
}

/* Kind "absent" where there is nothing to compare; text says what a verdict lacks. */
static void comparison_line(struct csv *c, const struct result_comparison *v)
{
	struct buf invalid = {0}, lack = {0};

	begin(c, v->lack == LACK_RESULTS ? "absent" : "comparison", v->run);
	text(c, WORKLOAD, v->workload);
	metric(c, v->metric);
	if (v->between_hosts) {
		text(c, LAYOUT, v->layout);
		host(c, HOST, v->subject);
		host(c, BASELINE, v->base);
	} else {
		text(c, LAYOUT, v->subject);
		host(c, HOST, v->host);
		text(c, BASELINE, v->base);
	}
	number(c, N, v->c.n);
	number(c, RATIO, exp(v->c.d));
	number(c, RATIO_LOW, exp(v->c.lo));
	number(c, RATIO_HIGH, exp(v->c.hi));
	number(c, P_ADJUSTED, v->c.p_adjusted);
	number(c, K, v->k);
	text(c, VERDICT, verdict_name(v->c.verdict));
	if (v->lack)
		report_verdict_text(c->set, c->opt, v, &lack);
	text(c, TEXT, lack.data);
	buf_free(&lack);
	for (size_t i = 0; i < v->invalid.n; i++)
		buf_addf(&invalid, "%s%s", i ? " " : "", v->invalid.v[i]);
	text(c, INVALID, buf_str(&invalid));
	buf_free(&invalid);
	end_line(c);
}

/* A host of a run that left the number of blocks to the results: n is how many were wanted. */
static void until_line(struct csv *c, const struct analysis_run *r, const char *name)
{
	const struct result_stop *stop = until_stop(c->set, r->run->id, name);
	struct buf said = {0};

	until_host_text(c->set, r, name, &said);
	if (said.len) {
		begin(c, "until", r->run->id);
		host(c, HOST, name);
		number(c, N, stop ? stop->block : r->plan->trials_max);
		text(c, TEXT, said.data);
		end_line(c);
	}
	buf_free(&said);
}

static void condition_line(struct csv *c, const struct analysis *a, const struct condition *v)
{
	struct buf said = {0};

	condition_reason(v, a, &said);
	text(c, KIND, "condition");
	text(c, WORKLOAD, v->workload);
	metric(c, v->metric);
	text(c, VERDICT, condition_outcome_name(condition_outcome(v, a)));
	text(c, TEXT, said.data);
	end_line(c);
	buf_free(&said);
}

/* Kind "outlier": a host, or a disk of it; ratio is against its peers. */
static void outlier_line(struct csv *c, const struct result_outlier *v)
{
	begin(c, "outlier", v->run);
	host(c, HOST, v->host);
	text(c, LAYOUT, v->layout);
	text(c, WORKLOAD, v->workload);
	metric(c, v->metric);
	number(c, RATIO, v->ratio);
	text(c, DISK, v->disk);
	end_line(c);
}

static void finding_line(struct csv *c, const struct finding *f)
{
	begin(c, "finding", f->run);
	host(c, HOST, f->host);
	text(c, LAYOUT, f->layout);
	text(c, WORKLOAD, f->workload);
	text(c, RULE, f->rule->id);
	text(c, SEVERITY, f->unknown ? "unknown" : severity_name(f->severity));
	text(c, TEXT, f->text);
	end_line(c);
}

static int result_lines(struct csv *c, struct err *e)
{
	enum metric_id all[METRIC_COUNT];
	struct result_row *rows;
	size_t n;

	for (unsigned i = 0; i < METRIC_COUNT; i++)
		all[i] = (enum metric_id)i;
	if (result_rows(c->set, all, METRIC_COUNT, &rows, &n, e) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		result_line(c, &rows[i]);
	for (size_t i = 0; i < n && c->opt->long_form; i++)
		trial_lines(c, &rows[i]);
	result_rows_free(rows, n);
	return 0;
}

int report_csv(
	const struct result_set *s, const struct report_options *o, struct buf *out, struct err *e)
{
	struct csv c = {.set = s, .opt = o, .out = out};
	struct analysis a;

	if (report_analysis(s, o, &a, e) != 0)
		return -1;
	for (unsigned i = 0; i < COLUMNS; i++)
		text(&c, (enum column)i, names[i]);
	end_line(&c);
	if (result_lines(&c, e) != 0) {
		analysis_clear(&a);
		return -1;
	}
	for (size_t i = 0; i < a.n_comparisons; i++)
		comparison_line(&c, &a.comparisons[i]);
	for (size_t i = 0; i < a.n_absent; i++)
		comparison_line(&c, &a.absent[i]);
	for (size_t i = 0; i < a.n_runs; i++)
		for (size_t h = 0; h < a.runs[i].n_hosts; h++)
			until_line(&c, &a.runs[i], a.runs[i].hosts[h]);
	for (size_t i = 0; i < o->n_conditions; i++)
		condition_line(&c, &a, &o->conditions[i]);
	for (size_t i = 0; i < a.n_outliers; i++)
		outlier_line(&c, &a.outliers[i]);
	for (size_t i = 0; i < a.findings.n; i++)
		finding_line(&c, &a.findings.v[i]);
	analysis_clear(&a);
	return 0;
}
