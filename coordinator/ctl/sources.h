/*
 * What `report` and `compare` read: runs of the coordinator and files, in the order given. One
 * connection serves all runs; none is made when there are only files.
 */
#ifndef COORDINATOR_CTL_SOURCES_H
#define COORDINATOR_CTL_SOURCES_H

#include "coordinator/ctl/connect.h"
#include "coordinator/ctl/fetch.h"
#include "coordinator/results/pivot.h"

struct sources {
	struct result_set set;  /* after sources_end as export_read_end leaves it */
	struct pivot_source *v; /* its runs in the order of the arguments; labels are ours */
	char **longer; /* label with the run's number, where others have its name; or NULL */
	size_t n, cap, cap_longer;
	enum series_plots plots; /* set by the verb */
	struct buf log; /* what each line of the files was taken for */
	struct buf doubts; /* of the file that is read; told as warnings */
	struct connection conn;
};

/* Whether an argument is a file: "-", anything with a slash, what exists, or NAME=FILE of these. */
int sources_is_file(const char *arg);
/* What the files are, by --input-format; NULL: found by content. --format is the report's: a format of
 * files there is ERR_USAGE. */
int sources_input_format(const struct args *a, const struct format **ret, struct err *e);
/* ERR_USAGE where --output is one of the files that are read, by whatever name. */
int sources_keep(const struct args *a, struct err *e);
/* Adds a file or a run. format NULL: found by content. */
int sources_add(struct sources *s, struct ctl *c, const char *arg, const struct format *format,
	struct err *e);
/* After the last one: closes the connection, makes the set whole and all labels different. */
int sources_end(struct sources *s, struct err *e);
void sources_clear(struct sources *s);

#endif
