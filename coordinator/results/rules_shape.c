/*
 * Rules about how the values of the trials lie: in the order of time, and among each other. Owns
 * nothing beyond a call.
 * Invariant: both look at logarithms, as the verdicts do; their error rates stand in
 * arraymark-findings(7).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/dist.h"
#include "coordinator/results/rules.h"
#include "coordinator/results/scale.h"

#define DRIFT_P 0.01
#define DRIFT_MIN_DF 6 /* trials less layouts: below it hardly any order is so unlikely */
#define CLUSTERS_MIN_N 6
#define CLUSTERS_LEAST_PART 5 /* a cluster holds at least a fifth of the trials, */
#define CLUSTERS_LEAST 2      /* and two */
/* The gap over the wider cluster that is asked for: this, and with few trials GAP_BY_N / n. */
#define CLUSTERS_GAP 1.5
#define CLUSTERS_GAP_BY_N 20.0

/* One trial as a residual: its logarithm less the mean of its layout's. */
struct residual {
	int64_t started;
	unsigned group; /* its layout, from 0 without gaps */
	double y, place, rank;
};
struct residuals {
	struct residual *v;
	size_t n, cap;
	unsigned groups;
	int untimed;    /* trials whose start is not known */
	int summarised; /* layouts that have no single trials */
};

static int is_value(double v)
{
	return isfinite(v) && v > 0;
}

static void take_row(struct residuals *r, const struct result_row *row)
{
	size_t first = r->n, n;
	double mean = 0;

	r->summarised |= row->summary_only;
	for (unsigned i = 0; i < row->listed; i++) {
		int64_t started = row->trials[i]->sum.started_wall_ns;

		if (!is_value(row->values[i]))
			continue;
		r->untimed |= started <= 0;
		r->v = xgrow(r->v, r->n, &r->cap, sizeof(*r->v));
		r->v[r->n++] = (struct residual){started, r->groups, log(row->values[i]), 0, 0};
		mean += r->v[r->n - 1].y;
	}
	n = r->n - first;
	if (n < 2) {
		r->n = first;
		return;
	}
	for (size_t i = first; i < r->n; i++)
		r->v[i].y -= mean / (double)n;
	r->groups++;
}

static int by_y(const void *pa, const void *pb)
{
	const struct residual *a = pa, *b = pb;

	return (a->y > b->y) - (a->y < b->y);
}

static int by_start(const void *pa, const void *pb)
{
	const struct residual *a = pa, *b = pb;

	return (a->started > b->started) - (a->started < b->started);
}

/* Equal residuals share the mean of their ranks. Ends in the order of time. */
static void rank_all(struct residuals *r)
{
	qsort(r->v, r->n, sizeof(*r->v), by_y);
	for (size_t i = 0, end; i < r->n; i = end) {
		for (end = i + 1; end < r->n && r->v[end].y <= r->v[i].y; end++)
			;
		for (size_t k = i; k < end; k++)
			r->v[k].rank = (double)(i + end + 1) / 2;
	}
	qsort(r->v, r->n, sizeof(*r->v), by_start);
	for (size_t i = 0; i < r->n; i++)
		r->v[i].place = (double)i;
}

/* Sums over one layout. */
struct group {
	double n, place, rank;                /* then the means */
	double place2, rank2, both, by_value; /* about the means */
};
struct trend {
	double z;      /* of the rank statistic, in its standard deviations */
	double change; /* from the first to the last trial, of the metric's logarithm */
};

static void sum_groups(const struct residuals *r, struct group *g)
{
	for (size_t i = 0; i < r->n; i++) {
		struct group *k = &g[r->v[i].group];

		k->n++;
		k->place += r->v[i].place;
		k->rank += r->v[i].rank;
	}
	for (unsigned k = 0; k < r->groups; k++) {
		g[k].place /= g[k].n;
		g[k].rank /= g[k].n;
	}
	for (size_t i = 0; i < r->n; i++) {
		struct group *k = &g[r->v[i].group];
		double dp = r->v[i].place - k->place, dr = r->v[i].rank - k->rank;

		k->place2 += dp * dp;
		k->rank2 += dr * dr;
		k->both += dp * dr;
		k->by_value += dp * r->v[i].y;
	}
}

/* Aligned ranks against time: were there no drift, each layout's ranks could stand in any order
 * within it, which gives the statistic its variance. */
static struct trend trend_of(const struct residuals *r)
{
	struct group *g = xcalloc(r->groups, sizeof(*g));
	double sum = 0, variance = 0, by_value = 0, place2 = 0;
	struct trend t;

	sum_groups(r, g);
	for (unsigned k = 0; k < r->groups; k++) {
		sum += g[k].both;
		variance += g[k].place2 * g[k].rank2 / (g[k].n - 1);
		by_value += g[k].by_value;
		place2 += g[k].place2;
	}
	free(g);
	t.z = variance > 0 ? sum / sqrt(variance) : 0;
	t.change = place2 > 0 ? by_value / place2 * (double)(r->n - 1) : 0;
	return t;
}

/* By Student's t, as for a rank correlation. */
static double trend_p(double z, double df)
{
	double r2 = z * z / df;

	return r2 < 1 ? dist_t_two_sided(sqrt(r2 * (df - 1) / (1 - r2)), df - 1) : 0;
}

/* Of all orders within each layout two are the most extreme ones, up and down: no p-value is less. */
static double least_p(const struct residuals *r)
{
	double *n = xcalloc(r->groups, sizeof(*n)), orders = 0;

	for (size_t i = 0; i < r->n; i++)
		n[r->v[i].group]++;
	for (unsigned k = 0; k < r->groups; k++)
		orders += lgamma(n[k] + 1);
	free(n);
	return fmin(2 * exp(-orders), 1);
}

static void drift_told(
	const struct rule_input *in, const struct residuals *r, const struct result_row *row)
{
	int random = strcmp(in->run->run->design, "random-blocks") == 0;
	double df = (double)r->n - r->groups, p;
	struct trend t = trend_of(r);
	struct buf change = {0};

	p = fmax(trend_p(t.z, df), least_p(r));
	if (p >= DRIFT_P)
		return;
	compare_percent_text(t.change, &change);
	finding_add(in, random ? SEVERITY_NOTE : SEVERITY_WARNING, row->host, NULL, row->workload,
		json_pack("{si sf sf sf}", "n", (int)r->n, "z", t.z, "p", p, "change", expm1(t.change)),
		"%s drifts by %s from the first to the last of %zu trials (rank test: p = %.2g)",
		metric_table[row->metric].name, buf_str(&change), r->n, p);
	buf_free(&change);
}

static void drift_judged(
	const struct rule_input *in, struct residuals *r, const struct result_row *row)
{
	if (r->summarised)
		finding_unknown(in, "no single trials");
	if (r->untimed) {
		finding_unknown(in, "no times of the trials");
	} else if (r->n < r->groups + DRIFT_MIN_DF) {
		if (!r->summarised)
			finding_unknown(in, "too few trials");
	} else {
		rank_all(r);
		drift_told(in, r, row);
	}
	r->n = 0;
	r->groups = 0;
	r->untimed = r->summarised = 0;
}

static int same_section(const struct result_row *a, const struct result_row *b)
{
	return a->workload_index == b->workload_index && strcmp(a->host, b->host) == 0;
}

void rule_drift(const struct rule_input *in)
{
	const struct result_row *first = NULL;
	struct residuals r = {0};

	FOR_ROWS(in, row)
	{
		if (!rule_row_is_headline(in, row))
			continue;
		if (first && !same_section(first, row)) {
			drift_judged(in, &r, first);
			first = NULL;
		}
		first = first ? first : row;
		take_row(&r, row);
	}
	if (first)
		drift_judged(in, &r, first);
	free(r.v);
}

static int by_value(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* The split of sorted values with the widest gap, measured by the wider of both clusters; digit:
 * what rounding may have taken from a cluster's width. 0: every gap is none. */
static double widest_gap(const double *v, size_t n, double digit, size_t *ret_split)
{
	size_t least = (n + CLUSTERS_LEAST_PART - 1) / CLUSTERS_LEAST_PART;
	double best = 0;

	least = least < CLUSTERS_LEAST ? CLUSTERS_LEAST : least;
	for (size_t k = least; k + least <= n; k++) {
		double width = fmax(v[k - 1] - v[0], v[n - 1] - v[k]) + digit;
		double gap = v[k] - v[k - 1];
		double ratio = width > 0 ? gap / width : gap > 0 ? HUGE_VAL : 0;

		if (ratio > best) {
			best = ratio;
			*ret_split = k;
		}
	}
	return best;
}

static double mean_of(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return exp(sum / (double)n);
}

static void clusters_told(const struct rule_input *in, const struct result_row *row,
	const double *v, size_t n, size_t split, double needed)
{
	double low = mean_of(v, split), high = mean_of(v + split, n - split);
	char a[UNITS_LEN], b[UNITS_LEN];
	struct scale s;

	scale_init(&s, metric_table[row->metric].unit);
	scale_take(&s, low);
	scale_take(&s, high);
	scale_tell_apart(&s, low, row->resolution, high, row->resolution);
	finding_add(in, SEVERITY_WARNING, row->host, row->layout, row->workload,
		json_pack("{si sf si sf sf sf}", "n_low", (int)split, "mean_low", low, "n_high",
			(int)(n - split), "mean_high", high, "gap", expm1(v[split] - v[split - 1]),
			"needed_gap_over_width", needed),
		"two clusters: %zu trials near %s, %zu near %s, none between; the mean describes "
		"neither",
		split, scale_text(&s, low, row->resolution, a), n - split,
		scale_text(&s, high, row->resolution, b));
}

void rule_two_clusters(const struct rule_input *in)
{
	FOR_ROWS(in, row)
	{
		double *v, needed;
		size_t n = 0, split = 0;

		if (!rule_row_is_headline(in, row))
			continue;
		if (row->summary_only) {
			finding_unknown(in, "no single trials");
			continue;
		}
		v = xcalloc(row->listed + 1, sizeof(*v));
		for (unsigned i = 0; i < row->listed; i++)
			if (is_value(row->values[i]))
				v[n++] = log(row->values[i]);
		qsort(v, n, sizeof(*v), by_value);
		needed = fmax(CLUSTERS_GAP, CLUSTERS_GAP_BY_N / (double)n);
		if (n < CLUSTERS_MIN_N)
			finding_unknown(in, "too few trials");
		else if (widest_gap(v, n, row->resolution / row->mean, &split) > needed)
			clusters_told(in, row, v, n, split, needed);
		free(v);
	}
}
