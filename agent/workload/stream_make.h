/* Making the files that a stream reads and nobody else wrote: see stream.own_files in the plan. */
#ifndef AGENT_WORKLOAD_STREAM_MAKE_H
#define AGENT_WORKLOAD_STREAM_MAKE_H

#include "agent/workload/workload.h"

/* Nothing when they are there already, as large as they must be. */
int stream_make(const struct workload_order *order, struct err *e);

#endif
