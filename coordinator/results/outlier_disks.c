/*
 * Disks that stand out over all hosts of a run: each disk that a scan read alone is one value, judged
 * as hosts are, among the disks of its own model. Owns nothing beyond a call.
 * Invariant: disks whose model no host tells are peers of each other.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/outliers.h"

/* One disk in one trial; after merging: in all of them. */
struct scanned {
	const struct result_trial *trial;
	const char *disk, *model; /* model "": not told */
	double sum; /* of ln(bytes per second) */
	unsigned n;
};

static int by_disk(const void *va, const void *vb)
{
	const struct scanned *a = va, *b = vb;
	int c = strcmp(a->trial->host, b->trial->host);

	return c ? c : strcmp(a->disk, b->disk);
}

static void take_trial(const struct result_trial *t, struct scanned **v, size_t *n, size_t *cap)
{
	for (size_t i = 0; i < t->sum.detail.n_parts; i++) {
		const struct trial_part *p = &t->sum.detail.parts[i];

		if (strcmp(p->kind, "disk") || !p->bytes || p->elapsed_ns <= 0)
			continue;
		*v = xgrow(*v, *n, cap, sizeof(**v));
		(*v)[(*n)++] = (struct scanned){t, p->name, "",
			log((double)p->bytes / ((double)p->elapsed_ns / NS_PER_S)), 1};
	}
}

/* Sorted by host and disk; one entry each is left. */
static size_t merge(struct scanned *v, size_t n)
{
	size_t kept = 0;

	qsort(v, n, sizeof(*v), by_disk);
	for (size_t i = 0; i < n; i++) {
		if (kept && by_disk(&v[kept - 1], &v[i]) == 0) {
			v[kept - 1].sum += v[i].sum;
			v[kept - 1].n++;
		} else {
			v[kept++] = v[i];
		}
	}
	return kept;
}

static const json_t *disks_of(const struct result_set *s, uint64_t run, const char *host)
{
	for (size_t i = 0; i < s->n_envs; i++)
		if (s->envs[i].run == run && strcmp(s->envs[i].host, host) == 0)
			return json_object_get(s->envs[i].inventory, "disks");
	return NULL;
}

/* v is sorted by host. */
static void find_models(const struct result_set *s, struct scanned *v, size_t n)
{
	const json_t *disks = NULL, *disk;
	size_t k;

	for (size_t i = 0; i < n; i++) {
		if (i == 0 || strcmp(v[i].trial->host, v[i - 1].trial->host) != 0)
			disks = disks_of(s, v[i].trial->run, v[i].trial->host);
		json_array_foreach(disks, k, disk) if (
			strcmp(json_get_str(disk, "name", ""), v[i].disk) == 0) v[i].model =
			json_get_str(disk, "model", "");
	}
}

static int by_model(const void *va, const void *vb)
{
	const struct scanned *a = va, *b = vb;
	int c = strcmp(a->model, b->model);

	return c ? c : by_disk(va, vb);
}

static void judge(struct analysis *a, const struct scanned *v, size_t n, double margin)
{
	double *means = xcalloc(n + 1, sizeof(*means));
	size_t *out = xcalloc(n + 1, sizeof(*out)), called;
	double peers;

	for (size_t i = 0; i < n; i++)
		means[i] = v[i].sum / v[i].n;
	called = outliers_hosts(means, n, margin, out, &peers);
	a->outliers = xreallocarray(a->outliers, a->n_outliers + called + 1, sizeof(*a->outliers));
	for (size_t i = 0; i < called; i++) {
		const struct scanned *one = &v[out[i]];

		a->outliers[a->n_outliers++] = (struct result_outlier){.run = one->trial->run,
			.host = one->trial->host,
			.disk = one->disk,
			.layout = one->trial->layout_name,
			.workload = one->trial->workload_name,
			.metric = METRIC_THROUGHPUT,
			.ratio = exp(means[out[i]] - peers)};
	}
	free(means);
	free(out);
}

static void judge_volume(struct analysis *a, const struct result_set *s,
	const struct analysis_run *r, uint32_t workload, uint32_t layout)
{
	struct scanned *v = NULL;
	size_t n = 0, cap = 0, to;

	for (size_t i = 0; i < s->n_trials; i++) {
		const struct result_trial *t = &s->trials[i];

		if (t->run == r->run->id && t->workload == workload && t->layout == layout &&
			t->sum.ok && t->complete && !t->superseded)
			take_trial(t, &v, &n, &cap);
	}
	if (n) {
		n = merge(v, n);
		find_models(s, v, n);
		qsort(v, n, sizeof(*v), by_model);
	}
	for (size_t from = 0; from < n; from = to) {
		for (to = from; to < n && strcmp(v[to].model, v[from].model) == 0;)
			to++;
		judge(a, v + from, to - from, analysis_margin(r));
	}
	free(v);
}

static int scans(const struct result_set *s)
{
	for (size_t i = 0; i < s->n_trials; i++)
		for (size_t k = 0; k < s->trials[i].sum.detail.n_parts; k++)
			if (!strcmp(s->trials[i].sum.detail.parts[k].kind, "disk"))
				return 1;
	return 0;
}

void analysis_disks(struct analysis *a, const struct result_set *s)
{
	if (!scans(s))
		return;
	for (size_t i = 0; i < a->n_runs; i++)
		for (uint32_t w = 0; w < a->runs[i].n_workloads; w++)
			for (uint32_t l = 0; l < a->runs[i].run->layouts.n; l++)
				judge_volume(a, s, &a->runs[i], w, l);
}
