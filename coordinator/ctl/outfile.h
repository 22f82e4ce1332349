/*
 * Where a verb's results go: stdout, or a file that is complete or not there. A file is written
 * beside its place and renamed at the end; the old one stays until then.
 */
#ifndef COORDINATOR_CTL_OUTFILE_H
#define COORDINATOR_CTL_OUTFILE_H

#include <stdio.h>

#include "common/base/err.h"

struct outfile {
	FILE *f;
	char *path, *temporary; /* NULL: stdout */
};

/* path NULL or "-": stdout. */
int outfile_open(const char *path, struct outfile *ret, struct err *e);
int outfile_write(struct outfile *o, const void *data, size_t len, struct err *e);
/* keep 0: the temporary file is removed (e may be NULL then). */
int outfile_close(struct outfile *o, int keep, struct err *e);

#endif
