/*
 * Readers of other tools' outputs. A text goes in, plain records come out: what was measured, where
 * it stands in the text, how finely it was printed; and, line by line, what each line was taken
 * for. The format is found by content. Pure: no files (but format_load), no clock, no locale.
 *
 * Values are positive and finite, in the units of the product: elapsed s, throughput B/s, ops_per_s
 * ops/s, latencies ns, cpu_per_op us/op. A number that cannot be read as what it should be is an
 * error with name:line, never skipped.
 */
#ifndef COMMON_FORMATS_FORMATS_H
#define COMMON_FORMATS_FORMATS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/measure/data_told.h"
#include "common/measure/limits.h"

#define FORMAT_MAX_BYTES ((size_t)256 << 20) /* a longer text is refused */
#define FORMAT_LINE_MAX ((size_t)1 << 20)    /* a longer line is refused, except inside JSON */
#define FORMAT_VALUES 8                      /* values of one record */
#define FORMAT_RECORDS_MAX RESULTS_MAX       /* a text with more is refused */
#define FORMAT_NOTES_MAX (5 * RESULTS_MAX)   /* so is one with more notes */

enum format_mark {
	FORMAT_UNIT_ASSUMED = 1, /* the unit was printed as KB, MB or GB: taken as a power of 1000,
				    and no bytes and seconds were there to check it */
	FORMAT_COMPUTED = 2,     /* not printed: computed from bytes, operations and seconds */
};

struct format_value {
	const char *metric, *unit; /* static words: "elapsed", "s" */
	double value;              /* of a trial; of a summary, the mean */
	double resolution;         /* of value, its last printed digit, in unit; 0: not rounded */
	/* Summaries only; NaN where not printed. */
	double min, max, stddev;
	double min_resolution, max_resolution, stddev_resolution;
	unsigned marks; /* enum format_mark */
};

struct format_record {
	size_t line, last_line;              /* from 1 */
	char *host, *layout, *workload, *op; /* NULL: the text does not say; op: "read", "write" */
	char *cache;                         /* NULL, or what the text says of the caches */
	struct data_told data;
	char *error;             /* NULL, or why this trial failed: its values do not count */
	uint32_t n;              /* 0: one trial; else the values are summaries of n trials */
	int64_t started_wall_ns; /* 0: not known */
	/* Raw figures, 0 where not known. Values are computed from them where both are there. */
	double seconds;
	double seconds_resolution;
	uint64_t bytes, ops;
	double cpu_user_s, cpu_system_s;
	struct format_value *v; /* first what the workload is judged by */
	size_t n_v;             /* at most FORMAT_VALUES */
	char *hist; /* latencies, hist_encode; NULL: none */
	size_t hist_len;
};

/* What lines first…last were taken for: "elapsed 1102.99 s", "not used". */
struct format_note {
	size_t first, last;
	char *text;
	int used;  /* 0: nothing was taken from these lines */
	int doubt; /* they could be something else as well: to be told unasked */
};

struct format_found {
	const char *format; /* name in the table */
	char *run;          /* name that the text gives to all of it, or NULL */
	struct format_record *records;
	size_t n_records, cap_records;
	struct format_note *notes; /* ordered by first line */
	size_t n_notes, cap_notes;
	size_t over; /* while it is read: the line of the first record or note too many, else 0 */
};
void format_found_clear(struct format_found *f);
/* What the record owns. */
void format_record_clear(struct format_record *r);

/* A text ready to be read: UTF-8 or an 8-bit code, no BOM, no NUL. */
struct format_text {
	const char *name; /* for messages; borrowed */
	const char *data;
	size_t len;
	const struct format_found *found; /* what is made of it; NULL: of a head, nothing */
};

struct format {
	const char *name;     /* for --format */
	const char *summary;  /* a few words for people */
	const char *workload; /* of records that have no name for theirs */
	/* 0..100: how sure the head of a text is of this format. */
	int (*score)(const struct format_text *head);
	/* NULL: the format is the export of arraymark itself, which coordinator/results reads. */
	int (*read)(const struct format_text *t, struct format_found *out, struct err *e);
};

/* NULL-terminated. */
extern const struct format *const format_table[];
const struct format *format_find(const char *name); /* NULL when there is none */
/* "arraymark, fio, dd, …" for messages; into out. */
void format_names(struct buf *out);

/* The whole file (path "-": standard input, named "-" in messages), at most FORMAT_MAX_BYTES. */
int format_load(const char *path, struct buf *out, struct err *e);
/* Takes a BOM away and makes UTF-8 of UTF-16 with a BOM, in place. ERR_INPUT for an empty text and
 * for a binary one (NUL bytes). */
int format_decode(const char *name, struct buf *text, struct err *e);
/* The format of a decoded text; ERR_INPUT that names all formats when none fits. */
int format_detect(
	const char *name, const struct buf *text, const struct format **ret, struct err *e);
/* Reads a decoded text; `format` NULL: by content. A text without any record is an error, as is one
 * of which all trials failed, and one of more than FORMAT_RECORDS_MAX records, which is seen when
 * the first of them too many is read. Not for the format whose read is NULL. */
int format_read(const char *name, const struct buf *text, const struct format *format,
	struct format_found *ret, struct err *e);

#endif
