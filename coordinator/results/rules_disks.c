/*
 * Rules about what the disks of a volume are: their write caches, sector sizes, recording. Owns
 * nothing beyond a call.
 * Invariant: a disk counts only with what its host told of it; scratch disks are alike by making.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/measure/smr.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/rules.h"
#include "coordinator/results/volume_disks.h"

#define SMALLEST_BLOCK 512 /* of ZFS: no disk has smaller sectors */

static const struct layout *layout_of(const struct rule_input *in, const struct volume_disks *d)
{
	const struct plan *p = in->run->plan;

	return p && d->layout_index < p->n_layouts ? &p->layouts[d->layout_index] : NULL;
}

int rule_volume_is_told(const struct rule_input *in, const struct volume_disks *d)
{
	const struct layout *l = layout_of(in, d);

	if (l && l->scratch.disks)
		return 0;
	if (d->n == 0) {
		finding_unknown(in, "no list of the disks");
		return 0;
	}
	for (size_t i = 0; i < d->n; i++)
		if (!d->v[i].told) {
			finding_unknown(in, "no description of every disk");
			return 0;
		}
	return 1;
}

/* Calls the check for each volume of real disks that are known; what a host does not tell of one of them is
 * unknown, whatever the others are. */
static void each_volume(const struct rule_input *in,
	void (*check)(const struct rule_input *in, const struct volume_disks *d))
{
	struct volume_disks *v;
	size_t n;

	volume_disks_of(in, &v, &n);
	if (n == 0)
		finding_unknown(in, "no list of the disks");
	for (size_t i = 0; i < n; i++) {
		const struct layout *l = layout_of(in, &v[i]);

		rule_volume_is_told(in, &v[i]);
		if (v[i].n && !(l && l->scratch.disks))
			check(in, &v[i]);
	}
	volume_disks_free(v, n);
}

static void check_caches(const struct rule_input *in, const struct volume_disks *d)
{
	size_t back = 0, through = 0;

	for (size_t i = 0; i < d->n; i++) {
		const char *cache = json_get_str(d->v[i].told, "write_cache", "");

		back += strcmp(cache, "write back") == 0;
		through += strcmp(cache, "write through") == 0;
	}
	if (back + through < d->n)
		finding_unknown(in, "no state of the write caches");
	if (back && through)
		finding_add(in, SEVERITY_WARNING, d->host, d->layout, NULL,
			json_pack("{si si}", "write_back", (int)back, "write_through", (int)through),
			"the write cache is on at %zu of the volume's disks and off at %zu", back,
			through);
}

/* 1: a disk of the volume has its cache on, 0: none has, -1: not every disk's is told. */
static int caches_on(const struct volume_disks *d)
{
	int on = 0;

	for (size_t i = 0; i < d->n; i++) {
		const char *cache = json_get_str(d->v[i].told, "write_cache", "");

		if (!*cache)
			return -1;
		on |= strcmp(cache, "write back") == 0;
	}
	return d->n ? on : -1;
}

/* A volume whose caches are held against the next one's. */
struct cached {
	const struct volume_disks *of;
	int on;
};

static void caches_told(
	const struct rule_input *in, const struct volume_disks *on, const struct volume_disks *off)
{
	if (rule_compares_hosts(in))
		finding_add(in, SEVERITY_WARNING, NULL, on->layout, NULL,
			json_pack("{ss ss}", "on", on->host, "off", off->host),
			"the disks' write caches are on at %s and off at %s", on->host, off->host);
	else
		finding_add(in, SEVERITY_WARNING, on->host, NULL, NULL,
			json_pack("{ss ss}", "on", on->layout, "off", off->layout),
			"the disks' write caches are on under %s and off under %s", on->layout,
			off->layout);
}

/* Layouts of each host, or of each layout its hosts where these are compared. */
void rule_caches_differ(const struct rule_input *in)
{
	const int by_host = rule_compares_hosts(in);
	struct cached *last = xcalloc(in->run->plan->n_layouts + 1, sizeof(*last));
	struct volume_disks *v;
	size_t n;

	volume_disks_of(in, &v, &n);
	for (size_t i = 0; i < n; i++) {
		const struct layout *l = layout_of(in, &v[i]);
		int on = caches_on(&v[i]);
		struct cached *c;

		if (!l || l->scratch.disks)
			continue;
		c = &last[by_host ? v[i].layout_index : 0];
		if (on < 0) {
			finding_unknown(in, "no state of the write caches");
			continue;
		}
		if (c->of && c->on != on && (by_host || strcmp(c->of->host, v[i].host) == 0))
			caches_told(in, on ? &v[i] : c->of, on ? c->of : &v[i]);
		*c = (struct cached){&v[i], on};
	}
	if (n == 0)
		finding_unknown(in, "no state of the write caches");
	volume_disks_free(v, n);
	free(last);
}

void rule_cache_policy(const struct rule_input *in)
{
	each_volume(in, check_caches);
	rule_arrays_told(in);
	rule_settings_changed(in);
}

/* Log, cache and special vdevs and spares may have sectors of their own. */
int layout_is_only_data(const struct layout *l)
{
	const struct pool_stage *p = l ? l->pool : NULL;

	return p && !p->log.disks.n && !p->special.disks.n && !p->cache.n && !p->spares.n;
}

/* 1: all disks of the pool are in one data vdev; 0: each is one by itself; -1: not known. */
static int in_one_vdev(const struct layout *l)
{
	int stripes = layout_is_only_data(l);

	for (size_t i = 0; stripes && i < l->pool->n_vdevs; i++)
		stripes = l->pool->vdevs[i].level == LEVEL_STRIPE;
	if (stripes)
		return 0;
	return layout_is_only_data(l) && l->pool->n_vdevs == 1 ? 1 : -1;
}

/* Of the disks that tell their sectors. */
static void vdev_sectors(
	const struct rule_input *in, const struct volume_disks *d, int64_t least, int64_t most)
{
	int one = in_one_vdev(layout_of(in, d));

	if (least != most && one > 0)
		finding_add(in, SEVERITY_WARNING, d->host, d->layout, NULL,
			json_pack("{sI sI}", "least_bytes", (json_int_t)least, "most_bytes",
				(json_int_t)most),
			"disks with sectors of %lld and of %lld bytes in one volume",
			(long long)least, (long long)most);
	else if (least != most && one < 0)
		finding_unknown(in, "no list of which disk is in which vdev");
}

static void pool_blocks(const struct rule_input *in, const struct volume_disks *d, int64_t most)
{
	const struct layout *l = layout_of(in, d);
	int64_t block = l && l->pool && l->pool->ashift > 0 ? INT64_C(1) << l->pool->ashift : 0;

	if (l && l->existing && evidence_is_of_zfs(d->evidence) && most > SMALLEST_BLOCK)
		finding_unknown(in, "no ashift of pools that were there already");
	if (block && block < most)
		finding_add(in, SEVERITY_WARNING, d->host, d->layout, NULL,
			json_pack("{si sI}", "ashift", l->pool->ashift, "sector_bytes",
				(json_int_t)most),
			"ashift %d writes blocks of %lld bytes, the disks' sectors are of %lld: "
			"they read before they write",
			l->pool->ashift, (long long)block, (long long)most);
}

static void check_sectors(const struct rule_input *in, const struct volume_disks *d)
{
	int64_t least = INT64_MAX, most = 0;

	for (size_t i = 0; i < d->n; i++) {
		int64_t sector = json_get_int(d->v[i].told, "physical_sector_bytes", 0);

		if (sector <= 0) {
			finding_unknown(in, "no sector sizes");
			continue;
		}
		least = sector < least ? sector : least;
		most = sector > most ? sector : most;
	}
	if (most == 0)
		return;
	vdev_sectors(in, d, least, most);
	pool_blocks(in, d, most);
}

void rule_sectors(const struct rule_input *in)
{
	each_volume(in, check_sectors);
}

/* Why a disk is a shingled one, or NULL. */
static const char *shingled(const json_t *disk)
{
	const char *zoned = json_get_str(disk, "zoned", "");

	if (strcmp(zoned, "host-aware") == 0 || strcmp(zoned, "host-managed") == 0)
		return zoned;
	return smr_vendor(json_get_str(disk, "model", "")) ? "drive-managed by its model" : NULL;
}

/* Flash has no shingles; of others the model counts, and an array's is not that of its disks. */
static void model_untold(const struct rule_input *in, const json_t *disk)
{
	if (json_is_false(json_object_get(disk, "rotational")))
		return;
	if (inventory_disk_behind_raid(disk))
		finding_unknown(in, "no models of the disks behind the RAID controller");
	else if (disk && !*json_get_str(disk, "model", ""))
		finding_unknown(in, "no model of every disk");
}

static void check_shingled(const struct rule_input *in, const struct volume_disks *d)
{
	const char *why = NULL, *model = "";
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++) {
		const char *here = shingled(d->v[i].told);

		if (!here) {
			model_untold(in, d->v[i].told);
			continue;
		}
		why = here;
		model = json_get_str(d->v[i].told, "model", "");
		n++;
	}
	if (n)
		finding_add(in, SEVERITY_WARNING, d->host, d->layout, NULL,
			json_pack("{si si so ss}", "disks", (int)n, "of", (int)d->n, "model",
				json_text(model), "why", why),
			"%zu of %zu disks record in shingles (%s, %s): what they do depends on what "
			"was written before",
			n, d->n, *model ? model : "model not told", why);
}

void rule_shingled(const struct rule_input *in)
{
	each_volume(in, check_shingled);
}
