/* Result sets for reports: from a coordinator, or from files of any format that is known. */
#ifndef COORDINATOR_CTL_FETCH_H
#define COORDINATOR_CTL_FETCH_H

#include "common/formats/formats.h"
#include "coordinator/ctl/client.h"
#include "coordinator/ctl/ctl.h"
#include "coordinator/results/import.h"
#include "coordinator/results/report.h"
#include "coordinator/results/series_want.h"
#include "coordinator/results/set.h"

/* One run of the coordinator as a whole set, as far as a report needs it. */
int fetch_run(struct client *c, const char *run, enum series_plots plots, struct result_set *ret,
	struct err *e);
/* Adds a file ("-": standard input) to the set. After the last one: fetch_end. format NULL: found by
 * content; log and doubts (each may be NULL) as in import.h. */
int fetch_add_file(const char *path, const struct format *format, struct result_set *set,
	struct buf *log, struct buf *doubts, struct err *e);
/* As fetch_add_file, with all that import.h lets choose; ret_run as there. */
int fetch_import(const char *path, const struct import_options *o, struct result_set *set,
	struct buf *log, uint64_t *ret_run, struct err *e);
/* The format of that name, which the option was given; NULL (found by content) for NULL. ERR_USAGE
 * names all. */
int fetch_format(const char *option, const char *name, const struct format **ret, struct err *e);
/* Each of these lines is a warning. */
void fetch_warn(const struct ctl *c, const struct buf *doubts);
/* A log's lines as an array. */
json_t *fetch_log_json(const struct buf *log);
int fetch_end(struct result_set *set, struct err *e);

/* Appends the report in a format that fetch_format_check knows; sets the options' version. */
int fetch_report(const struct result_set *set, const char *format, struct report_options *o,
	struct buf *out, struct err *e);
/* ERR_USAGE names the formats there are. */
int fetch_format_check(const char *format, struct err *e);
/* The format that a file of that name is for, by its extension; NULL: none of ours. */
const char *fetch_format_of(const char *path);

#endif
