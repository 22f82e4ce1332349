/*
 * Evidence: numbers that are there or absent, an interval's packed counters there and back and
 * damaged, and the way through the store's bytes and the export's lines.
 */
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "proto/msg.h"
#include "tests/unit/results_kit.h"

static void a_number_is_there_or_absent(void **state)
{
	struct trial_evidence v = {0};
	int64_t n = 7;

	(void)state;
	assert_int_equal(evidence_get(NULL, EVIDENCE_DIRTY_BYTES, &n), 0);
	assert_int_equal(evidence_get(&v, EVIDENCE_DIRTY_BYTES, &n), 0);
	assert_int_equal(n, 7);
	evidence_set(&v, EVIDENCE_DIRTY_BYTES, 0);
	evidence_set(&v, EVIDENCE_CLOCK_STEP_NS, -3);
	evidence_set(&v, EVIDENCE_CLOCK_STEP_NS, -4);
	assert_int_equal(v.n_numbers, 2);
	assert_int_equal(evidence_get(&v, EVIDENCE_DIRTY_BYTES, &n), 1);
	assert_int_equal(n, 0);
	assert_int_equal(evidence_get(&v, EVIDENCE_CLOCK_STEP_NS, &n), 1);
	assert_true(n == -4);
	trial_evidence_clear(&v);
	trial_evidence_clear(&v);
}

static void a_setting_is_found_by_whose_it_is(void **state)
{
	struct setting_evidence set[] = {
		{"sync", "pg", "always", NULL}, {"sync", NULL, "standard", NULL}};
	const struct trial_evidence v = {.settings = set, .n_settings = 2};

	(void)state;
	assert_ptr_equal(evidence_setting(&v, NULL, "sync"), &set[1]);
	assert_ptr_equal(evidence_setting(&v, "pg", "sync"), &set[0]);
	assert_null(evidence_setting(&v, "other", "sync"));
	assert_null(evidence_setting(&v, NULL, "logbias"));
	assert_null(evidence_setting(NULL, NULL, "sync"));
}

static void every_key_has_one_name(void **state)
{
	(void)state;
	for (uint32_t key = 1; key < EVIDENCE_KEY_COUNT; key++) {
		assert_non_null(evidence_key_name(key));
		assert_int_equal(evidence_key_find(evidence_key_name(key)), key);
	}
	assert_null(evidence_key_name(0));
	assert_null(evidence_key_name(EVIDENCE_KEY_COUNT));
	assert_int_equal(evidence_key_find("nothing"), 0);
}

static const struct host_usage host = {.busiest_core_permille = 1000,
	.cpu_steal_ns = 30 * NS_PER_MS,
	.dirty_bytes = 4096,
	.writeback_bytes = 1 << 20,
	.arc_misses = 3};
static const struct disk_counters disks[] = {
	{100, 51200, 7, 512, 30 * NS_PER_MS, 40 * NS_PER_MS, 999 * NS_PER_MS, 70 * NS_PER_MS},
	{0},
	{.write_ops = 1, .write_bytes = 1ull << 40},
};

static void an_interval_comes_back(void **state)
{
	struct disk_counters d[3] = {0};
	struct host_usage h;
	struct buf packed = {0}, again = {0};
	struct err e;
	size_t n;

	(void)state;
	usage_encode(&host, disks, 3, &packed);
	assert_ok(usage_decode(packed.data, packed.len, &h, d, 3, &n, &e), e);
	assert_int_equal(n, 3);
	assert_memory_equal(&h, &host, sizeof(h));
	assert_memory_equal(d, disks, sizeof(disks));
	usage_encode(&h, d, n, &again);
	assert_int_equal(again.len, packed.len);
	assert_memory_equal(again.data, packed.data, packed.len);
	memset(d, 0xff, sizeof(d));
	assert_ok(usage_decode(packed.data, packed.len, &h, d, 1, &n, &e), e);
	assert_int_equal(n, 3); /* the others were read over */
	assert_int_equal(d[1].read_ops, UINT64_MAX);
	buf_free(&packed);
	buf_free(&again);
}

/* Idle disks are most of a large pool: what they cost travels every second. */
static void an_idle_disk_is_one_byte(void **state)
{
	struct disk_counters *none = xcalloc(100, sizeof(*none));
	struct host_usage h = {0};
	struct buf packed = {0};

	(void)state;
	usage_encode(&h, none, 100, &packed);
	assert_int_equal(packed.len, 1 + 1 + 100);
	free(none);
	buf_free(&packed);
}

static void damage_is_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *name;
	} table[] = {
		{"", 0, "nothing"},
		{"\0", 1, "no host"},
		{"\1\0", 2, "no disk"},
		{"\0\0\0", 3, "bytes behind"},
		{"\0\1\0", 3, "a zero that is said to be none"},
		{"\0\1\x80\0", 4, "a number longer than it need be"},
		{"\0\x40\1", 3, "a field of the host that there is not"},
		{"\1\0\2\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 12, "bytes of more than 63 bits"},
		{"\x81\x08\0", 3, "too many disks"},
	};
	struct disk_counters d[2];
	struct host_usage h;
	struct buf packed = {0};
	struct err e;
	size_t n;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (usage_decode(table[i].bytes, table[i].len, &h, d, 2, &n, &e) == 0)
			fail_msg("%s was taken", table[i].name);
	usage_encode(&host, disks, 3, &packed);
	for (size_t len = 0; len < packed.len; len++)
		assert_int_equal(usage_decode(packed.data, len, &h, d, 2, &n, &e), -1);
	buf_free(&packed);
}

static struct trial_evidence *some_evidence(size_t n)
{
	struct trial_evidence *v = xcalloc(1, sizeof(*v));

	v->disks = xcalloc(n, sizeof(*v->disks));
	v->n_disks = n;
	for (size_t i = 0; i < n; i++) {
		v->disks[i].name = xasprintf("sd%zu", i);
		v->disks[i].during = disks[i % 3];
		v->disks[i].during.read_bytes = 512 * i;
		v->disks[i].look_busy_ns = i;
	}
	v->disks[0].id = xstrdup("serial:<S&1>");
	v->disks[0].backing = xstrdup("sda");
	v->disks[0].errors_known = 1;
	v->cores = xcalloc(2, sizeof(*v->cores));
	v->n_cores = 2;
	v->cores[1].busy_ns = 5;
	for (uint32_t key = 1; key < EVIDENCE_KEY_COUNT; key++)
		evidence_set(v, (enum evidence_key)key, key == EVIDENCE_CLOCK_STEP_NS ? -12 : 3 * (int64_t)key);
	v->maintenance_after = xstrdup("resync of md127, 5%");
	v->disks[0].cache_before = xstrdup("write back");
	v->disks[n - 1].cache_after = xstrdup("write through");
	v->settings = xcalloc(2, sizeof(*v->settings));
	v->n_settings = 2;
	v->settings[0] = (struct setting_evidence){
		xstrdup("sync"), xstrdup("pg"), xstrdup("standard"), xstrdup("always")};
	v->settings[1].name = xstrdup("mount");
	v->settings[1].after = xstrdup("rw,relatime");
	v->sources = xcalloc(1, sizeof(*v->sources));
	v->n_sources = 1;
	v->sources[0] = (struct source_evidence){
		xstrdup("wwn:0x5"), xstrdup("sdz"), 0, 1, disks[1]};
	return v;
}

static void evidence_free(struct trial_evidence *v)
{
	trial_evidence_clear(v);
	free(v);
}

static void bytes_of_the_store_come_back(void **state)
{
	struct trial_evidence *v = some_evidence(250), back;
	struct buf bytes = {0}, again = {0};
	struct err e;

	(void)state;
	evidence_encode(v, &bytes);
	assert_ok(evidence_decode(bytes.data, bytes.len, &back, &e), e);
	assert_int_equal(back.n_disks, 250);
	assert_string_equal(back.disks[249].name, "sd249");
	assert_string_equal(back.maintenance_after, "resync of md127, 5%");
	evidence_encode(&back, &again);
	assert_int_equal(bytes.len, again.len);
	assert_memory_equal(bytes.data, again.data, bytes.len);
	assert_int_equal(evidence_decode(bytes.data, bytes.len - 1, &back, &e), -1);
	trial_evidence_clear(&back);
	evidence_free(v);
	buf_free(&bytes);
	buf_free(&again);
}

static char *layouts[] = {"z2"}, *workloads[] = {"load"};

static void lines_come_back(void **state)
{
	struct result_trial t = a_trial("a", 1, 1, 0, 0, NS_PER_S);
	struct result_span spans[2] = {{0, 5}, {5, 9}};
	struct result_disk_use *use = xcalloc(2 * 700, sizeof(*use));
	struct result_series s = {.run = 1, .host = "a", .attempt = 1, .trial = 1, .spans = spans,
		.use = use, .n_spans = 2, .n_disks = 700};
	struct result_step step = {1, "a", 1, 2, 0, "z2", "build", "make the pool",
		{(char *[]){"/sbin/zpool", "create", "<x>"}, 3, 0}, 5, 6, 1, "done\n"};
	struct buf lines = {0}, again = {0};
	struct result_set set = {0};

	(void)state;
	t.sum.evidence = some_evidence(250);
	t.sum.n_evidence = 1;
	t.layout_name = "z2";
	t.workload_name = "load";
	for (size_t i = 0; i < 2 * 700; i++)
		use[i] = (struct result_disk_use){i, 2 * i, 3 * i};
	lines_run(&lines, 1, "demo", 1, layouts, 1, workloads, 1);
	export_trial(&t, &lines);
	export_series(&s, &lines);
	export_step(&step, &lines);
	lines_read(lines.data, &set);
	assert_int_equal(set.trials[0].sum.evidence->n_disks, 250);
	assert_int_equal(set.trials[0].sum.evidence->disks[0].errors_known, 1);
	assert_int_equal(set.trials[0].sum.evidence->disks[1].errors_known, 0);
	assert_string_equal(set.trials[0].sum.evidence->settings[0].after, "always");
	assert_null(set.trials[0].sum.evidence->settings[1].before);
	assert_true(set.trials[0].sum.evidence->sources[0].is_shared);
	assert_string_equal(set.trials[0].sum.evidence->disks[249].cache_after, "write through");
	assert_int_equal(set.series[0].n_spans, 2);
	assert_int_equal(set.series[0].use[1399].busy_ns, 3 * 1399);
	assert_int_equal(set.steps[0].argv.n, 3);
	lines_run(&again, 1, "demo", 1, layouts, 1, workloads, 1);
	export_trial(&set.trials[0], &again);
	export_series(&set.series[0], &again);
	export_step(&set.steps[0], &again);
	assert_string_equal(lines.data, again.data);
	result_set_clear(&set);
	evidence_free(t.sum.evidence);
	free(use);
	buf_free(&lines);
	buf_free(&again);
}

#define HEAD "\"run\":1,\"host\":\"a\",\"attempt\":1,\"trial\":1"

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* People sort what has lines: then all trials stand before all disks, and points before spans. */
static void sorted_lines_come_back(void **state)
{
	struct result_point points[250];
	struct result_span spans[2500];
	struct result_disk_use use[2500];
	struct buf lines = {0}, sorted = {0};
	struct result_set set = {0};
	struct strv list = {0};

	(void)state;
	/* three pieces of points and two of spans a series, which do not sort by their numbers */
	for (int64_t i = 0; i < 250; i++)
		points[i] = (struct result_point){
			.start_ns = 5 * i, .end_ns = 5 * i + 5, .ops = 3 + (uint64_t)i};
	for (int64_t i = 0; i < 2500; i++) {
		spans[i] = (struct result_span){5 * i, 5 * i + 5};
		use[i] = (struct result_disk_use){1, 2, 3 + (uint64_t)i};
	}
	lines_run(&lines, 1, "demo", 1, layouts, 1, workloads, 1);
	for (uint32_t i = 1; i <= 3; i++) {
		struct result_trial t = a_trial("a", i, i, 0, 0, NS_PER_S);
		struct result_series s = {.run = 1, .host = "a", .attempt = 1, .trial = i,
			.points = points, .n = 250, .spans = spans, .use = use, .n_spans = 2500,
			.n_disks = 1};

		t.sum.evidence = some_evidence(2);
		t.sum.n_evidence = 1;
		export_trial(&t, &lines);
		export_series(&s, &lines);
		evidence_free(t.sum.evidence);
	}
	for (char *rest = lines.data, *line; (line = strsep(&rest, "\n"));)
		if (*line)
			strv_add(&list, line);
	qsort(list.v, list.n, sizeof(*list.v), by_text);
	for (size_t i = 0; i < list.n; i++)
		buf_addf(&sorted, "%s\n", list.v[i]);
	lines_read(sorted.data, &set);
	assert_int_equal(set.n_trials, 3);
	assert_int_equal(set.trials[2].sum.evidence->n_disks, 2);
	assert_int_equal(set.n_series, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(set.series[i].trial, i + 1);
		assert_int_equal(set.series[i].n, 250);
		assert_memory_equal(set.series[i].points, points, sizeof(points));
		assert_int_equal(set.series[i].n_spans, 2500);
		assert_memory_equal(set.series[i].spans, spans, sizeof(spans));
		assert_memory_equal(set.series[i].use, use, sizeof(use));
	}
	result_set_clear(&set);
	strv_free(&list);
	buf_free(&lines);
	buf_free(&sorted);
}

static void wrong_lines_are_named(void **state)
{
	static const struct {
		const char *line, *says;
	} table[] = {
		{"{\"type\":\"trial-disks\"," HEAD ",\"disks\":[]}", "no trial with evidence"},
		{"{\"type\":\"series-disks\"," HEAD ",\"disks\":1}", "spans"},
		{"{\"type\":\"series-disks\"," HEAD ",\"disks\":0,\"spans\":[]}",
			"disks: 0 is found, a whole number from 1 to 1024"},
		{"{\"type\":\"series-disks\"," HEAD ",\"disks\":2,\"spans\":[[0,1,2,3,4]]}",
			"three numbers"},
		{"{\"type\":\"series-disks\",\"run\":1,\"disks\":2,\"spans\":[]}", "host"},
		{"{\"type\":\"step\"," HEAD "}", "argv"},
		{"{\"type\":\"step\",\"run\":1,\"argv\":[]}", "host"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct result_set set = {0};
		struct err e = {0};

		assert_int_equal(export_read_line(&set, "f", 9, table[i].line,
					 strlen(table[i].line), &e),
			-1);
		assert_has(e.text, table[i].says);
		assert_has(e.text, "f:9");
		result_set_clear(&set);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_is_there_or_absent),
		cmocka_unit_test(a_setting_is_found_by_whose_it_is),
		cmocka_unit_test(every_key_has_one_name),
		cmocka_unit_test(an_interval_comes_back),
		cmocka_unit_test(an_idle_disk_is_one_byte),
		cmocka_unit_test(damage_is_refused),
		cmocka_unit_test(bytes_of_the_store_come_back),
		cmocka_unit_test(lines_come_back),
		cmocka_unit_test(sorted_lines_come_back),
		cmocka_unit_test(wrong_lines_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
