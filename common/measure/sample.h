/*
 * What a trial yields: samples (counters of one interval, with the host's telemetry in the same
 * interval) and a summary at its end. All times are nanoseconds of the agent's CLOCK_MONOTONIC,
 * relative to the trial's start unless the name says wall.
 */
#ifndef COMMON_MEASURE_SAMPLE_H
#define COMMON_MEASURE_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "common/measure/detail.h"
#include "common/measure/evidence.h"
#include "common/measure/hist.h"

struct telemetry {
	uint64_t disk_read_bytes, disk_write_bytes; /* of the volume's own disks, this interval */
	uint64_t disk_read_ops, disk_write_ops;
	uint64_t disk_busy_ns;     /* sum over the disks of time with I/O in flight */
	uint32_t disks;            /* number of disks with counters; 0: physical bytes unknown */
	uint64_t cpu_user_ns, cpu_system_ns, cpu_idle_ns, cpu_iowait_ns; /* whole host, all CPUs */
	uint64_t mem_free_bytes, mem_cached_bytes; /* at the interval's end */
	uint64_t arc_bytes;        /* 0 where there is none */
};

struct sample {
	uint32_t trial;            /* number of the trial within the attempt, from 1 */
	int64_t start_ns, end_ns;  /* interval, end > start */
	uint64_t ops, bytes, errors;
	char *hist;                /* encoded histogram (hist_encode), may be NULL */
	size_t hist_len;
	struct telemetry tele;
	char *usage;               /* host and each disk (usage_encode), may be NULL */
	size_t usage_len;
};

enum op_kind { OP_WRITE, OP_READ, OP_REWRITE };
enum data_kind { DATA_RANDOM, DATA_ZERO, DATA_COMPRESSIBLE, DATA_KIND_COUNT };
enum sync_kind { SYNC_NONE, SYNC_FILE, SYNC_FILESYSTEM, SYNC_ALL, SYNC_KIND_COUNT };

/* One trial's outcome. A failed one has text in `error`. */
struct trial_summary {
	uint32_t trial, block, layout, workload, repeat; /* block, repeat from 1; indices from 0 */
	int ok;
	char *error;               /* NULL when ok */
	int64_t started_wall_ns;
	int64_t elapsed_ns;        /* timed region, sync included when the plan asks for it */
	int64_t sync_ns;           /* part of elapsed spent in the final sync */
	uint64_t bytes, ops, errors;
	uint64_t cpu_user_ns, cpu_system_ns; /* of the worker's processes */
	struct telemetry tele;     /* sums over the trial; disks == 0: unknown */
	char *hist;                /* encoded, whole trial */
	size_t hist_len;
	uint32_t samples;          /* how many samples were cut */
	struct trial_evidence *evidence; /* NULL: of an agent that gathers none, or of an import */
	size_t n_evidence;               /* 0 or 1 */
	struct trial_detail detail;
};
void trial_summary_clear(struct trial_summary *t);

#endif
