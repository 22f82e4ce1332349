/*
 * Binding: which real disks of a host each layout stands on. Pure: inventory in, ids out. The
 * coordinator binds once per run; the agent checks the same ids again before it writes.
 */
#ifndef COMMON_PLAN_BIND_H
#define COMMON_PLAN_BIND_H

#include "common/measure/inventory.h"
#include "common/plan/plan.h"

struct binding {
	unsigned layout;
	const char *role; /* static: "data", "spare", "log", "cache", "special", "fs" */
	unsigned group;   /* vdev group within the role, from 0 */
	struct strv ids;  /* as inv_disk_id gives them, in the order they go to zpool */
};
struct bindings {
	struct binding *v;
	size_t n;
};

/* Binds all layouts without scratch or existing. Equal selectors give equal disks across layouts;
 * within one layout a disk is used once. Only disks that are allowed by policy, free, and free of
 * signatures that the plan does not name in `wipe` are taken. All lacks are reported in errs
 * ("host knew: layouts.hba8.pool.disks: wants 10 disks …, 8 are free: …", with the reason per
 * excluded disk); then -1, and e is the first of them.
 *
 * Disks are taken in the order of adapter path, enclosure, slot, id. Named ids are set aside first.
 * Unless a set is `mixed`, its disks (those of all data groups together) have one size within 1 %
 * and one pair of sector sizes: the first such class, in disk order, that satisfies every selector. */
int plan_bind(const struct plan *p, const struct inventory *inv, struct bindings *ret,
	struct strv *errs, struct err *e);
void bindings_free(struct bindings *b);

/* Checks of a plan against one host that are not about disks: ZFS there, scratch allowed and large
 * enough, capabilities (draid, xfs, ext4). Adds to errs; 0 when none was added. */
int plan_check_host(const struct plan *p, const struct inventory *inv, struct strv *errs);
/* Layouts that the workloads would overflow on the disks that plan_bind gave them. As above. */
int plan_check_bound(const struct plan *p, const struct inventory *inv,
	const struct bindings *disks, struct strv *errs);
/* Bytes that a layout on bound disks holds at the most; -1: it stands on none. */
int64_t layout_capacity_on(const struct plan *p, unsigned layout, const struct bindings *disks,
	const struct inventory *inv);

#endif
