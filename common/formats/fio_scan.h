/* A document of fio in pieces, each small enough to be built as JSON. Internal to common/formats. */
#ifndef COMMON_FORMATS_FIO_SCAN_H
#define COMMON_FORMATS_FIO_SCAN_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/measure/hist.h"

/* An element of a list, as offsets into the document. */
struct fio_part {
	size_t from, to;
	size_t line; /* of its start, lines of the document before it: 0, 1, … */
};
struct fio_list {
	int is_there; /* the document has this list, maybe empty */
	struct fio_part *v;
	size_t n, cap;
};
struct fio_pieces {
	struct fio_list jobs, clients; /* "jobs" and "client_stats" */
	struct buf rest;               /* the document with these lists empty, on as many lines */
	size_t used;                   /* bytes of the document */
};
/* text begins with '{'. 0; or -1: *ret_line as in struct fio_part, and what is wrong there. What the
 * pieces hold is not looked at. */
int fio_split(const char *text, size_t len, struct fio_pieces *ret, size_t *ret_line,
	const char **ret_what);
void fio_pieces_clear(struct fio_pieces *p);

/* Histograms that were read beside the JSON. */
struct fio_bins {
	struct hist **v;
	size_t n, cap;
};
/* Appends a piece without blanks, on as many lines. Members "bins" with an object of whole numbers
 * in ascending order, which is most of what fio prints, become histograms; in the text stands their
 * index. What else a member of that name holds is left out. */
void fio_lean(const char *text, size_t len, struct buf *out, struct fio_bins *bins);
void fio_bins_clear(struct fio_bins *b);

#endif
