/* What stands in a file's place: a workload reads and writes regular files of its volume alone. */
#ifndef AGENT_WORKLOAD_FILE_KIND_H
#define AGENT_WORKLOAD_FILE_KIND_H

#include <sys/types.h>

#include "common/base/err.h"

/* "a FIFO", "a folder"; of st_mode. */
const char *file_kind_name(mode_t mode);
/* ERR_INPUT where `name` in the folder `dir` is there and is no regular file: nothing is opened, so
 * that a FIFO cannot hold and a device cannot be touched. directory: the folder's path, for the
 * message. 0 also where it cannot be looked at: whoever opens it says why. */
int file_kind_check(int dir, const char *name, const char *directory, struct err *e);

#endif
