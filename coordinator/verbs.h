/* The daemon's verbs besides `run`: each prints its result to stdout and returns 0, or -1 and e. */
#ifndef COORDINATOR_VERBS_H
#define COORDINATOR_VERBS_H

#include "coordinator/options.h"

/* Makes folder, authority and store; prints the first admin token. ERR_EXISTS when there is one. */
int verb_init(const struct options *o, struct err *e);
/* token and check ask a running daemon, else work on the files themselves; backup reads the store
 * beside it. */
int verb_token(const struct options *o, struct err *e);
int verb_backup(const struct options *o, struct err *e);
int verb_check(const struct options *o, struct err *e);
/* The daemon must not run, and there must be no store. */
int verb_restore(const struct options *o, struct err *e);

#endif
