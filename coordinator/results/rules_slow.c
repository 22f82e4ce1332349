/*
 * Rule V11: a disk that is slower than those that did the same work. Owns nothing beyond a call.
 *
 * Twice as slow as its peers is what Hao et al. (The Tail at Store, FAST 2016) call a slow drive: of
 * 857 million disk hours 0.2 % were, of 7 million SSD hours 0.6 %. That it must be the same disk in most
 * trials, and in two at least, makes it rarer still where no disk is worse than another: see
 * tests/unit/test_rules_slow.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/rules.h"

#define SIBLINGS_MIN 3     /* disks that did a like share of the work; two may be enough */
#define LIKE_SHARE 0.5     /* of the median disk's bytes */
#define SLOW_WAIT 2.0      /* times the median wait of a request */
#define SLOW_BUSY 1.5      /* times the median busy share, and */
#define SLOW_BUSY_MORE 0.1 /* so much of the time more */

static const struct trial_evidence *evidence_of(const struct result_trial *t)
{
	return t->sum.n_evidence ? t->sum.evidence : NULL;
}

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

/* What the disks are held against: the median one; of two the better one, since the other is slow or
 * none is. */
static double reference(const double *v, size_t n)
{
	return n == 2 ? fmin(v[0], v[1]) : median_of(v, n);
}

/* Two disks are enough where nothing but data is on them: a log may be as busy, and is another kind. */
static int is_enough(const struct siblings *s, const struct trial_evidence *v, int pair)
{
	return s->n >= SIBLINGS_MIN || (pair && s->n == 2 && v->n_disks == 2);
}

/* Marks the trial's slow disks; 0 when it has no siblings to compare. */
static int mark_slow(const struct result_trial *t, int pair, unsigned *slow, double *ratio)
{
	struct siblings s;
	double wait, busy;
	int enough;

	find_siblings(t, &s);
	enough = t->sum.elapsed_ns > 0 && is_enough(&s, evidence_of(t), pair);
	if (enough) {
		wait = reference(s.wait, s.n);
		busy = reference(s.busy, s.n);
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
	const struct trial_evidence *v, size_t place, unsigned trials, unsigned compared,
	double ratio)
{
	const struct disk_evidence *d = &v->disks[place];
	int pair = v->n_disks == 2;

	finding_add(in, SEVERITY_WARNING, row->host, row->layout, row->workload,
		json_pack("{so so si sf si si}", "disk", json_text(d->id ? d->id : d->name), "name",
			json_text(d->name), "place", (int)place + 1, "wait_ratio", ratio, "trials",
			(int)trials, "n", (int)compared),
		"disk %zu of the volume is slower than its sibling%s in %u of %u trials: a request "
		"waits %.1f times as long as at the %s disk",
		place + 1, pair ? "" : "s", trials, compared, ratio, pair ? "other" : "median");
}

/* Whether the plan puts nothing but data on the layout's disks. */
static int only_data(const struct rule_input *in, const struct result_row *row)
{
	const struct plan *p = in->run->plan;
	const struct layout *l =
		p && row->layout_index < p->n_layouts ? &p->layouts[row->layout_index] : NULL;

	return l && l->pool && layout_is_only_data(l);
}

/* A disk's place in its volume is the same in every build. */
static void check_slow(const struct rule_input *in, const struct result_row *row)
{
	unsigned slow[EVIDENCE_DISKS_MAX] = {0}, compared = 0;
	double *ratio = xcalloc(EVIDENCE_DISKS_MAX, sizeof(*ratio));
	const struct trial_evidence *most = NULL;
	int pair = only_data(in, row);

	for (unsigned i = 0; i < row->listed; i++) {
		const struct trial_evidence *v = evidence_of(row->trials[i]);

		if (!v)
			continue;
		if (v->n_disks == 0) {
			finding_unknown(in, "no counters of each disk");
			continue;
		}
		if (mark_slow(row->trials[i], pair, slow, ratio))
			compared++;
		else
			finding_unknown(in, "too few disks alike");
		if (!most || v->n_disks > most->n_disks)
			most = v;
	}
	for (size_t i = 0; most && i < most->n_disks; i++)
		if (slow[i] > 1 && 2 * slow[i] > compared)
			slow_told(in, row, most, i, slow[i], compared,
				ratio[i] / slow[i]);
	free(ratio);
}

void rule_slow_disk(const struct rule_input *in)
{
	rule_each_row(in, check_slow);
}
