/*
 * Between the files of the reader of workload files: what a file says, before it is made a program.
 */
#ifndef COMMON_PLAN_WML_INTERNAL_H
#define COMMON_PLAN_WML_INTERNAL_H

#include "common/plan/wml.h"

enum wml_attr {
	ATTR_NAME, ATTR_PATH, ATTR_SIZE, ATTR_ENTRIES, ATTR_DIRWIDTH, ATTR_DIRDEPTHRV, ATTR_DIRGAMMA,
	ATTR_LEAFDIRS, ATTR_PREALLOC, ATTR_PARALLOC, ATTR_REUSE, ATTR_TRUSTTREE, ATTR_READONLY,
	ATTR_WRITEONLY, ATTR_CACHED, ATTR_INSTANCES, ATTR_NICE, ATTR_MEMSIZE, ATTR_USEISM,
	ATTR_IOPRIO, ATTR_FILE, ATTR_FD, ATTR_SRCFD, ATTR_OPENNEXT, ATTR_RANDOM, ATTR_DSYNC,
	ATTR_DIRECTIO, ATTR_INDEXED, ATTR_TARGET, ATTR_ITERS, ATTR_VALUE, ATTR_BLOCKING,
	ATTR_HIGHWATER, ATTR_IOSIZE, ATTR_WORKINGSET, ATTR_NOREADAHEAD, ATTR_RATE, ATTR_COUNT
};
enum wml_item_kind { ITEM_FILESET, ITEM_PROCESS, ITEM_THREAD, ITEM_FLOWOP, ITEM_EVENTGEN,
	ITEM_KIND_COUNT };

enum wml_value_kind { VALUE_NONE, VALUE_NUMBER, VALUE_BOOL, VALUE_TEXT, VALUE_VARIABLE,
	VALUE_RANDOM };
struct wml_value {
	enum wml_value_kind kind;
	int64_t number;        /* VALUE_NUMBER, VALUE_BOOL */
	char *text;            /* VALUE_TEXT */
	unsigned variable;     /* VALUE_VARIABLE */
	struct wml_dist *dist; /* VALUE_RANDOM */
	struct wml_place at;
};
struct wml_variable {
	char *name;
	struct wml_value v;
	int fixed; /* set from outside: what the file sets is not looked at */
	int is_set; /* by the file, at any place */
};
/* Of a composite flowop: a name that is its own; in a call, with the value it has there. */
struct wml_local {
	unsigned variable;
	struct wml_value v;
};
/* One definition or flowop. */
struct wml_item {
	enum wml_item_kind kind;
	int is_file; /* ITEM_FILESET by `define file` */
	char *type;  /* ITEM_FLOWOP: its word */
	const struct wml_flow_type *flow; /* NULL: of a composite one */
	struct wml_value v[ATTR_COUNT];
	struct wml_local *locals;
	size_t n_locals, cap_locals;
	struct wml_item **items;
	size_t n_items, cap_items;
	struct wml_place at;
};
struct wml {
	char *file;
	struct wml_variable *vars;
	size_t n_vars, cap_vars;
	struct wml_item **sets, **processes, **composites;
	size_t n_sets, cap_sets, n_processes, cap_processes, n_composites, cap_composites;
	struct wml_value rate, run; /* VALUE_NONE: not said */
	struct buf echo;
	enum wml_mode mode;
	size_t items; /* of all kinds, against WML_MAX_ITEMS */
};

/* wml_grammar.c */
extern const struct wml_flow_type wml_flow_types[];
extern const size_t wml_flow_count;
const char *wml_attr_word(enum wml_attr a);
/* The attribute of that name in such an item, or -1 and an error that knows the near ones. */
int wml_attr_find(const struct wml_lexer *l, const struct wml_item *item, struct err *e);
/* "; did you mean 'x'?" or "", into out. words: NULL-terminated. */
const char *wml_near(const struct wml_token *t, const char *const *words, char out[WML_SHOWN]);

/* wml_value.c: takes the value behind a '='; the lexer looks at its first token. */
int wml_take_value(struct wml *w, struct wml_lexer *l, struct wml_value *ret, struct err *e);
void wml_value_clear(struct wml_value *v);
unsigned wml_variable_find(struct wml *w, const char *name, size_t len); /* made where it isn't */
struct wml_variable *wml_variable(struct wml *w, const char *name, size_t len); /* valid until the next */
/* wml_set.c: behind `set`; behind `define randvar`. */
int wml_take_set(struct wml *w, struct wml_lexer *l, struct err *e);
int wml_take_randvar(struct wml *w, struct wml_lexer *l, struct err *e);
int wml_apply_settings(struct wml *w, const struct wml_setting *s, size_t n, struct err *e);
int wml_check_settings(const struct wml *w, const struct wml_setting *s, size_t n, struct err *e);
/* wml_random.c: behind cvar or randvar, from the bracket or the first attribute on. */
int wml_take_cvar(struct wml *w, struct wml_lexer *l, struct wml_dist **ret, struct err *e);
int wml_take_randvar_attrs(struct wml *w, struct wml_lexer *l, char end, unsigned *ret_variable,
	struct wml_dist **ret, struct err *e);
void wml_dist_free(struct wml_dist *d);
/* wml_parse.c */
int wml_parse(struct wml *w, const char *text, size_t len, struct err *e);
void wml_item_free(struct wml_item *item);
void wml_source_free(struct wml *w);
/* wml_program.c: what the file says as a program; w is borrowed. */
int wml_build(struct wml *w, struct wml_program *p, struct err *e);

/* wml_eval.c: values where they are used. env: calls of composite flowops, innermost first. */
struct wml_env {
	const struct wml_item *call, *definition;
	const struct wml_env *up;
};
struct wml_eval {
	const struct wml *w;
	const struct wml_env *env;
	struct err *e;
};
int wml_eval_number(const struct wml_eval *x, const struct wml_item *item, enum wml_attr a,
	int64_t otherwise, struct wml_number *ret);
/* As wml_eval_number, and it must be fixed, min .. max. */
int wml_eval_int(const struct wml_eval *x, const struct wml_item *item, enum wml_attr a,
	int64_t otherwise, int64_t min, int64_t max, int64_t *ret);
int wml_eval_bool(const struct wml_eval *x, const struct wml_item *item, enum wml_attr a, int *ret);
/* Caller frees; NULL where it is not written. */
int wml_eval_text(const struct wml_eval *x, const struct wml_item *item, enum wml_attr a,
	char **ret);
/* The value itself, variables followed. */
int wml_eval(const struct wml_eval *x, const struct wml_value *v, struct wml_value *ret);

#endif
