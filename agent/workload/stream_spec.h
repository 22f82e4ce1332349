/*
 * From a stream of the plan to the numbers in a worker's order; the monitor's for the plan's own
 * streams, a worker's for members of a parallel one.
 */
#ifndef AGENT_WORKLOAD_STREAM_SPEC_H
#define AGENT_WORKLOAD_STREAM_SPEC_H

#include "common/base/err.h"
#include "common/plan/plan.h"
#include "proto/msg.h"

/* The workload whose files it moves: the one that `of` leads to, else itself. */
const struct workload *stream_maker(const struct plan *p, const struct workload *w);
/* Sets everything that a stream's order has of its own but the seed; block, repeat and ram_bytes are
 * set. Names are appended. */
int stream_spec_fill(const struct plan *p, const struct workload *w, struct msg_worker_spec *spec,
	struct err *e);

#endif
