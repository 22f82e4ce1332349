/*
 * Gathering one trial's evidence: the counters between its start and its end, each interval's part of
 * them, and what was looked at before and after. In the monitor: reads /proc and the disks' counters,
 * nothing else.
 */
#ifndef AGENT_TELEMETRY_GATHER_H
#define AGENT_TELEMETRY_GATHER_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/measure/inventory.h"
#include "common/measure/sample.h"

struct json_t;
struct gather;
/* disks: the volume's, by kernel name. before: what conditions_json() told, or NULL. root: "" or the
 * folder that holds proc and sys. */
int gather_open(const char *root, const struct strv *disks, const struct json_t *before,
	struct gather **ret, struct err *e);
void gather_free(struct gather *g); /* NULL is fine */
/* The trial's clock starts. */
int gather_start(struct gather *g, struct err *e);
/* What happened since the call before: counters into *ret, the packed rest appended to usage. -1 when
 * it cannot be read: both are left alone. */
int gather_sample(struct gather *g, struct telemetry *ret, struct buf *usage);
/* The trial's clock has stopped. */
void gather_end(struct gather *g);
/* What was looked at after the trial: conditions_json() or NULL. */
void gather_after(struct gather *g, const struct json_t *after);
/* Sums over the trial, all zero when it did not start. */
void gather_sums(const struct gather *g, struct telemetry *ret);
/* All of it; inv (may be NULL) tells the disks' ids. The caller clears *ret. */
void gather_evidence(const struct gather *g, const struct inventory *inv, struct trial_evidence *ret);

#endif
