/* The disks of a host as the binder sees them: sorted, each with the reason why it can't be had. */
#ifndef COMMON_PLAN_BIND_DISK_H
#define COMMON_PLAN_BIND_DISK_H

#include "common/plan/bind.h"

#define DISK_ID_MAX 256

struct bind_disk {
	const struct inv_disk *d; /* borrowed */
	char id[DISK_ID_MAX];     /* "" when it has none */
	char *why;                /* not to be had; NULL: free */
	int used;                 /* within the layout being bound */
	int reserved;             /* named by id somewhere in that layout */
};
struct bind_disks {
	struct bind_disk *v;
	size_t n;
};

/* One entry a disk (both paths of a multipath disk are one). The inventory must outlive it. */
void bind_disks_init(struct bind_disks *b, const struct plan *p, const struct inventory *inv);
void bind_disks_clear(struct bind_disks *b);
/* The disk that the id names, or NULL. */
struct bind_disk *bind_disks_find(const struct bind_disks *b, const char *id);
/* The selector (without ids) fits the disk; whether it can be had is not asked. */
int selector_matches(const struct disk_selector *s, const struct bind_disk *b);
/* Same size within 1 % and same sector sizes. */
int disks_alike(const struct inv_disk *a, const struct inv_disk *b);
/* "controller SAS2008, model DT01ACA300", "" when anything fits; appended. */
void selector_text(const struct disk_selector *s, struct buf *out);

#endif
