/* Which whole disks a block device stands on: its disk, its parts, the disk of its file. */
#ifndef AGENT_TELEMETRY_UNDER_H
#define AGENT_TELEMETRY_UNDER_H

#include "common/base/buf.h"

/* Kernel names, each once, appended; the device itself where it stands on nothing. root: "" or the
 * folder that holds sys. */
void disks_under(const char *root, const char *name, struct strv *found);

#endif
