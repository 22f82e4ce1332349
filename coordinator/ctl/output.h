/*
 * What `report` and `compare` write, and where: the formats of reports, found by option or by the
 * output's name, and the file or standard output.
 */
#ifndef COORDINATOR_CTL_OUTPUT_H
#define COORDINATOR_CTL_OUTPUT_H

#include "coordinator/ctl/ctl.h"
#include "coordinator/ctl/outfile.h"
#include "coordinator/results/report.h"

struct output {
	const char *path;   /* borrowed from the arguments; NULL: standard output */
	const char *format; /* one that fetch_report knows */
	struct outfile file;
	int is_open; /* something was written */
};

/* By the options --format and --output: as asked, else --json, else what the output's name is for, else
 * text. ERR_USAGE for a format that is none, and for --json beside another format. */
int output_choose(const struct ctl *c, const struct args *a, struct output *ret, struct err *e);
int output_is(const struct output *o, const char *format);
/* Color and width as they are right for where it goes. */
struct report_options output_report_options(const struct ctl *c, const struct output *o);
/* Writes what there is of a report so far and resets the buffer; output: the struct. Opens the file at
 * the first time. */
int output_more(void *output, struct buf *text, struct err *e);
/* The rest, and the end: a file is complete or not there, as outfile.h has it. */
int output_write(struct output *o, struct buf *text, struct err *e);
/* Where the end was not reached, nothing is left of what was written. */
void output_drop(struct output *o);

#endif
