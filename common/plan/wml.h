/*
 * Workload files in filebench's language (WML, "*.f"), read into a program that an engine can run:
 * filesets, groups of equal threads, the loop of flowops of each. Pure: no files, no clock.
 *
 * Read are: set, define (file, fileset, process, flowop, randvar), create, run, psrun, sleep,
 * eventgen, echo, enable lathist, stats, list, debug, version, usage, quit. `system` is refused.
 * Variables are looked at when the file has been read whole, as filebench does it at `run`.
 * Every error is FILE:line:column and says what would be right.
 */
#ifndef COMMON_PLAN_WML_H
#define COMMON_PLAN_WML_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/plan/wml_dist.h"
#include "common/plan/wml_lex.h"

#define WML_MAX_BYTES (256 * 1024)
#define WML_MAX_ITEMS 4096       /* definitions and flowops of a file */
#define WML_MAX_THREADS 4096     /* of all processes */
#define WML_MAX_OPS 20000        /* flowops of all threads, each counted once a thread */
#define WML_MAX_ENTRIES 10000000 /* files of a fileset */
#define WML_MAX_FDS 64           /* file descriptors of a thread */

enum wml_flow {
	FLOW_READ, FLOW_WRITE, FLOW_AIOWRITE, FLOW_AIOWAIT, FLOW_OPENFILE, FLOW_CREATEFILE,
	FLOW_CLOSEFILE, FLOW_DELETEFILE, FLOW_MAKEDIR, FLOW_REMOVEDIR, FLOW_LISTDIR, FLOW_FSYNC,
	FLOW_FSYNCSET, FLOW_STATFILE, FLOW_READWHOLEFILE, FLOW_WRITEWHOLEFILE, FLOW_APPENDFILE,
	FLOW_APPENDFILERAND, FLOW_BLOCK, FLOW_WAKEUP, FLOW_SEMBLOCK, FLOW_SEMPOST, FLOW_HOG,
	FLOW_DELAY, FLOW_EVENTLIMIT, FLOW_BWLIMIT, FLOW_IOPSLIMIT, FLOW_OPSLIMIT,
	FLOW_FINISHONCOUNT, FLOW_FINISHONBYTES, FLOW_PRINT, FLOW_COMPOSITE
};
enum wml_need {
	NEED_SET = 1,     /* a fileset */
	NEED_SET_OR_FD = 2,
	NEED_IOSIZE = 4,  /* more than 0 */
	NEED_TARGET = 8,  /* the name of another flowop */
	NEED_VALUE = 16,
};
struct wml_flow_type {
	const char *word;
	enum wml_flow flow;
	int is_io;    /* counted as an operation */
	int is_read, is_write; /* counted in r/w too */
	unsigned needs; /* enum wml_need */
};

struct wml_number {
	int64_t fixed;
	const struct wml_dist *dist; /* NULL: fixed */
};
/* The present value, clamped to 0 .. 2^62. */
int64_t wml_draw(const struct wml_number *n, struct wml_random *r);
double wml_number_mean(const struct wml_number *n);

struct wml_set {
	char *name;
	struct wml_number size, width; /* bytes; files a directory */
	int64_t entries, leaf_dirs;
	double dir_gamma;  /* shape of the spread of widths and depths; 0: none */
	int prealloc;      /* percent of the files that are there at the start */
	int reuse, read_only, write_only;
	struct wml_place at;
};

struct wml_op {
	const struct wml_flow_type *type;
	char *name;
	int set;       /* index, -1: none */
	int fd, srcfd; /* 0: not given */
	struct wml_number iosize, value, iters, index;
	int has_index;
	int64_t working_set, high_water;
	int random, dsync, direct, next_fd, blocking, no_readahead;
	char *target;        /* a flowop's name, or NULL */
	char *text;          /* of print */
	struct wml_op *body; /* of FLOW_COMPOSITE */
	size_t n_body;
	struct wml_place at;
};
/* Threads that run the same loop. */
struct wml_group {
	char *process, *name;
	unsigned processes, instances; /* threads: the product */
	struct wml_op *ops;
	size_t n_ops;
};
enum wml_mode { WML_TIMEOUT, WML_ALL_DONE, WML_FIRST_DONE };

struct wml_program {
	char *file; /* as messages name it */
	struct wml_set *sets;
	size_t n_sets;
	struct wml_group *groups;
	size_t n_groups;
	unsigned threads;
	int64_t event_rate; /* a second, 0: no limits */
	enum wml_mode mode;
	int64_t run_s;      /* of `run N`; 0: not said */
	char *echo;         /* what `echo` says, lines */
	struct strv settings; /* "nfiles=1000", variables at the end, sorted */
	struct wml *source; /* owns the distributions */
};

/* What somebody sets from outside: it takes the place of the file's `set` of that variable. A
 * number for a variable of the file that is gamma or exponential becomes its mean. */
struct wml_setting {
	const char *name, *value; /* "nfiles", "1000"; sizes as in plans: 16K */
};

/* Letters, digits and . _ - $ %, at most 79 of them: a value that cannot be anything else where it is
 * written into a workload file. Others are refused by wml_load. */
int wml_setting_is_plain(const char *value);
/* A plain one that begins with a digit: 16k, 1m (as filebench writes 1024 and its powers), 1.5G, 30GB. */
int wml_setting_number(const char *value, int64_t *ret, struct err *e);

/* name: of the text, for messages. A setting that the file doesn't use is an error that names those
 * it could be (NULL-terminated list by wml_variables). */
int wml_load(const char *name, const char *text, size_t len, const struct wml_setting *settings,
	size_t n, struct wml_program **ret, struct err *e);
void wml_free(struct wml_program *p);

/* Bytes of all files of the sets as if each existed, and of those that are made before the start. */
void wml_space(const struct wml_program *p, double *ret_all, double *ret_prealloc);
/* It reads from files. */
int wml_reads(const struct wml_program *p);
/* It writes or makes files; it calls fsync or writes with dsync. */
int wml_writes(const struct wml_program *p);
int wml_syncs(const struct wml_program *p);

/* Built-in texts by name ("varmail"); NULL: none of that name. */
const char *wml_personality(const char *name);
extern const char *const wml_personality_names[]; /* NULL-terminated */

#endif
