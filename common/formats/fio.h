/* What fio's two machine formats have in common. Internal to common/formats. */
#ifndef COMMON_FORMATS_FIO_H
#define COMMON_FORMATS_FIO_H

#include <jansson.h>

#include "common/formats/reader.h"

/* One direction of one job, or of several that ran at the same time. */
struct fio_side {
	char *host; /* NULL: a local run */
	char *job;
	const char *op; /* static: read, write, trim, mixed */
	size_t line;    /* where its document or line begins */
	unsigned jobs;  /* added up here */
	uint64_t bytes, ops;
	double lat_step; /* ns that percentiles and maximum are rounded to; 0: not rounded */
	double runtime_ms;
	int64_t started_wall_ns;                         /* 0: not known */
	int error;                                       /* fio's own, 0: none */
	double lat_n, lat_mean, lat_max, p50, p99, p999; /* ns; 0: not known */
	struct hist *hist;                               /* NULL: no bins */
};
struct fio_sides {
	struct fio_side *v;
	size_t n, cap;
};
void fio_sides_clear(struct fio_sides *s);
/* A side with these names, added to an equal one that is there from index `from` on. Takes
 * side->host, job and hist. */
void fio_add(struct fio_sides *s, size_t from, struct fio_side *side);

/* The sides of one document; `len` bytes were its text, from `line`. 1: it is fio's, and so many
 * sides were added (none, too: nothing was done); -1: error with name:line. */
int fio_json_sides(
	const char *name, size_t line, const json_t *doc, struct fio_sides *out, struct err *e);
/* When the document was written, ms since 1970; 0: it does not say. */
int64_t fio_json_written_ms(const json_t *doc);
/* One line of terse output ("3;fio-3.33;…"). */
int fio_terse_line(struct reader *r, struct fio_sides *out);
int fio_is_terse(const char *line);

#endif
