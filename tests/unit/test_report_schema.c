/*
 * JSON reports fit deploy/report.schema.json. With arguments: checks these files instead, for tests of
 * whole programs.
 */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "common/base/fs.h"
#include "common/measure/inventory.h"
#include "coordinator/results/compare.h"
#include "coordinator/results/import.h"
#include "coordinator/results/merge.h"
#include "coordinator/results/pivot.h"
#include "coordinator/results/report.h"
#include "tests/unit/results_kit.h"
#include "tests/unit/schema_kit.h"

#define DOCUMENT_MAX (64 * 1024 * 1024)

static json_t *load(const char *path)
{
	struct buf text = {0};
	json_t *v;
	struct err e;

	if (fs_read_file(path, DOCUMENT_MAX, &text, &e) != 0 ||
		json_parse(path, buf_str(&text), text.len, DOCUMENT_MAX, &v, &e) != 0) {
		fprintf(stderr, "%s\n", e.text);
		exit(2);
	}
	buf_free(&text);
	return v;
}

/* Problems as lines, "" for none. Caller frees. */
static char *problems_of(const json_t *doc)
{
	struct buf out = {0};
	json_t *root = load("deploy/report.schema.json");
	struct schema s = {.root = root, .problems = &out};

	schema_check(&s, root, doc, "");
	json_decref(root);
	return out.len ? buf_take(&out) : xstrdup("");
}

static json_t *document_of(struct result_set *set, int redact)
{
	struct report_options o = {.redact = redact};
	struct buf out = {0};
	struct err e = {0};
	json_t *doc;

	assert_ok(report_json(set, &o, &out, &e), e);
	assert_ok(json_parse("report", buf_str(&out), out.len, DOCUMENT_MAX, &doc, &e), e);
	buf_free(&out);
	return doc;
}

static void expect_fit(struct result_set *set, const char *name)
{
	for (int redact = 0; redact < 2; redact++) {
		json_t *doc = document_of(set, redact);
		char *problems = problems_of(doc);

		if (*problems)
			fail_msg("%s:\n%s", name, problems);
		free(problems);
		json_decref(doc);
	}
}

/* ---- sets ---- */

#define PLAN(trials, compare)                                                                      \
	"name: demo\nhosts: all\ntrials: " trials "\n" compare                                     \
	"layouts: {one: {existing: /srv/one}, two: {existing: /srv/two}}\n"                        \
	"workloads: {load: {stream: {op: write, size: 1G}}}\n"

static char *layouts[] = {"one", "two", NULL}, *workloads[] = {"load", NULL};

static void add_environment(struct buf *lines, const char *host)
{
	struct inv_disk disk = {.path = "/dev/sda", .serial = "A", .model = "M",
		.controller = "SAS2008", .bytes = 1ull << 40};
	struct inventory inv = {.host = (char *)host, .os = "Debian 12", .kernel = "6.1",
		.arch = "x86_64", .cpu = "Xeon", .zfs = "2.2", .agent_version = "0.1.0", .cpus = 8,
		.ram_bytes = 1ull << 36, .disks = &disk, .n_disks = 1};
	struct result_environment v = {.run = 1, .host = (char *)host, .inventory = inventory_json(&inv)};

	export_environment(&v, lines);
	json_decref(v.inventory);
}

/* A run of our own; on host i everything takes i parts of `spread` longer, the last host one more
 * half. */
static void add_run(struct buf *lines, const char *plan, uint32_t blocks, size_t n_hosts)
{
	static const char *const hosts[] = {"a", "b", "c", "d", "e", "f", "g"};
	struct result_run r = {.id = 1, .name = "demo", .state = "done", .plan_sha256 = "00",
		.tool_version = "0.1.0", .user = "ann", .seed = 18446744073709551615u,
		.blocks = blocks, .cache = "cold", .design = "random-blocks",
		.started_wall_ns = 1700000000000000000, .plan_text = (char *)plan,
		.layouts = {layouts, 2, 0}, .workloads = {workloads, 1, 0}};

	export_run(&r, lines);
	for (size_t h = 0; h < n_hosts; h++) {
		add_environment(lines, hosts[h]);
		for (uint32_t b = 1; b <= blocks; b++)
			for (uint32_t l = 0; l < 2; l++) {
				double s = (1 + 0.01 * (double)h) * (1 + 0.002 * (b * (l + 3) % 5)) *
					   (h + 1 == n_hosts && h >= 5 ? 1.5 : 1);
				struct result_trial t = a_trial(hosts[h], 2 * b + l, b, l, 0,
					(int64_t)(1e9 * s));

				t.usable_bytes = 1ull << 40;
				t.sum.bytes = 1 << 30;
				t.sum.ops = 1024;
				t.sum.ok = !(h == 0 && b == blocks && l == 1);
				t.sum.error = t.sum.ok ? NULL : "write /srv/two/x: no space left";
				t.sum.tele = (struct telemetry){.disks = 1};
				detail_part(&t.sum.detail, "flowop", "append", NULL)->ops = 7;
				detail_fact(&t.sum.detail, "tps", 812.5, "ops/s");
				detail_note(&t.sum.detail, "settings", "shared_buffers = 128MB");
				export_trial(&t, lines);
				detail_clear(&t.sum.detail);
			}
	}
}

static void add_step(struct buf *lines)
{
	char *argv[] = {"/usr/sbin/zpool", "create", NULL};
	struct result_step s = {.run = 1, .host = "a", .attempt = 1, .block = 1, .layout_name = "one",
		.phase = "build", .what = "create the pool", .argv = {argv, 2, 0},
		.elapsed_ns = 1000000, .ok = 1, .output = "done"};

	export_step(&s, lines);
}

static void our_own_runs_fit(void **state)
{
	static const struct {
		const char *name, *plan;
		uint32_t blocks;
		size_t hosts;
	} cases[] = {
		{"one host", PLAN("4", ""), 4, 1},
		{"two hosts, reported apart", PLAN("4", ""), 4, 2},
		{"many hosts, one of which stands out", PLAN("4", ""), 4, 7},
		{"hosts against each other", PLAN("4", "compare: {by: host, margin: 2%}\n"), 4, 3},
		{"until", PLAN("{min: 5, max: 8, until: 2%}", ""), 6, 2},
		{"too few", PLAN("2", ""), 1, 1},
	};
	struct result_stop stop = {1, "a", 6};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct result_set set = {0};
		struct buf lines = {0};

		add_run(&lines, cases[i].plan, cases[i].blocks, cases[i].hosts);
		add_step(&lines);
		if (strstr(cases[i].plan, "until"))
			export_stop(&stop, &lines);
		lines_read(lines.data, &set);
		expect_fit(&set, cases[i].name);
		result_set_clear(&set);
		buf_free(&lines);
	}
}

static void add_text(struct result_set *set, const char *name, const char *text)
{
	struct import_options o = {0};
	struct result_set one = {0};
	struct buf copy = {0};
	uint64_t run;
	struct err e;

	buf_adds(&copy, text);
	assert_ok(import_text(&one, name, &copy, &o, NULL, &run, &e), e);
	assert_ok(export_read_end(&one, &e), e);
	result_set_merge(set, &one);
	buf_free(&copy);
}

static void imports_and_runs_beside_each_other_fit(void **state)
{
	const struct pivot_source v[] = {{1, "jan"}, {2, "feb"}};
	struct result_set set = {0};
	struct err e = {0};

	(void)state;
	expect_fit(&set, "no run at all");
	add_text(&set, "jan.txt", "n=10 mean=56MB/s min=52MB/s max=59MB/s sd=2MB/s\n");
	add_text(&set, "feb.txt", "n=10 mean=58MB/s min=56MB/s max=60MB/s\n");
	assert_ok(export_read_end(&set, &e), e);
	expect_fit(&set, "two files");
	assert_ok(pivot_sources(&set, v, 2, &e), e);
	expect_fit(&set, "two files beside each other");
	result_set_clear(&set);
	add_text(&set, "one.txt", "10.1\n10.2\n10.3\n10.3\n10.1\n10.2\n");
	expect_fit(&set, "a list of times");
	result_set_clear(&set);
}

/* ---- the checker finds what it is there for ---- */

static json_t *any_document(void)
{
	struct result_set set = {0};
	struct buf lines = {0};
	json_t *doc;

	add_run(&lines, PLAN("4", ""), 4, 2);
	add_step(&lines);
	lines_read(lines.data, &set);
	doc = document_of(&set, 0);
	result_set_clear(&set);
	buf_free(&lines);
	return doc;
}

static json_t *first_of(json_t *doc, const char *list)
{
	return json_array_get(json_object_get(doc, list), 0);
}

static void expect_word(const json_t *list, const char *word)
{
	const json_t *v;
	size_t i, n = 0;

	json_array_foreach(list, i, v) n += json_is_string(v) && !strcmp(json_string_value(v), word);
	if (n != 1)
		fail_msg("%s is in the schema %zu times", word, n);
}

static void expect_problem(json_t *doc, const char *what)
{
	char *problems = problems_of(doc);

	if (!strstr(problems, what))
		fail_msg("'%s' is not in:\n%s", what, problems);
	free(problems);
	json_decref(doc);
}

static json_t *of(json_t *doc, const char *list, const char *within)
{
	json_t *v = json_array_get(json_object_get(first_of(doc, list), within), 0);

	assert_non_null(v);
	return v;
}

static void misfits_are_found(void **state)
{
	json_t *doc = any_document();

	(void)state;
	assert_true(json_array_size(json_object_get(first_of(doc, "details"), "parts")) == 1);
	json_decref(doc);
	doc = any_document();
	json_object_del(first_of(doc, "results"), "ci95");
	expect_problem(doc, "/results/0/ci95: is missing");
	doc = any_document();
	json_array_append_new(json_object_get(first_of(doc, "results"), "ci95"), json_real(1));
	expect_problem(doc, "/results/0/ci95: has too few or too many items");
	doc = any_document();
	json_array_append_new(json_object_get(first_of(doc, "commands"), "argv"), json_integer(1));
	expect_problem(doc, "/commands/0/argv/2: is of another type");
	doc = any_document();
	json_object_set_new(of(doc, "results", "trials"), "value", json_real(-1));
	expect_problem(doc, "/results/0/trials/0/value: is less than the minimum");
	doc = any_document();
	json_object_set_new(
		json_object_get(first_of(doc, "environments"), "usable_bytes"), "one", json_real(1.5));
	expect_problem(doc, "/environments/0/usable_bytes/one: is of another type");
}

/* Another value of one key of the first of a list ("": of the document). */
static void wrong_values_are_found(void **state)
{
	static const struct {
		const char *list, *key, *value, *problem;
	} cases[] = {
		{"", "schema", "2", "/schema: is not the value it must have"},
		{"runs", "blocks", "\"4\"", "/runs/0/blocks: is of another type"},
		{"runs", "id", "0", "/runs/0/id: is less than the minimum"},
		{"runs", "seed", "\"1e6\"", "/runs/0/seed: does not match its pattern"},
		{"runs", "started", "\"2026-11-30\"", "/runs/0/started: does not match its pattern"},
		{"results", "surprise", "true", "/results/0/surprise: is not in the schema"},
		{"results", "metric", "\"speed\"", "/results/0/metric: is none of the values"},
		{"results", "ci95", "[-1, 2]", "/results/0/ci95/0: is less than the minimum"},
		{"results", "summary", "{\"n\": 1, \"mean\": 1, \"min\": 1, \"max\": 1, \"stddev\": null}",
			"/results/0: is not exactly one of its alternatives"},
		{"comparisons", "verdict", "\"fasster\"", "/comparisons/0/verdict: is none of the values"},
		{"comparisons", "p_adjusted", "1.5", "/comparisons/0/p_adjusted: is more than the maximum"},
		{"comparisons", "ratio", "0", "/comparisons/0/ratio: is not above the exclusive minimum"},
		{"comparisons", "estimator", "\"guess\"", "/comparisons/0/estimator: is none of the values"},
		{"comparisons", "invalid", "[\"V1\"]", "/comparisons/0/invalid/0: does not match its pattern"},
		{"findings", "rule", "\"X04\"", "/findings/0/rule: does not match its pattern"},
		{"findings", "text", "\"\"", "/findings/0/text: does not match its pattern"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		json_t *doc = any_document(), *value = json_loads(cases[i].value, JSON_DECODE_ANY, NULL);

		assert_non_null(value);
		json_object_set_new(
			*cases[i].list ? first_of(doc, cases[i].list) : doc, cases[i].key, value);
		expect_problem(doc, cases[i].problem);
	}
}

/* What the program may say is in the schema, whether a test makes it say so or not. */
static void the_schema_has_all_words(void **state)
{
	json_t *root = load("deploy/report.schema.json"), *defs = json_object_get(root, "$defs");
	const json_t *metrics = json_object_get(json_object_get(defs, "metric"), "enum");
	const json_t *of_comparison =
		json_object_get(json_object_get(defs, "comparison"), "properties");
	const json_t *verdicts = json_object_get(json_object_get(of_comparison, "verdict"), "enum");
	const json_t *estimators = json_object_get(json_object_get(of_comparison, "estimator"), "enum");
	const json_t *units = json_object_get(
		json_object_get(json_object_get(json_object_get(defs, "result"), "properties"), "unit"),
		"enum");

	(void)state;
	assert_int_equal(json_array_size(metrics), METRIC_COUNT);
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		assert_string_equal(json_string_value(json_array_get(metrics, i)), metric_table[i].name);
		expect_word(units, metric_table[i].unit);
	}
	for (int v = VERDICT_TOO_FEW; v <= VERDICT_SLOWER; v++)
		expect_word(verdicts, verdict_name((enum verdict)v));
	for (int e = ESTIMATOR_NONE + 1; e <= ESTIMATOR_SUMMARY; e++)
		expect_word(estimators, estimator_name((enum estimator)e));
	json_decref(root);
}

static int check_files(int n, char **paths)
{
	int bad = 0;

	for (int i = 0; i < n; i++) {
		json_t *doc = load(paths[i]);
		char *problems = problems_of(doc);

		if (*problems)
			fprintf(stderr, "%s:\n%s", paths[i], problems);
		bad |= *problems != '\0';
		free(problems);
		json_decref(doc);
	}
	return bad;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(our_own_runs_fit),
		cmocka_unit_test(imports_and_runs_beside_each_other_fit),
		cmocka_unit_test(misfits_are_found),
		cmocka_unit_test(wrong_values_are_found),
		cmocka_unit_test(the_schema_has_all_words),
	};

	return argc > 1 ? check_files(argc - 1, argv + 1)
			: cmocka_run_group_tests(tests, NULL, NULL);
}
