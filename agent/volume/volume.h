/*
 * Volumes: building, checking, making cold and taking down what a layout asks for.
 *
 * Everything here blocks and touches disks: it runs in helper children with deadlines, never in the
 * monitor. What is done is a sequence of steps, each an argv vector handed to the context's sink:
 * the real sink journals, executes and reports; the preview sink only collects. Drivers are const
 * vtables (one file each) found in one table.
 */
#ifndef AGENT_VOLUME_VOLUME_H
#define AGENT_VOLUME_VOLUME_H

#include <sys/types.h>

#include "agent/journal.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/measure/inventory.h"
#include "common/plan/plan.h"
#include "common/plan/policy.h"
#include "proto/msg.h"

struct json_t;

struct step {
	enum step_phase phase;
	char *what;               /* for people: "create the pool am_12_1_ab12cd"; owned */
	struct strv argv;         /* absolute program */
	struct undo undo;         /* op "" when there is nothing to undo */
	unsigned deadline_ms;     /* 0: 60 s */
	unsigned retries;         /* times to try again, 200 ms apart, growing, while the program says
				     that something is busy */
	const char *dry_output;   /* what a preview pretends the program printed, or NULL */
	const char *note;         /* journal key for the trimmed stdout ("device", "guid"), or NULL */
};
void step_clear(struct step *s); /* frees what, argv and undo */

struct step_sink {
	/* Executes (or collects) one step; output gets stdout. */
	int (*run)(struct step_sink *sink, const struct step *s, struct buf *output, struct err *e);
	int preview; /* nothing may be touched */
};

struct volume_ctx {
	struct step_sink *sink;
	const struct plan *plan;
	const struct policy *policy;
	const struct inventory *inv;       /* fresh; may be re-read by checks */
	struct job_key key;
	struct unit unit;
	const char *job_tag;               /* 6 hex */
	const struct bound_disks *disks;   /* the offer's, all layouts */
	size_t n_disks;
	const char *mount_root;            /* "/run/arraymark/<agent>", or STATE/mnt unprivileged */
	const char *state_dir;
	uid_t worker_uid;                  /* owner of the bench folder inside the volume */
	gid_t worker_gid;
	const char *self;                  /* absolute path of arraymark-agent, for its own steps */
	const struct json_t *hung_tools;   /* as volume_conditions told them before in the attempt; or NULL */
};

enum volume_kind { VOLUME_POOL, VOLUME_FILESYSTEM, VOLUME_EXISTING, VOLUME_NONE };
struct volume {
	enum volume_kind kind;
	unsigned layout;
	char *name;       /* pool name, or device, or directory */
	char *mount;      /* mount point */
	char *directory;  /* where workloads write, inside mount */
	char *guid;       /* pool GUID or file-system UUID; NULL for existing */
	char *identity;   /* one line for people and for VOLUME_READY */
	char *filesystem; /* "zfs", "fuse.zfs", "xfs", "ext4", … */
	uint64_t dev;     /* st_dev of directory */
	uint64_t fs_type; /* f_type of directory */
	uint64_t usable_bytes;
	struct strv disks; /* kernel names with counters ("loop3", "sdc"); may be empty */
	int syncfs_works;
	int buffered_disks; /* scratch disks whose files go through the host's page cache */
	int remount;        /* existing: the policy allows to unmount and mount it */
	struct strv import_dirs; /* where to look for the pool's devices at import */
	struct strv cache_devices; /* of a pool, as it was given them: they outlive an export */
};
void volume_clear(struct volume *v);
/* Between helper child and monitor. */
struct json_t *volume_to_json(const struct volume *v);
int volume_from_json(const struct json_t *o, struct volume *ret, struct err *e);

/* Checks disks once more right before the first write (policy, in use, signatures, identity), then
 * builds. On failure what was built stays in the journal for the teardown. */
int volume_build(struct volume_ctx *ctx, const struct layout *l, struct volume *ret, struct err *e);
/* Identity of the mount: device, file system, pool GUID still as built. ERR_WRONG_STATE says what
 * changed ("the pool is gone: writes would land in the directory under the mount point"). */
int volume_check(struct volume_ctx *ctx, const struct volume *v, struct err *e);
/* Makes the cache state the plan asks for; cold exports and imports the pool by GUID, unmounts and
 * mounts a file system. ret_done: what was really done. May change dev (mount again): updates v. */
int volume_cache_state(struct volume_ctx *ctx, struct volume *v, enum plan_cache cache,
	char **ret_done, struct err *e);
/* What could disturb a trial on the volume (agent/telemetry/conditions.h), with the pools' scrubs,
 * the volume's compression and settings, and (w not NULL) the disks of what that workload reads or
 * writes elsewhere; look_ms > 0: waits that long and tells what others did. Never fails: what cannot
 * be read is not told. Member "hung_tools" has those of RAID controllers that gave no answer, {program: why}:
 * they are not asked again where ctx names them. */
struct json_t *volume_conditions(struct volume_ctx *ctx, const struct volume *v,
	const struct workload *w, unsigned look_ms);
/* Takes down by the journal's entries, from the end; marks each undone; verifies at the end that
 * the disks are free of signatures. Safe to repeat. journal: open for this job. Of ctx only sink,
 * self, key, state_dir and the workers' account are used: it works without plan, policy and
 * inventory. When a step of one block x layout cannot be undone, what was done before it in that unit
 * stays, other units are taken down all the same, and the first error is returned. */
int volume_teardown(struct volume_ctx *ctx, struct journal *j, struct journal_entry *entries,
	size_t n, struct err *e);
/* Steps of all phases of one layout for --dry-run, in order, through a preview sink. workloads (may be
 * NULL) is called between building and taking down, with the volume as it would be. */
int volume_preview(struct volume_ctx *ctx, const struct layout *l,
	int (*workloads)(const struct volume *v, void *arg, struct err *e), void *arg, struct err *e);

/* The sinks. */
struct step_sink *sink_real(struct journal *j, struct unit unit,
	void (*report)(void *arg, const struct step *s, int ok, int64_t elapsed_ns,
		const char *output), void *arg);
struct step_sink *sink_preview(void (*collect)(void *arg, const struct step *s), void *arg);
void sink_free(struct step_sink *s);

#endif
