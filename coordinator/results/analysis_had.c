/*
 * Which metrics results have: of each host, layout and workload, and of each workload. Owns nothing.
 * Invariant: what there is decides, never what it says.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/analysis.h"

static int by_place(const void *pa, const void *pb)
{
	const struct result_had *a = pa, *b = pb;
	int c = strcmp(a->host, b->host);

	c = c ? c : (a->workload > b->workload) - (a->workload < b->workload);
	return c ? c : (a->layout > b->layout) - (a->layout < b->layout);
}

unsigned analysis_metric_bit(enum metric_id m)
{
	return (unsigned)m < METRIC_COUNT ? 1u << m : 0;
}

/* What a trial tells; one that does not count tells that it was there. */
static struct result_had had_of(const struct result_trial *t)
{
	struct result_had h = {.host = t->host, .workload = t->workload, .layout = t->layout};

	if (!t->complete || t->superseded || !t->sum.ok)
		return h;
	for (unsigned m = 0; m < METRIC_COUNT; m++)
		if (!isnan(result_trial_metric(t, (enum metric_id)m, NULL)))
			h.metrics |= 1u << m;
	h.first = t->n_printed ? t->printed[0].metric : METRIC_ELAPSED;
	return h;
}

static struct result_had had_of_summary(const struct result_summary *m)
{
	return (struct result_had){m->host, m->workload, m->layout, analysis_metric_bit(m->metric), m->metric};
}

/* One of each place, which has what all of them have. */
static size_t merge(struct result_had *v, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(v, n, sizeof(*v), by_place);
	for (size_t i = 0; i < n; i++) {
		struct result_had *last = kept ? &v[kept - 1] : NULL;

		if (!last || by_place(last, &v[i])) {
			v[kept++] = v[i];
			continue;
		}
		if (!last->metrics || (v[i].metrics && v[i].first < last->first))
			last->first = v[i].first;
		last->metrics |= v[i].metrics;
	}
	return kept;
}

void analysis_find_had(const struct result_set *s, struct analysis_run *r)
{
	struct result_had *v = xcalloc(s->n_trials + s->n_summaries + 1, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < s->n_trials; i++)
		if (s->trials[i].run == r->run->id)
			v[n++] = had_of(&s->trials[i]);
	for (size_t i = 0; i < s->n_summaries; i++)
		if (s->summaries[i].run == r->run->id)
			v[n++] = had_of_summary(&s->summaries[i]);
	r->had = v;
	r->n_had = merge(v, n);
	r->metrics = xcalloc(r->run->workloads.n + 1, sizeof(*r->metrics));
	for (size_t i = 0; i < r->n_had; i++)
		if (v[i].workload < r->run->workloads.n)
			r->metrics[v[i].workload] |= v[i].metrics;
}

const struct result_had *analysis_had(
	const struct analysis_run *r, const char *host, uint32_t workload, uint32_t layout)
{
	const struct result_had key = {.host = host, .workload = workload, .layout = layout};

	return r->n_had ? bsearch(&key, r->had, r->n_had, sizeof(key), by_place) : NULL;
}

int analysis_lacks_metric(const struct analysis_run *r, size_t workload, enum metric_id m)
{
	return r->metrics[workload] && !(r->metrics[workload] & analysis_metric_bit(m));
}

int analysis_is_shown(const struct analysis_run *r, const struct result_row *row)
{
	const struct result_had *h;
	enum metric_id headline;

	if (row->workload_index >= r->n_workloads)
		return 1;
	headline = r->headline[row->workload_index];
	if (row->metric == headline)
		return 1;
	if (r->wish->only && analysis_lacks_metric(r, row->workload_index, headline))
		return 0;
	h = analysis_had(r, row->host, row->workload_index, row->layout_index);
	return h && h->metrics && !(h->metrics & analysis_metric_bit(headline)) && row->metric == h->first;
}

/* Of one side. Where the other has results too, what it lacks is a metric. */
static enum result_lack lack_of(
	const struct result_had *side, const struct result_had *other, enum metric_id m)
{
	if (!side)
		return LACK_RESULTS;
	if (!side->metrics || side->metrics & analysis_metric_bit(m))
		return LACK_NOTHING;
	return other && other->metrics && !(side->metrics & other->metrics) ? LACK_COMMON : LACK_METRIC;
}

void analysis_find_lack(struct result_comparison *c, const struct result_had *base,
	const struct result_had *subject)
{
	enum result_lack of_base = lack_of(base, subject, c->metric);
	enum result_lack of_subject = lack_of(subject, base, c->metric);

	c->lack = of_base > of_subject ? of_base : of_subject;
	c->lacking = of_base > of_subject ? c->base : c->subject;
}

void analysis_verdict_text(const struct result_comparison *c, const char *base, const char *lacking,
	struct buf *out)
{
	switch (c->lack) {
	case LACK_NOTHING:
		compare_verdict_text(&c->c, c->margin, out);
		break;
	case LACK_METRIC:
		buf_addf(out, "%s has no %s", lacking, metric_table[c->metric].name);
		break;
	case LACK_COMMON:
		buf_addf(out, "no metric in common with %s", base);
		break;
	case LACK_RESULTS:
		buf_addf(out, "%s has no result of %s%s%s", lacking, c->layout ? c->layout : "",
			c->layout ? "/" : "", c->workload);
	}
}
