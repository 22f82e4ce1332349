/* The state folder as its owner sees it: whose its files are, and what to do where there is none. */
#ifndef COORDINATOR_STATE_H
#define COORDINATOR_STATE_H

#include "common/base/err.h"

#define STATE_FORMER "/var/lib/arraymark" /* the default of releases before OPTIONS_STATE was one */

/* A service's account owns its state folder, in which root's verbs work, too. Gives what root made there
 * (the lock, the store, the authority) to the folder's owner, without whom the service could not open it.
 * Nothing happens unless we are root, or where there is no folder. No SQLite connection to the store may be
 * open in this process: closing a file drops its locks. */
int state_give(const char *state, struct err *e);

/* What to do about a state folder that has no authority or store: `init` or, where the default is meant
 * (usual) and the default of before (former) holds a store, to move that. Caller frees. */
char *state_remedy(const char *state, const char *usual, const char *former);
/* ERR_NOTFOUND with the path that is missing and the remedy; -1. */
int state_missing(const char *path, const char *state, struct err *e);

#endif
