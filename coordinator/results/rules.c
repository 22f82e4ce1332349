/*
 * The table of rules and the list of what they found. Owns the findings' texts and evidence.
 * Invariant: a rule that lacks what it needs says so as an unknown finding; it never passes in
 * silence.
 */
#include "coordinator/results/rules.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "coordinator/results/analysis.h"

const struct rule rule_table[] = {
	{"V01", "read from cache", rule_cached_read},
	{"V02", "compressible data on a compressing volume", rule_compressible},
	{"V03", "sync not timed", rule_sync_untimed},
	{"V04", "too few trials", rule_few_trials},
	{"V05", "wide spread", rule_wide_spread},
	{"V06", "drift", rule_drift},
	{"V07", "identical timings", rule_identical_timings},
	{"V08", "maintenance ran", rule_maintenance},
	{"V09", "cache policy differs", rule_cache_policy},
	{"V10", "other work on the host", rule_foreign_load},
	{"V11", "a slow disk", rule_slow_disk},
	{"V12", "not bound by the volume", rule_bound_elsewhere},
	{"V13", "environments differ", rule_environments},
	{"V14", "sector sizes", rule_sectors},
	{"V15", "volume nearly full", rule_nearly_full},
	{"V16", "layouts differ in capacity or redundancy", rule_layouts_unlike},
	{"V17", "order unknown or sequential", rule_order},
	{"V18", "data set smaller than memory", rule_small_data},
	{"V19", "clock set", rule_clock_set},
	{"V20", "samples missing", rule_samples_missing},
	{"V21", "errors of disks", rule_disk_errors},
	{"V22", "throttled", rule_throttled},
	{"V23", "these builds only", rule_these_builds},
	{"V24", "spread bounded, not known", rule_spread_bounded},
	{"V25", "layouts differ in what sync guarantees", rule_sync_differs},
	{"V26", "steady state not reached", rule_not_steady},
	{"V27", "two clusters of trials", rule_two_clusters},
	{"V28", "shingled disks", rule_shingled},
	{"V29", "hosts on one machine", rule_one_machine},
};
const size_t rule_count = ARRAY_LEN(rule_table);

void rules_check(const struct result_set *s, const struct analysis *a, const struct analysis_run *r,
	struct findings *out)
{
	for (size_t i = 0; i < rule_count; i++) {
		const struct rule_input in = {s, a, r, &rule_table[i], out};

		rule_table[i].check(&in);
	}
}

void findings_clear(struct findings *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->v[i].text);
		json_decref(f->v[i].evidence);
	}
	free(f->v);
	*f = (struct findings){0};
}

const char *severity_name(enum severity s)
{
	static const char *const names[] = {"note", "warning", "invalid"};

	return names[s];
}

void finding_subject(const struct finding *f, struct buf *out)
{
	if (f->layout)
		buf_adds(out, f->layout);
	if (f->layout && f->workload)
		buf_addc(out, '/');
	if (f->workload)
		buf_adds(out, f->workload);
}

static struct finding *add(const struct rule_input *in, struct finding f)
{
	struct findings *out = in->out;

	out->v = xgrow(out->v, out->n, &out->cap, sizeof(*out->v));
	out->v[out->n] = f;
	return &out->v[out->n++];
}

struct finding *finding_add(const struct rule_input *in, enum severity severity, const char *host,
	const char *layout, const char *workload, json_t *evidence, const char *fmt, ...)
{
	struct finding f = {.rule = in->rule,
		.severity = severity,
		.run = in->run->run->id,
		.host = host,
		.layout = layout,
		.workload = workload,
		.metric = METRIC_COUNT,
		.evidence = evidence ? evidence : json_object()};
	va_list ap;

	va_start(ap, fmt);
	f.text = xvasprintf(fmt, ap);
	va_end(ap);
	return add(in, f);
}

void finding_unknown(const struct rule_input *in, const char *fmt, ...)
{
	struct finding f = {.rule = in->rule,
		.severity = SEVERITY_NOTE,
		.unknown = 1,
		.run = in->run->run->id,
		.metric = METRIC_COUNT};
	va_list ap;

	va_start(ap, fmt);
	f.text = xvasprintf(fmt, ap);
	va_end(ap);
	for (size_t i = in->out->n; i-- > 0;) {
		const struct finding *o = &in->out->v[i];

		if (o->rule != in->rule || o->run != f.run)
			break;
		if (o->unknown && strcmp(o->text, f.text) == 0) {
			free(f.text);
			return;
		}
	}
	f.evidence = json_object();
	add(in, f);
}

int rule_row_is_headline(const struct rule_input *in, const struct result_row *row)
{
	return row->workload_index < in->run->n_workloads &&
	       in->run->headline[row->workload_index] == row->metric;
}

/* source 0: whatever it is. */
static const json_t *inventory(const struct rule_input *in, const char *host, uint32_t source)
{
	for (size_t i = 0; i < in->set->n_envs; i++) {
		const struct result_environment *v = &in->set->envs[i];

		if (v->run == in->run->run->id && strcmp(v->host, host) == 0 &&
			(!source || !v->source || v->source == source))
			return v->inventory;
	}
	return NULL;
}

const json_t *rule_inventory(const struct rule_input *in, const char *host)
{
	return inventory(in, host, 0);
}

const json_t *rule_inventory_of(const struct rule_input *in, const char *host, uint32_t layout)
{
	return inventory(in, host, layout + 1);
}
