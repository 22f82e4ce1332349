/*
 * Stopping by precision: the rule on hand-made values, what the store keeps of it, and what reports
 * say.
 */
#include "tests/unit/test.h"

#include <math.h>

#include "coordinator/results/report.h"
#include "coordinator/results/until.h"
#include "tests/unit/results_kit.h"
#include "tests/unit/store_kit.h"

#define PLAN(trials)                                                                               \
	"name: demo\nhosts: all\ntrials: " trials "\n"                                             \
	"layouts: {one: {existing: /srv/one}, two: {existing: /srv/two}}\n"                        \
	"workloads: {load: {stream: {op: write, size: 1G}}}\n"
#define UNTIL(percent) PLAN("{min: 5, max: 8, until: " percent "}")

static char *layouts[] = {"one", "two", NULL}, *workloads[] = {"load", NULL};

static void add_run(struct buf *lines, const char *plan)
{
	struct result_run r = {.id = 1,
		.name = "demo",
		.state = "running",
		.plan_sha256 = "",
		.tool_version = "",
		.user = "",
		.blocks = 8,
		.cache = "cold",
		.design = "random-blocks",
		.plan_text = (char *)plan,
		.layouts = {layouts, 2, 0},
		.workloads = {workloads, 1, 0}};

	export_run(&r, lines);
}

/* ln ratios of 5 pairs with standard deviation 0.01: SE = 0.01/sqrt(5), t(0.975, 4) = 2.776445,
 * so the half width is 0.0124167 as a logarithm, 1.249 %. */
static const double noise[] = {-0.0126491106, -0.0063245553, 0, 0.0063245553, 0.0126491106};

/* The difference of the two layouts is `times`, which must not matter. */
static void add_block(
	struct buf *lines, const char *host, uint32_t block, double times, int layouts_done)
{
	for (uint32_t l = 0; l < 2; l++) {
		double ns = 1e9 * (1 + 0.1 * block) *
			    (l ? times * exp(noise[(block - 1) % ARRAY_LEN(noise)]) : 1);
		struct result_trial t =
			a_trial(host, 2 * block + l, block, l, 0, (int64_t)llround(ns));

		t.complete = (int)l < layouts_done;
		export_trial(&t, lines);
	}
}

static struct until_judgement judge(struct buf *lines, unsigned n_hosts)
{
	struct result_set set = {0};
	struct until_judgement j;
	struct err e = {0};

	lines_read(buf_str(lines), &set);
	assert_ok(until_judge(&set, n_hosts, &j, &e), e);
	result_set_clear(&set);
	return j;
}

static const struct {
	const char *name, *plan;
	unsigned blocks;   /* complete ones */
	unsigned half;     /* and one more with a layout missing */
	double times;
	unsigned n_hosts;
	int precise;
	double widest;
} rule[] = {
	{"just precise enough", UNTIL("1.25%"), 5, 0, 1, 1, 1, 0.012494},
	{"just not", UNTIL("1.24%"), 5, 0, 1, 1, 0, 0.012494},
	{"a large difference decides nothing", UNTIL("1.24%"), 5, 0, 2, 1, 0, 0.012494},
	{"nor does it hinder", UNTIL("1.25%"), 5, 0, 2, 1, 1, 0.012494},
	/* t(0.9875, 4) = 3.495406 */
	{"two hosts are reported apart: twice the family", UNTIL("1.25%"), 5, 0, 1, 2, 0, 0.015755},
	{"from three on they are the replicates", UNTIL("1.25%"), 5, 0, 1, 3, 1, 0.012494},
	{"fewer than the minimum", UNTIL("50%"), 4, 0, 1, 1, 0, 0.013077},
	{"a block that lacks a layout does not count", UNTIL("50%"), 4, 1, 1, 1, 0, 0.013077},
	{"too few to tell", UNTIL("50%"), 2, 0, 1, 1, 0, NAN},
	{"nothing yet", UNTIL("50%"), 0, 0, 1, 1, 0, NAN},
};

static void the_rule(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rule); i++) {
		struct buf lines = {0};
		struct until_judgement j;

		add_run(&lines, rule[i].plan);
		for (uint32_t b = 1; b <= rule[i].blocks; b++)
			add_block(&lines, "knew", b, rule[i].times, 2);
		if (rule[i].half)
			add_block(&lines, "knew", rule[i].blocks + 1, rule[i].times, 1);
		j = judge(&lines, rule[i].n_hosts);
		if (j.precise != rule[i].precise || j.blocks != rule[i].blocks ||
			isnan(j.widest) != isnan(rule[i].widest) ||
			fabs(j.widest - rule[i].widest) > 1e-6)
			fail_msg("%s: precise %d, %u blocks, widest %.6f", rule[i].name, j.precise,
				j.blocks, j.widest);
		buf_free(&lines);
	}
}

static void a_fixed_number_is_not_judged(void **state)
{
	struct result_set set = {0};
	struct until_judgement j;
	struct buf lines = {0};
	struct err e = {0};

	(void)state;
	add_run(&lines, PLAN("5"));
	add_block(&lines, "knew", 1, 1, 2);
	lines_read(lines.data, &set);
	assert_int_equal(until_judge(&set, 1, &j, &e), -1);
	assert_int_equal(e.code, ERR_INPUT);
	result_set_clear(&set);
	buf_free(&lines);
}

/* ---- reports ---- */

static void reports_say_why(void **state)
{
	static int (*const formats[])(const struct result_set *s, const struct report_options *o,
		struct buf *out, struct err *e) = {
		report_text, report_markdown, report_csv, report_json, report_html};
	struct result_stop stop = {1, "knew", 6};
	struct report_options o = {0};
	struct result_set set = {0};
	struct buf lines = {0};
	struct err e = {0};

	(void)state;
	add_run(&lines, UNTIL("1.5%"));
	export_stop(&stop, &lines);
	for (uint32_t b = 1; b <= 6; b++)
		add_block(&lines, "knew", b, 1, 2);
	for (uint32_t b = 1; b <= 8; b++)
		add_block(&lines, "kold", b, 1, 2);
	for (uint32_t b = 1; b <= 3; b++)
		add_block(&lines, "new", b, 1, 2);
	lines_read(lines.data, &set);
	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		struct buf out = {0};

		assert_ok(formats[i](&set, &o, &out, &e), e);
		assert_non_null(strstr(out.data,
			"stopped after 6 blocks: every 95% interval within ±1.5%"));
		assert_non_null(strstr(out.data, "reached max: 8 blocks"));
		assert_non_null(strstr(out.data,
			"3 of 5…8 blocks, until every 95% interval is within ±1.5%"));
		buf_free(&out);
	}
	result_set_clear(&set);
	buf_free(&lines);
}

/* ---- the store ---- */

static int setup(void **state)
{
	struct kit *k = xcalloc(1, sizeof(*k));

	kit_new(k, "/tmp");
	*state = k;
	return 0;
}

static int teardown(void **state)
{
	kit_free(*state);
	free(*state);
	return 0;
}

/* As kit_run_done, which is for runs of two jobs. */
static void one_job_done(void *arg, uint64_t run, const uint64_t *jobs, const struct err *e)
{
	struct kit_answer *a = arg;

	a->run = run;
	a->jobs[0] = jobs ? jobs[0] : 0;
	kit_note(a, e);
}

static struct job_key until_job(struct kit *k)
{
	struct new_job job = {"knew", "a1b2c3", NULL, 0};
	struct new_run r = {.name = "demo",
		.plan_text = UNTIL("1.25%"),
		.plan_sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		.design_json = "{\"design\":\"random-blocks\",\"layouts\":[\"one\",\"two\"],"
			       "\"workloads\":[{\"name\":\"load\",\"op\":\"write\"}],\"baseline\":"
			       "0,\"until\":{\"min\":5,\"max\":8,\"precision\":0.0125}}",
		.user = "ann",
		.blocks = 8,
		.units = 16,
		.jobs = &job,
		.n_jobs = 1};
	struct kit_answer a = {0}, begun;
	struct job_key key;

	store_run_create(k->store, &r, one_job_done, &a);
	kit_wait(k, &a.done, 1);
	key = (struct job_key){a.run, a.jobs[0], 1};
	begun = kit_begin(k, &key);
	assert_false(a.failed || begun.failed);
	return key;
}

static void put(struct kit *k, const struct job_key *key, uint64_t *at, const struct record *v,
	size_t n)
{
	struct kit_answer a = kit_append(k, "knew", key, *at, v, n);

	if (a.failed || a.append.what != APPEND_ACK)
		fail_msg("record %llu: %s%s", (unsigned long long)*at, a.err.text, a.append.text);
	*at += n;
}

static struct record await_of(uint32_t block, uint32_t layout)
{
	struct record r = {.type = RECORD_AWAIT};

	r.u.await = (struct record_await){{block, layout}, 0, 1};
	return r;
}

static void take_job(void *arg, struct stored_job *j)
{
	*(struct stored_job *)arg = *j;
}

/* What a coordinator that starts now would know. */
static struct stored_job loaded(struct kit *k)
{
	struct stored_job j = {0};
	struct err e;

	assert_ok(store_load_jobs(k->store, take_job, &j, &e), e);
	assert_int_equal(j.job != 0, 1);
	return j;
}

static void what_is_awaited_is_kept(void **state)
{
	struct kit *k = *state;
	struct job_key key = until_job(k);
	struct record start = rec_start(), await = await_of(6, 1), begun = rec_unit_start(6, 1),
		      end = rec_attempt_end(ATTEMPT_DONE), wrong = await_of(9, 0);
	struct stored_job j = loaded(k);
	struct kit_answer a;
	uint64_t at = 1;

	assert_int_equal(j.awaits.block, 0);
	stored_job_clear(&j);
	put(k, &key, &at, &start, 1);
	put(k, &key, &at, &await, 1);
	kit_close(k);
	kit_open(k);
	j = loaded(k);
	assert_int_equal(j.awaits.block, 6);
	assert_int_equal(j.awaits.layout, 1);
	stored_job_clear(&j);
	put(k, &key, &at, &begun, 1);
	j = loaded(k);
	assert_int_equal(j.awaits.block, 0);
	stored_job_clear(&j);
	await = await_of(7, 0);
	put(k, &key, &at, &await, 1);
	put(k, &key, &at, &end, 1);
	j = loaded(k); /* an attempt that ended waits for nothing */
	assert_int_equal(j.awaits.block, 0);
	stored_job_clear(&j);
	a = kit_append(k, "knew", &key, at, &wrong, 1);
	assert_int_equal(a.append.what, APPEND_REFUSE);
}

static void the_last_block_is_kept(void **state)
{
	struct kit *k = *state;
	struct job_key key = until_job(k);
	struct result_set set = {0};
	struct kit_answer a = {0};
	struct stored_job j;
	struct kit_text t;

	store_job_stop(k->store, key.job, 6, kit_done, &a);
	kit_wait(k, &a.done, 1);
	assert_false(a.failed);
	kit_close(k);
	kit_open(k);
	j = loaded(k);
	assert_int_equal(j.stop_block, 6);
	stored_job_clear(&j);
	t = kit_query(k, QUERY_SHOW, "last");
	assert_non_null(strstr(t.text.data, "\"units\":12"));
	assert_non_null(strstr(t.text.data, "\"stop_block\":6"));
	assert_non_null(strstr(t.text.data, "\"until\":{\"min\":5,\"max\":8,"));
	buf_free(&t.text);
	t = kit_query(k, QUERY_EXPORT, "last");
	lines_read(t.text.data, &set);
	assert_int_equal(set.n_stops, 1);
	assert_int_equal(until_stop(&set, key.run, "knew")->block, 6);
	assert_null(until_stop(&set, key.run, "kold"));
	result_set_clear(&set);
	buf_free(&t.text);
	a = (struct kit_answer){0};
	store_job_stop(k->store, 4711, 6, kit_done, &a);
	kit_wait(k, &a.done, 1);
	assert_int_equal(a.err.code, ERR_NOTFOUND);
}

/* One trial of each layout, with the values of add_block. */
static void put_block(struct kit *k, const struct job_key *key, uint64_t *at, uint32_t block)
{
	for (uint32_t l = 0; l < 2; l++) {
		struct record v[] = {rec_unit_start(block, l),
			rec_trial_start(2 * block + l, block, l, 0),
			rec_trial_end(2 * block + l, block, l, 0, 0), rec_unit_end(block, l, 1)};

		v[2].u.trial_end.elapsed_ns =
			llround(1e9 * (l ? exp(noise[(block - 1) % ARRAY_LEN(noise)]) : 1));
		put(k, key, at, v, ARRAY_LEN(v));
	}
}

static void precision_is_asked_of_the_store(void **state)
{
	struct kit *k = *state;
	struct job_key key = until_job(k);
	struct record start = rec_start();
	uint64_t at = 1;
	char target[64];
	struct kit_text t;

	put(k, &key, &at, &start, 1);
	snprintf(target, sizeof(target), "%llu %llu 1", (unsigned long long)key.run,
		(unsigned long long)key.job);
	for (uint32_t b = 1; b <= 5; b++) {
		t = kit_query(k, QUERY_PRECISION, target);
		assert_false(t.failed);
		assert_non_null(strstr(t.text.data, "\"precise\":false"));
		buf_free(&t.text);
		put_block(k, &key, &at, b);
	}
	t = kit_query(k, QUERY_PRECISION, target);
	assert_false(t.failed);
	assert_non_null(strstr(t.text.data, "\"precise\":true,\"blocks\":5"));
	buf_free(&t.text);
	t = kit_query(k, QUERY_PRECISION, "last");
	assert_true(t.failed);
	buf_free(&t.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rule),
		cmocka_unit_test(a_fixed_number_is_not_judged),
		cmocka_unit_test(reports_say_why),
		cmocka_unit_test_setup_teardown(what_is_awaited_is_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(the_last_block_is_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(precision_is_asked_of_the_store, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
