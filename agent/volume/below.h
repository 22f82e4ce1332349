/* Block devices that a path of the host lies on. Asks the host, changes nothing. */
#ifndef AGENT_VOLUME_BELOW_H
#define AGENT_VOLUME_BELOW_H

#include "common/base/buf.h"
#include "common/base/err.h"

/* Kernel names, each once, appended: the disk or partition that is mounted there, or all disks of the
 * pool. path: absolute, without symlinks. None where nothing tells them, as of a file system in
 * memory or over the network. -1: the mounts cannot be read. */
int disks_below(const char *path, struct strv *ret, struct err *e);

#endif
