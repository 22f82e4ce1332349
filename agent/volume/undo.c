/*
 * The closed table of what can be undone, and the undoing of everything but pools.
 * Invariant: each operation looks again at what it is about to take down, refuses what is not ours,
 * and succeeds where nothing is left to do.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/shm.h"
#include "agent/volume/driver.h"
#include "agent/volume/holders.h"
#include "agent/volume/mounts.h"
#include "agent/volume/signatures.h"
#include "common/base/fs.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define DETACH_WAIT_NS (10 * NS_PER_S) /* a loop device held by udev goes a moment later */
#define DETACH_LOOK_NS (20 * NS_PER_MS)

static int is_preview(const struct undo_ctx *u)
{
	return u->volume->sink->preview;
}

static const char *arg(const struct undo_ctx *u, size_t i)
{
	return u->entry->undo.args.v[i];
}

static int run_words(struct undo_ctx *u, const char *what, const char *const *words, struct err *e)
{
	struct step s;

	step_start(&s, PHASE_TEARDOWN, "%s", what);
	strv_add_all(&s.argv, words);
	s.deadline_ms = STEP_LONG_MS;
	s.retries = BUSY_RETRIES;
	return step_run(u->volume, &s, NULL, e);
}

static int run_on(struct undo_ctx *u, const char *verb, const char *const *words, const char *path,
	struct err *e)
{
	char *what = xasprintf("%s %s", verb, path);
	int status = run_words(u, what, words, e);

	free(what);
	return status;
}

static int undo_file(struct undo_ctx *u, struct err *e)
{
	const char *path = arg(u, 0);
	struct stat st;

	if (!is_preview(u)) {
		if (lstat(path, &st))
			return errno == ENOENT || errno == ENOTDIR
				       ? 0 : err_sys(e, "cannot look at %s", path);
		if (!S_ISREG(st.st_mode))
			return err_set(e, ERR_WRONG_STATE,
				"%s is no longer the file that was made there; it is left alone", path);
	}
	return run_on(u, "remove", (const char *const[]){"rm", "-f", "--", path, NULL}, path, e);
}

/* 1: something other than . and .. is in it */
static int folder_has_entries(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *entry;
	int n = 0;

	while (d && (entry = readdir(d)))
		n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	if (d)
		closedir(d);
	return n > 0;
}

static int is_mounted(const char *point, int *ret, struct err *e)
{
	struct mounts m;

	if (mounts_read(&m, e))
		return -1;
	*ret = mounts_at(&m, point) != NULL;
	mounts_free(&m);
	return 0;
}

/* Shared folders (of all scratch disks, of all mounts) may be in use by others: they stay then. */
static int is_shared(const struct undo_ctx *u)
{
	const struct strv *argv = &u->entry->argv;

	return argv->n > 1 && !strcmp(argv->v[1], "-p");
}

static int undo_directory(struct undo_ctx *u, struct err *e)
{
	const char *path = arg(u, 0);
	struct stat st;
	int mounted = 0;

	if (!is_preview(u)) {
		if (is_mounted(path, &mounted, e))
			return -1;
		if (mounted)
			return err_set(e, ERR_WRONG_STATE, "something is mounted at %s still", path);
		if (lstat(path, &st))
			return errno == ENOENT || errno == ENOTDIR
				       ? 0 : err_sys(e, "cannot look at %s", path);
		if (!S_ISDIR(st.st_mode))
			return err_set(e, ERR_WRONG_STATE, "%s is no longer a folder", path);
		if (folder_has_entries(path))
			return is_shared(u) ? 0 : err_set(e, ERR_WRONG_STATE,
				"the folder %s is not empty: look at what is in it and remove it", path);
	}
	return run_on(u, "remove", (const char *const[]){"rmdir", "--", path, NULL}, path, e);
}

/* The folder of links to a pool's devices: only links are removed. */
static int undo_links(struct undo_ctx *u, struct err *e)
{
	const char *path = arg(u, 0);
	struct step s;
	DIR *d;

	if (!is_preview(u)) {
		d = opendir(path);
		if (!d)
			return errno == ENOENT ? 0 : err_sys(e, "cannot read %s", path);
		closedir(d);
	}
	step_start(&s, PHASE_TEARDOWN, "remove the links in %s", path);
	step_words(&s, "find", path, "-maxdepth", "1", "-type", "l", "-delete", NULL);
	if (step_run(u->volume, &s, NULL, e))
		return -1;
	return undo_directory(u, e);
}

/* As the account that filled it, since whoever owns the directory around may have put a folder of
 * root's in its place; it opens what a workload closed. */
static int empty(struct undo_ctx *u, const char *path, struct err *e)
{
	char *owner = xasprintf("%u:%u", (unsigned)u->volume->worker_uid,
		(unsigned)u->volume->worker_gid);
	int status = run_on(u, "empty",
		(const char *const[]){u->volume->self, "empty-folder", "--owner", owner, "--", path,
			NULL},
		path, e);

	free(owner);
	return status;
}

/* A folder for workloads inside somebody's directory: it alone is a tree that we remove. */
static int undo_bench(struct undo_ctx *u, struct err *e)
{
	const char *path = arg(u, 0), *name = strrchr(path, '/');
	struct stat st;
	int mounted = 0;

	if (path[0] != '/' || !str_starts(name, "/arraymark-") || strstr(path, "/../"))
		return err_set(e, ERR_WRONG_STATE, "%s is not a folder of ours; it is left alone", path);
	if (!is_preview(u)) {
		if (lstat(path, &st))
			return errno == ENOENT ? 0 : err_sys(e, "cannot look at %s", path);
		if (!S_ISDIR(st.st_mode) || is_mounted(path, &mounted, e) || mounted)
			return err_set(e, ERR_WRONG_STATE,
				"%s is not the folder that was made there; it is left alone", path);
	}
	if (!is_preview(u))
		shm_remove_of_servers(path, geteuid() ? geteuid() : u->volume->worker_uid);
	return empty(u, path, e) || run_on(u, "remove",
		(const char *const[]){"rmdir", "--", path, NULL}, path, e) ? -1 : 0;
}

/* losetup returns while somebody still has the device open; it goes with the last close. */
static int wait_detached(const char *file, struct err *e)
{
	int64_t until = clock_mono_ns() + DETACH_WAIT_NS;
	struct timespec pause = {0, DETACH_LOOK_NS};
	char *device;

	while ((device = loop_find(file))) {
		if (clock_mono_ns() > until) {
			err_set(e, ERR_BUSY, "%s (on %s) is in use and does not go away", device, file);
			free(device);
			return -1;
		}
		free(device);
		nanosleep(&pause, NULL);
	}
	return 0;
}

static int detach(struct undo_ctx *u, const char *device, struct err *e)
{
	return run_on(u, "detach", (const char *const[]){"losetup", "-d", device, NULL}, device, e);
}

/* By the backing file: a device's number may be another file's by now. */
static int undo_loop(struct undo_ctx *u, struct err *e)
{
	const char *file = arg(u, 0), *noted = entry_note(u->entry, "device");
	char *device;
	int status;

	if (is_preview(u))
		return detach(u, noted ? noted : "<loop>", e);
	device = loop_find(file);
	if (!device)
		return 0;
	if (noted && strcmp(noted, device))
		log_warning(device, "%s was attached as %s and is here now", file, noted);
	status = detach(u, device, e);
	free(device);
	return status ? -1 : wait_detached(file, e);
}

static int undo_mount(struct undo_ctx *u, struct err *e)
{
	const char *source = arg(u, 0), *point = arg(u, 1);
	const char *const words[] = {"umount", "--", point, NULL};
	const struct mount_entry *at;
	struct mounts m;
	int ours;

	if (is_preview(u))
		return run_on(u, "unmount", words, point, e);
	if (mounts_read(&m, e))
		return -1;
	at = mounts_at(&m, point);
	ours = at && !strcmp(at->source, source);
	if (at && !ours)
		err_set(e, ERR_WRONG_STATE, "%s is mounted at %s, not our %s; it is left alone",
			at->source, point, source);
	mounts_free(&m);
	if (!at)
		return 0;
	if (ours && run_on(u, "unmount", words, point, e) == 0)
		return 0;
	if (ours)
		holders_explain_mount(point, e);
	return -1;
}

/* Where the file system is now: after a start of the host a kernel's name may be another disk's. Caller
 * frees. */
static int find_unmounted(struct undo_ctx *u, char **ret, struct err *e)
{
	const char *uuid = u->entry->undo.args.n > 4 ? arg(u, 4) : "";
	char *paths[] = {xstrdup(arg(u, 0)), xasprintf("/dev/disk/by-uuid/%s", uuid)};
	char *found = *uuid ? NULL : xstrdup(paths[0]);

	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		char *there = found ? NULL : signatures_uuid(paths[i]);

		if (there && !strcmp(there, uuid))
			found = xstrdup(paths[i]);
		free(there);
		free(paths[i]);
	}
	if (!found)
		return err_set(e, ERR_WRONG_STATE,
			"the file system that was mounted at %s (UUID %s) is not on %s any more: mount "
			"it by hand",
			arg(u, 1), uuid, arg(u, 0));
	*ret = found;
	return 0;
}

/* What was unmounted for a cold cache is mounted again, if that did not happen. */
static int undo_remount(struct undo_ctx *u, struct err *e)
{
	const char *point = arg(u, 1), *type = arg(u, 2), *options = arg(u, 3);
	int mounted = 0, status;
	char *source;

	if (is_preview(u))
		return 0;
	if (is_mounted(point, &mounted, e))
		return -1;
	if (mounted)
		return 0;
	if (find_unmounted(u, &source, e))
		return -1;
	status = run_on(u, "mount again",
		(const char *const[]){"mount", "-t", type, "-o", options, "--", source, point, NULL},
		point, e);
	free(source);
	return status;
}

int undo_device_is_ours(const struct undo_ctx *u, const char *device)
{
	if (access(device, F_OK))
		return 0;
	if (!str_starts(device, "/dev/loop"))
		return 1;
	for (size_t i = 0; i < u->n; i++) {
		const char *noted = entry_note(&u->entries[i], "device");
		char *now;
		int same;

		if (strcmp(u->entries[i].undo.op, "loop") || !noted || strcmp(noted, device) ||
			!u->entries[i].undo.args.n)
			continue;
		now = loop_find(u->entries[i].undo.args.v[0]);
		same = now && !strcmp(now, device);
		free(now);
		if (same)
			return 1;
	}
	return 0;
}

static int undo_filesystem(struct undo_ctx *u, struct err *e)
{
	const char *device = arg(u, 0), *type = arg(u, 1), *uuid = arg(u, 2);

	if (!is_preview(u) && !undo_device_is_ours(u, device)) {
		log_warning(device, "the disk is gone; its %s signature stays on it", type);
		return 0;
	}
	return run_on(u, "clear the signatures of",
		(const char *const[]){u->volume->self, "clear-labels", "--kind", type, "--uuid", uuid,
			"--", device, NULL},
		device, e);
}

static const struct undo_op ops[] = {
	{"file", 1, 0, undo_file},
	{"directory", 1, 1, undo_directory},
	{"links", 1, 1, undo_links},
	{"bench", 1, 1, undo_bench},
	{"loop", 1, 1, undo_loop},
	{"mount", 2, 0, undo_mount},
	{"remount", 4, 0, undo_remount},
	{"filesystem", 3, 0, undo_filesystem},
	{"pool", 3, 0, undo_pool},
};

const struct undo_op *undo_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(ops); i++)
		if (!strcmp(ops[i].name, name))
			return &ops[i];
	return NULL;
}

int undo_entry(struct undo_ctx *u, struct err *e)
{
	const struct undo_op *op = undo_find(u->entry->undo.op);

	if (op && op->all_or_nothing && u->entry->finished && !u->entry->ok)
		return 0;
	if (!op || u->entry->undo.args.n < op->min_args)
		return err_set(e, ERR_WRONG_STATE,
			"the journal asks to undo '%s' in a way that this version does not know: take "
			"down by hand what \"%s\" made",
			u->entry->undo.op, u->entry->what);
	if (op->run(u, e))
		return err_prefix(e, "cannot undo \"%s\"", u->entry->what);
	return 0;
}
