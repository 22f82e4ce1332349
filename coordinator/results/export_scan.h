/*
 * Reading what we write ourselves without a JSON value for each member: a place in a line that moves on
 * as long as the line goes on as expected. Whatever else may stand in an export line is left to the
 * JSON reader, which says what is wrong with it.
 */
#ifndef COORDINATOR_RESULTS_EXPORT_SCAN_H
#define COORDINATOR_RESULTS_EXPORT_SCAN_H

#include <stddef.h>
#include <stdint.h>

struct field_table;
struct hist;

struct export_scan {
	const char *at, *end, *begin;
};
/* Each: 1, and the place is behind it; 0: something else stands there, and the line is to be read by
 * other means. */
int scan_is(struct export_scan *s, const char *literal);
/* A whole number from 0 on, without zeros in front. */
int scan_number(struct export_scan *s, int64_t *ret);
/* A text of characters that JSON has as they are: borrowed, without an end of its own. */
int scan_plain(struct export_scan *s, const char **ret, size_t *ret_len);
/* All of a table's members in its order, each but an object's first with a comma before it, taken as
 * export_fields_read() would. What *into holds then is the caller's, also after a 0. */
int scan_members(struct export_scan *s, const struct field_table *t, void *into);
/* A JSON object, however deep: its first and one behind its last character. */
int scan_object(struct export_scan *s, const char **ret_from, const char **ret_to);
/* "100,2,350,1]": the buckets' lowest values and counts, added to *h. */
int scan_buckets(struct export_scan *s, struct hist *h);

#endif
