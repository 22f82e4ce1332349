/* Rules V01 to V03, V12, V16, V18, V25 and V26 on what the work is: its pace, its syncs, its data. */
#include "tests/unit/test.h"

#include "common/plan/work_command.h"
#include "common/plan/workload.h"
#include "tests/unit/rules_kit.h"

#define SET(p) "{scratch: {disks: 4, size: 500G}, pool: {level: raidz1, disks: 4, properties: {" p "}}}"
#define XFS "{scratch: {disks: 1, size: 500G}, filesystem: {type: xfs}}"
#define ON "\"write_cache\": \"write back\""
#define OFF "\"write_cache\": \"write through\""
#define CACHES_ON .disks = {{ON, ON}, {ON, ON}}
#define HOST_WITH(cache)                                                                           \
	"{\"kernel\": \"6.1\", \"cpus\": 4, \"disks\": [{\"id\": \"serial:0\", " cache               \
	"}, {\"id\": \"serial:1\", " cache "}, {\"id\": \"serial:2\", " cache                         \
	"}, {\"id\": \"serial:3\", " cache "}]}"
#define HOST_ON HOST_WITH(ON)
#define HOST_OFF HOST_WITH(OFF)
#define EXISTING .left = "{existing: /srv/a}", .right = "{existing: /srv/b}"
#define WROTE(bytes) .facts = {{COMMAND_WRITTEN, "B", bytes}}
#define BY(metric) "layout, metrics: [" metric "]"
#define PACED .kind = "random: {op: read, size: 64G, rate: 100, duration: 60s}", .op = "read"
#define RATIO(permille) .told = {{EVIDENCE_COMPRESS_RATIO_PERMILLE, permille}}
#define DISK_OF(controller)                                                                        \
	"\"write_cache\": \"write back\", \"controller\": \"" controller "\""
#define RAID DISK_OF("H700 (megaraid_sas)")
#define HBA DISK_OF("SAS2008 (mpt3sas)")
#define MIRROR "{pool: {level: mirror, disks: 2, ashift: 12}}"
#define CACHED                                                                                     \
	"{scratch: {disks: 6, size: 100G}, pool: {level: raidz1, disks: 4, cache: 2}}"
#define UNTORN .kind = PG("full_page_writes: off"), .op = "tpcb", .note = "full_page_writes = off"
#define MOUNTED(options) .set = {{"mount", NULL, options, options}}
#define PG(settings) "pgbench: {scale: 10, clients: 2, duration: 60s, settings: {" settings "}}"

static const struct rule_case table[] = {
	{"a pace, judged by its latency", "V12", {PACED, .host_cpu = 0.3}, SILENT, 0, NULL},
	{"a pace, judged by its rate", "V12", {PACED, .host_cpu = 0.3, .by = BY("ops_per_s")}, FIRES,
		SEVERITY_WARNING, "the plan sets its pace: ops_per_s says what was asked"},
	{"a pace, judged by another latency", "V12",
		{PACED, .host_cpu = 0.3, .by = BY("latency_mean")}, SILENT, 0, NULL},
	{"one of two has a pace", "V12",
		{.host_cpu = 0.3,
			.kind = "parallel: [{stream: {op: write, size: 1G, rate: 1M}}, "
				"{stream: {op: write, size: 1G}}]"},
		FIRES, SEVERITY_NOTE, "the pace of some of it: that part of elapsed is alike"},
	{"both have a pace", "V12",
		{.host_cpu = 0.3,
			.kind = "parallel: [{stream: {op: write, size: 1G, rate: 1M}}, "
				"{stream: {op: write, size: 1G, file-rate: 1M}}]"},
		SILENT, 0, NULL},
	{"a pace that is kept", "V26", {PACED, .bytes = 4096 * 100}, SILENT, 0, NULL},
	{"a pace that is not", "V26", {PACED, .bytes = 4096 * 50}, FIRES, SEVERITY_WARNING,
		"3 of 3 trials fell behind their pace of 100 ops/s, down to 4"},
	{"a pace whose operations nobody counted", "V26", {PACED, .bytes = 1}, UNKNOWN, 0, NULL},
	{"no pace", "V26", {.kind = "random: {op: read, size: 64G, duration: 60s}", .op = "read",
				   .bytes = 4096 * 50}, SILENT, 0, NULL},

	{"a command that only reads", "V03",
		{.kind = "command: {argv: [/bin/cat, x], sync: none}", .op = "command", WROTE(0)}, SILENT,
		0, NULL},
	{"a command that writes", "V03",
		{.kind = "command: {argv: [/bin/cp, x, y], sync: none}", .op = "command", WROTE(12 << 20)},
		FIRES, SEVERITY_WARNING, "the program wrote 12 MiB into files, the disks up to 0 B"},
	{"a command that makes folders", "V03",
		{.kind = "command: {argv: [/bin/mkdir, x], sync: none}", .op = "command", WROTE(0),
			.written = 5 << 20},
		FIRES, SEVERITY_WARNING, "the disks up to 5 MiB meanwhile"},
	{"a command that is synced", "V03",
		{.kind = "command: {argv: [/bin/cp, x, y]}", .op = "command", WROTE(12 << 20)}, SILENT, 0,
		NULL},
	{"nobody counted what it wrote", "V03",
		{.kind = "command: {argv: [/bin/cat, x], sync: none}", .op = "command"}, UNKNOWN, 0, NULL},
	{"a reader beside a command that writes", "V03",
		{.kind = "parallel: [{stream: {op: read, of: put}}, {command: {argv: [/bin/cp], sync: none}}]",
			.op = "parallel", .facts = {{"load.2/" COMMAND_WRITTEN, "B", 7}}},
		FIRES, SEVERITY_WARNING, "wrote 7 B into files"},
	{"a reader beside a command that reads", "V03",
		{.kind = "parallel: [{stream: {op: read, of: put}}, {command: {argv: [/bin/cat], sync: none}}]",
			.op = "parallel", .facts = {{"load.2/" COMMAND_WRITTEN, "B", 0}}},
		SILENT, 0, NULL},
	{"a server that does not sync", "V03", {.kind = PG("fsync: off"), .op = "tpcb"}, FIRES,
		SEVERITY_WARNING, "fsync=off: a transaction is over before its log is on the disks"},
	{"commits that are not waited for", "V03", {.kind = PG("synchronous_commit: off"), .op = "tpcb"},
		FIRES, SEVERITY_WARNING, "synchronous_commit=off: a transaction is over before"},
	{"a server as it is", "V03", {.kind = PG("work_mem: 8MB"), .op = "tpcb"}, SILENT, 0, NULL},
	{"a restore that is synced at its end", "V03",
		{.kind = "pg_restore: {dump: /a, settings: {fsync: off}}", .op = "restore"}, SILENT, 0,
		NULL},
	{"a restore without its checkpoint", "V03",
		{.kind = "pg_restore: {dump: /a, checkpoint: excluded}", .op = "restore"}, FIRES,
		SEVERITY_WARNING, "checkpoint: excluded: the time ends before"},
	{"flowops that sync nothing", "V03", {.kind = "filebench: {personality: fileserver}", .op = "fileserver"},
		FIRES, SEVERITY_WARNING, "no sync among its flowops"},

	{"torn pages on one of two", "V25", {UNTORN, .left = XFS},
		FIRES, SEVERITY_WARNING, "full_page_writes=off: a crash may leave torn pages here"},
	{"torn pages on none", "V25", {UNTORN}, SILENT, 0, NULL},
	{"torn pages on both", "V25",
		{UNTORN, .left = XFS, .right = XFS}, SILENT, 0,
		NULL},
	{"torn pages on none, and a server that tells nothing", "V25",
		{.kind = PG("full_page_writes: off"), .op = "tpcb"}, UNKNOWN, 0, NULL},
	{"torn pages here, and a directory nobody told of", "V25", {UNTORN, .left = XFS,
		.right = "{existing: /srv/b}"},
		UNKNOWN, 0, NULL},
	{"torn pages here, and a directory of btrfs", "V25",
		{UNTORN, CACHES_ON, .left = XFS, .right = "{existing: /srv/b}",
			MOUNTED("rw,relatime,space_cache=v2,subvolid=5,subvol=/")},
		FIRES, SEVERITY_WARNING, "full_page_writes=off: a crash may leave torn pages here"},
	{"torn pages here and in a directory of xfs", "V25",
		{UNTORN, CACHES_ON, .left = XFS, .right = "{existing: /srv/b}", MOUNTED("rw,attr2,inode64,noquota")},
		SILENT, 0, NULL},
	{"torn pages here and on a btrfs that writes over", "V25",
		{UNTORN, CACHES_ON,
			.left = XFS, .right = "{existing: /srv/b}", MOUNTED("rw,nodatacow,subvolid=5,subvol=/")},
		SILENT, 0, NULL},
	{"torn pages here, and a directory of another machine", "V25",
		{UNTORN, .left = XFS, .right = "{existing: /srv/b}", MOUNTED("rw,vers=4.2,addr=10.0.0.1")},
		UNKNOWN, 0, NULL},
	{"torn pages in no directory of btrfs", "V25",
		{UNTORN, CACHES_ON, EXISTING, MOUNTED("rw,subvolid=5,subvol=/")}, SILENT, 0, NULL},
	{"a directory whose pool syncs nothing", "V25",
		{EXISTING, CACHES_ON, .set = {{"sync", NULL, "disabled", "disabled"}}}, SILENT, 0, NULL},
	{"one of two servers does not sync", "V25",
		{.no_plan = 1, .note = "fsync = on\nwork_mem = 4MB", .note_right = "fsync = off"}, BOTH,
		SEVERITY_INVALID, "fsync was off under right and on under left"},
	{"one of two leaves its commits", "V25",
		{.kind = PG("work_mem: 8MB"), .op = "tpcb", .note = "work_mem = 8MB",
			.note_right = "work_mem = 8MB\nsynchronous_commit = off"},
		FIRES, SEVERITY_INVALID, "synchronous_commit was off under right and on under left"},
	{"a host whose server does not sync, under both layouts", "V25",
		{.kind = PG("work_mem: 8MB"), .op = "tpcb", .note = "fsync = off",
			.b = &(const struct scene){.host = "b", .kind = PG("work_mem: 8MB"), .op = "tpcb",
				.note = "work_mem = 8MB"}},
		SILENT, 0, NULL},
	{"two servers alike", "V25",
		{.kind = PG("fsync: off"), .op = "tpcb", .note = "fsync = off", .note_right = "fsync = off"},
		SILENT, 0, NULL},
	{"directories on disks that nobody told of", "V25",
		{EXISTING, .set = {{"sync", NULL, "standard", "standard"}}}, UNKNOWN, 0, NULL},
	{"directories on disks with their caches on and off", "V25",
		{EXISTING, .disks = {{ON, ON}, {OFF, OFF}}}, FIRES, SEVERITY_WARNING,
		"on under left and off under right"},
	{"a host that syncs nothing against one that does", "V25",
		{EXISTING, CACHES_ON, .by = "host", .other = HOST_ON, .set = {{"sync", NULL, "disabled", "disabled"}},
			.b = &(const struct scene){.host = "b", CACHES_ON}},
		FIRES, SEVERITY_INVALID, "sync=disabled here, not on every host"},
	{"a host that syncs nothing, under the only layout", "V25",
		{.alone = 1, .left = "{existing: /srv/a}", CACHES_ON, .by = "host", .other = HOST_ON,
			.set = {{"sync", NULL, "disabled", "disabled"}},
			.b = &(const struct scene){.host = "b", .alone = 1, CACHES_ON}},
		FIRES, SEVERITY_INVALID, "sync=disabled here, not on every host"},
	{"hosts that sync alike", "V25",
		{EXISTING, CACHES_ON, .by = "host", .other = HOST_ON,
			.b = &(const struct scene){.host = "b", CACHES_ON}},
		SILENT, 0, NULL},
	{"a host that does not tell how it syncs", "V25",
		{EXISTING, CACHES_ON, .by = "host", .other = HOST_ON,
			.b = &(const struct scene){.host = "b", CACHES_ON, .no_settings = 1}},
		UNKNOWN, 0, NULL},
	{"hosts whose caches are on and off", "V25",
		{EXISTING, CACHES_ON, .by = "host", .other = HOST_OFF,
			.b = &(const struct scene){.host = "b", CACHES_ON}},
		FIRES, SEVERITY_WARNING, "on at a and off at b"},
	{"directories nobody told of", "V25", {EXISTING}, UNKNOWN, 0, NULL},

	{"by the volume's own ratio", "V01",
		{EXISTING, RATIO(4000), .op = "read", .stream = "{op: read, file: old, size: 64G}",
			.physical = 15 * GIB},
		SILENT, 0, NULL},
	{"less than its ratio explains", "V01",
		{EXISTING, RATIO(4000), .op = "read", .stream = "{op: read, file: old, size: 64G}",
			.physical = 5 * GIB},
		FIRES, SEVERITY_INVALID, "8% of the bytes read (25% expected)"},
	{"a ratio that is better than planned", "V01",
		{RATIO(4000), .op = "read", .data = "{compressible: 50%}", .physical = 10 * GIB}, SILENT,
		0, NULL},
	{"a controller that has a cache", "V01",
		{.left = MIRROR, .right = MIRROR, .op = "read", .disks = {{RAID, RAID}, {HBA, HBA}}},
		UNKNOWN, 0, NULL},
	{"a controller that the first trial does not tell of", "V01",
		{.left = MIRROR, .right = MIRROR, .op = "read", .disks = {{RAID, RAID}, {HBA, HBA}}, .untold = 1},
		UNKNOWN, 0, NULL},
	{"a controller that has none", "V01",
		{.left = MIRROR, .right = MIRROR, .op = "read", .disks = {{HBA, HBA}, {HBA, HBA}}}, SILENT,
		0, NULL},

	{"zeros into a directory that compresses", "V02",
		{EXISTING, .set = {{"compression", NULL, "lz4", "lz4"}},
			.stream = "{op: write, size: 64G, data: zero}"},
		FIRES, SEVERITY_INVALID, "compresses (compression=lz4)"},
	{"zeros into one that does not", "V02",
		{EXISTING, .set = {{"compression", NULL, "off", "off"}},
			.stream = "{op: write, size: 64G, data: zero}"},
		SILENT, 0, NULL},
	{"zeros into xfs", "V02",
		{EXISTING, .set = {{"mount", NULL, "rw,noquota", "rw,noquota"}},
			.stream = "{op: write, size: 64G, data: zero}"},
		SILENT, 0, NULL},
	{"zeros over the network", "V02",
		{EXISTING, .set = {{"mount", NULL, "rw,vers=4.2,addr=10.0.0.1", "rw"}},
			.stream = "{op: write, size: 64G, data: zero}"},
		FIRES, SEVERITY_WARNING, "zeros written, compression unknown"},
	{"what the pool said, not its version", "V02",
		{.zfs = "OpenZFS 2.2.2", .set = {{"compression", NULL, "off", "off"}},
			.stream = "{op: write, size: 64G, data: zero}"},
		SILENT, 0, NULL},

	{"zeros, whatever the plan asked for", "V02",
		{.left = POOL_WITH("off"), .right = POOL_WITH("off"), .set = {{"compression", NULL, "lz4", "lz4"}},
			.stream = "{op: write, size: 64G, data: zero}"},
		FIRES, SEVERITY_INVALID, "compresses (compression=lz4)"},
	{"zeros, as the plan asked for", "V02",
		{.left = POOL_WITH("off"), .right = POOL_WITH("off"), .set = {{"compression", NULL, "off", "off"}},
			.stream = "{op: write, size: 64G, data: zero}"},
		SILENT, 0, NULL},
	{"zeros into a directory whose first trial tells nothing", "V02",
		{EXISTING, .set = {{"compression", NULL, "lz4", "lz4"}}, .set_from = 2,
			.stream = "{op: write, size: 64G, data: zero}"},
		FIRES, SEVERITY_INVALID, "compresses (compression=lz4)"},

	{"a pool that was there already may have cache devices", "V18",
		{EXISTING, .set = {{"sync", NULL, "standard", "standard"}}}, UNKNOWN, 0, NULL},
	{"other directories have none", "V18",
		{EXISTING, .set = {{"mount", NULL, "rw,noquota", "rw,noquota"}}}, SILENT, 0, NULL},

	{"special devices that can lose none", "V16",
		{.left = "{scratch: {disks: 6, size: 500G}, pool: {level: raidz1, disks: 4, special: "
			 "{level: stripe, disks: 2}}}"},
		FIRES, SEVERITY_WARNING, "left survives the loss of 0 disks, right of 1"},
	{"special devices as good", "V16",
		{.left = "{scratch: {disks: 6, size: 500G}, pool: {level: raidz1, disks: 4, special: "
			 "{level: mirror, disks: 2}}}"},
		SILENT, 0, NULL},

	{"only the first trial moved much", "V18",
		{.no_plan = 1, .first_bytes = 64 * GIB, .bytes = 8 * GIB}, FIRES, SEVERITY_WARNING,
		"8 GiB of data, 32 GiB of memory"},
	{"each trial moved much", "V18", {.no_plan = 1, .first_bytes = 65 * GIB}, SILENT, 0, NULL},
	{"a small file, read again and again", "V18",
		{.op = "read", .bytes = 640 * GIB, .data = "random",
			.kind = "random: {op: read, size: 8G, duration: 60s}"},
		FIRES, SEVERITY_WARNING, "8 GiB of data, 32 GiB of memory"},
	{"a part of a large one", "V18",
		{.op = "read", .bytes = 8 * GIB, .kind = "random: {op: read, size: 640G, duration: 60s}"},
		FIRES, SEVERITY_WARNING, "8 GiB of data, 32 GiB of memory"},
	{"mail waits for its syncs", "V18",
		{.op = "varmail", .bytes = GIB, .kind = "filebench: {personality: varmail}"}, FIRES,
		SEVERITY_NOTE, "of memory: caches can hold it"},
	{"a web server does not", "V18",
		{.op = "webserver", .bytes = GIB, .kind = "filebench: {personality: webserver}"}, FIRES,
		SEVERITY_WARNING, "of memory: caches can hold it"},
	{"a database by its scale", "V18", {.kind = PG("work_mem: 8MB"), .op = "tpcb"}, FIRES,
		SEVERITY_NOTE, "160 MiB of data"},
	{"cache devices hold it", "V18", {.left = CACHED}, FIRES, SEVERITY_WARNING,
		"64 GiB of data, 32 GiB of memory and 200 GiB of cache devices"},
	{"cache devices by a selector", "V18",
		{.left = "{pool: {level: raidz1, disks: 4, cache: {transport: nvme, count: 1}}}"}, UNKNOWN,
		0, NULL},
	{"a controller with a cache", "V18",
		{.left = MIRROR, .right = MIRROR, .disks = {{RAID, RAID}, {RAID, RAID}}}, UNKNOWN, 0,
		NULL},
	{"spreads that are not told", "V05", {.summary = 1}, UNKNOWN, 0, NULL},
	{"timings that are not told", "V07", {.summary = 1}, UNKNOWN, 0, NULL},
};

static void each_rule(void **state)
{
	(void)state;
	cases_hold(table, ARRAY_LEN(table));
}

/* What judges a workload: its pace leaves only latencies. */
static void pace_decides_what_judges(void **state)
{
	static const struct {
		const char *work, *headline;
	} rows[] = {
		{"stream: {op: write, size: 1G}", "elapsed"},
		{"stream: {op: write, size: 1G, rate: 1M}", "latency_p99"},
		{"stream: {op: write, size: 1G, file-rate: 1M}", "latency_p99"},
		{"random: {op: read, size: 1G}", "ops_per_s"},
		{"random: {op: read, size: 1G, rate: 10}", "latency_p99"},
		{"pgbench: {scale: 1, clients: 1, duration: 1s, rate: 10}", "latency_p99"},
		{"fio: {options: {rw: read, size: 1g, rate_iops: 10}}", "latency_p99"},
		{"fio: {options: {rw: read, size: 1g, thinktime: 10}}", "ops_per_s"},
		{"parallel: [{stream: {op: write, size: 1G, rate: 1M}}, {stream: {op: write, size: 1G}}]",
			"elapsed"},
		{"parallel: [{stream: {op: write, size: 1G, rate: 1M}}]", "latency_p99"},
		{"filebench: {personality: varmail}", "ops_per_s"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *text = xasprintf("name: p\nhosts: [a]\ntrials: 3\nlayouts: {l: {existing: /srv}}\n"
				       "workloads:\n  w: {%s}\n",
			rows[i].work);
		struct yaml_errors errs = {0};
		struct plan *p = NULL;
		struct err e;

		assert_ok(plan_parse("p", text, strlen(text), &(struct strv){0}, &p, &errs, &e), e);
		if (strcmp(workload_headline(&p->workloads[0]), rows[i].headline))
			fail_msg("%s: %s", rows[i].work, workload_headline(&p->workloads[0]));
		yaml_errors_free(&errs);
		plan_free(p);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule), cmocka_unit_test(pace_decides_what_judges)};

	return cmocka_run_group_tests_name("rules on work", tests, NULL, NULL);
}
