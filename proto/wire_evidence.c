/* Tables of the evidence beside a trial, and the same as bytes for the store. */
#include "common/base/log.h"
#include "proto/wire.h"

#define COUNTERS(M, S)                                                                             \
	U64_AS(M, read_ops, S, during.read_ops, 0, WIRE_MAX63),                                    \
		U64_AS(M, read_bytes, S, during.read_bytes, 0, WIRE_MAX63),                        \
		U64_AS(M, write_ops, S, during.write_ops, 0, WIRE_MAX63),                          \
		U64_AS(M, write_bytes, S, during.write_bytes, 0, WIRE_MAX63),                      \
		U64_AS(M, read_wait_ns, S, during.read_wait_ns, 0, WIRE_MAX63),                    \
		U64_AS(M, write_wait_ns, S, during.write_wait_ns, 0, WIRE_MAX63),                  \
		U64_AS(M, busy_ns, S, during.busy_ns, 0, WIRE_MAX63),                              \
		U64_AS(M, queue_ns, S, during.queue_ns, 0, WIRE_MAX63)

static const struct map_field disk_fields[] = {
	TEXT(DiskEvidence, struct disk_evidence, id, TEXT_LINE, WIRE_WORD_MAX, MAP_NULL),
	TEXT(DiskEvidence, struct disk_evidence, name, TEXT_LINE, WIRE_WORD_MAX, 0),
	TEXT(DiskEvidence, struct disk_evidence, backing, TEXT_LINE, WIRE_WORD_MAX, MAP_NULL),
	COUNTERS(DiskEvidence, struct disk_evidence),
	U64(DiskEvidence, struct disk_evidence, look_read_bytes, 0, WIRE_MAX63),
	U64(DiskEvidence, struct disk_evidence, look_write_bytes, 0, WIRE_MAX63),
	U64(DiskEvidence, struct disk_evidence, look_busy_ns, 0, WIRE_MAX63),
	FLAG(DiskEvidence, struct disk_evidence, errors_known),
	U64(DiskEvidence, struct disk_evidence, errors, 0, WIRE_MAX63),
	TEXT(DiskEvidence, struct disk_evidence, cache_before, TEXT_LINE, WIRE_WORD_MAX, MAP_NULL),
	TEXT(DiskEvidence, struct disk_evidence, cache_after, TEXT_LINE, WIRE_WORD_MAX, MAP_NULL),
};
static const struct map disk =
	MAP("disks", disk_evidence, struct disk_evidence, disk_fields, NULL);

static const struct map_field setting_fields[] = {
	TEXT(SettingEvidence, struct setting_evidence, name, TEXT_LINE, WIRE_WORD_MAX, 0),
	TEXT(SettingEvidence, struct setting_evidence, of, TEXT_LINE, WIRE_WORD_MAX, MAP_NULL),
	TEXT(SettingEvidence, struct setting_evidence, before, TEXT_LINE, WIRE_LINE_MAX, MAP_NULL),
	TEXT(SettingEvidence, struct setting_evidence, after, TEXT_LINE, WIRE_LINE_MAX, MAP_NULL),
};
static const struct map setting =
	MAP("settings", setting_evidence, struct setting_evidence, setting_fields, NULL);

static const struct map_field source_fields[] = {
	TEXT(SourceEvidence, struct source_evidence, id, TEXT_LINE, WIRE_WORD_MAX, MAP_NULL),
	TEXT(SourceEvidence, struct source_evidence, name, TEXT_LINE, WIRE_WORD_MAX, 0),
	FLAG(SourceEvidence, struct source_evidence, is_written),
	FLAG(SourceEvidence, struct source_evidence, is_shared),
	COUNTERS(SourceEvidence, struct source_evidence),
};
static const struct map source =
	MAP("sources", source_evidence, struct source_evidence, source_fields, NULL);

static const struct map_field core_fields[] = {
	U64(CoreEvidence, struct core_evidence, busy_ns, 0, WIRE_MAX63),
};
static const struct map core =
	MAP("cores", core_evidence, struct core_evidence, core_fields, NULL);

static const struct map_field number_fields[] = {
	U32(EvidenceNumber, struct evidence_number, key, 1, INT32_MAX),
	S64(EvidenceNumber, struct evidence_number, value, INT64_MIN, WIRE_MAX63),
};
static const struct map number =
	MAP("numbers", evidence_number, struct evidence_number, number_fields, NULL);

static const struct map_field evidence_fields[] = {
	PARTS(TrialEvidence, disks, struct trial_evidence, &disk, EVIDENCE_DISKS_MAX, MAP_CUT),
	PARTS(TrialEvidence, cores, struct trial_evidence, &core, EVIDENCE_CORES_MAX, MAP_CUT),
	PARTS(TrialEvidence, numbers, struct trial_evidence, &number, 1000, MAP_CUT),
	TEXT(TrialEvidence, struct trial_evidence, maintenance_before, TEXT_LINE, WIRE_LINE_MAX,
		MAP_NULL),
	TEXT(TrialEvidence, struct trial_evidence, maintenance_after, TEXT_LINE, WIRE_LINE_MAX,
		MAP_NULL),
	PARTS(TrialEvidence, settings, struct trial_evidence, &setting, EVIDENCE_SETTINGS_MAX,
		MAP_CUT),
	PARTS(TrialEvidence, sources, struct trial_evidence, &source, EVIDENCE_SOURCES_MAX, MAP_CUT),
};
const struct map wire_evidence =
	MAP("evidence", trial_evidence, struct trial_evidence, evidence_fields, NULL);

void evidence_encode(const struct trial_evidence *v, struct buf *out)
{
	ProtobufCMessage *wire;
	struct arena a;
	struct err e;

	arena_init(&a, ARENA_NO_LIMIT);
	if (map_encode(&wire_evidence, v, &a, &wire, &e) < 0)
		log_error("evidence", "%s", e.text);
	else
		map_pack(wire, out);
	arena_free(&a);
}

int evidence_decode(const void *data, size_t len, struct trial_evidence *ret, struct err *e)
{
	size_t budget = MSG_DECODE_BUDGET;
	struct trial_evidence v;
	struct arena a;
	int rc;

	if (len > MSG_BATCH_MAX)
		return err_set(e, ERR_PROTOCOL, "evidence: %zu bytes are more than %d", len,
			MSG_BATCH_MAX);
	arena_init(&a, MSG_DECODE_BUDGET);
	rc = map_unpack(&wire_evidence, data, len, &a, &v, &budget, e);
	arena_free(&a);
	if (rc == 0)
		*ret = v;
	return rc;
}
