/*
 * The host's own counters from /proc: disks by kernel name, CPU, memory, ARC. Reading costs some
 * tens of microseconds and touches no disk.
 */
#ifndef AGENT_TELEMETRY_TELEMETRY_H
#define AGENT_TELEMETRY_TELEMETRY_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/measure/sample.h"

struct telemetry_source;
/* disks: kernel names; those without counters are left out (tele.disks tells how many have some). */
int telemetry_open(const struct strv *disks, struct telemetry_source **ret, struct err *e);
void telemetry_close(struct telemetry_source *t);
/* Counters since boot (memory and ARC: now). */
int telemetry_read(struct telemetry_source *t, struct telemetry *ret, struct err *e);
/* to - from for counters (a wrapped or reset counter gives 0), memory and ARC from `to`. */
void telemetry_delta(const struct telemetry *from, const struct telemetry *to,
	struct telemetry *ret);

#endif
