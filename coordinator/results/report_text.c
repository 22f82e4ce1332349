/*
 * A result set as text for people. Owns nothing beyond a call.
 * Invariant: every trial of the set is either in a row's n or named by a line below its table.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/safe.h"
#include "coordinator/results/left_out.h"
#include "coordinator/results/report_details.h"
#include "coordinator/results/until.h"

const char *report_colored(const struct text *t, const char *code)
{
	return t->opt->color ? code : "";
}

void report_addf(struct buf *out, const char *fmt, ...)
{
	va_list ap;
	char *raw;

	va_start(ap, fmt);
	raw = xvasprintf(fmt, ap);
	va_end(ap);
	safe_add(raw, out);
	free(raw);
}

static void print_trials(
	const struct text *t, const struct analysis_run *r, const struct result_row *rows, size_t n)
{
	struct scale column, own;
	char s[UNITS_LEN];

	for (size_t i = 0; t->opt->long_form && i < n; i++) {
		if (i == 0 || rows[i].metric != rows[i - 1].metric)
			column = report_scale(t->analysis, r, rows[i].host, rows, n, rows[i].metric);
		if (rows[i].listed == 0)
			continue;
		own = column;
		scale_tell_apart(&own, rows[i].min, rows[i].resolution, rows[i].max, rows[i].resolution);
		report_addf(t->out, "trials     %s/%s:", rows[i].layout, rows[i].workload);
		for (unsigned k = 0; k < rows[i].listed; k++)
			buf_addf(t->out, "%s block %u %s", k ? " ·" : "", rows[i].blocks[k],
				scale_text(&own, rows[i].values[k], rows[i].resolution, s));
		buf_addc(t->out, '\n');
	}
}

static int trial_is_of(const struct result_trial *x, uint64_t run, const char *host)
{
	return x->run == run && strcmp(x->host, host) == 0;
}

static void failed_line(const struct text *t, const struct result_trial *x, const char *host)
{
	buf_addf(t->out, "%s%-10s%s", report_colored(t, RED), "failed", report_colored(t, PLAIN));
	report_addf(t->out, " %s/%s block %u", x->layout_name, x->workload_name, x->block);
	if (x->repeat > 1)
		buf_addf(t->out, ".%u", x->repeat);
	report_addf(t->out, "%s%s", host ? " on " : "", host ? host : "");
	if (!t->opt->redact) /* reasons name devices and folders */
		report_addf(t->out, ": %s",
			x->sum.error && *x->sum.error ? x->sum.error : "no reason was given");
	buf_addc(t->out, '\n');
}

void report_failed(const struct text *t, uint64_t run, const char *host, int with_host, size_t *n)
{
	char name[REPORT_HOST_MAX];

	for (size_t i = result_first_trial(t->set, run, host); i < t->set->n_trials; i++) {
		const struct result_trial *x = &t->set->trials[i];

		if (!trial_is_of(x, run, host))
			break;
		if (x->superseded || x->sum.ok || (*n)++ >= NOTES_MAX)
			continue;
		failed_line(t, x, with_host ? report_text_name(t, host, name) : NULL);
	}
}

void report_failed_more(const struct text *t, size_t n)
{
	if (n > NOTES_MAX)
		buf_addf(t->out, "%-10s %zu more\n", "failed", n - NOTES_MAX);
}

const char *report_nothing(const struct result_set *s, const struct analysis_run *r)
{
	for (size_t i = 0; i < s->n_trials; i++)
		if (s->trials[i].run == r->run->id && s->trials[i].sum.ok && s->trials[i].complete)
			return "no trial has a value: each took no time";
	return r->run->finished_wall_ns ? "no trial has ended" : "no trial has ended yet";
}

void report_left_out(const struct text *t, const struct result_row *rows, size_t n)
{
	struct left_out left = {0};

	for (size_t i = 0; i < n; i++)
		left_out_add(&left, &rows[i]);
	for (unsigned kind = 0; kind < LEFT_KINDS; kind++) {
		if (!left.n[kind])
			continue;
		buf_addf(t->out, "%s%-10s%s ", report_colored(t, kind == LEFT_SUPERSEDED ? "" : YELLOW),
			left_out_word(kind), report_colored(t, kind == LEFT_SUPERSEDED ? "" : PLAIN));
		left_out_text(&left, kind, t->out);
		buf_addc(t->out, '\n');
	}
}

/* What was done to the caches before the trials of a host, when it is not what the run asked for:
 * the part before the colon, or "mixed". NULL: as asked. */
static const char *other_cache(
	const struct text *t, const struct result_row *rows, size_t n, char out[UNITS_LEN])
{
	const char *asked = "";
	int found = 0;

	for (size_t i = 0; i < t->set->n_runs; i++)
		if (t->set->runs[i].id == rows[0].run)
			asked = t->set->runs[i].cache;
	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < rows[i].listed; k++) {
			const char *done = rows[i].trials[k]->cache;
			char word[UNITS_LEN];

			snprintf(word, sizeof(word), "%.*s", (int)strcspn(done, ":"), done);
			if (found && strcmp(word, out) != 0)
				return "mixed";
			memcpy(out, word, sizeof(word));
			found = 1;
		}
	return found && *out && strcmp(out, asked) != 0 ? out : NULL;
}

/* How many blocks there were and why, where that was left to the results. */
static void print_until(const struct text *t, const struct analysis_run *r, const char *host)
{
	struct buf text = {0};

	until_host_text(t->set, r, host, &text);
	if (text.len)
		buf_addf(t->out, "%s\n", text.data);
	buf_free(&text);
}

static void print_unit_mark(const struct text *t, const struct result_row *rows, size_t n)
{
	int assumed = 0;

	for (size_t i = 0; i < n; i++)
		assumed |= rows[i].unit_assumed;
	if (assumed)
		buf_addf(t->out, "%-10s %s\n", UNIT_MARK, UNIT_MARK_TEXT);
}

static void print_host(
	const struct text *t, const struct analysis_run *r, const struct result_row *rows, size_t n)
{
	char name[REPORT_HOST_MAX], word[UNITS_LEN];
	const char *cache = other_cache(t, rows, n, word);
	size_t failed = 0;

	buf_addf(t->out, "\n%s", report_colored(t, BOLD));
	report_addf(t->out, "%s", report_host(t->set, t->opt, rows[0].host, name));
	buf_adds(t->out, report_colored(t, PLAIN));
	buf_adds(t->out, " · ");
	report_metric_text(rows[0].metric, t->out);
	report_addf(t->out, "%s%s", cache ? " · cache " : "", cache ? cache : "");
	buf_addc(t->out, '\n');
	print_until(t, r, rows[0].host);
	report_tables(t, r, rows, n);
	print_unit_mark(t, rows, n);
	report_other_comparisons(t, r, rows[0].host);
	report_ranks(t, r, rows[0].host);
	print_trials(t, r, rows, n);
	report_details(t, r, rows[0].host);
	report_failed(t, rows[0].run, rows[0].host, 0, &failed);
	report_failed_more(t, failed);
	report_left_out(t, rows, n);
	report_findings(t, r, rows[0].host);
}

static void print_run(const struct text *t, const struct analysis_run *ar)
{
	const struct result_run *r = ar->run;
	struct buf state = {0}, blocks = {0};
	char s[UNITS_LEN];

	report_state_text(t->set, r, &state);
	report_blocks_text(ar, &blocks);
	buf_adds(t->out, report_colored(t, BOLD));
	report_addf(t->out, "%s", r->name);
	buf_adds(t->out, report_colored(t, PLAIN));
	report_addf(t->out, " · run %llu · %s", (unsigned long long)r->id, buf_str(&state));
	if (r->started_wall_ns)
		buf_addf(t->out, " · %s", units_wall(r->started_wall_ns, s));
	if (r->started_wall_ns && r->finished_wall_ns > r->started_wall_ns)
		buf_addf(t->out, ", took %s",
			units_duration(r->finished_wall_ns - r->started_wall_ns, s));
	if (blocks.len)
		buf_addf(t->out, " · %s", buf_str(&blocks));
	if (*r->cache)
		report_addf(t->out, " · %s", r->cache);
	buf_addc(t->out, '\n');
	buf_free(&state);
	buf_free(&blocks);
}

/* The rows of a run's headline metrics, and what stands for one; caller frees the array alone. */
static struct result_row *headline_rows(
	const struct text *t, const struct analysis_run *r, size_t *ret_n)
{
	struct result_row *rows = xcalloc(r->n_rows + 1, sizeof(*rows));
	size_t n = 0;

	for (size_t i = r->first_row; i < r->first_row + r->n_rows; i++) {
		const struct result_row *row = &t->analysis->rows[i];

		if (analysis_is_shown(r, row))
			rows[n++] = *row;
	}
	*ret_n = n;
	return rows;
}

static void print_results(const struct text *t, const struct analysis_run *r)
{
	size_t n, from = 0, to;
	struct result_row *rows = headline_rows(t, r, &n);

	if (n == 0)
		buf_addf(t->out, "\n%s\n", report_nothing(t->set, r));
	if (n && report_is_fleet(t, r)) {
		report_fleet(t, r, rows, n);
		from = n;
	}
	for (; from < n; from = to) {
		for (to = from; to < n && strcmp(rows[to].host, rows[from].host) == 0;)
			to++;
		print_host(t, r, rows + from, to - from);
	}
	if (n) {
		report_other_comparisons(t, r, NULL);
		report_absent_lines(t, r);
		report_ranks(t, r, NULL);
		report_outliers(t, r);
		report_findings(t, r, NULL);
	}
	free(rows);
}

int report_text(
	const struct result_set *s, const struct report_options *o, struct buf *out, struct err *e)
{
	struct analysis a;
	struct text t = {.set = s, .opt = o, .analysis = &a, .out = out};
	struct detail_sum *details = NULL;

	if (report_analysis(s, o, &a, e) != 0)
		return -1;
	if (o->long_form)
		result_details(s, &details, &t.n_details);
	t.details = details;
	t.findings = report_findings_by_host(&a);
	for (size_t i = 0; i < a.n_runs; i++) {
		if (i)
			buf_addc(out, '\n');
		print_run(&t, &a.runs[i]);
		print_results(&t, &a.runs[i]);
	}
	if (a.findings.n && a.n_rows)
		buf_addf(out, "%-10s %s\n", "findings", "see arraymark-findings(7)");
	result_details_free(details, t.n_details);
	free(t.findings);
	analysis_clear(&a);
	return 0;
}
