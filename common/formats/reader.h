/* What the readers share: lines, records, notes. Internal to common/formats. */
#ifndef COMMON_FORMATS_READER_H
#define COMMON_FORMATS_READER_H

#include "common/formats/formats.h"

/* One line, without its end: LF, CR LF or CR. */
struct reader {
	const struct format_text *t;
	size_t pos;
	size_t next_lf; /* the first LF at or behind pos, the text's length where there is none */
	int overwrites; /* set behind reader_open: a CR ends no line, but what follows it overwrote what
			 * stands before it (progress), and alone is seen */
	size_t no; /* of the line that was read last, from 1 */
	char *s;   /* the line, NUL-terminated; may be changed */
	size_t len;
	struct buf line;
	struct err *e;
	int failed; /* e is set: a line was too long */
};
void reader_open(struct reader *r, const struct format_text *t, struct err *e);
int reader_next(struct reader *r); /* 0 at the end, and when it failed */
void reader_close(struct reader *r);
/* 1: the line that was read last is not blank, and nothing but blanks follows: it may be cut off. */
int reader_is_last(const struct reader *r);
/* 1: the text ends in that line, without an end of it. */
int reader_is_open(const struct reader *r);
/* ERR_INPUT "name:line: …"; returns -1. */
int reader_wrong(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Puts "name:line: " before an error that has no place yet; returns -1. */
int reader_place(struct reader *r);

/* The line's first place behind blanks. */
char *skip_blanks(const char *s);
/* Cuts blanks off the end, in place; returns s behind leading ones. */
char *trim(char *s);
/* 1 when the line has nothing but blanks. */
int is_blank(const char *s);
/* What follows prefix (compared without case), or NULL. */
const char *after_word(const char *s, const char *prefix);
/* Splits s in place at sep (CSV quotes are honoured when sep is a comma). Returns the number of
 * fields, at most max; more are counted but not kept. */
size_t split_fields(char *s, char sep, char **ret, size_t max);

/* A new record, n_v 0, at the line; valid until the next one is added. Beyond FORMAT_RECORDS_MAX
 * it takes the place of the last one, and the reader comes to its end: format_read() tells why. */
struct format_record *found_record(struct format_found *f, size_t line);
/* Takes away the last record. */
void found_drop(struct format_found *f);
/* A value of a trial, valid until the next one is added; ignored beyond FORMAT_VALUES. */
struct format_value *record_value(struct format_record *r, const char *metric, const char *unit,
	double value, double resolution);
/* elapsed, throughput, ops_per_s from seconds, bytes and ops, where they are known and the record
 * has no such value yet. Resolutions follow from that of the seconds. */
void record_compute(struct format_record *r);
/* Puts the value of that metric, if there is one, before the others: it is what the workload is
 * judged by. */
void record_headline(struct format_record *r, const char *metric);
/* A name from a text as people may see it: escaped as by safe.h, at most 200 bytes. */
char *clean_name(const char *s, size_t len);

void found_note(struct format_found *f, size_t first, size_t last, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The line gave nothing: joins the last note when that one stands right before it. */
void found_unused(struct format_found *f, size_t line, const char *why);
/* The last note at the line says this instead, and is no doubt. */
void found_renote(struct format_found *f, size_t line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* What that note says could be otherwise. */
void found_doubt(struct format_found *f, size_t line);

extern const struct format format_arraymark, format_fio, format_elbencho, format_iozone,
	format_bonnie, format_filebench, format_dd, format_time, format_summary, format_list;

#endif
