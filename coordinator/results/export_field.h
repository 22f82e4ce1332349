/*
 * Fields of export lines as tables: a row says what a field is called, what may stand there and where
 * in its struct it is kept. The same rows write and read, so what is written can be read, and what is
 * read was checked: its type, its range, its words.
 */
#ifndef COORDINATOR_RESULTS_EXPORT_FIELD_H
#define COORDINATOR_RESULTS_EXPORT_FIELD_H

#include "common/base/json.h"
#include "coordinator/results/set.h"

enum field_kind {
	FIELD_TEXT,   /* char *, "" where the line has null or nothing */
	FIELD_REF,    /* const char *, the same, borrowed from the line */
	FIELD_BOOL,   /* int */
	FIELD_INT,    /* int */
	FIELD_U32,    /* uint32_t */
	FIELD_I64,    /* int64_t */
	FIELD_U64,    /* uint64_t; beyond INT64_MAX, which JSON's integers end at, its digits as a text */
	FIELD_DIGITS, /* uint64_t, always its digits as a text */
	FIELD_REAL,   /* double */
	FIELD_METRIC, /* enum metric_id, by its name */
	FIELD_LIST,   /* struct strv */
};
enum field_flag {
	FIELD_MUST = 1, /* the line has to have it; else the struct keeps what it holds */
	FIELD_NULL = 2, /* null is NULL or NaN, and the other way round */
	FIELD_FULL = 4, /* no empty text; a number above 0 */
	FIELD_SIGNED = 8, /* any number */
};
struct field {
	const char *key;
	enum field_kind kind;
	unsigned flags;
	size_t offset;
	int64_t least;  /* of a whole number */
	uint64_t most;  /* of a whole number, 0: what its type holds; of a text: bytes, 0: any */
	const char *const *words; /* NULL-terminated: a text is one of them, or ""; NULL: any */
};
struct field_table {
	const struct field *v;
	size_t n;
};

/* ---- the tables (export_tables.c) ---- */
#define EXPORT_INDEX_MOST 20000    /* layouts or workloads of a run */
#define EXPORT_BLOCKS_MOST 1000000 /* of a run, and repeats of a block */
extern const struct field_table export_run_table, export_plan_table, export_host_table,
	export_trial_table, export_telemetry_table, export_printed_table, export_summary_table,
	export_stop_table, export_of_trial_table, export_point_table, export_step_table,
	export_part_table, export_fact_table, export_note_table, export_disk_table,
	export_setting_table, export_source_table;
/* What inventory_json() writes; it is kept as it is. */
extern const struct field_table export_inventory_table, export_inventory_disk_table,
	export_inventory_pool_table;

/* What a line is about, borrowed from it; what it does not have is "" or 0. */
struct export_piece {
	const char *host, *text;
	uint32_t attempt, trial;
};

/* ---- writing ---- */
void export_fields_write(json_t *o, const struct field_table *t, const void *from);
json_t *export_count(uint64_t v); /* as FIELD_U64 */
/* Lines as text, without a JSON value for each of their members: trials and series have many. The line's
 * first members, all of a table's, each with a comma before it; the line ends with "}\n". type and keys
 * hold nothing that JSON escapes. */
void export_begin(const char *type, uint64_t run, struct buf *out);
void export_begin_of_trial(const char *type, uint64_t run, const char *host, uint32_t attempt,
	uint32_t trial, struct buf *out);
void export_members(const struct field_table *t, const void *from, struct buf *out);
/* The values without their keys, as the text of a list, appended. */
void export_fields_print(const struct field_table *t, const void *from, struct buf *out);

/* ---- reading ---- */
struct export_line {
	const json_t *o;
	const char *name; /* of the file */
	size_t no;
};
/* Where in a line a value stands, for messages: "trial: telemetry.disks", "trial-disks: disks[2].id". */
struct field_place {
	const char *member; /* NULL: the line itself */
	size_t i;           /* in the member, from 0; FIELD_WHOLE: the member is no list */
};
#define FIELD_WHOLE SIZE_MAX
#define FIELD_OF_LINE ((struct field_place){NULL, FIELD_WHOLE})

/* Fills the struct from o's members; those that are not in the table are passed over. ERR_INPUT says
 * file, line, field, what was found and what is expected; the struct then holds what was read before.
 * into NULL: they are only checked. */
int export_fields_read(const struct export_line *l, struct field_place at, const json_t *o,
	const struct field_table *t, void *into, struct err *e);
/* One value, as the row says. */
int export_field_take(const struct export_line *l, struct field_place at, const json_t *v,
	const struct field *f, void *into, struct err *e);
/* A whole number from 0 on, if the row takes it: 1. */
int export_field_take_count(const struct field *f, int64_t v, void *into);
/* ERR_INPUT: what stands at `key` (NULL: at the place itself) is not what is expected. v NULL: nothing
 * stands there. */
int export_unexpected(const struct export_line *l, struct field_place at, const char *key,
	const json_t *v, const char *expected, struct err *e);
/* o's member as a list or an object: 0 and NULL where there is none or null and must is 0. */
int export_list(const struct export_line *l, struct field_place at, const json_t *o, const char *key,
	int must, const json_t **ret, struct err *e);
int export_object(const struct export_line *l, struct field_place at, const json_t *o,
	const char *key, int must, const json_t **ret, struct err *e);

#endif
