/* Rules V08, V09 and V25 on arrays behind RAID controllers. */
#include "tests/unit/test.h"

#include "tests/unit/rules_kit.h"

#define MIRROR "{pool: {level: mirror, disks: 2, ashift: 12}}"
#define MIRRORS .left = MIRROR, .right = MIRROR
#define BEHIND "\"write_cache\": \"write back\", \"controller\": \"H700 (megaraid_sas)\""
#define PLAIN "\"model\": \"ST4000NM0023\""
#define FLASH BEHIND ", \"rotational\": false"
#define ARRAYS .disks = {{BEHIND, BEHIND}, {BEHIND, BEHIND}}
#define QUIET {EVIDENCE_MAINTENANCE_BEFORE, 0}, {EVIDENCE_MAINTENANCE_AFTER, 0}
#define HUNG {SETTING_TOOL, "storcli64", "gave no answer in 20 s", "gave no answer in 20 s"}
#define HUNG_TEXT "storcli64 gave no answer in 20 s"
#define OF_V0(name, value) {name, "/c0/v0", value, value}

static const struct scene WELL = {.host = "b",
	.set = {OF_V0(SETTING_WRITE_CACHE, WRITE_CACHE_ALWAYS), OF_V0(SETTING_BATTERY, "optimal")}};

static const struct rule_case table[] = {
	{"a controller that told", "V08", {ARRAYS, .told = {QUIET, {EVIDENCE_RAID_CONTROLLERS, 1}}},
		SILENT, 0, NULL},
	{"a controller that did not", "V08", {ARRAYS, .told = {QUIET}}, UNKNOWN, 0, NULL},
	{"a patrol read", "V08",
		{ARRAYS, .told = {{EVIDENCE_MAINTENANCE_BEFORE, 1}, {EVIDENCE_MAINTENANCE_AFTER, 1},
				 {EVIDENCE_RAID_CONTROLLERS, 1}},
			.maintenance = "patrol read of /c0"},
		FIRES, SEVERITY_WARNING, "3 of 3 trials: patrol read of /c0"},
	{"a controller whose tool hangs", "V08", {ARRAYS, .told = {{EVIDENCE_LOOK_NS, 1}}, .set = {HUNG}}, UNKNOWN,
		0, HUNG_TEXT},

	{"disks behind a controller", "V28", {MIRRORS, ARRAYS}, UNKNOWN, 0, NULL},
	{"flash behind a controller", "V28", {MIRRORS, .disks = {{FLASH, FLASH}, {FLASH, FLASH}}}, SILENT, 0, NULL},
	{"a mirror of disks and an array of them", "V16",
		{.left = MIRROR, .right = "{pool: {level: stripe, disks: 1}}", .disks = {{PLAIN, PLAIN}, {BEHIND}}},
		UNKNOWN, 0, NULL},
	{"a mirror and a disk", "V16",
		{.left = MIRROR, .right = "{pool: {level: stripe, disks: 1}}", .disks = {{PLAIN, PLAIN}, {PLAIN}}},
		FIRES, SEVERITY_WARNING, "right survives the loss of 0 disks, left of 1"},

	{"nobody told of the array", "V09", {MIRRORS, ARRAYS}, UNKNOWN, 0, NULL},
	{"a cache as it is set", "V09",
		{MIRRORS, ARRAYS,
			.set = {OF_V0(SETTING_WRITE_CACHE, WRITE_CACHE_BACK),
				OF_V0(SETTING_WRITE_CACHE_SET, WRITE_CACHE_BACK),
				OF_V0(SETTING_BATTERY, "optimal")}},
		SILENT, 0, NULL},
	{"a battery that is bad", "V09",
		{MIRRORS, ARRAYS,
			.set = {OF_V0(SETTING_WRITE_CACHE, WRITE_CACHE_THROUGH),
				OF_V0(SETTING_WRITE_CACHE_SET, WRITE_CACHE_BACK),
				OF_V0(SETTING_BATTERY, "learning")}},
		FIRES, SEVERITY_WARNING,
		"the write cache of /c0/v0 is set to write back and was write through in 3 of 3 trials, "
		"its battery: learning"},
	{"a cache that changed", "V09",
		{MIRRORS, ARRAYS, .set = {OF_V0(SETTING_WRITE_CACHE, WRITE_CACHE_BACK)},
			.set_later = WRITE_CACHE_THROUGH},
		FIRES, SEVERITY_WARNING,
		"write cache of /c0/v0 changed from 'write back' to 'write through' in block 2"},
	{"a bad battery that only the last trial tells of", "V09",
		{MIRRORS, ARRAYS,
			.set = {OF_V0(SETTING_WRITE_CACHE, WRITE_CACHE_THROUGH),
				OF_V0(SETTING_WRITE_CACHE_SET, WRITE_CACHE_BACK)},
			.set_from = 3},
		BOTH, SEVERITY_WARNING,
		"the write cache of /c0/v0 is set to write back and was write through in 1 of 3 trials"},
	{"an array that only the last trial tells of", "V09",
		{MIRRORS, ARRAYS, .set = {OF_V0(SETTING_WRITE_CACHE, WRITE_CACHE_BACK)}, .set_from = 3},
		UNKNOWN, 0, NULL},
	{"an array whose tool hangs", "V09", {MIRRORS, ARRAYS, .set = {HUNG}}, UNKNOWN, 0, HUNG_TEXT},
	{"a tool that hangs with disks that are no array", "V09", {MIRRORS, .set = {HUNG}}, UNKNOWN, 0, HUNG_TEXT},
	{"a tool that was slower than before", "V09",
		{MIRRORS, ARRAYS, .set = {HUNG}, .set_later = "gave no answer in 12 s"}, UNKNOWN, 0, HUNG_TEXT},

	{"arrays whose tool hangs", "V25", {.set = {HUNG}}, UNKNOWN, 0, HUNG_TEXT},
	{"a cache without a battery on one layout", "V25",
		{.set = {OF_V0(SETTING_WRITE_CACHE, WRITE_CACHE_ALWAYS), OF_V0(SETTING_BATTERY, "none")},
			.set_left = 1},
		FIRES, SEVERITY_INVALID, "/c0/v0 caches writes with a battery that is 'none'"},
	{"a cache without a battery that only the last trial tells of", "V25",
		{.set = {OF_V0(SETTING_WRITE_CACHE, WRITE_CACHE_ALWAYS), OF_V0(SETTING_BATTERY, "none")},
			.set_left = 1, .set_from = 3},
		FIRES, SEVERITY_INVALID, "guarantees less in 1 of 3 trials"},
	{"a cache without a battery on both", "V25",
		{.set = {OF_V0(SETTING_WRITE_CACHE, WRITE_CACHE_ALWAYS), OF_V0(SETTING_BATTERY, "none")}},
		SILENT, 0, NULL},
	{"a battery that is bad in the last trial of both", "V25",
		{.set = {OF_V0(SETTING_WRITE_CACHE, WRITE_CACHE_ALWAYS), OF_V0(SETTING_BATTERY, "none")},
			.set_from = 3},
		FIRES, SEVERITY_INVALID, "guarantees less in 1 of 3 trials"},
	{"a host without batteries and one with them", "V25",
		{.set = {OF_V0(SETTING_WRITE_CACHE, WRITE_CACHE_ALWAYS), OF_V0(SETTING_BATTERY, "none")},
			.b = &WELL},
		SILENT, 0, NULL},
	{"a host without batteries against one with them", "V25",
		{.set = {OF_V0(SETTING_WRITE_CACHE, WRITE_CACHE_ALWAYS), OF_V0(SETTING_BATTERY, "none")},
			.b = &WELL, .by = "host"},
		FIRES, SEVERITY_INVALID, "/c0/v0 caches writes with a battery that is 'none'"},
	{"a cache whose battery nobody told of", "V25",
		{.set = {OF_V0(SETTING_WRITE_CACHE, WRITE_CACHE_ALWAYS)}}, UNKNOWN, 0, NULL},
	{"arrays that nobody told of", "V25", {MIRRORS, ARRAYS}, UNKNOWN, 0, NULL},
	{"arrays with caches that need no battery", "V25",
		{MIRRORS, ARRAYS, .set = {OF_V0(SETTING_WRITE_CACHE, WRITE_CACHE_THROUGH)}}, SILENT, 0, NULL},
	{"a cache with its battery on one layout", "V25",
		{.set = {OF_V0(SETTING_WRITE_CACHE, WRITE_CACHE_ALWAYS),
			 OF_V0(SETTING_BATTERY, "optimal")},
			.set_left = 1},
		SILENT, 0, NULL},
};

static void each_rule(void **state)
{
	(void)state;
	cases_hold(table, ARRAY_LEN(table));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_rule)};

	return cmocka_run_group_tests_name("rules on controllers", tests, NULL, NULL);
}
