/*
 * The text report of many hosts: not each of them, but how far apart they are. Owns nothing beyond a call.
 * Invariant: hosts are the replicates here; a host counts once, whatever its trials.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/report_text.h"
#include "coordinator/results/stats.h"
#include "coordinator/results/table.h"

#define FLEET_HOSTS 12  /* so many are printed one after the other */
#define FEWER_HOSTS 6   /* of fewer trials than others: named; more are counted */

int report_is_fleet(const struct text *t, const struct analysis_run *r)
{
	return !t->opt->long_form && r->n_hosts > FLEET_HOSTS;
}

/* Rows of one layout, workload and metric, on all hosts. */
struct place {
	const struct result_row **rows;
	size_t n;
	const struct result_row *least, *most;
	struct stats of_means;
	unsigned trials; /* of most hosts: the largest number */
};

/* By workload, metric, layout; hosts as they come. */
static int by_place(const void *pa, const void *pb)
{
	const struct result_row *a = *(const struct result_row *const *)pa;
	const struct result_row *b = *(const struct result_row *const *)pb;
	int c = (a->workload_index > b->workload_index) - (a->workload_index < b->workload_index);

	c = c ? c : (a->metric > b->metric) - (a->metric < b->metric);
	c = c ? c : (a->layout_index > b->layout_index) - (a->layout_index < b->layout_index);
	return c ? c : (a > b) - (a < b);
}

static int is_same_place(const struct result_row *a, const struct result_row *b)
{
	return a->workload_index == b->workload_index && a->metric == b->metric &&
	       a->layout_index == b->layout_index;
}

static void describe(struct place *p)
{
	double *means = xcalloc(p->n, sizeof(*means));

	p->least = p->most = p->rows[0];
	for (size_t i = 0; i < p->n; i++) {
		means[i] = p->rows[i]->mean;
		if (p->rows[i]->mean < p->least->mean)
			p->least = p->rows[i];
		if (p->rows[i]->mean > p->most->mean)
			p->most = p->rows[i];
		p->trials = p->rows[i]->n > p->trials ? p->rows[i]->n : p->trials;
	}
	stats_describe(means, p->n, &p->of_means);
	free(means);
}

/* Caller frees ret and its rows' array, which is ret[0].rows. */
static struct place *places_of(const struct result_row *rows, size_t n, size_t *ret_n)
{
	const struct result_row **sorted = xcalloc(n, sizeof(*sorted));
	struct place *v = xcalloc(n, sizeof(*v));

	*ret_n = 0;
	for (size_t i = 0; i < n; i++)
		sorted[i] = &rows[i];
	qsort(sorted, n, sizeof(*sorted), by_place);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || !is_same_place(sorted[i - 1], sorted[i]))
			v[(*ret_n)++].rows = sorted + i;
		v[*ret_n - 1].n++;
	}
	for (size_t i = 0; i < *ret_n; i++)
		describe(&v[i]);
	return v;
}

static const struct place *place_of(const struct place *v, size_t n, const struct result_row *row)
{
	size_t i = 0;

	while (i + 1 < n && !is_same_place(v[i].rows[0], row))
		i++;
	return &v[i];
}

static void heading(struct table *table, const struct result_row *row, int first)
{
	static const char *const names[] = {"hosts", "mean", "95% CI", "least", "on", "most", "on"};

	table_row(table);
	table_cell(table, "%s", row->workload);
	for (size_t i = 0; first && i < ARRAY_LEN(names); i++)
		table_cell(table, "%s", names[i]);
}

static void extreme_cells(const struct text *t, struct table *table, const struct scale *s,
	const struct result_row *row)
{
	char value[UNITS_LEN], name[REPORT_HOST_MAX];

	table_cell(table, "%s", scale_text(s, row->mean, report_mean_resolution(row), value));
	table_cell(table, "%s", report_text_name(t, row->host, name));
}

static void place_row(const struct text *t, struct table *table, const struct scale *s, const struct place *p)
{
	double half = p->of_means.ci95[1] - p->of_means.mean;
	char value[UNITS_LEN];

	table_row(table);
	table_cell(table, "%s", p->rows[0]->layout);
	table_cell(table, "%zu", p->n);
	table_cell(table, "%s", scale_text(s, p->of_means.mean, report_mean_resolution(p->rows[0]), value));
	if (p->n > 1 && p->of_means.mean > 0)
		table_cell(table, "±%.1f%%", 100 * half / p->of_means.mean);
	else
		table_cell(table, "-");
	extreme_cells(t, table, s, p->least);
	extreme_cells(t, table, s, p->most);
}

/* Places of one metric. */
static void metric_table_of(const struct text *t, const struct place *v, size_t n)
{
	struct table table = {.left = 1u << 3 | 1u << 5 | 1u << 7};
	const char **before = xcalloc(2 * n, sizeof(*before)), **after = xcalloc(2 * n, sizeof(*after));
	struct scale s;

	scale_init(&s, metric_table[v[0].rows[0]->metric].unit);
	for (size_t i = 0; i < n; i++) {
		scale_take(&s, v[i].least->mean);
		scale_take(&s, v[i].most->mean);
	}
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || v[i].rows[0]->workload_index != v[i - 1].rows[0]->workload_index) {
			before[table.n] = report_colored(t, BOLD);
			after[table.n] = report_colored(t, PLAIN);
			heading(&table, v[i].rows[0], i == 0);
		}
		place_row(t, &table, &s, &v[i]);
	}
	if (t->opt->width && table_total(&table) > t->opt->width)
		table.stacked = 1;
	table_print(&table, before, after, t->out);
	table_clear(&table);
	free(before);
	free(after);
}

/* Hosts whose means are of fewer trials than others have: where most are lacking. rows: by host. */
static void fewer_line(const struct text *t, const struct place *v, size_t n_places,
	const struct result_row *rows, size_t n)
{
	char name[REPORT_HOST_MAX];
	struct buf hosts = {0};
	size_t fewer = 0;

	for (size_t from = 0, to; from < n; from = to) {
		unsigned least = 0, of = 0;

		for (to = from; to < n && strcmp(rows[to].host, rows[from].host) == 0; to++) {
			unsigned trials = place_of(v, n_places, &rows[to])->trials;

			if (trials - rows[to].n > of - least) {
				least = rows[to].n;
				of = trials;
			}
		}
		if (of > least && fewer++ < FEWER_HOSTS)
			buf_addf(&hosts, "%s%s (%u of %u)", hosts.len ? ", " : "",
				report_text_name(t, rows[from].host, name), least, of);
	}
	if (fewer > FEWER_HOSTS)
		buf_addf(&hosts, " and %zu more", fewer - FEWER_HOSTS);
	if (fewer) {
		report_addf(t->out, "%-10s fewer than elsewhere on %s", "trials", buf_str(&hosts));
		buf_addc(t->out, '\n');
	}
	buf_free(&hosts);
}

void report_fleet(const struct text *t, const struct analysis_run *r, const struct result_row *rows, size_t n)
{
	size_t n_places, failed = 0;
	struct place *v = places_of(rows, n, &n_places);

	buf_addf(t->out, "\n%s%zu hosts%s · ", report_colored(t, BOLD), r->n_hosts, report_colored(t, PLAIN));
	for (size_t from = 0, to; from < n_places; from = to) {
		for (to = from; to < n_places && v[to].rows[0]->metric == v[from].rows[0]->metric;)
			to++;
		report_metric_text(v[from].rows[0]->metric, t->out);
		buf_adds(t->out, from ? "\n" : " · each host by itself: --long\n");
		metric_table_of(t, v + from, to - from);
	}
	fewer_line(t, v, n_places, rows, n);
	for (size_t i = 0; i < r->n_hosts; i++)
		report_failed(t, r->run->id, r->hosts[i], 1, &failed);
	report_failed_more(t, failed);
	report_left_out(t, rows, n);
	report_findings_of_hosts(t, r);
	free(v[0].rows);
	free(v);
}
