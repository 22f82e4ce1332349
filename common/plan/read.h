/*
 * Reading a YAML tree into structs by tables: one row a key, one reader a kind of value. Shared by
 * plan and policy. Every problem becomes one line in struct yaml_errors and reading goes on, so
 * that all of them come in one pass; a field whose value is wrong keeps its default.
 */
#ifndef COMMON_PLAN_READ_H
#define COMMON_PLAN_READ_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/yaml.h"

struct reading {
	struct yaml_errors *errs;
	struct yaml_errors *warnings;
	void *owner; /* what is being filled: struct plan or struct policy */
	struct strv seen; /* what was reported; free at the end */
};

/* Reads node n into *field. path: of n, for messages. arg: the row's own. */
typedef void key_reader(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg);

struct key_row {
	const char *name;
	key_reader *read;
	size_t offset;   /* of the field within the struct that the table fills */
	const void *arg;
	const char *missing; /* non-NULL: the key is required, and this says what it is for */
};
struct key_table {
	const char *what; /* "a layout", "stream": completes "'x' is not a key of …" */
	const struct key_row *rows;
	size_t n;
};
#define KEY_TABLE(what, rows) {what, rows, sizeof(rows) / sizeof((rows)[0])}

/* Reads a map by its table into target. Anything but a map is one error and -1; errors inside are
 * reported, and the answer is still 0. */
int read_map(struct reading *r, const struct yaml_node *n, const char *path,
	const struct key_table *table, void *target);

struct word {
	const char *name;
	int value;
	const char *unsupported; /* non-NULL: known, but not in this version; "" or a remedy */
};
struct word_list {
	const char *what; /* "a cache state" */
	const struct word *words;
	size_t n;
};
#define WORD_LIST(what, words) {what, words, sizeof(words) / sizeof((words)[0])}

struct int_range {
	int64_t min, max;
};

/* Readers. The comment names the field's type and what arg is. */
key_reader read_word;        /* int or enum; struct word_list */
key_reader read_uint;        /* unsigned; struct int_range */
key_reader read_int;         /* int; struct int_range */
key_reader read_bytes;       /* int64_t; struct int_range of bytes */
key_reader read_time;        /* int64_t nanoseconds; struct int_range */
key_reader read_percent;     /* double fraction; NULL */
key_reader read_bool;        /* int; NULL */
key_reader read_text;        /* char *, replaced; NULL */
key_reader read_list;        /* struct strv: one scalar, a list of them, or nothing; NULL */
key_reader read_path;        /* char *: absolute path without "..", "//" and control characters */
/* These two fill nothing, and their keys are not among those that are named where one is wrong. */
key_reader read_unsupported; /* NULL or a remedy (const char *) */
key_reader read_elsewhere;   /* where such a key belongs (const char *) */

/* The scalar's text, or NULL after reporting that it is missing or no scalar. */
const char *read_scalar(struct reading *r, const struct yaml_node *n, const char *path);
/* "parent.key", key cut and escaped for showing; caller frees. An empty parent adds no dot. */
char *read_child_path(const char *parent, const char *key);
/* 0, or -1 and the reason in why (static text): see read_path. */
int path_is_sane(const char *path, const char **why);

#define SHOWN_LEN 84
/* A text from outside for a message, escaped as by safe.h: at most 64 bytes of it. Returns out. */
const char *shown(const char *s, char out[SHOWN_LEN]);
/* Reports at the node's value, at its key, or as a warning. A line that is there already is not
 * repeated (a matrix reads a layout many times). */
void read_error(struct reading *r, const struct yaml_node *n, const char *path, const char *fmt,
	...) __attribute__((format(printf, 4, 5)));
void read_error_key(struct reading *r, const struct yaml_node *n, const char *path,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void read_warning(struct reading *r, const struct yaml_node *n, const char *path, const char *fmt,
	...) __attribute__((format(printf, 4, 5)));
/* "; did you mean 'x'?" or "" into out (SHOWN_LEN + 24 bytes). words: NULL-terminated. */
const char *suggestion(const char *word, const char *const *words, char *out);
/* Fills e from the list: the first line, and how many more there are. Returns -1. */
int read_errors_fail(const struct yaml_errors *errs, struct err *e);

#endif
