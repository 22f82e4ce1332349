/*
 * Reports of what stands beside the results: each disk in the HTML page with its plots and table,
 * executed commands there and in JSON, and environments whole.
 */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/results/report_html.h"
#include "tests/unit/results_kit.h"

static const struct html_assets small = {"body{}", "draw();", "chart();"};
static char *layouts[] = {"z<2>"}, *workloads[] = {"dump"};

#define DISKS 20

static void add_disks(struct buf *lines, struct result_trial *t)
{
	struct disk_evidence disks[DISKS] = {0};
	struct trial_evidence v = {.disks = disks, .n_disks = DISKS};
	char names[DISKS][16];

	for (size_t i = 0; i < DISKS; i++) {
		snprintf(names[i], sizeof(names[i]), "sd%c", (char)('a' + i));
		disks[i].name = names[i];
		disks[i].during = (struct disk_counters){.read_ops = 10, .read_bytes = 10 << 20,
			.read_wait_ns = 10 * (i + 1) * NS_PER_MS, .busy_ns = i * 250 * NS_PER_MS};
	}
	disks[0].id = "serial:SECRET<1>";
	disks[0].backing = "SECRETBACK";
	disks[3].errors_known = 1;
	disks[3].errors = 777;
	t->sum.evidence = &v;
	t->sum.n_evidence = 1;
	export_trial(t, lines);
}

static void add_series(struct buf *lines)
{
	struct result_disk_use *use = xcalloc(2 * DISKS, sizeof(*use));
	struct result_span spans[2] = {{0, NS_PER_S}, {NS_PER_S, 3 * NS_PER_S}};
	struct result_point point = {.end_ns = 3 * NS_PER_S, .ops = 1, .bytes = 1};
	struct result_series s = {.run = 1, .host = "knew", .attempt = 1, .trial = 1,
		.points = &point, .n = 1, .spans = spans, .use = use, .n_spans = 2,
		.n_disks = DISKS};

	for (size_t i = 0; i < DISKS; i++) {
		use[i] = (struct result_disk_use){100, 200, NS_PER_S / 2};
		use[DISKS + i] = (struct result_disk_use){0, 2000, NS_PER_S};
	}
	export_series(&s, lines);
	free(use);
}

static void add_step(struct buf *lines, const char *host, uint32_t block, const char *program, int ok)
{
	struct result_step s = {1, (char *)host, 1, block, 0, "z<2>", "build", "make <it>",
		{(char *[]){(char *)program, "a b"}, 2, 0}, 1500 * NS_PER_MS, 0, ok, "went <wrong>\n"};

	export_step(&s, lines);
}

static void add_environment(struct buf *lines)
{
	struct result_environment v = {.run = 1, .host = "knew"};

	v.inventory = json_pack("{ss ss s{ss} s[{ss ss ss ss}]}", "os", "Debian 12", "governor",
		"performance", "zfs_parameters", "zfs_arc_max", "0", "disks", "name", "sda",
		"link_speed", "12.0 Gbit/s", "scheduler", "none", "write_cache", "write back");
	export_environment(&v, lines);
	json_decref(v.inventory);
}

static void make_set(struct result_set *set)
{
	struct result_trial t = a_trial("knew", 1, 1, 0, 0, 5 * NS_PER_S), u;
	struct buf lines = {0};

	t.layout_name = "z<2>";
	t.workload_name = "dump";
	t.usable_bytes = 5000;
	lines_run(&lines, 1, "demo", 2, layouts, 1, workloads, 1);
	buf_adds(&lines, "{\"type\":\"plan\",\"run\":1,\"text\":\"name: demo\\n\"}\n");
	add_environment(&lines);
	u = t;
	add_disks(&lines, &t);
	u.sum.trial = u.block = 2;
	u.usable_bytes = 4000;
	export_trial(&u, &lines);
	add_series(&lines);
	add_step(&lines, "knew", 1, "/sbin/first", 1);
	add_step(&lines, "knew", 2, "/sbin/second", 1);
	add_step(&lines, "kold", 1, "/sbin/other", 1);
	add_step(&lines, "kold", 2, "/sbin/broken", 0);
	lines_read(lines.data, set);
	buf_free(&lines);
}

static char *page(const struct result_set *set, int redact)
{
	struct report_options o = {.redact = redact};
	struct buf out = {0};
	struct err e;

	assert_ok(report_html_with(set, &o, &small, &out, &e), e);
	return buf_take(&out);
}

static json_t *plots_of(const char *html)
{
	static const char before[] = "<script type=\"application/json\" id=\"data\">";
	const char *from = strstr(html, before), *to;
	json_t *doc, *plots;
	struct err e;

	assert_non_null(from);
	from += strlen(before);
	to = strstr(from, "</script>");
	assert_ok(json_parse("data", from, (size_t)(to - from), 1 << 24, &doc, &e), e);
	plots = json_incref(json_object_get(doc, "plots"));
	json_decref(doc);
	return plots;
}

/* The n-th plot of that unit with a line for each drawn disk. */
static const json_t *disks_plot(const json_t *plots, const char *unit)
{
	json_t *o;
	size_t i;

	json_array_foreach(plots, i, o)
	{
		if (strcmp(json_get_str(o, "unit", ""), unit) == 0 &&
			json_array_size(json_object_get(o, "lines")) == 16)
			return o;
	}
	fail_msg("no plot of 16 disks in %s", unit);
	return NULL;
}

static double at(const json_t *plot, size_t line, size_t point, size_t axis)
{
	const json_t *p =
		json_object_get(json_array_get(json_object_get(plot, "lines"), line), "p");

	return json_number_value(json_array_get(json_array_get(p, point), axis));
}

static void each_disk_is_shown(void **state)
{
	struct result_set set = {0};
	const json_t *plot, *names;
	json_t *plots;
	char *html;

	(void)state;
	make_set(&set);
	html = page(&set, 0);
	assert_has(html, "z&#60;2&#62;: how busy each disk was, and what it moved, in block 1; drawn are");
	/* sdt: busy for 4.75 s of 5, a twentieth of the bytes, 20 ms a read; no write, errors unknown */
	assert_has(html, "<tr><td>sdt<td data-l=\"id\">-<td class=\"n\" data-l=\"busy\">95 %"
			 "<td class=\"n\" data-l=\"read\">10 MiB<td class=\"n\" data-l=\"written\">0 B"
			 "<td class=\"n\" data-l=\"share\">5.0 %<td class=\"n\" data-l=\"read waits\">20ms"
			 "<td class=\"n\" data-l=\"write waits\">-<td class=\"n\" data-l=\"errors\">-");
	assert_has(html, "<td>sda on SECRETBACK<td data-l=\"id\">serial:SECRET&#60;1&#62;");
	assert_has(html, "<td class=\"n\" data-l=\"errors\">777");
	plots = plots_of(html);
	plot = disks_plot(plots, "%");
	names = json_object_get(plot, "layouts");
	assert_string_equal(json_string_value(json_array_get(names, 7)), "sdh");
	assert_string_equal(json_string_value(json_array_get(names, 8)), "sdm"); /* i…l are left out */
	assert_true(at(plot, 0, 0, 0) == 0.5 && at(plot, 0, 0, 1) == 50);
	assert_true(at(plot, 15, 1, 0) == 2 && at(plot, 15, 1, 1) == 50);
	plot = disks_plot(plots, "B/s");
	assert_true(at(plot, 0, 0, 1) == 300 && at(plot, 0, 1, 1) == 1000);
	json_decref(plots);
	free(html);
	result_set_clear(&set);
}

static void commands_are_shown(void **state)
{
	struct result_set set = {0};
	char *html;

	(void)state;
	make_set(&set);
	html = page(&set, 0);
	assert_has(html, "z&#60;2&#62;: 1 command of block 1 on knew, and 1 that failed anywhere");
	assert_has(html, "<li>build: make &#60;it&#62;, 1.50s<br><code>/sbin/first &#39;a b&#39;</code>");
	assert_has(html, "<pre>went &#60;wrong&#62;");
	assert_has(html, "/sbin/broken");
	assert_null(strstr(html, "/sbin/second"));
	assert_null(strstr(html, "/sbin/other"));
	free(html);
	result_set_clear(&set);
}

static void a_redacted_page_names_neither(void **state)
{
	struct result_set set = {0};
	char *html;

	(void)state;
	make_set(&set);
	html = page(&set, 1);
	assert_has(html, "<td>disk 20<td data-l=\"id\">-<td class=\"n\" data-l=\"busy\">95 %");
	assert_null(strstr(html, "SECRET"));
	assert_null(strstr(html, "/sbin/"));
	assert_null(strstr(html, "knew"));
	free(html);
	result_set_clear(&set);
}

static json_t *json_of(const struct result_set *set, int redact)
{
	struct report_options o = {.redact = redact};
	struct buf out = {0};
	json_t *doc;
	struct err e;

	assert_ok(report_json(set, &o, &out, &e), e);
	assert_ok(json_parse("report", out.data, out.len, 1 << 24, &doc, &e), e);
	buf_free(&out);
	return doc;
}

static void json_tells_environments_and_commands(void **state)
{
	struct result_set set = {0};
	const json_t *v, *disk;
	json_t *doc;

	(void)state;
	make_set(&set);
	doc = json_of(&set, 0);
	v = json_array_get(json_object_get(doc, "environments"), 0);
	assert_string_equal(
		json_get_str(json_object_get(v, "zfs_parameters"), "zfs_arc_max", ""), "0");
	assert_string_equal(json_get_str(v, "governor", ""), "performance");
	assert_int_equal(json_get_int(json_object_get(v, "usable_bytes"), "z<2>", 0), 4000);
	disk = json_array_get(json_object_get(v, "disks"), 0);
	assert_string_equal(json_get_str(disk, "link_speed", ""), "12.0 Gbit/s");
	assert_string_equal(json_get_str(disk, "scheduler", ""), "none");
	assert_string_equal(json_get_str(disk, "write_cache", ""), "write back");
	v = json_object_get(doc, "commands");
	assert_int_equal(json_array_size(v), 2);
	v = json_array_get(v, 1);
	assert_false(json_get_bool(v, "ok", 1));
	assert_string_equal(json_string_value(json_array_get(json_object_get(v, "argv"), 0)),
		"/sbin/broken");
	json_decref(doc);
	doc = json_of(&set, 1);
	assert_int_equal(json_array_size(json_object_get(doc, "commands")), 0);
	json_decref(doc);
	result_set_clear(&set);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_disk_is_shown),
		cmocka_unit_test(commands_are_shown),
		cmocka_unit_test(a_redacted_page_names_neither),
		cmocka_unit_test(json_tells_environments_and_commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
