/*
 * The host's own counters from /proc and /sys: disks by kernel name, CPU, memory, ARC. Reading costs
 * some tens of microseconds and touches no disk.
 */
#ifndef AGENT_TELEMETRY_TELEMETRY_H
#define AGENT_TELEMETRY_TELEMETRY_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/measure/sample.h"

struct core_time {
	uint64_t busy_ns, all_ns; /* busy: user and system; all: idle, waiting and stolen too */
};
/* Everything at one moment: counters since boot; memory and ARC as they are. Owned by the reader, who
 * passes the same one again and again. */
struct telemetry_reading {
	int64_t mono_ns, wall_ns;
	struct telemetry sum;
	struct disk_counters *disks; /* in the order of telemetry_disk() */
	size_t n_disks;
	struct core_time *cores;
	size_t n_cores, cap_cores;
	uint64_t steal_ns, dirty_bytes, writeback_bytes;
	int has_arc;
	uint64_t arc_max_bytes, arc_hits, arc_misses;
};
void telemetry_reading_clear(struct telemetry_reading *r);

struct telemetry_source;
/* disks: kernel names; those without counters are left out (tele.disks tells how many have some).
 * root: "" or the folder that holds proc and sys. */
int telemetry_open(const char *root, const struct strv *disks, struct telemetry_source **ret,
	struct err *e);
void telemetry_close(struct telemetry_source *t);
/* Kernel name of the disk; NULL behind the last. */
const char *telemetry_disk(const struct telemetry_source *t, size_t i);
int telemetry_read(struct telemetry_source *t, struct telemetry_reading *r, struct err *e);
/* Of one disk, since boot. -1 where it has none. */
int telemetry_disk_counters(const char *root, const char *disk, struct disk_counters *ret);
/* Bytes read and written by all whole disks of the host except those named; partitions, loop devices
 * and what stands on other disks are not counted. -1 when that cannot be read. */
int telemetry_others(const char *root, const struct strv *except, uint64_t *ret_read,
	uint64_t *ret_written);

/* to - from for counters (a wrapped or reset counter gives 0), memory and ARC from `to`. */
void telemetry_delta(const struct telemetry *from, const struct telemetry *to,
	struct telemetry *ret);
void telemetry_disk_delta(const struct disk_counters *from, const struct disk_counters *to,
	struct disk_counters *ret);
/* The largest share of its time that one CPU was busy, in permille; 0 when no time passed. */
uint64_t telemetry_busiest_core(
	const struct telemetry_reading *from, const struct telemetry_reading *to);

#endif
