/*
 * The driver for ZFS pools. A pool gets a generated name, a mount point under the agent's private
 * root, no cache file, and is known by its GUID.
 * Invariant: a pool is imported only by its GUID and only from a folder of links to exactly the
 * devices it was made of.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/volume/driver.h"
#include "agent/volume/holders.h"
#include "agent/volume/zpool.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/proc.h"

static int is_for(const struct layout *l)
{
	return l->pool != NULL;
}

/* A pool of that name is nobody's but its owner's: it must not get into our journal. No ZFS that
 * answers has no pool; creating one tells what is wrong then. */
static int check_name_is_free(struct volume_ctx *ctx, const char *name, struct err *e)
{
	struct proc_result r;
	int status = 0;

	if (ctx->sink->preview || !zpool_is_installed())
		return 0;
	if (zpool_ask((const char *const[]){"list", "-H", "-o", "name", name, NULL}, &r, e))
		return -1;
	if (r.exit_status == 0)
		status = err_set(e, ERR_EXISTS,
			"there is a pool named %s already, and it is not ours: it is left alone; rename "
			"or export it, or file the plan again (each run has names of its own)",
			name);
	proc_result_free(&r);
	return status;
}

/* The undo entry names the pool, its mount point and its devices with their roles. */
static int create(struct volume_ctx *ctx, const struct pool_stage *p, const struct stage_disks *disks,
	const struct volume *v, struct err *e)
{
	struct step s;

	if (stage_disks_check(disks, e))
		return -1;
	step_start(&s, PHASE_BUILD, "create the pool %s", v->name);
	zpool_create_vector(p, disks, v->name, ctx->mount_root, &s.argv);
	step_undo(&s, "pool", v->name, v->mount, NULL);
	for (size_t i = 0; i < disks->n; i++)
		strv_addf(&s.undo.args, "%s=%s", disks->v[i].role, disks->v[i].device);
	s.deadline_ms = STEP_LONG_MS;
	return step_run(ctx, &s, NULL, e);
}

static int read_guid(struct volume_ctx *ctx, const char *name, char **ret, struct err *e)
{
	struct buf out = {0};
	struct step s;

	step_start(&s, PHASE_BUILD, "read the GUID of %s", name);
	step_words(&s, "zpool", "list", "-H", "-o", "guid", name, NULL);
	s.dry_output = "<guid>";
	s.note = "guid";
	if (step_run(ctx, &s, &out, e))
		return -1;
	*ret = xstrndup(buf_str(&out), strcspn(buf_str(&out), "\n"));
	buf_free(&out);
	return 0;
}

/* So that their labels, which name no pool, are known again. There is nothing to tell before they are
 * made; where it cannot be told, or we are killed before, what the journal says of the device is all that
 * is known of it. Cache devices get another GUID at each import. */
static int read_spare_guids(struct volume_ctx *ctx, const struct stage_disks *disks, const char *name,
	struct err *e)
{
	struct buf dry = {0};
	struct step s;
	size_t n = 0;
	int status = 0;

	step_start(&s, PHASE_BUILD, "read the GUIDs of the spares of %s", name);
	step_words(&s, ctx->self, "label-guids", "--", NULL);
	for (size_t i = 0; i < disks->n; i++)
		if (!strcmp(disks->v[i].role, "spare")) {
			strv_add(&s.argv, disks->v[i].device);
			buf_addf(&dry, "%s<guid%zu>", n ? " " : "", n + 1);
			n++;
		}
	s.dry_output = buf_str(&dry);
	s.note = "spare-guids";
	if (n)
		status = step_run(ctx, &s, NULL, e);
	else
		step_clear(&s);
	buf_free(&dry);
	return status;
}

/* Made before the pool, so that it is taken away after it: the imported pool's paths lead through. */
static int make_links_folder(struct volume_ctx *ctx, struct volume *v, struct err *e)
{
	char *dir = xasprintf("%s/%s.devices", ctx->state_dir, v->name);
	struct step s;
	int status;

	step_start(&s, PHASE_BUILD, "make the folder of links to the pool's devices, %s", dir);
	step_words(&s, "mkdir", "-m", "0700", "--", dir, NULL);
	step_undo(&s, "links", dir, NULL);
	strv_add(&v->import_dirs, dir);
	status = step_run(ctx, &s, NULL, e);
	free(dir);
	return status;
}

/* OpenZFS partitions a whole disk and puts the pool on the first partition: its link is needed. */
static void add_partition(struct strv *argv, const char *device)
{
	const char *const forms[] = {"-part1", "p1", "1"};
	int by_link = str_starts(device, "/dev/disk/") || str_starts(device, "/dev/mapper/");

	for (size_t i = by_link ? 0 : 1; i < (by_link ? 1 : ARRAY_LEN(forms)); i++) {
		char *path = xasprintf("%s%s", device, forms[i]);
		int found = str_starts(device, "/dev/") && access(path, F_OK) == 0;

		if (found)
			strv_add(argv, path);
		free(path);
		if (found)
			return;
	}
}

static int make_links(struct volume_ctx *ctx, const struct stage_disks *disks,
	const struct volume *v, struct err *e)
{
	struct step s;

	step_start(&s, PHASE_BUILD, "link the pool's devices in %s", v->import_dirs.v[0]);
	step_words(&s, "ln", "-s", "-t", v->import_dirs.v[0], "--", NULL);
	for (size_t i = 0; i < disks->n; i++) {
		strv_add(&s.argv, disks->v[i].device);
		if (!ctx->sink->preview && !disks->scratch)
			add_partition(&s.argv, disks->v[i].device);
	}
	return step_run(ctx, &s, NULL, e);
}

/* A dataset is there for workloads: its root belongs to them. */
static int give_dataset(struct volume_ctx *ctx, const char *pool, const char *dataset, struct err *e)
{
	char *path = xasprintf("%s/%s/%s", ctx->mount_root, pool, dataset);
	int status = volume_give_folder(ctx, path, e);

	free(path);
	return status;
}

static int make_datasets(struct volume_ctx *ctx, const struct pool_stage *p, const char *pool,
	struct err *e)
{
	for (size_t i = 0; i < p->n_datasets; i++) {
		const struct dataset *d = &p->datasets[i];
		struct step s;

		step_start(&s, PHASE_BUILD, "make the dataset %s/%s", pool, d->name);
		step_words(&s, "zfs", "create", NULL);
		for (size_t k = 0; k < d->n_props; k++) {
			strv_add(&s.argv, "-o");
			strv_addf(&s.argv, "%s=%s", d->props[k].name, d->props[k].value);
		}
		strv_addf(&s.argv, "%s/%s", pool, d->name);
		if (step_run(ctx, &s, NULL, e) || give_dataset(ctx, pool, d->name, e))
			return -1;
	}
	return 0;
}

static void describe_identity(const struct pool_stage *p, const struct stage_disks *disks,
	struct volume *v)
{
	const struct vdev_group *g = &p->vdevs[0];
	unsigned data = 0;

	for (size_t i = 0; i < disks->n; i++) {
		data += !strcmp(disks->v[i].role, "data");
		if (!strcmp(disks->v[i].role, "cache"))
			strv_add(&v->cache_devices, disks->v[i].device);
		if (disks->v[i].kernel)
			strv_add(&v->disks, disks->v[i].kernel);
	}
	v->buffered_disks = disks->buffered;
	v->identity = xasprintf("pool %s, GUID %s, %s over %u %sdisks%s", v->name, v->guid,
		*g->level_text ? g->level_text : "stripe", data, disks->scratch ? "scratch " : "",
		disks->buffered ? " (their files go through the page cache)" : "");
}

static int finish(struct volume_ctx *ctx, struct volume *v, struct err *e)
{
	if (volume_bench_folder(ctx, v->directory, "", e))
		return -1;
	if (ctx->sink->preview)
		return 0;
	if (volume_describe(v, e))
		return -1;
	return volume_check(ctx, v, e);
}

static int build_on(struct volume_ctx *ctx, const struct pool_stage *p,
	const struct stage_disks *disks, struct volume *v, struct err *e)
{
	if (make_links_folder(ctx, v, e) || create(ctx, p, disks, v, e) ||
		read_guid(ctx, v->name, &v->guid, e) || read_spare_guids(ctx, disks, v->name, e) ||
		make_links(ctx, disks, v, e) ||
		make_datasets(ctx, p, v->name, e))
		return -1;
	describe_identity(p, disks, v);
	return finish(ctx, v, e);
}

static int build(struct volume_ctx *ctx, const struct layout *l, struct volume *ret, struct err *e)
{
	struct stage_disks disks = {0};
	int status;

	ret->kind = VOLUME_POOL;
	ret->name = volume_name(ctx);
	ret->mount = xasprintf("%s/%s", ctx->mount_root, ret->name);
	ret->directory = xasprintf("%s/bench", ret->mount);
	status = volume_make_folder(ctx, ctx->mount_root, "0755", e);
	if (!status)
		status = check_name_is_free(ctx, ret->name, e);
	if (!status)
		status = stage_disks_prepare(ctx, l, &disks, e);
	if (!status)
		status = build_on(ctx, l->pool, &disks, ret, e);
	stage_disks_free(&disks);
	return status;
}

/* "123456<tab>ONLINE": the pool of that name is ours still, not a later one's, and whole. */
static int check_line(const struct volume *v, const char *line, struct err *e)
{
	int guid = (int)strcspn(line, "\t\n"), health;
	const char *word = line + guid + (line[guid] == '\t');

	health = (int)strcspn(word, "\t\n");
	if (strlen(v->guid) != (size_t)guid || strncmp(line, v->guid, (size_t)guid))
		return err_set(e, ERR_WRONG_STATE,
			"the pool %s has GUID %.*s, it was built with %s: another pool has its name",
			v->name, guid, line, v->guid);
	if (health != (int)strlen("ONLINE") || strncmp(word, "ONLINE", (size_t)health))
		return err_set(e, ERR_WRONG_STATE,
			"the pool %s is %.*s: it lost a disk since it was built", v->name, health, word);
	return 0;
}

static int check_pool(const struct volume *v, struct err *e)
{
	struct strv argv = {0};
	struct buf out = {0};
	const char *zpool = fs_find_program("zpool");
	int status;

	if (!zpool)
		return err_set(e, ERR_NOTFOUND, "the program 'zpool' is not installed here any more");
	strv_add(&argv, zpool);
	strv_add_all(&argv, (const char *const[]){"list", "-H", "-o", "guid,health", v->name, NULL});
	status = proc_run_ok(&argv, 0, &out, e);
	if (status) {
		e->code = ERR_WRONG_STATE;
		err_prefix(e, "the pool %s cannot be seen any more", v->name);
	} else {
		status = check_line(v, buf_str(&out), e);
	}
	strv_free(&argv);
	buf_free(&out);
	return status;
}

static int check(struct volume_ctx *ctx, const struct volume *v, struct err *e)
{
	(void)ctx;
	return volume_check_mount(v, v->name, e) || check_pool(v, e) ? -1 : 0;
}

static int export_pool(struct volume_ctx *ctx, const struct volume *v, struct err *e)
{
	struct step s;

	step_start(&s, PHASE_CACHE, "export the pool %s", v->name);
	step_words(&s, "zpool", "export", v->name, NULL);
	s.deadline_ms = STEP_LONG_MS;
	s.retries = BUSY_RETRIES;
	if (step_run(ctx, &s, NULL, e) == 0)
		return 0;
	holders_explain_pool(v->name, v->mount, e);
	return -1;
}

static int import_pool(struct volume_ctx *ctx, const struct volume *v, struct err *e)
{
	struct step s;

	step_start(&s, PHASE_CACHE, "import the pool %s by its GUID", v->name);
	step_words(&s, "zpool", "import", NULL);
	for (size_t i = 0; i < v->import_dirs.n; i++)
		step_words(&s, "-d", v->import_dirs.v[i], NULL);
	step_words(&s, "-o", "cachefile=none", "-R", ctx->mount_root, v->guid, NULL);
	s.deadline_ms = STEP_LONG_MS;
	s.retries = BUSY_RETRIES;
	return step_run(ctx, &s, NULL, e);
}

/* What a cache vdev holds is found again after an import (OpenZFS 2.0 and later keep it): only a vdev
 * that was taken out and put in anew is empty. */
static int remove_caches(struct volume_ctx *ctx, const struct volume *v, struct err *e)
{
	struct step s;

	if (!v->cache_devices.n)
		return 0;
	step_start(&s, PHASE_CACHE, "take the cache devices out of %s", v->name);
	step_words(&s, "zpool", "remove", v->name, NULL);
	for (size_t i = 0; i < v->cache_devices.n; i++)
		strv_add(&s.argv, v->cache_devices.v[i]);
	s.deadline_ms = STEP_LONG_MS;
	s.retries = BUSY_RETRIES;
	return step_run(ctx, &s, NULL, e);
}

static int add_caches(struct volume_ctx *ctx, const struct volume *v, struct buf *done, struct err *e)
{
	struct step s;

	if (!v->cache_devices.n)
		return 0;
	step_start(&s, PHASE_CACHE, "put the cache devices into %s again", v->name);
	step_words(&s, "zpool", "add", v->name, "cache", NULL);
	for (size_t i = 0; i < v->cache_devices.n; i++)
		strv_add(&s.argv, v->cache_devices.v[i]);
	s.deadline_ms = STEP_LONG_MS;
	if (step_run(ctx, &s, NULL, e))
		return -1;
	buf_addf(done, ", %zu cache device%s taken out and put in again", v->cache_devices.n,
		v->cache_devices.n == 1 ? "" : "s");
	return 0;
}

static void unpin_caches(int *pins, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (pins[i] >= 0)
			close(pins[i]);
	free(pins);
}

/* Open while they are out of the pool, which kept their names until then: so that what is put in again is
 * what was taken out, and no disk that came by that name meanwhile. *ret is for unpin_caches. */
static int pin_caches(const struct volume *v, int **ret, struct err *e)
{
	int *pins = xcalloc(v->cache_devices.n + 1, sizeof(*pins));

	for (size_t i = 0; i < v->cache_devices.n; i++) {
		pins[i] = open(v->cache_devices.v[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (pins[i] < 0) {
			err_sys(e, "cannot open the cache device %s", v->cache_devices.v[i]);
			unpin_caches(pins, i);
			return -1;
		}
	}
	*ret = pins;
	return 0;
}

static int empty_caches(struct volume_ctx *ctx, struct volume *v, struct buf *done, struct err *e)
{
	int over_fuse = v->filesystem && str_starts(v->filesystem, "fuse");

	if (remove_caches(ctx, v, e) || export_pool(ctx, v, e))
		return -1;
	buf_adds(done, "pool exported and imported by GUID");
	if ((over_fuse || v->buffered_disks) && volume_drop_caches(ctx, done, e))
		return -1;
	return import_pool(ctx, v, e) || add_caches(ctx, v, done, e) ? -1 : 0;
}

/* Export and import empty the ARC; over FUSE and for buffered scratch files the page cache holds
 * the data too. */
static int make_cold(struct volume_ctx *ctx, struct volume *v, struct buf *done, struct err *e)
{
	int *pins, status;

	if (ctx->sink->preview)
		return empty_caches(ctx, v, done, e);
	if (check(ctx, v, e) || pin_caches(v, &pins, e))
		return -1;
	status = empty_caches(ctx, v, done, e);
	unpin_caches(pins, v->cache_devices.n);
	if (status)
		return -1;
	if (volume_describe(v, e))
		return -1;
	return check(ctx, v, e);
}

const struct volume_driver zfs_driver = {"zfs", is_for, build, check, make_cold};
