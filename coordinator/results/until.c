/*
 * Stopping by precision. Owns nothing beyond a call.
 * Invariant: what decides are standard errors and degrees of freedom, never a difference.
 */
#include "coordinator/results/until.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

/* Blocks of that host all of whose layouts ended well. */
static unsigned complete_blocks(
	const struct result_set *s, const struct analysis_run *r, const char *host)
{
	size_t layouts = r->run->layouts.n, blocks = r->plan->trials_max;
	unsigned char *there = xcalloc(blocks + 1, layouts);
	unsigned n = 0;

	for (size_t i = result_first_trial(s, r->run->id, host); i < s->n_trials; i++) {
		const struct result_trial *t = &s->trials[i];

		if (t->run != r->run->id || strcmp(t->host, host) != 0)
			break;
		if (t->complete && !t->superseded && t->block >= 1 && t->block <= blocks &&
			t->layout < layouts)
			there[t->block * layouts + t->layout] = 1;
	}
	for (size_t b = 1; b <= blocks; b++)
		n += !memchr(there + b * layouts, 0, layouts);
	free(there);
	return n;
}

/* Every workload has a family of its own. */
static void judge_workload(const struct analysis *a, const struct analysis_run *r, size_t workload,
	unsigned n_hosts, struct until_judgement *j)
{
	struct compare_precision *c;
	size_t n;
	unsigned k;

	c = analysis_precision(a, r, r->hosts[0], workload, n_hosts, &n, &k);
	j->precise &= compare_is_precise(c, n, k, r->plan->until);
	for (size_t i = 0; i < n; i++) {
		double half = expm1(compare_half_width(&c[i], k));

		/* fmax would prefer a number to "not known". */
		if (isnan(half) || half > j->widest)
			j->widest = half;
	}
	free(c);
}

int until_judge(
	const struct result_set *s, unsigned n_hosts, struct until_judgement *ret, struct err *e)
{
	struct until_judgement j = {.precise = 1};
	const struct analysis_run *r;
	struct analysis a;
	int status = 0;

	if (analysis_begin(s, &a, e) != 0)
		return -1;
	r = a.n_runs == 1 ? &a.runs[0] : NULL;
	if (!r || !r->plan || r->plan->until <= 0) {
		status = err_set(e, ERR_INPUT, "there is no run with a plan that says until");
	} else if (r->n_hosts == 0) {
		j = (struct until_judgement){0, 0, NAN};
	} else {
		j.blocks = complete_blocks(s, r, r->hosts[0]);
		for (size_t w = 0; w < r->n_workloads; w++)
			judge_workload(&a, r, w, n_hosts, &j);
		j.precise &= j.blocks >= r->plan->trials_min;
	}
	analysis_clear(&a);
	if (status == 0)
		*ret = j;
	return status;
}

void until_stopped_text(uint32_t blocks, double until, struct buf *out)
{
	buf_addf(out, "stopped after %u block%s: every 95%% interval within ±%g%%", blocks,
		blocks == 1 ? "" : "s", round(until * 1e6) / 1e4);
}

void until_max_text(uint32_t blocks, struct buf *out)
{
	buf_addf(out, "reached max: %u block%s", blocks, blocks == 1 ? "" : "s");
}

const struct result_stop *until_stop(const struct result_set *s, uint64_t run, const char *host)
{
	for (size_t i = 0; i < s->n_stops; i++)
		if (s->stops[i].run == run && strcmp(s->stops[i].host, host) == 0)
			return &s->stops[i];
	return NULL;
}

void until_host_text(const struct result_set *s, const struct analysis_run *r, const char *host,
	struct buf *out)
{
	const struct result_stop *stop = until_stop(s, r->run->id, host);
	unsigned n;

	if (!r->plan || r->plan->until <= 0)
		return;
	if (stop) {
		until_stopped_text(stop->block, r->plan->until, out);
		return;
	}
	n = complete_blocks(s, r, host);
	if (n >= r->plan->trials_max)
		until_max_text(n, out);
	else
		buf_addf(out,
			"%u of %u…%u blocks, until every 95%% interval is within ±%g%%", n,
			r->plan->trials_min, r->plan->trials_max,
			round(r->plan->until * 1e6) / 1e4);
}
