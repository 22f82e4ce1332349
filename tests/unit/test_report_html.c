/* report --format html: sections in order, nothing but text from hosts and files, no address. */
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "tests/unit/html_kit.h"

static const struct html_assets without_library = {"{}", "draw()", ""};

static char *layouts[] = {"hba8", "sata2", NULL};
static char *workloads[] = {"dump", NULL};

static void histogram_into(struct result_trial *t, struct buf *bytes)
{
	struct hist *h = xcalloc(1, sizeof(*h));

	hist_clear(h);
	hist_add_n(h, 1000000, 1000);
	hist_add_n(h, 9000000, 10);
	hist_encode(h, bytes);
	free(h);
	t->sum.hist = bytes->data;
	t->sum.hist_len = bytes->len;
}

static void add_series(struct buf *lines, const char *host, uint32_t trial)
{
	struct result_point points[2] = {{0, NS_PER_S, 10, 104857600, 500, 900, 1000, {0}, {0}},
		{NS_PER_S, 3 * NS_PER_S, 10, 104857600, 500, 700, 1000, {0}, {0}}};
	struct result_series s = {.run = 1, .host = (char *)host, .attempt = 1, .trial = trial,
		.points = points, .n = 2};

	points[0].tele = (struct telemetry){
		.disks = 2, .disk_write_bytes = 209715200, .disk_busy_ns = NS_PER_S};
	points[1].tele = points[0].tele;
	export_series(&s, lines);
}

/* Blocks of a dump on two layouts of a host: 10 s and 11 s, a little apart. */
static void add_trials(struct buf *lines, const char *host, uint32_t blocks)
{
	for (uint32_t i = 0; i < 2 * blocks; i++) {
		uint32_t block = i / 2 + 1, layout = i % 2;
		struct result_trial t = a_trial(host, i + 1, block, layout, 0,
			(10 + layout) * NS_PER_S + (int64_t)(block * 10 + i % 3) * NS_PER_MS);
		struct buf bytes = {0};

		histogram_into(&t, &bytes);
		t.sum.ops = 1010;
		export_trial(&t, lines);
		add_series(lines, host, i + 1);
		buf_free(&bytes);
	}
}

static void add_environment(struct buf *lines, const char *host)
{
	struct result_environment v = {.run = 1, .host = (char *)host};

	v.inventory = json_pack("{ss s[{ss ss ss}]}", "os", "Debian 12", "disks", "serial", "SERIAL",
		"model", "ST4000", "name", "sda");
	export_environment(&v, lines);
	json_decref(v.inventory);
}

static void plain_set(struct result_set *set)
{
	struct buf lines = {0};

	lines_run(&lines, 1, "two-layouts", 4, layouts, 2, workloads, 1);
	buf_adds(&lines, "{\"type\":\"plan\",\"run\":1,\"text\":\"name: two-layouts\\n# knew\\n\"}\n");
	add_environment(&lines, "knew");
	add_trials(&lines, "knew", 4);
	lines_read(lines.data, set);
	buf_free(&lines);
}

static void sections_stand_in_order(void **state)
{
	static const char *const order[] = {"<section id=\"verdict\">", "slower</strong>",
		"<section id=\"ratios\">", "<div class=\"plot forest\"", "<section id=\"trials\">",
		"<div class=\"plot trials\"", "<section id=\"order\">", "<div class=\"plot order\"",
		"<section id=\"series\">", "dump on knew: throughput", "dump on knew: p99 latency",
		"<section id=\"latency\">", "<div class=\"plot percentiles\"",
		"<section id=\"disks\">", "dump on knew: disks busy", "<section id=\"findings\">",
		"<section id=\"environment\">", "ST4000", "<section id=\"commands\">",
		"name: two-layouts"};
	struct result_set set = {0};
	const char *at;
	char *html;

	(void)state;
	plain_set(&set);
	at = html = page(&set, &small, 0);
	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		at = strstr(at, order[i]);
		if (!at)
			fail_msg("'%s' is missing, or stands before '%s'", order[i],
				i ? order[i - 1] : "");
	}
	free(html);
	result_set_clear(&set);
}

static void plots_hold_the_numbers(void **state)
{
	struct result_set set = {0};
	const json_t *plot, *row, *line;
	json_t *plots;
	char *html;

	(void)state;
	plain_set(&set);
	html = page(&set, &small, 0);
	plots = plots_of(html);
	row = json_array_get(json_object_get(plot_of(plots, "forest"), "rows"), 0);
	assert_true(fabs(json_get_num(row, "d", 0) - log(1.1)) < 1e-3);
	assert_true(json_get_num(row, "lo", 1) < json_get_num(row, "d", 0));
	assert_string_equal(json_get_str(row, "verdict", ""), "slower");
	plot = plot_of(plots, "trials");
	assert_true(json_get_bool(plot, "join", 0));
	assert_int_equal(json_array_size(json_object_get(plot, "points")), 8);
	plot = plot_of(plots, "lines"); /* throughput: 100 MiB in 1 s, then in 2 s */
	assert_string_equal(json_get_str(plot, "unit", ""), "B/s");
	assert_int_equal(json_array_size(json_object_get(plot, "lines")), 8);
	line = json_object_get(json_array_get(json_object_get(plot, "lines"), 0), "p");
	assert_true(json_number_value(json_array_get(json_array_get(line, 0), 0)) == 0.5);
	assert_true(json_number_value(json_array_get(json_array_get(line, 0), 1)) == 104857600);
	assert_true(json_number_value(json_array_get(json_array_get(line, 1), 1)) == 52428800);
	/* two disks, each busy for half of a second, then of two */
	assert_has(html, "<td class=\"n\" data-l=\"lowest\">25 %<td class=\"n\" data-l=\"highest\">50 %"
			 "<td class=\"n\" data-l=\"overall\">33 %");
	plot = plot_of(plots, "percentiles"); /* 4040 operations: 99.9 % has four beyond it */
	line = json_object_get(plot, "labels");
	assert_int_equal(json_array_size(line), 5);
	assert_string_equal(json_string_value(json_array_get(line, 3)), "99.9%");
	line = json_object_get(json_array_get(json_object_get(plot, "lines"), 0), "v");
	assert_int_equal(json_number_value(json_array_get(line, 4)), 9000000);
	json_decref(plots);
	free(html);
	result_set_clear(&set);
}

#define HOSTILE "</script><script>alert(1)</script><!--\"'&"

static void text_is_never_markup(void **state)
{
	char *names[] = {(char *)HOSTILE, "<b onload=x>", NULL}, *loads[] = {"<i>&\x01", NULL};
	struct result_trial failed = a_trial("<u>host", 3, 2, 0, 0, NS_PER_S);
	struct result_set set = {0};
	struct buf lines = {0};
	const json_t *named;
	json_t *plots;
	char *html;

	(void)state;
	lines_run(&lines, 1, HOSTILE, 2, names, 2, loads, 1);
	buf_adds(&lines, "{\"type\":\"plan\",\"run\":1,\"text\":\"</pre><script>alert(2)</script>\"}\n");
	for (uint32_t i = 0; i < 2; i++) {
		struct result_trial t = a_trial("<u>host", i + 1, 1, i, 0, NS_PER_S);

		export_trial(&t, &lines);
	}
	failed.sum.ok = 0;
	failed.sum.error = "<img src=http://example.org/x onerror=alert(3)>";
	export_trial(&failed, &lines);
	lines_read(lines.data, &set);
	html = page(&set, &small, 0);
	assert_int_equal(count(html, "<script"), 3);
	assert_int_equal(count(html, "</script"), 3);
	assert_int_equal(count(html, "<!--"), 0);
	for (size_t i = 0; i < 4; i++)
		assert_null(strstr(html, ((const char *[]){"<b ", "<i>", "<u>", "<img"})[i]));
	assert_null(strchr(html, '\x01'));
	assert_has(html, "&#60;img src=http://example.org/x onerror=alert(3)&#62;");
	assert_has(html, "<title>&#60;/script&#62;&#60;script&#62;alert(1)");
	plots = plots_of(html);
	named = json_array_get(json_object_get(plot_of(plots, "trials"), "layouts"), 0);
	assert_string_equal(json_string_value(named), HOSTILE);
	json_decref(plots);
	free(html);
	buf_free(&lines);
	result_set_clear(&set);
}

static void nothing_is_loaded(void **state)
{
	static const char *const loading[] = {" src=", "url(", "@import", "<link", "<img",
		"<iframe", "<object", "<form", " onload=", " onclick=", " style=", "unsafe", "http:",
		"https:"};
	struct result_set set = {0};
	char *html;

	(void)state;
	plain_set(&set);
	html = page(&set, &small, 0);
	for (size_t i = 0; i < ARRAY_LEN(loading); i++)
		if (strstr(html, loading[i]))
			fail_msg("'%s' is in the page", loading[i]);
	assert_int_equal(count(html, " href="), count(html, " href=\"#"));
	/* printf %s '{}' | openssl dgst -sha256 -binary | base64 */
	assert_has(html, "content=\"default-src 'none'; base-uri 'none'; form-action 'none'; "
			 "style-src 'sha256-RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o='; "
			 "script-src 'sha256-");
	free(html);
	html = page(&set, &html_assets_built_in, 0);
	assert_non_null(strstr(html, "<style>:root"));
	for (size_t i = 0; i < 2; i++)
		if (strstr(html_assets_built_in.css, ((const char *[]){"url(", "@import"})[i]) ||
			strstr(html_assets_built_in.script, "fetch("))
			fail_msg("the page's own parts load something");
	free(html);
	result_set_clear(&set);
}

static void without_library_there_are_tables(void **state)
{
	struct result_set set = {0};
	char *html;

	(void)state;
	plain_set(&set);
	html = page(&set, &without_library, 0);
	assert_has(html, "tables only");
	assert_has(html, "script-src 'none'");
	assert_null(strstr(html, "<script"));
	assert_null(strstr(html, "class=\"plot"));
	assert_null(strstr(html, "<details><summary>"));
	assert_has(html, "<details open><summary>Trials by block");
	assert_has(html, "slower</strong>");
	assert_has(html, "<td class=\"n\" data-l=\"mean\">11.0");
	free(html);
	result_set_clear(&set);
}

static void redacted_pages_hide_names(void **state)
{
	static const char *const hidden[] = {"knew", "SERIAL", "sda", "name: two-layouts"};
	struct result_set set = {0};
	char *html;

	(void)state;
	plain_set(&set);
	html = page(&set, &small, 1);
	for (size_t i = 0; i < ARRAY_LEN(hidden); i++)
		if (strstr(html, hidden[i]))
			fail_msg("'%s' is in the page", hidden[i]);
	assert_has(html, "host-1");
	assert_has(html, "ST4000");
	free(html);
	result_set_clear(&set);
}

/* sync=disabled on one of two layouts whose writes are synced: V25. */
static void invalid_stands_with_the_verdict(void **state)
{
	static const char plan[] =
		"{\"type\":\"plan\",\"run\":1,\"text\":\"name: unsafe\\nhosts: all\\ntrials: 4\\n"
		"layouts:\\n"
		"  hba8: {scratch: {disks: 4, size: 1G}, pool: {level: raidz1, disks: 4}}\\n"
		"  sata2: {scratch: {disks: 4, size: 1G}, pool: {level: raidz1, disks: 4, "
		"properties: {sync: disabled}}}\\n"
		"workloads: {dump: {stream: {op: write, size: 1G, sync: all}}}\\n"
		"compare: {baseline: hba8}\\n\"}\n";
	struct result_set set = {0};
	struct buf lines = {0};
	char *html, *verdict, *end, qualified[256];

	(void)state;
	lines_run(&lines, 1, "unsafe", 4, layouts, 2, workloads, 1);
	buf_adds(&lines, plan);
	add_trials(&lines, "knew", 4);
	lines_read(lines.data, &set);
	html = page(&set, &small, 0);
	verdict = strstr(html, "<section id=\"verdict\">");
	end = strstr(html, "<section id=\"ratios\">");
	assert_non_null(verdict);
	assert_non_null(end);
	*end = '\0';
	assert_has(verdict, "<strong>slower [invalid: V25]</strong>");
	assert_has(verdict, "1 of them invalid");
	assert_has(verdict, "<li class=\"invalid\"><strong>invalid V25</strong>");
	*end = '<';
	snprintf(qualified, sizeof(qualified), "<p class=\"qualified invalid\"><a href=\"#findings\">1 invalid "
		"finding qualifies this; %zu checks lack what they need</a></p>\n<ul class=\"findings\">",
		unknown_rules(end));
	assert_has(verdict, qualified);
	free(html);
	buf_free(&lines);
	result_set_clear(&set);
}

/* Over 60 intervals are a histogram; plots are of the first hosts, tables of all. */
static void fleets_are_summed_up(void **state)
{
	struct result_set set = {0};
	struct buf lines = {0};
	json_t *plots;
	char *html;

	(void)state;
	lines_run(&lines, 1, "fleet", 3, layouts, 2, workloads, 1);
	buf_adds(&lines, "{\"type\":\"plan\",\"run\":1,\"text\":\"x\"}\n");
	for (int i = 0; i < 70; i++) {
		char host[16];

		snprintf(host, sizeof(host), "n%02d", i);
		add_trials(&lines, host, 3);
	}
	lines_read(lines.data, &set);
	html = page(&set, &small, 0);
	plots = plots_of(html);
	assert_int_equal(json_array_size(json_object_get(plot_of(plots, "ratios"), "values")), 70);
	assert_int_equal(count(html, "class=\"plot forest\""), 1);
	assert_int_equal(count(html, "class=\"plot trials\""), HTML_HOSTS_MAX);
	assert_has(html, "64 more hosts: no plots here");
	assert_has(html, "All 420 trials of dump");
	assert_has(html, "<td>n69");
	json_decref(plots);
	free(html);
	buf_free(&lines);
	result_set_clear(&set);
}

static void fail_all(struct result_set *set)
{
	struct buf lines = {0};

	lines_run(&lines, 1, "broken", 3, layouts, 2, workloads, 1);
	for (uint32_t i = 0; i < 6; i++) {
		struct result_trial t = a_trial("knew", i + 1, i / 2 + 1, i % 2, 0, NS_PER_S);

		t.sum.ok = 0;
		t.sum.error = (char *)"no space";
		export_trial(&t, &lines);
	}
	lines_read(lines.data, set);
	buf_free(&lines);
}

/* The tables say what there is not; no axes without anything between them. */
static void nothing_is_drawn_of_nothing(void **state)
{
	struct result_set set = {0};
	json_t *plots;
	char *html;

	(void)state;
	fail_all(&set);
	html = page(&set, &small, 0);
	plots = plots_of(html);
	assert_int_equal(json_array_size(plots), 0);
	assert_has(html, "too few trials (n = 0)");
	assert_has(html, "All 6 trials of dump");
	json_decref(plots);
	free(html);
	result_set_clear(&set);
}

/* One host's subjects of which the same is said share an item; so do a subject's hosts, also
 * where a name ends as the one before it does. */
static void the_same_is_said_once(void **state)
{
	struct result_set set = {0};
	struct buf lines = {0};
	char *html;

	(void)state;
	fail_all(&set);
	html = page(&set, &small, 0);
	assert_int_equal(count(html, "<strong>warning V04</strong> hba8/dump, sata2/dump on knew: n = 0"), 1);
	assert_int_equal(count(html, "<strong>warning V04</strong>"), 1);
	assert_has(html, "<a href=\"#findings\">1 warning qualifies this; ");
	free(html);
	result_set_clear(&set);
	lines_run(&lines, 1, "two", 1, layouts, 2, workloads, 1);
	add_trials(&lines, "new-nova", 1);
	add_trials(&lines, "nova", 1);
	lines_read(lines.data, &set);
	html = page(&set, &small, 0);
	assert_has(html, "<strong>warning V04</strong> hba8/dump on new-nova, nova: n = 1");
	assert_has(html, "<strong>warning V04</strong> sata2/dump on new-nova, nova: n = 1");
	free(html);
	buf_free(&lines);
	result_set_clear(&set);
}

/* A workload that is judged by operations is shown by these over time. */
static void series_show_what_judges(void **state)
{
	static const struct {
		const char *work, *shown, *not_shown;
	} cases[] = {
		{"random: {op: read, size: 1G, duration: 10s}", "dump on knew: operations a second",
			"dump on knew: throughput"},
		{"stream: {op: write, size: 1G}", "dump on knew: throughput",
			"dump on knew: operations a second"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct result_set set = {0};
		struct buf lines = {0};
		char *html;

		lines_run(&lines, 1, "two-layouts", 4, layouts, 2, workloads, 1);
		buf_addf(&lines, "{\"type\":\"plan\",\"run\":1,\"text\":\"name: two-layouts\\nhosts: all\\n"
				 "trials: 4\\nlayouts: {hba8: {existing: /srv/a}, sata2: {existing: /srv/b}}\\n"
				 "workloads: {dump: {%s}}\\n\"}\n", cases[i].work);
		add_trials(&lines, "knew", 4);
		lines_read(lines.data, &set);
		html = page(&set, &small, 0);
		assert_has(html, cases[i].shown);
		assert_null(strstr(html, cases[i].not_shown));
		free(html);
		buf_free(&lines);
		result_set_clear(&set);
	}
}

/* The kernel counts a disk's busy time in ticks, more of which may fall into a short interval. */
static void no_disk_is_busier_than_always(void **state)
{
	struct result_set set = {0};
	const json_t *point;
	json_t *plots, *plot;
	size_t i, k, seen = 0;
	char *html;

	(void)state;
	plain_set(&set);
	for (i = 0; i < set.n_series; i++)
		set.series[i].points[0].tele.disk_busy_ns = 9 * NS_PER_S;
	html = page(&set, &small, 0);
	plots = plots_of(html);
	json_array_foreach(plots, i, plot)
	{
		const json_t *line = json_array_get(json_object_get(plot, "lines"), 0);

		if (strcmp(json_get_str(plot, "unit", ""), "%") != 0)
			continue;
		json_array_foreach(json_object_get(line, "p"), k, point)
		{
			assert_true(json_number_value(json_array_get(point, 1)) <= 100);
			seen++;
		}
	}
	assert_true(seen > 0);
	json_decref(plots);
	free(html);
	result_set_clear(&set);
}

static void nothing_yet_is_said(void **state)
{
	struct result_set set = {0}, none = {0};
	struct buf lines = {0};
	char *html;

	(void)state;
	html = page(&none, &small, 0);
	assert_has(html, "There is no run in this report");
	free(html);
	lines_run(&lines, 7, "early", 4, layouts, 2, workloads, 1);
	lines_read(lines.data, &set);
	html = page(&set, &small, 0);
	assert_has(html, "No trial has ended yet");
	assert_has(html, "There is no series of samples");
	free(html);
	buf_free(&lines);
	result_set_clear(&set);
}

/* A host's own interval is called one of 95 %, also where the run stopped by its precision and its
 * verdicts ask for more. */
static void a_hosts_interval_is_what_it_says(void **state)
{
	static const char *const hosts[] = {"knew", "slocum", "tallboy"};
	struct result_set set = {0};
	struct compare_host both;
	struct compared c;
	struct buf lines = {0}, text = {0};
	struct analysis a;
	struct err e;
	char *html;

	(void)state;
	lines_run(&lines, 1, "two-layouts", 8, layouts, 2, workloads, 1);
	buf_adds(&lines,
		"{\"type\":\"plan\",\"run\":1,\"text\":\"name: two-layouts\\nhosts: all\\n"
		"trials: {min: 5, max: 8, until: 2%}\\n"
		"layouts: {hba8: {existing: /a}, sata2: {existing: /b}}\\n"
		"workloads: {dump: {stream: {op: write, size: 1G}}}\\n\"}\n");
	for (size_t i = 0; i < ARRAY_LEN(hosts); i++)
		add_trials(&lines, hosts[i], 5);
	lines_read(lines.data, &set);
	assert_ok(analysis_make(&set, &a, &e), e);
	assert_non_null(a.runs[0].plan);
	assert_true(a.comparisons[0].alpha == COMPARE_ALPHA_UNTIL);
	both = (struct compare_host){analysis_side(analysis_row(&a, &a.runs[0], "knew", 0, METRIC_ELAPSED, 0)),
		analysis_side(analysis_row(&a, &a.runs[0], "knew", 0, METRIC_ELAPSED, 1)), 1};
	html = page(&set, &small, 0);
	for (int until = 0; until < 2; until++) {
		const struct compare_terms t = {until ? COMPARE_ALPHA_UNTIL : COMPARE_ALPHA, 1, 0, 0};

		compare(&both, 1, &t, &c);
		buf_reset(&text);
		compare_change_text(&c, &text);
		if ((strstr(html, text.data) == NULL) != until)
			fail_msg("'%s' is %sthere", text.data, until ? "" : "not ");
	}
	free(html);
	analysis_clear(&a);
	result_set_clear(&set);
	buf_free(&lines);
	buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_stand_in_order),
		cmocka_unit_test(a_hosts_interval_is_what_it_says),
		cmocka_unit_test(plots_hold_the_numbers),
		cmocka_unit_test(text_is_never_markup),
		cmocka_unit_test(nothing_is_loaded),
		cmocka_unit_test(without_library_there_are_tables),
		cmocka_unit_test(redacted_pages_hide_names),
		cmocka_unit_test(invalid_stands_with_the_verdict),
		cmocka_unit_test(fleets_are_summed_up),
		cmocka_unit_test(nothing_is_drawn_of_nothing),
		cmocka_unit_test(the_same_is_said_once),
		cmocka_unit_test(series_show_what_judges),
		cmocka_unit_test(no_disk_is_busier_than_always),
		cmocka_unit_test(nothing_yet_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
