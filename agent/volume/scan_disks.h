/*
 * Opening disks for a scan: which, and that only for reading.
 *
 * Runs in a helper child with the agent's rights. What leaves it are descriptors that can read and
 * nothing else; they go to the worker, which could not open the disks itself.
 */
#ifndef AGENT_VOLUME_SCAN_DISKS_H
#define AGENT_VOLUME_SCAN_DISKS_H

#include "agent/volume/volume.h"
#include "common/plan/work_scan.h"

/* Opens the disks of the scan read-only and past the page cache, and sends them in one message
 * through the socket `to`; their kernel names are appended to ret, in the same order. One that cannot
 * be opened is passed over: its entry is the name, a space and why. -1 when none can be opened.
 * v: the volume of the layout. */
int scan_disks_send(const struct volume_ctx *ctx, const struct volume *v, const struct work_scan *s,
	int to, struct strv *ret, struct err *e);

#endif
