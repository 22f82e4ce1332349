/* Finding a verb by the words of a command line: of one word, or of two with a group such as "host". Pure. */
#ifndef COMMON_BASE_VERBS_H
#define COMMON_BASE_VERBS_H

#include "common/base/err.h"

/* The place in the NULL-terminated list ("run", "host list", …) of the verb that the n words (at least
 * one) begin with; *ret_words: how many of them it takes. -1 and ERR_USAGE with the one that was meant, or
 * all of a group. hint follows an error without such; "" for none. */
int verb_place(const char *const *names, char *const *words, int n, const char *hint, int *ret_words,
	struct err *e);

#endif
