/* Disks for the binder: their order, why some can't be had, which selector fits. Pure. */
#include "common/plan/bind_disk.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/mem.h"
#include "common/base/units.h"

static int compare_text(const char *a, const char *b)
{
	return strverscmp(a ? a : "", b ? b : "");
}

static int compare_disks(const void *va, const void *vb)
{
	const struct bind_disk *a = va, *b = vb;
	int c = compare_text(a->d->controller_path, b->d->controller_path);

	if (!c)
		c = compare_text(a->d->enclosure, b->d->enclosure);
	if (!c)
		c = compare_text(a->d->slot, b->d->slot);
	if (!c)
		c = compare_text(a->id, b->id);
	return c ? c : compare_text(a->d->name, b->d->name);
}

static char *why_not(const struct plan *p, const struct inventory *inv, const struct bind_disk *b)
{
	const struct inv_disk *d = b->d;

	if (!*b->id)
		return xstrdup("has neither serial nor WWN");
	if (d->in_use)
		return xasprintf("in use: %s", d->in_use);
	if (!d->allowed && inv->policy_error)
		return xasprintf("the host's policy cannot be used: %s", inv->policy_error);
	if (!d->allowed)
		return xstrdup("not allowed by the host's policy");
	for (size_t i = 0; i < d->signatures.n; i++)
		if (!strv_has(&p->wipe, d->signatures.v[i]))
			return xasprintf("holds %s, which the plan's wipe does not name",
				d->signatures.v[i]);
	return NULL;
}

/* A second path of a disk that is there already: what forbids one path forbids the disk. */
static int merge_path(struct bind_disks *b, const struct bind_disk *path)
{
	struct bind_disk *known = *path->id ? bind_disks_find(b, path->id) : NULL;

	if (!known)
		return 0;
	if (!known->why && path->why)
		known->why = xstrdup(path->why);
	return 1;
}

void bind_disks_init(struct bind_disks *b, const struct plan *p, const struct inventory *inv)
{
	b->v = xcalloc(inv->n_disks + 1, sizeof(*b->v));
	b->n = 0;
	for (size_t i = 0; i < inv->n_disks; i++) {
		struct bind_disk one = {.d = &inv->disks[i]};

		if (!inv_disk_id(one.d, one.id, sizeof(one.id)))
			*one.id = '\0';
		one.why = why_not(p, inv, &one);
		if (merge_path(b, &one))
			free(one.why);
		else
			b->v[b->n++] = one;
	}
	if (b->n)
		qsort(b->v, b->n, sizeof(*b->v), compare_disks);
}

void bind_disks_clear(struct bind_disks *b)
{
	for (size_t i = 0; i < b->n; i++)
		free(b->v[i].why);
	free(b->v);
	b->v = NULL;
	b->n = 0;
}

struct bind_disk *bind_disks_find(const struct bind_disks *b, const char *id)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct inv_disk *d = b->v[i].d;

		if (str_starts(id, "wwn:") ? d->wwn && !strcasecmp(d->wwn, id + 4)
					   : !strcmp(b->v[i].id, id))
			return &b->v[i];
	}
	return NULL;
}

static int contains(const char *text, const char *part)
{
	return !part || (text && strcasestr(text, part));
}

static int equals(const char *text, const char *glob)
{
	return !glob || (text && fnmatch(glob, text, FNM_CASEFOLD) == 0);
}

static int is_excluded(const struct disk_selector *s, const struct bind_disk *b)
{
	char wwn[DISK_ID_MAX + 8];

	snprintf(wwn, sizeof(wwn), "wwn:%.*s", DISK_ID_MAX, b->d->wwn ? b->d->wwn : "");
	for (size_t i = 0; i < s->exclude.n; i++)
		if (fnmatch(s->exclude.v[i], b->id, 0) == 0 ||
			fnmatch(s->exclude.v[i], wwn, FNM_CASEFOLD) == 0)
			return 1;
	return 0;
}

static int about(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) <= b / 100;
}

int selector_matches(const struct disk_selector *s, const struct bind_disk *b)
{
	const struct inv_disk *d = b->d;

	if (s->controller && !contains(d->controller, s->controller) &&
		!contains(d->controller_path, s->controller))
		return 0;
	return contains(d->model, s->model) && equals(d->enclosure, s->enclosure) &&
	       equals(d->slot, s->slot) && equals(d->transport, s->transport) &&
	       equals(d->serial, s->serial) && equals(d->wwn, s->wwn) &&
	       (!s->size || about(d->bytes, (uint64_t)s->size)) &&
	       (s->rotational < 0 || !s->rotational == !d->rotational) && !is_excluded(s, b);
}

int disks_alike(const struct inv_disk *a, const struct inv_disk *b)
{
	return about(a->bytes, b->bytes) && a->logical_sector == b->logical_sector &&
	       a->physical_sector == b->physical_sector;
}

void selector_text(const struct disk_selector *s, struct buf *out)
{
	const struct {
		const char *name, *value;
	} fields[] = {{"controller", s->controller}, {"enclosure", s->enclosure}, {"slot", s->slot},
		{"model", s->model}, {"transport", s->transport}, {"serial", s->serial},
		{"wwn", s->wwn}};
	char size[UNITS_LEN];
	const char *gap = "";

	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		if (!fields[i].value)
			continue;
		buf_addf(out, "%s%s %s", gap, fields[i].name, fields[i].value);
		gap = ", ";
	}
	if (s->size) {
		buf_addf(out, "%ssize %s", gap, units_size(s->size, size));
		gap = ", ";
	}
	if (s->rotational >= 0)
		buf_addf(out, "%s%s", gap, s->rotational ? "rotational" : "not rotational");
}
