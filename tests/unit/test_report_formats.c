/*
 * The same results in every format: JSON is read back, and each of its numbers is looked for where the
 * others show it. What cannot be is shown in none.
 */
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "coordinator/results/import.h"
#include "coordinator/results/report.h"
#include "coordinator/results/report_text.h"
#include "tests/unit/results_kit.h"

static char *layouts[] = {"raidz2", "mirror", NULL}, *workloads[] = {"load", NULL};

/* Seconds of each block; 0 ends them. */
struct times {
	double v[8];
};
/* The t interval of 1, 1 and 10 s reaches from -8.9 to 16.9 s: t(0.975, 2) = 4.303, sd 5.196. */
static const struct times wide = {{1, 1, 10}}, narrow = {{3, 3.1, 3.2, 3.3}}, two = {{5, 7}};

static void add_times(struct buf *lines, uint32_t layout, const struct times *t)
{
	for (uint32_t b = 0; t->v[b] > 0; b++) {
		struct result_trial trial = a_trial(
			"knew", 2 * b + layout + 1, b + 1, layout, 0, (int64_t)(t->v[b] * 1e9));

		trial.sum.bytes = 1 << 30;
		trial.sum.ops = 1000;
		export_trial(&trial, lines);
	}
}

static void set_of(struct result_set *set, const struct times *first, const struct times *second)
{
	struct buf lines = {0};

	lines_run(&lines, 1, "demo", 4, layouts, 2, workloads, 1);
	add_times(&lines, 0, first);
	add_times(&lines, 1, second);
	lines_read(lines.data, set);
	buf_free(&lines);
}

typedef int report_fn(
	const struct result_set *s, const struct report_options *o, struct buf *out, struct err *e);

static char *report_of(const struct result_set *set, report_fn *fn, int long_form)
{
	struct report_options o = {.long_form = long_form};
	struct buf out = {0};
	struct err e;

	assert_ok(fn(set, &o, &out, &e), e);
	return buf_take(&out);
}

static json_t *json_of(const struct result_set *set)
{
	char *text = report_of(set, report_json, 0);
	json_t *doc;
	struct err e;

	assert_ok(json_parse("report", text, strlen(text), 1 << 24, &doc, &e), e);
	free(text);
	return doc;
}

/* ---- a mean's interval ends at 0 ---- */

static void no_bound_is_below_what_can_be(void **state)
{
	struct result_set set = {0};
	char *text, *markdown, *csv, *html;
	const json_t *ci, *r;
	json_t *doc;
	size_t i, n = 0;

	(void)state;
	set_of(&set, &wide, &narrow);
	doc = json_of(&set);
	json_array_foreach(json_object_get(doc, "results"), i, r)
	{
		ci = json_object_get(r, "ci95");
		assert_true(json_number_value(json_array_get(ci, 0)) >= 0);
		n += json_number_value(json_array_get(ci, 0)) == 0;
	}
	assert_true(n > 0);
	json_decref(doc);
	text = report_of(&set, report_text, 0);
	assert_has(text, "raidz2  3  4.00s  (0…16.91)");
	assert_has(text, "mirror  4  3.15s  ±6.5%");
	markdown = report_of(&set, report_markdown, 0);
	assert_has(markdown, "| raidz2 | 3 | 4.00s | (0…16.91) |");
	csv = report_of(&set, report_csv, 0);
	assert_has(csv, ",knew,raidz2,load,elapsed,s,lower,3,0,4,1,5.19615242270663,1.29903810567666,"
			"1,10,0,16.9079");
	html = report_of(&set, report_html, 0);
	assert_has(html, "<td class=\"n\" data-l=\"95% CI of the mean\">0s…16.91s");
	free(text);
	free(markdown);
	free(csv);
	free(html);
	result_set_clear(&set);
}

static void a_heading_says_what_its_column_holds(void **state)
{
	static const struct {
		const struct times *first, *second;
		const char *heading;
	} cases[] = {
		{&narrow, &narrow, "mean  95% CI  throughput"},
		{&two, &two, "mean  [min…max]  throughput"},
		{&narrow, &two, "mean  95% CI or [min…max]  throughput"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct result_set set = {0};
		char *text;

		set_of(&set, cases[i].first, cases[i].second);
		text = report_of(&set, report_text, 0);
		if (!strstr(text, cases[i].heading))
			fail_msg("no '%s' in:\n%s", cases[i].heading, text);
		free(text);
		result_set_clear(&set);
	}
}

/* ---- the same numbers ---- */

/* Times of all results, as they stand below each other. */
static struct scale scale_of(const json_t *results)
{
	struct scale s;
	const json_t *r;
	size_t i;

	scale_init(&s, "s");
	json_array_foreach(results, i, r) if (!strcmp(json_get_str(r, "metric", ""), "elapsed"))
		for (size_t k = 0; k < 3; k++)
			scale_take(&s, json_get_num(r, (const char *[]){"mean", "min", "max"}[k], NAN));
	return s;
}

static char *cell(const json_t *r, const char *key, const struct scale *s)
{
	char out[UNITS_LEN];

	return xstrdup(scale_text(s, json_get_num(r, key, NAN), 0, out));
}

/* A line of text with all the cells, in that order, blanks between. */
static void expect_line(const char *text, const char *what, char *const *cells, size_t n, const char *gap)
{
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *at = line, *end = line + strcspn(line, "\n");
		size_t i = 0;

		for (; i < n && at; i++) {
			at = memmem(at, (size_t)(end - at), cells[i], strlen(cells[i]));
			at = at && i && memcmp(at - strlen(gap), gap, strlen(gap)) ? NULL : at;
			at = at ? at + strlen(cells[i]) : NULL;
		}
		if (at)
			return;
	}
	fail_msg("%s: no line with %s %s… in:\n%s", what, cells[0], cells[1], text);
}

struct texts {
	char *text, *markdown, *csv, *html;
};

static void expect_cells(const json_t *r, const struct scale *s, const struct texts *t)
{
	static const char *const keys[] = {"mean", "median", "stddev", "min", "max"};
	char *cells[3 + ARRAY_LEN(keys)];
	char *first[] = {NULL, NULL, NULL};
	size_t n = 0;

	cells[n++] = xstrdup(json_get_str(r, "layout", ""));
	cells[n++] = xasprintf("%lld", (long long)json_get_int(r, "n", 0));
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		cells[n++] = cell(r, keys[i], s);
	memcpy(first, cells, sizeof(first));
	expect_line(t->text, "text", first, 3, " ");
	expect_line(t->text, "long text", cells + 3, n - 3, " ");
	expect_line(t->markdown, "markdown", first, 3, "| ");
	expect_line(t->markdown, "long markdown", cells + 3, n - 3, "| ");
	for (size_t i = 2; i < n; i++) {
		char *html = xasprintf("\">%s", cells[i]);

		if (i != 4) /* its table has no deviation */
			assert_has(t->html, html);
		free(html);
	}
	while (n)
		free(cells[--n]);
}

static void add_number(struct buf *line, double v)
{
	if (isnan(v))
		buf_addc(line, ',');
	else
		buf_addf(line, ",%.15g", v);
}

/* Every number of a result, as CSV and JSON spell it. */
static void expect_csv(const json_t *r, const char *csv)
{
	static const char *const keys[] = {"mean", "median", "stddev", "cv", "min", "max"};
	struct buf line = {0};

	buf_addf(&line, "%s,%s,%s,%s,%s,%s,%lld,0", json_get_str(r, "host", ""),
		json_get_str(r, "layout", ""), json_get_str(r, "workload", ""),
		json_get_str(r, "metric", ""), json_get_str(r, "unit", ""),
		json_get_str(r, "better", ""), (long long)json_get_int(r, "n", 0));
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		add_number(&line, json_get_num(r, keys[i], NAN));
	for (size_t i = 0; i < 2; i++)
		add_number(&line, json_number_value(json_array_get(json_object_get(r, "ci95"), i)));
	assert_has(csv, line.data);
	buf_free(&line);
}

static void expect_comparison(const json_t *c, const struct texts *t)
{
	const char *text = json_get_str(c, "text", ""), *words = strstr(text, ") ");
	const json_t *ci = json_object_get(c, "ci");
	struct buf line = {0};
	char *change;

	assert_non_null(words);
	change = xstrndup(text, (size_t)(words + 1 - text));
	words += 2;
	assert_has(t->text, change);
	assert_has(t->text, words);
	buf_addf(&line, "| %s | %s |", change, words);
	assert_has(t->markdown, line.data);
	buf_reset(&line);
	buf_addf(&line, "%.15g,%.15g,%.15g,", json_get_num(c, "ratio", NAN),
		json_number_value(json_array_get(ci, 0)), json_number_value(json_array_get(ci, 1)));
	assert_has(t->csv, line.data);
	buf_reset(&line);
	buf_addf(&line, "<td class=\"n\" data-l=\"change\">%s<td>%s", change, words);
	assert_has(t->html, line.data);
	buf_free(&line);
	free(change);
}

static void all_formats_tell_the_same(void **state)
{
	const json_t *r, *doc_results;
	struct result_set set = {0};
	struct scale scale;
	struct texts t;
	json_t *doc;
	size_t i;

	(void)state;
	set_of(&set, &narrow, &wide);
	doc = json_of(&set);
	t = (struct texts){report_of(&set, report_text, 1), report_of(&set, report_markdown, 1),
		report_of(&set, report_csv, 1), report_of(&set, report_html, 0)};
	doc_results = json_object_get(doc, "results");
	assert_true(json_array_size(doc_results) >= 2);
	scale = scale_of(doc_results);
	json_array_foreach(doc_results, i, r)
	{
		expect_csv(r, t.csv);
		if (!strcmp(json_get_str(r, "metric", ""), "elapsed"))
			expect_cells(r, &scale, &t);
	}
	assert_int_equal(json_array_size(json_object_get(doc, "comparisons")), 1);
	expect_comparison(json_array_get(json_object_get(doc, "comparisons"), 0), &t);
	json_decref(doc);
	free(t.text);
	free(t.markdown);
	free(t.csv);
	free(t.html);
	result_set_clear(&set);
}

/* ---- headings ---- */

static void every_group_says_what_is_better(void **state)
{
	static const char lines[] =
		"{\"type\":\"run\",\"run\":1,\"name\":\"demo\",\"state\":\"imported\","
		"\"layouts\":[\"a\",\"b\"],\"workloads\":[\"load\",\"mail\"],\"design\":\"unknown\"}\n"
		"{\"type\":\"summary\",\"run\":1,\"host\":\"knew\",\"layout\":0,\"workload\":0,"
		"\"metric\":\"elapsed\",\"n\":4,\"mean\":5,\"min\":4,\"max\":6}\n"
		"{\"type\":\"summary\",\"run\":1,\"host\":\"knew\",\"layout\":0,\"workload\":1,"
		"\"metric\":\"ops_per_s\",\"n\":4,\"mean\":500,\"min\":400,\"max\":600}\n";
	struct result_set set = {0};
	char *text, *markdown, *html;

	(void)state;
	lines_read(lines, &set);
	text = report_of(&set, report_text, 0);
	assert_has(text, "knew · elapsed, less is better\n");
	assert_has(text, "\nops_per_s, more is better\nmail ");
	markdown = report_of(&set, report_markdown, 0);
	assert_has(markdown, "### knew: elapsed, less is better\n");
	assert_has(markdown, "### knew: ops\\_per\\_s, more is better\n");
	html = report_of(&set, report_html, 0);
	assert_has(html, "<td class=\"w\">elapsed, less is better");
	assert_has(html, "<td class=\"w\">ops_per_s, more is better");
	free(text);
	free(markdown);
	free(html);
	result_set_clear(&set);
}

/* Once, behind the last finding; nothing to explain, no line. */
static void findings_say_where_they_are_explained(void **state)
{
	static const char hint[] = "findings   see arraymark-findings(7)\n";
	struct result_set set = {0};
	struct buf lines = {0};
	char *text, *markdown;

	(void)state;
	set_of(&set, &narrow, &wide);
	text = report_of(&set, report_text, 0);
	assert_string_equal(text + strlen(text) - strlen(hint), hint);
	assert_ptr_equal(strstr(text, hint), text + strlen(text) - strlen(hint));
	markdown = report_of(&set, report_markdown, 0);
	assert_has(markdown, "arraymark-findings(7)");
	free(text);
	free(markdown);
	result_set_clear(&set);
	lines_run(&lines, 1, "demo", 4, layouts, 2, workloads, 1);
	lines_read(lines.data, &set);
	text = report_of(&set, report_text, 0);
	assert_null(strstr(text, "arraymark-findings"));
	free(text);
	buf_free(&lines);
	result_set_clear(&set);
}

/* Where people read: the same escapes; the JSON document has its own. */
static void every_format_escapes_names(void **state)
{
	static const char lines[] =
		"{\"type\":\"run\",\"run\":1,\"name\":\"r\",\"layouts\":[\"l\\u001b[2J\"],"
		"\"workloads\":[\"w\\u202e\"],\"user\":\"u\"}\n"
		"{\"type\":\"trial\",\"run\":1,\"host\":\"h\\u009b\",\"attempt\":1,\"trial\":1,"
		"\"block\":1,\"layout\":0,\"workload\":0,\"ok\":true,\"complete\":true,"
		"\"elapsed_ns\":1000000000}\n";
	static const struct {
		int (*report)(const struct result_set *s, const struct report_options *o,
			struct buf *out, struct err *e);
		const char *layout, *workload, *host;
	} cases[] = {
		{report_text, "l\\x1b[2J", "w\\u{202e}", "h\\xc2\\x9b"},
		{report_markdown, "l\\\\x1b\\[2J", "w\\\\u\\{202e\\}", "h\\\\xc2\\\\x9b"},
		{report_csv, "l\\x1b[2J", "w\\u{202e}", "h\\xc2\\x9b"},
		{report_html, "l\\x1b[2J", "w\\u{202e}", "h\\xc2\\x9b"},
	};
	struct report_options o = {0};
	struct result_set set = {0};
	struct err e;

	(void)state;
	lines_read(lines, &set);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf out = {0};

		assert_ok(cases[i].report(&set, &o, &out, &e), e);
		assert_null(strchr(out.data, '\x1b'));
		assert_null(strstr(out.data, "\xc2\x9b"));
		assert_null(strstr(out.data, "\xe2\x80\xae"));
		assert_has(out.data, cases[i].layout);
		assert_has(out.data, cases[i].workload);
		assert_has(out.data, cases[i].host);
		buf_free(&out);
	}
	result_set_clear(&set);
}

/* Wide characters take two columns, combining ones none. */
static void columns_stand_below_each_other(void **state)
{
	static const char lines[] =
		"{\"type\":\"run\",\"run\":1,\"name\":\"r\",\"layouts\":[\"磁碟陣列\",\"Zu\\u0308rich\"],"
		"\"workloads\":[\"寫\"],\"user\":\"u\"}\n"
		"{\"type\":\"trial\",\"run\":1,\"host\":\"h\",\"attempt\":1,\"trial\":1,"
		"\"block\":1,\"layout\":0,\"workload\":0,\"ok\":true,\"complete\":true,"
		"\"elapsed_ns\":1000000000}\n"
		"{\"type\":\"trial\",\"run\":1,\"host\":\"h\",\"attempt\":1,\"trial\":2,"
		"\"block\":1,\"layout\":1,\"workload\":0,\"ok\":true,\"complete\":true,"
		"\"elapsed_ns\":1000000000}\n";
	struct report_options o = {0};
	struct result_set set = {0};
	struct buf out = {0};
	struct err e;

	(void)state;
	lines_read(lines, &set);
	assert_ok(report_text(&set, &o, &out, &e), e);
	assert_has(out.data, "\n寫        n  mean");
	assert_has(out.data, "\n磁碟陣列  1    1s");
	assert_has(out.data, "\nZu\xcc\x88rich    1    1s");
	buf_free(&out);
	result_set_clear(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_format_escapes_names),
		cmocka_unit_test(columns_stand_below_each_other),
		cmocka_unit_test(no_bound_is_below_what_can_be),
		cmocka_unit_test(a_heading_says_what_its_column_holds),
		cmocka_unit_test(all_formats_tell_the_same),
		cmocka_unit_test(every_group_says_what_is_better),
		cmocka_unit_test(findings_say_where_they_are_explained),
	};

	return cmocka_run_group_tests_name("report formats", tests, NULL, NULL);
}
