/*
 * A plan as plain structs: what is built, what is timed on it, and how often.
 *
 * plan_parse checks everything that needs no host. The plan's text stays the source of truth: it is
 * what travels, is hashed and stored; each program parses it again. The struct is read-only after
 * parsing and owns all it holds.
 */
#ifndef COMMON_PLAN_PLAN_H
#define COMMON_PLAN_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/yaml.h"
#include "common/measure/sample.h"

#define PLAN_MAX_LAYOUTS 256 /* after matrix expansion */
#define PLAN_MAX_WORKLOADS 64
#define PLAN_MAX_BLOCKS 10000
#define PLAN_MAX_UNITS 20000 /* blocks x layouts */
#define PLAN_NAME_MAX 64

enum plan_cache { CACHE_COLD, CACHE_WARM, CACHE_AS_IS };
enum plan_builds { BUILDS_EACH_BLOCK, BUILDS_ONCE };
enum plan_order { ORDER_RANDOM, ORDER_AS_WRITTEN };
enum plan_start { START_FREE, START_TOGETHER };
enum plan_on_trial_failure { TRIAL_FAILURE_CONTINUE, TRIAL_FAILURE_RETRY, TRIAL_FAILURE_STOP };
enum io_engine { IO_PREAD, IO_URING };
enum plan_on_host_lost { HOST_LOST_WAIT, HOST_LOST_CONTINUE, HOST_LOST_FAIL };

/* A size that may depend on the host: factor * ram + bytes. Written as `30G`, `ram`, `ram * 1.25`,
 * `2 * ram`, `ram / 4`, `ram * 2 + 1G`, `ram - 512M`. */
struct plan_size {
	double ram_factor; /* 0: plain */
	int64_t bytes;     /* may be negative beside a factor */
};
/* Bytes on a host with that much memory: a plain size as written, one that depends on the memory
 * rounded down to 4096. -1 and ERR_INPUT when the host's memory is not known (0) but needed, or the
 * result is not between 1 and INT64_MAX. */
int plan_size_bytes(const struct plan_size *s, uint64_t ram_bytes, int64_t *ret, struct err *e);

/* Which disks: all fields that are set must match. */
struct disk_selector {
	struct strv ids; /* explicit stable ids ("serial:…", "wwn:…"): then nothing else is set */
	char *controller, *enclosure, *slot, *model, *transport, *serial, *wwn; /* or NULL; substring
		match without case for controller and model, else equal or glob */
	int64_t size; /* bytes, +-1 %; 0: any */
	int rotational; /* -1 any */
	struct strv exclude; /* ids, globs allowed */
	unsigned count; /* 0: all that match (or all ids) */
};
struct disk_set {
	struct disk_selector *v;
	size_t n;
	int mixed; /* mixed sizes and sector sizes allowed */
	int line, column; /* for messages of the binder */
};

enum pool_level { LEVEL_STRIPE, LEVEL_MIRROR, LEVEL_RAIDZ1, LEVEL_RAIDZ2, LEVEL_RAIDZ3, LEVEL_DRAID };
struct vdev_group {
	enum pool_level level;
	char *level_text; /* as it goes to zpool: "raidz2", "draid2:8d:24c:2s"; "" for stripe */
	struct disk_set disks;
	unsigned draid_parity, draid_data, draid_children, draid_spares; /* draid only; 0 = default */
};
struct property {
	char *name, *value;
};
struct dataset {
	char *name;
	struct property *props;
	size_t n_props;
};
struct pool_stage {
	struct vdev_group *vdevs; /* data, at least one */
	size_t n_vdevs;
	struct disk_set spares, cache; /* n == 0: none */
	struct vdev_group log, special; /* disks.n == 0: none */
	int ashift; /* 0: not given */
	struct property *props; /* file-system properties of the root dataset (-O) */
	size_t n_props;
	struct property *pool_props; /* allowed pool properties (-o), ashift excluded */
	size_t n_pool_props;
	struct dataset *datasets;
	size_t n_datasets;
};
enum fs_type { FS_XFS, FS_EXT4, FS_BTRFS };
struct fs_stage {
	enum fs_type type;
	struct disk_set disks; /* this version: exactly one disk */
	struct strv options; /* mkfs options from the allow-list, as argv words */
	struct strv mount;   /* mount options from the allow-list */
};
struct scratch_stage {
	unsigned disks; /* 0: no scratch */
	int64_t size;   /* bytes each */
};
struct layout {
	char *name;
	char *existing; /* absolute path, or NULL */
	int none;       /* builds nothing: the one layout of a plan that only scans disks */
	struct scratch_stage scratch;
	struct pool_stage *pool;
	struct fs_stage *fs;
	int line, column;
};

/*
 * One sequential stream. size counts over all files: each of them gets size / files rounded down to
 * whole blocks, the last one the rest as well, so the last block may be short. With threads <=
 * files a thread owns whole files (file i belongs to thread i % threads); with more threads than
 * files, threads is a multiple of files and each file is cut into threads / files ranges of whole
 * blocks. A read or rewrite takes size, files, names and (for a read) data from the workload `of`
 * names; a smaller size of its own reads or rewrites that much from the start.
 *
 * With a duration each thread goes through its part again and again until the time is over; written
 * data is new in every round.
 */
struct stream {
	enum op_kind op;
	struct plan_size size; /* always set, except when `of` is: then that one's, resolved */
	int64_t block_size;    /* bytes, 512 .. 64M */
	enum data_kind data;
	unsigned compressible_percent; /* 1 .. 99 with DATA_COMPRESSIBLE: what a compressor saves */
	enum sync_kind sync;           /* SYNC_NONE for reads */
	int direct, verify;            /* verify: reads of `of` only */
	enum io_engine engine;
	unsigned depth;                /* operations under way per thread; 1 with IO_PREAD */
	unsigned threads, files;       /* from 1 */
	int64_t rate; /* bytes/s over all threads; 0: unlimited */
	int64_t file_rate; /* bytes/s of each file while it is moved; 0: unlimited; then rate is 0 */
	int own_files; /* a read or rewrite of files that it makes itself before its time begins */
	char *file; /* name pattern, "{trial}" allowed; NULL: the workload's (or the name of `of`) */
	char *of;   /* workload whose files are read or rewritten, or NULL; set too when `file` is
		       what an earlier write writes. NULL in a read: the file is there already */
	unsigned of_index; /* valid when of is set */
};
enum workload_kind {
	WORKLOAD_STREAM,
	WORKLOAD_RANDOM,
	WORKLOAD_FILEBENCH,
	WORKLOAD_PG_RESTORE,
	WORKLOAD_PG_DUMP,
	WORKLOAD_PGBENCH,
	WORKLOAD_FIO,
	WORKLOAD_COMMAND,
	WORKLOAD_DISK_SCAN,
	WORKLOAD_REBUILD,
	WORKLOAD_PARALLEL,
	WORKLOAD_KIND_COUNT
};
/* One kind of work under a name; the pointer of its kind is set, the others are NULL. */
struct workload {
	char *name;
	enum workload_kind kind;
	int64_t duration_ns; /* written beside the kind; 0: not given */
	struct stream stream; /* zeroed in other kinds, but for its defaults */
	struct work_random *random;       /* work_random.h */
	struct work_filebench *filebench; /* work_filebench.h */
	struct work_pg *pg;               /* work_pg.h: pg_restore, pg_dump, pgbench */
	struct work_fio *fio;             /* work_fio.h */
	struct work_command *command;     /* work_command.h */
	struct work_scan *scan;           /* work_scan.h */
	struct work_parallel *parallel;   /* work_parallel.h */
	int line, column;
};

struct plan_pair {
	unsigned first, second; /* layout indices, different */
};

struct plan {
	char *name;
	struct strv hosts; /* names, tag:…, all */
	unsigned trials_min, trials_max; /* blocks; equal unless `until` */
	double until; /* fraction; 0: not given. Blocks go on after trials_min until every comparison
		       * is as precise as that (compare_is_precise), to trials_max at most */
	enum plan_cache cache;
	enum plan_builds builds;
	enum plan_order order;
	enum plan_start start;
	unsigned repeat;
	struct layout *layouts;
	size_t n_layouts;
	struct workload *workloads;
	size_t n_workloads;
	/* compare: kept as text for the control client; indices of layouts */
	int baseline; /* layout index, -1: pairs */
	int compare_all_pairs;
	struct plan_pair *pairs; /* written out: [[A, B], …]; first is what second is compared with */
	size_t n_pairs;
	double margin; /* fraction, 0: not given */
	char *by;      /* "layout" or "host" */
	struct strv metrics;
	int64_t sample_ns; /* 100 ms .. 60 s */
	int64_t deadline_ns, build_deadline_ns; /* 0: none */
	int64_t trial_deadline_ns; /* of a trial's timed region; 0: none */
	int64_t stall_ns; /* a trial that makes no progress for so long has failed; 0: it may */
	enum plan_on_trial_failure on_trial_failure;
	unsigned trial_retries;
	enum plan_on_host_lost on_host_lost;
	int64_t host_lost_wait_ns;
	struct strv wipe; /* "zfs:oldtank", "ext4", … */
	int keep;
	char sha256[65]; /* of the text; with sets, of the text and a line "--set …" for each */
	struct strv warnings; /* "plan.yaml:3:9: trials: fewer than 3 …" */
};

/* Parses and checks. sets: "path=value" list, may be NULL. All errors of meaning are found in one
 * pass: errs gets them (one line each, in the order of the file; free with yaml_errors_free in
 * either case) and e the first with the count. name: for messages, borrowed by errs. */
int plan_parse(const char *name, const char *text, size_t len, const struct strv *sets,
	struct plan **ret, struct yaml_errors *errs, struct err *e);
void plan_free(struct plan *p);

/* Names of plans, layouts, workloads, hosts, tags: see plan-format. what: "layout", … for the text.
 * dots: 1 for host names. */
int plan_check_name(const char *name, const char *what, int dots, struct err *e);
/* A tag, without "tag:": as a name, ':' and '.' within it too ("rack:12"). */
int plan_check_tag(const char *tag, struct err *e);

/* "test30G-{trial}" -> "test30G-3" or "test30G-3.2" when the plan repeats. Caller frees. */
char *plan_file_name(const char *pattern, unsigned block, unsigned repeat, unsigned repeats);
/* Names of the files of a stream workload in that trial, one per file (".1", ".2", … appended when
 * there are several); those of `of` where it is set. Appended to ret. */
void plan_stream_names(const struct plan *p, unsigned workload, unsigned block, unsigned repeat,
	struct strv *ret);
/* Bytes per second of all its threads together; 0: unlimited. */
int64_t stream_rate(const struct stream *s);
/* Bytes the workload moves on a host with that RAM (a timed one: in one round). */
int plan_stream_bytes(const struct plan *p, unsigned workload, uint64_t ram_bytes, int64_t *ret,
	struct err *e);

const char *plan_cache_name(enum plan_cache c);
const char *pool_level_name(enum pool_level l);
const char *fs_type_name(enum fs_type t);
/* Disks that the layout's stage asks for over all roles (scratch: how many of them are used);
 * selectors without a count add 0. */
unsigned layout_disk_count(const struct layout *l);
/* Disks the set asks for; 0 with *ret_open = 1 when a selector takes all that match. */
unsigned disk_set_count(const struct disk_set *s, int *ret_open);
/* 0 when a group of that level can be made of n disks; ERR_INPUT says how many it wants. */
int vdev_group_check(const struct vdev_group *g, unsigned n, struct err *e);
/* Upper bound of the bytes that a layout on scratch disks can hold; -1: not known. */
int64_t layout_capacity(const struct layout *l);
/* The most bytes that the workloads' files take on the layout at any time, with those of others that
 * stay: what its compression could shrink is not counted, nor are sizes that are not possible with that
 * RAM (0: all that depend on it). */
int64_t layout_stored_bytes(const struct plan *p, const struct layout *l, uint64_t ram_bytes);
/* Bytes of usable space the layout must give for this plan's workloads on a host with that RAM. */
int plan_needed_bytes(const struct plan *p, uint64_t ram_bytes, int64_t *ret, struct err *e);

#endif
