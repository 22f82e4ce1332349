/* What `plan check` and `--dry-run` say before anything runs: builds, bytes, time. */
#ifndef COMMON_PLAN_ESTIMATE_H
#define COMMON_PLAN_ESTIMATE_H

#include "common/plan/plan.h"

struct plan_cost {
	unsigned blocks, builds, trials; /* per host */
	int64_t written_bytes, read_bytes; /* per host, as far as known; files made before a trial, too */
	double written_ram, read_ram; /* these many times the host's memory more, when that is not known */
	int64_t duration_ns; /* rough: from the rates and the overheads below */
};
struct plan_estimate {
	struct plan_cost most, least; /* of trials_max and of trials_min blocks: equal unless `until` */
	/* Smallest true relative difference that such a plan finds with probability 0.8 on one host,
	 * by intervals that hold for all comparisons of a workload together, when trials scatter by
	 * `cv` (paired by block): t-based, for planning only. A fraction; INFINITY with fewer than 2
	 * blocks. For `until`, of the smallest number of blocks. */
	double smallest_difference, cv;
	unsigned unknown; /* workloads of which how much they move is known when they run */
};
/* What the duration assumes; say so beside it. */
#define ESTIMATE_DISK_RATE 100e6   /* bytes/s that one disk streams */
#define ESTIMATE_VOLUME_RATE 1e9   /* bytes/s that no volume exceeds */
#define ESTIMATE_SCRATCH_RATE 100e6 /* bytes/s of a whole volume on scratch disks */
#define ESTIMATE_BUILD_NS 5000000000LL  /* build and teardown of a volume */
#define ESTIMATE_TRIAL_NS 1000000000LL  /* cache state, start and end of a trial */
#define ESTIMATE_CV 0.03
/* ram_bytes 0: sizes that depend on it are told as multiples of it, and take no time. ERR_INPUT when a sum
 * overflows or a size is impossible with that much memory. */
int plan_estimate(const struct plan *p, uint64_t ram_bytes, struct plan_estimate *ret,
	struct err *e);
/* {"blocks", "builds", "trials", "written_bytes", "read_bytes", "written_ram", "read_ram",
 * "duration_s", "smallest_difference", "cv", "unknown", "least"}: the first eight of the most it can be,
 * "least" null or an object of them for the least; the caller json_decref()s it. */
struct json_t *plan_estimate_json(const struct plan_estimate *v);

#endif
