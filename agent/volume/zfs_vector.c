/* zpool create's vector from a plan's pool and the disks it stands on. Pure. */
#include <string.h>

#include "agent/volume/driver.h"

static void add_properties(struct strv *argv, const char *flag, const struct property *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		strv_add(argv, flag);
		strv_addf(argv, "%s=%s", v[i].name, v[i].value);
	}
}

static size_t add_disks(struct strv *argv, const struct stage_disks *disks, const char *role,
	unsigned group)
{
	size_t n = 0;

	for (size_t i = 0; i < disks->n; i++) {
		if (strcmp(disks->v[i].role, role) || disks->v[i].group != group)
			continue;
		strv_add(argv, disks->v[i].device);
		n++;
	}
	return n;
}

static void add_group(struct strv *argv, const struct stage_disks *disks, const char *role,
	unsigned group, const char *heading, const char *level)
{
	struct strv devices = {0};

	if (add_disks(&devices, disks, role, group)) {
		if (heading)
			strv_add(argv, heading);
		if (level && *level)
			strv_add(argv, level);
		for (size_t i = 0; i < devices.n; i++)
			strv_add(argv, devices.v[i]);
	}
	strv_free(&devices);
}

/* What zpool takes only with -f, although nothing is in use: a special vdev with another redundancy
 * than the data's, and disks of different sizes. */
static int needs_force(const struct pool_stage *p)
{
	if (p->special.disks.n && (strcmp(p->special.level_text, p->vdevs[0].level_text) ||
					  p->special.level != p->vdevs[0].level))
		return 1;
	if (p->special.disks.mixed || p->log.disks.mixed)
		return 1;
	for (size_t i = 0; i < p->n_vdevs; i++)
		if (p->vdevs[i].disks.mixed)
			return 1;
	return 0;
}

void zpool_create_vector(const struct pool_stage *p, const struct stage_disks *disks,
	const char *name, const char *root, struct strv *argv)
{
	const char *const start[] = {"zpool", "create", NULL};
	const char *const place[] = {"-o", "cachefile=none", "-R", root, "-m", NULL};

	strv_add_all(argv, start);
	if (needs_force(p))
		strv_add(argv, "-f");
	strv_add_all(argv, place);
	strv_addf(argv, "/%s", name);
	if (p->ashift) {
		strv_add(argv, "-o");
		strv_addf(argv, "ashift=%d", p->ashift);
	}
	add_properties(argv, "-o", p->pool_props, p->n_pool_props);
	add_properties(argv, "-O", p->props, p->n_props);
	strv_add(argv, name);
	for (size_t i = 0; i < p->n_vdevs; i++)
		add_group(argv, disks, "data", (unsigned)i, NULL, p->vdevs[i].level_text);
	add_group(argv, disks, "special", 0, "special", p->special.level_text);
	add_group(argv, disks, "log", 0, "log", p->log.level_text);
	add_group(argv, disks, "cache", 0, "cache", NULL);
	add_group(argv, disks, "spare", 0, "spare", NULL);
}
