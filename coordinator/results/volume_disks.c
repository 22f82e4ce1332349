/* From the trials' evidence to the disks of each layout. Owns the lists it gives out. */
#include "coordinator/results/volume_disks.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "coordinator/results/analysis.h"

static const json_t *disk_told(const json_t *inventory, const char *id)
{
	const json_t *list = json_object_get(inventory, "disks"), *disk;
	size_t i;

	json_array_foreach(list, i, disk)
	{
		if (id && strcmp(json_get_str(disk, "id", ""), id) == 0)
			return disk;
	}
	return NULL;
}

static void take(const struct rule_input *in, const struct trial_evidence *e, struct volume_disks *d)
{
	const json_t *inventory = rule_inventory_of(in, d->host, d->layout_index);

	if (e->n_disks == 0)
		return;
	d->v = xcalloc(e->n_disks, sizeof(*d->v));
	for (size_t i = 0; i < e->n_disks; i++)
		d->v[d->n++] = (struct volume_disk){e->disks[i].id, e->disks[i].name,
			disk_told(inventory, e->disks[i].id)};
}

/* Volumes as they come. Trials stand by host, so that those of a host follow each other. */
struct taking {
	struct volume_disks *v;
	size_t n, cap;
	size_t *of_layout; /* the last volume of that layout, from 1 */
	size_t first;      /* trial of the present host */
};

static struct taking taking_new(const struct result_set *s)
{
	uint32_t most = 0;

	for (size_t i = 0; i < s->n_trials; i++)
		most = s->trials[i].layout > most ? s->trials[i].layout : most;
	return (struct taking){.of_layout = xcalloc((size_t)most + 1, sizeof(size_t))};
}

/* The trial's volume, made where it is the first of it. */
static struct volume_disks *volume_of(struct taking *k, const struct result_trial *t, size_t trial)
{
	struct volume_disks *last = k->n ? &k->v[k->n - 1] : NULL;
	size_t *at = &k->of_layout[t->layout];

	if (!last || strcmp(last->host, t->host) != 0)
		k->first = trial;
	if (*at && k->v[*at - 1].first == k->first)
		return &k->v[*at - 1];
	k->v = xgrow(k->v, k->n, &k->cap, sizeof(*k->v));
	k->v[k->n] = (struct volume_disks){.host = t->host,
		.layout = t->layout_name,
		.layout_index = t->layout,
		.first = k->first};
	*at = ++k->n;
	return &k->v[k->n - 1];
}

void volume_disks_of(const struct rule_input *in, struct volume_disks **ret, size_t *ret_n)
{
	struct taking k = taking_new(in->set);

	for (size_t i = 0; i < in->set->n_trials; i++) {
		const struct result_trial *t = &in->set->trials[i];
		struct volume_disks *d;

		if (t->run != in->run->run->id || t->superseded)
			continue;
		d = volume_of(&k, t, i);
		if (!t->sum.n_evidence)
			continue;
		if (!d->evidence)
			d->evidence = t->sum.evidence;
		if (!d->n)
			take(in, t->sum.evidence, d);
		d->told = xgrow(d->told, d->n_told, &d->cap_told, sizeof(*d->told));
		d->told[d->n_told++] = t->sum.evidence;
	}
	free(k.of_layout);
	*ret = k.v;
	*ret_n = k.n;
}

int inventory_disk_behind_raid(const json_t *disk)
{
	static const char *const drivers[] = {"(megaraid_sas)", "(hpsa)", "(smartpqi)", "(aacraid)",
		"(arcmsr)", "(3w-9xxx)", "(3w-sas)", "(ips)"};
	const char *controller = json_get_str(disk, "controller", "");

	for (size_t i = 0; i < ARRAY_LEN(drivers); i++)
		if (strstr(controller, drivers[i]))
			return 1;
	return 0;
}

int inventory_has_raid(const json_t *inventory)
{
	const json_t *disk;
	size_t i;

	json_array_foreach(json_object_get(inventory, "disks"), i, disk)
	{
		if (inventory_disk_behind_raid(disk))
			return 1;
	}
	return 0;
}

int volume_disks_behind_raid(const struct volume_disks *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (inventory_disk_behind_raid(d->v[i].told))
			return 1;
	return 0;
}

int evidence_is_of_zfs(const struct trial_evidence *v)
{
	return evidence_setting(v, NULL, "primarycache") || evidence_setting(v, NULL, "sync");
}

void volume_disks_free(struct volume_disks *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(v[i].v);
		free(v[i].told);
	}
	free(v);
}
