/* results: which series a report asks for. */
#include "tests/unit/test.h"

#include "common/base/mem.h"
#include "coordinator/results/series_want.h"
#include "tests/unit/results_kit.h"

static char *layouts[] = {"one", NULL}, *workloads[] = {"load", "more", NULL};

#define SIZED "stream: {op: write, size: 1G}"
#define TIMED "random: {op: write, size: 1G, duration: 60s}"
#define PACED "random: {op: write, size: 1G, duration: 60s, rate: 100}"
#define READS "random: {op: read, size: 1G, duration: 60s}"

static void make_set(const char *first, const char *second, unsigned hosts, struct result_set *ret)
{
	struct result_run r = {.id = 1,
		.name = "demo",
		.state = "done",
		.design = "random-blocks",
		.layouts = {layouts, 1, 0},
		.workloads = {workloads, 2, 0}};
	struct buf plan = {0}, lines = {0};
	char host[16];

	buf_addf(&plan,
		"name: demo\nhosts: [all]\ntrials: 1\nlayouts:\n  one: {existing: /srv/one}\n"
		"workloads:\n  load: {%s}\n  more: {%s}\n",
		first, second);
	r.plan_text = plan.data;
	export_run(&r, &lines);
	for (unsigned i = 0; i < hosts; i++)
		for (uint32_t w = 0; w < 2; w++) {
			struct result_trial t;

			snprintf(host, sizeof(host), "h%u", i + 1);
			t = a_trial(host, w + 1, 1, 0, w, 1000000000);
			t.run = 1;
			t.sum.bytes = t.sum.ops = 1000;
			export_trial(&t, &lines);
		}
	lines_read(lines.data, ret);
	buf_free(&plan);
	buf_free(&lines);
}

static const struct {
	const char *name, *first, *second;
	unsigned hosts;
	enum series_plots plots;
	const char *words;
} cases[] = {
	{"text of what has a size: nothing", SIZED, READS, 2, PLOTS_NONE, ""},
	{"a timed write", SIZED, TIMED, 2, PLOTS_NONE, "rates=1"},
	{"two of them", TIMED, TIMED, 2, PLOTS_NONE, "rates=0 rates=1"},
	{"at a pace its rate says nothing", PACED, SIZED, 2, PLOTS_NONE, ""},
	{"plots of each host", SIZED, READS, 2, PLOTS_OF_FIRST, "host=h1 host=h2"},
	{"plots of the first hosts, and a timed write", TIMED, SIZED, 8, PLOTS_OF_FIRST,
		"rates=0 host=h1 host=h2 host=h3 host=h4 host=h5 host=h6"},
	{"what is compared is not chosen yet", TIMED, SIZED, 2, PLOTS_OF_ANY, "all"},
	{"no trials", TIMED, SIZED, 0, PLOTS_OF_ANY, ""},
};

static void the_plan_and_the_plots_decide(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct result_set set = {0};
		struct strv words = {0};
		struct buf said = {0};
		struct err e;

		make_set(cases[i].first, cases[i].second, cases[i].hosts, &set);
		assert_ok(series_want_of(&set, cases[i].plots, &words, &e), e);
		for (size_t k = 0; k < words.n; k++)
			buf_addf(&said, "%s%s", k ? " " : "", words.v[k]);
		if (strcmp(buf_str(&said), cases[i].words) != 0)
			fail_msg("%s: '%s'", cases[i].name, buf_str(&said));
		strv_free(&words);
		buf_free(&said);
		result_set_clear(&set);
	}
}

static void words_are_taken_as_they_were_meant(void **state)
{
	struct series_want *w = series_want_parse("host=knew\nrates=2\nhost=\nsomething=else\nhost=a=b");

	(void)state;
	assert_true(series_want_host(w, "knew"));
	assert_true(series_want_host(w, "a=b"));
	assert_false(series_want_host(w, ""));
	assert_false(series_want_host(w, "kne"));
	assert_true(series_want_rates(w, 2));
	assert_false(series_want_rates(w, 0));
	assert_false(series_want_rates(w, 22));
	series_want_free(w);
	w = series_want_parse("");
	assert_false(series_want_host(w, "knew"));
	assert_false(series_want_rates(w, 0));
	series_want_free(w);
	series_want_free(NULL);
	w = series_want_parse("rates=1\nall");
	assert_true(series_want_host(w, "knew"));
	series_want_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_plan_and_the_plots_decide),
		cmocka_unit_test(words_are_taken_as_they_were_meant),
	};

	return cmocka_run_group_tests_name("series_want", tests, NULL, NULL);
}
