/*
 * Taking down a pool: destroy it, remove its labels from its devices, and what is left of its
 * mounts.
 * Invariant: a pool is destroyed only when it has our generated name, the GUID that was noted, and
 * stands on no device but those that the journal says it was made of.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "agent/volume/device.h"
#include "agent/volume/driver.h"
#include "agent/volume/holders.h"
#include "agent/volume/mounts.h"
#include "agent/volume/zpool.h"
#include "agent/volume/zpool_status.h"
#include "common/base/log.h"
#include "common/base/mem.h"

#define FIRST_DEVICE 2 /* args: name, mount point, role=device … */

static const char *pool_name(const struct undo_ctx *u)
{
	return u->entry->undo.args.v[0];
}

static const char *device_of(const char *argument)
{
	const char *equal = strchr(argument, '=');

	return equal ? equal + 1 : argument;
}

/* Noted by the step that read it, in the same unit and after the pool was made. */
static const char *noted_value(const struct undo_ctx *u, const char *key)
{
	for (size_t i = 0; i < u->n; i++) {
		const struct journal_entry *other = &u->entries[i];
		const char *value = other->number > u->entry->number &&
						    other->unit.block == u->entry->unit.block &&
						    other->unit.layout == u->entry->unit.layout
					    ? entry_note(other, key) : NULL;

		if (value)
			return value;
	}
	return NULL;
}

/* 1 and its GUID when it is imported, 0 when it is not (also when no ZFS runs that could hold it). */
static int find_pool(const char *name, char **ret_guid, struct err *e)
{
	struct proc_result r;
	int found = -1;

	if (zpool_ask((const char *const[]){"list", "-H", "-o", "guid", name, NULL}, &r, e))
		return -1;
	if (r.exit_status == 0) {
		*ret_guid = xstrndup(buf_str(&r.out), strcspn(buf_str(&r.out), "\n"));
		found = 1;
	} else if (strstr(buf_str(&r.err), "no such pool") ||
		   strstr(buf_str(&r.err), "failed to initialize ZFS") ||
		   strstr(buf_str(&r.err), "modules cannot be auto-loaded") ||
		   strstr(buf_str(&r.err), "modules are not loaded")) {
		found = 0;
	} else {
		err_set(e, ERR_FAILED, "zpool list %s: %.300s", name, buf_str(&r.err));
	}
	proc_result_free(&r);
	return found;
}

static int leaf_is_ours(const struct undo_ctx *u, const struct zpool_leaf *leaf)
{
	struct device_key key, ours;

	/* A device that is missing from the system cannot be somebody else's that we would harm. */
	if (device_key_of_leaf(leaf->name, &key))
		return 1;
	for (size_t i = FIRST_DEVICE; i < u->entry->undo.args.n; i++)
		if (!device_key_of(device_of(u->entry->undo.args.v[i]), &ours) &&
			device_key_equal(&key, &ours))
			return 1;
	return 0;
}

static int check_leaves(const struct undo_ctx *u, const struct zpool_leaves *leaves, struct err *e)
{
	size_t n = 0;

	for (size_t i = 0; i < leaves->n; i++) {
		const struct zpool_leaf *leaf = &leaves->v[i];

		if (strcmp(leaf->pool, pool_name(u)))
			continue;
		n++;
		if (!leaf_is_ours(u, leaf))
			return err_set(e, ERR_WRONG_STATE,
				"the pool %s stands on %s, which is not one of the devices that it was "
				"made of; it is left alone",
				pool_name(u), leaf->name);
	}
	if (n == 0 || n > u->entry->undo.args.n - FIRST_DEVICE)
		return err_set(e, ERR_WRONG_STATE,
			"the pool %s has %zu devices, it was made of %zu; it is left alone",
			pool_name(u), n, u->entry->undo.args.n - FIRST_DEVICE);
	return 0;
}

/* OpenZFS shortens names to nothing that could be found again unless asked for paths. */
static int check_devices(const struct undo_ctx *u, struct err *e)
{
	struct zpool_leaves leaves = {0};
	struct proc_result r;
	int status;

	if (zpool_ask((const char *const[]){"status", "-P", pool_name(u), NULL}, &r, e))
		return -1;
	if (r.exit_status == 2) {
		proc_result_free(&r);
		if (zpool_ask((const char *const[]){"status", pool_name(u), NULL}, &r, e))
			return -1;
	}
	status = zpool_status_parse(buf_str(&r.out), &leaves, e);
	if (!status)
		status = check_leaves(u, &leaves, e);
	zpool_leaves_free(&leaves);
	proc_result_free(&r);
	return status;
}

static int destroy(struct undo_ctx *u, struct err *e)
{
	struct step s;

	step_start(&s, PHASE_TEARDOWN, "destroy the pool %s", pool_name(u));
	step_words(&s, "zpool", "destroy", pool_name(u), NULL);
	s.deadline_ms = STEP_LONG_MS;
	s.retries = BUSY_RETRIES;
	return step_run(u->volume, &s, NULL, e);
}

/* Mounts whose daemon has died stay in the list, answer nothing and block the next import. */
static int detach_dead_mounts(struct undo_ctx *u, struct err *e)
{
	struct mounts m;
	int status = 0;

	if (mounts_read(&m, e))
		return -1;
	for (size_t i = m.n; i-- > 0 && !status;) {
		struct statfs fs;
		struct step s;

		/* Attributes may come from the kernel's cache; this question always goes to the daemon. */
		if (!holders_is_of_pool(m.v[i].source, pool_name(u)) || statfs(m.v[i].point, &fs) == 0)
			continue;
		if (errno != ENOTCONN && errno != ECONNABORTED)
			continue;
		step_start(&s, PHASE_TEARDOWN, "detach the dead mount %s", m.v[i].point);
		step_words(&s, "umount", "-l", "--", m.v[i].point, NULL);
		status = step_run(u->volume, &s, NULL, e);
	}
	mounts_free(&m);
	return status;
}

static int destroy_if_there(struct undo_ctx *u, struct err *e)
{
	const char *noted = noted_value(u, "guid");
	char *guid = NULL;
	struct err later;
	int found, status;

	if (!str_starts(pool_name(u), "am_"))
		return err_set(e, ERR_WRONG_STATE, "%s is not a name of ours; it is left alone",
			pool_name(u));
	if (detach_dead_mounts(u, e))
		return -1;
	found = find_pool(pool_name(u), &guid, e);
	if (found <= 0)
		return found;
	if (noted && strcmp(noted, guid))
		status = err_set(e, ERR_WRONG_STATE,
			"a pool named %s has GUID %s, ours had %s; it is left alone", pool_name(u), guid,
			noted);
	else
		status = check_devices(u, e);
	free(guid);
	guid = NULL;
	/* A daemon that dies meanwhile fails the command and takes the pool with it. */
	if (!status && destroy(u, e) && find_pool(pool_name(u), &guid, &later) != 0) {
		holders_explain_pool(pool_name(u), u->entry->undo.args.v[1], e);
		status = -1;
	}
	free(guid);
	return !status && detach_dead_mounts(u, e) ? -1 : status;
}

static int is_aux(const char *argument)
{
	return str_starts(argument, "spare=") || str_starts(argument, "cache=");
}

static int is_there(const struct undo_ctx *u, const char *device)
{
	if (u->volume->sink->preview || undo_device_is_ours(u, device))
		return 1;
	log_warning(device, "the device is gone; its labels of %s stay on it", pool_name(u));
	return 0;
}

static void start_clearing(const struct undo_ctx *u, const char *kind, struct step *s)
{
	const char *guid = noted_value(u, "guid");

	step_start(s, PHASE_TEARDOWN, "clear the labels of %s", pool_name(u));
	step_words(s, u->volume->self, "clear-labels", "--kind", kind, "--name", pool_name(u), NULL);
	if (guid)
		step_words(s, "--guid", guid, NULL);
	s->deadline_ms = STEP_LONG_MS;
	s->retries = BUSY_RETRIES;
}

/* zpool destroy leaves every label on its device. */
static int clear_labels(struct undo_ctx *u, struct err *e)
{
	size_t n = 0;
	struct step s;

	start_clearing(u, "zfs", &s);
	strv_add(&s.argv, "--");
	for (size_t i = FIRST_DEVICE; i < u->entry->undo.args.n; i++) {
		const char *argument = u->entry->undo.args.v[i], *device = device_of(argument);

		if (is_aux(argument) || !is_there(u, device))
			continue;
		strv_add(&s.argv, device);
		n++;
	}
	if (n)
		return step_run(u->volume, &s, NULL, e);
	step_clear(&s);
	return 0;
}

/* The at-th word of the list (from 0); NULL when there is none or it is 0. The caller frees. */
static char *guid_at(const char *list, size_t at)
{
	size_t len;

	for (; list && at; at--) {
		list = strchr(list, ' ');
		list += list != NULL;
	}
	len = list ? strcspn(list, " ") : 0;
	return len && strncmp(list, "0", len) != 0 ? xstrndup(list, len) : NULL;
}

/* Spares and cache devices have labels without the pool's name and GUID, but with one of the device's own,
 * which a cache device gets anew at each import. So from those, and where it was not noted - we were
 * killed right after the pool was made - any such label goes: the journal says that the device was given
 * to the pool, and nothing uses it. */
static int clear_aux_labels(struct undo_ctx *u, struct err *e)
{
	const char *guids = noted_value(u, "spare-guids");
	size_t n = 0;
	int status = 0;

	for (size_t i = FIRST_DEVICE; i < u->entry->undo.args.n && !status; i++) {
		const char *argument = u->entry->undo.args.v[i], *device = device_of(argument);
		struct step s;
		char *guid;

		if (!is_aux(argument))
			continue;
		guid = str_starts(argument, "spare=") ? guid_at(guids, n++) : NULL;
		if (is_there(u, device)) {
			start_clearing(u, "zfs-spare", &s);
			if (guid)
				step_words(&s, "--device-guid", guid, NULL);
			step_words(&s, "--", device, NULL);
			status = step_run(u->volume, &s, NULL, e);
		}
		free(guid);
	}
	return status;
}

/* zpool makes the mount point and leaves it. */
static int remove_mount_point(struct undo_ctx *u, struct err *e)
{
	const char *point = u->entry->undo.args.v[1];
	struct mounts m;
	struct step s;
	int mounted;

	if (!u->volume->sink->preview) {
		if (access(point, F_OK))
			return 0;
		if (mounts_read(&m, e))
			return -1;
		mounted = mounts_at(&m, point) != NULL;
		mounts_free(&m);
		if (mounted)
			return err_set(e, ERR_WRONG_STATE, "something is mounted at %s still", point);
	}
	step_start(&s, PHASE_TEARDOWN, "remove the mount point %s", point);
	step_words(&s, "rmdir", "--", point, NULL);
	return step_run(u->volume, &s, NULL, e);
}

int undo_pool(struct undo_ctx *u, struct err *e)
{
	int preview = u->volume->sink->preview;

	if (preview ? destroy(u, e) : destroy_if_there(u, e))
		return -1;
	if (remove_mount_point(u, e) || clear_labels(u, e))
		return -1;
	return clear_aux_labels(u, e);
}
