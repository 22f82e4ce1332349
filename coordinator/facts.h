/*
 * What a batch's records mean for the coordinator itself, taken out before the store owns them:
 * small, without histograms. Applied only after the batch is durable.
 */
#ifndef COORDINATOR_FACTS_H
#define COORDINATOR_FACTS_H

#include "proto/record.h"

struct fact {
	enum record_type type;
	int64_t wall_ns;
	struct unit unit;
	uint32_t trial, workload, repeat, position;
	int ok;
	enum step_phase phase;
	enum attempt_state state;
	uint64_t bytes, ops;  /* SAMPLE: sums of neighbouring samples; TRIAL_END: of the trial */
	uint64_t planned_bytes;
	int64_t elapsed_ns;   /* SAMPLE: end of the last one, since the trial's start */
	double rate, ops_rate; /* SAMPLE: of the last one, per second */
	char *text;           /* what, error, identity; NULL: none */
};
struct facts {
	struct fact *v;
	size_t n;
};

void facts_make(const struct records *r, struct facts *ret);
void facts_clear(struct facts *f);

#endif
