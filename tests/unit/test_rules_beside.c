/* Rules V09 to V12 on what an agent tells beside a trial: settings, looks, disks, the dump's disk. */
#include "tests/unit/test.h"

#include "common/plan/workload.h"
#include "tests/unit/rules_kit.h"

#define MIRROR "{pool: {level: mirror, disks: 2, ashift: 12}}"
#define MIRRORS .left = MIRROR, .right = MIRROR
#define HDD "\"write_cache\": \"write back\", \"controller\": \"SAS2008 (mpt3sas)\""
#define BEHIND_RAID "\"write_cache\": \"write back\", \"controller\": \"H700 (megaraid_sas)\""
#define ALIKE {{HDD, HDD}, {HDD, HDD}}
#define SET(p) "{scratch: {disks: 4, size: 500G}, pool: {level: raidz1, disks: 4, properties: {" p "}}}"
#define RESTORE .kind = "pg_restore: {dump: /srv/a.dump}", .op = "restore"
#define DUMP_OUT                                                                                   \
	.put = "pg_restore: {scale: 1}", .kind = "pg_dump: {of: put, target: /srv/out}",           \
	.op = "dump"
#define FROM_SDB .from = {{.name = "sdb", .id = "serial:S1"}}
#define XFS "{scratch: {disks: 1, size: 500G}, filesystem: {type: xfs}}"
#define NOBARRIER                                                                                  \
	"{scratch: {disks: 1, size: 500G}, filesystem: {type: ext4, mount: [nobarrier]}}"
#define QUIET {EVIDENCE_LOOK_NS, NS_PER_S}, {EVIDENCE_OTHER_READ_BYTES, 0}, {EVIDENCE_OTHER_WRITE_BYTES, 0}

static const struct rule_case table[] = {
	{"settings as they were", "V09", {MIRRORS, .disks = ALIKE}, SILENT, 0, NULL},
	{"a property was set while trials ran", "V09",
		{.set = {{"primarycache", NULL, "all", "all"}}, .set_later = "none"}, FIRES,
		SEVERITY_WARNING, "primarycache changed from 'all' to 'none' in block 2: other than at "
				  "first in 2 of 3 trials"},
	{"of a dataset", "V09", {.set = {{"sync", "pg", "standard", "standard"}}, .set_later = "always"},
		FIRES, SEVERITY_WARNING, "sync of pg changed from 'standard' to 'always'"},
	{"a write cache was turned off", "V09",
		{MIRRORS, .disks = ALIKE, .cache_later = "write through"}, FIRES, SEVERITY_WARNING,
		"the write cache of disk 1 of the volume changed from 'write back' to 'write through' in "
		"block 2"},
	{"a write cache was left alone", "V09", {MIRRORS, .disks = ALIKE, .cache_later = "write back"},
		SILENT, 0, NULL},
	{"other than asked", "V09",
		{.right = MIRROR, .disks = ALIKE,
			.left = "{pool: {level: mirror, disks: 2, properties: {primarycache: metadata}}}",
			.set = {{"primarycache", NULL, "all", "all"}}},
		FIRES, SEVERITY_WARNING,
		"the plan asks for primarycache=metadata, the volume had primarycache=all in 3 of 3"},
	{"as asked", "V09",
		{.disks = ALIKE,
			.left = "{pool: {level: mirror, disks: 2, properties: {primarycache: metadata}}}",
			.right = "{pool: {level: mirror, disks: 2, properties: {primarycache: metadata}}}",
			.set = {{"primarycache", NULL, "metadata", "metadata"}}},
		SILENT, 0, NULL},
	{"compression by another name", "V09",
		{.right = MIRROR, .disks = ALIKE,
			.left = "{pool: {level: mirror, disks: 2, properties: {compression: gzip-6}}}",
			.set = {{"compression", NULL, "gzip", "gzip"}}},
		SILENT, 0, NULL},
	{"of a dataset other than asked", "V09",
		{.right = MIRROR, .disks = ALIKE,
			.left = "{pool: {level: mirror, disks: 2, datasets: {pg: {logbias: throughput}}}}",
			.set = {{"logbias", NULL, "latency", "latency"}, {"logbias", "pg", "latency", "latency"}}},
		FIRES, SEVERITY_WARNING, "asks for logbias=throughput of pg, the volume had logbias=latency"},
	{"barriers that were to be off", "V09",
		{.left = NOBARRIER, .right = NOBARRIER, .set = {{"mount", NULL, "rw,relatime,rw", "rw,relatime,rw"}}},
		FIRES, SEVERITY_WARNING, "asks for no barriers, the volume had barriers in 3 of 3"},
	{"barriers that are off as asked", "V09",
		{.left = NOBARRIER, .right = NOBARRIER, .set = {{"mount", NULL, "rw,rw,nobarrier", "rw,rw,nobarrier"}}},
		SILENT, 0, NULL},
	{"barriers that somebody turned off", "V09",
		{.left = XFS, .right = XFS, .set = {{"mount", NULL, "rw,rw", "rw,rw"}},
			.set_later = "rw,rw,nobarrier"},
		FIRES, SEVERITY_WARNING, "mount changed from 'the defaults' to 'nobarrier'"},
	{"an option that says nothing of caches", "V09",
		{.left = XFS, .right = XFS, .set = {{"mount", NULL, "rw,rw,noquota", "rw,rw,noquota"}},
			.set_later = "rw,rw,quota"},
		SILENT, 0, NULL},
	{"an agent of old", "V09", {MIRRORS, .disks = ALIKE, .no_settings = 1}, UNKNOWN, 0, NULL},
	{"a controller with a cache of its own", "V09",
		{MIRRORS, .disks = {{BEHIND_RAID, BEHIND_RAID}, {HDD, HDD}}}, UNKNOWN, 0, NULL},

	{"nothing looked before the trials", "V10",
		{.told = {{EVIDENCE_OTHER_READ_BYTES, 0}, {EVIDENCE_OTHER_WRITE_BYTES, 0}}}, UNKNOWN, 0,
		NULL},
	{"a directory that was looked at", "V10",
		{.right = "{existing: /srv/bench}", .told = {QUIET}, .cache_made = "as it was"}, SILENT,
		0, NULL},
	{"a directory that somebody uses", "V10",
		{.right = "{existing: /srv/bench}", .told = {QUIET}, .look_busy = 0.6,
			.cache_made = "as it was"},
		FIRES, SEVERITY_WARNING,
		"60% busy right before a trial (or what the trial before it left to write)"},

	{"warm caches that somebody emptied", "V10",
		{.told = {QUIET, {EVIDENCE_CACHE_DROPS, 2}}, .cache_made = "warm: left alone"}, FIRES,
		SEVERITY_WARNING, "other work: somebody emptied its page cache during 3 trials that were not to be cold"},
	{"warm caches that nobody emptied", "V10",
		{.told = {QUIET, {EVIDENCE_CACHE_DROPS, 0}}, .cache_made = "warm: left alone"}, SILENT, 0,
		NULL},
	{"cold caches that somebody emptied", "V10", {.told = {QUIET, {EVIDENCE_CACHE_DROPS, 1}}}, SILENT, 0,
		NULL},

	{"a scrub, and one trial that tells nothing", "V08",
		{.told = {{EVIDENCE_MAINTENANCE_BEFORE, 1}, {EVIDENCE_MAINTENANCE_AFTER, 0}},
			.maintenance = "scrub of tank", .untold = 3},
		BOTH, SEVERITY_WARNING, "before or after 2 of 3 trials: scrub of tank"},
	{"no scrub, and one trial that tells nothing", "V08",
		{.told = {{EVIDENCE_MAINTENANCE_BEFORE, 0}, {EVIDENCE_MAINTENANCE_AFTER, 0}}, .untold = 1},
		UNKNOWN, 0, NULL},
	{"a busy host, and one trial that tells nothing", "V10", {.told = {QUIET}, .look_busy = 0.5, .untold = 1},
		BOTH, SEVERITY_WARNING, "a disk of the volume was 50% busy right before a trial"},
	{"a quiet host, and one trial that tells nothing", "V10", {.told = {QUIET}, .untold = 3}, UNKNOWN, 0,
		NULL},
	{"a slow disk, and one trial that tells nothing", "V11", {.busy = {0.3, 0.35, 0.9, 0.3}, .untold = 3},
		BOTH, SEVERITY_WARNING, "disk 3 of the volume is slower than its siblings in 2 of 2 trials"},
	{"siblings, and one trial that tells nothing", "V11", {.busy = {0.8, 0.85, 0.9, 0.7}, .untold = 1},
		UNKNOWN, 0, NULL},
	{"a clock set, and one trial that tells nothing", "V19",
		{.told = {{EVIDENCE_CLOCK_STEP_NS, 3600 * NS_PER_S}}, .untold = 2}, BOTH, SEVERITY_NOTE,
		"the host's clock was set during 2 of 3 trials"},
	{"failed commands, and one trial that tells nothing", "V21", {.errors = 7, .untold = 3}, BOTH,
		SEVERITY_WARNING, "failed or timed out 14 times in 2 of 3 trials"},
	{"no failed command, and one trial that tells nothing", "V21", {.errors = -1, .untold = 1}, UNKNOWN, 0,
		NULL},
	{"too hot, and one trial that tells nothing", "V22",
		{.told = {{EVIDENCE_THROTTLE_EVENTS, 5}, {EVIDENCE_HOT_DISKS, 0}}, .untold = 1}, BOTH,
		SEVERITY_WARNING, "too hot in 2 of 3 trials: CPUs were slowed down 10 times"},

	{"the slow half of a mirror", "V11", {MIRRORS, .pair = 1, .busy = {0.3, 0.9}}, FIRES,
		SEVERITY_WARNING,
		"disk 2 of the volume is slower than its sibling in 3 of 3 trials: a request waits 3.0 "
		"times as long as at the other disk"},
	{"two halves alike", "V11", {MIRRORS, .pair = 1, .busy = {0.5, 0.8}}, SILENT, 0, NULL},
	{"a disk and its log", "V11",
		{.left = "{pool: {level: stripe, disks: 1, log: {level: stripe, disks: 1}}}",
			.right = "{pool: {level: stripe, disks: 1, log: {level: stripe, disks: 1}}}",
			.pair = 1, .busy = {0.3, 0.9}},
		UNKNOWN, 0, NULL},
	{"two disks of a directory", "V11",
		{.left = "{existing: /srv/a}", .right = "{existing: /srv/b}", .pair = 1,
			.busy = {0.3, 0.9}},
		UNKNOWN, 0, NULL},

	{"the dump's disk is the slow one", "V12",
		{RESTORE, .host_cpu = 0.3, FROM_SDB, .from_busy = 0.97, .busy = {0.2, 0.1, 0.2, 0.12}},
		FIRES, SEVERITY_WARNING,
		"bound by the disk that its dump comes from in 3 of 3 trials: sdb was up to 97% busy, "
		"the volume's busiest disk 20%"},
	{"the volume is the slow one", "V12",
		{RESTORE, .host_cpu = 0.3, FROM_SDB, .from_busy = 0.3, .busy = {0.9, 0.9, 0.9, 0.9}},
		SILENT, 0, NULL},
	{"both are busy, the volume more so", "V12",
		{RESTORE, .host_cpu = 0.3, FROM_SDB, .from_busy = 0.85, .busy = {0.9, 0.9, 0.9, 0.9}},
		SILENT, 0, NULL},
	{"the dump goes to a slow disk", "V12",
		{DUMP_OUT, .host_cpu = 0.3, .from = {{.name = "sdb", .is_written = 1}}, .from_busy = 0.9,
			.busy = {0.2, 0.1, 0.2, 0.12}},
		FIRES, SEVERITY_WARNING, "bound by the disk that its dump goes to"},
	{"the dump lies on a disk of the volume", "V12",
		{RESTORE, .host_cpu = 0.3, .from = {{.name = "sdb", .is_shared = 1}}, .from_busy = 0.97,
			.busy = {0.2, 0.1, 0.2, 0.12}},
		FIRES, SEVERITY_WARNING, "the volume stands on the disk that its dump comes from (sdb), too"},
	{"nobody told where the dump lies", "V12",
		{RESTORE, .host_cpu = 0.3, .busy = {0.2, 0.1, 0.2, 0.12}}, UNKNOWN, 0, NULL},
	{"a stream makes its data", "V12", {.host_cpu = 0.3, .busy = {0.2, 0.1, 0.2, 0.12}}, SILENT, 0,
		NULL},
};

static void each_rule(void **state)
{
	(void)state;
	cases_hold(table, ARRAY_LEN(table));
}

/* What moves a dump between the volume and another place, and where. */
static void dumps_have_places(void **state)
{
	static const struct {
		const char *work, *from, *to;
	} rows[] = {
		{"pg_restore: {dump: /srv/a.dump}", "/srv/a.dump", NULL},
		{"pg_restore: {scale: 1}", "/var/tmp", NULL},
		{"pgbench: {scale: 1, clients: 1, duration: 1s}", NULL, NULL},
		{"stream: {op: write, size: 1G}", NULL, NULL},
		{"pg_restore: {scale: 1}}\n  out: {pg_dump: {of: w, target: /srv/out}", "/var/tmp",
			"/srv/out"},
		{"pg_restore: {scale: 1}}\n  out: {pg_dump: {of: w, target: null}", "/var/tmp", NULL},
		{"pg_restore: {scale: 1}}\n  out: {pg_dump: {of: w}", "/var/tmp", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *text = xasprintf("name: p\nhosts: [a]\ntrials: 3\nlayouts: {l: {existing: /srv}}\n"
				       "workloads:\n  w: {%s}\n",
			rows[i].work);
		struct strv from = {0}, to = {0};
		struct yaml_errors errs = {0};
		struct plan *p = NULL;
		struct err e;

		assert_ok(plan_parse("p", text, strlen(text), &(struct strv){0}, &p, &errs, &e), e);
		for (unsigned k = 0; k < p->n_workloads; k++)
			workload_outside(&p->workloads[k], &from, &to);
		assert_int_equal(from.n, rows[i].from != NULL);
		assert_int_equal(to.n, rows[i].to != NULL);
		if (rows[i].from)
			assert_string_equal(from.v[0], rows[i].from);
		if (rows[i].to)
			assert_string_equal(to.v[0], rows[i].to);
		strv_free(&from);
		strv_free(&to);
		yaml_errors_free(&errs);
		plan_free(p);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule), cmocka_unit_test(dumps_have_places)};

	return cmocka_run_group_tests_name("rules beside", tests, NULL, NULL);
}
