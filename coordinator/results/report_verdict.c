/*
 * Below the tables of the text report: comparisons that no table shows, hosts that stand out,
 * findings. Owns nothing beyond a call.
 * Invariant: what is invalid comes first, and no finding is left out without being counted.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/report_outliers.h"
#include "coordinator/results/report_text.h"
#include "coordinator/results/said.h"
#include "coordinator/results/table.h"

#define SUBJECTS_MAX 6 /* named in one line; more are counted */

/* baseline: of its host's tables. */
static int is_shown_in_table(
	const struct analysis_run *r, const struct result_comparison *c, const char *baseline)
{
	return c->host && baseline && r->headline[c->workload_index] == c->metric &&
	       strcmp(baseline, c->base) == 0;
}

/* Where it is too wide for the terminal, the first columns stand above the rest. */
static void print_below(const struct text *t, struct table *table, unsigned columns)
{
	if (t->opt->width && table_total(table) > t->opt->width)
		table->stacked = columns;
	table_print(table, NULL, NULL, t->out);
	table_clear(table);
}

static void comparison_row(
	const struct text *t, const struct result_comparison *c, struct table *table)
{
	struct buf text = {0};
	char a[REPORT_HOST_MAX], b[REPORT_HOST_MAX];
	const char *subject = c->subject, *base = c->base;

	if (c->between_hosts) {
		subject = report_host(t->set, t->opt, subject, a);
		base = report_host(t->set, t->opt, base, b);
	}
	table_row(table);
	table_cell(table, "%s%s%s", c->layout ? c->layout : "", c->layout ? "/" : "", c->workload);
	table_cell(table, "%s", metric_table[c->metric].name);
	table_cell(table, "%s vs %s", subject, base);
	compare_change_text(&c->c, &text);
	table_cell(table, "%s", buf_str(&text));
	buf_reset(&text);
	report_verdict_text(t->set, t->opt, c, &text);
	if (c->invalid.n)
		buf_adds(&text, " [invalid:");
	for (size_t i = 0; i < c->invalid.n; i++)
		buf_addf(&text, " %s%s", c->invalid.v[i], i + 1 < c->invalid.n ? "," : "]");
	table_cell(table, "%s", buf_str(&text));
	buf_free(&text);
}

void report_other_comparisons(const struct text *t, const struct analysis_run *r, const char *host)
{
	struct table table = {.left = ~0u};
	size_t n;
	const struct analysis_place *of = analysis_of_host(t->analysis, host, &n);
	const char *baseline = report_baseline(t, r, host);

	for (size_t i = 0; i < n && of[i].number < t->analysis->n_comparisons; i++) {
		const struct result_comparison *c = &t->analysis->comparisons[of[i].number];

		if (c->run != r->run->id || is_shown_in_table(r, c, baseline))
			continue;
		if (table.n == 0 && !host)
			buf_addf(t->out, "\n%s%s %zu hosts%s · %g%% CI, all comparisons\n",
				report_colored(t, BOLD), c->between_hosts ? "between" : "over",
				r->n_hosts, report_colored(t, PLAIN),
				analysis_confidence(t->analysis, r));
		comparison_row(t, c, &table);
	}
	print_below(t, &table, 3);
}

void report_absent_lines(const struct text *t, const struct analysis_run *r)
{
	struct strv lines = {0};

	report_absent(t->set, t->opt, t->analysis, r, &lines);
	for (size_t i = 0; i < lines.n && i < NOTES_MAX; i++) {
		report_addf(t->out, "%-10s %s", "absent", lines.v[i]);
		buf_addc(t->out, '\n');
	}
	if (lines.n > NOTES_MAX)
		buf_addf(t->out, "%-10s %zu more\n", "absent", lines.n - NOTES_MAX);
	strv_free(&lines);
}

/* "U 0 of 16, p 0.029; Hodges-Lehmann +4.4% (+3.1%…+5.6%)" */
static void ranks_cells(const struct ranks *r, struct table *table)
{
	struct buf shift = {0};

	table_cell(table, "U %.12g of %.0f", r->u, (double)r->n_base * r->n_subject);
	table_cell(table, "p %.2g%s", r->p, r->exact ? "" : " (normal law)");
	if (isnan(r->shift)) {
		buf_adds(&shift, "-");
	} else {
		compare_percent_text(r->shift, &shift);
		buf_adds(&shift, isnan(r->lo) ? " (too few for an interval)" : " (");
	}
	if (!isnan(r->lo)) {
		compare_percent_text(r->lo, &shift);
		buf_adds(&shift, "…");
		compare_percent_text(r->hi, &shift);
		buf_addc(&shift, ')');
	}
	table_cell(table, "Hodges-Lehmann %s", buf_str(&shift));
	buf_free(&shift);
}

void report_ranks(const struct text *t, const struct analysis_run *r, const char *host)
{
	struct table table = {.left = ~0u};
	char a[REPORT_HOST_MAX], b[REPORT_HOST_MAX];
	size_t n;
	const struct analysis_place *of = analysis_of_host(t->analysis, host, &n);

	for (size_t i = 0; t->opt->long_form && i < n; i++) {
		const struct result_comparison *c = analysis_planned(t->analysis, of[i].number);
		const char *subject = c->subject, *base = c->base;
		struct ranks ranks;

		if (c->run != r->run->id || !analysis_ranks(c, &ranks))
			continue;
		if (c->between_hosts) {
			subject = report_host(t->set, t->opt, subject, a);
			base = report_host(t->set, t->opt, base, b);
		}
		if (table.n == 0)
			buf_adds(t->out, "by ranks alone, each comparison for itself; decides nothing:\n");
		table_row(&table);
		table_cell(&table, "%s%s%s", c->layout ? c->layout : "", c->layout ? "/" : "",
			c->workload);
		table_cell(&table, "%s", metric_table[c->metric].name);
		table_cell(&table, "%s vs %s", subject, base);
		ranks_cells(&ranks, &table);
	}
	print_below(t, &table, 3);
}

const char *report_text_name(const void *text, const char *host, char out[REPORT_HOST_MAX])
{
	const struct text *t = text;

	return report_host(t->set, t->opt, host, out);
}

void report_outliers(const struct text *t, const struct analysis_run *r)
{
	struct strv lines = {0};

	report_outlier_lines(t->analysis, r, report_text_name, t, &lines);
	for (size_t i = 0; i < lines.n && i < NOTES_MAX; i++) {
		report_addf(t->out, "stands out %s", lines.v[i]);
		buf_addc(t->out, '\n');
	}
	if (lines.n > NOTES_MAX)
		buf_addf(t->out, "stands out %zu more\n", lines.n - NOTES_MAX);
	strv_free(&lines);
}

static int by_place(const struct finding *f, uint64_t run, const char *host)
{
	if (f->run != run)
		return f->run < run ? -1 : 1;
	if (!f->host || !host)
		return (f->host != NULL) - (host != NULL);
	return strcmp(f->host, host);
}

static int by_host(const void *pa, const void *pb)
{
	const struct finding *a = *(const struct finding *const *)pa,
			     *b = *(const struct finding *const *)pb;
	int c = by_place(a, b->run, b->host);

	return c ? c : (a > b) - (a < b);
}

const struct finding **report_findings_by_host(const struct analysis *a)
{
	const struct finding **v = said_list(&a->findings);

	qsort(v, a->findings.n, sizeof(*v), by_host);
	return v;
}

/* What is said about one host, or (host NULL) about the whole run, in the order of the rules. */
static void gather(const struct text *t, const struct analysis_run *r, const char *host, struct said *ret)
{
	size_t all = t->analysis->findings.n, from = 0, to = all, n = 0;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (by_place(t->findings[mid], r->run->id, host) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	while (from + n < all && by_place(t->findings[from + n], r->run->id, host) == 0)
		n++;
	said_group(t->findings + from, n, NULL, NULL, ret);
}

static const char *level_word(int level)
{
	return level < 0 ? "unknown" : severity_name((enum severity)level);
}

static const char *level_color(const struct text *t, int level)
{
	if (level == SEVERITY_INVALID)
		return report_colored(t, RED);
	return report_colored(t, level == SEVERITY_WARNING ? YELLOW : "");
}

static void level_line(const struct text *t, int level)
{
	buf_addf(t->out, "%s%-10s%s ", level_color(t, level), level_word(level),
		report_colored(t, PLAIN));
}

/* "hba8/load, hba10/load" of all findings that say what the i-th one says. */
static void subjects_text(const struct said *all, size_t i, struct buf *out)
{
	size_t n = 0;

	for (size_t k = i; k < all->n; k = all->next[k]) {
		if (n++ >= SUBJECTS_MAX)
			continue;
		if (out->len)
			buf_adds(out, ", ");
		finding_subject(all->v[k], out);
	}
	if (n > SUBJECTS_MAX)
		buf_addf(out, " and %zu more", n - SUBJECTS_MAX);
}

/* Those about something have a line each; those about the whole run, or a host whose section this is, share
 * one. fleet: hosts are told, too. */
static void level_findings(const struct text *t, const struct said *all, int level, int fleet)
{
	struct buf whole = {0}, subjects = {0}, text = {0};
	const struct rule *last = NULL;
	size_t lines = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct finding *f = all->v[i];

		if (said_level(f) != level || all->first[i] != i)
			continue;
		buf_reset(&text);
		said_text(all, i, &text);
		if (!f->layout && !f->workload && !fleet) {
			if (last == f->rule)
				buf_addf(&whole, ", %s", buf_str(&text));
			else
				buf_addf(&whole, "%s%s %s", whole.len ? " · " : "", f->rule->id,
					buf_str(&text));
			last = f->rule;
			continue;
		}
		if (lines++ >= NOTES_MAX)
			continue;
		buf_reset(&subjects);
		if (fleet)
			report_said_about(all, i, t->analysis, report_text_name, t, &subjects);
		else
			subjects_text(all, i, &subjects);
		level_line(t, level);
		report_addf(t->out, "%s %s: %s", f->rule->id, buf_str(&subjects), buf_str(&text));
		buf_addc(t->out, '\n');
	}
	if (lines > NOTES_MAX)
		buf_addf(t->out, "%-10s %zu more\n", level_word(level), lines - NOTES_MAX);
	if (whole.len) {
		level_line(t, level);
		report_addf(t->out, "%s", buf_str(&whole));
		buf_addc(t->out, '\n');
	}
	buf_free(&whole);
	buf_free(&subjects);
	buf_free(&text);
}

/* What the run lacks, and the rules that cannot tell without it. */
static void unknown_findings(const struct text *t, const struct said *all)
{
	struct buf line = {0};

	for (size_t i = 0; i < all->n; i++) {
		const char *text = all->v[i]->text;
		int told = 0;

		if (!all->v[i]->unknown)
			continue;
		for (size_t k = 0; k < i && !told; k++)
			told = all->v[k]->unknown && strcmp(all->v[k]->text, text) == 0;
		if (told)
			continue;
		buf_addf(&line, "%s%s:", line.len ? " · " : "", text);
		for (size_t k = i; k < all->n; k++)
			if (all->v[k]->unknown && strcmp(all->v[k]->text, text) == 0)
				buf_addf(&line, " %s", all->v[k]->rule->id);
	}
	if (line.len) {
		level_line(t, -1);
		report_addf(t->out, "%s", buf_str(&line));
		buf_addc(t->out, '\n');
	}
	buf_free(&line);
}

void report_findings(const struct text *t, const struct analysis_run *r, const char *host)
{
	struct said said;

	gather(t, r, host, &said);
	for (int level = SEVERITY_INVALID; level >= 0; level--)
		level_findings(t, &said, level, 0);
	unknown_findings(t, &said);
	said_free(&said);
}

void report_findings_of_hosts(const struct text *t, const struct analysis_run *r)
{
	size_t all = t->analysis->findings.n, from = 0, to;
	struct said said;

	while (from < all && (t->findings[from]->run != r->run->id || !t->findings[from]->host))
		from++;
	for (to = from; to < all && t->findings[to]->run == r->run->id;)
		to++;
	said_group(t->findings + from, to - from, NULL, NULL, &said);
	for (int level = SEVERITY_INVALID; level >= 0; level--)
		level_findings(t, &said, level, 1);
	unknown_findings(t, &said);
	said_free(&said);
}
