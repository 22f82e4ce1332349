/*
 * Records: everything an attempt of a job produces, in one numbered stream (from 1, no gaps).
 * The agent encodes them into batches; the coordinator decodes a batch at its edge and applies the
 * records in order. A stream begins with ATTEMPT_START and, when the agent could finish it, ends
 * with ATTEMPT_END.
 */
#ifndef PROTO_RECORD_H
#define PROTO_RECORD_H

#include "proto/msg.h"

enum record_type {
	RECORD_NONE,
	RECORD_SAMPLE,
	RECORD_ATTEMPT_START,
	RECORD_UNIT_START,
	RECORD_STEP,
	RECORD_VOLUME_READY,
	RECORD_TRIAL_START,
	RECORD_TRIAL_END,
	RECORD_UNIT_END,
	RECORD_ATTEMPT_END,
	RECORD_AWAIT,
	RECORD_TYPE_COUNT
};
enum attempt_state {
	ATTEMPT_RUNNING,
	ATTEMPT_DONE,   /* every unit asked for ended well */
	ATTEMPT_FAILED, /* ended, with units missing */
	ATTEMPT_CANCELLED,
	ATTEMPT_INTERRUPTED, /* the agent went away in the middle */
	ATTEMPT_STATE_COUNT
};

#define RECORD_STEP_OUTPUT_MAX (16 * 1024)
#define RECORD_BATCH_MAX 5000 /* records of one batch: whoever cuts batches obeys it */

struct record_attempt_start {
	char *agent_version;
	struct inventory environment;
	char *job_tag; /* of the offer: whose attempt this is, whatever became of the job's number */
};
struct record_unit_start {
	struct unit unit;
	uint32_t position;
};
struct record_step {
	struct unit unit;
	enum step_phase phase;
	char *what;
	struct strv argv;
	int64_t elapsed_ns;
	int ok;
	char *output;
};
struct record_volume_ready {
	struct unit unit;
	char *mount, *identity, *filesystem;
	uint64_t usable_bytes;
};
struct record_trial_start {
	uint32_t trial;
	struct unit unit;
	uint32_t workload, repeat;
	char *cache;
	uint64_t planned_bytes;
};
struct record_unit_end {
	struct unit unit;
	int ok;
	char *error; /* "" when ok */
};
struct record_attempt_end {
	enum attempt_state state;
	char *error;
};
struct record_await {
	struct unit unit;
	uint32_t workload, repeat;
};

struct record {
	enum record_type type;
	int64_t wall_ns;
	union {
		struct sample sample;
		struct record_attempt_start attempt_start;
		struct record_unit_start unit_start;
		struct record_step step;
		struct record_volume_ready volume_ready;
		struct record_trial_start trial_start;
		struct trial_summary trial_end;
		struct record_unit_end unit_end;
		struct record_attempt_end attempt_end;
		struct record_await await;
	} u;
};
void record_clear(struct record *r);

/* Appends one record to a batch payload under construction (payloads concatenate). Texts that are
 * too long are cut, wrong UTF-8 and control characters are replaced. */
void record_encode(const struct record *r, struct buf *payload);

struct records {
	struct record *v;
	size_t n;
};
/* Decodes a payload of at most MSG_BATCH_MAX bytes and RECORD_BATCH_MAX records; checks every field
 * (histograms for their size only). Memory is bounded by MSG_DECODE_BUDGET. An empty payload is an
 * error. */
int records_decode(const void *payload, size_t len, struct records *ret, struct err *e);
void records_clear(struct records *r);

#endif
