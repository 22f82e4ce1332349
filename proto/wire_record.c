/* Tables of what an attempt of a job produces. */
#include "proto/wire.h"

static const struct map_field telemetry_fields[] = {
	U64(Telemetry, struct telemetry, disk_read_bytes, 0, WIRE_MAX63),
	U64(Telemetry, struct telemetry, disk_write_bytes, 0, WIRE_MAX63),
	U64(Telemetry, struct telemetry, disk_read_ops, 0, WIRE_MAX63),
	U64(Telemetry, struct telemetry, disk_write_ops, 0, WIRE_MAX63),
	U64(Telemetry, struct telemetry, disk_busy_ns, 0, WIRE_MAX63),
	U32(Telemetry, struct telemetry, disks, 0, INT32_MAX),
	U64(Telemetry, struct telemetry, cpu_user_ns, 0, WIRE_MAX63),
	U64(Telemetry, struct telemetry, cpu_system_ns, 0, WIRE_MAX63),
	U64(Telemetry, struct telemetry, cpu_idle_ns, 0, WIRE_MAX63),
	U64(Telemetry, struct telemetry, cpu_iowait_ns, 0, WIRE_MAX63),
	U64(Telemetry, struct telemetry, mem_free_bytes, 0, WIRE_MAX63),
	U64(Telemetry, struct telemetry, mem_cached_bytes, 0, WIRE_MAX63),
	U64(Telemetry, struct telemetry, arc_bytes, 0, WIRE_MAX63),
};
static const struct map telemetry =
	MAP("tele", telemetry, struct telemetry, telemetry_fields, NULL);

static int sample_check(const void *plain, struct err *e)
{
	const struct sample *s = plain;

	if (s->end_ns <= s->start_ns)
		return err_set(e, ERR_PROTOCOL, "the interval ends before it starts");
	return 0;
}

static const struct map_field sample_fields[] = {
	U32(Sample, struct sample, trial, 1, INT32_MAX),
	S64(Sample, struct sample, start_ns, INT64_MIN / 2, WIRE_MAX63 / 2),
	S64(Sample, struct sample, end_ns, INT64_MIN / 2, WIRE_MAX63 / 2),
	U64(Sample, struct sample, ops, 0, WIRE_MAX63),
	U64(Sample, struct sample, bytes, 0, WIRE_MAX63),
	U64(Sample, struct sample, errors, 0, WIRE_MAX63),
	BYTES(Sample, hist, struct sample, hist, hist_len, WIRE_HIST_MAX, 0),
	PART(Sample, tele, offsetof(struct sample, tele), &telemetry, MAP_OMIT_ZERO),
	BYTES(Sample, usage, struct sample, usage, usage_len, USAGE_BYTES_MAX, 0),
};
const struct map wire_sample = MAP("sample", sample, struct sample, sample_fields, sample_check);

static const struct map_field attempt_start_fields[] = {
	TEXT(AttemptStart, struct record_attempt_start, agent_version, TEXT_LINE, MSG_NAME_MAX, 0),
	PART(AttemptStart, environment, offsetof(struct record_attempt_start, environment),
		&wire_inventory, MAP_REQUIRED),
	TEXT(AttemptStart, struct record_attempt_start, job_tag, TEXT_ID, 6, 0),
};
static const struct map attempt_start = MAP(
	"attempt_start", attempt_start, struct record_attempt_start, attempt_start_fields, NULL);

static const struct map_field unit_start_fields[] = {
	PART(UnitStart, unit, offsetof(struct record_unit_start, unit), &wire_unit, MAP_REQUIRED),
	U32(UnitStart, struct record_unit_start, position, 1, WIRE_LAYOUT_COUNT),
};
static const struct map unit_start =
	MAP("unit_start", unit_start, struct record_unit_start, unit_start_fields, NULL);

static const struct map_field step_fields[] = {
	PART(Step, unit, offsetof(struct record_step, unit), &wire_unit, MAP_REQUIRED),
	ENUM(Step, struct record_step, phase, 0, PHASE_COUNT),
	TEXT(Step, struct record_step, what, TEXT_LINE, WIRE_LINE_MAX, 0),
	TEXTS(Step, struct record_step, argv, TEXT_LINES, WIRE_PATH_MAX, WIRE_ARGS_MAX, MAP_CUT),
	S64(Step, struct record_step, elapsed_ns, 0, WIRE_MAX63),
	FLAG(Step, struct record_step, ok),
	TEXT(Step, struct record_step, output, TEXT_LINES, RECORD_STEP_OUTPUT_MAX, 0),
};
static const struct map step = MAP("step", step, struct record_step, step_fields, NULL);

static const struct map_field volume_ready_fields[] = {
	PART(VolumeReady, unit, offsetof(struct record_volume_ready, unit), &wire_unit,
		MAP_REQUIRED),
	TEXT(VolumeReady, struct record_volume_ready, mount, TEXT_LINE, WIRE_PATH_MAX, 0),
	TEXT(VolumeReady, struct record_volume_ready, identity, TEXT_LINE, WIRE_LINE_MAX, 0),
	TEXT(VolumeReady, struct record_volume_ready, filesystem, TEXT_LINE, WIRE_WORD_MAX, 0),
	U64(VolumeReady, struct record_volume_ready, usable_bytes, 0, WIRE_MAX63),
};
static const struct map volume_ready =
	MAP("volume_ready", volume_ready, struct record_volume_ready, volume_ready_fields, NULL);

static const struct map_field trial_start_fields[] = {
	U32(TrialStart, struct record_trial_start, trial, 1, INT32_MAX),
	PART(TrialStart, unit, offsetof(struct record_trial_start, unit), &wire_unit, MAP_REQUIRED),
	U32(TrialStart, struct record_trial_start, workload, 0, WIRE_WORKLOAD_COUNT - 1),
	U32(TrialStart, struct record_trial_start, repeat, 1, WIRE_REPEAT_MAX),
	TEXT(TrialStart, struct record_trial_start, cache, TEXT_LINE, WIRE_LINE_MAX, 0),
	U64(TrialStart, struct record_trial_start, planned_bytes, 0, WIRE_MAX63),
};
static const struct map trial_start =
	MAP("trial_start", trial_start, struct record_trial_start, trial_start_fields, NULL);

/* A summary has block and layout among its own fields. */
static const struct map_field summary_unit_fields[] = {
	U32(Unit, struct trial_summary, block, 1, MSG_MAX_BLOCK),
	U32(Unit, struct trial_summary, layout, 0, WIRE_LAYOUT_COUNT - 1),
};
static const struct map summary_unit =
	MAP("unit", unit, struct trial_summary, summary_unit_fields, NULL);

static const struct map_field trial_end_fields[] = {
	U32(TrialEnd, struct trial_summary, trial, 1, INT32_MAX),
	PART(TrialEnd, unit, 0, &summary_unit, MAP_REQUIRED),
	U32(TrialEnd, struct trial_summary, workload, 0, WIRE_WORKLOAD_COUNT - 1),
	U32(TrialEnd, struct trial_summary, repeat, 1, WIRE_REPEAT_MAX),
	FLAG(TrialEnd, struct trial_summary, ok),
	TEXT(TrialEnd, struct trial_summary, error, TEXT_LINE, WIRE_LINE_MAX, MAP_NULL),
	S64(TrialEnd, struct trial_summary, started_wall_ns, INT64_MIN, WIRE_MAX63),
	S64(TrialEnd, struct trial_summary, elapsed_ns, 0, WIRE_MAX63),
	S64(TrialEnd, struct trial_summary, sync_ns, 0, WIRE_MAX63),
	U64(TrialEnd, struct trial_summary, bytes, 0, WIRE_MAX63),
	U64(TrialEnd, struct trial_summary, ops, 0, WIRE_MAX63),
	U64(TrialEnd, struct trial_summary, errors, 0, WIRE_MAX63),
	U64(TrialEnd, struct trial_summary, cpu_user_ns, 0, WIRE_MAX63),
	U64(TrialEnd, struct trial_summary, cpu_system_ns, 0, WIRE_MAX63),
	PART(TrialEnd, tele, offsetof(struct trial_summary, tele), &telemetry, MAP_OMIT_ZERO),
	BYTES(TrialEnd, hist, struct trial_summary, hist, hist_len, WIRE_HIST_MAX, 0),
	U32(TrialEnd, struct trial_summary, samples, 0, UINT32_MAX),
	PARTS(TrialEnd, evidence, struct trial_summary, &wire_evidence, 1, 0),
	PART(TrialEnd, detail, offsetof(struct trial_summary, detail), &wire_trial_detail,
		MAP_OMIT_ZERO),
};
static const struct map trial_end =
	MAP("trial_end", trial_end, struct trial_summary, trial_end_fields, NULL);

static const struct map_field unit_end_fields[] = {
	PART(UnitEnd, unit, offsetof(struct record_unit_end, unit), &wire_unit, MAP_REQUIRED),
	FLAG(UnitEnd, struct record_unit_end, ok),
	TEXT(UnitEnd, struct record_unit_end, error, TEXT_LINE, WIRE_LINE_MAX, 0),
};
static const struct map unit_end =
	MAP("unit_end", unit_end, struct record_unit_end, unit_end_fields, NULL);

static const struct map_field attempt_end_fields[] = {
	ENUM(AttemptEnd, struct record_attempt_end, state, ATTEMPT_DONE, ATTEMPT_STATE_COUNT),
	TEXT(AttemptEnd, struct record_attempt_end, error, TEXT_LINE, WIRE_LINE_MAX, 0),
};
static const struct map attempt_end =
	MAP("attempt_end", attempt_end, struct record_attempt_end, attempt_end_fields, NULL);

static const struct map_field await_fields[] = {
	PART(Await, unit, offsetof(struct record_await, unit), &wire_unit, MAP_REQUIRED),
	U32(Await, struct record_await, workload, 0, WIRE_WORKLOAD_COUNT - 1),
	U32(Await, struct record_await, repeat, 0, WIRE_REPEAT_MAX),
};
static const struct map await = MAP("await", await, struct record_await, await_fields, NULL);

const struct map_choice wire_records[] = {
	CHOICE(Record, sample, RECORD_SAMPLE, &wire_sample),
	CHOICE(Record, attempt_start, RECORD_ATTEMPT_START, &attempt_start),
	CHOICE(Record, unit_start, RECORD_UNIT_START, &unit_start),
	CHOICE(Record, step, RECORD_STEP, &step),
	CHOICE(Record, volume_ready, RECORD_VOLUME_READY, &volume_ready),
	CHOICE(Record, trial_start, RECORD_TRIAL_START, &trial_start),
	CHOICE(Record, trial_end, RECORD_TRIAL_END, &trial_end),
	CHOICE(Record, unit_end, RECORD_UNIT_END, &unit_end),
	CHOICE(Record, attempt_end, RECORD_ATTEMPT_END, &attempt_end),
	CHOICE(Record, await, RECORD_AWAIT, &await),
};
const size_t wire_records_n = sizeof(wire_records) / sizeof(wire_records[0]);
