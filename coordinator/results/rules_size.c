/*
 * Rule V18: data that caches can hold. Owns nothing beyond a call.
 * Invariant: what a workload goes over is what its plan says of its files, and never more than it moved.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/workload.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/rules.h"
#include "coordinator/results/volume_disks.h"

static int same_section(const struct result_row *a, const struct result_row *b)
{
	return a && a->workload_index == b->workload_index && strcmp(a->host, b->host) == 0;
}

/* What the plan says of a workload's files on hosts with so much memory; mostly it is the same. */
struct planned {
	uint64_t ram;
	int64_t bytes; /* 0: not known */
	int asked;
};

static int64_t planned_bytes(
	const struct rule_input *in, unsigned workload, uint64_t ram, struct planned *last)
{
	struct workload_needs needs = {0};
	struct err ignored;

	if (last->asked && last->ram == ram)
		return last->bytes;
	if (workload_needs(in->run->plan, workload, ram, &needs, &ignored))
		needs.data_bytes = 0;
	*last = (struct planned){ram, needs.data_bytes, 1};
	return last->bytes;
}

/* The least that a trial moved and tells, whichever that was; of a summary of times by their mean and
 * the throughput told with it. 0: not known. */
static uint64_t moved_least(const struct result_row *row)
{
	uint64_t least = 0;

	for (unsigned i = 0; i < row->listed; i++) {
		uint64_t bytes = row->trials[i]->sum.bytes;

		if (bytes && (!least || bytes < least))
			least = bytes;
	}
	if (row->listed || row->metric != METRIC_ELAPSED || !(row->throughput > 0))
		return least;
	return (uint64_t)fmin(row->throughput * row->mean, 0x1p62);
}

/* 0: not known. A small file that is read again and again moves much and is small. */
static uint64_t data_of(const struct rule_input *in, const struct result_row *row, uint64_t ram,
	struct planned *planned)
{
	uint64_t moved = moved_least(row);
	const struct plan *p = in->run->plan;
	int64_t bytes;

	if (!p || row->workload_index >= p->n_workloads)
		return moved;
	bytes = planned_bytes(in, row->workload_index, ram, &planned[row->workload_index]);
	if (bytes > 0 && (analysis_nature(in->run, row).other_bytes || (uint64_t)bytes < moved ||
				 moved == 0))
		return (uint64_t)bytes;
	return moved;
}

/* Work that waits for syncs is about them; data in memory is how it is meant. */
static enum severity severity_of(const struct rule_input *in, const struct result_row *row)
{
	return analysis_nature(in->run, row).sync_bound ? SEVERITY_NOTE : SEVERITY_WARNING;
}

static void in_memory(
	const struct rule_input *in, const struct result_row *row, uint64_t bytes, uint64_t ram)
{
	char a[UNITS_LEN], b[UNITS_LEN];

	finding_add(in, severity_of(in, row), row->host, NULL, row->workload,
		json_pack("{sI sI}", "bytes", (json_int_t)bytes, "ram_bytes", (json_int_t)ram),
		"%s of data, %s of memory: caches can hold it", units_size((int64_t)bytes, a),
		units_size((int64_t)ram, b));
}

/* ---- cache devices ---- */

/* Of the disks that a set names by their ids; -1 where it selects them otherwise, or a size is not told. */
static int64_t named_bytes(const json_t *inventory, const struct disk_set *set)
{
	const json_t *disks = json_object_get(inventory, "disks"), *disk;
	int64_t sum = 0;

	for (size_t i = 0; i < set->n; i++)
		for (size_t k = 0; k < set->v[i].ids.n || k == 0; k++) {
			int64_t bytes = 0;
			size_t at;

			if (set->v[i].ids.n == 0)
				return -1;
			json_array_foreach(disks, at, disk)
			{
				if (str_equal(json_get_str(disk, "id", NULL), set->v[i].ids.v[k]))
					bytes = json_get_int(disk, "bytes", 0);
			}
			if (bytes <= 0)
				return -1;
			sum += bytes;
		}
	return sum;
}

static int row_is_of_zfs(const struct result_row *row)
{
	for (unsigned i = 0; i < row->listed; i++)
		if (row->trials[i]->sum.n_evidence && evidence_is_of_zfs(row->trials[i]->sum.evidence))
			return 1;
	return 0;
}

/* Of the pool's cache devices: 0 where there are none, -1 where it is not known how large they are. */
static int64_t cache_bytes(const struct rule_input *in, const struct result_row *row)
{
	const struct plan *p = in->run->plan;
	const struct layout *l =
		p && row->layout_index < p->n_layouts ? &p->layouts[row->layout_index] : NULL;
	int open = 0;

	if (l && l->existing && row_is_of_zfs(row))
		return -1;
	if (!l || !l->pool || !l->pool->cache.n)
		return 0;
	if (l->scratch.disks)
		return (int64_t)disk_set_count(&l->pool->cache, &open) * l->scratch.size;
	return named_bytes(
		rule_inventory_of(in, row->host, row->layout_index), &l->pool->cache);
}

static void check_cache(
	const struct rule_input *in, const struct result_row *row, uint64_t bytes, uint64_t ram)
{
	int64_t cache = cache_bytes(in, row);
	char a[UNITS_LEN], b[UNITS_LEN], c[UNITS_LEN];

	if (cache < 0)
		finding_unknown(in, "no size of the cache devices");
	else if (cache > 0 && bytes < ram + (uint64_t)cache)
		finding_add(in, severity_of(in, row), row->host, row->layout, row->workload,
			json_pack("{sI sI sI}", "bytes", (json_int_t)bytes, "ram_bytes",
				(json_int_t)ram, "cache_bytes", (json_int_t)cache),
			"%s of data, %s of memory and %s of cache devices: they can hold it",
			units_size((int64_t)bytes, a), units_size((int64_t)ram, b),
			units_size(cache, c));
}

/* Once per host and workload: its layouts get the same data; cache devices are a layout's own. */
void rule_small_data(const struct rule_input *in)
{
	struct planned *planned = xcalloc(in->run->n_workloads + 1, sizeof(*planned));
	const struct result_row *told = NULL;
	const char *host = "";
	uint64_t ram = 0;

	FOR_ROWS(in, row)
	{
		uint64_t bytes;

		if (!rule_row_is_headline(in, row) || same_section(told, row))
			continue;
		/* runs that stand beside each other have their own hosts, of one name or not */
		if (strcmp(host, row->host) != 0 || in->run->run->n_sources)
			ram = (uint64_t)json_get_int(
				rule_inventory_of(in, row->host, row->layout_index), "ram_bytes",
				0);
		host = row->host;
		bytes = data_of(in, row, ram, planned);
		if (bytes == 0 || ram == 0) {
			finding_unknown(in, "no size of the %s",
				bytes || ram ? (bytes ? "memory" : "data") : "data and the memory");
		} else if (bytes < ram) {
			told = row;
			in_memory(in, row, bytes, ram);
		} else {
			check_cache(in, row, bytes, ram);
			if (inventory_has_raid(rule_inventory_of(
				    in, row->host, row->layout_index)))
				finding_unknown(in, "no size of the RAID controller's cache");
		}
	}
	free(planned);
}
