/* analysis: which comparisons a plan makes, of which family, over which hosts. */
#include "tests/unit/test.h"

#include <math.h>
#include <stdio.h>

#include "common/base/mem.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/report.h"
#include "tests/unit/results_kit.h"

static char *layouts[] = {"one", "two", "three", NULL}, *workloads[] = {"load", "more", NULL};
static const char *const hosts[] = {"a", "b", "c", "d", "e", "f"};

static void add_run(struct buf *lines, uint64_t id, const char *trials, const char *compare)
{
	struct result_run r = {.id = id,
		.name = "demo",
		.state = "done",
		.plan_sha256 = "",
		.tool_version = "",
		.user = "",
		.blocks = 4,
		.cache = "cold",
		.design = "random-blocks",
		.layouts = {layouts, 3, 0},
		.workloads = {workloads, 2, 0}};
	struct buf plan = {0};

	buf_addf(&plan,
		"name: demo\nhosts: [all]\ntrials: %s\nlayouts:\n  one: {existing: /srv/one}\n"
		"  two: {existing: /srv/two}\n  three: {existing: /srv/three}\n"
		"workloads:\n  load: {stream: {op: write, size: 1G}}\n"
		"  more: {stream: {op: write, size: 1G}}\n%s",
		trials, compare);
	r.plan_text = plan.data;
	export_run(&r, lines);
	buf_free(&plan);
}

/* Layout i takes 10 % more than layout i - 1; blocks differ by 1 %. */
static void add_trials(struct buf *lines, uint64_t run, size_t n_hosts, uint32_t blocks)
{
	for (size_t h = 0; h < n_hosts; h++) {
		uint32_t trial = 0;

		for (uint32_t b = 1; b <= blocks; b++)
			for (uint32_t l = 0; l < 3; l++) {
				double noise = 1 + 0.001 * ((b * 7 + l * 3 + h) % 5);
				struct result_trial t = a_trial(hosts[h], ++trial, b, l, 0,
					(int64_t)(1e9 * pow(1.1, l) * (1 + 0.01 * b) * noise));

				t.run = run;
				t.sum.bytes = 1u << 30;
				export_trial(&t, lines);
			}
	}
}

struct made {
	struct result_set set;
	struct analysis a;
};

static struct made made_of(struct buf *lines)
{
	struct made m = {0};
	struct err e;

	lines_read(lines->data, &m.set);
	assert_ok(analysis_make(&m.set, &m.a, &e), e);
	for (size_t i = 0; i < m.a.n_runs; i++)
		assert_non_null(m.a.runs[i].plan);
	buf_free(lines);
	return m;
}

static void made_clear(struct made *m)
{
	analysis_clear(&m->a);
	result_set_clear(&m->set);
}

static const struct {
	const char *name, *trials, *compare;
	size_t hosts;
	uint32_t blocks;
	unsigned k;   /* of the workload `load` */
	size_t count; /* comparisons of it */
	double alpha;
	enum estimator estimator;
	const char *host; /* of the first comparison */
	const char *base, *subject;
} table[] = {
	{"the first layout is the baseline", "4", "", 1, 4, 2, 2, 0.05, ESTIMATOR_PAIRED, "a",
		"one", "two"},
	{"a baseline", "4", "compare: {baseline: two}\n", 1, 4, 2, 2, 0.05, ESTIMATOR_PAIRED, "a",
		"two", "one"},
	{"all pairs", "4", "compare: {pairs: all}\n", 1, 4, 3, 3, 0.05, ESTIMATOR_PAIRED, "a",
		"one", "two"},
	{"one pair", "4", "compare: {pairs: [[three, one]]}\n", 1, 4, 1, 1, 0.05, ESTIMATOR_PAIRED,
		"a", "three", "one"},
	{"two metrics", "4", "compare: {metrics: [elapsed, throughput]}\n", 1, 4, 4, 4, 0.05,
		ESTIMATOR_PAIRED, "a", "one", "two"},
	{"two hosts stand apart", "4", "", 2, 4, 4, 4, 0.05, ESTIMATOR_PAIRED, "a", "one", "two"},
	{"three hosts are replicates", "4", "", 3, 4, 2, 2, 0.05, ESTIMATOR_HOSTS, NULL, "one",
		"two"},
	{"even with one block each", "4", "", 3, 1, 2, 2, 0.05, ESTIMATOR_HOSTS, NULL, "one",
		"two"},
	{"hosts against each other", "4", "compare: {by: host}\n", 3, 4, 6, 6, 0.05,
		ESTIMATOR_WELCH, NULL, "a", "b"},
	{"two blocks", "4", "", 1, 2, 2, 2, 0.05, ESTIMATOR_NONE, "a", "one", "two"},
};

static void families(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct buf lines = {0};
		const struct result_comparison *c;
		struct made m;
		size_t count = 0;

		add_run(&lines, 1, table[i].trials, table[i].compare);
		add_trials(&lines, 1, table[i].hosts, table[i].blocks);
		m = made_of(&lines);
		c = m.a.comparisons;
		for (size_t k = 0; k < m.a.n_comparisons; k++)
			count += strcmp(m.a.comparisons[k].workload, "load") == 0;
		if (count != table[i].count || c->k != table[i].k || c->alpha != table[i].alpha ||
			c->c.estimator != table[i].estimator)
			fail_msg("%s: %zu comparisons, k %u, alpha %g, estimator %d", table[i].name,
				count, c->k, c->alpha, (int)c->c.estimator);
		assert_string_equal(c->base, table[i].base);
		assert_string_equal(c->subject, table[i].subject);
		assert_string_equal(c->host ? c->host : "", table[i].host ? table[i].host : "");
		made_clear(&m);
	}
}

/* Two runs in one report ask twice as many questions; a workload without data is one, too. */
static void families_span_the_report(void **state)
{
	struct buf lines = {0};
	struct made m;

	(void)state;
	add_run(&lines, 1, "4", "");
	add_run(&lines, 2, "4", "");
	add_trials(&lines, 1, 1, 4);
	add_trials(&lines, 2, 1, 4);
	m = made_of(&lines);
	assert_int_equal(m.a.n_families, 2);
	assert_int_equal(m.a.families[0].k, 4);
	assert_int_equal(m.a.n_comparisons, 4);
	assert_int_equal(m.a.n_absent, 4);
	assert_string_equal(m.a.absent[0].workload, "more");
	assert_int_equal(m.a.absent[0].c.verdict, VERDICT_TOO_FEW);
	assert_int_equal(m.a.absent[0].k, 4);
	made_clear(&m);
}

/* Ratios of 1.1 and 1.21, found as such. */
/* A run of two workloads, one of which is also that of a run with until, and in its family: of the other one
 * nothing holds with 97 %, so that what is said of both is 95 %. */
static void confidence_is_of_all(void **state)
{
	char *other[] = {"load", "other", NULL};
	struct result_run r = {.id = 2, .name = "demo", .state = "done", .plan_sha256 = "", .tool_version = "",
		.user = "", .cache = "cold", .design = "random-blocks", .layouts = {layouts, 3, 0},
		.workloads = {other, 2, 0}};
	struct buf lines = {0};
	struct result_set set = {0};
	struct analysis a;
	struct err e;

	(void)state;
	add_run(&lines, 1, "{min: 5, max: 9, until: 2%}", "");
	add_trials(&lines, 1, 1, 5);
	export_run(&r, &lines);
	add_trials(&lines, 2, 1, 5);
	lines_read(lines.data, &set);
	assert_ok(analysis_make(&set, &a, &e), e);
	assert_true(fabs(analysis_confidence(&a, &a.runs[0]) - 97) < 1e-9);
	assert_true(fabs(analysis_confidence(&a, &a.runs[1]) - 95) < 1e-9);
	for (size_t i = 0; i < a.n_families; i++)
		assert_true(a.families[i].alpha == (strcmp(a.families[i].workload, "other") ? 0.03 : 0.05));
	analysis_clear(&a);
	result_set_clear(&set);
	buf_free(&lines);
}

static void ratios_are_found(void **state)
{
	struct buf lines = {0};
	struct made m;

	(void)state;
	add_run(&lines, 1, "4", "compare: {margin: 2%}\n");
	add_trials(&lines, 1, 1, 4);
	m = made_of(&lines);
	assert_true(fabs(exp(m.a.comparisons[0].c.d) - 1.1) < 0.005);
	assert_true(fabs(exp(m.a.comparisons[1].c.d) - 1.21) < 0.005);
	assert_int_equal(m.a.comparisons[1].c.verdict, VERDICT_SLOWER);
	assert_true(m.a.comparisons[1].margin == 0.02);
	made_clear(&m);
}

/* Host e takes half as long again. */
static void a_slow_host_stands_out(void **state)
{
	struct buf lines = {0};
	struct made m;

	(void)state;
	add_run(&lines, 1, "4", "");
	for (size_t h = 0; h < 6; h++)
		for (uint32_t b = 1; b <= 3; b++) {
			double s = (h == 4 ? 1.5 : 1) * (1 + 0.001 * (double)((h * 5 + b) % 7));
			struct result_trial t = a_trial(hosts[h], b, b, 0, 0, (int64_t)(1e9 * s));

			export_trial(&t, &lines);
		}
	m = made_of(&lines);
	assert_int_equal(m.a.n_outliers, 1);
	assert_string_equal(m.a.outliers[0].host, "e");
	assert_true(fabs(m.a.outliers[0].ratio - 1.5) < 0.01);
	made_clear(&m);
}

/* Three disks on each of four hosts; one of them reads at half the rate of all others. Its host is like
 * the others by itself. */
static void a_slow_disk_stands_out(void **state)
{
	const char *disks[] = {"sda", "sdb", "sdc"};
	struct report_options o = {0};
	struct buf lines = {0}, csv = {0};
	struct made m;
	struct err e;
	char *line;

	(void)state;
	add_run(&lines, 1, "4", "");
	for (size_t h = 0; h < 4; h++)
		for (uint32_t b = 1; b <= 3; b++) {
			struct result_trial t = a_trial(hosts[h], b, b, 0, 0, 1000000000);

			for (size_t d = 0; d < 3; d++) {
				int slow = h == 2 && d == 1;
				struct trial_part *p =
					detail_part(&t.sum.detail, "disk", disks[d], NULL);

				p->ops = 1;
				p->bytes = 100000000 + 1000 * ((h * 7 + d * 5 + b) % 11);
				p->elapsed_ns = slow ? 2000000000 : 1000000000;
			}
			export_trial(&t, &lines);
			detail_clear(&t.sum.detail);
		}
	m = made_of(&lines);
	assert_int_equal(m.a.n_outliers, 1);
	assert_string_equal(m.a.outliers[0].host, "c");
	assert_string_equal(m.a.outliers[0].disk, "sdb");
	assert_true(fabs(m.a.outliers[0].ratio - 0.5) < 0.01);
	assert_ok(report_csv(&m.set, &o, &csv, &e), e);
	assert_has(buf_str(&csv), ",text,unit_assumed,disk\r\n");
	line = strstr(buf_str(&csv), "\noutlier,1,");
	assert_non_null(line);
	*strchr(line, '\r') = '\0';
	assert_non_null(strstr(line, ",c,"));
	assert_non_null(strstr(line, ",throughput,B/s,higher,"));
	assert_string_equal(strrchr(line, ','), ",sdb");
	buf_free(&csv);
	made_clear(&m);
}

/* Three disks of flash beside 21 that turn are no outliers, whatever their rate; the one of them that
 * is slower than the others of its model is. */
static void a_disk_is_held_against_its_model(void **state)
{
	struct buf lines = {0};
	struct made m;

	(void)state;
	add_run(&lines, 1, "4", "");
	for (size_t h = 0; h < 6; h++) {
		struct result_environment v = {.run = 1, .host = (char *)hosts[h]};
		struct result_trial t = a_trial(hosts[h], 1, 1, 0, 0, 1000000000);
		json_t *disks = json_array();

		for (size_t d = 0; d < 4; d++) {
			int flash = d == 3 && h % 2, slow = h == 2 && d == 1;
			char name[] = {'s', 'd', (char)('a' + d), '\0'};
			struct trial_part *p = detail_part(&t.sum.detail, "disk", name, NULL);

			p->ops = 1;
			p->bytes = (flash ? 500000000 : 100000000) + 1000 * ((h * 7 + d * 5) % 11);
			p->elapsed_ns = slow ? 1300000000 : 1000000000;
			json_array_append_new(disks, json_pack("{ss ss}", "name", name, "model",
				flash ? "FLASH" : "TURNS"));
		}
		v.inventory = json_pack("{so}", "disks", disks);
		export_environment(&v, &lines);
		json_decref(v.inventory);
		export_trial(&t, &lines);
		detail_clear(&t.sum.detail);
	}
	m = made_of(&lines);
	assert_int_equal(m.a.n_outliers, 1);
	assert_string_equal(m.a.outliers[0].host, "c");
	assert_string_equal(m.a.outliers[0].disk, "sdb");
	assert_true(fabs(m.a.outliers[0].ratio - 1 / 1.3) < 0.01);
	made_clear(&m);
}

/* A text that is no plan of this version leaves the run's own words: baseline and layouts. */
static void without_a_plan_the_run_tells(void **state)
{
	struct result_run r = {.id = 1,
		.name = "demo",
		.state = "done",
		.plan_sha256 = "",
		.tool_version = "",
		.user = "",
		.cache = "",
		.design = "random-blocks",
		.plan_text = "name: [",
		.baseline = 1,
		.layouts = {layouts, 3, 0},
		.workloads = {workloads, 1, 0}};
	struct buf lines = {0};
	struct result_set set = {0};
	struct analysis a;
	struct err e;

	(void)state;
	export_run(&r, &lines);
	add_trials(&lines, 1, 1, 4);
	lines_read(lines.data, &set);
	assert_ok(analysis_make(&set, &a, &e), e);
	assert_null(a.runs[0].plan);
	assert_int_equal(a.n_comparisons, 2);
	assert_string_equal(a.comparisons[0].base, "two");
	assert_string_equal(a.comparisons[0].subject, "one");
	assert_int_equal(a.comparisons[0].c.verdict, VERDICT_FASTER);
	analysis_clear(&a);
	result_set_clear(&set);
	buf_free(&lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(families),
		cmocka_unit_test(families_span_the_report),
		cmocka_unit_test(confidence_is_of_all),
		cmocka_unit_test(ratios_are_found),
		cmocka_unit_test(a_slow_host_stands_out),
		cmocka_unit_test(a_slow_disk_stands_out),
		cmocka_unit_test(a_disk_is_held_against_its_model),
		cmocka_unit_test(without_a_plan_the_run_tells),
	};

	return cmocka_run_group_tests_name("analysis", tests, NULL, NULL);
}
