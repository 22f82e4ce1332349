/* What trials tell beside their counters, over several trials: sums and what reports show of them.
 * The set is made of export lines. */
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "coordinator/results/details.h"
#include "coordinator/results/report_details.h"
#include "tests/unit/results_kit.h"

/* n operations of that latency. */
static void add_part(struct trial_detail *d, const char *name, uint64_t n, uint64_t ns)
{
	struct hist *h = xcalloc(1, sizeof(*h));
	struct trial_part *p;

	hist_add_n(h, ns, n);
	p = detail_part(d, "job", name, ns ? h : NULL);
	p->ops = n;
	p->bytes = n * 4096;
	p->errors = n == 7;
	free(h);
}

static void add_trial(struct buf *lines, uint32_t trial, uint32_t block, uint32_t layout,
	const struct trial_detail *d, void (*change)(struct result_trial *t))
{
	struct result_trial t = a_trial("knew", trial, block, layout, 0, 2000000000);

	t.sum.ops = 100;
	t.sum.detail = *d;
	if (change)
		change(&t);
	export_trial(&t, lines);
}

static void fail_it(struct result_trial *t)
{
	t->sum.ok = 0;
	t->sum.error = (char *)"no space";
}

static void supersede(struct result_trial *t)
{
	t->superseded = 1;
}

/* Layout a: two trials that count, one that failed, one that was superseded. b: one, whose part has
 * no histogram. */
static void make_set(struct result_set *s)
{
	char *layouts[] = {(char *)"a", (char *)"b"}, *workloads[] = {(char *)"w"};
	struct trial_detail d = {0};
	struct buf lines = {0};

	lines_run(&lines, 1, "r", 3, layouts, 2, workloads, 1);
	add_part(&d, "j <read>", 90, 1000);
	detail_fact(&d, "sync_ops", 10, "");
	detail_note(&d, "settings", "bs=4k\n<b>|x`\x1b[31m\n");
	add_trial(&lines, 1, 1, 0, &d, NULL);
	add_trial(&lines, 2, 1, 0, &d, fail_it);
	add_trial(&lines, 3, 1, 0, &d, supersede);
	detail_clear(&d);
	add_part(&d, "j <read>", 10, 100000);
	add_part(&d, "k write", 7, 500);
	detail_fact(&d, "sync_ops", 30, "");
	detail_fact(&d, "rate", 2 << 20, "B/s");
	detail_note(&d, "settings", "bs=4k\n<b>|x`\x1b[31m\n");
	detail_note(&d, "output", "done\n");
	add_trial(&lines, 4, 2, 0, &d, NULL);
	detail_clear(&d);
	add_part(&d, "j <read>", 5, 0);
	add_trial(&lines, 5, 1, 1, &d, NULL);
	detail_clear(&d);
	lines_read(buf_str(&lines), s);
	buf_free(&lines);
}

static void counts_add_and_histograms_merge(void **state)
{
	struct result_set s = {0};
	struct detail_sum *v;
	size_t n;

	(void)state;
	make_set(&s);
	result_details(&s, &v, &n);
	assert_int_equal(n, 2);
	assert_string_equal(v[0].layout, "a");
	assert_int_equal(v[0].trials, 2);
	assert_int_equal(v[0].n_parts, 2);
	assert_int_equal(v[0].parts[0].ops, 100);
	assert_int_equal(v[0].parts[0].bytes, 409600);
	assert_int_equal(v[0].parts[0].elapsed_ns, 4000000000);
	assert_int_equal(v[0].parts[1].errors, 1);
	/* 90 of 1 us and 10 of 100 us: the median is of the first, p99 of the others; buckets are
	 * within 0.8 % */
	assert_true(fabs(detail_latency(&v[0].parts[0], 0.5) - 1000) < 8);
	assert_true(fabs(detail_latency(&v[0].parts[0], 0.99) - 100000) < 800);
	assert_true(fabs(detail_latency(&v[0].parts[0], 0) - 10900) < 1e-6);
	assert_int_equal(v[0].n_facts, 2);
	assert_true(v[0].facts[0].mean == 20 && v[0].facts[0].min == 10 && v[0].facts[0].max == 30);
	assert_int_equal(v[0].facts[1].trials, 1);
	assert_int_equal(v[0].n_notes, 2);
	assert_int_equal(v[0].notes[0].trials, 2);
	assert_int_equal(v[0].notes[1].block, 2);
	assert_true(isnan(detail_latency(&v[1].parts[0], 0.5)));
	assert_int_equal(v[1].parts[0].ops, 5);
	result_details_free(v, n);
	result_set_clear(&s);
}

typedef int report_fn(
	const struct result_set *s, const struct report_options *o, struct buf *out, struct err *e);

static void reports_show_them(void **state)
{
	static const struct {
		const char *name;
		report_fn *make;
		const char *has[8], *lacks[3];
	} cases[] = {
		{"text", report_text,
			{"a  j <read>               100  400 KiB", "k write", "facts      a/w: sync_ops 20 [10…30]",
				"rate 2 MiB/s", "note       a/w: settings, the same in all 2 trials\n  | bs=4k\n",
				"output of block 2\n  | done"},
			{"\x1b", NULL}},
		{"markdown", report_markdown,
			{"| w | a | j \\<read\\> | 100 | 400 KiB |", "| sync\\_ops | 20 | 10 | 30 |",
				"    bs=4k\n    <b>|x`", "a/w: output of block 2", NULL},
			{"\x1b", NULL}},
		{"json", report_json,
			{"\"details\"", "\"name\": \"j <read>\"", "\"ops\": 100", "\"mean\": 20", NULL},
			{"\x1b", NULL}},
		{"html", report_html,
			{"<section id=\"details\">", "j &#60;read&#62;", "400 KiB", "bs=4k\n&#60;b&#62;|x`", NULL},
			{"<read>", "<b>|", NULL}},
	};
	struct report_options o = {.long_form = 1}, redacted = {.long_form = 1, .redact = 1};
	struct result_set s = {0};
	struct err e;

	(void)state;
	make_set(&s);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf out = {0};

		assert_ok(cases[i].make(&s, &o, &out, &e), e);
		for (size_t k = 0; cases[i].has[k]; k++)
			if (!strstr(buf_str(&out), cases[i].has[k]))
				fail_msg("%s lacks '%s':\n%s", cases[i].name, cases[i].has[k],
					strlen(buf_str(&out)) < 8000 ? buf_str(&out) : "");
		for (size_t k = 0; cases[i].lacks[k]; k++)
			if (strstr(buf_str(&out), cases[i].lacks[k]))
				fail_msg("%s has '%s'", cases[i].name, cases[i].lacks[k]);
		buf_reset(&out);
		assert_ok(cases[i].make(&s, &redacted, &out, &e), e);
		if (strstr(buf_str(&out), "bs=4k") || strstr(buf_str(&out), "knew"))
			fail_msg("redacted %s tells notes or hosts", cases[i].name);
		assert_has(buf_str(&out), "k write");
		buf_free(&out);
	}
	result_set_clear(&s);
}

static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

static void notes_are_compared_by_lines(void **state)
{
	static const struct {
		const char *model, *text, *different; /* NULL: it is another note */
	} cases[] = {
		{"a\nb\n", "a\nb\n", ""},
		{"a\nseed 1\n", "a\nseed 2\n", "seed 2"},
		{"a\nseed 1", "a\nseed 2", "seed 2"},
		{"a\nb\nc\nd\n", "a\n1\n2\n3\n", "1; 2; 3"},
		{"a\nb\nc\nd\ne\n", "a\n1\n2\n3\n4\n", NULL},
		{"seed 1\n", "seed 2\n", NULL},
		{"a\nb\n", "a\nb\nc\n", NULL},
		{"a\nb\nc\n", "a\nb\n", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf out = {0};
		int like = detail_note_is_like(cases[i].model, cases[i].text, &out);

		assert_int_equal(like, cases[i].different != NULL);
		assert_string_equal(buf_str(&out), like ? cases[i].different : "");
		buf_free(&out);
	}
}

static void notes_of_another_seed_are_told_once(void **state)
{
	static const struct {
		report_fn *make;
		const char *first, *like, *other;
	} formats[] = {
		{report_text, "note       a/w: settings of block 1\n  | random\n  | seed 1\n",
			"note       a/w: settings of 2 more trials: as in block 1, but for: seed 2; seed 3\n",
			"note       b/w: settings: as on a, in block 1, but for: seed 4\n"},
		{report_markdown, "a/w: settings of block 1\n\n    random\n    seed 1\n",
			"\na/w: settings of 2 more trials: as in block 1, but for: seed 2; seed 3\n",
			"\nb/w: settings: as on a, in block 1, but for: seed 4\n"},
		{report_html, "<summary>knew: a/w: settings of block 1</summary>\n<pre>random\nseed 1",
			"<p class=\"hint\">knew: a/w: settings of 2 more trials: as in block 1, but for: seed 2; seed 3</p>",
			"<p class=\"hint\">knew: b/w: settings: as on a, in block 1, but for: seed 4</p>"},
	};
	char *layouts[] = {(char *)"a", (char *)"b"}, *workloads[] = {(char *)"w"};
	struct buf lines = {0}, out = {0};
	struct report_options o = {.long_form = 1};
	struct result_set s = {0};
	struct err e;

	(void)state;
	lines_run(&lines, 1, "r", 3, layouts, 2, workloads, 1);
	for (uint32_t i = 0; i < 4; i++) {
		struct trial_detail d = {0};
		char *text = xasprintf("random\nseed %u\n", i + 1);

		detail_note(&d, "settings", text);
		add_trial(&lines, i + 1, i % 3 + 1, i / 3, &d, NULL);
		detail_clear(&d);
		free(text);
	}
	lines_read(buf_str(&lines), &s);
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		buf_reset(&out);
		assert_ok(formats[i].make(&s, &o, &out, &e), e);
		assert_has(out.data, formats[i].first);
		assert_has(out.data, formats[i].like);
		assert_has(out.data, formats[i].other);
		assert_int_equal(count(out.data, "seed 3"), 1);
	}
	buf_free(&lines);
	buf_free(&out);
	result_set_clear(&s);
}

static void short_reports_and_sets_without_details_have_none(void **state)
{
	char *layouts[] = {(char *)"a"}, *workloads[] = {(char *)"w"};
	struct report_options brief = {0}, o = {.long_form = 1};
	struct trial_detail none = {0};
	struct result_set s = {0}, bare = {0};
	struct buf out = {0}, lines = {0};
	struct err e;

	(void)state;
	make_set(&s);
	assert_ok(report_text(&s, &brief, &out, &e), e);
	assert_null(strstr(buf_str(&out), "sync_ops"));
	lines_run(&lines, 1, "r", 1, layouts, 1, workloads, 1);
	add_trial(&lines, 1, 1, 0, &none, NULL);
	lines_read(buf_str(&lines), &bare);
	buf_reset(&out);
	assert_ok(report_html(&bare, &o, &out, &e), e);
	assert_null(strstr(buf_str(&out), "id=\"details\""));
	buf_free(&out);
	buf_free(&lines);
	result_set_clear(&s);
	result_set_clear(&bare);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_add_and_histograms_merge),
		cmocka_unit_test(reports_show_them),
		cmocka_unit_test(notes_are_compared_by_lines),
		cmocka_unit_test(notes_of_another_seed_are_told_once),
		cmocka_unit_test(short_reports_and_sets_without_details_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
