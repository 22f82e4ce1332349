/*
 * A result set taken apart: plans, hosts, rows. Owns what struct analysis owns.
 * Invariant: what is planned is fixed here, from plans and names alone, before a value is looked
 * at.
 */
#include "coordinator/results/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/workload.h"
#include "coordinator/results/rules.h"

struct plan *analysis_plan(const struct result_run *r)
{
	struct yaml_errors errs = {0};
	struct plan *p = NULL;
	struct err ignored;

	if (r->n_sources)
		return analysis_plan_of_sources(r);
	if (!r->plan_text || !*r->plan_text)
		return NULL;
	if (plan_parse(r->name, r->plan_text, strlen(r->plan_text), &r->sets, &p, &errs,
		    &ignored) != 0)
		p = NULL;
	yaml_errors_free(&errs);
	if (p && (p->n_layouts != r->layouts.n || p->n_workloads != r->workloads.n)) {
		plan_free(p);
		p = NULL;
	}
	return p;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void find_hosts(const struct result_set *s, struct analysis_run *r)
{
	const char **v = xcalloc(s->n_trials + s->n_envs + s->n_summaries + 1, sizeof(*v));
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < s->n_trials; i++)
		if (s->trials[i].run == r->run->id &&
			(n == 0 || strcmp(v[n - 1], s->trials[i].host) != 0))
			v[n++] = s->trials[i].host;
	for (size_t i = 0; i < s->n_envs; i++)
		if (s->envs[i].run == r->run->id)
			v[n++] = s->envs[i].host;
	for (size_t i = 0; i < s->n_summaries; i++)
		if (s->summaries[i].run == r->run->id)
			v[n++] = s->summaries[i].host;
	if (n)
		qsort(v, n, sizeof(*v), by_name);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || strcmp(v[kept - 1], v[i]) != 0)
			v[kept++] = v[i];
	r->hosts = v;
	r->n_hosts = kept;
}

static int is_kept(uint32_t workload, const struct analysis_run *r, const unsigned char *told)
{
	return workload < r->n_workloads && !told[workload];
}

/* Which metrics a layout's results have: bit 1 << metric. */
struct had {
	uint32_t workload, layout;
	unsigned metrics;
};

static int by_layout(const void *pa, const void *pb)
{
	const struct had *a = pa, *b = pb;

	if (a->workload != b->workload)
		return a->workload < b->workload ? -1 : 1;
	return (a->layout > b->layout) - (a->layout < b->layout);
}

/* What files printed; caller frees. */
static struct had *metrics_had(const struct result_set *s, const struct analysis_run *r, size_t *ret_n)
{
	struct had *v = xcalloc(s->n_trials + s->n_summaries + 1, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < s->n_trials; i++) {
		const struct result_trial *t = &s->trials[i];

		if (t->run != r->run->id || !t->n_printed || t->workload >= r->n_workloads)
			continue;
		v[n] = (struct had){t->workload, t->layout, 0};
		for (size_t k = 0; k < t->n_printed; k++)
			v[n].metrics |= analysis_metric_bit(t->printed[k].metric);
		n++;
	}
	for (size_t i = 0; i < s->n_summaries; i++) {
		const struct result_summary *m = &s->summaries[i];

		if (m->run == r->run->id && m->workload < r->n_workloads)
			v[n++] = (struct had){m->workload, m->layout, analysis_metric_bit(m->metric)};
	}
	if (n)
		qsort(v, n, sizeof(*v), by_layout);
	*ret_n = n;
	return v;
}

/* Where some layouts of a workload do not have what it would be judged by, and there is a metric that
 * all of them have, it is judged by that one. */
static void share_headlines(const struct result_set *s, struct analysis_run *r)
{
	size_t n, from = 0;
	struct had *v = metrics_had(s, r, &n);

	while (from < n) {
		uint32_t workload = v[from].workload;
		unsigned all = ~0u;

		while (from < n && v[from].workload == workload) {
			uint32_t layout = v[from].layout;
			unsigned any = 0;

			for (; from < n && v[from].workload == workload && v[from].layout == layout;
				from++)
				any |= v[from].metrics;
			all &= any;
		}
		for (unsigned m = 0; m < METRIC_COUNT; m++)
			if (!(all & analysis_metric_bit(r->headline[workload])) &&
				(all & analysis_metric_bit((enum metric_id)m)))
				r->headline[workload] = (enum metric_id)m;
	}
	free(v);
}

/* The first metric asked for that the workload has. */
static enum metric_id wished_headline(
	const struct result_wish *wish, const struct analysis_run *r, size_t workload)
{
	for (size_t i = 0; i < wish->n_metrics; i++)
		if (!analysis_lacks_metric(r, workload, wish->metrics[i]))
			return wish->metrics[i];
	return wish->metrics[0];
}

/* The plan's kind of work decides; what a file printed is judged by the first metric it printed that all
 * layouts have. */
static void find_headlines(const struct result_set *s, struct analysis_run *r)
{
	unsigned char *told;

	r->n_workloads = r->run->workloads.n;
	r->headline = xcalloc(r->n_workloads + 1, sizeof(*r->headline));
	if (r->plan)
		r->natures = xcalloc(r->plan->n_workloads + 1, sizeof(*r->natures));
	for (size_t w = 0; r->plan && w < r->plan->n_workloads; w++)
		workload_nature(&r->plan->workloads[w], &r->natures[w]);
	told = xcalloc(r->n_workloads + 1, 1);
	for (size_t w = 0; r->plan && w < r->n_workloads; w++)
		r->headline[w] = metric_find(workload_headline(&r->plan->workloads[w]));
	for (size_t i = 0; i < s->n_trials; i++) {
		const struct result_trial *t = &s->trials[i];

		if (t->run != r->run->id || !t->n_printed || !is_kept(t->workload, r, told))
			continue;
		r->headline[t->workload] = t->printed[0].metric;
		told[t->workload] = 1;
	}
	for (size_t i = 0; i < s->n_summaries; i++) {
		const struct result_summary *m = &s->summaries[i];

		if (m->run != r->run->id || !is_kept(m->workload, r, told))
			continue;
		r->headline[m->workload] = m->metric;
		told[m->workload] = 1;
	}
	share_headlines(s, r);
	for (size_t w = 0; s->wish.only && s->wish.n_metrics && w < r->n_workloads; w++)
		r->headline[w] = wished_headline(&s->wish, r, w);
	free(told);
}

static void add_metric(enum metric_id *list, size_t *n, enum metric_id m)
{
	for (size_t i = 0; i < *n; i++)
		if (list[i] == m)
			return;
	if (m < METRIC_COUNT)
		list[(*n)++] = m;
}

/* What layouts that lack a headline have instead. */
static void add_own_metrics(const struct analysis_run *r, enum metric_id *list, size_t *n)
{
	for (size_t i = 0; i < r->n_had; i++) {
		const struct result_had *h = &r->had[i];

		if (h->workload < r->n_workloads && h->metrics &&
			!(h->metrics & analysis_metric_bit(r->headline[h->workload])))
			add_metric(list, n, h->first);
	}
}

/* Headlines, what plans compare, and what reports show beside these. */
static size_t all_metrics(const struct analysis *a, const struct result_wish *wish,
	enum metric_id list[METRIC_COUNT])
{
	size_t n = 0;

	for (size_t i = 0; i < a->n_runs; i++) {
		const struct analysis_run *r = &a->runs[i];

		for (size_t w = 0; w < r->n_workloads; w++)
			add_metric(list, &n, r->headline[w]);
		for (size_t k = 0; r->plan && k < r->plan->metrics.n; k++)
			add_metric(list, &n, metric_find(r->plan->metrics.v[k]));
		add_own_metrics(r, list, &n);
	}
	for (size_t i = 0; i < wish->n_metrics; i++)
		add_metric(list, &n, wish->metrics[i]);
	add_metric(list, &n, METRIC_ELAPSED);
	return n;
}

static void find_rows(struct analysis *a)
{
	size_t at = 0;

	for (size_t i = 0; i < a->n_runs; i++) {
		struct analysis_run *r = &a->runs[i];

		while (at < a->n_rows && a->rows[at].run < r->run->id)
			at++;
		r->first_row = at;
		while (at < a->n_rows && a->rows[at].run == r->run->id)
			at++;
		r->n_rows = at - r->first_row;
	}
}

struct row_key {
	const char *host;
	uint32_t workload, layout;
	enum metric_id metric;
	const unsigned *place;
};

/* In the order of result_rows(). */
static int key_cmp(const void *key, const void *row)
{
	const struct row_key *k = key;
	const struct result_row *r = row;
	unsigned a = k->place[k->metric], b = k->place[r->metric];
	int c = strcmp(k->host, r->host);

	c = c ? c : (k->workload > r->workload_index) - (k->workload < r->workload_index);
	c = c ? c : (a > b) - (a < b);
	return c ? c : (k->layout > r->layout_index) - (k->layout < r->layout_index);
}

struct workload_nature analysis_nature(const struct analysis_run *r, const struct result_row *row)
{
	const char *op = row->listed && row->trials[0]->op ? row->trials[0]->op : "";
	struct workload_nature n = {0};

	if (r->plan && row->workload_index < r->plan->n_workloads)
		n = r->natures[row->workload_index];
	else if (strcmp(op, "read") == 0)
		n.moves = MOVES_READS;
	else if (strcmp(op, "write") == 0 || strcmp(op, "rewrite") == 0)
		n.moves = MOVES_WRITES;
	return n;
}

const struct result_row *analysis_row(const struct analysis *a, const struct analysis_run *r,
	const char *host, uint32_t workload, enum metric_id m, uint32_t layout)
{
	const struct row_key k = {host, workload, layout, m, a->place};

	if (!r->n_rows || m >= METRIC_COUNT || !a->place[m])
		return NULL;
	return bsearch(&k, a->rows + r->first_row, r->n_rows, sizeof(*a->rows), key_cmp);
}

/* Whether the finding is about the comparison, or about one side of it. */
static int concerns(const struct finding *f, const struct result_comparison *c)
{
	const char *side = c->between_hosts ? f->host : f->layout;
	const char *held = c->between_hosts ? c->layout : c->host; /* what both sides share */
	const char *other = c->between_hosts ? f->layout : f->host;

	if (f->run != c->run || (f->workload && strcmp(f->workload, c->workload) != 0) ||
		(f->metric != METRIC_COUNT && f->metric != c->metric))
		return 0;
	if (other && held && strcmp(other, held) != 0)
		return 0;
	return !side || strcmp(side, c->base) == 0 || strcmp(side, c->subject) == 0;
}

/* Whether the comparison's other side has what makes a finding about one side, too. */
static int both_have_it(const struct finding *f, const struct result_comparison *c,
	const struct finding *const *v, size_t n)
{
	const char *side = c->between_hosts ? f->host : f->layout;

	for (size_t i = 0; f->alike && side && i < n; i++) {
		const char *of = c->between_hosts ? v[i]->host : v[i]->layout;

		if (v[i]->rule == f->rule && v[i]->alike && strcmp(v[i]->alike, f->alike) == 0 && of &&
			strcmp(of, side) != 0 && concerns(v[i], c))
			return 1;
	}
	return 0;
}

/* Of those that make invalid, what is about one side of the comparison. */
static void mark_invalid(struct result_comparison *c, const struct finding *const *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (concerns(v[i], c) && !both_have_it(v[i], c, v, n) &&
			!strv_has(&c->invalid, v[i]->rule->id))
			strv_add(&c->invalid, v[i]->rule->id);
}

static void mark_all_invalid(struct analysis *a)
{
	const struct findings *all = &a->findings;
	const struct finding **v = xcalloc(all->n + 1, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		if (!all->v[i].unknown && all->v[i].severity == SEVERITY_INVALID)
			v[n++] = &all->v[i];
	for (size_t i = 0; n && i < a->n_comparisons; i++)
		mark_invalid(&a->comparisons[i], v, n);
	free(v);
}

int analysis_begin(const struct result_set *s, struct analysis *ret, struct err *e)
{
	enum metric_id metrics[METRIC_COUNT];
	struct analysis a = {.n_runs = s->n_runs};
	size_t n;

	a.runs = xcalloc(s->n_runs + 1, sizeof(*a.runs));
	for (size_t i = 0; i < s->n_runs; i++) {
		a.runs[i].run = &s->runs[i];
		a.runs[i].wish = &s->wish;
		a.runs[i].plan = analysis_plan(&s->runs[i]);
		find_hosts(s, &a.runs[i]);
		analysis_find_had(s, &a.runs[i]);
		find_headlines(s, &a.runs[i]);
	}
	n = all_metrics(&a, &s->wish, metrics);
	for (size_t i = 0; i < n; i++)
		a.place[metrics[i]] = (unsigned)i + 1;
	if (result_rows(s, metrics, n, &a.rows, &a.n_rows, e) != 0) {
		analysis_clear(&a);
		return -1;
	}
	find_rows(&a);
	*ret = a;
	return 0;
}

int analysis_make(const struct result_set *s, struct analysis *ret, struct err *e)
{
	struct analysis a;

	if (analysis_begin(s, &a, e) != 0)
		return -1;
	for (size_t i = 0; i < a.n_runs; i++)
		rules_check(s, &a, &a.runs[i], &a.findings);
	analysis_compare(&a);
	analysis_disks(&a, s);
	mark_all_invalid(&a);
	*ret = a;
	return 0;
}

void analysis_clear(struct analysis *a)
{
	for (size_t i = 0; i < a->n_runs; i++) {
		plan_free(a->runs[i].plan);
		free(a->runs[i].headline);
		free(a->runs[i].natures);
		free(a->runs[i].hosts);
		free(a->runs[i].had);
		free(a->runs[i].metrics);
	}
	for (size_t i = 0; i < a->n_comparisons; i++)
		strv_free(&a->comparisons[i].invalid);
	findings_clear(&a->findings);
	result_rows_free(a->rows, a->n_rows);
	free(a->runs);
	free(a->comparisons);
	free(a->absent);
	free(a->by_host);
	free(a->families);
	free(a->outliers);
	*a = (struct analysis){0};
}
