/*
 * JSON reports fit deploy/report.schema.json. With arguments: checks these files instead, for tests of
 * whole programs.
 */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "common/base/fs.h"
#include "common/measure/inventory.h"
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
	struct result_environment v = {1, (char *)host, inventory_json(&inv)};

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

static void expect_problem(json_t *doc, const char *what)
{
	char *problems = problems_of(doc);

	if (!strstr(problems, what))
		fail_msg("'%s' is not in:\n%s", what, problems);
	free(problems);
	json_decref(doc);
}

static void misfits_are_found(void **state)
{
	json_t *doc = any_document();

	(void)state;
	assert_true(json_array_size(json_object_get(first_of(doc, "details"), "parts")) == 1);
	json_object_set_new(first_of(doc, "results"), "surprise", json_true());
	expect_problem(doc, "/results/0/surprise: is not in the schema");
	doc = any_document();
	json_object_del(first_of(doc, "results"), "ci95");
	expect_problem(doc, "/results/0/ci95: is missing");
	doc = any_document();
	json_object_set_new(first_of(doc, "comparisons"), "verdict", json_string("fasster"));
	expect_problem(doc, "/comparisons/0/verdict: is none of the values it may have");
	doc = any_document();
	json_object_set_new(first_of(doc, "runs"), "blocks", json_string("4"));
	expect_problem(doc, "/runs/0/blocks: is of another type");
	doc = any_document();
	json_object_set_new(first_of(doc, "runs"), "id", json_integer(0));
	expect_problem(doc, "/runs/0/id: is less than the minimum");
	doc = any_document();
	json_object_set_new(doc, "schema", json_integer(2));
	expect_problem(doc, "/schema: is not the value it must have");
	doc = any_document();
	json_array_append_new(json_object_get(first_of(doc, "results"), "ci95"), json_real(1));
	expect_problem(doc, "/results/0/ci95: has too few or too many items");
	doc = any_document();
	json_array_append_new(json_object_get(first_of(doc, "commands"), "argv"), json_integer(1));
	expect_problem(doc, "/commands/0/argv/2: is of another type");
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
	};

	return argc > 1 ? check_files(argc - 1, argv + 1)
			: cmocka_run_group_tests(tests, NULL, NULL);
}
