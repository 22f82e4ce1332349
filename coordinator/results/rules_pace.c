/*
 * Rules V12 and V26 on work at a set pace. Owns nothing beyond a call.
 *
 * Where the plan says how fast it goes, how fast it went says what was asked, as long as the volume keeps
 * up: only latencies differ. Where the volume does not, what is due waits behind what was due before, and
 * latency grows for as long as the trial lasts.
 */
#include <math.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/workload.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/rules.h"

#define KEPT 0.95       /* of the pace, and */
#define CHANCE 3.0      /* standard deviations less: arrivals may come at random times */

/* Set by the pace as long as it is kept. */
static int goes_with_pace(enum metric_id m)
{
	return m == METRIC_ELAPSED || m == METRIC_THROUGHPUT || m == METRIC_OPS;
}

/* The first metric by which a workload is judged that its pace decides; METRIC_COUNT: there is none. */
static enum metric_id judged_by_pace(const struct analysis_run *r, size_t workload)
{
	if (goes_with_pace(r->headline[workload]))
		return r->headline[workload];
	for (size_t i = 0; i < r->plan->metrics.n; i++)
		if (goes_with_pace(metric_find(r->plan->metrics.v[i])))
			return metric_find(r->plan->metrics.v[i]);
	for (size_t i = 0; r->wish && i < r->wish->n_metrics; i++)
		if (goes_with_pace(r->wish->metrics[i]))
			return r->wish->metrics[i];
	return METRIC_COUNT;
}

static void pace_told(const struct rule_input *in, const struct workload *w,
	const struct workload_nature *n, enum metric_id m)
{
	const char *metric = metric_table[m].name;

	if (n->all_paced)
		finding_add(in, SEVERITY_WARNING, NULL, NULL, w->name,
			json_pack("{ss sb}", "metric", metric, "all_paced", 1),
			"the plan sets its pace: %s says what was asked, not what a volume can; its "
			"latencies do",
			metric);
	else
		finding_add(in, SEVERITY_NOTE, NULL, NULL, w->name,
			json_pack("{ss sb}", "metric", metric, "all_paced", 0),
			"the plan sets the pace of some of it: that part of %s is alike on every "
			"volume",
			metric);
}

void rule_paced(const struct rule_input *in)
{
	const struct plan *p = in->run->plan;

	for (size_t i = 0; p && i < p->n_workloads && i < in->run->n_workloads; i++) {
		enum metric_id m = judged_by_pace(in->run, i);
		struct workload_nature n;

		workload_nature(&p->workloads[i], &n);
		if (n.paced && m != METRIC_COUNT)
			pace_told(in, &p->workloads[i], &n, m);
	}
}

/* Operations a second of a trial that are too few for the pace, or NaN. */
static double lost_rate(const struct result_trial *t, double pace)
{
	double seconds = (double)(t->sum.elapsed_ns - t->sum.sync_ns) / NS_PER_S;
	double due = pace * seconds, done = (double)t->sum.ops;

	return seconds > 0 && done > 0 && done < KEPT * due - CHANCE * sqrt(due) ? done / seconds
										 : NAN;
}

static void check_row(
	const struct rule_input *in, const struct result_row *row, double pace)
{
	double least = NAN;
	unsigned n = 0;

	for (unsigned i = 0; i < row->listed; i++) {
		double rate = lost_rate(row->trials[i], pace);

		if (row->trials[i]->sum.ops == 0)
			finding_unknown(in, "no count of the operations at a set pace");
		n += !isnan(rate);
		least = fmin(least, rate);
	}
	if (n)
		finding_add(in, SEVERITY_WARNING, row->host, row->layout, row->workload,
			json_pack("{sf sf si si}", "pace", pace, "least", least, "trials", (int)n,
				"n", (int)row->listed),
			"%u of %u trials fell behind their pace of %.0f ops/s, down to %.0f: what is "
			"due waits, and latency grows for as long as a trial lasts",
			n, row->listed, pace, least);
}

void rule_pace_lost(const struct rule_input *in)
{
	FOR_ROWS(in, row)
	{
		struct workload_nature n;

		if (!rule_row_is_headline(in, row))
			continue;
		n = analysis_nature(in->run, row);
		if (n.pace_ops > 0)
			check_row(in, row, n.pace_ops);
	}
}
