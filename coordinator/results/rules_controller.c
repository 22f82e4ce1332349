/*
 * What rules know of arrays behind RAID controllers: whether anything was told of them, and whether their
 * write cache can keep what it holds. Owns nothing. An array is what any trial of its layout and host
 * tells of.
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
	for (size_t i = 0; i < n; i++) {
		int told = 0;

		for (size_t k = 0; k < d[i].n_told; k++)
			told |= (finding_tools(in, d[i].told[k]) > 0) | tells_of_arrays(d[i].told[k]);
		if (!told && volume_disks_behind_raid(&d[i]))
			finding_unknown(in, "no cache policy of the RAID controller");
	}
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

/* The volume's first array at risk in any of its trials. */
struct risk {
	const char *array, *battery; /* NULL: none */
	unsigned trials, n;          /* at risk in; with evidence */
};

static struct risk risk_of(const struct volume_disks *d)
{
	struct risk r = {.n = (unsigned)d->n_told};

	for (size_t i = 0; i < d->n_told; i++) {
		const struct trial_evidence *v = d->told[i];
		const char *array = array_at_risk(v);

		if (array && !r.array) {
			r.array = array;
			r.battery = evidence_value(v, array, SETTING_BATTERY);
		}
		r.trials += array != NULL;
	}
	return r;
}

static void risk_told(
	const struct rule_input *in, const struct volume_disks *d, const struct risk *r)
{
	const struct plan *p = in->run->plan;

	for (size_t i = 0; p && i < p->n_workloads; i++)
		finding_add(in,
			workload_syncs(&p->workloads[i]) == 1 ? SEVERITY_INVALID : SEVERITY_NOTE, d->host,
			d->layout, p->workloads[i].name,
			json_pack("{ss ss si si}", "array", r->array, "battery", r->battery, "trials",
				(int)r->trials, "n", (int)r->n),
			"%s caches writes with a battery that is '%s', not so every layout: its sync "
			"guarantees less in %u of %u trials",
			r->array, r->battery, r->trials, r->n);
}

/* Volumes that are compared, where some guarantee less than others or in some of their trials. */
static void batteries_differ(const struct rule_input *in, const struct volume_disks *d, size_t n)
{
	struct risk *r = xcalloc(n + 1, sizeof(*r));
	size_t whole = 0;

	for (size_t i = 0; i < n; i++) {
		r[i] = risk_of(&d[i]);
		whole += r[i].trials && r[i].trials == r[i].n;
	}
	for (size_t i = 0; whole < n && i < n; i++)
		if (r[i].array)
			risk_told(in, &d[i], &r[i]);
	free(r);
}

/* What nobody told of the volume's arrays and their batteries. */
static void batteries_untold(const struct rule_input *in, const struct volume_disks *d)
{
	int told = 0;

	for (size_t k = 0; k < d->n_told; k++) {
		const struct trial_evidence *v = d->told[k];

		told |= (finding_tools(in, v) > 0) | tells_of_arrays(v);
		for (size_t i = 0; i < v->n_settings; i++) {
			const struct setting_evidence *s = &v->settings[i];

			if (setting_is_array_cache(s) && str_equal(s->before, WRITE_CACHE_ALWAYS) &&
				!evidence_value(v, s->of, SETTING_BATTERY))
				finding_unknown(in, "no state of the battery of %s", s->of);
		}
	}
	if (!told && volume_disks_behind_raid(d))
		finding_unknown(in, "no cache policy of the RAID controller");
}

/* Volumes stand by host; layouts are compared within each, unless hosts are. */
void rule_array_batteries(const struct rule_input *in)
{
	const int all = rule_compares_hosts(in);
	struct volume_disks *d;
	size_t n;

	volume_disks_of(in, &d, &n);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from; to < n && (all || strcmp(d[to].host, d[from].host) == 0); to++)
			batteries_untold(in, &d[to]);
		batteries_differ(in, &d[from], to - from);
	}
	volume_disks_free(d, n);
}
