/*
 * The comparisons of a result set: families first, then one verdict a pair. Owns nothing.
 * Invariant: a family's size follows from plans, layouts, the hosts that took part and the metrics
 * that a workload has, never from a value; every planned pair gets exactly one comparison, or one per
 * host where hosts are reported apart.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/outliers.h"

struct pairs {
	struct plan_pair *v;
	size_t n;
};
struct metrics {
	enum metric_id v[METRIC_COUNT];
	size_t n;
};

static int compares_hosts(const struct analysis_run *r)
{
	if (r->wish->by != BY_PLAN)
		return r->wish->by == BY_HOST;
	return r->plan && strcmp(r->plan->by, "host") == 0;
}

double analysis_margin(const struct analysis_run *r)
{
	if (r->wish->has_margin)
		return r->wish->margin;
	return r->plan ? r->plan->margin : r->run->margin;
}

static void add_all_pairs(struct pairs *p, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = i + 1; k < n; k++)
			p->v[p->n++] = (struct plan_pair){i, k};
}

static void add_pairs_with(struct pairs *p, unsigned n, unsigned baseline)
{
	for (unsigned i = 0; i < n; i++)
		if (i != baseline)
			p->v[p->n++] = (struct plan_pair){baseline, i};
}

/* The layout or host of that name; -1 where the run has none. */
static int place_of(const struct analysis_run *r, const char *name)
{
	size_t n = compares_hosts(r) ? r->n_hosts : r->run->layouts.n;

	for (size_t i = 0; i < n; i++)
		if (strcmp(compares_hosts(r) ? r->hosts[i] : r->run->layouts.v[i], name) == 0)
			return (int)i;
	return -1;
}

/* Those that the reader chose, with the first of them. Their family
 * is larger, see chosen_from. */
static void add_chosen(struct pairs *p, const struct analysis_run *r)
{
	const struct strv *chosen = &r->wish->chosen;
	int base = place_of(r, chosen->v[0]);

	for (size_t i = 1; base >= 0 && i < chosen->n; i++) {
		int other = place_of(r, chosen->v[i]);

		if (other >= 0)
			p->v[p->n++] = (struct plan_pair){(unsigned)base, (unsigned)other};
	}
}

/* Pairs of layouts, or of hosts where the plan compares these: always with the first one. */
static struct pairs planned_pairs(const struct analysis_run *r)
{
	unsigned layouts = (unsigned)r->run->layouts.n, hosts = (unsigned)r->n_hosts;
	size_t most = (size_t)layouts * layouts + hosts + r->wish->chosen.n +
		      (r->plan ? r->plan->n_pairs : 0) + 1;
	struct pairs p = {xcalloc(most, sizeof(*p.v)), 0};
	int baseline = r->plan ? r->plan->baseline : r->run->baseline;

	if (r->wish->chosen.n) {
		add_chosen(&p, r);
	} else if (compares_hosts(r)) {
		add_pairs_with(&p, hosts, 0);
	} else if (r->plan && r->plan->n_pairs) {
		p.n = r->plan->n_pairs;
		memcpy(p.v, r->plan->pairs, p.n * sizeof(*p.v));
	} else if (baseline >= 0 && (unsigned)baseline < layouts) {
		add_pairs_with(&p, layouts, (unsigned)baseline);
	} else {
		add_all_pairs(&p, layouts);
	}
	return p;
}

static void add_metric(struct metrics *m, enum metric_id id)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->v[i] == id)
			return;
	if (id < METRIC_COUNT)
		m->v[m->n++] = id;
}

/* Those that the workload has, once it has results: by what none of its layouts has there is nothing
 * to compare. */
static struct metrics planned_metrics(const struct analysis_run *r, size_t workload)
{
	struct metrics m = {.n = 0};

	for (size_t i = 0; !r->wish->only && r->plan && i < r->plan->metrics.n; i++) {
		enum metric_id id = metric_find(r->plan->metrics.v[i]);

		if (!analysis_lacks_metric(r, workload, id))
			add_metric(&m, id);
	}
	if (m.n == 0 && !r->wish->only)
		add_metric(&m, r->headline[workload]);
	for (size_t i = 0; i < r->wish->n_metrics; i++)
		if (!analysis_lacks_metric(r, workload, r->wish->metrics[i]))
			add_metric(&m, r->wish->metrics[i]);
	return m;
}

struct compare_side analysis_side(const struct result_row *row)
{
	if (!row)
		return (struct compare_side){0};
	return (struct compare_side){.values = row->values,
		.blocks = row->blocks,
		.n = row->summary_only ? row->n : row->listed,
		.summary_only = row->summary_only,
		.mean = row->mean,
		.min = row->min,
		.max = row->max,
		.has_stddev = row->summary_only && !isnan(row->stddev),
		.stddev = row->stddev,
		.stddev_resolution = row->stddev_resolution,
		.resolution = row->resolution};
}

static struct compare_host host_of(const struct analysis *a, const struct analysis_run *r,
	const char *host, size_t workload, enum metric_id m, struct plan_pair p)
{
	return (struct compare_host){
		analysis_side(analysis_row(a, r, host, (uint32_t)workload, m, p.first)),
		analysis_side(analysis_row(a, r, host, (uint32_t)workload, m, p.second)),
		strcmp(r->run->design, "random-blocks") == 0};
}

/* Whether the hosts are the replicates of that pair; else they are reported apart. */
static int hosts_are_replicates(const struct analysis *a, const struct analysis_run *r,
	size_t workload, enum metric_id m, struct plan_pair p, struct compare_host *hosts)
{
	for (size_t h = 0; h < r->n_hosts; h++)
		hosts[h] = host_of(a, r, r->hosts[h], workload, m, p);
	return r->n_hosts >= 3 && compare_hosts_with_both(hosts, r->n_hosts) >= 3;
}

/* Pairs that could have been chosen for each one that was; 1 where nothing was chosen. */
static size_t chosen_from(const struct analysis_run *r, size_t pairs)
{
	size_t all = compares_hosts(r) ? r->n_hosts : r->run->layouts.n;

	if (r->wish->chosen.n == 0 || pairs == 0)
		return 1;
	all = all * (all - 1) / 2;
	return all <= pairs ? 1 : (all + pairs - 1) / pairs;
}

/* How many comparisons a run plans for one of its workloads. */
static unsigned planned(const struct analysis *a, const struct analysis_run *r, size_t workload)
{
	struct pairs p = planned_pairs(r);
	struct metrics m = planned_metrics(r, workload);
	struct compare_host *hosts = xcalloc(r->n_hosts + 1, sizeof(*hosts));
	size_t k = 0;

	for (size_t i = 0; i < p.n; i++)
		for (size_t j = 0; j < m.n; j++) {
			if (compares_hosts(r))
				k += r->run->layouts.n;
			else if (hosts_are_replicates(a, r, workload, m.v[j], p.v[i], hosts))
				k++;
			else
				k += r->n_hosts ? r->n_hosts : 1;
		}
	free(hosts);
	free(p.v);
	return (unsigned)(k * chosen_from(r, p.n));
}

static struct result_family *family_of(struct analysis *a, const char *workload)
{
	for (size_t i = 0; i < a->n_families; i++)
		if (strcmp(a->families[i].workload, workload) == 0)
			return &a->families[i];
	a->families = xreallocarray(a->families, a->n_families + 1, sizeof(*a->families));
	a->families[a->n_families] = (struct result_family){workload, 0, COMPARE_ALPHA};
	return &a->families[a->n_families++];
}

static double alpha_of(const struct analysis_run *r)
{
	return r->plan && r->plan->until > 0 ? COMPARE_ALPHA_UNTIL : COMPARE_ALPHA;
}

int analysis_ranks(const struct result_comparison *c, struct ranks *ret)
{
	const struct result_row *base = c->base_row, *subject = c->subject_row;

	if (!base || !subject || !base->listed || !subject->listed)
		return 0;
	ranks_compare(base->values, base->listed, subject->values, subject->listed, ret);
	return !isnan(ret->p);
}

const struct result_comparison *analysis_planned(const struct analysis *a, size_t i)
{
	return i < a->n_comparisons ? &a->comparisons[i] : &a->absent[i - a->n_comparisons];
}

/* Those without a host first; of a host by number. */
static int by_host(const void *va, const void *vb)
{
	const struct analysis_place *a = va, *b = vb;
	int c = !a->host || !b->host ? (a->host != NULL) - (b->host != NULL) : strcmp(a->host, b->host);

	return c ? c : a->number < b->number ? -1 : a->number > b->number;
}

static void index_hosts(struct analysis *a)
{
	size_t n = a->n_comparisons + a->n_absent;

	a->by_host = xcalloc(n + 1, sizeof(*a->by_host));
	for (size_t i = 0; i < n; i++)
		a->by_host[i] = (struct analysis_place){analysis_planned(a, i)->host, i};
	if (n)
		qsort(a->by_host, n, sizeof(*a->by_host), by_host);
}

/* Where the host's first place from that number on is, or would be. */
static size_t place_from(const struct analysis *a, const char *host, size_t number)
{
	size_t lo = 0, hi = a->n_comparisons + a->n_absent;
	const struct analysis_place key = {host, number};

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (by_host(&a->by_host[mid], &key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct analysis_place *analysis_of_host(const struct analysis *a, const char *host, size_t *ret_n)
{
	size_t first = place_from(a, host, 0);

	*ret_n = place_from(a, host, SIZE_MAX) - first;
	return a->by_host + first;
}

double analysis_confidence(const struct analysis *a, const struct analysis_run *r)
{
	double alpha = 0;

	for (size_t i = 0; i < a->n_comparisons + a->n_absent; i++)
		if (analysis_planned(a, i)->run == r->run->id)
			alpha = fmax(alpha, analysis_planned(a, i)->alpha);
	return 100 * (1 - (alpha > 0 ? alpha : COMPARE_ALPHA));
}

static void count_families(struct analysis *a)
{
	for (size_t i = 0; i < a->n_runs; i++)
		for (size_t w = 0; w < a->runs[i].n_workloads; w++) {
			struct result_family *f = family_of(a, a->runs[i].run->workloads.v[w]);

			f->k += planned(a, &a->runs[i], w);
			f->alpha = fmin(f->alpha, alpha_of(&a->runs[i]));
		}
}

/* What a comparison has before its values are looked at. */
static struct result_comparison comparison_new(
	struct analysis *a, const struct analysis_run *r, size_t workload, enum metric_id m)
{
	const char *name = r->run->workloads.v[workload];
	const struct result_family *f = family_of(a, name);

	return (struct result_comparison){.run = r->run->id,
		.workload = name,
		.workload_index = (uint32_t)workload,
		.metric = m,
		.alpha = f->alpha,
		.margin = analysis_margin(r),
		.k = f->k};
}

struct capacity {
	size_t comparisons, absent;
};

static void add(struct analysis *a, struct result_comparison c, const struct compare_host *hosts,
	size_t n, struct capacity *cap)
{
	const struct compare_terms t = {
		c.alpha, c.k, metric_table[c.metric].higher_is_better, c.margin};

	compare(hosts, n, &t, &c.c);
	if (c.lack == LACK_RESULTS) {
		a->absent = xgrow(a->absent, a->n_absent, &cap->absent, sizeof(*a->absent));
		a->absent[a->n_absent++] = c;
		return;
	}
	a->comparisons = xgrow(
		a->comparisons, a->n_comparisons, &cap->comparisons, sizeof(*a->comparisons));
	a->comparisons[a->n_comparisons++] = c;
}

static void compare_layouts(struct analysis *a, const struct analysis_run *r, size_t workload,
	enum metric_id m, struct plan_pair p, struct capacity *cap)
{
	struct compare_host *hosts = xcalloc(r->n_hosts + 1, sizeof(*hosts));
	struct result_comparison c = comparison_new(a, r, workload, m);

	c.base_index = p.first;
	c.subject_index = p.second;
	c.base = r->run->layouts.v[p.first];
	c.subject = r->run->layouts.v[p.second];
	if (hosts_are_replicates(a, r, workload, m, p, hosts)) {
		add(a, c, hosts, r->n_hosts, cap);
	} else {
		for (size_t h = 0; h < r->n_hosts; h++) {
			c.host = r->hosts[h];
			c.base_row = analysis_row(
				a, r, c.host, (uint32_t)workload, m, p.first);
			c.subject_row = analysis_row(
				a, r, c.host, (uint32_t)workload, m, p.second);
			analysis_find_lack(&c, analysis_had(r, c.host, (uint32_t)workload, p.first),
				analysis_had(r, c.host, (uint32_t)workload, p.second));
			add(a, c, &hosts[h], 1, cap);
		}
	}
	free(hosts);
}

static void compare_two_hosts(struct analysis *a, const struct analysis_run *r, size_t workload,
	enum metric_id m, struct plan_pair p, struct capacity *cap)
{
	for (uint32_t l = 0; l < r->run->layouts.n; l++) {
		struct result_comparison c = comparison_new(a, r, workload, m);
		struct compare_host h = {.random_blocks = 0};

		c.base_row = analysis_row(a, r, r->hosts[p.first], (uint32_t)workload, m, l);
		c.subject_row = analysis_row(a, r, r->hosts[p.second], (uint32_t)workload, m, l);
		h.base = analysis_side(c.base_row);
		h.subject = analysis_side(c.subject_row);
		c.base = r->hosts[p.first];
		c.subject = r->hosts[p.second];
		c.layout = r->run->layouts.v[l];
		c.between_hosts = 1;
		analysis_find_lack(&c, analysis_had(r, c.base, (uint32_t)workload, l),
			analysis_had(r, c.subject, (uint32_t)workload, l));
		add(a, c, &h, 1, cap);
	}
}

struct compare_precision *analysis_precision(const struct analysis *a, const struct analysis_run *r,
	const char *host, size_t workload, unsigned n_hosts, size_t *ret_n, unsigned *ret_k)
{
	struct pairs p = planned_pairs(r);
	struct metrics m = planned_metrics(r, workload);
	struct compare_precision *v = xcalloc(p.n * m.n + 1, sizeof(*v));
	unsigned k = (unsigned)(p.n * m.n) * (n_hosts == 2 ? 2 : 1);
	const struct compare_terms t = {alpha_of(r), k ? k : 1, 0, 0};
	size_t n = 0;

	for (size_t i = 0; i < p.n; i++)
		for (size_t j = 0; j < m.n; j++) {
			struct compare_host h = host_of(a, r, host, workload, m.v[j], p.v[i]);
			struct compared c;

			compare(&h, 1, &t, &c);
			v[n++] = (struct compare_precision){c.se, c.df};
		}
	free(p.v);
	*ret_n = n;
	*ret_k = t.k;
	return v;
}

static double mean_log(const struct result_row *row)
{
	double sum = 0;

	for (unsigned i = 0; i < row->listed; i++)
		sum += log(row->values[i]);
	return row->listed ? sum / row->listed : NAN;
}

/* Hosts of one layout and workload against each other. */
static void find_outliers(
	struct analysis *a, const struct analysis_run *r, size_t workload, uint32_t layout)
{
	double *v = xcalloc(r->n_hosts + 1, sizeof(*v));
	size_t *out = xcalloc(r->n_hosts + 1, sizeof(*out)), n = 0, called;
	const struct result_row **rows = xcalloc(r->n_hosts + 1, sizeof(*rows));
	double margin = analysis_margin(r), peers;

	for (size_t h = 0; h < r->n_hosts; h++) {
		const struct result_row *row = analysis_row(
			a, r, r->hosts[h], (uint32_t)workload, r->headline[workload], layout);

		if (!row || !isfinite(mean_log(row)))
			continue;
		v[n] = mean_log(row);
		rows[n++] = row;
	}
	called = outliers_hosts(v, n, margin, out, &peers);
	a->outliers = xreallocarray(a->outliers, a->n_outliers + called + 1, sizeof(*a->outliers));
	for (size_t i = 0; i < called; i++)
		a->outliers[a->n_outliers++] = (struct result_outlier){r->run->id,
			rows[out[i]]->host, rows[out[i]]->layout, rows[out[i]]->workload,
			rows[out[i]]->metric, exp(v[out[i]] - peers), NULL};
	free(v);
	free(out);
	free(rows);
}

static void compare_run(struct analysis *a, const struct analysis_run *r, struct capacity *cap)
{
	struct pairs p = planned_pairs(r);

	for (size_t w = 0; w < r->n_workloads; w++) {
		struct metrics m = planned_metrics(r, w);

		for (size_t j = 0; j < m.n; j++)
			for (size_t i = 0; i < p.n; i++) {
				if (compares_hosts(r))
					compare_two_hosts(a, r, w, m.v[j], p.v[i], cap);
				else
					compare_layouts(a, r, w, m.v[j], p.v[i], cap);
			}
		for (uint32_t l = 0; l < r->run->layouts.n; l++)
			find_outliers(a, r, w, l);
	}
	free(p.v);
}

void analysis_compare(struct analysis *a)
{
	struct capacity cap = {0};

	count_families(a);
	for (size_t i = 0; i < a->n_runs; i++)
		compare_run(a, &a->runs[i], &cap);
	index_hosts(a);
}
