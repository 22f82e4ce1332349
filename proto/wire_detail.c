/* Tables of what a trial tells beside its counters, and its form as bytes for the store. */
#include "common/base/log.h"
#include "proto/wire.h"

static const struct map_field part_fields[] = {
	TEXT(TrialPart, struct trial_part, name, TEXT_LINE, DETAIL_NAME_MAX, 0),
	TEXT(TrialPart, struct trial_part, kind, TEXT_LINE, DETAIL_NAME_MAX, 0),
	U64(TrialPart, struct trial_part, ops, 0, WIRE_MAX63),
	U64(TrialPart, struct trial_part, bytes, 0, WIRE_MAX63),
	U64(TrialPart, struct trial_part, errors, 0, WIRE_MAX63),
	S64(TrialPart, struct trial_part, elapsed_ns, 0, WIRE_MAX63),
	BYTES(TrialPart, hist, struct trial_part, hist, hist_len, WIRE_HIST_MAX, 0),
};
static const struct map part = MAP("part", trial_part, struct trial_part, part_fields, NULL);

static const struct map_field fact_fields[] = {
	TEXT(TrialFact, struct trial_fact, name, TEXT_LINE, DETAIL_NAME_MAX, 0),
	TEXT(TrialFact, struct trial_fact, unit, TEXT_LINE, DETAIL_NAME_MAX, 0),
	REAL(TrialFact, struct trial_fact, value),
};
static const struct map fact = MAP("fact", trial_fact, struct trial_fact, fact_fields, NULL);

static const struct map_field note_fields[] = {
	TEXT(TrialNote, struct trial_note, name, TEXT_LINE, DETAIL_NAME_MAX, 0),
	TEXT(TrialNote, struct trial_note, text, TEXT_LINES, DETAIL_NOTE_MAX, 0),
};
static const struct map note = MAP("note", trial_note, struct trial_note, note_fields, NULL);

static const struct map_field detail_fields[] = {
	PARTS(TrialDetail, parts, struct trial_detail, &part, DETAIL_MAX_PARTS, 0),
	PARTS(TrialDetail, facts, struct trial_detail, &fact, DETAIL_MAX_FACTS, 0),
	PARTS(TrialDetail, notes, struct trial_detail, &note, DETAIL_MAX_NOTES, 0),
};
const struct map wire_trial_detail =
	MAP("detail", trial_detail, struct trial_detail, detail_fields, NULL);

void detail_encode(const struct trial_detail *d, struct buf *out)
{
	struct arena a;
	ProtobufCMessage *wire;
	struct err e;

	arena_init(&a, ARENA_NO_LIMIT);
	if (map_encode(&wire_trial_detail, d, &a, &wire, &e) < 0)
		log_error("detail", "%s", e.text);
	else
		map_pack(wire, out);
	arena_free(&a);
}

int detail_decode(const void *data, size_t len, struct trial_detail *ret, struct err *e)
{
	size_t budget = MSG_DECODE_BUDGET;
	struct trial_detail found;
	struct arena a;
	int rc;

	if (len > MSG_FRAME_MAX)
		return err_set(e, ERR_PROTOCOL, "detail: %zu bytes are more than %d", len,
			MSG_FRAME_MAX);
	arena_init(&a, MSG_DECODE_BUDGET);
	rc = map_unpack(&wire_trial_detail, data, len, &a, &found, &budget, e);
	arena_free(&a);
	if (rc == 0)
		*ret = found;
	return rc;
}
