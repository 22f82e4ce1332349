/* The lines of dd, one at a time. Internal to common/formats. */
#ifndef COMMON_FORMATS_DD_LINE_H
#define COMMON_FORMATS_DD_LINE_H

#include "common/formats/number.h"
#include "common/measure/data_told.h"

struct dd_transfer {
	unsigned long long bytes;
	struct number seconds;
};
/* "N bytes (…) copied, SECONDS s, RATE", in any language, or BSD's "N bytes transferred in SECONDS
 * secs (RATE)". 1: it is one; 0: it is something else; -1: it is one that cannot be read, or whose
 * rate contradicts its bytes and seconds (the error has no place yet). last: nothing but blanks
 * follows the line, which may be cut off. */
int dd_transfer_line(const char *line, int last, struct dd_transfer *ret, struct err *e);

/* What dd counted: blocks that were whole, and others. */
struct dd_blocks {
	unsigned long long whole, part;
};
/* 1: "64+0 records in", in any language. */
int dd_records_line(const char *line, struct dd_blocks *ret);
/* The line has a dd that is given what to read, such as "$ dd if=/dev/zero of=/tank/f bs=1M": 1, and
 * *ret is the data that comes from there, not known of a file, behind a pipe, or where there are several. */
int dd_command_line(const char *s, struct data_told *ret);
/* 1: "dd: error writing '/x': …"; warnings are none, that of short reads in any language. */
int dd_failure_line(const char *line);

#endif
