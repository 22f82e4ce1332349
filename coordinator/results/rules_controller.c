/*
 * What rules know of arrays behind RAID controllers: whether anything was told of them, whether their
 * write cache does what it is set to, and whether it can keep what it holds. Owns nothing.
 * Invariant: an array that nobody told of is unknown, not well.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/plan/workload.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/rules.h"
#include "coordinator/results/volume_disks.h"

static const struct trial_evidence *evidence_of(const struct result_trial *t)
{
	return t->sum.n_evidence ? t->sum.evidence : NULL;
}

/* Trials of one host, which stand together: those of later hosts are looked for behind them. */
struct span {
	size_t from, to;
};

static struct span span_of(const struct rule_input *in, const char *host, struct span last)
{
	const struct result_trial *t = in->set->trials;
	size_t n = in->set->n_trials, from = last.to;

	if (last.from < last.to && strcmp(t[last.from].host, host) == 0)
		return last;
	for (size_t looked = 0; looked < n; looked++, from++) {
		from = from < n ? from : 0;
		if (strcmp(t[from].host, host) == 0)
			break;
	}
	from = from < n ? from : 0;
	last = (struct span){from, from};
	while (last.to < n && strcmp(t[last.to].host, host) == 0)
		last.to++;
	return last;
}

static int counts(const struct rule_input *in, const struct result_trial *t)
{
	return t->run == in->run->run->id && !t->superseded;
}

/* ---- V08: what the controllers do beside their work ---- */

void rule_controllers_told(const struct rule_input *in)
{
	struct span at = {0, 0};

	for (size_t i = 0; i < in->run->n_hosts; i++) {
		const char *host = in->run->hosts[i];
		int silent = 0;
		int64_t n;

		if (!inventory_has_raid(rule_inventory(in, host)))
			continue;
		at = span_of(in, host, at);
		for (size_t k = at.from; k < at.to; k++)
			silent |= counts(in, &in->set->trials[k]) &&
				  !evidence_get(evidence_of(&in->set->trials[k]),
					  EVIDENCE_RAID_CONTROLLERS, &n);
		if (silent)
			finding_unknown(in, "no state of the RAID controller");
	}
}

/* ---- V09: does the write cache do what it is set to? ---- */

static const char *value_of(const struct trial_evidence *v, const char *array, const char *name)
{
	const struct setting_evidence *s = evidence_setting(v, array, name);

	return s ? s->before : NULL;
}

/* Trials of one layout on one host whose array wrote otherwise than it is set to. */
static void check_array(const struct rule_input *in, const struct volume_disks *d, struct span at,
	const char *array)
{
	const char *set = NULL, *now = NULL, *battery = NULL;
	unsigned n = 0, all = 0;

	for (size_t i = at.from; i < at.to; i++) {
		const struct result_trial *t = &in->set->trials[i];
		const struct trial_evidence *v = evidence_of(t);
		const char *has, *is;

		if (!counts(in, t) || t->layout != d->layout_index)
			continue;
		all++;
		has = value_of(v, array, SETTING_WRITE_CACHE_SET);
		is = value_of(v, array, SETTING_WRITE_CACHE);
		if (!has || !is || strcmp(has, is) == 0)
			continue;
		if (n++ == 0) {
			set = has;
			now = is;
			battery = value_of(v, array, SETTING_BATTERY);
		}
	}
	if (n)
		finding_add(in, SEVERITY_WARNING, d->host, d->layout, NULL,
			json_pack("{ss ss ss so si si}", "array", array, "asked", set, "had", now,
				"battery", json_text(battery), "trials", (int)n, "n", (int)all),
			"the write cache of %s is set to %s and was %s in %u of %u trials%s%s", array,
			set, now, n, all, battery ? ", its battery: " : "", battery ? battery : "");
}

/* The evidence of the layout's first trial that tells of arrays; NULL: none does. */
static const struct trial_evidence *arrays_of(
	const struct rule_input *in, const struct volume_disks *d, struct span at)
{
	for (size_t i = at.from; i < at.to; i++) {
		const struct result_trial *t = &in->set->trials[i];
		const struct trial_evidence *v = evidence_of(t);

		if (!v || !counts(in, t) || t->layout != d->layout_index)
			continue;
		for (size_t k = 0; k < v->n_settings; k++)
			if (v->settings[k].of &&
				strcmp(v->settings[k].name, SETTING_WRITE_CACHE) == 0)
				return v;
	}
	return NULL;
}

void rule_array_caches(const struct rule_input *in)
{
	struct span at = {0, 0};
	struct volume_disks *d;
	size_t n;

	volume_disks_of(in, &d, &n);
	for (size_t i = 0; i < n; i++) {
		const struct trial_evidence *v;

		at = span_of(in, d[i].host, at);
		v = arrays_of(in, &d[i], at);

		if (!v && volume_disks_behind_raid(&d[i]))
			finding_unknown(in, "no cache policy of the RAID controller");
		for (size_t k = 0; v && k < v->n_settings; k++)
			if (v->settings[k].of &&
				strcmp(v->settings[k].name, SETTING_WRITE_CACHE) == 0)
				check_array(in, &d[i], at, v->settings[k].of);
	}
	volume_disks_free(d, n);
}

/* ---- V25: can the cache keep what it holds? ---- */

/* The array that caches writes without a battery that is well, or NULL. */
static const char *array_at_risk(const struct trial_evidence *v)
{
	for (size_t k = 0; v && k < v->n_settings; k++) {
		const struct setting_evidence *s = &v->settings[k];
		const char *battery = value_of(v, s->of, SETTING_BATTERY);

		if (s->of && s->before && strcmp(s->name, SETTING_WRITE_CACHE) == 0 &&
			strcmp(s->before, WRITE_CACHE_ALWAYS) == 0 && battery &&
			strcmp(battery, "optimal") != 0)
			return s->of;
	}
	return NULL;
}

static void risk_told(const struct rule_input *in, const struct volume_disks *d, const char *array,
	const char *battery)
{
	const struct plan *p = in->run->plan;

	for (size_t i = 0; p && i < p->n_workloads; i++)
		finding_add(in,
			workload_syncs(&p->workloads[i]) == 1 ? SEVERITY_INVALID : SEVERITY_NOTE, d->host,
			d->layout, p->workloads[i].name,
			json_pack("{ss ss}", "array", array, "battery", battery),
			"%s caches writes with a battery that is '%s', not so every layout: its sync "
			"guarantees less",
			array, battery);
}

void rule_array_batteries(const struct rule_input *in)
{
	const struct trial_evidence **v;
	struct span at = {0, 0};
	struct volume_disks *d;
	size_t n, at_risk = 0;

	volume_disks_of(in, &d, &n);
	v = xcalloc(n + 1, sizeof(*v));
	for (size_t i = 0; i < n; i++) {
		at = span_of(in, d[i].host, at);
		v[i] = arrays_of(in, &d[i], at);
		at_risk += array_at_risk(v[i]) != NULL;
	}
	for (size_t i = 0; at_risk && at_risk < n && i < n; i++) {
		const char *array = array_at_risk(v[i]);

		if (array)
			risk_told(in, &d[i], array, value_of(v[i], array, SETTING_BATTERY));
	}
	free(v);
	volume_disks_free(d, n);
}
