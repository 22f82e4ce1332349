/*
 * A result set as Markdown tables. Owns nothing beyond a call.
 * Invariant: nothing from outside is read as markup; numbers and verdicts are those of the text
 * report.
 */
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/safe.h"
#include "coordinator/results/condition.h"
#include "coordinator/results/left_out.h"
#include "coordinator/results/report_markdown.h"
#include "coordinator/results/report_outliers.h"
#include "coordinator/results/report_said.h"
#include "coordinator/results/until.h"

/* A text as it is, in one line. */
void markdown_plain(const char *s, struct buf *out)
{
	char shown[SAFE_CHAR];

	while (*s) {
		if (strchr("\n\r\t", *s)) {
			buf_addc(out, ' ');
			s++;
			continue;
		}
		s += safe_char(s, strnlen(s, 4), shown);
		for (const char *c = shown; *c; c++)
			buf_addf(out, "%s%c", strchr("\\`*_{}[]<>|~&#@", *c) ? "\\" : "", *c);
	}
}

void markdown_cell(struct buf *out, const char *s)
{
	buf_adds(out, "| ");
	markdown_plain(s && *s ? s : " ", out);
	buf_addc(out, ' ');
}

static void value_cell(struct buf *out, const struct scale *s, double v, double resolution)
{
	char text[UNITS_LEN];

	markdown_cell(out, scale_text(s, v, resolution, text));
}

static void interval_cell(struct buf *out, const struct result_row *r, const struct scale *s)
{
	struct buf text = {0};

	report_spread_text(r, s, &text);
	markdown_cell(out, text.data);
	buf_free(&text);
}

void markdown_head(struct buf *out, const char *const *names, size_t n, unsigned right)
{
	for (size_t i = 0; i < n; i++)
		markdown_cell(out, names[i]);
	buf_adds(out, "|\n");
	for (size_t i = 0; i < n; i++)
		buf_adds(out, right >> i & 1 ? "| ---: " : "| --- ");
	buf_adds(out, "|\n");
}

static void result_line(const struct text *t, const struct result_row *r, const struct scale *s)
{
	struct buf *out = t->out;
	double most = report_mean_resolution(r);
	char text[UNITS_LEN], mean[UNITS_LEN + 2];

	markdown_cell(out, r->workload);
	markdown_cell(out, r->layout);
	buf_addf(out, "| %u ", r->n);
	snprintf(mean, sizeof(mean), "%s%s", scale_text(s, r->mean, most, text),
		report_unit_mark(r));
	markdown_cell(out, mean);
	interval_cell(out, r, s);
	buf_addf(out, "| %u ", r->failed);
	if (t->opt->long_form) {
		value_cell(out, s, r->median, most);
		value_cell(out, s, r->stddev, most);
		buf_adds(out, "| ");
		report_cv_text(r, out);
		buf_addc(out, ' ');
		value_cell(out, s, r->min, r->resolution);
		value_cell(out, s, r->max, r->resolution);
	}
	buf_adds(out, "|\n");
}

static void results_head(const struct text *t, const struct result_row *r)
{
	static const char *const names[] = {"workload", "layout", "n", "mean", "95% CI or range",
		"failed", "median", "stddev", "cv", "min", "max"};
	char host[REPORT_HOST_MAX];
	struct buf metric = {0};

	buf_adds(t->out, "\n### ");
	markdown_plain(report_host(t->set, t->opt, r->host, host), t->out);
	buf_adds(t->out, ": ");
	report_metric_text(r->metric, &metric);
	markdown_plain(metric.data, t->out);
	buf_free(&metric);
	buf_adds(t->out, "\n\n");
	markdown_head(t->out, names, t->opt->long_form ? ARRAY_LEN(names) : 6, ~3u);
}

static size_t rows_of_host(const struct result_row *first, const struct result_row *end)
{
	const struct result_row *row = first;

	while (row < end && strcmp(row->host, first->host) == 0)
		row++;
	return (size_t)(row - first);
}

static void left_out(const struct text *t, const struct left_out *l)
{
	for (unsigned kind = 0; kind < LEFT_KINDS; kind++) {
		if (!l->n[kind])
			continue;
		buf_addf(t->out, "\n%s: ", left_out_word(kind));
		left_out_text(l, kind, t->out);
		buf_addc(t->out, '\n');
	}
}

/* Of each host and metric the rows of headlines, and what stands for one; rows stand by host. */
static void results(const struct text *t, const struct analysis_run *r)
{
	const struct result_row *last = NULL, *end = t->analysis->rows + r->first_row + r->n_rows;
	struct left_out left = {0};
	struct scale scale;
	int assumed = 0;

	for (const struct result_row *row = end - r->n_rows; row < end; row++) {
		if (!analysis_is_shown(r, row))
			continue;
		left_out_add(&left, row);
		if (!last || strcmp(last->host, row->host) != 0 || last->metric != row->metric) {
			results_head(t, row);
			scale = report_scale(t->analysis, r, row->host, row, rows_of_host(row, end),
				row->metric);
		}
		result_line(t, row, &scale);
		assumed |= row->unit_assumed;
		last = row;
	}
	if (assumed)
		buf_adds(t->out, "\n" UNIT_MARK ": " UNIT_MARK_TEXT ".\n");
	left_out(t, &left);
	if (!last)
		buf_addf(t->out, "\n%s\n", report_nothing(t->set, r));
}

static void comparison_line(const struct text *t, const struct result_comparison *c)
{
	char a[REPORT_HOST_MAX], b[REPORT_HOST_MAX];
	struct buf text = {0};

	markdown_cell(t->out, c->workload);
	if (c->layout)
		markdown_cell(t->out, c->layout);
	else
		markdown_cell(t->out, c->host ? report_host(t->set, t->opt, c->host, a) : "all hosts");
	markdown_cell(t->out, metric_table[c->metric].name);
	markdown_cell(t->out, c->between_hosts ? report_host(t->set, t->opt, c->subject, a) : c->subject);
	markdown_cell(t->out, c->between_hosts ? report_host(t->set, t->opt, c->base, b) : c->base);
	compare_change_text(&c->c, &text);
	markdown_cell(t->out, buf_str(&text));
	buf_reset(&text);
	report_verdict_text(t->set, t->opt, c, &text);
	for (size_t i = 0; i < c->invalid.n; i++)
		buf_addf(&text, "%s%s", i ? ", " : " (invalid: ", c->invalid.v[i]);
	if (c->invalid.n)
		buf_addc(&text, ')');
	markdown_cell(t->out, buf_str(&text));
	buf_adds(t->out, "|\n");
	buf_free(&text);
}

/* What was to be compared and has nothing to show. */
static void absent(const struct text *t, const struct analysis_run *r)
{
	struct strv lines = {0};

	report_absent(t->set, t->opt, t->analysis, r, &lines);
	if (lines.n)
		buf_adds(t->out, "\nNot compared:\n\n");
	for (size_t i = 0; i < lines.n && i < NOTES_MAX; i++) {
		buf_adds(t->out, "- ");
		markdown_plain(lines.v[i], t->out);
		buf_addc(t->out, '\n');
	}
	if (lines.n > NOTES_MAX)
		buf_addf(t->out, "- %zu more\n", lines.n - NOTES_MAX);
	strv_free(&lines);
}

static void comparisons(const struct text *t, const struct analysis_run *r)
{
	static const char *const names[] = {
		"workload", "where", "metric", "subject", "against", "change", "verdict"};
	int some = 0;

	for (size_t i = 0; i < t->analysis->n_comparisons; i++) {
		const struct result_comparison *c = &t->analysis->comparisons[i];

		if (c->run != r->run->id)
			continue;
		if (!some) {
			buf_addf(t->out, "\n### Comparisons (%g%% CI, all comparisons)\n\n",
				analysis_confidence(t->analysis, r));
			markdown_head(t->out, names, ARRAY_LEN(names), 1u << 5);
		}
		some = 1;
		comparison_line(t, c);
	}
	absent(t, r);
}

static void outliers(const struct text *t, const struct analysis_run *r)
{
	struct strv lines = {0};

	report_outlier_lines(t->analysis, r, report_text_name, t, &lines);
	if (lines.n)
		buf_adds(t->out, "\n### Hosts and disks that stand out\n\n");
	for (size_t i = 0; i < lines.n; i++) {
		buf_adds(t->out, "- ");
		markdown_plain(lines.v[i], t->out);
		buf_addc(t->out, '\n');
	}
	strv_free(&lines);
}

static void finding(const struct text *t, const struct said *said, size_t i)
{
	const struct finding *f = said->v[i];
	struct buf text = {0};

	buf_addf(t->out, "- **%s** %s: ", f->unknown ? "unknown" : severity_name(f->severity),
		f->rule->id);
	report_said_about(said, i, t->analysis, report_text_name, t, &text);
	if (text.len) {
		markdown_plain(buf_str(&text), t->out);
		buf_adds(t->out, ": ");
	}
	buf_reset(&text);
	said_text(said, i, &text);
	markdown_plain(buf_str(&text), t->out);
	buf_addc(t->out, '\n');
	buf_free(&text);
}

/* What is invalid first; those alike once. */
static void findings(const struct text *t, const struct analysis_run *r)
{
	const struct finding **all = said_list(&t->analysis->findings);
	struct said said;
	int some = 0;

	said_group(all, t->analysis->findings.n, report_said_apart, t->analysis, &said);
	for (int level = SEVERITY_INVALID; level >= -1; level--)
		for (size_t i = 0; i < said.n; i++) {
			if (all[i]->run != r->run->id || said_level(all[i]) != level || said.first[i] != i)
				continue;
			if (!some)
				buf_adds(t->out, "\n### Findings\n\n");
			some = 1;
			finding(t, &said, i);
		}
	if (some)
		buf_adds(t->out, "\nWhat each rule means and why: arraymark-findings(7).\n");
	said_free(&said);
	free(all);
}

/* Where the number of blocks was left to the results: how many there were and why, host by host. */
static void blocks_run(const struct text *t, const struct analysis_run *r)
{
	char host[REPORT_HOST_MAX];
	struct buf text = {0};

	for (size_t h = 0; h < r->n_hosts; h++) {
		buf_reset(&text);
		until_host_text(t->set, r, r->hosts[h], &text);
		if (!text.len)
			break;
		buf_adds(t->out, h ? "- " : "\n- ");
		markdown_plain(report_host(t->set, t->opt, r->hosts[h], host), t->out);
		buf_adds(t->out, ": ");
		markdown_plain(buf_str(&text), t->out);
		buf_addc(t->out, '\n');
	}
	buf_free(&text);
}

static void conditions(const struct text *t)
{
	struct buf text = {0};

	for (size_t i = 0; i < t->opt->n_conditions; i++) {
		const struct condition *c = &t->opt->conditions[i];

		buf_reset(&text);
		condition_reason(c, t->analysis, &text);
		buf_addf(t->out, "%s- **%s** ", i ? "" : "\n## Conditions\n\n",
			condition_outcome_name(condition_outcome(c, t->analysis)));
		markdown_plain(text.data, t->out);
		buf_addc(t->out, '\n');
	}
	buf_free(&text);
}

int report_markdown(
	const struct result_set *s, const struct report_options *o, struct buf *out, struct err *e)
{
	struct analysis a;
	struct text t = {.set = s, .opt = o, .analysis = &a, .out = out};

	if (report_analysis(s, o, &a, e) != 0)
		return -1;
	for (size_t i = 0; i < a.n_runs; i++) {
		const struct result_run *r = a.runs[i].run;
		struct buf state = {0};
		char when[UNITS_LEN];

		report_state_text(s, r, &state);
		buf_adds(out, i ? "\n## " : "## ");
		markdown_plain(r->name, out);
		buf_addf(out, "\n\nrun %llu, ", (unsigned long long)r->id);
		markdown_plain(buf_str(&state), out);
		buf_free(&state);
		if (r->started_wall_ns)
			buf_addf(out, ", %s", units_wall_rfc3339(r->started_wall_ns, when));
		buf_addc(out, '\n');
		blocks_run(&t, &a.runs[i]);
		results(&t, &a.runs[i]);
		comparisons(&t, &a.runs[i]);
		if (o->long_form)
			markdown_details(&t, &a.runs[i]);
		outliers(&t, &a.runs[i]);
		findings(&t, &a.runs[i]);
	}
	conditions(&t);
	analysis_clear(&a);
	return 0;
}
