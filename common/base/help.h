/*
 * Help texts: one shape for all verbs of all programs, lines of at most 80 columns, options in the
 * order of their names. Pure.
 */
#ifndef COMMON_BASE_HELP_H
#define COMMON_BASE_HELP_H

#include "common/base/args.h"

#define HELP_COLUMNS 80

struct help {
	const char *program, *verb; /* "arraymark", "host list" */
	const char *args;           /* what follows the verb; "" */
	const char *summary;        /* one line, without its full stop */
	const char *text;           /* paragraphs, each ended by a newline; NULL */
	const char *examples;       /* command lines, each ended by a newline; NULL */
	const struct option_spec *options, *common; /* the verb's own, and those of every verb; NULL */
};

/* Appends the whole help of a verb. */
void help_verb(const struct help *h, struct buf *out);
/* Appends a paragraph, or several, broken between words. */
void help_text(const char *text, struct buf *out);
/* Appends "  LEFT   RIGHT", the right part in lines of its own where the left one is too long. */
void help_row(const char *left, const char *right, struct buf *out);
/* Appends a row for each option of the list. */
void help_options(const struct option_spec *list, struct buf *out);

#endif
