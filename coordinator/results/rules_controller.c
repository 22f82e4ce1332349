/*
 * What rules know of arrays behind RAID controllers: whether anything was told of them, and whether their
 * write cache can keep what it holds. Owns nothing. An array is what the first trial of its layout and
 * host that has evidence tells.
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

int setting_is_array_cache(const struct setting_evidence *s)
{
	return s->of && strcmp(s->name, SETTING_WRITE_CACHE) == 0;
}

static int tells_of_arrays(const struct trial_evidence *v)
{
	for (size_t i = 0; v && i < v->n_settings; i++)
		if (setting_is_array_cache(&v->settings[i]))
			return 1;
	return 0;
}

int finding_tools(const struct rule_input *in, const struct trial_evidence *v)
{
	int n = 0;

	for (size_t i = 0; v && i < v->n_settings; i++) {
		const struct setting_evidence *s = &v->settings[i];

		if (!s->of || strcmp(s->name, SETTING_TOOL) != 0)
			continue;
		finding_unknown(in, "%s %s", s->of, s->before ? s->before : s->after);
		n++;
	}
	return n;
}

/* ---- V09 ---- */

void rule_arrays_told(const struct rule_input *in)
{
	struct volume_disks *d;
	size_t n;

	volume_disks_of(in, &d, &n);
	for (size_t i = 0; i < n; i++)
		if (!finding_tools(in, d[i].evidence) && volume_disks_behind_raid(&d[i]) &&
			!tells_of_arrays(d[i].evidence))
			finding_unknown(in, "no cache policy of the RAID controller");
	volume_disks_free(d, n);
}

/* ---- V25 ---- */

/* The array that caches writes without a battery that is well, or NULL. */
static const char *array_at_risk(const struct trial_evidence *v)
{
	for (size_t i = 0; v && i < v->n_settings; i++) {
		const struct setting_evidence *s = &v->settings[i];
		const char *battery = evidence_value(v, s->of, SETTING_BATTERY);

		if (setting_is_array_cache(s) && str_equal(s->before, WRITE_CACHE_ALWAYS) && battery &&
			strcmp(battery, "optimal") != 0)
			return s->of;
	}
	return NULL;
}

static void risk_told(const struct rule_input *in, const struct volume_disks *d, const char *array)
{
	const char *battery = evidence_value(d->evidence, array, SETTING_BATTERY);
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
	struct volume_disks *d;
	size_t n, at_risk = 0;

	volume_disks_of(in, &d, &n);
	for (size_t i = 0; i < n && in->run->plan->n_layouts > 1; i++)
		finding_tools(in, d[i].evidence);
	for (size_t i = 0; i < n; i++)
		at_risk += array_at_risk(d[i].evidence) != NULL;
	for (size_t i = 0; at_risk && at_risk < n && i < n; i++) {
		const char *array = array_at_risk(d[i].evidence);

		if (array)
			risk_told(in, &d[i], array);
	}
	volume_disks_free(d, n);
}
