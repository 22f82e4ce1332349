/* rules: each fires where it should, is silent where it should, says unknown where it must. */
#include "tests/unit/test.h"

#include <math.h>
#include <stdio.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/results/analysis.h"
#include "tests/unit/results_kit.h"

#define GIB (1ull << 30)

/* One way a run can be; what is not given is harmless: two raidz1 pools on scratch disks, a write
 * synced in the timed region, three blocks in random order, 64 GiB against 32 GiB of memory. */
struct scene {
	const char *left, *right, *stream, *data; /* of the plan; data is what a read reads */
	int no_plan;
	const char *design, *cache, *state;
	uint64_t ram;
	const char *zfs; /* of the host */
	const char *op;
	double ms[10];               /* elapsed of each block, both layouts */
	double factor;               /* right's elapsed over left's; 0: the same */
	int untimed;                 /* no starts of the trials */
	double host_cpu, worker_cpu; /* parts of four CPUs and of one that were busy; 0: not told */
	unsigned n;                  /* blocks; 0: three */
	uint64_t bytes, physical;    /* moved by each trial; by the disks */
	int no_counters;
	uint64_t usable[2];
	uint32_t lost;
	double resolution; /* of printed times; 0: our own */
	int summary;
};

#define POOL_WITH(compression)                                                                     \
	"{scratch: {disks: 4, size: 500G}, pool: {level: raidz1, disks: 4, properties: "           \
	"{compression: " compression "}}}"
#define POOL "{scratch: {disks: 4, size: 500G}, pool: {level: raidz1, disks: 4}}"

static char *layouts[] = {"left", "right", NULL}, *workloads[] = {"put", "load", NULL};

static const char * or (const char *given, const char *usual)
{
	return given ? given : usual;
}

static void add_run(const struct scene *c, struct buf *lines)
{
	struct result_run r = {.id = 1,
		.name = "demo",
		.plan_sha256 = "",
		.tool_version = "",
		.user = "",
		.blocks = 3,
		.layouts = {layouts, 2, 0},
		.workloads = {workloads, 2, 0}};
	struct buf plan = {0};

	r.state = (char *) or (c->state, "done");
	r.design = (char *) or (c->design, "random-blocks");
	r.cache = (char *) or (c->cache, "cold");
	buf_addf(&plan,
		"name: demo\nhosts: [a]\ntrials: 3\nlayouts:\n  left: %s\n  right: %s\n"
		"workloads:\n  put: {stream: {op: write, size: 64G, data: %s}}\n"
		"  load: {stream: %s}\n",
		or (c->left, POOL), or (c->right, POOL), or (c->data, "random"),
		or (c->stream, c->op ? "{op: read, of: put}" : "{op: write, size: 64G}"));
	if (!c->no_plan)
		r.plan_text = plan.data;
	export_run(&r, lines);
	buf_free(&plan);
}

static void add_environment(const struct scene *c, struct buf *lines)
{
	struct result_environment v = {1, "a", json_object()};

	if (c->ram != 1)
		json_object_set_new(v.inventory, "ram_bytes",
			json_integer((json_int_t)(c->ram ? c->ram : 32 * GIB)));
	if (c->zfs)
		json_object_set_new(v.inventory, "zfs", json_string(c->zfs));
	export_environment(&v, lines);
	json_decref(v.inventory);
}

static void set_cpu(const struct scene *c, struct trial_summary *t)
{
	double ns = (double)t->elapsed_ns;

	t->cpu_user_ns = (uint64_t)(c->worker_cpu * ns / 2);
	t->cpu_system_ns = (uint64_t)(c->worker_cpu * ns / 2);
	if (!(c->host_cpu > 0))
		return;
	t->tele.cpu_user_ns = (uint64_t)(c->host_cpu * ns * 3);
	t->tele.cpu_system_ns = (uint64_t)(c->host_cpu * ns);
	t->tele.cpu_idle_ns = (uint64_t)((1 - c->host_cpu) * ns);
	t->tele.cpu_iowait_ns = (uint64_t)((1 - c->host_cpu) * ns * 3);
}

static void add_trial(const struct scene *c, uint32_t layout, uint32_t block, struct buf *lines)
{
	static const double usual[] = {1000.25, 1010.5, 1020.125};
	double factor = layout == 1 && c->factor > 0 ? c->factor : 1;
	double ms = factor * (c->ms[0] > 0 ? c->ms[block - 1] : usual[block - 1]);
	struct result_printed printed = {METRIC_ELAPSED, ms / 1000, c->resolution};
	struct result_trial t =
		a_trial("a", layout * 10 + block, block, layout, 1, (int64_t)llround(ms * 1e6));
	uint64_t bytes = c->bytes ? c->bytes : 64 * GIB;

	t.op = (char *) or (c->op, "write");
	t.sum.bytes = bytes == 1 ? 0 : bytes;
	t.sum.started_wall_ns =
		c->untimed ? 0 : 1700000000 * NS_PER_S + (block * 2 + layout) * NS_PER_S;
	set_cpu(c, &t.sum);
	t.sum.tele.disks = c->no_counters ? 0 : 4;
	t.sum.tele.disk_read_bytes = c->physical ? c->physical : t.sum.bytes;
	t.usable_bytes = c->usable[0] == 1 ? 0 : c->usable[layout] ? c->usable[layout] : 90 * GIB;
	t.lost = layout == 1 && block == 2 ? c->lost : 0;
	t.printed = c->resolution > 0 ? &printed : NULL;
	t.n_printed = c->resolution > 0;
	export_trial(&t, lines);
}

static void add_summary(uint32_t layout, struct buf *lines)
{
	struct result_summary m = {
		1, "a", layout, 1, layouts[layout], "load", METRIC_ELAPSED, 10, 56, 52, 59, 1};

	export_summary(&m, lines);
}

static void analysis_of(const struct scene *c, struct result_set *set, struct analysis *a)
{
	struct buf lines = {0};
	struct err e;

	*set = (struct result_set){0};
	add_run(c, &lines);
	add_environment(c, &lines);
	for (uint32_t layout = 0; layout < 2; layout++)
		for (uint32_t b = 1; b <= (c->n ? c->n : 3) && !c->summary; b++)
			add_trial(c, layout, b, &lines);
	for (uint32_t layout = 0; c->summary && layout < 2; layout++)
		add_summary(layout, &lines);
	lines_read(lines.data, set);
	buf_free(&lines);
	assert_ok(analysis_make(set, a, &e), e);
	if (!c->no_plan && !a->runs[0].plan)
		fail_msg("the plan of this scene is none:\n%s", set->runs[0].plan_text);
}

enum outcome { SILENT, FIRES, UNKNOWN, BOTH };

static enum outcome outcome_of(const struct analysis *a, const char *id, const struct finding **f)
{
	int fired = 0, unknown = 0;

	*f = NULL;
	for (size_t i = 0; i < a->findings.n; i++) {
		const struct finding *x = &a->findings.v[i];

		if (strcmp(x->rule->id, id) != 0 ||
			(x->workload && strcmp(x->workload, "load") != 0))
			continue;
		fired |= !x->unknown;
		unknown |= x->unknown;
		if (!x->unknown && !*f)
			*f = x;
	}
	return fired && unknown ? BOTH : fired ? FIRES : unknown ? UNKNOWN : SILENT;
}

static const struct {
	const char *name, *rule;
	struct scene scene;
	enum outcome outcome;
	enum severity severity;
	const char *text; /* part of the first finding's */
} table[] = {
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
		UNKNOWN, 0, NULL},
	{"zeros into a directory", "V02",
		{.left = POOL_WITH("off"),
			.right = "{existing: /srv/bench}",
			.stream = "{op: write, size: 64G, data: zero}"},
		UNKNOWN, 0, NULL},
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
		"of 8 trials"},
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
	{"size not known", "V18", {.bytes = 1}, UNKNOWN, 0, NULL},
	{"lost", "V20", {.lost = 7}, FIRES, SEVERITY_WARNING, "block 2: 7 records"},
	{"none lost", "V20", {0}, SILENT, 0, NULL},
	{"built once", "V23", {.design = "once"}, FIRES, SEVERITY_WARNING, "built once"},
	{"built each block", "V23", {0}, SILENT, 0, NULL},
	{"there already", "V23", {.right = "{existing: /srv/bench}"}, FIRES, SEVERITY_WARNING,
		"never rebuilt"},
	{"only averages", "V24", {.summary = 1}, FIRES, SEVERITY_WARNING, "bounded"},
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
	{"disks of the host", "V25", {.right = "{pool: {level: raidz1, disks: 4}}"}, UNKNOWN, 0,
		NULL},
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
	{"five trials", "V27", {.n = 5, .ms = {1000, 1100, 1002, 1102, 1101}}, SILENT, 0, NULL},
	{"only averages", "V27", {.summary = 1}, UNKNOWN, 0, NULL},
};

static void each_rule(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const struct finding *f;
		struct result_set set;
		const struct scene scene = table[i].scene;
		struct analysis a;
		enum outcome got;

		analysis_of(&scene, &set, &a);
		got = outcome_of(&a, table[i].rule, &f);
		if (got != table[i].outcome)
			fail_msg("%s, %s: outcome %d, expected %d", table[i].rule, table[i].name,
				(int)got, (int)table[i].outcome);
		if (f && f->severity != table[i].severity)
			fail_msg("%s, %s: severity %d", table[i].rule, table[i].name,
				(int)f->severity);
		if (f && table[i].text)
			assert_has(f->text, table[i].text);
		analysis_clear(&a);
		result_set_clear(&set);
	}
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
	assert_int_equal(a.n_comparisons, 2);
	assert_string_equal(a.comparisons[1].workload, "load");
	assert_int_equal(a.comparisons[1].invalid.n, 1);
	assert_string_equal(a.comparisons[1].invalid.v[0], "V25");
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
