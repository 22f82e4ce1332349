/*
 * Result sets as memory. Owns nothing but what a set holds.
 * Invariant: clearing a set twice, or one that was never filled, is fine.
 */
#include "coordinator/results/set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"

static void source_clear(struct result_source *s)
{
	free(s->label);
	free(s->name);
	free(s->plan_sha256);
	free(s->plan_text);
	free(s->layout);
	free(s->host);
	free(s->cache);
	strv_free(&s->sets);
}

void result_run_clear(struct result_run *r)
{
	free(r->name);
	free(r->state);
	free(r->plan_sha256);
	free(r->plan_text);
	free(r->tool_version);
	free(r->design);
	free(r->called);
	free(r->cache);
	free(r->user);
	for (size_t i = 0; i < r->n_sources; i++)
		source_clear(&r->sources[i]);
	free(r->sources);
	strv_free(&r->sets);
	strv_free(&r->layouts);
	strv_free(&r->workloads);
}

void result_trial_clear(struct result_trial *t)
{
	free(t->host);
	free(t->layout_name);
	free(t->workload_name);
	free(t->op);
	free(t->cache);
	free(t->printed);
	trial_summary_clear(&t->sum);
}

void result_summary_clear(struct result_summary *m)
{
	free(m->host);
	free(m->layout_name);
	free(m->workload_name);
}

void result_series_clear(struct result_series *s)
{
	free(s->host);
	free(s->points);
	free(s->spans);
	free(s->use);
	*s = (struct result_series){0};
}

void result_step_clear(struct result_step *s)
{
	free(s->host);
	free(s->layout_name);
	free(s->phase);
	free(s->what);
	free(s->output);
	strv_free(&s->argv);
}

int result_set_room(const struct result_set *s, size_t more, struct err *e)
{
	if (s->n_trials + s->n_summaries + more <= RESULT_SET_MAX)
		return 0;
	return err_set(e, ERR_INPUT,
		"more than %d trials and summaries, which is the limit of all that is read at once: give "
		"fewer files or runs, or the trials of fewer hosts",
		RESULT_SET_MAX);
}

void result_set_clear(struct result_set *s)
{
	for (size_t i = 0; i < s->n_runs; i++)
		result_run_clear(&s->runs[i]);
	for (size_t i = 0; i < s->n_envs; i++) {
		free(s->envs[i].host);
		json_decref(s->envs[i].inventory);
	}
	for (size_t i = 0; i < s->n_trials; i++)
		result_trial_clear(&s->trials[i]);
	for (size_t i = 0; i < s->n_summaries; i++)
		result_summary_clear(&s->summaries[i]);
	for (size_t i = 0; i < s->n_stops; i++)
		free(s->stops[i].host);
	for (size_t i = 0; i < s->n_series; i++)
		result_series_clear(&s->series[i]);
	for (size_t i = 0; i < s->n_steps; i++)
		result_step_clear(&s->steps[i]);
	result_set_unindex(s);
	free(s->runs);
	free(s->envs);
	free(s->trials);
	free(s->summaries);
	free(s->stops);
	free(s->series);
	free(s->steps);
	strv_free(&s->wish.chosen);
	*s = (struct result_set){0};
}

const char *result_environment_source(const struct result_set *s, const struct result_environment *v)
{
	for (size_t i = 0; i < s->n_runs && v->source; i++)
		if (s->runs[i].id == v->run && v->source <= s->runs[i].n_sources)
			return s->runs[i].sources[v->source - 1].label;
	return NULL;
}

size_t result_first_trial(const struct result_set *s, uint64_t run, const char *host)
{
	size_t lo = 0, hi = s->n_trials;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct result_trial *t = &s->trials[mid];

		if (t->run < run || (t->run == run && strcmp(t->host, host) < 0))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int result_series_compare(const void *pa, const void *pb)
{
	const struct result_series *a = pa, *b = pb;
	int c = (a->run > b->run) - (a->run < b->run);

	c = c ? c : strcmp(a->host, b->host);
	c = c ? c : (a->attempt > b->attempt) - (a->attempt < b->attempt);
	return c ? c : (a->trial > b->trial) - (a->trial < b->trial);
}

const struct result_series *result_set_series(
	const struct result_set *s, const struct result_trial *t)
{
	const struct result_series key = {
		.run = t->run, .host = t->host, .attempt = t->attempt, .trial = t->sum.trial};

	if (!s->n_series)
		return NULL;
	return bsearch(&key, s->series, s->n_series, sizeof(*s->series), result_series_compare);
}

const struct metric_info metric_table[METRIC_COUNT] = {
	[METRIC_ELAPSED] = {"elapsed", "s", 0},
	[METRIC_THROUGHPUT] = {"throughput", "B/s", 1},
	[METRIC_OPS] = {"ops_per_s", "ops/s", 1},
	[METRIC_LAT_MEAN] = {"latency_mean", "ns", 0},
	[METRIC_LAT_P50] = {"latency_p50", "ns", 0},
	[METRIC_LAT_P99] = {"latency_p99", "ns", 0},
	[METRIC_LAT_P999] = {"latency_p999", "ns", 0},
	[METRIC_LAT_MAX] = {"latency_max", "ns", 0},
	[METRIC_CPU_PER_OP] = {"cpu_per_op", "us/op", 0},
	[METRIC_PHYS_READ] = {"physical_read_bytes", "B", 0},
	[METRIC_PHYS_WRITE] = {"physical_write_bytes", "B", 0},
};

enum metric_id metric_find(const char *name)
{
	unsigned m = 0;

	while (m < METRIC_COUNT && strcmp(metric_table[m].name, name) != 0)
		m++;
	return (enum metric_id)m;
}

void trial_latencies(const struct trial_summary *t, double ret[METRIC_LAT_MAX - METRIC_LAT_MEAN + 1])
{
	struct err ignored;
	struct hist *h;

	for (int m = METRIC_LAT_MEAN; m <= METRIC_LAT_MAX; m++)
		ret[m - METRIC_LAT_MEAN] = NAN;
	if (!t->hist)
		return;
	h = xmalloc(sizeof(*h));
	if (hist_decode(t->hist, t->hist_len, h, &ignored) == 0 && h->count > 0) {
		ret[METRIC_LAT_MEAN - METRIC_LAT_MEAN] = hist_mean(h);
		ret[METRIC_LAT_P50 - METRIC_LAT_MEAN] = (double)hist_percentile(h, 0.5);
		ret[METRIC_LAT_P99 - METRIC_LAT_MEAN] = (double)hist_percentile(h, 0.99);
		ret[METRIC_LAT_P999 - METRIC_LAT_MEAN] = (double)hist_percentile(h, 0.999);
		ret[METRIC_LAT_MAX - METRIC_LAT_MEAN] = (double)h->max;
	}
	free(h);
}

static double latency(const struct trial_summary *t, enum metric_id m)
{
	double v[METRIC_LAT_MAX - METRIC_LAT_MEAN + 1];

	trial_latencies(t, v);
	return v[m - METRIC_LAT_MEAN];
}

double trial_metric(const struct trial_summary *t, enum metric_id m)
{
	double seconds = (double)t->elapsed_ns / 1e9;

	switch (m) {
	case METRIC_ELAPSED:
		return seconds > 0 ? seconds : NAN;
	case METRIC_THROUGHPUT:
		return seconds > 0 && t->bytes ? (double)t->bytes / seconds : NAN;
	case METRIC_OPS:
		return seconds > 0 && t->ops ? (double)t->ops / seconds : NAN;
	case METRIC_CPU_PER_OP:
		return t->ops && t->cpu_user_ns + t->cpu_system_ns
			       ? (double)(t->cpu_user_ns + t->cpu_system_ns) / 1e3 / (double)t->ops
			       : NAN;
	case METRIC_PHYS_READ:
		return t->tele.disks ? (double)t->tele.disk_read_bytes : NAN;
	case METRIC_PHYS_WRITE:
		return t->tele.disks ? (double)t->tele.disk_write_bytes : NAN;
	case METRIC_COUNT:
		return NAN;
	default:
		return latency(t, m);
	}
}

double result_trial_metric(const struct result_trial *t, enum metric_id m, double *ret_resolution)
{
	double resolution = 0, value = NAN;

	for (size_t i = 0; i < t->n_printed && isnan(value); i++)
		if (t->printed[i].metric == m) {
			value = t->printed[i].value;
			resolution = t->printed[i].resolution;
		}
	if (ret_resolution)
		*ret_resolution = resolution;
	return isnan(value) ? trial_metric(&t->sum, m) : value;
}
