/*
 * First in the HTML report: what was found, and how sure it is. Owns nothing beyond a call.
 * Invariant: what is invalid stands beside the verdict it spoils, wherever that verdict is shown.
 */
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/condition.h"
#include "coordinator/results/import.h"
#include "coordinator/results/report_html.h"

#define ODD_MAX 5 /* hosts and disks that stand out, told beside the verdict */

#define SENTENCES_MAX 8 /* more are counted; the table has them all */

static int is_headline(const struct analysis_run *r, const struct result_comparison *c)
{
	return r->wish->only ||
	       (c->workload_index < r->n_workloads && r->headline[c->workload_index] == c->metric);
}

/* Comparisons that a run is judged by: over all hosts where there are such, else those of each
 * host. */
static int has_overall(const struct html *h, const struct analysis_run *r)
{
	for (size_t i = 0; i < h->analysis->n_comparisons; i++) {
		const struct result_comparison *c = &h->analysis->comparisons[i];

		if (c->run == r->run->id && !c->host && !c->between_hosts && is_headline(r, c))
			return 1;
	}
	return 0;
}

static int is_leading(
	const struct analysis_run *r, const struct result_comparison *c, int overall)
{
	return c->run == r->run->id && is_headline(r, c) &&
	       (!overall || (!c->host && !c->between_hosts));
}

static void sentence(struct html *h, const struct result_comparison *c)
{
	struct buf words = {0}, text = {0};
	char host[REPORT_HOST_MAX];

	buf_addf(h->out, "<li class=\"%s%s\"><strong>", verdict_name(c->c.verdict),
		c->invalid.n ? " invalid" : "");
	html_verdict_text(h, c, &words);
	html_text(h->out, words.data);
	buf_adds(h->out, "</strong> ");
	html_pair_text(h, c, &text);
	buf_addf(&text, " on %s, %s", c->workload, metric_table[c->metric].name);
	if (c->host && strcmp(c->host, IMPORT_HOST) != 0)
		buf_addf(&text, ", host %s", html_host(h, c->host, host));
	buf_adds(&text, ": ");
	compare_change_text(&c->c, &text);
	if (!c->c.n)
		buf_adds(&text, "nothing to compare");
	html_text(h->out, text.data);
	buf_adds(h->out, "</li>\n");
	buf_free(&words);
	buf_free(&text);
}

/* Those that tell a difference come first. */
static void sentences(struct html *h, const struct analysis_run *r, int overall)
{
	static const enum verdict order[] = {
		VERDICT_SLOWER, VERDICT_FASTER, VERDICT_NO_DIFFERENCE, VERDICT_TOO_FEW};
	size_t n = 0;

	buf_adds(h->out, "<ul class=\"verdicts\">\n");
	for (size_t v = 0; v < ARRAY_LEN(order); v++)
		for (size_t i = 0; i < h->analysis->n_comparisons; i++) {
			const struct result_comparison *c = &h->analysis->comparisons[i];

			if (is_leading(r, c, overall) && c->c.verdict == order[v] &&
				n++ < SENTENCES_MAX)
				sentence(h, c);
		}
	buf_adds(h->out, "</ul>\n");
	if (n > SENTENCES_MAX)
		buf_addf(h->out, "<p class=\"hint\">%zu more are in the table below.</p>\n",
			n - SENTENCES_MAX);
}

/* How the sentence over all of them counts a comparison, as its own words have it. */
enum counted { NO_METRIC, NO_SPREAD_TOLD, IDENTICAL, FEW_BLOCKS, BY_VERDICT };

static size_t counted_as(const struct result_comparison *c)
{
	if (c->lack)
		return NO_METRIC;
	if (c->c.spread_untold)
		return NO_SPREAD_TOLD;
	if (c->c.identical)
		return IDENTICAL;
	return c->c.unpaired ? FEW_BLOCKS : BY_VERDICT + (size_t)c->c.verdict;
}

/* One sentence over all of them. */
static void lead(struct html *h, const struct analysis_run *r, int overall)
{
	static const char *const words[] = {"without a metric in common",
		"without a spread told", "identical", "with too few complete blocks", "with too few trials",
		"without a difference shown", "faster", "slower"};
	size_t count[ARRAY_LEN(words)] = {0}, invalid = 0, n = 0;
	const char *sep = ": ";

	for (size_t i = 0; i < h->analysis->n_comparisons; i++) {
		const struct result_comparison *c = &h->analysis->comparisons[i];

		if (!is_leading(r, c, overall))
			continue;
		count[counted_as(c)]++;
		invalid += c->invalid.n > 0;
		n++;
	}
	buf_addf(h->out, "<p class=\"lead\">%zu comparison%s", n, n == 1 ? "" : "s");
	if (overall)
		buf_addf(h->out, " over %zu hosts", r->n_hosts);
	for (size_t v = ARRAY_LEN(words); v-- > 0;) {
		if (!count[v])
			continue;
		buf_addf(h->out, "%s%zu %s", sep, count[v], words[v]);
		sep = ", ";
	}
	if (invalid)
		buf_addf(h->out, "; %zu of them invalid", invalid);
	buf_adds(h->out, ".</p>\n");
}

static void run_verdict(struct html *h, const struct analysis_run *r)
{
	int overall = has_overall(h, r);
	size_t n = 0;

	for (size_t i = 0; i < h->analysis->n_comparisons; i++)
		n += (size_t)is_leading(r, &h->analysis->comparisons[i], overall);
	if (r->n_rows == 0)
		buf_addf(h->out, "<p class=\"lead\">N%s.</p>\n", report_nothing(h->set, r) + 1);
	else if (n == 0)
		buf_adds(h->out, "<p class=\"lead\">Nothing is compared here.</p>\n");
	else
		lead(h, r, overall);
	if (n)
		sentences(h, r, overall);
}

/* "2 invalid findings and 1 warning qualify this; 8 rules lack what they need", with the way there. */
static void qualified(struct html *h)
{
	size_t invalid = html_findings_count(h, SEVERITY_INVALID), unknown = html_unknown_rules(h);
	size_t warnings = html_findings_count(h, SEVERITY_WARNING);
	struct buf text = {0};

	if (invalid)
		buf_addf(&text, "%zu invalid finding%s%s", invalid, invalid == 1 ? "" : "s",
			warnings ? " and " : "");
	if (warnings)
		buf_addf(&text, "%zu warning%s", warnings, warnings == 1 ? "" : "s");
	if (text.len)
		buf_adds(&text, invalid + warnings == 1 ? " qualifies this" : " qualify this");
	if (unknown)
		buf_addf(&text, "%s%zu check%s", text.len ? "; " : "", unknown,
			unknown == 1 ? " lacks what it needs" : "s lack what they need");
	if (text.len)
		buf_addf(h->out, "<p class=\"qualified%s\"><a href=\"#findings\">%s</a></p>\n",
			invalid ? " invalid" : warnings ? " warning" : "", text.data);
	buf_free(&text);
}

static void conditions(struct html *h)
{
	struct buf text = {0};

	if (h->opt->n_conditions)
		buf_adds(h->out, "<ul class=\"verdicts\">\n");
	for (size_t i = 0; i < h->opt->n_conditions; i++) {
		const struct condition *c = &h->opt->conditions[i];
		const char *outcome = condition_outcome_name(condition_outcome(c, h->analysis));

		buf_reset(&text);
		condition_reason(c, h->analysis, &text);
		buf_addf(h->out, "<li class=\"%s\"><strong>%s</strong> ", outcome, outcome);
		html_text(h->out, text.data);
		buf_adds(h->out, "</li>\n");
	}
	if (h->opt->n_conditions)
		buf_adds(h->out, "</ul>\n");
	buf_free(&text);
}

void html_verdict(struct html *h)
{
	size_t before, n, odd;

	html_section(h, "verdict", "Verdict");
	if (h->analysis->n_runs == 0)
		buf_adds(h->out, "<p class=\"lead\">There is no run in this report.</p>\n");
	for (size_t i = 0; i < h->analysis->n_runs; i++) {
		html_run_heading(h, &h->analysis->runs[i]);
		run_verdict(h, &h->analysis->runs[i]);
	}
	conditions(h);
	qualified(h);
	before = h->out->len;
	buf_adds(h->out, "<ul class=\"findings\">\n");
	n = html_findings_list(h, SEVERITY_INVALID);
	odd = html_outliers(h, ODD_MAX);
	if (odd > ODD_MAX)
		buf_addf(h->out, "<li class=\"warning\"><strong>stands out</strong> %zu more: see the "
				 "<a href=\"#findings\">findings</a></li>\n", odd - ODD_MAX);
	buf_adds(h->out, "</ul>\n");
	if (n + odd == 0) { /* take the empty list back */
		h->out->len = before;
		h->out->data[before] = '\0';
	}
	html_section_end(h);
}
