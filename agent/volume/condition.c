/*
 * What could disturb a trial, and what only the volume's file system tells. Owns nothing beyond a
 * call. Invariant: a program that fails or says something else leaves its fact unknown.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/controller/controller.h"
#include "agent/telemetry/conditions.h"
#include "agent/volume/below.h"
#include "agent/volume/device.h"
#include "agent/volume/mounts.h"
#include "agent/volume/volume.h"
#include "agent/volume/zfs_get.h"
#include "agent/volume/zpool.h"
#include "agent/volume/zpool_status.h"
#include "common/base/fs.h"
#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/proc.h"
#include "common/measure/evidence.h"
#include "common/plan/workload.h"

static int is_zfs(const struct volume *v)
{
	return str_equal(v->filesystem, "zfs") || str_equal(v->filesystem, "fuse.zfs");
}

static void found(void *arg, const char *what)
{
	conditions_add_maintenance(arg, what);
}

/* What the pools count of each device. */
static void read_pool_errors(const char *status, struct conditions *c)
{
	struct zpool_leaves leaves = {0};
	struct err ignored;

	if (zpool_status_parse(status, &leaves, &ignored))
		return;
	for (size_t i = 0; i < leaves.n; i++) {
		char *kernel = leaves.v[i].has_errors ? device_kernel_of_leaf(leaves.v[i].name) : NULL;

		if (kernel)
			conditions_add_pool_errors(c, kernel, leaves.v[i].errors);
		free(kernel);
	}
	zpool_leaves_free(&leaves);
}

/* Of all pools: a scrub of another one shares the controller and the CPUs. */
static void read_pools(struct conditions *c)
{
	struct proc_result r;
	struct err ignored;
	int known;

	if (zpool_ask((const char *const[]){"status", NULL}, &r, &ignored)) {
		c->has_maintenance = 0;
		return;
	}
	known = r.exit_status == 0 && zpool_running_parse(buf_str(&r.out), found, c) == 0;
	c->has_maintenance &= known;
	if (known)
		read_pool_errors(buf_str(&r.out), c);
	proc_result_free(&r);
}

/* The dataset that is mounted around the volume's folder; NULL when it cannot be told. */
static char *dataset_of(const struct volume *v)
{
	const struct mount_entry *around;
	struct err ignored;
	struct mounts m;
	char *name;

	if (mounts_read(&m, &ignored))
		return NULL;
	around = mounts_around(&m, v->directory);
	name = around && str_equal(around->type, v->filesystem) && *around->source != '/'
		       ? xstrdup(around->source)
		       : NULL;
	mounts_free(&m);
	return name;
}

struct told {
	struct conditions *c;
	const char *root; /* the dataset itself; those below it are called by the rest of their names */
};

static void take_property(void *arg, const char *dataset, const char *property, const char *value)
{
	struct told *t = arg;
	size_t len = strlen(t->root);
	const char *of = dataset[len] == '/' ? dataset + len + 1 : NULL;

	if (strncmp(dataset, t->root, len) || (dataset[len] && !of))
		return;
	if (zfs_is_cache_property(property))
		conditions_add_setting(t->c, of, property, value);
	else if (!of && strcmp(property, "compressratio") == 0)
		t->c->has_ratio = zfs_ratio_parse(value, &t->c->ratio_permille) == 0;
}

/* All properties: an older zfs refuses a list with one that it does not know. Of a pool of ours all
 * datasets; of others just the one that is mounted. */
static void read_properties(const struct volume *v, struct conditions *c)
{
	const char *zfs = fs_find_program("zfs");
	char *dataset = zfs ? dataset_of(v) : NULL;
	struct told t = {c, dataset};
	struct strv argv = {0};
	struct buf out = {0};
	struct err ignored;

	if (!dataset)
		return;
	strv_add(&argv, zfs);
	strv_add_all(&argv, (const char *const[]){"get", "-H", NULL});
	if (v->kind == VOLUME_POOL)
		strv_add(&argv, "-r");
	strv_add_all(&argv,
		(const char *const[]){"-o", "name,property,value", "all", dataset, NULL});
	if (proc_run_ok(&argv, 0, &out, &ignored) == 0)
		zfs_get_parse(buf_str(&out), take_property, &t);
	strv_free(&argv);
	buf_free(&out);
	free(dataset);
}

static void read_mount(const struct volume *v, struct conditions *c)
{
	const struct mount_entry *around;
	struct err ignored;
	struct mounts m;

	if (v->kind == VOLUME_NONE || mounts_read(&m, &ignored))
		return;
	around = mounts_around(&m, v->directory);
	if (around) {
		char *options = xasprintf("%s,%s", around->options, around->super_options);

		conditions_add_setting(c, NULL, "mount", options);
		free(options);
	}
	mounts_free(&m);
}

static void read_sources(const struct strv *paths, int is_written, struct conditions *c)
{
	struct strv found = {0};
	struct err ignored;
	char *real;

	for (size_t i = 0; i < paths->n; i++) {
		if (fs_realpath(paths->v[i], &real, &ignored))
			continue;
		disks_below(real, &found, &ignored);
		free(real);
	}
	for (size_t i = 0; i < found.n; i++)
		conditions_add_source("", c, found.v[i], is_written);
	strv_free(&found);
}

static void find_sources(const struct workload *w, struct conditions *c)
{
	struct strv from = {0}, to = {0};

	workload_outside(w, &from, &to);
	read_sources(&from, 0, c);
	read_sources(&to, 1, c);
	strv_free(&from);
	strv_free(&to);
}

/* An array below two disks of the volume is told once. */
static void add_array(struct conditions *c, const struct raid_volume *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < c->n_settings; i++)
		if (str_equal(c->settings[i].of, a->name))
			return;
	for (size_t i = 0; i < RAID_SETTINGS; i++)
		if (a->settings[i])
			conditions_add_setting(c, a->name, raid_setting_names[i], a->settings[i]);
}

/* Those that hung before in the attempt, as raid_ask takes them; texts are borrowed. Caller frees the
 * list. */
static struct raid_failure *hung_before(const json_t *tools, size_t *ret_n)
{
	struct raid_failure *v = xcalloc(json_object_size(tools) + 1, sizeof(*v));
	const char *program;
	json_t *why;
	size_t n = 0;

	json_object_foreach((json_t *)tools, program, why)
		v[n++] = (struct raid_failure){(char *)program, (char *)json_string_value(why), 1};
	*ret_n = n;
	return v;
}

static void tell_failure(struct conditions *c, const struct raid_failure *f, json_t *hung)
{
	const char *slash = strrchr(f->program, '/'), *name = slash ? slash + 1 : f->program;

	log_warning("controllers", "their state is not told: %s %s", name, f->why);
	c->has_maintenance = 0;
	conditions_add_setting(c, name, SETTING_TOOL, f->why);
	if (f->hung)
		json_object_set_new(hung, f->program, json_text(f->why));
}

/* How the arrays below the volume are set, and what all controllers do beside their work. Returns the tools
 * that hung. */
static json_t *read_controllers(const struct volume_ctx *ctx, struct conditions *c)
{
	json_t *hung = json_object();
	struct raid_failure *known;
	struct raid_state s;
	size_t n;

	known = hung_before(ctx->hung_tools, &n);
	raid_ask(known, n, &s);
	free(known);
	for (size_t i = 0; i < s.n_failures; i++)
		tell_failure(c, &s.failures[i], hung);
	c->raid_controllers = (int64_t)s.n_controllers;
	for (size_t i = 0; i < s.running.n; i++)
		conditions_add_maintenance(c, s.running.v[i]);
	for (size_t i = 0; i < c->n_disks; i++)
		for (size_t k = 0; k < c->disks[i].under.n; k++)
			add_array(c, raid_volume_of(&s, c->disks[i].under.v[k]));
	raid_state_free(&s);
	return hung;
}

json_t *volume_conditions(struct volume_ctx *ctx, const struct volume *v,
	const struct workload *w, unsigned look_ms)
{
	int pools = is_zfs(v) || (ctx->inv && ctx->inv->n_pools > 0);
	struct conditions c;
	json_t *o, *hung;

	conditions_read("", &v->disks, &c);
	if (pools)
		read_pools(&c);
	if (is_zfs(v))
		read_properties(v, &c);
	else
		read_mount(v, &c);
	if (w)
		find_sources(w, &c);
	hung = read_controllers(ctx, &c);
	if (look_ms)
		conditions_look("", &v->disks, look_ms, &c);
	o = conditions_json(&c);
	json_object_set_new(o, "hung_tools", hung);
	conditions_clear(&c);
	return o;
}
