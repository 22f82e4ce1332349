/*
 * Rules about what went on beside a trial: maintenance, other work on the host, a slow disk, a clock
 * that was set, errors, throttling. Owns nothing beyond a call.
 * Invariant: they speak of the trials that count; of one that tells nothing they know nothing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/rules.h"
#include "coordinator/results/volume_disks.h"

#define BUSY_BEFORE 200        /* permille of a disk's time, or of all CPUs', in the look before */
#define OTHERS_RATE 10e6       /* bytes a second of disks that are not the volume's */
#define STOLEN 0.02            /* of all CPU time */
#define STEPPED_NS (100 * NS_PER_MS)

static const struct trial_evidence *evidence_of(const struct result_trial *t)
{
	return t->sum.n_evidence ? t->sum.evidence : NULL;
}

/* Imports have none, nor do agents that gather none. */
static unsigned trials_with_evidence(const struct result_row *row)
{
	unsigned n = 0;

	for (unsigned i = 0; i < row->listed; i++)
		n += evidence_of(row->trials[i]) != NULL;
	return n;
}

void rule_each_row(const struct rule_input *in,
	void (*fn)(const struct rule_input *in, const struct result_row *row))
{
	FOR_ROWS(in, row)
	{
		unsigned told = trials_with_evidence(row);

		if (!rule_row_is_headline(in, row))
			continue;
		if (told < row->listed || row->summary_only)
			finding_unknown(in, "nothing told beside the trials");
		if (told)
			fn(in, row);
	}
}

/* ---- V08 ---- */

static void check_maintenance(const struct rule_input *in, const struct result_row *row)
{
	const char *which = NULL;
	unsigned n = 0;

	for (unsigned i = 0; i < row->listed; i++) {
		const struct trial_evidence *v = evidence_of(row->trials[i]);
		int64_t before = 0, after = 0;
		int told;

		if (!v)
			continue;
		told = evidence_get(v, EVIDENCE_MAINTENANCE_BEFORE, &before) &
		       evidence_get(v, EVIDENCE_MAINTENANCE_AFTER, &after);
		if (before > 0 || after > 0) {
			const char *text = before > 0 ? v->maintenance_before : v->maintenance_after;

			which = which ? which : text ? text : "not told which";
			n++;
		} else if (!told && !finding_tools(in, v)) {
			finding_unknown(in, "no state of pools and arrays");
		}
	}
	if (n)
		finding_add(in, SEVERITY_WARNING, row->host, row->layout, row->workload,
			json_pack("{so si si}", "what", json_text(which), "trials", (int)n, "n",
				(int)row->listed),
			"maintenance ran before or after %u of %u trials: %s", n, row->listed, which);
}

/* Firmware of RAID controllers rebuilds, patrols and checks on its own. */
static void controllers_told(const struct rule_input *in)
{
	const char *host = NULL;
	int has_raid = 0;
	int64_t n;

	FOR_ROWS(in, row)
	{
		if (!host || strcmp(host, row->host) != 0) {
			host = row->host;
			has_raid = inventory_has_raid(rule_inventory(in, host));
		}
		for (unsigned i = 0; has_raid && i < row->listed; i++)
			if (!evidence_get(evidence_of(row->trials[i]), EVIDENCE_RAID_CONTROLLERS, &n) &&
				!finding_tools(in, evidence_of(row->trials[i])))
				finding_unknown(in, "no state of the RAID controller");
	}
}

void rule_maintenance(const struct rule_input *in)
{
	controllers_told(in);
	rule_each_row(in, check_maintenance);
}

/* ---- V10 ---- */

/* The most that was seen in any of a row's trials. */
struct foreign {
	double disk_before, cpu_before; /* shares in the look before the trial */
	double others;                  /* bytes a second during it */
	double stolen;                  /* share of all CPU time */
	unsigned trials;                /* that tell anything; of these: */
	unsigned looked, told;          /* trials that had a look, and that tell of other disks */
	unsigned disks;                 /* and a look at a disk of the volume */
	unsigned emptied;               /* had their caches, left as they were, emptied by others */
	unsigned busy_left;             /* were busy before without having been made cold */
};

static double share_before(const struct trial_evidence *v, int64_t look_ns)
{
	double most = 0;

	for (size_t i = 0; i < v->n_disks; i++)
		most = fmax(most, (double)v->disks[i].look_busy_ns / (double)look_ns);
	return most;
}

static double stolen_of(const struct result_trial *t, int64_t steal_ns)
{
	const struct telemetry *c = &t->sum.tele;
	double all = (double)c->cpu_user_ns + (double)c->cpu_system_ns + (double)c->cpu_idle_ns +
		     (double)c->cpu_iowait_ns + (double)steal_ns;

	return all > 0 ? (double)steal_ns / all : 0;
}

static void add_foreign(const struct result_trial *t, struct foreign *f)
{
	const struct trial_evidence *v = evidence_of(t);
	int64_t look = 0, cpu = 0, read = 0, written = 0, steal = 0, drops = 0;
	double seconds = (double)t->sum.elapsed_ns / NS_PER_S;

	if (!v)
		return;
	f->trials++;
	if (evidence_get(v, EVIDENCE_LOOK_NS, &look) && look > 0) {
		double busy = share_before(v, look);

		f->disk_before = fmax(f->disk_before, busy);
		f->busy_left += busy > BUSY_BEFORE / 1000.0 && !str_starts(t->cache, "cold") &&
				!str_starts(t->cache, "not cold");
		if (evidence_get(v, EVIDENCE_LOOK_CPU_PERMILLE, &cpu))
			f->cpu_before = fmax(f->cpu_before, (double)cpu / 1000);
		f->looked++;
		f->disks += v->n_disks > 0;
	}
	if (evidence_get(v, EVIDENCE_OTHER_READ_BYTES, &read) &&
		evidence_get(v, EVIDENCE_OTHER_WRITE_BYTES, &written)) {
		if (seconds > 0)
			f->others = fmax(f->others, (double)(read + written) / seconds);
		f->told++;
	}
	f->emptied += evidence_get(v, EVIDENCE_CACHE_DROPS, &drops) && drops > 0 &&
		      !str_starts(t->cache, "cold");
	if (evidence_get(v, EVIDENCE_CPU_STEAL_NS, &steal))
		f->stolen = fmax(f->stolen, stolen_of(t, steal));
}

static void foreign_text(const struct foreign *f, struct buf *out)
{
	char rate[UNITS_LEN];

	if (f->disk_before > BUSY_BEFORE / 1000.0)
		buf_addf(out, ", a disk of the volume was %.0f%% busy right before a trial%s",
			100 * f->disk_before,
			f->busy_left ? " (or what the trial before it left to write)" : "");
	if (f->cpu_before > BUSY_BEFORE / 1000.0)
		buf_addf(out, ", the CPUs were %.0f%% busy right before a trial", 100 * f->cpu_before);
	if (f->others > OTHERS_RATE)
		buf_addf(out, ", other disks moved up to %s during a trial", units_rate(f->others, rate));
	if (f->stolen > STOLEN)
		buf_addf(out, ", the hypervisor kept %.1f%% of the CPU time of a trial", 100 * f->stolen);
	if (f->emptied)
		buf_addf(out, ", somebody emptied its page cache during %u trial%s not to be cold",
			f->emptied, f->emptied == 1 ? " that was" : "s that were");
}

static void check_foreign(const struct rule_input *in, const struct result_row *row)
{
	struct foreign f = {0};
	struct buf text = {0};

	for (unsigned i = 0; i < row->listed; i++)
		add_foreign(row->trials[i], &f);
	foreign_text(&f, &text);
	if (text.len)
		finding_add(in, SEVERITY_WARNING, row->host, row->layout, row->workload,
			json_pack("{sf sf sf sf si}", "disk_busy_before", f.disk_before,
				"cpu_busy_before", f.cpu_before, "other_disks_bytes_per_s", f.others,
				"cpu_stolen", f.stolen, "caches_emptied", (int)f.emptied),
			"the host had other work: %s", text.data + 2);
	if (f.told < f.trials)
		finding_unknown(in, "no counters of the host's other disks");
	if (f.looked < f.trials)
		finding_unknown(in, "no look at the host before the trials");
	else if (f.disks < f.trials)
		finding_unknown(in, "no counters of the volume's disks before the trials");
	buf_free(&text);
}

void rule_foreign_load(const struct rule_input *in)
{
	rule_each_row(in, check_foreign);
}

/* ---- V19 ---- */

static void check_clock(const struct rule_input *in, const struct result_row *row)
{
	int64_t most = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < row->listed; i++) {
		int64_t step;

		if (!evidence_of(row->trials[i]))
			continue;
		if (!evidence_get(evidence_of(row->trials[i]), EVIDENCE_CLOCK_STEP_NS, &step)) {
			finding_unknown(in, "no readings of the wall clock");
			continue;
		}
		n += step > STEPPED_NS || step < -STEPPED_NS;
		if (fabs((double)step) > fabs((double)most))
			most = step;
	}
	if (n)
		finding_add(in, SEVERITY_NOTE, row->host, row->layout, row->workload,
			json_pack("{sI si si}", "step_ns", (json_int_t)most, "trials", (int)n, "n",
				(int)row->listed),
			"the host's clock was set during %u of %u trials, by up to %+.1f s; the "
			"timings do not use it, the order of starts does",
			n, row->listed, (double)most / NS_PER_S);
}

void rule_clock_set(const struct rule_input *in)
{
	rule_each_row(in, check_clock);
}

/* ---- V21 ---- */

#define NO_ERRORS "no counters of the disks' errors"

static void check_errors(const struct rule_input *in, const struct result_row *row)
{
	const struct disk_evidence *worst = NULL;
	uint64_t all = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < row->listed; i++) {
		const struct trial_evidence *v = evidence_of(row->trials[i]);
		uint64_t here = 0;

		if (!v)
			continue;
		for (size_t k = 0; k < v->n_disks; k++) {
			const struct disk_evidence *d = &v->disks[k];

			if (!d->errors_known)
				finding_unknown(in, NO_ERRORS);
			here += d->errors_known ? d->errors : 0;
			if (d->errors_known && d->errors && (!worst || d->errors > worst->errors))
				worst = d;
		}
		if (v->n_disks == 0)
			finding_unknown(in, NO_ERRORS);
		all += here;
		n += here > 0;
	}
	if (worst)
		finding_add(in, SEVERITY_WARNING, row->host, row->layout, row->workload,
			json_pack("{sI so si si}", "errors", (json_int_t)all, "disk",
				json_text(worst->id ? worst->id : worst->name), "trials", (int)n,
				"n", (int)row->listed),
			"commands to the volume's disks failed or timed out %llu times in %u of %u "
			"trials",
			(unsigned long long)all, n, row->listed);
}

void rule_disk_errors(const struct rule_input *in)
{
	rule_each_row(in, check_errors);
}

/* ---- V22 ---- */

static void check_throttled(const struct rule_input *in, const struct result_row *row)
{
	int64_t events = 0, hot = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < row->listed; i++) {
		const struct trial_evidence *v = evidence_of(row->trials[i]);
		int64_t throttled = 0, disks = 0;

		if (!v)
			continue;
		if (!evidence_get(v, EVIDENCE_THROTTLE_EVENTS, &throttled))
			finding_unknown(in, "no counts of the CPUs' throttling");
		if (!evidence_get(v, EVIDENCE_HOT_DISKS, &disks))
			finding_unknown(in, "no temperatures of the disks");
		events += throttled;
		hot = disks > hot ? disks : hot;
		n += throttled > 0 || disks > 0;
	}
	if (n)
		finding_add(in, SEVERITY_WARNING, row->host, row->layout, row->workload,
			json_pack("{sI sI si si}", "cpu_events", (json_int_t)events, "hot_disks",
				(json_int_t)hot, "trials", (int)n, "n", (int)row->listed),
			"too hot in %u of %u trials: CPUs were slowed down %lld times, up to %lld "
			"disks were at their own limit",
			n, row->listed, (long long)events, (long long)hot);
}

void rule_throttled(const struct rule_input *in)
{
	rule_each_row(in, check_throttled);
}
