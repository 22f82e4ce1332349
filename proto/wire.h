/* The tables of all messages, and the limits they share. Internal to proto/. */
#ifndef PROTO_WIRE_H
#define PROTO_WIRE_H

#include "proto/map.h"
#include "proto/msg.h"
#include "proto/record.h"

#define WIRE_MAX63 ((uint64_t)INT64_MAX) /* numbers that a signed column must hold */
#define WIRE_WORD_MAX 256                /* serials, models, disk ids */
#define WIRE_LINE_MAX 1023
#define WIRE_PATH_MAX 4095
#define WIRE_PEM_MAX (64 * 1024)
#define WIRE_HIST_MAX (64 * 1024)
#define WIRE_LAYOUT_COUNT 10000
#define WIRE_WORKLOAD_COUNT 10000
#define WIRE_REPEAT_MAX 1000000
#define WIRE_SECONDS_MAX (10LL * 366 * 86400)
#define WIRE_ARGS_MAX 4096
#define WIRE_SETS_MAX 256
#define WIRE_STEPS_MAX 20000
#define WIRE_FILES_MAX 10000

/* Messages whose plain side is one number in the union of struct msg. */
struct wire_u64 {
	uint64_t v;
};
struct wire_s64 {
	int64_t v;
};

extern const struct map wire_hello, wire_hello_reply, wire_ping, wire_pong, wire_error;
extern const struct map wire_error_set; /* as wire_error, refused without a code */
extern const struct map wire_enrol_request, wire_enrol_reply, wire_call, wire_chunk;

extern const struct map wire_job_key;     /* run and job set */
extern const struct map wire_attempt_key; /* attempt set too */
extern const struct map wire_unit;
extern const struct map wire_job_offer, wire_continue, wire_finish, wire_cancel, wire_preview;
extern const struct map wire_preview_reply, wire_job_accept, wire_job_reject, wire_agent_status;
extern const struct map wire_batch, wire_batch_ack, wire_batch_refuse, wire_batch_stored;

extern const struct map wire_inventory;
extern const struct map wire_evidence; /* a trial's */

extern const struct map wire_link_setup, wire_link_state;
extern const struct map wire_worker_spec, wire_worker_ready, wire_worker_go, wire_worker_done;

extern const struct map wire_sample, wire_trial_detail;
extern const struct map_choice wire_records[]; /* enum record_type */
extern const size_t wire_records_n;

#endif
