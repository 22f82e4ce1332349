/*
 * Other tools' outputs -> trials and summaries of a result set. Pure but for import_file, which
 * reads the file. After the last one, export_read_end() makes the set whole, as it does for the
 * lines of an export. Exports come first: they bring the numbers of their runs, imports take the
 * next ones that are free.
 */
#ifndef COORDINATOR_RESULTS_IMPORT_H
#define COORDINATOR_RESULTS_IMPORT_H

#include "common/formats/formats.h"
#include "coordinator/results/set.h"

#define IMPORT_HOST "imported" /* the host of results that name none */

struct import_options {
	const struct format *format; /* NULL: found by content */
	uint64_t into;      /* run of the set to add to, made by an earlier import; 0: a new one */
	const char *run;    /* name of a new run; NULL: the text's own, else the file's */
	const char *host;   /* of results that name none; NULL: IMPORT_HOST */
	const char *layout; /* NULL: the text's own, else the file's name without its ending; given,
			     * it stands before the names that the text gives itself */
	const char *workload; /* instead of the text's own; NULL: those, else the format's */
	struct buf *doubts;   /* NULL, or gets what could be taken for something else, as lines of log */
};

/* Adds what the text says to the set. The text is decoded in place. Its trials are in the order
 * they stand in, each in a block of its own within its layout and workload. log (may be NULL): one
 * line for each line of the text or several alike, "name:3: elapsed 1102.99 s". *ret_run: 0 where
 * an export brought runs of its own. On failure the set is as it was before, except after an
 * export. */
int import_text(struct result_set *s, const char *name, struct buf *text,
	const struct import_options *o, struct buf *log, uint64_t *ret_run, struct err *e);
/* The same from a file; "-" is standard input. */
int import_file(struct result_set *s, const char *path, const struct import_options *o,
	struct buf *log, uint64_t *ret_run, struct err *e);

#endif
