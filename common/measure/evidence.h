/*
 * The evidence beside a trial: what each disk of the volume did, what the host was busy with, and
 * what could have disturbed it. Plain structs, filled by agents, read by rules and reports.
 *
 * What a host does not tell is absent: a number that is not in the list, a NULL text, a flag beside
 * a counter. Zero always means that zero was read.
 */
#ifndef COMMON_MEASURE_EVIDENCE_H
#define COMMON_MEASURE_EVIDENCE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/err.h"

#define EVIDENCE_DISKS_MAX 1024 /* of a volume; of more the rest is in the sums only */
#define EVIDENCE_CORES_MAX 4096
#define EVIDENCE_SETTINGS_MAX 256
#define EVIDENCE_SOURCES_MAX 64

/* Counters of one disk as the kernel keeps them (Documentation/block/stat.rst): bytes from sectors
 * of 512, times from milliseconds. */
struct disk_counters {
	uint64_t read_ops, read_bytes, write_ops, write_bytes;
	uint64_t read_wait_ns, write_wait_ns; /* summed over the requests, from queueing to the end */
	uint64_t busy_ns;                     /* time with I/O in flight */
	uint64_t queue_ns;                    /* time weighted by the requests in flight */
};
#define DISK_COUNTERS 8
/* Key in exports, place, and what the kernel counts in. */
extern const struct disk_counter_field {
	const char *key;
	size_t offset; /* of a uint64_t */
	uint64_t unit;
} disk_counter_fields[DISK_COUNTERS];
uint64_t disk_counter(const struct disk_counters *d, size_t field);
void disk_counter_set(struct disk_counters *d, size_t field, uint64_t v);
/* Adds from's counters to into's. */
void disk_counters_add(struct disk_counters *into, const struct disk_counters *from);

/* One disk of the volume over a trial. */
struct disk_evidence {
	char *id;      /* "serial:…" or "wwn:…"; NULL for disks without, such as loop devices */
	char *name;    /* kernel name during the trial */
	char *backing; /* of a loop device: kernel name of the disk that holds its file, or NULL */
	struct disk_counters during;
	/* in the look before the trial (EVIDENCE_LOOK_NS), when we did nothing */
	uint64_t look_read_bytes, look_write_bytes, look_busy_ns;
	int errors_known;
	uint64_t errors; /* failures during the trial: what the kernel, the pool or the disk counted, whoever
			    counted most */
	/* its own write cache, as the kernel takes it: "write back" or "write through"; "mixed" where
	 * it stands on disks that differ. NULL: not told */
	char *cache_before, *cache_after;
};
/* A setting of the volume that says what caches do, or what a sync waits for. */
struct setting_evidence {
	char *name;           /* a property of ZFS, or "mount": the options of the mount */
	char *of;             /* a dataset below the pool's root; NULL: the volume itself */
	char *before, *after; /* the trial; NULL: not told */
};
/* Names of settings of arrays of RAID controllers; `of` is the array by the name that its controller's
 * tool gives it. */
#define SETTING_ARRAY_STATE "array state"     /* "optimal", "degraded", … */
#define SETTING_WRITE_CACHE "write cache"     /* now; the words are: */
#define WRITE_CACHE_BACK "write back"
#define WRITE_CACHE_THROUGH "write through"
#define WRITE_CACHE_ALWAYS "write back always" /* also without a battery */
#define SETTING_WRITE_CACHE_SET "write cache as configured"
#define SETTING_READ_AHEAD "read-ahead"
#define SETTING_READ_CACHE "read cache"
#define SETTING_DISK_CACHE "disk cache"
#define SETTING_BATTERY "battery"             /* "optimal", "none", or the controller's own words */
/* Why a controllers' tool (`of`, its program's name) did not tell: "gave no answer in 20 s". */
#define SETTING_TOOL "controllers' tool"

/* A disk outside of the volume that the workload reads from, or writes to: the dump's. */
struct source_evidence {
	char *id;        /* as of a disk of the volume; NULL for disks without */
	char *name;      /* kernel name of the whole disk */
	int is_written;  /* the dump goes there; else it comes from there */
	int is_shared;   /* the volume stands on it, too */
	struct disk_counters during; /* of everybody's work on it */
};
struct core_evidence {
	uint64_t busy_ns; /* user and system, over the trial */
};

/* Numbers of the host; appended to, never renumbered. Permille are of one whole. */
enum evidence_key {
	EVIDENCE_CPU_STEAL_NS = 1,       /* summed over all CPUs, like those of struct telemetry */
	EVIDENCE_BUSIEST_CORE_PERMILLE,  /* over the trial */
	EVIDENCE_BUSIEST_CORE_PEAK_PERMILLE, /* in its worst interval */
	EVIDENCE_DIRTY_BYTES,            /* at the end */
	EVIDENCE_DIRTY_PEAK_BYTES,
	EVIDENCE_WRITEBACK_BYTES,        /* at the end */
	EVIDENCE_ARC_BYTES,              /* at the end */
	EVIDENCE_ARC_MAX_BYTES,          /* what it may grow to */
	EVIDENCE_ARC_HITS,
	EVIDENCE_ARC_MISSES,
	EVIDENCE_COMPRESS_RATIO_PERMILLE, /* of all that is on the volume at the end: 1000 is 1.00x */
	EVIDENCE_CLOCK_STEP_NS,          /* wall clock against the monotonic one; may be negative */
	EVIDENCE_LOOK_NS,                /* how long the look before the trial was */
	EVIDENCE_LOOK_CPU_PERMILLE,      /* all CPUs of the host busy in it */
	EVIDENCE_LOOK_OTHER_BYTES,       /* read and written in it by disks that are not the volume's */
	EVIDENCE_LOAD1_MILLI,            /* load average of the minute before, times 1000 */
	EVIDENCE_MAINTENANCE_BEFORE,     /* scrubs, resilvers, syncs and checks that ran */
	EVIDENCE_MAINTENANCE_AFTER,
	EVIDENCE_THROTTLE_EVENTS,        /* thermal throttling of CPUs during the trial */
	EVIDENCE_HOT_DISKS,              /* disks at or above their own warning temperature at the end,
					    or that slowed themselves down because of heat */
	EVIDENCE_OTHER_READ_BYTES,       /* during the trial, by disks that are not the volume's */
	EVIDENCE_OTHER_WRITE_BYTES,
	EVIDENCE_RAID_CONTROLLERS,       /* that told their state before the trial */
	EVIDENCE_CACHE_DROPS,            /* times that somebody emptied the host's page cache, from right
					    before the trial to right after it */
	EVIDENCE_KEY_COUNT
};
struct evidence_number {
	uint32_t key; /* enum evidence_key; others are of newer agents */
	int64_t value;
};
/* Key in exports, or NULL for a key that is not known here. */
const char *evidence_key_name(uint32_t key);
/* 0 for a name that is none. */
uint32_t evidence_key_find(const char *name);

struct trial_evidence {
	struct disk_evidence *disks;
	size_t n_disks;
	struct core_evidence *cores;
	size_t n_cores;
	struct evidence_number *numbers;
	size_t n_numbers;
	struct setting_evidence *settings;
	size_t n_settings;
	struct source_evidence *sources; /* of a workload that has none, and of an agent that tells none */
	size_t n_sources;
	/* What maintenance ran, for people ("scrub of am_1_1_00ff"); NULL when none was seen. */
	char *maintenance_before, *maintenance_after;
};
void trial_evidence_clear(struct trial_evidence *v);
void disk_evidence_clear(struct disk_evidence *d);
/* NULL when it was not told. of: NULL for the volume itself. */
const struct setting_evidence *evidence_setting(
	const struct trial_evidence *v, const char *of, const char *name);
/* Its value before the trial. */
const char *evidence_value(const struct trial_evidence *v, const char *of, const char *name);
/* 1 and the number; 0 when it is absent, also where v is NULL. */
int evidence_get(const struct trial_evidence *v, enum evidence_key key, int64_t *ret);
/* Adds the number, or puts it in the place of the one that is there. */
void evidence_set(struct trial_evidence *v, enum evidence_key key, int64_t value);

/* ---- what a sample holds beside the sums of struct telemetry ---- */
struct host_usage {
	uint64_t busiest_core_permille;
	uint64_t cpu_steal_ns;
	uint64_t dirty_bytes, writeback_bytes; /* at the interval's end */
	uint64_t arc_hits, arc_misses;
};
#define HOST_USAGE_FIELDS 6
extern const struct disk_counter_field host_usage_fields[HOST_USAGE_FIELDS];

#define USAGE_BYTES_MAX (96 * 1024)
/* Packed: the number of disks, the host, then each disk in the order of trial_evidence.disks; of each
 * a byte that tells which fields are not zero, then those as varints. Appended. */
void usage_encode(const struct host_usage *h, const struct disk_counters *disks, size_t n,
	struct buf *out);
/* Fills h and at most cap disks (the rest is read over); *ret_n: how many there were. */
int usage_decode(const void *data, size_t len, struct host_usage *h, struct disk_counters *disks,
	size_t cap, size_t *ret_n, struct err *e);

#endif
