/* Asking zpool. Nothing here changes a pool: what does is a step. */
#ifndef AGENT_VOLUME_ZPOOL_H
#define AGENT_VOLUME_ZPOOL_H

#include "common/base/err.h"
#include "common/base/proc.h"

/* Is the program installed? It may be there without a ZFS that answers it. */
int zpool_is_installed(void);
/* Runs zpool with these words (NULL ends them) and the default deadline. 0 when it ended by itself,
 * whatever its status: the caller frees ret. -1 when it is not installed, could not be started, took
 * too long or was killed. */
int zpool_ask(const char *const *words, struct proc_result *ret, struct err *e);

#endif
