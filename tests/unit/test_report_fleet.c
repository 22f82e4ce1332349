/* The text report of many hosts: what they have in common, and which of them stand out. */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "coordinator/results/report.h"
#include "tests/unit/results_kit.h"

static char *layouts[] = {"left", "right", NULL}, *workloads[] = {"load", NULL};

/* Three trials each; right takes a tenth more. Host 3 takes half as much again, host 5 has lost a trial of
 * right, the last host has one that failed. */
static void add_trials(struct buf *lines, unsigned host, unsigned hosts)
{
	char name[16];

	snprintf(name, sizeof(name), "n%02u", host);
	for (uint32_t layout = 0; layout < 2; layout++)
		for (uint32_t block = 1; block <= 3; block++) {
			double s = 100 + 0.1 * host + 0.05 * block;
			struct result_trial t;

			if (host == 5 && layout == 1 && block == 3)
				continue;
			s *= (layout ? 1.1 : 1) * (host == 3 ? 1.5 : 1);
			t = a_trial(name, layout * 3 + block, block, layout, 0, (int64_t)(s * 1e9));
			if (host == hosts && layout == 0 && block == 1) {
				t.sum.ok = 0;
				t.sum.error = "no space";
			}
			export_trial(&t, lines);
		}
}

typedef int report_fn(
	const struct result_set *s, const struct report_options *o, struct buf *out, struct err *e);

static char *made_by(report_fn *make, unsigned hosts, int long_form)
{
	struct report_options o = {.long_form = long_form};
	struct result_set set = {0};
	struct buf lines = {0}, out = {0};
	struct err e;

	lines_run(&lines, 1, "fleet", 3, layouts, 2, workloads, 1);
	for (unsigned h = 1; h <= hosts; h++)
		add_trials(&lines, h, hosts);
	lines_read(lines.data, &set);
	assert_ok(make(&set, &o, &out, &e), e);
	result_set_clear(&set);
	buf_free(&lines);
	return buf_take(&out);
}

static char *report_of(unsigned hosts, int long_form)
{
	return made_by(report_text, hosts, long_form);
}

static void many_hosts_are_one_table(void **state)
{
	char *text = report_of(13, 0);

	(void)state;
	assert_has(text, "\n13 hosts · elapsed, less is better · each host by itself: --long\n");
	/* the means are 100.2, 100.3, 150.6, 100.5, … 101.425 s */
	assert_has(text, "\nload   hosts     mean  95% CI    least  on      most  on\n"
			 "left      13  104.66s  ±8.0%   100.20s  n01  150.60s  n03\n");
	assert_null(strstr(text, "n02"));
	free(text);
}

static void what_single_hosts_lack_is_told(void **state)
{
	char *text = report_of(13, 0);

	(void)state;
	assert_has(text, "\ntrials     fewer than elsewhere on n05 (2 of 3), n13 (2 of 3)\n");
	assert_has(text, "\nfailed     left/load block 1 on n13: no space\n");
	free(text);
}

/* Whatever stands out at a host is one line, the host that is furthest off first. */
static void a_host_that_stands_out_is_told_once(void **state)
{
	char *text = report_of(13, 0);

	(void)state;
	assert_has(text, "\nstands out n03 on left/load: elapsed +49.4%, right/load: elapsed +49.4% against "
			 "its peers\n");
	assert_null(strstr(strstr(text, "stands out") + 1, "stands out"));
	free(text);
}

static void a_page_tells_it_beside_the_verdict(void **state)
{
	char *page = made_by(report_html, 13, 0), *end = strstr(page, "</section>");

	(void)state;
	assert_non_null(end);
	*end = '\0';
	assert_has(page, "<li class=\"warning\"><strong>stands out</strong> n03 on left/load: elapsed +49.4%, "
			 "right/load: elapsed +49.4% against its peers</li>");
	free(page);
}

static void few_hosts_have_a_table_each(void **state)
{
	char *text = report_of(12, 0), *whole = report_of(13, 1);

	(void)state;
	assert_has(text, "\nn02 · elapsed");
	assert_null(strstr(text, "12 hosts · elapsed"));
	assert_has(whole, "\nn02 · elapsed");
	assert_null(strstr(whole, "13 hosts · elapsed"));
	free(text);
	free(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_hosts_are_one_table),
		cmocka_unit_test(what_single_hosts_lack_is_told),
		cmocka_unit_test(a_host_that_stands_out_is_told_once),
		cmocka_unit_test(a_page_tells_it_beside_the_verdict),
		cmocka_unit_test(few_hosts_have_a_table_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
