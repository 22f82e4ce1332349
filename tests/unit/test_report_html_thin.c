/* report --format html of very many trials: some are shown, the extremes among them, and it is told. */
#include "tests/unit/test.h"

#include "common/base/mem.h"
#include "tests/unit/html_kit.h"

static char *layouts[] = {"hba8", "sata2", NULL};
static char *workloads[] = {"dump", NULL};

#define MANY_BLOCKS 20000u

/* Both layouts take 10 to 11 s, but for one trial each that took 30 s, and one 5 s; one failed. */
static void many_trials(struct result_set *set)
{
	struct buf lines = {0};

	lines_run(&lines, 1, "many", MANY_BLOCKS, layouts, 2, workloads, 1);
	for (uint32_t i = 0; i < 2 * MANY_BLOCKS; i++) {
		uint32_t block = i / 2 + 1, layout = i % 2;
		int64_t ns = 10 * NS_PER_S + (int64_t)(i % 997) * NS_PER_MS;
		struct result_trial t = a_trial("knew", i + 1, block, layout, 0,
			block == 7778 + layout   ? 30 * NS_PER_S
			: block == 9998 + layout ? 5 * NS_PER_S
						 : ns);

		if (i == 12345) {
			t.sum.ok = 0;
			t.sum.error = "the disk was gone";
		}
		export_trial(&t, &lines);
	}
	lines_read(lines.data, set);
	buf_free(&lines);
}

/* The extremes of each layout are drawn, each block that is drawn has both layouts but for them. */
static void check_dots(const json_t *plot, const char *html)
{
	const json_t *points = json_object_get(plot, "points"), *p;
	unsigned slow[2] = {0}, fast[2] = {0}, of[2] = {0};
	char told[100];
	size_t i;

	json_array_foreach(points, i, p)
	{
		double v = json_number_value(json_object_get(p, "v"));
		int64_t l = json_get_int(p, "l", -1);

		assert_in_range(l, 0, 1);
		of[l]++;
		slow[l] += v == 30;
		fast[l] += v == 5;
	}
	for (int l = 0; l < 2; l++) {
		assert_int_equal(slow[l], 1);
		assert_int_equal(fast[l], 1);
	}
	assert_in_range(json_array_size(points), HTML_DOTS_MAX / 2, HTML_DOTS_MAX + 4);
	assert_true(of[0] - of[1] + 1 <= 2);
	snprintf(told, sizeof(told), "%zu of %u trials are drawn", json_array_size(points),
		2 * MANY_BLOCKS - 1);
	assert_has(html, told);
}

static void very_many_trials_are_thinned(void **state)
{
	struct result_set set = {0};
	char *html, told[100];
	json_t *plots;
	size_t listed;

	(void)state;
	many_trials(&set);
	html = page(&set, &small, 0);
	plots = plots_of(html);
	check_dots(plot_of(plots, "trials"), html);
	check_dots(plot_of(plots, "order"), html);
	assert_in_range(strlen(html), 1, 3u << 20);
	assert_has(html, "the disk was gone");
	listed = count(html, "<td>counted") + 1;
	assert_in_range(listed, HTML_DOTS_MAX / 2, HTML_DOTS_MAX + 5);
	snprintf(told, sizeof(told), "<summary>%zu of %u trials of dump", listed, 2 * MANY_BLOCKS);
	assert_has(html, told);
	snprintf(told, sizeof(told), "The table has %zu of %u trials", listed, 2 * MANY_BLOCKS);
	assert_has(html, told);
	assert_int_equal(count(html, "<td class=\"n\" data-l=\"value\">30"), 2);
	assert_int_equal(count(html, "<td class=\"n\" data-l=\"value\">5"), 2);
	json_decref(plots);
	free(html);
	result_set_clear(&set);
}

/* All that a person can look at is there, and of a fleet each host has its own few. */
static void shares_of_a_page(void **state)
{
	(void)state;
	assert_int_equal(html_share(HTML_DOTS_MAX, HTML_DOTS_MAX, HTML_PAGE_DOTS), HTML_DOTS_MAX);
	assert_int_equal(html_share(HTML_DOTS_MAX + 1, 10000, HTML_PAGE_DOTS), HTML_DOTS_MAX);
	assert_int_equal(html_share(4000, 40000, HTML_PAGE_DOTS), 2000);
	assert_int_equal(html_share(40, 1000000, HTML_PAGE_DOTS), 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(very_many_trials_are_thinned),
		cmocka_unit_test(shares_of_a_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
