/*
 * What a layout stands on, right before the first write: scratch disks are made, bound disks are
 * looked at once more.
 * Invariant: a bound disk is handed out only if it is the one that the id names, the policy names
 * it, nobody holds it, and no signature is on it that plan and policy did not both give away; all
 * of a layout's disks are looked at before anything is wiped.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/policy/policy_check.h"
#include "agent/volume/device.h"
#include "agent/volume/driver.h"
#include "agent/volume/inspect.h"
#include "agent/volume/signatures.h"
#include "common/base/mem.h"

void stage_disks_add(struct stage_disks *d, const char *role, unsigned group, const char *device,
	const char *kernel)
{
	d->v = xreallocarray(d->v, d->n + 1, sizeof(*d->v));
	d->v[d->n++] = (struct stage_disk){role, group, xstrdup(device), xstrdup(kernel), -1};
}

void stage_disks_free(struct stage_disks *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->v[i].device);
		free(d->v[i].kernel);
		if (d->v[i].pin >= 0)
			close(d->v[i].pin);
	}
	free(d->v);
	*d = (struct stage_disks){0};
}

static int check_pin(const char *path, int pin, struct err *e)
{
	struct stat now, then;

	if (stat(path, &now) || fstat(pin, &then))
		return err_sys(e, "cannot look at %s", path);
	if (!S_ISBLK(now.st_mode) || now.st_rdev != then.st_rdev)
		return err_set(e, ERR_WRONG_STATE,
			"%s leads to another device than the one that was looked at: nothing is "
			"written to it",
			path);
	return 0;
}

int stage_disks_check(const struct stage_disks *d, struct err *e)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].pin >= 0 && check_pin(d->v[i].device, d->v[i].pin, e))
			return -1;
	return 0;
}

/* The words are static here, and a peer's ones that nobody knows end up nowhere. */
static const char *role_of(const char *word)
{
	static const char *const roles[] = {"data", "special", "log", "cache", "spare", "fs"};

	for (size_t i = 0; i < ARRAY_LEN(roles); i++)
		if (!strcmp(word, roles[i]))
			return roles[i];
	return NULL;
}

/* In a preview what the inventory knows stands for a new look. */
static int look(struct volume_ctx *ctx, const struct inv_disk *d, struct strv *sigs, struct err *e)
{
	if (!ctx->sink->preview)
		return inspect_disk(d, sigs, e);
	if (d->in_use)
		return err_set(e, ERR_BUSY, "the disk %s is in use: %s", d->path, d->in_use);
	for (size_t i = 0; i < d->signatures.n; i++)
		strv_add(sigs, d->signatures.v[i]);
	return 0;
}

static int check_consent(struct volume_ctx *ctx, const struct inv_disk *d, const struct strv *sigs,
	struct err *e)
{
	for (size_t i = 0; i < sigs->n; i++)
		if (!strv_has(&ctx->plan->wipe, sigs->v[i]))
			return err_set(e, ERR_DENIED,
				"the disk %s carries %s: if that may go, name it in the plan's wipe",
				d->path, sigs->v[i]);
	return policy_check_disk(ctx->policy, d, sigs->n > 0, e);
}

static int clear_zfs(struct volume_ctx *ctx, const struct inv_disk *d, const char *signature,
	struct err *e)
{
	const char *pool = str_starts(signature, "zfs:") ? signature + strlen("zfs:") : NULL;
	struct step s;

	step_start(&s, PHASE_BUILD, "wipe %s from %s, as plan and policy allow", signature, d->path);
	step_words(&s, ctx->self, "clear-labels", "--kind", pool ? "zfs" : "zfs-spare", NULL);
	if (pool)
		step_words(&s, "--name", pool, NULL);
	step_words(&s, "--", d->path, NULL);
	return step_run(ctx, &s, NULL, e);
}

/* Partitions first: what is on them would show again under a new table. */
static int wipe_rest(struct volume_ctx *ctx, const struct inv_disk *d, const struct strv *sigs,
	struct err *e)
{
	struct strv parts = {0};
	struct step s;
	size_t others = 0;
	char *kernel;

	for (size_t i = 0; i < sigs->n; i++)
		others += !str_starts(sigs->v[i], "zfs");
	if (!others)
		return 0;
	step_start(&s, PHASE_BUILD, "wipe the other signatures of %s, as plan and policy allow",
		d->path);
	step_words(&s, "wipefs", "-a", "-q", "--", NULL);
	kernel = device_kernel_name(d->path);
	device_partitions(kernel ? kernel : d->name, &parts);
	free(kernel);
	for (size_t i = 0; i < parts.n; i++)
		strv_addf(&s.argv, "/dev/%s", parts.v[i]);
	strv_free(&parts);
	strv_add(&s.argv, d->path);
	return step_run(ctx, &s, NULL, e);
}

static int wipe(struct volume_ctx *ctx, const struct inv_disk *d, const struct strv *sigs,
	struct err *e)
{
	struct strv left = {0};
	int status = 0;

	for (size_t i = 0; i < sigs->n && !status; i++)
		if (str_starts(sigs->v[i], "zfs"))
			status = clear_zfs(ctx, d, sigs->v[i], e);
	if (!status)
		status = wipe_rest(ctx, d, sigs, e);
	if (status || ctx->sink->preview)
		return status;
	status = inspect_disk(d, &left, e);
	if (!status && left.n)
		status = err_set(e, ERR_FAILED, "the disk %s still carries %s after it was wiped",
			d->path, left.v[0]);
	strv_free(&left);
	return status;
}

struct bound {
	const struct inv_disk *disk;
	struct strv sigs;
};

/* While it is open its kernel name cannot become another disk's. */
static int pin_disk(const char *path, int *ret, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 && errno == ENOENT)
		return err_set(e, ERR_NOTFOUND, "the disk %s is gone", path);
	if (fd < 0)
		return err_sys(e, "cannot open the disk %s", path);
	*ret = fd;
	return 0;
}

static int check_one(struct volume_ctx *ctx, const struct bound_disks *b, const char *id,
	struct bound *out, struct stage_disks *ret, struct err *e)
{
	const struct inv_disk *d = ctx->inv ? inventory_find(ctx->inv, id) : NULL;
	const char *role = role_of(b->role);
	char *kernel;
	int pin = -1;

	if (!role)
		return err_set(e, ERR_INPUT, "nothing here uses disks as '%s'", b->role);
	if (!d)
		return err_set(e, ERR_NOTFOUND, "the disk %s is not in this host any more", id);
	for (size_t i = 0; i < ret->n; i++)
		if (!strcmp(ret->v[i].device, d->path))
			return err_set(e, ERR_INPUT, "the disk %s is bound twice", id);
	if (!ctx->sink->preview && pin_disk(d->path, &pin, e))
		return -1;
	kernel = ctx->sink->preview ? NULL : device_kernel_name(d->path);
	stage_disks_add(ret, role, b->group, d->path, kernel);
	ret->v[ret->n - 1].pin = pin;
	free(kernel);
	out->disk = d;
	if (look(ctx, d, &out->sigs, e) || check_consent(ctx, d, &out->sigs, e))
		return -1;
	return pin < 0 ? 0 : check_pin(d->path, pin, e);
}

static size_t count_bound(const struct volume_ctx *ctx)
{
	size_t n = 0;

	for (size_t i = 0; i < ctx->n_disks; i++)
		if (ctx->disks[i].layout == ctx->unit.layout)
			n += ctx->disks[i].ids.n;
	return n;
}

static int check_all(struct volume_ctx *ctx, struct bound *v, struct stage_disks *ret,
	struct err *e)
{
	size_t n = 0;

	for (size_t i = 0; i < ctx->n_disks; i++) {
		const struct bound_disks *b = &ctx->disks[i];

		for (size_t k = 0; b->layout == ctx->unit.layout && k < b->ids.n; k++)
			if (check_one(ctx, b, b->ids.v[k], &v[n++], ret, e))
				return -1;
	}
	return 0;
}

int stage_disks_prepare(struct volume_ctx *ctx, const struct layout *l, struct stage_disks *ret,
	struct err *e)
{
	struct bound *v;
	size_t n;
	int status;

	if (l->scratch.disks)
		return scratch_prepare(ctx, l, ret, e);
	n = count_bound(ctx);
	if (!ctx->policy)
		return err_set(e, ERR_DENIED, "without a policy no disk may be used");
	if (!n)
		return err_set(e, ERR_INPUT, "no disks are bound to it");
	v = xcalloc(n, sizeof(*v));
	status = check_all(ctx, v, ret, e);
	for (size_t i = 0; i < n && !status; i++)
		if (v[i].sigs.n)
			status = stage_disks_check(ret, e) || wipe(ctx, v[i].disk, &v[i].sigs, e) ? -1 : 0;
	for (size_t i = 0; i < n; i++)
		strv_free(&v[i].sigs);
	free(v);
	return status;
}
