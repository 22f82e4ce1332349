/*
 * The options of fio that a plan or a job file may set: an allow-list, each with the values it may
 * have. What is in no list is refused, so a newer fio's options are too until somebody looked at
 * them. Internal to common/plan and the agent's fio engine.
 *
 * Invariant: no value that passes names a file outside of the job's folder, a program, a device or
 * a host, and none has a character that fio expands ('$' runs bc through a shell, '`' too).
 */
#ifndef COMMON_PLAN_FIO_OPTION_H
#define COMMON_PLAN_FIO_OPTION_H

#include <stdint.h>

#include "common/base/err.h"

#define FIO_SIZE_MAX (1LL << 56)
#define FIO_MAX_THREADS 1024 /* numjobs, over all jobs */
#define FIO_MAX_DEPTH 4096
#define FIO_MAX_BLOCK (64LL << 20)

enum fio_kind {
	FIO_INT,     /* a whole number from min to max */
	FIO_INTS,    /* up to three of them, "1,2" */
	FIO_REAL,    /* a decimal number from min to max */
	FIO_SIZE,    /* bytes: 4096, 4k, 64m, 1g (powers of 1024) */
	FIO_SIZES,   /* up to three of them: read,write,trim; empty ones keep the first's */
	FIO_RANGES,  /* up to three of 1k-4k */
	FIO_RANGE,   /* a size or 1k-4k */
	FIO_SECONDS, /* 30, 30s, 500ms, 5m */
	FIO_USEC,    /* 100, 100us, 5ms */
	FIO_BOOL,    /* 0 or 1 */
	FIO_FLAG,    /* as FIO_BOOL; a job file may write the name alone */
	FIO_WORD,    /* one of `words` */
	FIO_WORDS,   /* one of `words`, then letters of `also` behind a ':' */
	FIO_CHARS,   /* characters of `also` only */
	FIO_PATTERN, /* 0x…, digits or %o: never a text or a file's name */
	FIO_NAME,    /* a plain file name within the folder */
	FIO_JOB,     /* the name of a job */
	FIO_IGNORED, /* says only how fio reports: taken, and left out */
};
struct fio_row {
	const char *name;
	const char *of; /* the name it is an alias of, or NULL */
	enum fio_kind kind;
	int64_t min, max;        /* numbers, sizes: bytes, times: ns */
	const char *words, *also; /* words: " a b c " */
};

/* The row of an option that may be set, an alias resolved; NULL: it may not. */
const struct fio_row *fio_option_find(const char *name);
/* Why an option that fio has may not be set; NULL: it isn't in the list of those either. */
const char *fio_option_refused(const char *name);
/* 0 when the option may be set to that value (NULL: the name stands alone), else ERR_DENIED for what
 * is refused and ERR_INPUT for what is wrong; the text begins with the option's name. */
int fio_option_check(const char *name, const char *value, struct err *e);
/* Allowed rows, for tests and for suggestions; ends with a NULL name. */
extern const struct fio_row fio_rows[];

/* Values, as fio reads them. 0, or -1 when the text isn't one. */
int fio_parse_size(const char *s, int64_t *ret_bytes);
int fio_parse_time(const char *s, int64_t plain_ns, int64_t *ret_ns); /* plain_ns: of a bare number */
/* The row's value, checked; into e what is wrong, without the name. Internal. */
int fio_value_check(const struct fio_row *row, const char *value, struct err *e);

#endif
