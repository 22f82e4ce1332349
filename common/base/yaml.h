/*
 * YAML text -> tree of nodes with line:column, read through libyaml's events.
 * Limits: depth 32, 256 KiB, 20,000 nodes. Aliases, anchors, tags other than the core ones,
 * duplicate keys, several documents and non-string keys are errors. Syntax errors stop at the
 * first; meaning errors are collected by the callers in struct yaml_errors.
 */
#ifndef COMMON_BASE_YAML_H
#define COMMON_BASE_YAML_H

#include <stddef.h>

#include "common/base/buf.h"
#include "common/base/err.h"

#define YAML_MAX_BYTES (256 * 1024)
#define YAML_MAX_DEPTH 32
#define YAML_MAX_NODES 20000

enum yaml_kind { YAML_SCALAR, YAML_SEQ, YAML_MAP };

struct yaml_node {
	enum yaml_kind kind;
	int line, column;     /* 1-based, of the value; 0 for nodes made by yaml_set_path */
	int key_line, key_column; /* of the key, when the parent is a map */
	char *key;            /* when the parent is a map */
	char *scalar;         /* YAML_SCALAR: text, "" for empty; no NUL inside */
	int quoted;           /* scalar was quoted: never a number, null or boolean */
	struct yaml_node **items; /* SEQ: items; MAP: values with their keys, in file order */
	size_t n, cap;
};

/* A list of messages "name:line:column: path: text", sorted by line at any time. Messages at a
 * node without a line (made by yaml_set_path) or at NULL come first, without "line:column:". */
struct yaml_errors {
	const char *file; /* name shown before the line; borrowed */
	struct strv list;
	struct yaml_place { /* of each message, for sorting */
		int line, column;
	} *places;
	size_t places_cap;
	size_t max; /* 0 = 100; more are counted and said in a last line */
	size_t dropped;
};

/* Parses text (len bytes). On failure one error in e with "file:line:column: …". */
int yaml_parse(const char *file, const char *text, size_t len, struct yaml_node **ret,
	struct err *e);
/* Not yaml_free: libyaml exports a function of that name, and ours would take its place. */
void yaml_node_free(struct yaml_node *n);

struct yaml_node *yaml_get(const struct yaml_node *map, const char *key); /* NULL if absent */
int yaml_is_null(const struct yaml_node *n); /* absent, or unquoted "", ~, null */
int yaml_bool(const struct yaml_node *n, int *ret); /* true/false/yes/no/on/off unquoted; -1 else */

/* Sets path ("workloads.write.stream.size") to the YAML flow value text; makes maps on the way;
 * existing scalars, lists or maps are replaced. Errors say which part of the path is wrong. */
int yaml_set_path(struct yaml_node *root, const char *path, const char *value, struct err *e);

void yaml_error(struct yaml_errors *errs, const struct yaml_node *at, const char *path,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* As yaml_error, placed at the node's key. */
void yaml_error_key(struct yaml_errors *errs, const struct yaml_node *at, const char *path,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void yaml_errors_free(struct yaml_errors *errs);

#endif
