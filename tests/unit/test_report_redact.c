/* Redacted reports: what findings tell of hosts and disks names none of them, in every format. */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/results/report.h"
#include "tests/unit/results_kit.h"

#define DISKS 4

static char *layouts[] = {"z2"}, *workloads[] = {"dump"};
static const char *const hosts[] = {"knew", "kold.example"};

static int (*const formats[])(const struct result_set *s, const struct report_options *o,
	struct buf *out, struct err *e) = {
	report_text, report_markdown, report_csv, report_json, report_html};

/* Its third disk is slow and fails commands. */
static void add_trial(struct buf *lines, const char *host, uint32_t block)
{
	struct result_trial t = a_trial(host, block, block, 0, 0, 5 * NS_PER_S);
	struct disk_evidence disks[DISKS] = {0};
	struct trial_evidence v = {.disks = disks, .n_disks = DISKS};
	char *ids[DISKS];

	for (size_t i = 0; i < DISKS; i++) {
		ids[i] = i % 2 ? xasprintf("wwn:0xSECRET%zu", i) : xasprintf("serial:SECRET%zu", i);
		disks[i] = (struct disk_evidence){.id = ids[i], .name = "sdx",
			.during = {.read_ops = 100, .read_bytes = 100 << 20,
				.read_wait_ns = (i == 2 ? 900u : 100u) * NS_PER_MS,
				.busy_ns = (i == 2 ? 4500u : 1000u) * NS_PER_MS},
			.errors_known = 1, .errors = i == 2 ? 7 : 0};
	}
	t.layout_name = "z2";
	t.workload_name = "dump";
	t.sum.evidence = &v;
	t.sum.n_evidence = 1;
	export_trial(&t, lines);
	for (size_t i = 0; i < DISKS; i++)
		free(ids[i]);
}

/* Two hosts on one machine that differ in their kernels and memory; one trial failed. */
static void make_set(struct result_set *set)
{
	struct result_trial failed = a_trial("knew", 9, 9, 0, 0, 0);
	struct buf lines = {0};

	lines_run(&lines, 1, "demo", 4, layouts, 1, workloads, 1);
	for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
		struct result_environment v = {.run = 1, .host = (char *)hosts[i], .inventory =
			json_pack("{ss ss si s[{ss ss ss}]}", "kernel", i ? "6.1" : "6.12",
				"boot_id", "one", "ram_bytes", (int)(1 + i) << 29, "disks", "name",
				"sdx", "serial", "SECRET2", "path", "/dev/disk/by-id/SECRET2")};

		export_environment(&v, &lines);
		json_decref(v.inventory);
		for (uint32_t block = 1; block <= 4; block++)
			add_trial(&lines, hosts[i], block);
	}
	failed.sum.ok = 0;
	failed.sum.error = "no room on knew, disk SECRET2";
	export_trial(&failed, &lines);
	lines_read(lines.data, set);
	buf_free(&lines);
}

static char *report(const struct result_set *set, size_t format, int redact)
{
	struct report_options o = {.redact = redact, .long_form = 1};
	struct buf out = {0};
	struct err e;

	assert_ok(formats[format](set, &o, &out, &e), e);
	return buf_take(&out);
}

static void findings_name_no_host_and_no_disk(void **state)
{
	static const char *const rules[] = {"V11", "V13", "V21", "V29"};
	static const char *const secrets[] = {"knew", "kold", "SECRET"};
	struct result_set set = {0};
	char *text;

	(void)state;
	make_set(&set);
	for (size_t f = 0; f < ARRAY_LEN(formats); f++) {
		text = report(&set, f, 1);
		for (size_t i = 0; i < ARRAY_LEN(rules); i++)
			if (!strstr(text, rules[i]))
				fail_msg("format %zu: no %s", f, rules[i]);
		for (size_t i = 0; i < ARRAY_LEN(secrets); i++)
			if (strstr(text, secrets[i]))
				fail_msg("format %zu: '%s' in %s", f, secrets[i], text);
		assert_has(text, "host-2 is on the same machine as host-1");
		free(text);
	}
	text = report(&set, 3, 1);
	assert_has(text, "\"disk\": \"redacted\"");
	assert_has(text, "\"other_host\": \"host-1\"");
	free(text);
	result_set_clear(&set);
}

static void findings_name_them_else(void **state)
{
	struct result_set set = {0};
	char *text;

	(void)state;
	make_set(&set);
	for (size_t f = 0; f < ARRAY_LEN(formats); f++) {
		text = report(&set, f, 0);
		assert_has(text, "is on the same machine as knew");
		free(text);
	}
	text = report(&set, 3, 0);
	assert_has(text, "\"disk\": \"serial:SECRET2\"");
	free(text);
	result_set_clear(&set);
}

/* What was set on the command line: folders and hosts. */
static void what_was_set_tells_no_folder_and_no_host(void **state)
{
	static char *sets[] = {"layouts.z2.existing=/srv/SECRET/z2", "hosts=knew,kold.example"};
	struct result_run r = {.id = 1, .name = "demo", .state = "done", .plan_sha256 = "",
		.tool_version = "", .user = "", .cache = "cold", .design = "random-blocks",
		.sets = {sets, 2, 0}, .layouts = {layouts, 1, 0}, .workloads = {workloads, 1, 0}};
	struct result_set set = {0};
	struct buf lines = {0};
	char *text;

	(void)state;
	export_run(&r, &lines);
	add_trial(&lines, "knew", 1);
	lines_read(lines.data, &set);
	buf_free(&lines);
	for (size_t f = 0; f < ARRAY_LEN(formats); f++) {
		text = report(&set, f, 1);
		if (strstr(text, "SECRET") || strstr(text, "kold") || strstr(text, "knew"))
			fail_msg("format %zu tells what was set: %s", f, text);
		free(text);
	}
	text = report(&set, 3, 1);
	assert_has(text, "layouts.z2.existing=redacted");
	free(text);
	text = report(&set, 3, 0);
	assert_has(text, "layouts.z2.existing=/srv/SECRET/z2");
	free(text);
	result_set_clear(&set);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(findings_name_no_host_and_no_disk),
		cmocka_unit_test(findings_name_them_else),
		cmocka_unit_test(what_was_set_tells_no_folder_and_no_host),
	};

	return cmocka_run_group_tests_name("report_redact", tests, NULL, NULL);
}
