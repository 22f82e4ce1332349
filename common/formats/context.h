/*
 * What lines such as "layout: raidz2" say about the results that follow, in texts that people
 * write or put together: run, host, layout, workload, op, bytes (of one trial), metric (of plain
 * numbers), cache, data. Internal to common/formats.
 */
#ifndef COMMON_FORMATS_CONTEXT_H
#define COMMON_FORMATS_CONTEXT_H

#include "common/formats/reader.h"

struct context {
	char *host, *layout, *workload, *op, *cache;
	struct data_told data;
	uint64_t bytes;
	const char *metric, *unit; /* of numbers without a unit; NULL: seconds */
	size_t first_result;       /* line of the first result; run: must stand before it */
};
void context_clear(struct context *c);

/* 1: the line is blank, a comment or a "key: value" that was taken (and noted); 0: something else;
 * -1: error. */
int context_line(struct context *c, struct reader *r, struct format_found *f);
/* Sets one key (also from "key=value"). 0: no such key; 1: taken; -1: error. */
int context_set(struct context *c, struct reader *r, const char *key, const char *value);
/* The line at s has a key that is none: an error that names those there are; returns -1. */
int context_unknown(struct reader *r, const char *s);
/* Fills a record's names and bytes where it has none. */
void context_apply(const struct context *c, struct format_record *rec);
/* "raidz2, write" or "" for notes; into out. */
const char *context_of(const struct format_record *rec, char *out, size_t len);

#endif
