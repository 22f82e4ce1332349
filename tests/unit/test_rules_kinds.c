/* Rules V01, V02, V07, V11, V12 on workloads of every kind, and what each kind tells of its work. */
#include "tests/unit/test.h"

#include "common/plan/workload.h"
#include "coordinator/results/report.h"
#include "tests/unit/rules_kit.h"

#define LZ4 .left = POOL_WITH("lz4"), .right = POOL_WITH("lz4")
#define OFF .left = POOL_WITH("off"), .right = POOL_WITH("off")
#define TENTH .physical = 6 * GIB

#define OFF_BUT_PG                                                                                 \
	"{scratch: {disks: 4, size: 500G}, pool: {level: raidz1, disks: 4, properties: "           \
	"{compression: off}, datasets: {pg: {compression: lz4}}}}"

static const struct rule_case table[] = {
	{"random reads", "V01", {TENTH, .op = "read", .kind = "random: {op: read, of: put, duration: 60s}"},
		FIRES, SEVERITY_INVALID, "9% of the bytes read (100% expected)"},
	{"random reads from the disks", "V01",
		{.op = "read", .kind = "random: {op: read, of: put, duration: 60s}"}, SILENT, 0, NULL},
	{"random reads of zeros", "V01",
		{TENTH, .op = "read", .data = "zero",
			.kind = "random: {op: read, of: put, duration: 60s}"},
		UNKNOWN, 0, NULL},
	{"random reads of what shrinks", "V01",
		{.physical = 15 * GIB, .op = "read",
			.kind = "random: {op: read, size: 64G, data: {compressible: 50%}}"},
		FIRES, SEVERITY_INVALID, "(50% expected)"},
	{"mixed", "V01", {TENTH, .op = "mixed", .kind = "random: {op: mixed, reads: 70%, size: 64G}"},
		SILENT, 0, NULL},
	{"filebench randomread", "V01",
		{TENTH, .op = "randomread", .kind = "filebench: {personality: randomread}"}, FIRES,
		SEVERITY_INVALID, "(100% expected)"},
	{"filebench itself makes its files late", "V01",
		{.op = "varmail", .kind = "filebench: {personality: varmail, program: /opt/filebench}"},
		FIRES, SEVERITY_WARNING, "made the files that it reads after they were emptied"},
	{"so does a member", "V01",
		{.op = "parallel",
			.kind = "parallel: [{filebench: {personality: varmail, program: /opt/filebench}}, "
				"{stream: {op: write, size: 1G}}]"},
		FIRES, SEVERITY_WARNING, NULL},
	{"nobody asked for cold ones", "V01",
		{.op = "varmail", .cache = "as-is",
			.kind = "filebench: {personality: varmail, program: /opt/filebench}"},
		SILENT, 0, NULL},
	{"a webserver appends", "V01",
		{TENTH, .op = "webserver", .kind = "filebench: {personality: webserver}"}, SILENT, 0,
		NULL},
	{"fio randread", "V01",
		{TENTH, OFF, .op = "randread",
			.kind = "fio: {options: {rw: randread, bs: 4k, size: 64g}}"},
		FIRES, SEVERITY_INVALID, "(100% expected)"},
	{"fio randwrite", "V01",
		{TENTH, OFF, .op = "randwrite",
			.kind = "fio: {options: {rw: randwrite, bs: 4k, size: 64g}}"},
		SILENT, 0, NULL},
	{"fio's own data on a pool that compresses", "V01",
		{TENTH, LZ4, .op = "randread",
			.kind = "fio: {options: {rw: randread, bs: 4k, size: 64g}}"},
		UNKNOWN, 0, NULL},
	{"a job file", "V01", {TENTH, .op = "fio", .kind = "fio: {job: /srv/a.fio}"}, UNKNOWN, 0, NULL},
	{"a command", "V01", {TENTH, .op = "command", .kind = "command: {argv: [/usr/bin/true]}"},
		UNKNOWN, 0, NULL},
	{"readers side by side", "V01",
		{TENTH, .op = "parallel",
			.kind = "parallel: [{stream: {op: read, of: put}}, "
				"{random: {op: read, of: put, ops: 1000}}]"},
		FIRES, SEVERITY_INVALID, NULL},
	{"a reader beside a writer", "V01",
		{TENTH, .op = "parallel",
			.kind = "parallel: [{stream: {op: read, of: put}}, "
				"{stream: {op: write, size: 1G}}]"},
		SILENT, 0, NULL},
	{"a file that was there already", "V01",
		{TENTH, .op = "read", .stream = "{op: read, file: old, size: 64G}",
			.left = "{existing: /srv/a}", .right = "{existing: /srv/b}"}, UNKNOWN, 0, NULL},

	{"random blocks of zeros", "V02",
		{LZ4, .kind = "random: {op: write, size: 64G, data: zero}"}, FIRES, SEVERITY_INVALID,
		"compression=lz4"},
	{"random blocks that shrink", "V02",
		{LZ4, .kind = "random: {op: write, size: 64G, data: {compressible: 30%}}"}, FIRES,
		SEVERITY_WARNING, "shrink by 30%"},
	{"random blocks that do not", "V02", {LZ4, .kind = "random: {op: write, size: 64G}"}, SILENT, 0,
		NULL},
	{"zeros of filebench", "V02", {LZ4, .kind = "filebench: {personality: fileserver, data: zero}"},
		FIRES, SEVERITY_INVALID, "compression=lz4"},
	{"filebench", "V02", {LZ4, .kind = "filebench: {personality: fileserver}"}, SILENT, 0, NULL},
	{"the program filebench", "V02",
		{LZ4, .kind = "filebench: {personality: fileserver, program: filebench}"}, UNKNOWN, 0,
		NULL},
	{"zeros of fio", "V02",
		{LZ4, .kind = "fio: {options: {rw: write, size: 64g, zero_buffers: true}}"}, FIRES,
		SEVERITY_INVALID, "compression=lz4"},
	{"fio told to shrink", "V02",
		{LZ4, .kind = "fio: {options: {rw: write, size: 64g, buffer_compress_percentage: 40}}"},
		FIRES, SEVERITY_WARNING, "shrink by 40%"},
	{"fio not told", "V02", {LZ4, .kind = "fio: {options: {rw: write, size: 64g}}"}, UNKNOWN, 0,
		NULL},
	{"fio fills anew", "V02",
		{LZ4, .kind = "fio: {options: {rw: write, size: 64g, refill_buffers: true}}"}, SILENT, 0,
		NULL},
	{"a database", "V02", {LZ4, .kind = "pgbench: {scale: 10, clients: 2, duration: 60s}"}, UNKNOWN,
		0, NULL},
	{"a database, nothing compresses", "V02",
		{OFF, .kind = "pgbench: {scale: 10, clients: 2, duration: 60s}"}, SILENT, 0, NULL},
	{"a database whose dataset alone compresses", "V02",
		{.left = OFF_BUT_PG, .right = OFF_BUT_PG, .kind = "pgbench: {scale: 10, clients: 2, duration: 60s}"},
		UNKNOWN, 0, NULL},
	{"a command", "V02", {LZ4, .kind = "command: {argv: [/usr/bin/true]}"}, UNKNOWN, 0, NULL},
	{"one of two writes zeros", "V02",
		{LZ4, .kind = "parallel: [{stream: {op: write, size: 1G}}, "
			      "{stream: {op: write, size: 1G, data: zero}}]"},
		FIRES, SEVERITY_INVALID, "zeros"},
	{"disks are read as they are", "V02", {LZ4, .kind = "disk-scan: {span: 64M}"}, SILENT, 0, NULL},

	{"a rate for each file", "V07",
		{.ms = {1000, 1000, 1002},
			.stream = "{op: write, size: 64G, file-rate: 1G}"},
		SILENT, 0, NULL},
	{"one of two has a rate", "V07",
		{.ms = {1000, 1000, 1002},
			.kind = "parallel: [{stream: {op: write, size: 1G, rate: 1G}}, "
				"{stream: {op: write, size: 1G}}]"},
		SILENT, 0, NULL},
	{"two writers", "V07",
		{.ms = {1000, 1000, 1002},
			.kind = "parallel: [{stream: {op: write, size: 1G}}, "
				"{stream: {op: write, size: 1G}}]"},
		FIRES, SEVERITY_WARNING, "trials 1, 2 both 1s"},

	{"four disks alike", "V11", {.busy = {0.3, 0.3, 0.3, 0.3}}, SILENT, 0, NULL},
	{"two disks alone", "V11", {.busy = {0.3, 0.9, 0.3, 0.3}, .few = 2}, UNKNOWN, 0, NULL},
	{"three disks alike", "V11", {.busy = {0.3, 0.3, 0.3, 0.3}, .few = 3}, SILENT, 0, NULL},

	{"eight threads of random", "V12",
		{.host_cpu = 0.3, .worker_cpu = 2, .kind = "random: {op: write, size: 64G, threads: 8}"},
		SILENT, 0, NULL},
	{"two threads of random", "V12",
		{.host_cpu = 0.3, .worker_cpu = 1.95,
			.kind = "random: {op: write, size: 64G, threads: 2}"},
		FIRES, SEVERITY_WARNING, "the workload's threads up to 98% busy"},
	{"four of fio", "V12",
		{.host_cpu = 0.3, .worker_cpu = 2,
			.kind = "fio: {options: {rw: write, size: 1g, numjobs: 4}}"},
		SILENT, 0, NULL},
	{"two writers of one thread each", "V12",
		{.host_cpu = 0.3, .worker_cpu = 1.5,
			.kind = "parallel: [{stream: {op: write, size: 1G}}, "
				"{stream: {op: write, size: 1G}}]"},
		SILENT, 0, NULL},
	{"a command of who knows how many", "V12",
		{.host_cpu = 0.3, .worker_cpu = 3, .kind = "command: {argv: [/usr/bin/true]}"}, SILENT, 0,
		NULL},
	{"a command, all CPUs", "V12",
		{.host_cpu = 0.95, .worker_cpu = 3, .kind = "command: {argv: [/usr/bin/true]}"}, FIRES,
		SEVERITY_WARNING, "all CPUs of the host"},
};

static void each_kind(void **state)
{
	(void)state;
	cases_hold(table, ARRAY_LEN(table));
}

/* The table's column takes what the disks did the workload's way: a quarter read, a half written. */
static void physical_bytes_go_the_way_of_the_work(void **state)
{
	static const struct {
		const char *op, *kind, *column; /* NULL: there is none */
	} rows[] = {
		{"read", "stream: {op: read, of: put}", "0.25"},
		{"rewrite", "stream: {op: rewrite, of: put}", "0.50"},
		{"randread", "fio: {options: {rw: randread, size: 1g}}", "0.25"},
		{"randomread", "filebench: {personality: randomread}", "0.25"},
		{"randomwrite", "filebench: {personality: randomwrite}", "0.50"},
		{"mixed", "random: {op: mixed, reads: 50%, size: 64G}", "0.75"},
		{"webserver", "filebench: {personality: webserver}", "0.75"},
		{"command", "command: {argv: [/usr/bin/true]}", NULL},
		{"fio", "fio: {job: /srv/a.fio}", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct scene scene = {.op = rows[i].op, .kind = rows[i].kind,
			.bytes = 64 * GIB, .physical = 16 * GIB, .written = 32 * GIB};
		struct report_options o = {0};
		struct result_set set;
		struct analysis a;
		struct buf out = {0};
		struct err e;

		analysis_of(&scene, &set, &a);
		assert_ok(report_text(&set, &o, &out, &e), e);
		if (!rows[i].column && strstr(out.data, "physical/logical"))
			fail_msg("%s has a column:\n%s", rows[i].kind, out.data);
		if (rows[i].column)
			assert_has(out.data, "physical/logical");
		if (rows[i].column && !strstr(out.data, rows[i].column))
			fail_msg("%s: not %s:\n%s", rows[i].kind, rows[i].column, out.data);
		buf_free(&out);
		analysis_clear(&a);
		result_set_clear(&set);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_kind),
		cmocka_unit_test(physical_bytes_go_the_way_of_the_work)};

	return cmocka_run_group_tests_name("rules on kinds", tests, NULL, NULL);
}
