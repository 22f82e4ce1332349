/* Pieces of export lines that the report renderers use too. */
#ifndef COORDINATOR_RESULTS_EXPORT_WRITE_H
#define COORDINATOR_RESULTS_EXPORT_WRITE_H

#include "common/base/json.h"
#include "coordinator/results/set.h"

json_t *export_strv(const struct strv *s);

/* A counter of struct telemetry and its key; the same table writes and reads. */
struct telemetry_field {
	const char *key;
	size_t offset; /* of a uint64_t */
};
#define TELEMETRY_FIELDS 12
extern const struct telemetry_field telemetry_fields[TELEMETRY_FIELDS];

#endif
