/*
 * Command lines: GNU long options, those of all verbs and a verb's own together. Owns nothing but
 * the list of options given; texts are borrowed from argv.
 */
#ifndef COMMON_BASE_ARGS_H
#define COMMON_BASE_ARGS_H

#include "common/base/buf.h"
#include "common/base/err.h"

struct option_spec {
	const char *name;  /* long name; NULL ends a list */
	char letter;       /* 0: none */
	const char *value; /* what its value is called in the help; NULL: a flag */
	const char *help;  /* NULL: not for people */
};

struct given_option {
	const struct option_spec *spec;
	const char *value; /* "" for a flag */
};
struct args {
	struct given_option *given;
	size_t n_given, cap;
	char **v; /* what is no option; NULL-terminated, inside argv (which is permuted) */
	int n;
};

/* Parses argv[1…] (argv[0] is skipped) by the options of both lists; each may be NULL. in_order:
 * stop at the first word that is no option. Options are added to those already there. ERR_USAGE with
 * a suggestion. */
int args_parse(int argc, char **argv, const struct option_spec *common,
	const struct option_spec *own, int in_order, struct args *ret, struct err *e);
void args_clear(struct args *a);

/* The last value given, "" for a flag, NULL when it was not given. */
const char *args_get(const struct args *a, const char *name);
/* All values, in order; `commas`: each is split at commas. Appended. */
void args_all(const struct args *a, const char *name, int commas, struct strv *ret);

#endif
