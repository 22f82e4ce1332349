/* store: imported runs are kept whole, once, and are found and exported like any other. */
#include "tests/unit/test.h"

#include <math.h>

#include "common/base/json.h"
#include "common/measure/hist.h"
#include "coordinator/results/import.h"
#include "tests/unit/results_kit.h"
#include "tests/unit/store_kit.h"

static char *layouts[] = {"raid6", "raidz2 \"x\""}, *workloads[] = {"write", "varmail"};

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

static void make_hist(struct buf *out)
{
	struct hist *h = xcalloc(1, sizeof(*h));

	hist_add_n(h, 1000, 3);
	hist_add_n(h, 70000, 1);
	hist_encode(h, out);
	free(h);
}

/* What happened in the course of the run. */
static void make_course(struct buf *out)
{
	struct result_point points[2] = {
		{.end_ns = 1000000000, .ops = 5, .bytes = 7, .p50_ns = 1, .p99_ns = 2, .max_ns = 3},
		{.start_ns = 1000000000, .end_ns = 2000000000, .tele = {.disks = 2}}};
	struct result_span span = {0, 2000000000};
	struct result_disk_use use[2] = {{1, 2, 3}, {4, 5, 6}};
	struct result_series series = {7, "knew", 1, 1, points, 2, &span, use, 1, 2};
	struct result_step step = {.run = 7,
		.host = "knew",
		.attempt = 1,
		.block = 1,
		.layout_name = "raid6",
		.phase = "build",
		.what = "make it",
		.argv = {(char *[]){"/sbin/mkfs", "-x", NULL}, 2, 0},
		.elapsed_ns = 5,
		.output = "a\nb\n"};

	export_series(&series, out);
	export_step(&step, out);
}

static void make_run(struct buf *out)
{
	struct result_run run = {.id = 7,
		.name = "elsewhere",
		.state = "done",
		.plan_sha256 = "00ff",
		.plan_text = "name: p\nhosts: [a]\n",
		.tool_version = "0.0.9",
		.user = "ben",
		.seed = 0xfedcba9876543210u,
		.blocks = 2,
		.cache = "cold",
		.design = "random-blocks",
		.started_wall_ns = 1700000000000000000,
		.finished_wall_ns = 1700000100000000000,
		.margin = 0.02,
		.layouts = {layouts, 2, 0},
		.workloads = {workloads, 2, 0}};
	struct result_environment env = {.run = 7, .host = "knew",
		.inventory = json_pack("{s:s, s:[]}", "host", "knew", "disks")};

	export_run(&run, out);
	export_environment(&env, out);
	json_decref(env.inventory);
}

/* One of everything that a trial may have, and a later attempt that failed. */
static void make_trials(struct buf *out)
{
	struct result_trial t = a_trial("knew", 1, 1, 0, 0, 1234567890);
	struct disk_evidence disk = {.id = "serial:A", .name = "sda", .during = {.busy_ns = 4}};
	struct evidence_number number = {EVIDENCE_LOAD1_MILLI, 1500};
	struct trial_evidence evidence = {
		.disks = &disk, .n_disks = 1, .numbers = &number, .n_numbers = 1};
	struct buf bytes = {0};

	make_hist(&bytes);
	t.run = 7;
	t.layout_name = layouts[0];
	t.workload_name = workloads[0];
	t.lost = 2;
	t.usable_bytes = 1ull << 40;
	t.sum.hist = bytes.data;
	t.sum.hist_len = bytes.len;
	t.sum.tele = (struct telemetry){.disk_write_bytes = 5, .disks = 3};
	t.sum.evidence = &evidence;
	t.sum.n_evidence = 1;
	export_trial(&t, out);
	t.sum.hist = NULL;
	t.attempt = 2;
	t.superseded = 1;
	t.sum.ok = 0;
	t.sum.error = "no space left: \x1b[31m";
	export_trial(&t, out);
	buf_free(&bytes);
}

/* What a file printed: values of a trial, and a summary. */
static void make_printed(struct buf *out)
{
	struct result_printed printed[] = {{METRIC_OPS, 7294.3, 0.1, 0}, {METRIC_LAT_MEAN, 1.5e6, 1e5, 0}};
	struct result_trial t = a_trial("kold", 3, 1, 1, 1, 0);
	struct result_summary m = {.run = 7,
		.host = "kold",
		.layout_name = layouts[0],
		.workload_name = workloads[0],
		.metric = METRIC_ELAPSED,
		.n = 10,
		.mean = 305,
		.min = 265,
		.max = NAN,
		.stddev = NAN,
		.resolution = 1};

	t.run = 7;
	t.layout_name = layouts[1];
	t.workload_name = workloads[1];
	t.printed = printed;
	t.n_printed = 2;
	t.data = (struct data_told){1, DATA_ZERO, 0};
	m.data = (struct data_told){1, DATA_COMPRESSIBLE, 33};
	export_trial(&t, out);
	export_summary(&m, out);
}

/* A run of everything that export lines can say, as number 7: two hosts, a failed and a superseded
 * trial, a histogram, printed values, summaries, a series, an environment, a plan. */
static void make_lines(struct buf *out)
{
	make_run(out);
	make_trials(out);
	make_printed(out);
	make_course(out);
}

static void on_imported(void *arg, uint64_t run, const struct err *e)
{
	struct kit_answer *a = arg;

	a->run = run;
	kit_note(a, e);
}

static struct kit_answer import(struct kit *k, const char *lines)
{
	struct result_set set = {0};
	struct kit_answer a = {0};
	struct err e;

	lines_read(lines, &set);
	assert_ok(result_set_check(&set, &e), e);
	store_import(k->store, "ann", &set, on_imported, &a);
	assert_int_equal(set.n_trials, 0);
	kit_wait(k, &a.done, 1);
	return a;
}

/* The lines with the number of another run. */
static char *renumbered(const char *lines, unsigned from, unsigned to)
{
	char *old = xasprintf(",\"run\":%u,", from), *new = xasprintf(",\"run\":%u,", to);
	struct buf out = {0};

	for (const char *at; (at = strstr(lines, old)); lines = at + strlen(old)) {
		buf_add(&out, lines, (size_t)(at - lines));
		buf_adds(&out, new);
	}
	buf_adds(&out, lines);
	free(old);
	free(new);
	return buf_take(&out);
}

static json_t *line_of(const struct kit_text *t, const char *type, size_t which)
{
	const char *p = buf_str(&t->text);
	json_t *o;
	struct err e;

	for (const char *end; (end = strchr(p, '\n')); p = end + 1) {
		assert_ok(json_parse("line", p, (size_t)(end - p), 1 << 20, &o, &e), e);
		if (!strcmp(json_get_str(o, "type", ""), type) && !which--)
			return o;
		json_decref(o);
	}
	fail_msg("no line of type %s", type);
	return NULL;
}

static void a_run_comes_out_as_it_went_in(void **state)
{
	struct kit *k = *state;
	struct buf lines = {0};
	struct kit_answer a;
	struct kit_text t;
	struct strv findings = {0};
	struct err e = {0};
	char *want;

	kit_run(k);
	make_lines(&lines);
	a = import(k, lines.data);
	assert_false(a.failed);
	assert_int_equal(a.run, 2);
	export_end(7, export_count_lines(&lines, 0), &lines);
	want = renumbered(lines.data, 7, 2);
	t = kit_query(k, QUERY_EXPORT, "elsewhere");
	assert_false(t.failed);
	assert_string_equal(buf_str(&t.text), want);
	buf_free(&t.text);
	/* The one that was there has not changed. */
	t = kit_query(k, QUERY_EXPORT, "1");
	assert_non_null(strstr(buf_str(&t.text), "\"name\":\"demo\""));
	assert_null(strstr(buf_str(&t.text), "elsewhere"));
	buf_free(&t.text);
	kit_close(k);
	assert_ok(store_check(k->path, &findings, &e), e);
	assert_int_equal(findings.n, 0);
	kit_open(k);
	t = kit_query(k, QUERY_EXPORT, "last");
	assert_string_equal(buf_str(&t.text), want);
	buf_free(&t.text);
	free(want);
	buf_free(&lines);
}

static void it_is_listed_and_shown(void **state)
{
	struct kit *k = *state;
	struct buf lines = {0};
	struct kit_text t;
	json_t *o;

	make_lines(&lines);
	assert_false(import(k, lines.data).failed);
	t = kit_query(k, QUERY_RUNS, "");
	o = line_of(&t, "run", 0);
	assert_string_equal(json_get_str(o, "state", ""), "imported");
	assert_string_equal(json_get_str(o, "user", ""), "ann");
	assert_int_equal(json_get_int(o, "jobs", 0), 2);
	assert_string_equal(json_get_str(o, "started", ""), "2023-11-14T22:13:20.000Z");
	json_decref(o);
	buf_free(&t.text);
	t = kit_query(k, QUERY_SHOW, "1");
	o = line_of(&t, "job", 1);
	assert_string_equal(json_get_str(o, "host", ""), "kold");
	assert_string_equal(json_get_str(o, "state", ""), "imported");
	json_decref(o);
	o = line_of(&t, "trial", 1);
	assert_string_equal(json_get_str(o, "state", ""), "failed");
	assert_int_equal(json_get_int(o, "job", 0), 1);
	json_decref(o);
	o = line_of(&t, "trial", 2);
	assert_string_equal(json_get_str(o, "layout_name", ""), "raidz2 \"x\"");
	assert_int_equal(json_get_int(o, "job", 0), 2);
	assert_string_equal(
		json_get_str(json_array_get(json_object_get(o, "printed"), 0), "unit", ""), "ops/s");
	json_decref(o);
	o = line_of(&t, "step", 0);
	assert_string_equal(json_get_str(o, "what", ""), "make it");
	assert_int_equal(json_array_size(json_object_get(o, "argv")), 2);
	json_decref(o);
	o = line_of(&t, "summary", 0);
	assert_int_equal(json_get_int(o, "n", 0), 10);
	assert_true(json_get_num(o, "mean", 0) == 305);
	json_decref(o);
	buf_free(&t.text);
	t = kit_query(k, QUERY_RUN_ID, "elsewhere");
	o = line_of(&t, "run-id", 0);
	assert_string_equal(json_get_str(o, "state", ""), "imported");
	json_decref(o);
	buf_free(&t.text);
	buf_free(&lines);
}

static void the_same_is_kept_once(void **state)
{
	struct kit *k = *state;
	struct buf lines = {0};
	struct kit_answer a;
	struct kit_text t;
	char *other;

	make_lines(&lines);
	assert_int_equal(import(k, lines.data).run, 1);
	/* Whatever number the run has. */
	other = renumbered(lines.data, 7, 9);
	a = import(k, other);
	assert_true(a.failed);
	assert_int_equal(a.err.code, ERR_EXISTS);
	assert_has(a.err.text, "run 1 (elsewhere) holds just these results");
	t = kit_query(k, QUERY_EXPORT, "last");
	assert_non_null(strstr(buf_str(&t.text), "\"run\":1,"));
	buf_free(&t.text);
	/* One value more is another run of that name; nothing of the refused one is in its way. */
	*strstr(other, "1234567890") = '2';
	a = import(k, other);
	assert_false(a.failed);
	t = kit_query(k, QUERY_EXPORT, "elsewhere");
	assert_non_null(strstr(buf_str(&t.text), "2234567890"));
	buf_free(&t.text);
	free(other);
	buf_free(&lines);
}

/* A line that no chunk could carry: everything is taken back, the neighbours are not. */
static void what_cannot_be_kept_leaves_nothing(void **state)
{
	struct kit *k = *state;
	struct result_set set = {0};
	struct kit_answer bad = {0}, good = {0};
	struct buf lines = {0};
	struct kit_text t;
	char *inventory = xmalloc(MSG_CHUNK_MAX + 1);

	make_lines(&lines);
	lines_read(lines.data, &set);
	memset(inventory, 'x', MSG_CHUNK_MAX);
	inventory[MSG_CHUNK_MAX] = '\0';
	json_object_set_new(set.envs[0].inventory, "os", json_string(inventory));
	store_import(k->store, "ann", &set, on_imported, &bad);
	lines_read(lines.data, &set);
	store_import(k->store, "ann", &set, on_imported, &good);
	kit_wait(k, &good.done, 1);
	assert_true(bad.failed);
	assert_has(bad.err.text, "the limit is 262144");
	assert_false(good.failed);
	t = kit_query(k, QUERY_RUNS, "");
	assert_int_equal(strstr(strstr(buf_str(&t.text), "elsewhere") + 1, "elsewhere") != NULL, 0);
	buf_free(&t.text);
	free(inventory);
	buf_free(&lines);
}

/* Many lines over several pages; a text as a file has it, through the importer. */
static void long_lists_come_back(void **state)
{
	struct kit *k = *state;
	struct result_set set = {0};
	struct import_options o = {.run = "list"};
	struct buf text = {0}, want = {0};
	struct kit_answer a = {0};
	struct kit_text t;
	struct err e;
	uint64_t run;

	for (int i = 0; i < 1000; i++)
		buf_addf(&text, "%d.%03ds\n", 10 + i % 7, i);
	assert_ok(import_text(&set, "list.txt", &text, &o, NULL, &run, &e), e);
	assert_ok(export_read_end(&set, &e), e);
	assert_ok(result_set_check(&set, &e), e);
	set.runs[0].id = 1;
	export_run(&set.runs[0], &want);
	for (size_t i = 0; i < set.n_trials; i++)
		export_trial(&set.trials[i], &want);
	export_end(1, 1001, &want);
	store_import(k->store, "ann", &set, on_imported, &a);
	kit_wait(k, &a.done, 1);
	assert_false(a.failed);
	t = kit_query(k, QUERY_EXPORT, "list");
	assert_true(t.chunks > 1);
	assert_string_equal(buf_str(&t.text), buf_str(&want));
	buf_free(&t.text);
	buf_free(&want);
	buf_free(&text);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_run_comes_out_as_it_went_in),
		T(it_is_listed_and_shown),
		T(the_same_is_kept_once),
		T(what_cannot_be_kept_leaves_nothing),
		T(long_lists_come_back),
	};

	return cmocka_run_group_tests_name("store_import", tests, NULL, NULL);
}
