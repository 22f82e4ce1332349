/* rules: each fires where it should, is silent where it should, says unknown where it must. */
#include "tests/unit/test.h"

#include <stdio.h>

#include "tests/unit/rules_kit.h"

/* Members of what a host tells of a disk. */
#define DISK(cache, sector, rotational, model)                                                     \
	"\"write_cache\": \"" cache "\", \"physical_sector_bytes\": " sector                         \
	", \"rotational\": " rotational ", \"model\": \"" model "\""
#define HDD DISK("write back", "4096", "true", "ST4000NM0023")
#define SSD DISK("write back", "4096", "false", "INTEL SSDSC2")
#define REAL "{pool: {level: mirror, disks: 2, ashift: 12}}"
static const double flat[40] = {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 4, 4, 4, 4,
	4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4};
static const double falling[40] = {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,
	9, 8, 8, 8, 8, 7, 7, 7, 7, 6, 6, 6, 6, 5, 5, 5, 5};

static const struct rule_case table[] = {
	{"a tenth from the disks", "V01", {.op = "read", .physical = 6 * GIB}, FIRES,
		SEVERITY_INVALID, "9% of the bytes read (100% expected)"},
	{"half was compressed away", "V01",
		{.op = "read", .data = "{compressible: 50%}", .physical = 20 * GIB}, SILENT, 0,
		NULL},
	{"less than compression explains", "V01",
		{.op = "read", .data = "{compressible: 50%}", .physical = 15 * GIB}, FIRES,
		SEVERITY_INVALID, "(50% expected)"},
	{"zeros may have vanished", "V01", {.op = "read", .data = "zero", .physical = GIB}, UNKNOWN,
		0, NULL},
	{"all from the disks", "V01", {.op = "read", .physical = 65 * GIB}, SILENT, 0, NULL},
	{"warm was asked", "V01", {.op = "read", .cache = "warm", .physical = GIB}, SILENT, 0,
		NULL},
	{"no counters", "V01", {.op = "read", .no_counters = 1}, UNKNOWN, 0, NULL},
	{"a write", "V01", {.physical = GIB}, SILENT, 0, NULL},
	{"an import that does not say what it did", "V01", {.no_plan = 1, .op = "command"}, UNKNOWN, 0,
		NULL},
	{"an import of reads", "V01", {.no_plan = 1, .op = "read", .bytes = 1}, UNKNOWN, 0, NULL},
	{"an import of writes", "V01", {.no_plan = 1}, SILENT, 0, NULL},
	{"a mean of reads", "V01", {.summary = 1, .op = "read"}, UNKNOWN, 0, NULL},
	{"an imported mean", "V01", {.summary = 1, .no_plan = 1}, UNKNOWN, 0, NULL},
	{"zeros on lz4", "V02",
		{.left = POOL_WITH("lz4"),
			.right = POOL_WITH("off"),
			.stream = "{op: write, size: 64G, data: zero}"},
		FIRES, SEVERITY_INVALID, "compresses (compression=lz4)"},
	{"zeros that are read again", "V02",
		{.left = POOL_WITH("on"), .right = POOL_WITH("off"), .op = "read", .data = "zero"},
		FIRES, SEVERITY_INVALID, "compression=on"},
	{"half of it shrinks", "V02",
		{.left = POOL_WITH("zstd"),
			.right = POOL_WITH("off"),
			.stream = "{op: write, size: 64G, data: {compressible: 50%}}"},
		FIRES, SEVERITY_WARNING, "shrink by 50%"},
	{"zeros, compression is off", "V02",
		{.left = POOL_WITH("off"),
			.right = POOL_WITH("off"),
			.stream = "{op: write, size: 64G, data: zero}"},
		SILENT, 0, NULL},
	{"random data on lz4", "V02", {.left = POOL_WITH("lz4")}, SILENT, 0, NULL},
	{"OpenZFS 2.2 compresses", "V02",
		{.zfs = "OpenZFS 2.2.2-0ubuntu9", .stream = "{op: write, size: 64G, data: zero}"},
		FIRES, SEVERITY_INVALID, "the default of OpenZFS 2.2.2-0ubuntu9"},
	{"OpenZFS 2.1 does not", "V02",
		{.zfs = "OpenZFS 2.1.11-1", .stream = "{op: write, size: 64G, data: zero}"}, SILENT,
		0, NULL},
	{"zfs-fuse does not", "V02",
		{.zfs = "zfs-fuse, pool version 23",
			.stream = "{op: write, size: 64G, data: zero}"},
		SILENT, 0, NULL},
	{"some ZFS", "V02", {.zfs = "OpenZFS", .stream = "{op: write, size: 64G, data: zero}"},
		FIRES, SEVERITY_WARNING, "zeros written, compression unknown"},
	{"zeros into a directory", "V02",
		{.left = POOL_WITH("off"),
			.right = "{existing: /srv/bench}",
			.stream = "{op: write, size: 64G, data: zero}"},
		FIRES, SEVERITY_WARNING, "zeros written, compression unknown"},
	{"data that shrinks into a directory", "V02",
		{.left = POOL_WITH("off"),
			.right = "{existing: /srv/bench}",
			.stream = "{op: write, size: 64G, data: {compressible: 50%}}"},
		FIRES, SEVERITY_WARNING, "data made to shrink by 50%, compression unknown"},
	{"an import of zeros", "V02", {.no_plan = 1, .says = {"zero", "zero"}}, FIRES,
		SEVERITY_WARNING, "zeros written, compression unknown"},
	{"averages of zeros", "V02", {.no_plan = 1, .summary = 1, .says = {"zero", "zero"}}, FIRES,
		SEVERITY_WARNING, "zeros written, compression unknown"},
	{"an import of data that shrinks", "V02",
		{.no_plan = 1, .says = {"compressible 50%", "compressible 50%"}}, FIRES,
		SEVERITY_WARNING, "data made to shrink by 50%, compression unknown"},
	{"an import of random data", "V02", {.no_plan = 1, .says = {"random", "random"}}, SILENT, 0,
		NULL},
	{"zeros in one layout, the other does not tell", "V02", {.no_plan = 1, .says = {"zero"}}, BOTH,
		SEVERITY_WARNING, "zeros written, compression unknown"},
	{"other data in each layout", "V13", {.no_plan = 1, .state = "imported", .says = {"zero", "random"}},
		FIRES, SEVERITY_WARNING, "data: zero in left, random in right"},
	{"the same data in both", "V13", {.no_plan = 1, .state = "imported", .says = {"zero", "zero"}}, SILENT,
		0, NULL},
	{"an import", "V02", {.no_plan = 1}, UNKNOWN, 0, NULL},
	{"sync: none", "V03", {.stream = "{op: write, size: 64G, sync: none}"}, FIRES,
		SEVERITY_WARNING, "before the data is on the disks"},
	{"sync: all", "V03", {0}, SILENT, 0, NULL},
	{"an import", "V03", {.no_plan = 1}, UNKNOWN, 0, NULL},
	{"two trials", "V04", {.n = 2}, FIRES, SEVERITY_WARNING, "n = 2"},
	{"three trials", "V04", {0}, SILENT, 0, NULL},
	{"wide", "V05", {.ms = {1000, 1300, 900}}, FIRES, SEVERITY_NOTE, "by 20%"},
	{"narrow", "V05", {0}, SILENT, 0, NULL},
	{"slower and slower, blocks in random order", "V06",
		{.n = 4, .ms = {1000, 1010, 1020, 1031}, .factor = 2}, FIRES, SEVERITY_NOTE,
		"of 8 trials (rank test: p = 0.0035)"},
	{"slower and slower, order as written", "V06",
		{.n = 6,
			.ms = {1000, 1010, 1020, 1031, 1040, 1051},
			.factor = 2,
			.design = "as-written"},
		FIRES, SEVERITY_WARNING,
		"elapsed drifts by +5.6% from the first to the last of 12"},
	{"faster and faster", "V06", {.n = 5, .ms = {1100, 1050, 1060, 1020, 1000}}, FIRES,
		SEVERITY_NOTE, "drifts by -9"},
	{"up and down", "V06", {.n = 6, .ms = {1010, 1000, 1030, 1005, 1020, 1015}, .factor = 2},
		SILENT, 0, NULL},
	{"all the same", "V06", {.n = 5, .ms = {1000, 1000, 1000, 1000, 1000}}, SILENT, 0, NULL},
	{"three blocks of two", "V06", {.ms = {1000, 1010, 1020}}, UNKNOWN, 0, NULL},
	{"no starts", "V06", {.n = 4, .ms = {1000, 1010, 1020, 1031}, .untimed = 1}, UNKNOWN, 0,
		NULL},
	{"only averages", "V06", {.summary = 1}, UNKNOWN, 0, NULL},
	{"two to the nanosecond", "V07", {.ms = {1000, 1000, 1002}}, FIRES, SEVERITY_WARNING,
		"trials 1, 2 both 1s"},
	{"whole seconds", "V07", {.ms = {1000, 1000, 2000}, .resolution = 1}, SILENT, 0, NULL},
	{"milliseconds, 12 s apart", "V07", {.ms = {60125, 72000, 60125}, .resolution = 0.001},
		FIRES, SEVERITY_WARNING, "trials 1, 3 both 1m00.125s"},
	{"a set rate", "V07",
		{.ms = {1000, 1000, 1002}, .stream = "{op: write, size: 64G, rate: 1G}"}, SILENT, 0,
		NULL},
	{"all different", "V07", {0}, SILENT, 0, NULL},
	{"every CPU of the host", "V12", {.host_cpu = 0.95, .worker_cpu = 0.3}, FIRES,
		SEVERITY_WARNING, "3 of 3 trials: all CPUs of the host up to 95% busy"},
	{"the one thread", "V12", {.host_cpu = 0.3, .worker_cpu = 0.97}, FIRES, SEVERITY_WARNING,
		"the workload's threads up to 97% busy"},
	{"one of four threads", "V12",
		{.host_cpu = 0.3,
			.worker_cpu = 0.97,
			.stream = "{op: write, size: 64G, threads: 4}"},
		SILENT, 0, NULL},
	{"waiting for the disks", "V12", {.host_cpu = 0.89, .worker_cpu = 0.89}, SILENT, 0, NULL},
	{"no telemetry", "V12", {.worker_cpu = 0.2}, UNKNOWN, 0, NULL},
	{"only averages", "V12", {.summary = 1}, UNKNOWN, 0, NULL},
	{"caches unlike in one volume", "V09",
		{.left = REAL,
			.right = REAL,
			.disks = {{HDD, DISK("write through", "4096", "true", "x")}, {HDD, HDD}}},
		FIRES, SEVERITY_WARNING, "on at 1 of the volume's disks and off at 1"},
	{"caches alike", "V09", {.left = REAL, .right = REAL, .disks = {{HDD, HDD}, {HDD, HDD}}},
		SILENT, 0, NULL},
	{"caches not told", "V09",
		{.left = REAL, .right = REAL, .disks = {{"\"rotational\": true", HDD}, {HDD, HDD}}},
		UNKNOWN, 0, NULL},
	{"an import", "V09", {.no_plan = 1}, UNKNOWN, 0, NULL},
	{"a scrub", "V08",
		{.told = {{EVIDENCE_MAINTENANCE_BEFORE, 1}, {EVIDENCE_MAINTENANCE_AFTER, 0}},
			.maintenance = "scrub of tank"},
		FIRES, SEVERITY_WARNING, "before or after 3 of 3 trials: scrub of tank"},
	{"no maintenance", "V08",
		{.told = {{EVIDENCE_MAINTENANCE_BEFORE, 0}, {EVIDENCE_MAINTENANCE_AFTER, 0}}},
		SILENT, 0, NULL},
	{"not told after the trial", "V08", {.told = {{EVIDENCE_MAINTENANCE_BEFORE, 0}}}, UNKNOWN, 0,
		NULL},
	{"a RAID controller does it alone", "V08",
		{.told = {{EVIDENCE_MAINTENANCE_BEFORE, 0}, {EVIDENCE_MAINTENANCE_AFTER, 0}},
			.disks = {{"\"controller\": \"LSI SAS2108 (megaraid_sas)\"", HDD}, {HDD, HDD}}},
		UNKNOWN, 0, NULL},
	{"an import", "V08", {.summary = 1}, UNKNOWN, 0, NULL},
	{"a disk was busy before", "V10",
		{.told = {{EVIDENCE_LOOK_NS, NS_PER_S}}, .look_busy = 0.5}, FIRES, SEVERITY_WARNING,
		"a disk of the volume was 50% busy right before"},
	{"the CPUs were busy before", "V10",
		{.told = {{EVIDENCE_LOOK_NS, NS_PER_S}, {EVIDENCE_LOOK_CPU_PERMILLE, 750}}}, FIRES,
		SEVERITY_WARNING, "the CPUs were 75% busy"},
	{"another disk is copied", "V10",
		{.told = {{EVIDENCE_OTHER_READ_BYTES, 1 << 30}, {EVIDENCE_OTHER_WRITE_BYTES, 0}}},
		FIRES, SEVERITY_WARNING, "other disks moved up to 1024 MiB/s"},
	{"a greedy neighbour", "V10",
		{.host_cpu = 0.5, .worker_cpu = 0.5,
			.told = {{EVIDENCE_CPU_STEAL_NS, NS_PER_S},
				{EVIDENCE_OTHER_READ_BYTES, 0}, {EVIDENCE_OTHER_WRITE_BYTES, 0}}},
		FIRES, SEVERITY_WARNING, "the hypervisor kept 20.0% of the CPU time"},
	{"a quiet host", "V10",
		{.told = {{EVIDENCE_LOOK_NS, NS_PER_S}, {EVIDENCE_LOOK_CPU_PERMILLE, 30},
			 {EVIDENCE_OTHER_READ_BYTES, 5000000}, {EVIDENCE_OTHER_WRITE_BYTES, 4096}},
			.look_busy = 0.1},
		SILENT, 0, NULL},
	{"a directory nobody looked at before", "V10",
		{.right = "{existing: /srv/bench}",
			.told = {{EVIDENCE_OTHER_READ_BYTES, 0}, {EVIDENCE_OTHER_WRITE_BYTES, 0}}},
		UNKNOWN, 0, NULL},
	{"other disks not told", "V10", {.told = {{EVIDENCE_LOOK_NS, NS_PER_S}}}, UNKNOWN, 0, NULL},
	{"an agent of old", "V10", {0}, UNKNOWN, 0, NULL},
	{"the third of four is slow", "V11", {.busy = {0.3, 0.35, 0.9, 0.3}}, FIRES,
		SEVERITY_WARNING, "disk 3 of the volume is slower than its siblings in 3 of 3 trials"},
	{"two of four are slow", "V11", {.busy = {0.3, 0.95, 0.9, 0.3}}, SILENT, 0, NULL},
	{"siblings", "V11", {.busy = {0.8, 0.85, 0.9, 0.7}}, SILENT, 0, NULL},
	{"all idle, one a little less", "V11", {.busy = {0.01, 0.01, 0.05, 0.01}}, SILENT, 0, NULL},
	{"no disks told", "V11", {0}, UNKNOWN, 0, NULL},
	{"the clock was set back", "V19", {.told = {{EVIDENCE_CLOCK_STEP_NS, -3600 * NS_PER_S}}},
		FIRES, SEVERITY_NOTE, "during 3 of 3 trials, by up to -3600.0 s"},
	{"the clock was left alone", "V19", {.told = {{EVIDENCE_CLOCK_STEP_NS, -12000}}}, SILENT, 0,
		NULL},
	{"no clock told", "V19", {.errors = -1}, UNKNOWN, 0, NULL},
	{"commands failed", "V21", {.errors = 7}, FIRES, SEVERITY_WARNING,
		"failed or timed out 21 times in 3 of 3 trials"},
	{"no command failed", "V21", {.errors = -1}, SILENT, 0, NULL},
	{"disks that count no errors", "V21", {.busy = {0.5, 0.5, 0.5, 0.5}}, UNKNOWN, 0, NULL},
	{"CPUs were slowed down", "V22",
		{.told = {{EVIDENCE_THROTTLE_EVENTS, 5}, {EVIDENCE_HOT_DISKS, 0}}}, FIRES,
		SEVERITY_WARNING, "in 3 of 3 trials: CPUs were slowed down 15 times"},
	{"a disk was too hot", "V22",
		{.told = {{EVIDENCE_THROTTLE_EVENTS, 0}, {EVIDENCE_HOT_DISKS, 2}}}, FIRES,
		SEVERITY_WARNING, "up to 2 disks"},
	{"cool", "V22", {.told = {{EVIDENCE_THROTTLE_EVENTS, 0}, {EVIDENCE_HOT_DISKS, 0}}}, SILENT, 0,
		NULL},
	{"no sensors", "V22", {.errors = -1}, UNKNOWN, 0, NULL},
	{"another kernel", "V13", {.other = "{\"kernel\": \"6.6\", \"cpus\": 4}"}, FIRES,
		SEVERITY_NOTE, "kernel: 6.1 on a, 6.6 on b"},
	{"hosts are compared", "V13",
		{.by = "host", .other = "{\"kernel\": \"6.1\", \"cpus\": 8}"}, FIRES,
		SEVERITY_WARNING, "number of CPUs: 4 on a, 8 on b"},
	{"half the memory", "V13",
		{.other = "{\"kernel\": \"6.1\", \"cpus\": 4, \"ram_bytes\": 17179869184}"}, FIRES,
		SEVERITY_NOTE, "memory: 16 GiB on b, 32 GiB on a"},
	{"hosts alike", "V13", {.other = "{\"kernel\": \"6.1\", \"cpus\": 4}"}, SILENT, 0, NULL},
	{"one host", "V13", {0}, SILENT, 0, NULL},
	{"two agents under one kernel", "V29",
		{.other = "{\"kernel\": \"6.1\", \"cpus\": 4, \"boot_id\": \"5d5f\"}"}, FIRES,
		SEVERITY_WARNING, "b is on the same machine as a"},
	{"two machines", "V29",
		{.other = "{\"kernel\": \"6.1\", \"cpus\": 4, \"boot_id\": \"77aa\"}"}, SILENT, 0,
		NULL},
	{"an older agent", "V29", {.other = "{\"kernel\": \"6.1\", \"cpus\": 4}"}, UNKNOWN, 0, NULL},
	{"one host", "V29", {0}, SILENT, 0, NULL},
	{"sectors unlike", "V14",
		{.left = REAL,
			.right = REAL,
			.disks = {{HDD, HDD}, {HDD, DISK("write back", "512", "true", "x")}}},
		FIRES, SEVERITY_WARNING, "sectors of 512 and of 4096 bytes"},
	{"ashift too small", "V14",
		{.left = "{pool: {level: mirror, disks: 2, ashift: 9}}",
			.right = REAL,
			.disks = {{HDD, HDD}, {HDD, HDD}}},
		FIRES, SEVERITY_WARNING, "ashift 9 writes blocks of 512 bytes"},
	{"sectors alike", "V14", {.left = REAL, .right = REAL, .disks = {{HDD, HDD}, {HDD, HDD}}},
		SILENT, 0, NULL},
	{"a log device beside them", "V14",
		{.left = "{pool: {level: mirror, disks: 2, log: {level: stripe, disks: 1}}}",
			.right = REAL,
			.disks = {{HDD, DISK("write back", "512", "false", "x")}, {HDD, HDD}}},
		UNKNOWN, 0, NULL},
	{"scratch disks", "V14", {0}, SILENT, 0, NULL},
	{"five sixths of the room", "V15", {.usable = {200 * GIB, 150 * GIB}}, FIRES,
		SEVERITY_WARNING, "write 128 GiB, usable are 150 GiB: 85% full"},
	{"two thirds of the room", "V15", {.usable = {200 * GIB, 200 * GIB}}, SILENT, 0, NULL},
	{"zeros may vanish", "V15", {.data = "zero", .usable = {150 * GIB, 150 * GIB}}, UNKNOWN, 0,
		NULL},
	{"zeros do not vanish", "V15",
		{.data = "zero", .left = POOL_WITH("off"), .usable = {150 * GIB, 200 * GIB}}, FIRES,
		SEVERITY_WARNING, "85% full"},
	{"somebody else's data", "V15",
		{.right = "{existing: /srv/bench}", .usable = {200 * GIB, 200 * GIB}}, UNKNOWN, 0,
		NULL},
	{"sizes not known", "V15", {.usable = {1, 1}}, UNKNOWN, 0, NULL},
	{"memory not known", "V15",
		{.ram = 1,
			.stream = "{op: write, size: ram * 2}",
			.usable = {200 * GIB, 200 * GIB}},
		UNKNOWN, 0, NULL},
	{"an import", "V15", {.no_plan = 1}, UNKNOWN, 0, NULL},
	{"less room", "V16", {.usable = {90 * GIB, 60 * GIB}}, FIRES, SEVERITY_NOTE,
		"right 60 GiB, left 90 GiB"},
	{"one layout has less room as it goes on", "V16", {.shrinks = 2 * GIB}, SILENT, 0, NULL},
	{"directories that were there already", "V16",
		{.left = "{existing: /srv/l}", .right = "{existing: /srv/r}",
			.usable = {90 * GIB, 60 * GIB}}, UNKNOWN, 0, NULL},
	{"the same room", "V16", {.usable = {90 * GIB, 89.5 * GIB}}, SILENT, 0, NULL},
	{"less redundancy", "V16",
		{.right = "{scratch: {disks: 4, size: 500G}, pool: {level: raidz2, disks: 4}}"},
		FIRES, SEVERITY_WARNING, "left survives the loss of 1 disk, right of 2"},
	{"a mirror of two and raidz1", "V16",
		{.right = "{scratch: {disks: 4, size: 500G}, pool: {level: mirror, disks: 2}}"},
		SILENT, 0, NULL},
	{"sizes not known", "V16", {.usable = {1, 1}}, UNKNOWN, 0, NULL},
	{"an import", "V16", {.no_plan = 1}, UNKNOWN, 0, NULL},
	{"order as written", "V17", {.design = "as-written"}, FIRES, SEVERITY_WARNING, "drift"},
	{"no order", "V17", {.design = "", .no_plan = 1}, FIRES, SEVERITY_WARNING, "order unknown"},
	{"random blocks", "V17", {0}, SILENT, 0, NULL},
	{"fits in memory", "V18", {.bytes = 8 * GIB}, FIRES, SEVERITY_WARNING,
		"8 GiB of data, 32 GiB of memory"},
	{"twice the memory", "V18", {0}, SILENT, 0, NULL},
	{"memory not known", "V18", {.ram = 1}, UNKNOWN, 0, NULL},
	{"size not known", "V18", {.bytes = 1, .no_plan = 1}, UNKNOWN, 0, NULL},
	{"lost", "V20", {.lost = 7}, FIRES, SEVERITY_WARNING, "block 2: 7 records"},
	{"none lost", "V20", {0}, SILENT, 0, NULL},
	{"printed times", "V20", {.no_plan = 1, .resolution = 0.001}, UNKNOWN, 0, NULL},
	{"a mean", "V20", {.summary = 1}, UNKNOWN, 0, NULL},
	{"built once", "V23", {.design = "once"}, FIRES, SEVERITY_WARNING, "built once"},
	{"built each block", "V23", {0}, SILENT, 0, NULL},
	{"there already", "V23", {.right = "{existing: /srv/bench}"}, FIRES, SEVERITY_WARNING,
		"never rebuilt"},
	{"only averages", "V24", {.summary = 1}, FIRES, SEVERITY_WARNING, "bounded"},
	{"only averages, without a range", "V24", {.summary = 2}, FIRES, SEVERITY_WARNING, "no spread told"},
	{"listed", "V24", {0}, SILENT, 0, NULL},
	{"sync=disabled", "V25",
		{.right = "{scratch: {disks: 4, size: 500G}, pool: {level: raidz1, disks: 4, "
			  "properties: {sync: disabled}}}"},
		FIRES, SEVERITY_INVALID, "sync=disabled here"},
	{"sync=disabled, not synced", "V25",
		{.stream = "{op: write, size: 64G, sync: none}",
			.right =
				"{scratch: {disks: 4, size: 500G}, pool: {level: raidz1, disks: 4, "
				"properties: {sync: disabled}}}"},
		FIRES, SEVERITY_NOTE, NULL},
	{"alike", "V25", {0}, SILENT, 0, NULL},
	{"caches on and off", "V25",
		{.left = REAL,
			.right = REAL,
			.disks = {{HDD, HDD},
				{DISK("write through", "4096", "true", "x"),
					DISK("write through", "4096", "true", "x")}}},
		FIRES, SEVERITY_WARNING, "on under left and off under right"},
	{"caches on under both", "V25",
		{.left = REAL, .right = REAL, .disks = {{HDD, HDD}, {HDD, HDD}}}, SILENT, 0, NULL},
	{"disks of the host", "V25", {.right = "{pool: {level: raidz1, disks: 4}}"}, UNKNOWN, 0,
		NULL},
	{"still falling", "V26",
		{.left = REAL,
			.right = REAL,
			.disks = {{SSD, SSD}, {SSD, SSD}},
			.stream = "{op: write, size: 64G}, duration: 40s",
			.rates = falling},
		FIRES, SEVERITY_WARNING, "not in a steady state"},
	{"settled", "V26",
		{.left = REAL,
			.right = REAL,
			.disks = {{SSD, SSD}, {SSD, SSD}},
			.stream = "{op: write, size: 64G}, duration: 40s",
			.rates = flat},
		SILENT, 0, NULL},
	{"turning disks", "V26",
		{.left = REAL,
			.right = REAL,
			.disks = {{HDD, HDD}, {HDD, HDD}},
			.stream = "{op: write, size: 64G}, duration: 40s",
			.rates = falling},
		SILENT, 0, NULL},
	{"no series", "V26",
		{.left = REAL,
			.right = REAL,
			.disks = {{SSD, SSD}, {SSD, SSD}},
			.stream = "{op: write, size: 64G}, duration: 40s"},
		UNKNOWN, 0, NULL},
	{"an import", "V26", {.no_plan = 1}, UNKNOWN, 0, NULL},
	{"three and three", "V27", {.n = 6, .ms = {1000, 1100, 1002, 1102, 1101, 1001}}, FIRES,
		SEVERITY_WARNING, "3 trials near 1.00s, 3 near 1.10s"},
	{"eight and two", "V27",
		{.n = 10, .ms = {1000, 1001, 1002, 1003, 1200, 1004, 1005, 1006, 1201, 1007}},
		FIRES, SEVERITY_WARNING, "8 trials near"},
	{"evenly spread", "V27", {.n = 6, .ms = {1000, 1010, 1020, 1030, 1040, 1050}}, SILENT, 0,
		NULL},
	{"one far away", "V27", {.n = 6, .ms = {1000, 1001, 1002, 1003, 1004, 1500}}, SILENT, 0,
		NULL},
	{"whole seconds", "V27",
		{.n = 6, .ms = {56000, 56000, 57000, 56000, 57000, 57000}, .resolution = 1}, SILENT,
		0, NULL},
	{"far apart", "V27", {.n = 6, .ms = {4, 90000, 4, 90001, 4, 90002}}, FIRES, SEVERITY_WARNING,
		"3 trials near 4.00ms, 3 near 90.00s"},
	{"five trials", "V27", {.n = 5, .ms = {1000, 1100, 1002, 1102, 1101}}, UNKNOWN, 0, NULL},
	{"only averages", "V27", {.summary = 1}, UNKNOWN, 0, NULL},
	{"a model of the vendor's list", "V28",
		{.left = REAL,
			.right = REAL,
			.disks = {{HDD, HDD},
				{DISK("write back", "4096", "true", "WDC WD40EFAX-68JH4N0"), HDD}}},
		FIRES, SEVERITY_WARNING, "1 of 2 disks record in shingles (WDC WD40EFAX-68JH4N0"},
	{"zones", "V28",
		{.left = REAL,
			.right = REAL,
			.disks = {{HDD, HDD}, {"\"zoned\": \"host-aware\"", HDD}}},
		FIRES, SEVERITY_WARNING, "model not told, host-aware"},
	{"plain disks", "V28", {.left = REAL, .right = REAL, .disks = {{HDD, HDD}, {HDD, HDD}}},
		SILENT, 0, NULL},
	{"disks not told", "V28", {.left = REAL, .right = REAL}, UNKNOWN, 0, NULL},
};

static void each_rule(void **state)
{
	(void)state;
	cases_hold(table, ARRAY_LEN(table));
}

/* Every rule of the table has a scene where it fires and one where it is silent. */
static void no_rule_is_untested(void **state)
{
	(void)state;
	for (size_t r = 0; r < rule_count; r++) {
		int fires = 0, silent = 0;

		for (size_t i = 0; i < ARRAY_LEN(table); i++) {
			if (strcmp(table[i].rule, rule_table[r].id) != 0)
				continue;
			fires |= table[i].outcome == FIRES;
			silent |= table[i].outcome == SILENT;
		}
		if (!fires || !silent)
			fail_msg("%s has no scene where it %s", rule_table[r].id,
				fires ? "is silent" : "fires");
	}
}

/* Every rule has its paragraph in the manual. */
static void every_rule_is_documented(void **state)
{
	char line[4096];
	struct buf page = {0};
	FILE *f = fopen("deploy/man/arraymark-findings.7", "re");

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		buf_adds(&page, line);
	fclose(f);
	for (size_t r = 0; r < rule_count; r++) {
		snprintf(line, sizeof(line), ".It %s ", rule_table[r].id);
		assert_has(buf_str(&page), line);
	}
	buf_free(&page);
}

/* A verdict about a layout whose result is invalid has the rule beside it. */
static void invalid_stands_beside_the_verdict(void **state)
{
	const struct scene scene = {
		.right = "{scratch: {disks: 4, size: 500G}, pool: {level: raidz1, disks: 4, "
			 "properties: {sync: disabled}}}"};
	struct result_set set;
	struct analysis a;

	(void)state;
	analysis_of(&scene, &set, &a);
	assert_int_equal(a.n_comparisons, 1);
	assert_string_equal(a.comparisons[0].workload, "load");
	assert_int_equal(a.comparisons[0].invalid.n, 1);
	assert_string_equal(a.comparisons[0].invalid.v[0], "V25");
	analysis_clear(&a);
	result_set_clear(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule),
		cmocka_unit_test(no_rule_is_untested),
		cmocka_unit_test(every_rule_is_documented),
		cmocka_unit_test(invalid_stands_beside_the_verdict),
	};

	return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
