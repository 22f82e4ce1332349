/*
 * Inside of agent/volume: what the drivers share. Nothing outside this folder includes it.
 *
 * A driver makes steps and hands them to the context's sink; under a preview sink it touches
 * nothing and asks the host nothing.
 */
#ifndef AGENT_VOLUME_DRIVER_H
#define AGENT_VOLUME_DRIVER_H

#include "agent/volume/volume.h"

#define STEP_LONG_MS (10 * 60 * 1000) /* for steps whose time grows with the disks */
#define BUSY_RETRIES 12               /* some 25 s in all */

struct volume_driver {
	const char *name;
	int (*is_for)(const struct layout *l);
	int (*build)(struct volume_ctx *ctx, const struct layout *l, struct volume *ret,
		struct err *e);
	int (*check)(struct volume_ctx *ctx, const struct volume *v, struct err *e);
	/* Makes the volume's caches empty; appends to done what was done, for people. */
	int (*make_cold)(struct volume_ctx *ctx, struct volume *v, struct buf *done, struct err *e);
};
extern const struct volume_driver zfs_driver, filesystem_driver, existing_driver, none_driver;

/* Steps. words ends with NULL; a first word without '/' is looked up as a program when run. */
void step_start(struct step *s, enum step_phase phase, const char *what, ...)
	__attribute__((format(printf, 3, 4)));
void step_words(struct step *s, const char *first, ...) __attribute__((sentinel));
void step_undo(struct step *s, const char *op, ...) __attribute__((sentinel));
/* Runs it through the context's sink and clears it in any case. out may be NULL. */
int step_run(struct volume_ctx *ctx, struct step *s, struct buf *out, struct err *e);
/* The value of a note "key=value" of the entry, or NULL. */
const char *entry_note(const struct journal_entry *entry, const char *key);

/* Generated name of a layout's volume: am_<run>_<n>_<6 hex of the job>; in a preview without a run
 * "<run>" and "<job>" stand for what is not known. Caller frees. */
char *volume_name(const struct volume_ctx *ctx);
/* The folder for workloads, owned by the worker's account; undo_op "" where it goes with its
 * volume. It must not be there yet. */
int volume_bench_folder(struct volume_ctx *ctx, const char *path, const char *undo_op,
	struct err *e);
/* Hands an empty folder of ours to the workers' account. */
int volume_give_folder(struct volume_ctx *ctx, const char *path, struct err *e);
/* Makes the folder unless it is there, and takes it down again if it is empty then. */
int volume_make_folder(struct volume_ctx *ctx, const char *path, const char *mode, struct err *e);
/* Fills dev, fs_type, filesystem, usable_bytes, syncfs_works from the mounted directory. */
int volume_describe(struct volume *v, struct err *e);
/* The volume's directory is still there, on the same device and type of file system, and (source
 * not NULL) what is mounted at its mount point is `source`. */
int volume_check_mount(const struct volume *v, const char *source, struct err *e);
/* Before a file system is mounted again: the device of that name carries it still, by its UUID ("" or NULL:
 * not known), since while nothing was mounted the name may have become another disk's. */
int volume_check_uuid(const char *device, const char *uuid, struct err *e);
/* Before an unmount, which does not tell what could not be written. */
int volume_sync(struct volume_ctx *ctx, const char *mount, struct err *e);
/* Drops the page cache of the whole host (root only; otherwise says in done that it did not). */
int volume_drop_caches(struct volume_ctx *ctx, struct buf *done, struct err *e);

/* After a file system was mounted anew: that no page of the files in the volume's folder is in memory,
 * as the kernel tells; appended to done. ERR_WRONG_STATE names a file that has some. */
int volume_check_cold(const struct volume *v, struct buf *done, struct err *e);

/* What a layout stands on: scratch disks in order, or the disks bound to it. */
struct stage_disk {
	const char *role; /* "data", "special", "log", "cache", "spare", "fs" */
	unsigned group;
	char *device; /* as it goes to programs: /dev/loop3, a by-id link, a plain file */
	char *kernel; /* "loop3", "sdc"; NULL for a plain file or in a preview */
	int pin;      /* open for reading, so that its kernel name stays its own; or -1: a plain file, a preview */
};
struct stage_disks {
	struct stage_disk *v;
	size_t n;
	int scratch;
	int buffered; /* scratch whose files go through the page cache */
};
void stage_disks_free(struct stage_disks *d);
void stage_disks_add(struct stage_disks *d, const char *role, unsigned group, const char *device,
	const char *kernel);
/* Right before a first write: each bound disk's path leads to the disk that was looked at. */
int stage_disks_check(const struct stage_disks *d, struct err *e);
/* Makes scratch disks, or checks and wipes the bound ones: right before the first write. */
int stage_disks_prepare(struct volume_ctx *ctx, const struct layout *l, struct stage_disks *ret,
	struct err *e);
int scratch_prepare(struct volume_ctx *ctx, const struct layout *l, struct stage_disks *ret,
	struct err *e);
/* The loop device attached to this very file (by path, device and inode), as "/dev/loop3"; NULL when
 * there is none. Caller frees. */
char *loop_find(const char *file);

/* zpool create's vector for a pool on these disks: pure. */
void zpool_create_vector(const struct pool_stage *p, const struct stage_disks *disks,
	const char *name, const char *root, struct strv *argv);

/* Undoing one journal entry, in an op's own way. Under a preview sink: only the steps. */
struct undo_ctx {
	struct volume_ctx *volume;
	const struct journal_entry *entries; /* all of the journal: notes of others are looked up */
	size_t n;
	const struct journal_entry *entry;
};
struct undo_op {
	const char *name;
	size_t min_args;
	/* The step makes its thing or fails and makes none: what is there after a failure was there
	 * before, and is not ours. */
	int all_or_nothing;
	int (*run)(struct undo_ctx *u, struct err *e);
};
const struct undo_op *undo_find(const char *name);
int undo_entry(struct undo_ctx *u, struct err *e);
int undo_pool(struct undo_ctx *u, struct err *e);
/* The device is there, and it is what the journal says of it: a loop device's number may have gone to
 * another file since, or to none, as after a start of the host; other names are the disk's own. */
int undo_device_is_ours(const struct undo_ctx *u, const char *device);

#endif
