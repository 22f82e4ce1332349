/* Tables of the messages between coordinator and agent about jobs, and of the batches' envelope. */
#include <string.h>

#include "proto/wire.h"

static const struct map_field job_key_fields[] = {
	U64(JobKey, struct job_key, run, 1, WIRE_MAX63),
	U64(JobKey, struct job_key, job, 1, WIRE_MAX63),
	U32(JobKey, struct job_key, attempt, 0, INT32_MAX),
};
const struct map wire_job_key = MAP("job_key", job_key, struct job_key, job_key_fields, NULL);

static const struct map_field attempt_key_fields[] = {
	U64(JobKey, struct job_key, run, 1, WIRE_MAX63),
	U64(JobKey, struct job_key, job, 1, WIRE_MAX63),
	U32(JobKey, struct job_key, attempt, 1, INT32_MAX),
};
const struct map wire_attempt_key =
	MAP("job_key", job_key, struct job_key, attempt_key_fields, NULL);

static int maybe_key_check(const void *plain, struct err *e)
{
	const struct job_key *k = plain;

	if ((k->run == 0) != (k->job == 0))
		return err_set(e, ERR_PROTOCOL, "run and job must be set together");
	return 0;
}

static const struct map_field maybe_key_fields[] = {
	U64(JobKey, struct job_key, run, 0, WIRE_MAX63),
	U64(JobKey, struct job_key, job, 0, WIRE_MAX63),
	U32(JobKey, struct job_key, attempt, 0, INT32_MAX),
};
static const struct map maybe_key =
	MAP("job_key", job_key, struct job_key, maybe_key_fields, maybe_key_check);

static const struct map_field unit_fields[] = {
	U32(Unit, struct unit, block, 1, MSG_MAX_BLOCK),
	U32(Unit, struct unit, layout, 0, WIRE_LAYOUT_COUNT - 1),
};
const struct map wire_unit = MAP("unit", unit, struct unit, unit_fields, NULL);

static const struct map_field bound_disks_fields[] = {
	U32(BoundDisks, struct bound_disks, layout, 0, WIRE_LAYOUT_COUNT - 1),
	TEXT(BoundDisks, struct bound_disks, role, TEXT_ID, 16, MAP_REQUIRED),
	U32(BoundDisks, struct bound_disks, group, 0, INVENTORY_MAX_DISKS - 1),
	TEXTS(BoundDisks, struct bound_disks, ids, TEXT_LINE, WIRE_WORD_MAX, INVENTORY_MAX_DISKS,
		0),
};
static const struct map bound_disks =
	MAP("disks", bound_disks, struct bound_disks, bound_disks_fields, NULL);

static int job_offer_check(const void *plain, struct err *e)
{
	const struct msg_job_offer *o = plain;

	if (strspn(o->job_tag, "0123456789abcdef") != 6 || o->job_tag[6])
		return err_set(e, ERR_PROTOCOL, "job_tag is not 6 hex digits");
	return 0;
}

static const struct map_field job_offer_fields[] = {
	PART(JobOffer, key, offsetof(struct msg_job_offer, key), &wire_attempt_key, MAP_REQUIRED),
	PLAN(JobOffer, struct msg_job_offer, plan_text, MAP_REQUIRED),
	TEXTS(JobOffer, struct msg_job_offer, sets, TEXT_LINE, WIRE_PATH_MAX, WIRE_SETS_MAX, 0),
	U64(JobOffer, struct msg_job_offer, seed, 0, UINT64_MAX),
	PARTS(JobOffer, units, struct msg_job_offer, &wire_unit, MSG_MAX_UNITS, 0),
	PARTS(JobOffer, disks, struct msg_job_offer, &bound_disks, INVENTORY_MAX_DISKS, 0),
	TEXT(JobOffer, struct msg_job_offer, job_tag, TEXT_ID, 6, MAP_REQUIRED),
	U64(JobOffer, struct msg_job_offer, deadline_s, 0, WIRE_SECONDS_MAX),
	U32(JobOffer, struct msg_job_offer, blocks, 1, MSG_MAX_BLOCK),
	FLAG(JobOffer, struct msg_job_offer, wait_continue),
	TEXT(JobOffer, struct msg_job_offer, run_name, TEXT_LINE, 2 * MSG_NAME_MAX, 0),
};
const struct map wire_job_offer =
	MAP("job_offer", job_offer, struct msg_job_offer, job_offer_fields, job_offer_check);

static const struct map_field continue_fields[] = {
	PART(Continue, key, offsetof(struct msg_continue, key), &wire_job_key, MAP_REQUIRED),
	PART(Continue, unit, offsetof(struct msg_continue, unit), &wire_unit, MAP_REQUIRED),
	U32(Continue, struct msg_continue, workload, 0, WIRE_WORKLOAD_COUNT - 1),
	U32(Continue, struct msg_continue, repeat, 0, WIRE_REPEAT_MAX),
	S64(Continue, struct msg_continue, start_ns, 0, WIRE_MAX63),
};
const struct map wire_continue =
	MAP("continue", continue, struct msg_continue, continue_fields, NULL);

static const struct map_field finish_fields[] = {
	PART(Finish, key, 0, &wire_job_key, MAP_REQUIRED),
};
const struct map wire_finish = MAP("finish", finish, struct job_key, finish_fields, NULL);

static const struct map_field cancel_fields[] = {
	PART(Cancel, key, offsetof(struct msg_cancel, key), &wire_job_key, MAP_REQUIRED),
	TEXT(Cancel, struct msg_cancel, reason, TEXT_LINE, WIRE_LINE_MAX, 0),
};
const struct map wire_cancel = MAP("cancel", cancel, struct msg_cancel, cancel_fields, NULL);

static const struct map_field preview_fields[] = {
	PLAN(Preview, struct msg_preview, plan_text, MAP_REQUIRED),
	TEXTS(Preview, struct msg_preview, sets, TEXT_LINE, WIRE_PATH_MAX, WIRE_SETS_MAX, 0),
	U64(Preview, struct msg_preview, seed, 0, UINT64_MAX),
	PARTS(Preview, disks, struct msg_preview, &bound_disks, INVENTORY_MAX_DISKS, 0),
};
const struct map wire_preview = MAP("preview", preview, struct msg_preview, preview_fields, NULL);

static const struct map_field preview_step_fields[] = {
	U32(PreviewStep, struct preview_step, layout, 0, WIRE_LAYOUT_COUNT - 1),
	ENUM(PreviewStep, struct preview_step, phase, 0, PHASE_COUNT),
	TEXT(PreviewStep, struct preview_step, what, TEXT_LINE, WIRE_LINE_MAX, 0),
	TEXTS(PreviewStep, struct preview_step, argv, TEXT_LINES, WIRE_PATH_MAX, WIRE_ARGS_MAX, 0),
};
static const struct map preview_step =
	MAP("steps", preview_step, struct preview_step, preview_step_fields, NULL);

static const struct map_field preview_reply_fields[] = {
	PARTS(PreviewReply, steps, struct msg_preview_reply, &preview_step, WIRE_STEPS_MAX, 0),
	PART(PreviewReply, error, offsetof(struct msg_preview_reply, error), &wire_error,
		MAP_OMIT_ZERO),
};
const struct map wire_preview_reply =
	MAP("preview_reply", preview_reply, struct msg_preview_reply, preview_reply_fields, NULL);

static const struct map_field job_accept_fields[] = {
	PART(JobAccept, key, 0, &wire_job_key, MAP_REQUIRED),
};
const struct map wire_job_accept =
	MAP("job_accept", job_accept, struct job_key, job_accept_fields, NULL);

static const struct map_field job_reject_fields[] = {
	PART(JobReject, key, offsetof(struct msg_job_reject, key), &wire_job_key, MAP_REQUIRED),
	PART(JobReject, error, offsetof(struct msg_job_reject, error), &wire_error_set,
		MAP_REQUIRED),
};
const struct map wire_job_reject =
	MAP("job_reject", job_reject, struct msg_job_reject, job_reject_fields, NULL);

static const struct map_field agent_status_fields[] = {
	PART(AgentStatus, key, offsetof(struct msg_agent_status, key), &maybe_key, MAP_OMIT_ZERO),
	ENUM(AgentStatus, struct msg_agent_status, state, 0, AGENT_STATE_COUNT),
	U32(AgentStatus, struct msg_agent_status, unsent, 0, UINT32_MAX),
	TEXT(AgentStatus, struct msg_agent_status, note, TEXT_LINE, WIRE_LINE_MAX, 0),
};
const struct map wire_agent_status =
	MAP("agent_status", agent_status, struct msg_agent_status, agent_status_fields, NULL);

static int batch_check(const void *plain, struct err *e)
{
	const struct msg_batch *b = plain;

	if (b->last < b->first)
		return err_set(e, ERR_PROTOCOL, "last is before first");
	if (b->lost && b->payload_len)
		return err_set(e, ERR_PROTOCOL, "lost records have a payload");
	if (!b->lost && !b->payload_len)
		return err_set(e, ERR_PROTOCOL, "payload is missing");
	return 0;
}

static const struct map_field batch_fields[] = {
	TEXT(Batch, struct msg_batch, epoch, TEXT_ID, MSG_NAME_MAX, 0),
	PART(Batch, key, offsetof(struct msg_batch, key), &wire_attempt_key, MAP_REQUIRED),
	U64(Batch, struct msg_batch, first, 1, WIRE_MAX63),
	U64(Batch, struct msg_batch, last, 1, WIRE_MAX63),
	FLAG(Batch, struct msg_batch, lost),
	BYTES(Batch, payload, struct msg_batch, payload, payload_len, MSG_BATCH_MAX, 0),
};
const struct map wire_batch = MAP("batch", batch, struct msg_batch, batch_fields, batch_check);

static const struct map_field batch_ack_fields[] = {
	PART(BatchAck, key, offsetof(struct msg_batch_ack, key), &wire_attempt_key, MAP_REQUIRED),
	U64(BatchAck, struct msg_batch_ack, last, 0, WIRE_MAX63),
	U64(BatchAck, struct msg_batch_ack, credit, 0, WIRE_MAX63),
	TEXT(BatchAck, struct msg_batch_ack, epoch, TEXT_ID, MSG_NAME_MAX, 0),
};
const struct map wire_batch_ack =
	MAP("batch_ack", batch_ack, struct msg_batch_ack, batch_ack_fields, NULL);

static const struct map_field batch_refuse_fields[] = {
	PART(BatchRefuse, key, offsetof(struct msg_batch_refuse, key), &wire_attempt_key,
		MAP_REQUIRED),
	U64(BatchRefuse, struct msg_batch_refuse, expected, 0, WIRE_MAX63),
	TEXT(BatchRefuse, struct msg_batch_refuse, text, TEXT_LINE, WIRE_LINE_MAX, 0),
};
const struct map wire_batch_refuse =
	MAP("batch_refuse", batch_refuse, struct msg_batch_refuse, batch_refuse_fields, NULL);

static const struct map_field batch_stored_fields[] = {
	PART(BatchStored, key, offsetof(struct msg_batch_stored, key), &wire_attempt_key,
		MAP_REQUIRED),
	U64(BatchStored, struct msg_batch_stored, last, 0, WIRE_MAX63),
};
const struct map wire_batch_stored =
	MAP("batch_stored", batch_stored, struct msg_batch_stored, batch_stored_fields, NULL);
