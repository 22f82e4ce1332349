/*
 * What a dump looks like: its format by its contents, and whether its end is there. PostgreSQL's own
 * programs restore what there is of some dumps that are cut off, and end well.
 */
#ifndef AGENT_WORKLOAD_PG_SHAPE_H
#define AGENT_WORKLOAD_PG_SHAPE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/plan/work_pg.h"

#define PG_HEAD_BYTES 4096
#define PG_TAIL_BYTES 4096

/* Begin and end of one file, taken while it is read. All zero: nothing was read. */
struct pg_ends {
	uint64_t bytes;
	char head[PG_HEAD_BYTES + 1]; /* NUL-terminated */
	size_t head_len;
	char tail[PG_TAIL_BYTES + 1]; /* what was read last; NUL-terminated */
	size_t tail_len;
};

/* The next n bytes of the file. */
void pg_ends_add(struct pg_ends *ends, const char *chunk, size_t n);

/* Of a file, by its begin; never AUTO. ERR_INPUT: it is no dump. shown: its name for messages. */
int pg_shape_of_file(const struct pg_ends *ends, const char *shown, enum pg_format *ret,
	struct err *e);
/* A folder has to have a toc.dat. */
int pg_shape_of_folder(const char *path, const char *shown, struct err *e);
/* A file of that format goes on to its end, as far as its end shows; custom archives, which pg_restore
 * does not take when they are cut, pass. Of a tar that is cut off it reads the end for ever. */
int pg_shape_is_whole(enum pg_format format, const struct pg_ends *ends, const char *shown,
	struct err *e);
/* The same of one file in a dump's folder. path: as it can be opened; ends: of it. What lz4 or zstd
 * compressed is tested by those, where the host has them; of a large object that is not compressed nothing
 * shows. */
int pg_shape_part_is_whole(const char *path, const struct pg_ends *ends, struct err *e);

#endif
