/* A plan against one host: file systems, scratch space and sizes; disks are the binder's. Pure. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/bind.h"
#include "common/plan/plan_internal.h"
#include "common/plan/workload_type.h"

struct host_check {
	const struct plan *p;
	const struct inventory *inv;
	const struct layout *l;
	struct strv *errs;
};

static void __attribute__((format(printf, 2, 3)))
lack(const struct host_check *c, const char *fmt, ...)
{
	struct buf text = {0};
	va_list ap;

	buf_addf(&text, "host %s: ", c->inv->host);
	if (c->l)
		buf_addf(&text, "layouts.%s: ", c->l->name);
	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	strv_add(c->errs, buf_str(&text));
	buf_free(&text);
}

/* What the FUSE port knows: pool version 23. NULL: any value that a plan may give. */
static const struct {
	const char *name, *values;
} fuse_props[] = {
	{"atime", NULL},
	{"casesensitivity", NULL},
	{"checksum", " on off fletcher2 fletcher4 sha256 "},
	{"compression", " on off lzjb gzip gzip-1 gzip-2 gzip-3 gzip-4 gzip-5 gzip-6 gzip-7 gzip-8 "
			"gzip-9 zle "},
	{"copies", NULL},
	{"dedup", " on off verify sha256 sha256,verify "},
	{"logbias", NULL},
	{"normalization", NULL},
	{"primarycache", NULL},
	{"recordsize", " 512 1k 1K 2k 2K 4k 4K 8k 8K 16k 16K 32k 32K 64k 64K 128k 128K 1024 2048 "
		       "4096 8192 16384 32768 65536 131072 "},
	{"secondarycache", NULL},
	{"utf8only", NULL},
	{"xattr", " on off "},
	{"failmode", NULL},
};

static void check_fuse_props(const struct host_check *c, const struct property *props, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char word[80];
		size_t j = 0;

		while (j < ARRAY_LEN(fuse_props) && strcmp(fuse_props[j].name, props[i].name))
			j++;
		snprintf(word, sizeof(word), " %s ", props[i].value);
		if (j == ARRAY_LEN(fuse_props))
			lack(c, "%s has no property '%s': leave it out, or use a host with OpenZFS",
				c->inv->zfs, props[i].name);
		else if (fuse_props[j].values && !strstr(fuse_props[j].values, word))
			lack(c, "%s has no %s=%s: use a host with OpenZFS", c->inv->zfs,
				props[i].name, props[i].value);
	}
}

static void check_fuse(const struct host_check *c, const struct pool_stage *pool)
{
	check_fuse_props(c, pool->props, pool->n_props);
	check_fuse_props(c, pool->pool_props, pool->n_pool_props);
	for (size_t i = 0; i < pool->n_datasets; i++)
		check_fuse_props(c, pool->datasets[i].props, pool->datasets[i].n_props);
}

static void check_pool(const struct host_check *c, const struct pool_stage *pool)
{
	if (!c->inv->zfs) {
		lack(c, "there is no ZFS: %s", c->inv->per_run
			? "install and start one (zfs, or zfs-fuse), or give the layout `filesystem` or "
			  "`existing` instead of `pool`; `arraymark plan new` writes what this machine "
			  "can build"
			: "install zfs (or zfs-fuse) there, or start it, and send its agent SIGHUP, "
			  "which makes it look again; or leave the host out");
		return;
	}
	if (pool->vdevs[0].level == LEVEL_DRAID && !strv_has(&c->inv->capabilities, "draid"))
		lack(c, "%s has no draid: it needs OpenZFS 2.1 or later", c->inv->zfs);
	if (pool->special.disks.n && !strv_has(&c->inv->capabilities, "special"))
		lack(c, "%s has no special vdevs: it needs OpenZFS 0.8 or later", c->inv->zfs);
	if (str_starts(c->inv->zfs, "zfs-fuse"))
		check_fuse(c, pool);
}

static void check_filesystem(const struct host_check *c, const struct fs_stage *fs)
{
	const char *type = fs_type_name(fs->type);

	if (!strv_has(&c->inv->capabilities, type))
		lack(c, "cannot make %s there: it needs root, mkfs.%s and the kernel's %s", type,
			type, type);
	else if (c->l->scratch.disks && !c->inv->scratch_loop)
		lack(c, "no %s on scratch disks there: it needs loop devices (root, losetup, "
			"/dev/loop-control)", type);
}

/* Volumes that the workloads, with this host's memory, would overflow. room -1: not known. */
static void check_size(const struct host_check *c, int64_t room)
{
	int64_t need = layout_stored_bytes(c->p, c->l, c->inv->ram_bytes);
	char a[UNITS_LEN], b[UNITS_LEN];

	if (room >= 0 && need > room)
		lack(c, "too small: the workloads write %s, the volume holds less than %s",
			units_size(need, a), units_size(room, b));
}

static int64_t scratch_bytes(const struct layout *l)
{
	int64_t bytes = 0;

	if (__builtin_mul_overflow((int64_t)l->scratch.disks, l->scratch.size, &bytes))
		return INT64_MAX;
	return bytes;
}

/* Volumes of a plan that builds once may all be there at the same time. */
static int64_t scratch_needed(const struct plan *p)
{
	int64_t need = 0;

	for (size_t i = 0; i < p->n_layouts; i++) {
		int64_t bytes = scratch_bytes(&p->layouts[i]);

		if (p->builds == BUILDS_ONCE) {
			if (__builtin_add_overflow(need, bytes, &need))
				return INT64_MAX;
		} else if (bytes > need) {
			need = bytes;
		}
	}
	return need;
}

static void check_scratch_limit(const struct host_check *c)
{
	int64_t need = scratch_needed(c->p);
	char a[UNITS_LEN], b[UNITS_LEN];

	if (need == 0)
		return;
	if (c->inv->policy_error)
		lack(c, "its policy cannot be used, so nothing is allowed there: %s%s",
			c->inv->policy_error, c->inv->per_run ? "" : " (then send its agent SIGHUP)");
	else if (c->inv->scratch_limit == 0)
		lack(c, "its policy allows no scratch disks: add allow: {scratch: {directory: DIR, "
			"limit: 20G}} there%s",
			c->inv->per_run ? "" : ", and send its agent SIGHUP");
	else if ((uint64_t)need > c->inv->scratch_limit)
		lack(c, "scratch disks of %s are wanted, its policy's limit is %s",
			units_size(need, a),
			units_size((int64_t)(c->inv->scratch_limit & INT64_MAX), b));
}

void workload_lacks_io_uring(const struct inventory *inv, struct buf *ret)
{
	if (!strv_has(&inv->capabilities, "io_uring"))
		buf_adds(ret, "workers cannot use io_uring there (kernel older than 5.1, sysctl "
			      "kernel.io_uring_disabled, or a container's seccomp filter): use engine: "
			      "pread");
}

static void check_workloads(const struct host_check *c)
{
	struct buf text = {0};

	for (size_t i = 0; i < c->p->n_workloads; i++) {
		buf_reset(&text);
		if (workload_lacks(&c->p->workloads[i], c->inv, &text))
			lack(c, "workloads.%s: %s", c->p->workloads[i].name, buf_str(&text));
	}
	buf_free(&text);
}

int plan_check_host(const struct plan *p, const struct inventory *inv, struct strv *errs)
{
	struct host_check c = {p, inv, NULL, errs};
	size_t before = errs->n;
	int64_t need;
	struct err e;

	check_scratch_limit(&c);
	check_workloads(&c);
	if (plan_needed_bytes(p, inv->ram_bytes, &need, &e))
		lack(&c, "%s", e.text);
	for (size_t i = 0; i < p->n_layouts; i++) {
		c.l = &p->layouts[i];
		if (c.l->pool)
			check_pool(&c, c.l->pool);
		if (c.l->fs)
			check_filesystem(&c, c.l->fs);
		check_size(&c, layout_capacity(c.l));
	}
	return errs->n > before ? -1 : 0;
}

int plan_check_bound(const struct plan *p, const struct inventory *inv,
	const struct bindings *disks, struct strv *errs)
{
	struct host_check c = {p, inv, NULL, errs};
	size_t before = errs->n;

	for (size_t i = 0; i < p->n_layouts; i++) {
		c.l = &p->layouts[i];
		check_size(&c, layout_capacity_on(p, (unsigned)i, disks, inv));
	}
	return errs->n > before ? -1 : 0;
}
