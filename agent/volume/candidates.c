/* From lsblk's devices to disks. Invariant: no disk comes out under two names or two ids. */
#include "agent/volume/candidates.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

/* Kinds that say "disk" and are none, or are never a volume's. */
static int is_excluded(const char *kernel)
{
	static const char *const starts[] = {"loop", "ram", "zram", "sr", "fd", "zd", "md", "dm-",
		"nbd", "mtdblock", NULL};

	for (size_t i = 0; starts[i]; i++)
		if (!strncmp(kernel, starts[i], strlen(starts[i])))
			return 1;
	return strstr(kernel, "boot") != NULL && !strncmp(kernel, "mmcblk", 6);
}

static int is_disk(const struct blockdev *b)
{
	return !strcmp(b->type, "disk") && b->bytes > 0 && !is_excluded(b->kernel);
}

/* The mapper's device over a path, or NULL. */
static const struct blockdev *mapper_of(const struct blockdevs *all, const char *path)
{
	for (size_t i = 0; i < all->n; i++)
		if (!strcmp(all->v[i].type, "mpath") && all->v[i].parent &&
			!strcmp(all->v[i].parent, path))
			return &all->v[i];
	return NULL;
}

static struct inv_disk *find_named(struct inv_disk *v, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(v[i].name, name))
			return &v[i];
	return NULL;
}

static void fill(const struct blockdev *b, const struct blockdev *mapper, struct inv_disk *d)
{
	d->name = xstrdup(mapper ? mapper->kernel : b->kernel);
	d->serial = xstrdup(b->serial);
	d->wwn = xstrdup(b->wwn);
	d->model = xstrdup(b->model);
	d->transport = xstrdup(b->transport);
	d->bytes = mapper && mapper->bytes ? mapper->bytes : b->bytes;
	d->logical_sector = b->logical_sector;
	d->physical_sector = b->physical_sector;
	d->rotational = b->rotational;
}

/* The same medium: the world-wide name decides; without one, serial, model and size together. */
static int is_same(const struct inv_disk *a, const struct inv_disk *b)
{
	if (a->bytes != b->bytes)
		return 0;
	if (a->wwn && b->wwn)
		return !strcmp(a->wwn, b->wwn);
	return a->serial && b->serial && !strcmp(a->serial, b->serial) &&
	       str_equal(a->model, b->model);
}

static void merge_into(struct inv_disk *first, const struct inv_disk *again)
{
	if (!first->in_use)
		first->in_use = xasprintf("seen over two paths (%s and %s) without multipath: either "
					  "could be written to behind the other's back",
			first->name, again->name);
}

static size_t merge_paths(struct inv_disk *v, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct inv_disk *same = NULL;

		for (size_t k = 0; k < kept && !same; k++)
			if (is_same(&v[k], &v[i]))
				same = &v[k];
		if (same) {
			merge_into(same, &v[i]);
			inv_disk_clear(&v[i]);
			continue;
		}
		if (kept != i) {
			v[kept] = v[i];
			v[i] = (struct inv_disk){0};
		}
		kept++;
	}
	return kept;
}

/* NVMe namespaces and LUNs of one array share the serial of what they are parts of. */
static void drop_shared_serials(struct inv_disk *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int shared = 0;

		for (size_t k = i + 1; k < n && v[i].serial; k++) {
			if (!str_equal(v[i].serial, v[k].serial))
				continue;
			shared = 1;
			free(v[k].serial);
			v[k].serial = NULL;
		}
		if (shared) {
			free(v[i].serial);
			v[i].serial = NULL;
		}
	}
}

static const char *path_behind(const struct blockdevs *all, const char *name)
{
	for (size_t i = 0; i < all->n; i++)
		if (!strcmp(all->v[i].kernel, name))
			return !strcmp(all->v[i].type, "mpath") && all->v[i].parent
				       ? all->v[i].parent : all->v[i].kernel;
	return NULL;
}

size_t candidates_find(const struct blockdevs *all, struct inv_disk *ret, const char **first_path)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct blockdev *b = &all->v[i];
		const struct blockdev *mapper = is_disk(b) ? mapper_of(all, b->kernel) : NULL;

		if (is_disk(b) && !find_named(ret, n, mapper ? mapper->kernel : b->kernel))
			fill(b, mapper, &ret[n++]);
	}
	n = merge_paths(ret, n);
	drop_shared_serials(ret, n);
	for (size_t i = 0; i < n; i++)
		first_path[i] = path_behind(all, ret[i].name);
	return n;
}
