/*
 * Binding of layouts to the disks of a host. The data groups of a layout are one unit, every other
 * role is one of its own; a unit is satisfied as a whole, by disks of one class unless mixed.
 * Owns the bindings until they are handed out.
 */
#include "common/plan/bind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/bind_disk.h"
#include "common/plan/plan_internal.h"

#define MAX_CLASSES 64
#define MAX_REASONS 6

struct binder {
	struct bind_disks disks;
	const struct inventory *inv;
	const struct layout *l;
	unsigned layout; /* index of l */
	struct bindings out;
	struct strv *errs;
};

/* Roles that share one class of disks. */
struct unit_sets {
	struct role_set *v;
	size_t n;
};

static void __attribute__((format(printf, 3, 4)))
lack(const struct binder *b, const struct role_set *role, const char *fmt, ...)
{
	struct buf text = {0};
	va_list ap;

	buf_addf(&text, "host %s: layouts.%s.%s: ", b->inv->host, b->l->name, role->key);
	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	if (!strv_has(b->errs, buf_str(&text)))
		strv_add(b->errs, buf_str(&text));
	buf_free(&text);
}

static int is_free(const struct bind_disk *d, const struct disk_selector *s)
{
	return !d->why && !d->used && !d->reserved && selector_matches(s, d);
}

static struct binding *add_binding(struct binder *b, const struct role_set *role)
{
	struct binding *one;

	b->out.v = xreallocarray(b->out.v, b->out.n + 1, sizeof(*b->out.v));
	one = &b->out.v[b->out.n++];
	*one = (struct binding){.layout = b->layout, .role = role->role, .group = role->group};
	return one;
}

static void drop_bindings(struct binder *b, size_t keep)
{
	while (b->out.n > keep) {
		struct binding *one = &b->out.v[--b->out.n];

		for (size_t i = 0; i < one->ids.n; i++)
			bind_disks_find(&b->disks, one->ids.v[i])->used = 0;
		strv_free(&one->ids);
	}
}

static int take(struct bind_disk *d, struct binding *to, const struct inv_disk *class)
{
	if (!d || d->why || d->used || (class && !disks_alike(d->d, class)))
		return -1;
	d->used = 1;
	strv_add(&to->ids, d->id);
	return 0;
}

/* As many as the selector counts, or all; all must then be of the class. */
static int take_selected(struct binder *b, const struct disk_selector *s, struct binding *to,
	const struct inv_disk *class)
{
	unsigned left = s->count;
	size_t before = to->ids.n;

	for (size_t i = 0; i < b->disks.n && (left || !s->count); i++) {
		struct bind_disk *d = &b->disks.v[i];

		if (!is_free(d, s))
			continue;
		if (take(d, to, class) == 0)
			left--;
		else if (!s->count)
			return -1;
	}
	return (s->count ? left == 0 : to->ids.n > before) ? 0 : -1;
}

static int take_set(struct binder *b, const struct role_set *role, const struct inv_disk *class)
{
	size_t at = b->out.n;
	struct err e;

	add_binding(b, role);
	for (size_t i = 0; i < role->disks->n; i++) {
		const struct disk_selector *s = &role->disks->v[i];

		for (size_t j = 0; j < s->ids.n; j++)
			if (take(bind_disks_find(&b->disks, s->ids.v[j]), &b->out.v[at], class))
				return -1;
		if (!s->ids.n && take_selected(b, s, &b->out.v[at], class))
			return -1;
	}
	return role->vdev ? vdev_group_check(role->vdev, (unsigned)b->out.v[at].ids.n, &e) : 0;
}

/* All sets of the unit by disks like `class` (NULL: any), or none of them. */
static int take_unit(struct binder *b, const struct unit_sets *u, const struct inv_disk *class)
{
	size_t keep = b->out.n;

	for (size_t i = 0; i < u->n; i++)
		if (take_set(b, &u->v[i], class)) {
			drop_bindings(b, keep);
			return -1;
		}
	return 0;
}

/* One disk of each class among those that the unit could take. */
static size_t find_classes(
	const struct binder *b, const struct unit_sets *u, const struct inv_disk *ret[MAX_CLASSES])
{
	size_t n = 0;

	for (size_t i = 0; i < b->disks.n && n < MAX_CLASSES; i++) {
		const struct bind_disk *d = &b->disks.v[i];
		int wanted = d->reserved && !d->why, known = 0;

		for (size_t j = 0; j < u->n && !wanted; j++)
			for (size_t k = 0; k < u->v[j].disks->n && !wanted; k++)
				wanted = !u->v[j].disks->v[k].ids.n &&
					 is_free(d, &u->v[j].disks->v[k]);
		for (size_t j = 0; j < n; j++)
			known |= disks_alike(d->d, ret[j]);
		if (wanted && !known)
			ret[n++] = d->d;
	}
	return n;
}

static void say_why(const struct binder *b, const struct disk_selector *s, struct buf *out)
{
	unsigned said = 0, more = 0, used = 0;

	for (size_t i = 0; i < b->disks.n; i++) {
		const struct bind_disk *d = &b->disks.v[i];

		if (!selector_matches(s, d))
			continue;
		if (!d->why)
			used += d->used || d->reserved;
		else if (said < MAX_REASONS)
			buf_addf(out, "%s%s %s", said++ ? "; " : ": ", d->d->name, d->why);
		else
			more++;
	}
	if (more)
		buf_addf(out, "; … %u more", more);
	if (used)
		buf_addf(out, "%s%u taken by other parts of this layout", said ? "; " : ": ", used);
	if (!said && !used)
		buf_adds(out, ": the host has no other that fits");
}

static void report_ids(struct binder *b, const struct role_set *role, const struct disk_selector *s)
{
	for (size_t i = 0; i < s->ids.n; i++) {
		struct bind_disk *d = bind_disks_find(&b->disks, s->ids.v[i]);

		if (!d)
			lack(b, role,
				"%s is not on this host: `arraymark host disks %s` lists what is",
				s->ids.v[i], b->inv->host);
		else if (d->why)
			lack(b, role, "%s (%s) cannot be used: %s", s->ids.v[i], d->d->name,
				d->why);
		else if (d->used)
			lack(b, role, "%s (%s) is used twice in this layout", s->ids.v[i],
				d->d->name);
		else
			d->used = 1;
	}
}

/* Takes what there is, so that later selectors are judged as if this one had got its part. */
static void report_selector(
	struct binder *b, const struct role_set *role, const struct disk_selector *s, unsigned *got)
{
	struct buf what = {0}, why = {0};
	unsigned n = 0;

	say_why(b, s, &why);
	for (size_t i = 0; i < b->disks.n && (n < s->count || !s->count); i++)
		if (is_free(&b->disks.v[i], s)) {
			b->disks.v[i].used = 1;
			n++;
		}
	*got += n;
	selector_text(s, &what);
	if (n < s->count || n == 0)
		lack(b, role, "wants %.0u%sdisk%s%s%s%s, %u %s free%s", s->count,
			s->count ? " " : "a ", s->count > 1 ? "s" : "", what.len ? " (" : "",
			buf_str(&what), what.len ? ")" : "", n, n == 1 ? "is" : "are",
			buf_str(&why));
	buf_free(&what);
	buf_free(&why);
}

static void report_unit(struct binder *b, const struct unit_sets *u)
{
	size_t before = b->errs->n;
	struct err e;

	for (size_t i = 0; i < u->n; i++) {
		const struct role_set *role = &u->v[i];
		unsigned got = 0;

		for (size_t j = 0; j < role->disks->n; j++) {
			const struct disk_selector *s = &role->disks->v[j];

			got += (unsigned)s->ids.n;
			if (s->ids.n)
				report_ids(b, role, s);
			else
				report_selector(b, role, s, &got);
		}
		if (b->errs->n == before && role->vdev && vdev_group_check(role->vdev, got, &e))
			lack(b, role, "%s", e.text);
	}
	if (b->errs->n == before)
		lack(b, &u->v[0], "cannot be satisfied by the host's disks");
}

static void report_mixed(struct binder *b, const struct unit_sets *u,
	const struct inv_disk *const *classes, size_t n)
{
	struct buf text = {0};

	for (size_t i = 0; i < n && i < MAX_REASONS; i++) {
		char size[UNITS_LEN];

		buf_addf(&text, "%s%s with %u/%u-byte sectors", i ? ", " : "",
			units_size((int64_t)(classes[i]->bytes & INT64_MAX), size),
			classes[i]->logical_sector, classes[i]->physical_sector);
	}
	lack(b, &u->v[0],
		"there are enough disks, but not of one size and sector size (%s): select by size "
		"or "
		"model, or say mixed: true",
		buf_str(&text));
	buf_free(&text);
}

static void bind_unit(struct binder *b, const struct unit_sets *u)
{
	const struct inv_disk *classes[MAX_CLASSES];
	size_t n, keep = b->out.n;
	int mixed = 0;

	for (size_t i = 0; i < u->n; i++)
		mixed |= u->v[i].disks->mixed;
	n = find_classes(b, u, classes);
	for (size_t i = 0; i < n && !mixed; i++)
		if (take_unit(b, u, classes[i]) == 0)
			return;
	if (take_unit(b, u, NULL)) {
		report_unit(b, u);
	} else if (!mixed) {
		report_mixed(b, u, classes, n);
		drop_bindings(b, keep);
	}
}

/* Ids are named for one place: selectors before it must not take them. */
static void reserve_ids(struct binder *b, const struct role_set *roles, size_t n)
{
	for (size_t i = 0; i < b->disks.n; i++)
		b->disks.v[i].used = b->disks.v[i].reserved = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < roles[i].disks->n; j++)
			for (size_t k = 0; k < roles[i].disks->v[j].ids.n; k++) {
				struct bind_disk *d =
					bind_disks_find(&b->disks, roles[i].disks->v[j].ids.v[k]);

				if (d)
					d->reserved = 1;
			}
}

static void bind_layout(struct binder *b)
{
	struct role_set roles[LAYOUT_MAX_ROLES];
	size_t n = layout_roles(b->l, roles), first = 0;

	reserve_ids(b, roles, n);
	while (first < n) {
		struct unit_sets u = {&roles[first], 1};

		while (first + u.n < n && !strcmp(roles[first + u.n].role, roles[first].role))
			u.n++;
		bind_unit(b, &u);
		first += u.n;
	}
}

int plan_bind(const struct plan *p, const struct inventory *inv, struct bindings *ret,
	struct strv *errs, struct err *e)
{
	struct binder b = {.inv = inv, .errs = errs};
	size_t before = errs->n;

	bind_disks_init(&b.disks, p, inv);
	for (size_t i = 0; i < p->n_layouts; i++) {
		b.l = &p->layouts[i];
		b.layout = (unsigned)i;
		if (!b.l->existing && !b.l->scratch.disks)
			bind_layout(&b);
	}
	bind_disks_clear(&b.disks);
	if (errs->n > before) {
		bindings_free(&b.out);
		return err_set(e, ERR_INPUT, "%s", errs->v[before]);
	}
	*ret = b.out;
	return 0;
}

void bindings_free(struct bindings *b)
{
	for (size_t i = 0; i < b->n; i++)
		strv_free(&b->v[i].ids);
	free(b->v);
	b->v = NULL;
	b->n = 0;
}
