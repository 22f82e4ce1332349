/*
 * Rules about what the plan's data meets on a volume: compression, too little room. Owns nothing.
 * Invariant: what a layout does is taken from its plan and from what its host told, never guessed.
 */
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

#define NEARLY_FULL 0.8 /* of the usable bytes */

enum compressing { COMPRESSING_NO, COMPRESSING_YES, COMPRESSING_BY_DEFAULT, COMPRESSING_UNKNOWN };

/* What the layout's plan says; by default: as the host's ZFS does. */
static enum compressing planned(const struct layout *l, const char **ret_setting)
{
	if (l->existing)
		return COMPRESSING_UNKNOWN;
	if (!l->pool)
		return COMPRESSING_NO;
	for (size_t i = 0; i < l->pool->n_props; i++) {
		const struct property *p = &l->pool->props[i];

		if (strcmp(p->name, "compression") != 0)
			continue;
		*ret_setting = p->value;
		return strcmp(p->value, "off") == 0 ? COMPRESSING_NO : COMPRESSING_YES;
	}
	return COMPRESSING_BY_DEFAULT;
}

/* Whether a dataset below the root does, as that of PostgreSQL may. */
static int dataset_compresses(const struct layout *l)
{
	for (size_t d = 0; l->pool && d < l->pool->n_datasets; d++)
		for (size_t i = 0; i < l->pool->datasets[d].n_props; i++) {
			const struct property *p = &l->pool->datasets[d].props[i];

			if (strcmp(p->name, "compression") == 0 && strcmp(p->value, "off") != 0)
				return 1;
		}
	return 0;
}

/* OpenZFS compresses by default since 2.2.0; what came before it does not, nor does zfs-fuse. */
static enum compressing default_of(const char *zfs)
{
	unsigned major, minor;

	if (str_starts(zfs, "zfs-fuse") || strcmp(zfs, "OpenZFS before 0.8") == 0)
		return COMPRESSING_NO;
	if (sscanf(zfs, "OpenZFS %u.%u", &major, &minor) != 2)
		return COMPRESSING_UNKNOWN;
	return major > 2 || (major == 2 && minor >= 2) ? COMPRESSING_YES : COMPRESSING_NO;
}

/* Of a directory that was there already: a mount that says nothing of compressing does not. */
static enum compressing is_plain(const struct trial_evidence *v)
{
	const struct setting_evidence *mount = evidence_setting(v, NULL, "mount");

	return mount && mount->before && !strstr(mount->before, "compress") &&
			       !strstr(mount->before, "addr=") /* a server may do what it likes */
		       ? COMPRESSING_NO
		       : COMPRESSING_UNKNOWN;
}

/* What is written may shrink, and neither plan nor host tells whether it does. */
static void not_told(const struct rule_input *in, const char *host, const struct layout *l,
	const struct workload *w)
{
	struct workload_nature n;
	struct data_told d;

	workload_nature(w, &n);
	d = (struct data_told){1, n.data, n.data == DATA_ZERO ? 0 : n.compressible_percent};
	finding_may_compress(in, &d, host, l->name, w->name);
}

static void compressed_told(const struct rule_input *in, const char *host, const struct layout *l,
	const struct workload *w, const char *setting)
{
	struct workload_nature n;
	unsigned percent;

	workload_nature(w, &n);
	percent = n.data == DATA_ZERO ? 100 : n.compressible_percent;
	if (n.data == DATA_ZERO)
		finding_add(in, SEVERITY_INVALID, host, l->name, w->name,
			json_pack("{ss si}", "compression", setting, "saved_percent", (int)percent),
			"zeros, and the volume compresses (%s): next to nothing reaches the disks",
			setting);
	else
		finding_add(in, SEVERITY_WARNING, host, l->name, w->name,
			json_pack("{ss si}", "compression", setting, "saved_percent", (int)percent),
			"data made to shrink by %u%%, and the volume compresses (%s): the disks "
			"move less than the workload",
			percent, setting);
}

/* By the first trial that tells, or NULL; what changed later is V09's. */
static const char *compression_told(const struct volume_disks *d)
{
	for (size_t i = 0; i < d->n_told; i++) {
		const struct setting_evidence *s = evidence_setting(d->told[i], NULL, "compression");

		if (s && (s->before || s->after))
			return s->before ? s->before : s->after;
	}
	return NULL;
}

/* As the volume had it, or else by the plan or the version of ZFS: on one host. */
static void compressed_there(const struct rule_input *in, const struct volume_disks *d,
	const struct layout *l, const struct workload *w, enum compressing by_plan)
{
	const char *zfs = json_get_str(
		rule_inventory_of(in, d->host, d->layout_index), "zfs", "");
	const char *value = compression_told(d);
	enum compressing c = value ? strcmp(value, "off") ? COMPRESSING_YES : COMPRESSING_NO
			     : by_plan == COMPRESSING_NO ? COMPRESSING_NO
			     : l->existing ? is_plain(d->evidence) : default_of(zfs);
	char *setting;

	if (c == COMPRESSING_UNKNOWN)
		not_told(in, d->host, l, w);
	if (c != COMPRESSING_YES)
		return;
	setting = value ? xasprintf("compression=%s", value) : xasprintf("the default of %s", zfs);
	compressed_told(in, d->host, l, w, setting);
	free(setting);
}

static void compressed_as_found(
	const struct rule_input *in, const struct layout *l, const struct workload *w, enum compressing by_plan)
{
	uint32_t index = (uint32_t)(l - in->run->plan->layouts);
	struct volume_disks *v;
	size_t n;

	volume_disks_of(in, &v, &n);
	for (size_t i = 0; i < n; i++)
		if (v[i].layout_index == index)
			compressed_there(in, &v[i], l, w, by_plan);
	volume_disks_free(v, n);
}

/* Whether some layout compresses, or may. */
static int any_compresses(const struct rule_input *in)
{
	const struct plan *p = in->run->plan;

	for (size_t i = 0; i < p->n_layouts; i++) {
		const char *value = "";
		enum compressing c = planned(&p->layouts[i], &value);

		if (c == COMPRESSING_YES || c == COMPRESSING_UNKNOWN ||
			dataset_compresses(&p->layouts[i]))
			return 1;
		for (size_t k = 0; c == COMPRESSING_BY_DEFAULT && k < in->run->n_hosts; k++) {
			const json_t *host =
				rule_inventory_of(in, in->run->hosts[k], (uint32_t)i);

			if (default_of(json_get_str(host, "zfs", "")) != COMPRESSING_NO)
				return 1;
		}
	}
	return 0;
}

static void compressed_for(const struct rule_input *in, const struct workload *w)
{
	const struct plan *p = in->run->plan;
	struct workload_nature n;

	workload_nature(w, &n);
	if (n.raw || (n.data_known && n.data == DATA_RANDOM))
		return;
	if (!n.data_known) {
		if (any_compresses(in))
			finding_unknown(in, "no kind of the data of %s", w->name);
		return;
	}
	for (size_t i = 0; i < p->n_layouts; i++) {
		const struct layout *l = &p->layouts[i];
		const char *value = "";
		enum compressing c = planned(l, &value);
		char *setting;

		if (c != COMPRESSING_YES)
			compressed_as_found(in, l, w, c);
		if (c != COMPRESSING_YES)
			continue;
		setting = xasprintf("compression=%s", value);
		compressed_told(in, NULL, l, w, setting);
		free(setting);
	}
}

void rule_compressible(const struct rule_input *in)
{
	const struct plan *p = in->run->plan;

	if (!p)
		rule_compressible_told(in);
	for (size_t i = 0; p && i < p->n_workloads; i++)
		compressed_for(in, &p->workloads[i]);
}

/* The least usable bytes of each layout of one host; UINT64_MAX: no trial tells. */
struct room {
	const char *host;
	uint64_t *least;
};

static void fill_of(
	const struct rule_input *in, const char *host, const struct layout *l, uint64_t usable)
{
	const struct plan *p = in->run->plan;
	const json_t *inventory = rule_inventory_of(in, host, (uint32_t)(l - p->layouts));
	uint64_t ram = (uint64_t)json_get_int(inventory, "ram_bytes", 0);
	int64_t all, certain = layout_stored_bytes(p, l, ram);
	char a[UNITS_LEN], b[UNITS_LEN];
	struct err ignored;

	if ((double)certain > NEARLY_FULL * (double)usable)
		finding_add(in, SEVERITY_WARNING, host, l->name, NULL,
			json_pack("{sI sI sf}", "written_bytes", (json_int_t)certain,
				"usable_bytes", (json_int_t)usable, "fill",
				(double)certain / (double)usable),
			"the workloads write %s, usable are %s: %.0f%% full",
			units_size(certain, a), units_size((int64_t)usable, b),
			100 * (double)certain / (double)usable);
	else if (plan_needed_bytes(p, ram, &all, &ignored) != 0)
		finding_unknown(in, "no size of the memory");
	else if ((double)all > NEARLY_FULL * (double)usable)
		finding_unknown(in, "no compression ratio");
	else if (l->existing)
		finding_unknown(in, "no fill level of layouts that were there already");
}

static void room_told(const struct rule_input *in, struct room *r)
{
	const struct plan *p = in->run->plan;

	for (size_t i = 0; i < p->n_layouts; i++) {
		if (r->host && r->least[i] != UINT64_MAX)
			fill_of(in, r->host, &p->layouts[i], r->least[i]);
		r->least[i] = UINT64_MAX;
	}
}

void rule_nearly_full(const struct rule_input *in)
{
	const struct plan *p = in->run->plan;
	struct room r = {0};

	if (!p) {
		finding_unknown(in, "no plan");
		return;
	}
	r.least = xcalloc(p->n_layouts + 1, sizeof(*r.least));
	for (size_t i = 0; i < in->set->n_trials; i++) {
		const struct result_trial *t = &in->set->trials[i];

		if (t->run != in->run->run->id || t->superseded || t->layout >= p->n_layouts)
			continue;
		if (!r.host || strcmp(r.host, t->host) != 0) {
			room_told(in, &r);
			r.host = t->host;
		}
		if (t->usable_bytes == 0)
			finding_unknown(in, "no usable sizes");
		else if (t->usable_bytes < r.least[t->layout])
			r.least[t->layout] = t->usable_bytes;
	}
	room_told(in, &r);
	if (!r.host)
		finding_unknown(in, "no usable sizes");
	free(r.least);
}
