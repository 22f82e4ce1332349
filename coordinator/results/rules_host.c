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

#define BUSY_BEFORE 200        /* permille of a disk's time, or of all CPUs', in the look before */
#define OTHERS_RATE 10e6       /* bytes a second of disks that are not the volume's */
#define STOLEN 0.02            /* of all CPU time */
#define STEPPED_NS (100 * NS_PER_MS)
#define SIBLINGS_MIN 3         /* disks that did a like share of the work */
#define LIKE_SHARE 0.5         /* of the median disk's bytes */
#define SLOW_WAIT 2.0          /* times the median wait of a request */
#define SLOW_BUSY 1.5          /* times the median busy share, and */
#define SLOW_BUSY_MORE 0.1     /* so much of the time more */

static const struct trial_evidence *evidence_of(const struct result_trial *t)
{
	return t->sum.n_evidence ? t->sum.evidence : NULL;
}

/* Of imports, and of agents that gather none. */
static int lacks_evidence(const struct result_row *row)
{
	for (unsigned i = 0; i < row->listed; i++)
		if (!evidence_of(row->trials[i]))
			return 1;
	return row->summary_only;
}

/* Calls fn for each headline row with trials; of one that tells nothing the rule knows nothing. */
static void each_row(const struct rule_input *in,
	void (*fn)(const struct rule_input *in, const struct result_row *row))
{
	FOR_ROWS(in, row)
	{
		if (!rule_row_is_headline(in, row))
			continue;
		if (lacks_evidence(row))
			finding_unknown(in, "nothing told beside the trials");
		else if (row->listed)
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
		int told = evidence_get(v, EVIDENCE_MAINTENANCE_BEFORE, &before) &
			   evidence_get(v, EVIDENCE_MAINTENANCE_AFTER, &after);

		if (before > 0 || after > 0) {
			const char *text = before > 0 ? v->maintenance_before : v->maintenance_after;

			which = which ? which : text ? text : "not told which";
			n++;
		} else if (!told) {
			finding_unknown(in, "no state of pools and arrays");
		}
	}
	if (n)
		finding_add(in, SEVERITY_WARNING, row->host, row->layout, row->workload,
			json_pack("{so si si}", "what", json_text(which), "trials", (int)n, "n",
				(int)row->listed),
			"maintenance ran before or after %u of %u trials: %s", n, row->listed, which);
}

/* Adapters with firmware that rebuilds, patrols and checks on its own, by their drivers. */
static int has_raid_firmware(const json_t *inventory)
{
	static const char *const drivers[] = {"(megaraid_sas)", "(hpsa)", "(smartpqi)", "(aacraid)",
		"(arcmsr)", "(3w-9xxx)", "(3w-sas)", "(ips)"};
	const json_t *disk;
	size_t i;

	json_array_foreach(json_object_get(inventory, "disks"), i, disk)
	{
		const char *controller = json_get_str(disk, "controller", "");

		for (size_t k = 0; k < ARRAY_LEN(drivers); k++)
			if (strstr(controller, drivers[k]))
				return 1;
	}
	return 0;
}

void rule_maintenance(const struct rule_input *in)
{
	for (size_t i = 0; i < in->run->n_hosts; i++)
		if (has_raid_firmware(rule_inventory(in, in->run->hosts[i])))
			finding_unknown(in, "no state of the RAID controller");
	each_row(in, check_maintenance);
}

/* ---- V10 ---- */

/* The most that was seen in any of a row's trials. */
struct foreign {
	double disk_before, cpu_before; /* shares in the look before the trial */
	double others;                  /* bytes a second during it */
	double stolen;                  /* share of all CPU time */
	unsigned looked, told;          /* trials that had a look, and that tell of other disks */
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
	int64_t look = 0, cpu = 0, read = 0, written = 0, steal = 0;
	double seconds = (double)t->sum.elapsed_ns / NS_PER_S;

	if (evidence_get(v, EVIDENCE_LOOK_NS, &look) && look > 0) {
		f->disk_before = fmax(f->disk_before, share_before(v, look));
		if (evidence_get(v, EVIDENCE_LOOK_CPU_PERMILLE, &cpu))
			f->cpu_before = fmax(f->cpu_before, (double)cpu / 1000);
		f->looked++;
	}
	if (evidence_get(v, EVIDENCE_OTHER_READ_BYTES, &read) &&
		evidence_get(v, EVIDENCE_OTHER_WRITE_BYTES, &written)) {
		if (seconds > 0)
			f->others = fmax(f->others, (double)(read + written) / seconds);
		f->told++;
	}
	if (evidence_get(v, EVIDENCE_CPU_STEAL_NS, &steal))
		f->stolen = fmax(f->stolen, stolen_of(t, steal));
}

static void foreign_text(const struct foreign *f, struct buf *out)
{
	char rate[UNITS_LEN];

	if (f->disk_before > BUSY_BEFORE / 1000.0)
		buf_addf(out, ", a disk of the volume was %.0f%% busy right before a trial",
			100 * f->disk_before);
	if (f->cpu_before > BUSY_BEFORE / 1000.0)
		buf_addf(out, ", the CPUs were %.0f%% busy right before one", 100 * f->cpu_before);
	if (f->others > OTHERS_RATE)
		buf_addf(out, ", other disks moved up to %s during one", units_rate(f->others, rate));
	if (f->stolen > STOLEN)
		buf_addf(out, ", the hypervisor kept %.0f%% of the CPU time of one", 100 * f->stolen);
}

static void check_foreign(const struct rule_input *in, const struct result_row *row)
{
	const struct plan *p = in->run->plan;
	struct foreign f = {0};
	struct buf text = {0};
	int existing = !p || row->layout_index >= p->n_layouts ||
		       p->layouts[row->layout_index].existing;

	for (unsigned i = 0; i < row->listed; i++)
		add_foreign(row->trials[i], &f);
	foreign_text(&f, &text);
	if (text.len)
		finding_add(in, SEVERITY_WARNING, row->host, row->layout, row->workload,
			json_pack("{sf sf sf sf}", "disk_busy_before", f.disk_before,
				"cpu_busy_before", f.cpu_before, "other_disks_bytes_per_s", f.others,
				"cpu_stolen", f.stolen),
			"the host had other work: %s", text.data + 2);
	else if (f.told < row->listed)
		finding_unknown(in, "no counters of the host's other disks");
	else if (existing && f.looked < row->listed)
		finding_unknown(in, "no look at the volume's disks before the trials");
	buf_free(&text);
}

void rule_foreign_load(const struct rule_input *in)
{
	each_row(in, check_foreign);
}

/* ---- V11 ---- */

static int by_value(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

static double median_of(const double *v, size_t n)
{
	double *sorted = xmemdup(v, n * sizeof(*v)), m;

	qsort(sorted, n, sizeof(*sorted), by_value);
	m = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
	free(sorted);
	return m;
}

static double bytes_of(const struct disk_evidence *d)
{
	return (double)d->during.read_bytes + (double)d->during.write_bytes;
}

/* Disks of one trial that did a like share of its work: siblings. */
struct siblings {
	size_t *disk;
	double *wait, *busy; /* a request's wait in ns; share of the time */
	size_t n;
};

static void find_siblings(const struct result_trial *t, struct siblings *s)
{
	const struct trial_evidence *v = evidence_of(t);
	double *bytes = xcalloc(v->n_disks, sizeof(*bytes)), least;

	*s = (struct siblings){xcalloc(v->n_disks, sizeof(*s->disk)),
		xcalloc(v->n_disks, sizeof(*s->wait)), xcalloc(v->n_disks, sizeof(*s->busy)), 0};
	for (size_t i = 0; i < v->n_disks; i++)
		bytes[i] = bytes_of(&v->disks[i]);
	least = LIKE_SHARE * median_of(bytes, v->n_disks);
	for (size_t i = 0; i < v->n_disks; i++) {
		const struct disk_counters *c = &v->disks[i].during;
		double ops = (double)c->read_ops + (double)c->write_ops;

		if (!(ops > 0) || bytes[i] < least)
			continue;
		s->disk[s->n] = i;
		s->wait[s->n] = ((double)c->read_wait_ns + (double)c->write_wait_ns) / ops;
		s->busy[s->n] = (double)c->busy_ns / (double)t->sum.elapsed_ns;
		s->n++;
	}
	free(bytes);
}

/* Marks the trial's slow disks; 0 when it has no siblings to compare. */
static int mark_slow(const struct result_trial *t, unsigned *slow, double *ratio)
{
	struct siblings s;
	double wait, busy;
	int enough;

	find_siblings(t, &s);
	enough = s.n >= SIBLINGS_MIN && t->sum.elapsed_ns > 0;
	if (enough) {
		wait = median_of(s.wait, s.n);
		busy = median_of(s.busy, s.n);
		for (size_t i = 0; i < s.n; i++) {
			if (s.wait[i] < SLOW_WAIT * wait || s.busy[i] < SLOW_BUSY * busy ||
				s.busy[i] < busy + SLOW_BUSY_MORE)
				continue;
			slow[s.disk[i]]++;
			ratio[s.disk[i]] += wait > 0 ? s.wait[i] / wait : SLOW_WAIT;
		}
	}
	free(s.disk);
	free(s.wait);
	free(s.busy);
	return enough;
}

static void slow_told(const struct rule_input *in, const struct result_row *row,
	const struct disk_evidence *d, size_t place, unsigned trials, unsigned compared, double ratio)
{
	finding_add(in, SEVERITY_WARNING, row->host, row->layout, row->workload,
		json_pack("{so so si sf si si}", "disk", json_text(d->id ? d->id : d->name), "name",
			json_text(d->name), "place", (int)place + 1, "wait_ratio", ratio, "trials",
			(int)trials, "n", (int)compared),
		"disk %zu of the volume is slower than its siblings in %u of %u trials: a request "
		"waits %.1f times as long as at the median disk",
		place + 1, trials, compared, ratio);
}

/* A disk's place in its volume is the same in every build. */
static void check_slow(const struct rule_input *in, const struct result_row *row)
{
	unsigned slow[EVIDENCE_DISKS_MAX] = {0}, compared = 0;
	double *ratio = xcalloc(EVIDENCE_DISKS_MAX, sizeof(*ratio));
	const struct trial_evidence *last = NULL;

	for (unsigned i = 0; i < row->listed; i++) {
		const struct trial_evidence *v = evidence_of(row->trials[i]);

		if (v->n_disks == 0) {
			finding_unknown(in, "no counters of each disk");
			continue;
		}
		if (mark_slow(row->trials[i], slow, ratio))
			compared++;
		else
			finding_unknown(in, "too few disks alike");
		last = v;
	}
	for (size_t i = 0; last && i < last->n_disks; i++)
		if (slow[i] > 1 && 2 * slow[i] > compared)
			slow_told(in, row, &last->disks[i], i, slow[i], compared,
				ratio[i] / slow[i]);
	free(ratio);
}

void rule_slow_disk(const struct rule_input *in)
{
	each_row(in, check_slow);
}

/* ---- V19 ---- */

static void check_clock(const struct rule_input *in, const struct result_row *row)
{
	int64_t most = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < row->listed; i++) {
		int64_t step;

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
	each_row(in, check_clock);
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
	each_row(in, check_errors);
}

/* ---- V22 ---- */

static void check_throttled(const struct rule_input *in, const struct result_row *row)
{
	int64_t events = 0, hot = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < row->listed; i++) {
		const struct trial_evidence *v = evidence_of(row->trials[i]);
		int64_t throttled = 0, disks = 0;

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
	each_row(in, check_throttled);
}
