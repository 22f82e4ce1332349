/*
 * The control client `arraymark`: what its files share.
 *
 * Each verb is a const struct verb in a file of its own, found in one table (verbs.c). A verb does
 * its work blocking, prints results on stdout and everything else on stderr, and returns the exit
 * status, or -1 with an error, which ctl.c shows and turns into a status. Whatever came from a
 * coordinator or a host is printed through print.h, which escapes it.
 */
#ifndef COORDINATOR_CTL_CTL_H
#define COORDINATOR_CTL_CTL_H

#include "common/base/args.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/json.h"

enum exit_status {
	EXIT_DONE = 0,
	EXIT_WORK_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_NO_ACCESS = 3, /* no connection, no identity, or not allowed */
	EXIT_CONDITION = 4, /* compare: a condition is proven to fail */
	EXIT_UNDECIDED = 5, /* compare: a condition can neither be proven nor disproven */
	EXIT_INTERRUPTED = 130
};

struct verb;

struct ctl {
	const struct verb *verb; /* the present one; NULL before it is found */
	const char *coordinator; /* of -c, or NULL; borrowed */
	int quiet, json;
	int color_out, color_err; /* whether that stream gets colours */
	int terminal_out, terminal_err;
	unsigned width_out, width_err; /* columns of the terminal on that stream; 0: there is none */
	struct strv more; /* lines that belong to the error, beside its text */
};

struct verb {
	const char *name;    /* "host list" */
	const char *args;    /* what follows it: "HOST +TAG|-TAG…" */
	const char *summary; /* one line for the list of verbs */
	const char *help;    /* paragraphs for -h, each ended by a newline; may be "" */
	const char *examples; /* command lines, each ended by a newline */
	const struct option_spec *options; /* NULL: none beside the global ones */
	int min_args, max_args;            /* max -1: any number */
	enum {
		PRIVATE_TOO,   /* without a login it is about the private coordinator of `local` */
		PRIVATE_NAMED, /* about that one only with -c local */
		PRIVATE_NEVER  /* and not then: it makes no sense there */
	} of_fleet;
	int in_order; /* options end at the first argument, so that "-x" may be one */
	int (*run)(struct ctl *c, const struct args *a, struct err *e);
};

extern const struct option_spec global_options[];
extern const struct verb *const verbs[]; /* NULL-terminated, in the order of the help text */

/* Finds the verb that the words begin with; *ret_words is how many words it has. NULL and
 * ERR_USAGE (with a suggestion where one is near) when there is none. */
const struct verb *verb_find(char *const *words, int n, int *ret_words, struct err *e);

/* The whole program but process-wide settings. Returns the exit status. */
int ctl_main(int argc, char **argv);
/* Exit status for an error. */
int ctl_exit_status(enum err_code code);
/* Appends the help of the program (v NULL) or of one verb. */
void ctl_help(const struct verb *v, struct buf *out);

/* Writes to stdout and resets the buffer. */
int ctl_out(struct buf *b, struct err *e);
/* Writes lines for people to stdout: on a terminal those that are too wide for it go on below. */
int ctl_out_lines(const struct ctl *c, const struct buf *lines, struct err *e);
/* v as the one document of --json; steals the reference. */
int ctl_out_json(json_t *v, struct err *e);
/* "arraymark", or "arraymark -c X" where that was given: for hints. */
#define CTL_COMMAND_LEN 320
const char *ctl_command(const struct ctl *c, char out[CTL_COMMAND_LEN]);
/* Lines for people on stderr, each with its newline and safe for a terminal. What is too wide for one goes
 * on below; elsewhere lines stay whole. */
void ctl_tell(const struct ctl *c, const char *lines);
/* A hint for people on stderr: silent with -q and --json. */
void ctl_note(const struct ctl *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A warning on stderr: silent with --json only. */
void ctl_warn(const struct ctl *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
