/*
 * The commented plan that `plan new` writes. Its text is deploy/plans/starter.yaml, a plan as it
 * stands, with parts for what a machine may have: "# [pool, xfs] …" begins a part for these forms,
 * an empty line ends it, and lines that begin with "#-" are in it but not in use.
 */
#ifndef COORDINATOR_CTL_STARTER_H
#define COORDINATOR_CTL_STARTER_H

#include "common/base/buf.h"

enum starter_form {
	STARTER_POOL = 1,     /* pools of scratch disks */
	STARTER_XFS = 2,      /* file systems, each on one scratch disk */
	STARTER_EXT4 = 4,
	STARTER_EXISTING = 8, /* a folder; alone, since its cache is left as it is */
};
#define STARTER_FORMS 4

/* What `local` can run on this machine, with scratch disks in (or below) the folder: pools, else
 * file systems, else a folder. Never 0. */
unsigned starter_forms_here(const char *folder);
/* Appends the plan with these forms (OR of starter_form) in use and the others as comments. folder:
 * absolute; where the layout of STARTER_EXISTING is. */
void starter_write(unsigned forms, const char *folder, struct buf *out);
/* "pool", …: as in the text. */
const char *starter_form_name(enum starter_form form);

#endif
