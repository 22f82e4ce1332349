/*
 * Rules about what was measured: caches, sizes, counts, spreads, ties. Owns nothing.
 * Invariant: thresholds stand here, once, and in arraymark-findings(7).
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/workload.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/rules.h"
#include "coordinator/results/volume_disks.h"

#define CACHED_BELOW 0.5      /* of the bytes that must have come from the disks */
#define FEW 3                 /* trials below which there is no spread to speak of */
#define FEW_SUMMARY 4         /* the same where only mean, min and max are told */
#define WIDE 0.1              /* coefficient of variation */
#define TIE_CHANCE 0.01       /* below it, equal timings are no chance */
#define CPU_BOUND 0.9         /* of all CPUs, or of the worker's threads */
#define TIMER_RESOLUTION 1e-9 /* of our own timings, seconds */

static const struct plan *plan_of(const struct rule_input *in)
{
	return in->run->plan;
}

static struct workload_nature nature_of(const struct rule_input *in, const struct result_row *row)
{
	return analysis_nature(in->run, row);
}

/* Whether the layout's pool may compress what is written: set by the plan, or left to the default
 * of the host's ZFS. */
static int may_compress(const struct plan *p, uint32_t layout)
{
	const struct layout *l = layout < p->n_layouts ? &p->layouts[layout] : NULL;

	if (!l || l->existing)
		return 1;
	if (!l->pool)
		return l->fs && l->fs->type == FS_BTRFS;
	for (size_t i = 0; i < l->pool->n_props; i++)
		if (strcmp(l->pool->props[i].name, "compression") == 0)
			return strcmp(l->pool->props[i].value, "off") != 0;
	return 1;
}

/* What the volume stores of a byte, by its own ratio, in the trial that found most saved. */
static double stored_part(const struct result_row *row, double untold)
{
	double least = NAN;

	for (unsigned i = 0; i < row->listed; i++) {
		const struct result_trial *r = row->trials[i];
		int64_t permille;

		if (r->sum.n_evidence &&
			evidence_get(r->sum.evidence, EVIDENCE_COMPRESS_RATIO_PERMILLE, &permille) &&
			permille > 0)
			least = fmin(least, 1000.0 / (double)permille);
	}
	return isnan(least) ? untold : fmin(least, 1);
}

/* The part of the logical bytes that must come from the disks when nothing is cached; NaN when
 * that cannot be told. */
static double expected_part(const struct rule_input *in, const struct result_row *row)
{
	const struct workload_nature w = nature_of(in, row);

	if (!plan_of(in))
		return NAN;
	if (w.raw || !may_compress(plan_of(in), row->layout_index))
		return 1;
	if (w.data_known && w.data == DATA_RANDOM)
		return 1;
	if (w.data_known && w.data == DATA_ZERO) /* holes are in no ratio */
		return NAN;
	if (w.data_known)
		return fmin(1 - w.compressible_percent / 100.0, stored_part(row, 1));
	return stored_part(row, NAN);
}

/* Of a row's trials: how many tell, and what those moved whose disks gave too little. */
struct moved {
	double physical, logical;
	unsigned reads, counted, cached;
};

static struct moved moved_below(const struct result_row *row, double part)
{
	struct moved m = {0};

	for (unsigned i = 0; i < row->listed; i++) {
		const struct result_trial *t = row->trials[i];
		double physical = (double)t->sum.tele.disk_read_bytes, logical = (double)t->sum.bytes;

		if (t->sum.bytes == 0)
			continue;
		m.reads++;
		if (t->sum.tele.disks == 0)
			continue;
		m.counted++;
		if (!(physical < part * logical))
			continue;
		m.cached++;
		m.physical += physical;
		m.logical += logical;
	}
	return m;
}

/* Whether the row is one of reads whose bytes are counted. */
static int reads_only(const struct rule_input *in, const struct result_row *row)
{
	const struct workload_nature w = nature_of(in, row);

	if (w.moves == MOVES_UNKNOWN)
		finding_unknown(in, plan_of(in) ? "not told what a workload reads from the volume"
						: "no plan");
	if (w.moves == MOVES_READS && w.other_bytes)
		finding_unknown(in, "no count of the bytes that a workload read");
	return w.moves == MOVES_READS && !w.other_bytes;
}

/* Whether any trial's volume stood on the disk of that id. */
static int is_used(const struct result_row *row, const char *id)
{
	for (unsigned t = 0; t < row->listed; t++) {
		const struct trial_summary *s = &row->trials[t]->sum;

		for (size_t k = 0; s->n_evidence && k < s->evidence->n_disks; k++)
			if (str_equal(s->evidence->disks[k].id, id))
				return 1;
	}
	return 0;
}

/* What comes from such a controller may come from its cache: the kernel cannot tell. */
static int is_behind_raid(const struct rule_input *in, const struct result_row *row)
{
	const json_t *inventory = rule_inventory_of(in, row->host, row->layout_index);
	const json_t *disk;
	size_t i;

	if (!inventory_has_raid(inventory))
		return 0;
	json_array_foreach(json_object_get(inventory, "disks"), i, disk)
	{
		if (inventory_disk_behind_raid(disk) &&
			is_used(row, json_get_str(disk, "id", NULL)))
			return 1;
	}
	return 0;
}

/* Whatever the plan asks for. */
static int is_made_late(const struct rule_input *in, const struct result_row *row)
{
	const struct plan *p = plan_of(in);

	return p && row->workload_index < p->n_workloads &&
	       workload_makes_late(&p->workloads[row->workload_index]);
}

static void not_cold(const struct rule_input *in, const struct result_row *row)
{
	if (strcmp(in->run->run->cache, "cold") == 0 && is_made_late(in, row))
		finding_add(in, SEVERITY_WARNING, row->host, row->layout, row->workload,
			json_pack("{ss}", "cache", "not cold"),
			"cold caches were asked for, and it made the files that it reads after "
			"they were emptied: they can come from memory");
}

static void cached_told(const struct rule_input *in, const struct result_row *row,
	const struct moved *m, double expected)
{
	char some[48] = "";

	if (m->cached < m->counted)
		snprintf(some, sizeof(some), " in %u of %u trials", m->cached, m->counted);
	finding_add(in, SEVERITY_INVALID, row->host, row->layout, row->workload,
		json_pack("{sf sf sf si si}", "physical_bytes", m->physical, "logical_bytes", m->logical,
			"expected_ratio", expected, "trials", (int)m->cached, "n", (int)m->counted),
		"the disks gave %.0f%% of the bytes read%s (%.0f%% expected): the rest came from a cache",
		100 * m->physical / m->logical, some, 100 * expected);
}

/* One trial is enough: it spoils the mean of the others. */
void rule_cached_read(const struct rule_input *in)
{
	if (strcmp(in->run->run->cache, "warm") == 0)
		return;
	FOR_ROWS(in, row)
	{
		struct moved m;
		double expected;

		if (!rule_row_is_headline(in, row))
			continue;
		not_cold(in, row);
		if (!reads_only(in, row))
			continue;
		expected = expected_part(in, row);
		m = moved_below(row, CACHED_BELOW * (isnan(expected) ? 1 : expected));
		if (m.counted < m.reads || (m.reads == 0 && row->n > 0))
			finding_unknown(in, "no counters of the disks");
		if (m.counted == 0)
			continue;
		if (is_behind_raid(in, row))
			finding_unknown(in, "no hits of the RAID controller's cache");
		if (isnan(expected) && m.cached)
			finding_unknown(in, plan_of(in) ? "no compression ratio" : "no plan");
		else if (m.cached)
			cached_told(in, row, &m, expected);
	}
}

void rule_few_trials(const struct rule_input *in)
{
	FOR_ROWS(in, row)
	{
		unsigned few = row->summary_only ? FEW_SUMMARY : FEW;

		if (rule_row_is_headline(in, row) && row->n < few)
			finding_add(in, SEVERITY_WARNING, row->host, row->layout, row->workload,
				json_pack("{si si}", "n", (int)row->n, "needed", (int)few),
				"n = %u: %u are needed for an interval", row->n, few);
	}
}

void rule_wide_spread(const struct rule_input *in)
{
	FOR_ROWS(in, row)
	{
		double cv = row->stddev / row->mean;

		if (rule_row_is_headline(in, row) && row->summary_only && isnan(row->stddev))
			finding_unknown(in, "no single trials");
		if (rule_row_is_headline(in, row) && row->n >= FEW && cv > WIDE)
			finding_add(in, SEVERITY_NOTE, row->host, row->layout, row->workload,
				json_pack("{sf si}", "cv", cv, "n", (int)row->n),
				"trials spread by %.0f%% (standard deviation over mean)", 100 * cv);
	}
}

/* "8m42.7810s" -> "8m42.781s" */
static void trim_zeros(char *s)
{
	size_t end = strlen(s) - 1; /* of the unit */
	size_t n = end;

	while (n > 0 && s[n - 1] == '0')
		n--;
	if (n > 0 && s[n - 1] == '.')
		n--;
	memmove(s + n, s + end, 2);
}

/* With every digit that was read: "8m42.781s". */
static const char *value_text(const struct result_row *row, double v, char out[UNITS_LEN])
{
	double q = row->resolution > 0 ? row->resolution : TIMER_RESOLUTION;
	int places = (int)fmin(9, fmax(0, ceil(-log10(q) - 1e-9)));
	char number[UNITS_LEN];

	if (strcmp(metric_table[row->metric].unit, "s") != 0)
		snprintf(out, UNITS_LEN, "%.20s %s", units_number(v, 10, number),
			metric_table[row->metric].unit);
	else if (v >= 60 && v < 1e9)
		snprintf(out, UNITS_LEN, "%.0fm%0*.*fs", floor(v / 60), places ? places + 3 : 2,
			places, fmod(v, 60));
	else
		snprintf(out, UNITS_LEN, "%.*fs", places, v);
	if (strchr(out, '.') && strcmp(metric_table[row->metric].unit, "s") == 0)
		trim_zeros(out);
	return out;
}

/* "trials 2, 3 both 8m42.781s" for the first value that is there more than once. */
static void tie_found(
	const struct rule_input *in, const struct result_row *row, unsigned first, double chance)
{
	char s[UNITS_LEN];
	struct buf who = {0};
	unsigned n = 0;

	for (unsigned i = first; i < row->listed; i++)
		if (row->values[i] == row->values[first])
			buf_addf(&who, "%s%u", n++ ? ", " : "", i + 1);
	finding_add(in, SEVERITY_WARNING, row->host, row->layout, row->workload,
		json_pack("{sf sf si}", "value", row->values[first], "chance", chance, "times",
			(int)n),
		"trials %s %s %s (chance %.2g%%)", buf_str(&who), n == 2 ? "both" : "all",
		value_text(row, row->values[first], s), 100 * chance);
	buf_free(&who);
}

/* The chance of any tie among n values of a normal distribution with that deviation, read with
 * resolution q: n (n - 1) / 2 pairs, each with density 1 / (2 sqrt(pi) s) at distance 0. */
static double tie_chance(unsigned n, double q, double s)
{
	return n * (n - 1.0) / 2 * q / (2 * sqrt(M_PI) * s);
}

/* At a set rate the plan decides how long it takes. */
static int is_paced(const struct rule_input *in, const struct result_row *row)
{
	return nature_of(in, row).paced;
}

void rule_identical_timings(const struct rule_input *in)
{
	FOR_ROWS(in, row)
	{
		double q = row->resolution, chance;
		unsigned n = row->listed;
		int found = 0;

		if (rule_row_is_headline(in, row) && row->summary_only)
			finding_unknown(in, "no single trials");
		if (!rule_row_is_headline(in, row) || n < 2 || !(row->stddev > 0) ||
			is_paced(in, row))
			continue;
		if (q <= 0 && row->metric == METRIC_ELAPSED)
			q = TIMER_RESOLUTION;
		chance = tie_chance(n, q, row->stddev);
		if (q <= 0 || chance >= TIE_CHANCE)
			continue;
		for (unsigned i = 0; i < n && !found; i++)
			for (unsigned k = i + 1; k < n && !found; k++)
				if (row->values[i] == row->values[k]) {
					tie_found(in, row, i, chance);
					found = 1;
				}
	}
}

/* How busy the CPUs were during a row's trials, at most; NaN where no trial tells. */
struct cpu_use {
	double host, worker; /* of all CPUs; of one CPU per thread of the worker */
	unsigned bound, untold;
};

static double host_busy(const struct telemetry *t)
{
	double busy = (double)t->cpu_user_ns + (double)t->cpu_system_ns;
	double all = busy + (double)t->cpu_idle_ns + (double)t->cpu_iowait_ns;

	return all > 0 ? busy / all : NAN;
}

/* A worker that used no CPU at all was not counted. */
static double worker_busy(const struct trial_summary *t, unsigned threads)
{
	double busy = (double)t->cpu_user_ns + (double)t->cpu_system_ns;

	return busy > 0 && threads && t->elapsed_ns > 0 ? busy / threads / (double)t->elapsed_ns
							: NAN;
}

static struct cpu_use cpu_use_of(const struct result_row *row, unsigned threads)
{
	struct cpu_use u = {NAN, NAN, 0, 0};

	for (unsigned i = 0; i < row->listed; i++) {
		const struct trial_summary *t = &row->trials[i]->sum;
		double host = host_busy(&t->tele), worker = worker_busy(t, threads);

		u.host = fmax(u.host, host);
		u.worker = fmax(u.worker, worker);
		u.bound += host > CPU_BOUND || worker > CPU_BOUND;
		u.untold += isnan(host) && !(worker > CPU_BOUND);
	}
	return u;
}

/* NaN is not JSON. */
static json_t *real_or_null(double v)
{
	return isnan(v) ? json_null() : json_real(v);
}

static void cpu_bound_told(
	const struct rule_input *in, const struct result_row *row, const struct cpu_use *u)
{
	int by_host = u->host > CPU_BOUND;

	finding_add(in, SEVERITY_WARNING, row->host, row->layout, row->workload,
		json_pack("{so so si si}", "host_busy", real_or_null(u->host), "worker_busy",
			real_or_null(u->worker), "bound", (int)u->bound, "n", (int)row->listed),
		"bound by the CPU in %u of %u trials: %s up to %.0f%% busy", u->bound, row->listed,
		by_host ? "all CPUs of the host" : "the workload's threads",
		100 * (by_host ? u->host : u->worker));
}

void rule_cpu_bound(const struct rule_input *in)
{
	FOR_ROWS(in, row)
	{
		struct cpu_use u;

		if (!rule_row_is_headline(in, row))
			continue;
		u = cpu_use_of(row, nature_of(in, row).threads);
		if (u.untold || row->summary_only)
			finding_unknown(in, "no use of the CPUs");
		if (u.bound)
			cpu_bound_told(in, row, &u);
	}
}

/* What others printed says nothing of samples. */
void rule_samples_missing(const struct rule_input *in)
{
	for (size_t i = 0; i < in->set->n_summaries; i++)
		if (in->set->summaries[i].run == in->run->run->id)
			finding_unknown(in, "nothing told beside the trials");
	for (size_t i = 0; i < in->set->n_trials; i++) {
		const struct result_trial *t = &in->set->trials[i];

		if (t->run == in->run->run->id && !t->superseded && t->sum.ok && (t->n_printed || !t->sum.started_wall_ns))
			finding_unknown(in, "nothing told beside the trials");
		if (t->run == in->run->run->id && !t->superseded && t->lost)
			finding_add(in, SEVERITY_WARNING, t->host, t->layout_name, t->workload_name,
				json_pack("{si si si}", "block", (int)t->block, "repeat",
					(int)t->repeat, "records", (int)t->lost),
				"block %u: %u records with samples were lost on the host; the "
				"totals are whole",
				t->block, t->lost);
	}
}

static int is_bounded(const struct rule_input *in, const struct result_row *row)
{
	return rule_row_is_headline(in, row) && row->summary_only && isnan(row->stddev);
}

static int has_range(const struct result_row *row)
{
	return !isnan(row->min) && !isnan(row->max);
}

/* Of all results there are, which then need not be named. */
static int all_are_bounded(const struct rule_input *in)
{
	const struct result_row *first = NULL;

	FOR_ROWS(in, row)
	{
		if (!row->n || !analysis_is_shown(in->run, row))
			continue;
		if (!is_bounded(in, row) || (first && has_range(first) != has_range(row)))
			return 0;
		first = row;
	}
	return first != NULL;
}

/* The fewest and the most trials behind one of so many summaries. */
struct bounded {
	int summaries, range;
	unsigned least, most;
};

static void bounded_told(const struct rule_input *in, const struct result_row *of, const struct bounded *b)
{
	finding_add(in, SEVERITY_WARNING, of ? of->host : NULL, of ? of->layout : NULL,
		of ? of->workload : NULL,
		json_pack("{si si si sb}", "n", (int)b->least, "n_most", (int)b->most, "summaries",
			b->summaries, "range", b->range),
		"%s",
		b->range ? "spread bounded by mean, min and max, not known"
			 : "no spread told: a mean without range or standard deviation is judged by nothing");
}

void rule_spread_bounded(const struct rule_input *in)
{
	struct bounded all = {.least = UINT_MAX};
	int together = all_are_bounded(in);

	FOR_ROWS(in, row)
	{
		const struct bounded one = {1, has_range(row), row->n, row->n};

		if (!is_bounded(in, row))
			continue;
		if (!together)
			bounded_told(in, row, &one);
		all.summaries++;
		all.range = one.range;
		all.least = row->n < all.least ? row->n : all.least;
		all.most = row->n > all.most ? row->n : all.most;
	}
	if (together)
		bounded_told(in, NULL, &all);
}
