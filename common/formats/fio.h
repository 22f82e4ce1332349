/* fio's two machine formats, for the reader of results here and for who runs fio itself. */
#ifndef COMMON_FORMATS_FIO_H
#define COMMON_FORMATS_FIO_H

#include <jansson.h>

#include "common/formats/fio_scan.h"
#include "common/formats/reader.h"

/* One direction of one job, or of several of one name and group, which ran at the same time. */
struct fio_side {
	char *host; /* NULL: a local run */
	char *job;
	const char *op; /* static: read, write, trim, mixed */
	long group;     /* fio's number for what ran together */
	size_t line;    /* where its document or line begins */
	unsigned jobs;  /* added up here */
	uint64_t bytes, ops;
	double lat_step; /* ns that percentiles and maximum are rounded to; 0: not rounded */
	double bytes_step, iops_step; /* what bytes and operations a second are rounded to; 0: not rounded */
	double runtime_ms;
	int64_t started_wall_ns;                         /* 0: not known */
	int64_t job_start_ms, fio_start_ms; /* as fio says it, the latter to a second; 0: not known */
	double passed;                      /* errors that fio went on behind */
	int stopped;                        /* fio ended by a signal */
	int error;                                       /* fio's own, 0: none */
	double lat_n, lat_mean, lat_max, p50, p99, p999; /* ns; 0: not known */
	char *hist;                                      /* encoded; NULL: no bins */
	size_t hist_len;
};
struct fio_sides {
	struct fio_side *v;
	uint32_t *names; /* a hash of each one's names */
	size_t n, cap, names_cap;
	double syncs, sync_ns; /* fsyncs and fdatasyncs of all jobs, and their latencies' sum */
};
void fio_side_clear(struct fio_side *s);
void fio_sides_clear(struct fio_sides *s);
/* A side with these names, added to an equal one that is there from index `from` on. Takes
 * side->host, job and hist. */
void fio_add(struct fio_sides *s, size_t from, struct fio_side *side);

/* Where a job was found. */
struct fio_place {
	const char *name;
	size_t line; /* of its document */
	int64_t written_ms;
	size_t jobs; /* of the document */
	size_t from; /* the document's first side */
	struct err *e;
};
/* The sides of one job, whose text went through fio_lean(); the table is that of the same call, and
 * may grow. None where nothing was done; -1: error with name:line. */
int fio_json_job(const struct fio_place *p, const json_t *job, struct fio_bins *table,
	struct fio_sides *out);
/* All sides of the document at the start of a text; *ret_used: its bytes. ERR_INPUT with name:line
 * where it is not whole or not fio's. */
int fio_document(const char *name, size_t line, const char *text, size_t len, struct fio_sides *out,
	size_t *ret_used, int64_t *ret_written_ms, struct err *e);
/* When the document was written, ms since 1970; 0: it does not say. */
int64_t fio_json_written_ms(const json_t *doc);
/* One line of terse output ("3;fio-3.33;…"). */
int fio_terse_line(struct reader *r, struct fio_sides *out);
int fio_is_terse(const char *line);
/* One of a version that is not read, or with something in the place of it. */
int fio_is_near_terse(const char *line);

#endif
