/*
 * A result set as text for people. Owns nothing beyond a call.
 * Invariant: every trial of the set is either in a row's n or named by a line below its table.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/results/report.h"
#include "coordinator/results/table.h"

#define BOLD "\x1b[1m"
#define RED "\x1b[31m"
#define YELLOW "\x1b[33m"
#define PLAIN "\x1b[0m"
#define NOTES_MAX 20 /* lines of one kind below a table; more are counted */

struct text {
	const struct result_set *set;
	const struct report_options *opt;
	struct buf *out;
};

static const char *colored(const struct text *t, const char *code)
{
	return t->opt->color ? code : "";
}

static const char *duration(double seconds, char out[UNITS_LEN])
{
	if (isnan(seconds))
		return "-";
	return units_duration((int64_t)llround(seconds * 1e9), out);
}

/* Of the same trials as the mean beside it: mean bytes over mean time. */
static const char *throughput(const struct result_row *r, char out[UNITS_LEN])
{
	double bytes = 0;

	for (unsigned i = 0; i < r->n; i++)
		bytes += (double)r->trials[i]->sum.bytes;
	if (r->n == 0 || bytes <= 0 || !(r->mean > 0))
		return "-";
	return units_rate(bytes / r->n / r->mean, out);
}

/* What the disks moved over what the workload moved; "-" where a trial has no counters. */
static const char *physical(const struct result_row *r, char out[UNITS_LEN])
{
	double moved = 0, asked = 0;

	for (unsigned i = 0; i < r->n; i++) {
		const struct result_trial *t = r->trials[i];
		int reads = strcmp(t->op, "read") == 0;

		if (t->sum.tele.disks == 0)
			return "-";
		moved += (double)(reads ? t->sum.tele.disk_read_bytes
					: t->sum.tele.disk_write_bytes);
		asked += (double)t->sum.bytes;
	}
	if (asked <= 0)
		return "-";
	snprintf(out, UNITS_LEN, "%.2f", moved / asked);
	return out;
}

static void heading(const struct text *t, struct table *table, const char *workload, int first)
{
	static const char *const names[] = {
		"n", "mean", "min", "max", "throughput", "physical/logical"};
	static const char *const more[] = {"median", "stddev", "cv"};

	table_row(table);
	table_cell(table, "%s", workload);
	for (size_t i = 0; first && i < ARRAY_LEN(names); i++)
		table_cell(table, "%s", names[i]);
	for (size_t i = 0; first && t->opt->long_form && i < ARRAY_LEN(more); i++)
		table_cell(table, "%s", more[i]);
}

static void add_row(const struct text *t, struct table *table, const struct result_row *r)
{
	char s[UNITS_LEN];

	table_row(table);
	table_cell(table, "%s", r->layout);
	table_cell(table, "%u", r->n);
	table_cell(table, "%s", duration(r->mean, s));
	table_cell(table, "%s", duration(r->min, s));
	table_cell(table, "%s", duration(r->max, s));
	table_cell(table, "%s", throughput(r, s));
	table_cell(table, "%s", physical(r, s));
	if (!t->opt->long_form)
		return;
	table_cell(table, "%s", duration(r->median, s));
	table_cell(table, "%s", duration(r->stddev, s));
	if (isnan(r->stddev))
		table_cell(table, "-");
	else
		table_cell(table, "%.1f%%", 100 * r->stddev / r->mean);
}

static void print_table(const struct text *t, const struct result_row *rows, size_t n)
{
	struct table table = {0};
	const char **before = xcalloc(2 * n, sizeof(*before)),
		   **after = xcalloc(2 * n, sizeof(*after));

	for (size_t i = 0; i < n; i++) {
		if (i == 0 || strcmp(rows[i].workload, rows[i - 1].workload) != 0) {
			before[table.n] = colored(t, BOLD);
			after[table.n] = colored(t, PLAIN);
			heading(t, &table, rows[i].workload, i == 0);
		}
		add_row(t, &table, &rows[i]);
	}
	table_print(&table, before, after, t->out);
	table_clear(&table);
	free(before);
	free(after);
}

static void print_trials(const struct text *t, const struct result_row *rows, size_t n)
{
	char s[UNITS_LEN];

	for (size_t i = 0; t->opt->long_form && i < n; i++) {
		if (rows[i].n == 0)
			continue;
		buf_addf(t->out, "trials     %s/%s:", rows[i].layout, rows[i].workload);
		for (unsigned k = 0; k < rows[i].n; k++)
			buf_addf(t->out, "%s block %u %s", k ? "," : "", rows[i].blocks[k],
				duration(rows[i].values[k], s));
		buf_addc(t->out, '\n');
	}
}

static int trial_is_of(const struct result_trial *x, uint64_t run, const char *host)
{
	return x->run == run && strcmp(x->host, host) == 0;
}

static void note(
	const struct text *t, const char *color, const char *word, const struct result_trial *x)
{
	buf_addf(t->out, "%s%-10s%s %s/%s block %u", colored(t, color), word, colored(t, PLAIN),
		x->layout_name, x->workload_name, x->block);
	if (x->repeat > 1)
		buf_addf(t->out, ".%u", x->repeat);
}

static void too_many(const struct text *t, const char *word, size_t n)
{
	if (n > NOTES_MAX)
		buf_addf(t->out, "%-10s %zu more\n", word, n - NOTES_MAX);
}

static void print_failed(const struct text *t, uint64_t run, const char *host)
{
	size_t n = 0;

	for (size_t i = 0; i < t->set->n_trials; i++) {
		const struct result_trial *x = &t->set->trials[i];

		if (!trial_is_of(x, run, host) || x->superseded || x->sum.ok || n++ >= NOTES_MAX)
			continue;
		note(t, RED, "failed", x);
		buf_addf(t->out, ": %s\n",
			x->sum.error && *x->sum.error ? x->sum.error : "no reason was given");
	}
	too_many(t, "failed", n);
}

static void print_missing(const struct text *t, uint64_t run, const char *host)
{
	size_t n = 0;

	for (size_t i = 0; i < t->set->n_trials; i++) {
		const struct result_trial *x = &t->set->trials[i];

		if (!trial_is_of(x, run, host) || x->superseded || !x->lost || n++ >= NOTES_MAX)
			continue;
		note(t, YELLOW, "missing", x);
		buf_addf(t->out,
			": %u records with samples were lost on the host; the totals are whole\n",
			x->lost);
	}
	too_many(t, "missing", n);
}

static void print_left_out(const struct text *t, const struct result_row *rows, size_t n)
{
	unsigned superseded = 0, incomplete = 0;

	for (size_t i = 0; i < n; i++) {
		superseded += rows[i].superseded;
		incomplete += rows[i].incomplete;
	}
	if (incomplete)
		buf_addf(t->out,
			"%s%-10s%s %u trial%s of units that have not ended well: not counted\n",
			colored(t, YELLOW), "unfinished", colored(t, PLAIN), incomplete,
			incomplete == 1 ? "" : "s");
	if (superseded)
		buf_addf(t->out, "%-10s %u trial%s of interrupted attempts: kept, not counted\n",
			"superseded", superseded, superseded == 1 ? "" : "s");
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
		for (unsigned k = 0; k < rows[i].n; k++) {
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

static void print_host(const struct text *t, const struct result_row *rows, size_t n)
{
	char name[REPORT_HOST_MAX], word[UNITS_LEN];
	const char *cache = other_cache(t, rows, n, word);

	buf_addf(t->out, "\n%s%s%s · elapsed, less is better%s%s\n", colored(t, BOLD),
		report_host(t->set, t->opt, rows[0].host, name), colored(t, PLAIN),
		cache ? " · cache " : "", cache ? cache : "");
	print_table(t, rows, n);
	print_trials(t, rows, n);
	print_failed(t, rows[0].run, rows[0].host);
	print_missing(t, rows[0].run, rows[0].host);
	print_left_out(t, rows, n);
}

static const char *design_text(const struct result_run *r)
{
	if (strcmp(r->design, "once") == 0)
		return "built once";
	if (strcmp(r->design, "as-written") == 0)
		return "in the order written";
	if (strcmp(r->design, "random-blocks") == 0)
		return "in random order";
	return "order unknown";
}

static void print_run(const struct text *t, const struct result_run *r)
{
	char s[UNITS_LEN];

	buf_addf(t->out, "%s%s%s · run %llu · %s", colored(t, BOLD), r->name, colored(t, PLAIN),
		(unsigned long long)r->id, r->state);
	if (r->started_wall_ns)
		buf_addf(t->out, " · %s", units_wall(r->started_wall_ns, s));
	if (r->started_wall_ns && r->finished_wall_ns > r->started_wall_ns)
		buf_addf(t->out, ", took %s",
			units_duration(r->finished_wall_ns - r->started_wall_ns, s));
	if (r->blocks)
		buf_addf(t->out, " · %u block%s %s", r->blocks, r->blocks == 1 ? "" : "s",
			design_text(r));
	if (*r->cache)
		buf_addf(t->out, " · %s", r->cache);
	buf_addc(t->out, '\n');
}

int report_text(
	const struct result_set *s, const struct report_options *o, struct buf *out, struct err *e)
{
	static const enum metric_id elapsed = METRIC_ELAPSED;
	struct text t = {s, o, out};
	struct result_row *rows = NULL;
	size_t n = 0;

	if (result_rows(s, &elapsed, 1, &rows, &n, e) != 0)
		return -1;
	for (size_t i = 0; i < s->n_runs; i++) {
		size_t from = 0, to;

		if (i)
			buf_addc(out, '\n');
		print_run(&t, &s->runs[i]);
		while (from < n && rows[from].run != s->runs[i].id)
			from++;
		if (from == n)
			buf_addf(out, "\nno trial has ended%s\n",
				s->runs[i].finished_wall_ns ? "" : " yet");
		for (; from < n && rows[from].run == s->runs[i].id; from = to) {
			for (to = from; to < n && rows[to].run == rows[from].run &&
					strcmp(rows[to].host, rows[from].host) == 0;)
				to++;
			print_host(&t, rows + from, to - from);
		}
	}
	result_rows_free(rows, n);
	return 0;
}
