/*
 * What could disturb a trial, looked at before and after it: load, other I/O, maintenance, throttling,
 * errors of disks, temperatures; how caches are set, and where a dump lies. Files of /sys may ask the
 * disk and programs may hang: this runs in helper children, and goes to the monitor as JSON.
 */
#ifndef AGENT_TELEMETRY_CONDITIONS_H
#define AGENT_TELEMETRY_CONDITIONS_H

#include <stdint.h>

#include "agent/telemetry/kmsg.h"
#include "common/base/buf.h"
#include "common/base/err.h"

struct json_t;

/* Who counts failures of a disk; one that went wrong once may be counted by several. */
enum error_source {
	ERRORS_SCSI, /* the kernel's SCSI layer: commands that failed or timed out */
	ERRORS_POOL, /* ZFS: reads, writes and checksums, since the pool was imported */
	ERRORS_NVME, /* the disk: data that it could not give back */
	ERROR_SOURCES
};
struct disk_condition {
	char *name;        /* kernel name, one of the volume's */
	struct strv under; /* whole disks that it stands on; itself when it is one */
	int has_errors[ERROR_SOURCES]; /* of all that it stands on */
	uint64_t errors[ERROR_SOURCES];
	int has_slowed;
	uint64_t slowed;   /* times that it slowed itself down because of heat */
	uint64_t look_read_bytes, look_write_bytes, look_busy_ns;
	char *write_cache; /* "write back", "write through", "mixed"; NULL: not told */
};
/* A setting of the volume: see struct setting_evidence. */
struct condition_setting {
	char *name, *of, *value;
};
/* A whole disk that the workload's dump lies on. */
struct condition_source {
	char *name;
	int is_written, is_shared;
};
struct conditions {
	struct disk_condition *disks;
	size_t n_disks;
	int has_load1, has_throttle, has_hot, has_maintenance, has_ratio, has_drops;
	int64_t load1_milli;
	uint64_t throttle_events; /* since boot, all CPUs */
	uint64_t cache_drops;     /* times that the page cache was emptied by an order, since boot */
	uint64_t hot_disks;       /* at or above the warning temperature that they name themselves */
	uint64_t maintenance;     /* scrubs, resilvers, syncs, checks that run */
	char *maintenance_text;   /* which; NULL: none */
	int64_t ratio_permille;   /* compression of the volume */
	int64_t look_ns;          /* 0: there was no look */
	int64_t look_cpu_permille, look_other_bytes;
	int has_look_other;
	struct kmsg log; /* failed requests in the kernel's log */
	struct condition_setting *settings;
	size_t n_settings;
	struct condition_source *sources;
	size_t n_sources;
	int64_t raid_controllers; /* that told their state */
};
void conditions_clear(struct conditions *c);

/* disks: the volume's, by kernel name. root: "" or the folder that holds proc and sys. What cannot be
 * read is left unknown; nothing here fails. Maintenance of md arrays only: see
 * conditions_add_maintenance. */
void conditions_read(const char *root, const struct strv *disks, struct conditions *ret);
/* Waits that long and tells what the host did meanwhile. To be called while we do nothing. */
void conditions_look(const char *root, const struct strv *disks, unsigned ms, struct conditions *c);
/* What the pool counts of the device with that kernel name: of the disks that stand on it. */
void conditions_add_pool_errors(struct conditions *c, const char *kernel, uint64_t errors);
/* Failures of that disk between both looks, by the source that counted most; -1: nobody counts them. */
int64_t conditions_errors(const struct conditions *before, const struct conditions *after,
	const struct disk_condition *b, const struct disk_condition *a);
/* One more that runs: "scrub of tank". */
void conditions_add_maintenance(struct conditions *c, const char *text);
/* A setting of the volume, or (of not NULL) of a dataset in it; one too many is left out. */
void conditions_add_setting(
	struct conditions *c, const char *of, const char *name, const char *value);
/* The workload reads its dump from the block device of that kernel name, or writes it there. */
void conditions_add_source(
	const char *root, struct conditions *c, const char *name, int is_written);
/* Lines of /proc/mdstat -> "check of md0", one call of `found` each; those that only wait do not
 * count. */
void mdstat_running(const char *text, void (*found)(void *arg, const char *what), void *arg);

struct json_t *conditions_json(const struct conditions *c);
/* What is missing or no object is unknown. */
void conditions_from_json(const struct json_t *o, struct conditions *ret);

#endif
