/*
 * Records in batches: each goes there and back, texts are made fit, wrong ones are refused with
 * their number, and a batch has its limits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/mem.h"
#include "proto/arraymark.pb-c.h"
#include "proto/record.h"

#define WALL 1700000000000000000
#define LIST(...)                                                                                  \
	{                                                                                          \
		.v = (char *[]){__VA_ARGS__, NULL},                                                \
		.n = sizeof((char *[]){__VA_ARGS__}) / sizeof(char *)                              \
	}
#define TELE                                                                                       \
	{                                                                                          \
		.disk_read_bytes = 1, .disk_write_bytes = 2, .disk_read_ops = 3,                   \
		.disk_write_ops = 4, .disk_busy_ns = 5, .disks = 6, .cpu_user_ns = 7,              \
		.cpu_system_ns = 8, .cpu_idle_ns = 9, .cpu_iowait_ns = 10, .mem_free_bytes = 11,   \
		.mem_cached_bytes = 12, .arc_bytes = 13                                            \
	}

static char *argv_words[] = {"/sbin/zpool", "create", "am_12_1_0a1b2c", NULL};

static struct trial_evidence evidence = {
	.disks = (struct disk_evidence[]){{"serial:S1", "sdc", "sda", {1, 2, 3, 4, 5, 6, 7, 8}, 9,
						  10, 11, 1, 12, "write back", NULL},
		{.name = "loop3"}},
	.n_disks = 2,
	.cores = (struct core_evidence[]){{1}, {0}},
	.n_cores = 2,
	.numbers = (struct evidence_number[]){{EVIDENCE_CPU_STEAL_NS, 0},
		{EVIDENCE_CLOCK_STEP_NS, -5}, {999, 1}},
	.n_numbers = 3,
	.settings = (struct setting_evidence[]){{"sync", "pg", "standard", NULL},
		{"mount", NULL, NULL, "rw"}},
	.n_settings = 2,
	.sources = (struct source_evidence[]){{"serial:S2", "sdd", 1, 0, {1, 2, 3, 4, 5, 6, 7, 8}}},
	.n_sources = 1,
	.maintenance_before = "scrub of tank",
};

/* One of each, all fields set. */
static struct record records[] = {
	{RECORD_SAMPLE, WALL,
		{.sample = {.trial = 3,
			 .start_ns = -5,
			 .end_ns = 1000000000,
			 .ops = 1,
			 .bytes = 2,
			 .errors = 3,
			 .hist = "\1\0\2",
			 .hist_len = 3,
			 .tele = TELE,
			 .usage = "\1\0\0",
			 .usage_len = 3}}},
	{RECORD_ATTEMPT_START, WALL,
		{.attempt_start = {"0.1.0", {.host = "knew",
						    .os = "Debian",
						    .kernel = "6.1",
						    .arch = "x86_64",
						    .cpu = "Xeon",
						    .zfs = "zfs-fuse 0.7.0",
						    .agent_version = "0.1.0",
						    .cpus = 2,
						    .ram_bytes = 3,
						    .privileged = 1,
						    .scratch_loop = 1,
						    .scratch_limit = 4,
						    .tags = LIST("a"),
						    .capabilities = LIST("xfs")},
					 "a1b2c3"}}},
	{RECORD_UNIT_START, WALL, {.unit_start = {{2, 1}, 1}}},
	{RECORD_STEP, WALL,
		{.step = {.unit = {2, 1},
			 .phase = PHASE_WORKLOAD,
			 .what = "make the pool",
			 .argv = {.v = argv_words, .n = 3},
			 .elapsed_ns = 5,
			 .ok = 1,
			 .output = "line 1\n\tline 2\n"}}},
	{RECORD_VOLUME_READY, WALL,
		{.volume_ready = {{2, 1}, "/run/arraymark/a/v", "zfs guid 123", "zfs", 1 << 30}}},
	{RECORD_TRIAL_START, WALL, {.trial_start = {3, {2, 1}, 4, 5, "cold: export/import", 99}}},
	{RECORD_TRIAL_END, WALL,
		{.trial_end = {.trial = 3,
			 .block = 2,
			 .layout = 1,
			 .workload = 4,
			 .repeat = 5,
			 .ok = 1,
			 .error = "late",
			 .started_wall_ns = WALL,
			 .elapsed_ns = 6,
			 .sync_ns = 7,
			 .bytes = 8,
			 .ops = 9,
			 .errors = 10,
			 .cpu_user_ns = 11,
			 .cpu_system_ns = 12,
			 .tele = TELE,
			 .hist = "\0",
			 .hist_len = 1,
			 .samples = 13,
			 .evidence = &evidence,
			 .n_evidence = 1}}},
	{RECORD_UNIT_END, WALL, {.unit_end = {{2, 1}, 1, "half"}}},
	{RECORD_ATTEMPT_END, WALL, {.attempt_end = {ATTEMPT_CANCELLED, "by the owner"}}},
	{RECORD_AWAIT, WALL, {.await = {{2, 1}, 3, 4}}},
};

static struct buf encode_all(void)
{
	struct buf payload = {0};

	for (size_t i = 0; i < ARRAY_LEN(records); i++)
		record_encode(&records[i], &payload);
	return payload;
}

static void test_round_trip(void **state)
{
	struct buf payload = encode_all(), again = {0};
	struct records list;
	struct err e;

	(void)state;
	assert_int_equal(ARRAY_LEN(records), RECORD_TYPE_COUNT - 1);
	if (records_decode(payload.data, payload.len, &list, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(list.n, ARRAY_LEN(records));
	for (size_t i = 0; i < list.n; i++) {
		assert_int_equal(list.v[i].type, i + 1);
		assert_true(list.v[i].wall_ns == WALL);
		record_encode(&list.v[i], &again);
	}
	assert_int_equal(again.len, payload.len);
	assert_memory_equal(again.data, payload.data, payload.len);
	records_clear(&list);
	assert_null(list.v);
	buf_free(&payload);
	buf_free(&again);
}

static void test_fields_arrive(void **state)
{
	struct buf payload = encode_all();
	struct records list;
	const struct trial_summary *t;
	struct err e;

	(void)state;
	assert_int_equal(records_decode(payload.data, payload.len, &list, &e), 0);
	assert_true(list.v[0].u.sample.start_ns == -5);
	assert_int_equal(list.v[0].u.sample.hist_len, 3);
	assert_memory_equal(list.v[0].u.sample.hist, "\1\0\2", 3);
	assert_memory_equal(
		&list.v[0].u.sample.tele, &records[0].u.sample.tele, sizeof(struct telemetry));
	assert_string_equal(list.v[1].u.attempt_start.environment.capabilities.v[0], "xfs");
	assert_string_equal(list.v[3].u.step.argv.v[2], argv_words[2]);
	assert_string_equal(list.v[3].u.step.output, "line 1\n\tline 2\n");
	assert_string_equal(list.v[4].u.volume_ready.filesystem, "zfs");
	assert_string_equal(list.v[5].u.trial_start.cache, "cold: export/import");
	t = &list.v[6].u.trial_end;
	assert_int_equal(t->block, 2);
	assert_int_equal(t->layout, 1);
	assert_int_equal(t->samples, 13);
	assert_string_equal(t->error, "late");
	assert_int_equal(t->n_evidence, 1);
	assert_string_equal(t->evidence->disks[0].backing, "sda");
	assert_int_equal(t->evidence->disks[0].during.queue_ns, 8);
	assert_int_equal(t->evidence->disks[0].errors, 12);
	assert_null(t->evidence->disks[1].id);
	assert_int_equal(t->evidence->disks[1].errors_known, 0);
	assert_int_equal(t->evidence->n_cores, 2);
	assert_null(t->evidence->maintenance_after);
	assert_string_equal(t->evidence->disks[0].cache_before, "write back");
	assert_null(t->evidence->disks[0].cache_after);
	assert_int_equal(t->evidence->n_settings, 2);
	assert_string_equal(t->evidence->settings[0].of, "pg");
	assert_null(t->evidence->settings[1].before);
	assert_int_equal(t->evidence->n_sources, 1);
	assert_int_equal(t->evidence->sources[0].during.queue_ns, 8);
	assert_true(t->evidence->sources[0].is_written && !t->evidence->sources[0].is_shared);
	assert_true(t->evidence->numbers[1].value == -5);
	assert_int_equal(list.v[8].u.attempt_end.state, ATTEMPT_CANCELLED);
	records_clear(&list);
	buf_free(&payload);
}

static void test_absent(void **state)
{
	struct record end = {
		RECORD_TRIAL_END, 0, {.trial_end = {.trial = 1, .block = 1, .repeat = 1, .ok = 1}}};
	struct record step = {RECORD_STEP, 0, {.step = {.unit = {1, 0}}}};
	struct buf payload = {0};
	struct records list;
	struct err e;

	(void)state;
	record_encode(&end, &payload);
	record_encode(&step, &payload);
	assert_int_equal(records_decode(payload.data, payload.len, &list, &e), 0);
	assert_null(list.v[0].u.trial_end.error);
	assert_null(list.v[0].u.trial_end.hist);
	assert_null(list.v[0].u.trial_end.evidence);
	assert_int_equal(list.v[0].u.trial_end.tele.disks, 0);
	assert_string_equal(list.v[1].u.step.output, "");
	assert_int_equal(list.v[1].u.step.argv.n, 0);
	records_clear(&list);
	buf_free(&payload);
}

/* Programs print what they like; the batch must go through all the same. */
static void test_wild_output(void **state)
{
	struct record step = {RECORD_STEP, 0, {.step = {.unit = {1, 0}}}};
	char *wild = xmalloc(100000);
	struct buf payload = {0};
	struct records list;
	const char *out;
	struct err e;

	(void)state;
	for (size_t i = 0; i < 99999; i++)
		wild[i] = (char)(1 + i * 7 % 255);
	wild[99999] = '\0';
	step.u.step.output = wild;
	record_encode(&step, &payload);
	if (records_decode(payload.data, payload.len, &list, &e) < 0)
		fail_msg("%s", e.text);
	out = list.v[0].u.step.output;
	assert_in_range(strlen(out), RECORD_STEP_OUTPUT_MAX - 4, RECORD_STEP_OUTPUT_MAX);
	assert_null(strchr(out, '\x1b'));
	assert_non_null(strchr(out, '\n'));
	records_clear(&list);
	buf_free(&payload);
	free(wild);
}

static void test_wrong(void **state)
{
	static const struct {
		struct record r;
		const char *text;
	} cases[] = {
		{{RECORD_SAMPLE, 0, {.sample = {.trial = 0, .end_ns = 1}}}, "sample: trial: 0"},
		{{RECORD_SAMPLE, 0, {.sample = {.trial = 1, .start_ns = 1, .end_ns = 1}}},
			"ends before"},
		{{RECORD_UNIT_START, 0, {.unit_start = {{0, 0}, 1}}}, "unit_start: unit: block: 0"},
		{{RECORD_UNIT_START, 0, {.unit_start = {{1, 10000}, 1}}}, "layout: 10000"},
		{{RECORD_STEP, 0, {.step = {.unit = {1, 0}, .phase = PHASE_COUNT}}}, "phase: 4"},
		{{RECORD_TRIAL_START, 0, {.trial_start = {1, {1, 0}, 0, 0, NULL, 0}}}, "repeat: 0"},
		{{RECORD_TRIAL_END, 0, {.trial_end = {.trial = 1, .block = 0, .repeat = 1}}},
			"block: 0"},
		{{RECORD_ATTEMPT_END, 0, {.attempt_end = {ATTEMPT_RUNNING, NULL}}}, "state: 0"},
		{{RECORD_ATTEMPT_END, 0, {.attempt_end = {ATTEMPT_STATE_COUNT, NULL}}}, "state: 5"},
		{{RECORD_AWAIT, 0, {.await = {{1, 0}, 10000, 0}}}, "workload: 10000"},
		{{RECORD_VOLUME_READY, 0, {.volume_ready = {{1, 0}, "", "", "", 1ULL << 63}}},
			"usable_bytes"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf payload = {0};
		struct records list = {0};
		struct err e;

		record_encode(&records[2], &payload);
		record_encode(&cases[i].r, &payload);
		if (records_decode(payload.data, payload.len, &list, &e) == 0)
			fail_msg("'%s' was accepted", cases[i].text);
		assert_int_equal(e.code, ERR_PROTOCOL);
		if (!strstr(e.text, "record 2") || !strstr(e.text, cases[i].text))
			fail_msg("expected '%s', got '%s'", cases[i].text, e.text);
		assert_null(list.v);
		buf_free(&payload);
	}
}

static void test_broken(void **state)
{
	static const struct {
		const char *name, *bytes;
		size_t len;
	} cases[] = {
		{"empty", "", 0},
		{"another field", "\x12\x00", 2},
		{"an empty record", "\x0a\x00", 2},
		{"only a time", "\x0a\x02\x08\x02", 4},
		{"no length", "\x0a", 1},
		{"a length without end", "\x0a\xff\xff\xff\xff\xff\xff\xff", 8},
		{"longer than the batch", "\x0a\x05\x08\x02", 4},
		{"not protobuf", "\x0a\x03\xff\xff\xff", 5},
	};
	struct buf payload = encode_all();
	struct records list = {0};
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		if (records_decode(cases[i].bytes, cases[i].len, &list, &e) == 0)
			fail_msg("%s was accepted", cases[i].name);
		assert_int_equal(e.code, ERR_PROTOCOL);
	}
	for (size_t len = 0; len < payload.len; len++) { /* cut anywhere */
		char *part = xmemdup(payload.data, len);

		if (records_decode(part, len, &list, &e) == 0)
			records_clear(&list);
		free(part);
	}
	buf_free(&payload);
}

static void test_limits(void **state)
{
	static char bytes[70000];
	struct record sample = {RECORD_SAMPLE, WALL, {.sample = {.trial = 1, .end_ns = 1}}};
	struct buf payload = {0};
	struct records list;
	struct err e;

	(void)state;
	for (int i = 0; i < RECORD_BATCH_MAX; i++)
		record_encode(&sample, &payload);
	assert_int_equal(records_decode(payload.data, payload.len, &list, &e), 0);
	assert_int_equal(list.n, RECORD_BATCH_MAX);
	records_clear(&list);
	record_encode(&sample, &payload);
	assert_int_equal(records_decode(payload.data, payload.len, &list, &e), -1);
	/* The largest histogram goes, a larger one never leaves. */
	buf_reset(&payload);
	sample.u.sample.hist = bytes;
	sample.u.sample.hist_len = 65536;
	record_encode(&sample, &payload);
	assert_int_equal(records_decode(payload.data, payload.len, &list, &e), 0);
	assert_int_equal(list.v[0].u.sample.hist_len, 65536);
	records_clear(&list);
	/* Full batches of full records stay inside. */
	while (payload.len < MSG_BATCH_MAX)
		record_encode(&sample, &payload);
	assert_int_equal(records_decode(payload.data, payload.len, &list, &e), -1);
	assert_int_equal(e.code, ERR_PROTOCOL);
	buf_free(&payload);
}

/* A record of the wire that claims two kinds at once. */
static void test_both(void **state)
{
	Arraymark__Wire__Record r = ARRAYMARK__WIRE__RECORD__INIT;
	Arraymark__Wire__AttemptEnd end = ARRAYMARK__WIRE__ATTEMPT_END__INIT;
	Arraymark__Wire__Sample sample = ARRAYMARK__WIRE__SAMPLE__INIT;
	struct buf payload = {0};
	uint8_t packed[64];
	struct records list;
	size_t len;
	struct err e;

	(void)state;
	r.attempt_end = &end;
	r.sample = &sample;
	len = arraymark__wire__record__pack(&r, packed);
	buf_addc(&payload, 0x0a);
	buf_addc(&payload, (char)len);
	buf_add(&payload, packed, len);
	assert_int_equal(records_decode(payload.data, payload.len, &list, &e), -1);
	assert_non_null(strstr(e.text, "both sample and attempt_end"));
	buf_free(&payload);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_fields_arrive),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_wild_output),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
