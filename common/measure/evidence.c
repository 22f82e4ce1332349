/*
 * Evidence: memory, its numbers by key, and the tables of its fields. A trial's evidence owns its
 * lists and texts.
 * Invariant: a key is in a list of numbers at most once.
 */
#include "common/measure/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"

#define SECTOR 512

#define DISK(member, unit_)                                                                        \
	{                                                                                          \
		#member, offsetof(struct disk_counters, member), unit_                             \
	}
const struct disk_counter_field disk_counter_fields[DISK_COUNTERS] = {
	DISK(read_ops, 1),
	DISK(read_bytes, SECTOR),
	DISK(write_ops, 1),
	DISK(write_bytes, SECTOR),
	DISK(read_wait_ns, NS_PER_MS),
	DISK(write_wait_ns, NS_PER_MS),
	DISK(busy_ns, NS_PER_MS),
	DISK(queue_ns, NS_PER_MS),
};

#define HOST(member, unit_)                                                                        \
	{                                                                                          \
		#member, offsetof(struct host_usage, member), unit_                                \
	}
const struct disk_counter_field host_usage_fields[HOST_USAGE_FIELDS] = {
	HOST(busiest_core_permille, 1),
	HOST(cpu_steal_ns, NS_PER_MS),
	HOST(dirty_bytes, 1024),
	HOST(writeback_bytes, 1024),
	HOST(arc_hits, 1),
	HOST(arc_misses, 1),
};

uint64_t disk_counter(const struct disk_counters *d, size_t field)
{
	uint64_t v;

	memcpy(&v, (const char *)d + disk_counter_fields[field].offset, sizeof(v));
	return v;
}

void disk_counter_set(struct disk_counters *d, size_t field, uint64_t v)
{
	memcpy((char *)d + disk_counter_fields[field].offset, &v, sizeof(v));
}

void disk_counters_add(struct disk_counters *into, const struct disk_counters *from)
{
	for (size_t i = 0; i < DISK_COUNTERS; i++)
		disk_counter_set(into, i, disk_counter(into, i) + disk_counter(from, i));
}

static const char *const key_names[EVIDENCE_KEY_COUNT] = {
	[EVIDENCE_CPU_STEAL_NS] = "cpu_steal_ns",
	[EVIDENCE_BUSIEST_CORE_PERMILLE] = "busiest_core_permille",
	[EVIDENCE_BUSIEST_CORE_PEAK_PERMILLE] = "busiest_core_peak_permille",
	[EVIDENCE_DIRTY_BYTES] = "dirty_bytes",
	[EVIDENCE_DIRTY_PEAK_BYTES] = "dirty_peak_bytes",
	[EVIDENCE_WRITEBACK_BYTES] = "writeback_bytes",
	[EVIDENCE_ARC_BYTES] = "arc_bytes",
	[EVIDENCE_ARC_MAX_BYTES] = "arc_max_bytes",
	[EVIDENCE_ARC_HITS] = "arc_hits",
	[EVIDENCE_ARC_MISSES] = "arc_misses",
	[EVIDENCE_COMPRESS_RATIO_PERMILLE] = "compress_ratio_permille",
	[EVIDENCE_CLOCK_STEP_NS] = "clock_step_ns",
	[EVIDENCE_LOOK_NS] = "look_ns",
	[EVIDENCE_LOOK_CPU_PERMILLE] = "look_cpu_permille",
	[EVIDENCE_LOOK_OTHER_BYTES] = "look_other_bytes",
	[EVIDENCE_LOAD1_MILLI] = "load1_milli",
	[EVIDENCE_MAINTENANCE_BEFORE] = "maintenance_before",
	[EVIDENCE_MAINTENANCE_AFTER] = "maintenance_after",
	[EVIDENCE_THROTTLE_EVENTS] = "throttle_events",
	[EVIDENCE_HOT_DISKS] = "hot_disks",
	[EVIDENCE_OTHER_READ_BYTES] = "other_read_bytes",
	[EVIDENCE_OTHER_WRITE_BYTES] = "other_write_bytes",
	[EVIDENCE_RAID_CONTROLLERS] = "raid_controllers",
	[EVIDENCE_CACHE_DROPS] = "cache_drops",
};

const char *evidence_key_name(uint32_t key)
{
	return key < EVIDENCE_KEY_COUNT ? key_names[key] : NULL;
}

uint32_t evidence_key_find(const char *name)
{
	for (uint32_t i = 1; i < EVIDENCE_KEY_COUNT; i++)
		if (strcmp(key_names[i], name) == 0)
			return i;
	return 0;
}

void disk_evidence_clear(struct disk_evidence *d)
{
	free(d->id);
	free(d->name);
	free(d->backing);
	free(d->cache_before);
	free(d->cache_after);
	*d = (struct disk_evidence){0};
}

static void setting_clear(struct setting_evidence *s)
{
	free(s->name);
	free(s->of);
	free(s->before);
	free(s->after);
}

void trial_evidence_clear(struct trial_evidence *v)
{
	for (size_t i = 0; i < v->n_disks; i++)
		disk_evidence_clear(&v->disks[i]);
	for (size_t i = 0; i < v->n_settings; i++)
		setting_clear(&v->settings[i]);
	for (size_t i = 0; i < v->n_sources; i++) {
		free(v->sources[i].id);
		free(v->sources[i].name);
	}
	free(v->disks);
	free(v->settings);
	free(v->sources);
	free(v->cores);
	free(v->numbers);
	free(v->maintenance_before);
	free(v->maintenance_after);
	*v = (struct trial_evidence){0};
}

const struct setting_evidence *evidence_setting(
	const struct trial_evidence *v, const char *of, const char *name)
{
	for (size_t i = 0; v && i < v->n_settings; i++)
		if (str_equal(v->settings[i].name, name) &&
			(of ? str_equal(v->settings[i].of, of) : !v->settings[i].of))
			return &v->settings[i];
	return NULL;
}

const char *evidence_value(const struct trial_evidence *v, const char *of, const char *name)
{
	const struct setting_evidence *s = evidence_setting(v, of, name);

	return s ? s->before : NULL;
}

int evidence_get(const struct trial_evidence *v, enum evidence_key key, int64_t *ret)
{
	for (size_t i = 0; v && i < v->n_numbers; i++)
		if (v->numbers[i].key == (uint32_t)key) {
			*ret = v->numbers[i].value;
			return 1;
		}
	return 0;
}

void evidence_set(struct trial_evidence *v, enum evidence_key key, int64_t value)
{
	for (size_t i = 0; i < v->n_numbers; i++)
		if (v->numbers[i].key == (uint32_t)key) {
			v->numbers[i].value = value;
			return;
		}
	v->numbers = xreallocarray(v->numbers, v->n_numbers + 1, sizeof(*v->numbers));
	v->numbers[v->n_numbers++] = (struct evidence_number){(uint32_t)key, value};
}
