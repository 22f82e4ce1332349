/*
 * Models that their vendors name as drive-managed SMR: Western Digital, "On WD Red NAS Drives",
 * April 2020; Seagate, "CMR and SMR Hard Drives" (product pages); Toshiba, "Toshiba Consumer Hard
 * Drives and SMR", April 2020. Owns the table.
 */
#include "common/measure/smr.h"

#include <stddef.h>
#include <string.h>

#include "common/base/mem.h"

static const struct {
	const char *part, *vendor;
} models[] = {
	{"WD20EFAX", "Western Digital"},
	{"WD30EFAX", "Western Digital"},
	{"WD40EFAX", "Western Digital"},
	{"WD60EFAX", "Western Digital"},
	{"WD20EZAZ", "Western Digital"},
	{"WD60EZAZ", "Western Digital"},
	{"ST2000DM008", "Seagate"},
	{"ST3000DM007", "Seagate"},
	{"ST4000DM004", "Seagate"},
	{"ST6000DM003", "Seagate"},
	{"ST8000DM004", "Seagate"},
	{"ST5000AS0011", "Seagate"},
	{"ST6000AS0002", "Seagate"},
	{"ST8000AS0002", "Seagate"},
	{"ST1000LM048", "Seagate"},
	{"ST2000LM015", "Seagate"},
	{"ST3000LM024", "Seagate"},
	{"ST4000LM024", "Seagate"},
	{"ST5000LM000", "Seagate"},
	{"DT02ABA400", "Toshiba"},
	{"DT02ABA600", "Toshiba"},
	{"HDWD240", "Toshiba"},
	{"HDWD260", "Toshiba"},
	{"HDWL110", "Toshiba"},
	{"HDWL120", "Toshiba"},
	{"MQ04ABF100", "Toshiba"},
	{"MQ04ABD200", "Toshiba"},
	{"MQ04UBD200", "Toshiba"},
};

const char *smr_vendor(const char *model)
{
	for (size_t i = 0; model && i < ARRAY_LEN(models); i++)
		if (strstr(model, models[i].part))
			return models[i].vendor;
	return NULL;
}
