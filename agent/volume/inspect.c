/*
 * The inventory of a host. Owns what it fills until it hands it over.
 * Invariant: nothing here writes; what cannot be read of a disk makes it one that is in use.
 */
#include "agent/volume/inspect.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/policy/policy_check.h"
#include "agent/volume/candidates.h"
#include "agent/volume/device.h"
#include "agent/volume/environment.h"
#include "agent/volume/inspect_system.h"
#include "agent/volume/lsblk.h"
#include "agent/volume/sysfs.h"
#include "agent/volume/usage.h"
#include "common/base/mem.h"

/* lsblk knows serials from udev's database; where no udev runs, the devices are asked. */
static void complete_names(struct blockdevs *all)
{
	for (size_t i = 0; i < all->n; i++) {
		struct blockdev *b = &all->v[i];

		if (strcmp(b->type, "disk"))
			continue;
		if (!b->serial)
			b->serial = sysfs_serial(b->kernel);
		if (!b->wwn)
			b->wwn = sysfs_wwn(b->kernel);
	}
}

static int fill_disk(const struct policy *policy, struct usage *u, const char *first_path,
	struct inv_disk *d, struct err *e)
{
	char *why = NULL;

	d->path = sysfs_stable_path(d->name);
	sysfs_place(first_path ? first_path : d->name, d);
	environment_of_disk("", first_path ? first_path : d->name, d);
	d->allowed = policy && policy_allows(&policy->disks, d);
	if (usage_of_disk(u, d->name, &why, &d->signatures, e))
		return -1;
	if (d->in_use)
		free(why);
	else
		d->in_use = why;
	return 0;
}

/* The host's disks as lsblk knows them, before anybody looks at one. first_path as in candidates_find;
 * caller frees it, all and the disks. */
static int list_disks(struct blockdevs *all, struct inventory *inv, const char ***first_path,
	struct err *e)
{
	if (lsblk_read(NULL, all, e))
		return -1;
	complete_names(all);
	inv->disks = xcalloc(all->n + 1, sizeof(*inv->disks));
	*first_path = xcalloc(all->n + 1, sizeof(**first_path));
	inv->n_disks = candidates_find(all, inv->disks, *first_path);
	for (size_t i = INVENTORY_MAX_DISKS; i < inv->n_disks; i++)
		inv_disk_clear(&inv->disks[i]);
	if (inv->n_disks > INVENTORY_MAX_DISKS)
		inv->n_disks = INVENTORY_MAX_DISKS;
	return 0;
}

static int inspect_disks(const struct policy *policy, struct inventory *inv, struct err *e)
{
	struct blockdevs all = {0};
	const char **first_path = NULL;
	struct usage u;
	int status;

	if (usage_read(&u, e))
		return -1;
	status = list_disks(&all, inv, &first_path, e);
	for (size_t i = 0; i < inv->n_disks && !status; i++)
		status = fill_disk(policy, &u, first_path[i], &inv->disks[i], e);
	free(first_path);
	usage_clear(&u);
	blockdevs_free(&all);
	return status;
}

int inspect_host(const struct policy *policy, struct inventory *ret, struct err *e)
{
	struct inventory inv = {0};

	inspect_system(&inv);
	if (policy) {
		strv_copy(&inv.tags, &policy->tags);
		inv.scratch_limit = policy->scratch_directory ? (uint64_t)policy->scratch_limit : 0;
	}
	if (inspect_zfs(&inv, e) || inspect_disks(policy, &inv, e)) {
		inventory_clear(&inv);
		return -1;
	}
	*ret = inv;
	return 0;
}

static const char *word(const char *s)
{
	return s ? s : "none";
}

/* What the path leads to now is the disk that it led to when the inventory was made. */
static int check_identity(const struct inv_disk *d, const struct inv_disk *now, struct err *e)
{
	if (!now)
		return err_set(e, ERR_WRONG_STATE, "%s is no disk of its own any more", d->path);
	if (now->bytes != d->bytes || !str_equal(now->wwn, d->wwn) ||
		!str_equal(now->serial, d->serial))
		return err_set(e, ERR_WRONG_STATE,
			"%s is not the disk that it was: serial %s, WWN %s now; was %s, %s", d->path,
			word(now->serial), word(now->wwn), word(d->serial), word(d->wwn));
	if (now->in_use)
		return err_set(e, ERR_BUSY, "the disk %s is in use: %s", d->path, now->in_use);
	return 0;
}

static int look_again(const struct inv_disk *d, const char *kernel, struct err *e)
{
	struct inventory inv = {0};
	const struct inv_disk *now = NULL;
	struct blockdevs all = {0};
	const char **first_path = NULL;
	int status;

	status = list_disks(&all, &inv, &first_path, e);
	for (size_t i = 0; i < inv.n_disks; i++)
		if (!strcmp(inv.disks[i].name, kernel))
			now = &inv.disks[i];
	if (!status)
		status = check_identity(d, now, e);
	free(first_path);
	blockdevs_free(&all);
	inventory_clear(&inv);
	return status;
}

static int check_usage(const struct inv_disk *d, const char *kernel, struct strv *sigs,
	struct err *e)
{
	struct usage u;
	char *why = NULL;
	int status;

	if (usage_read(&u, e))
		return -1;
	status = usage_of_disk(&u, kernel, &why, sigs, e);
	usage_clear(&u);
	if (!status && why)
		status = err_set(e, ERR_BUSY, "the disk %s (%s) is in use: %s", d->path, kernel, why);
	free(why);
	return status;
}

int inspect_disk(const struct inv_disk *d, struct strv *sigs, struct err *e)
{
	char *kernel = device_kernel_name(d->path);
	int status;

	if (!kernel)
		return err_set(e, ERR_NOTFOUND, "the disk %s is gone", d->path);
	status = look_again(d, kernel, e) || check_usage(d, kernel, sigs, e) ? -1 : 0;
	free(kernel);
	return status;
}
