/* Timed streams and workloads side by side, on real files with real processes: what they move, how
 * it adds up, and what one that fails does to the others. */
#include "tests/unit/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/workload/datagen.h"
#include "agent/workload/stream_spec.h"
#include "agent/workload/workload.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define K 1024ULL

struct fixture {
	char dir[64];
	struct plan *plan;
	struct msg_worker_spec spec;
	struct workload_order order;
	struct workload_result *result;
	uint64_t ops, bytes, count, samples;
	int64_t end_ns;
	struct err e;
};

/* workloads: of the plan; the one called "x" is run. */
static void setup(struct fixture *f, const char *workloads)
{
	struct yaml_errors errs = {0};
	char *text;
	struct stat st;

	memset(f, 0, sizeof(*f));
	snprintf(f->dir, sizeof(f->dir), "/tmp/arraymark-test-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	text = xasprintf("name: test\nhosts: all\ntrials: 3\nlayouts: {here: {existing: %s}}\n"
			 "workloads:\n%s\n",
		f->dir, workloads);
	assert_ok(plan_parse("plan", text, strlen(text), NULL, &f->plan, &errs, &f->e), f->e);
	free(text);
	yaml_errors_free(&errs);
	assert_int_equal(stat(f->dir, &st), 0);
	f->spec = (struct msg_worker_spec){.directory = f->dir, .dev = st.st_dev, .block = 1,
		.repeat = 1, .sample_ns = 50 * NS_PER_MS, .seed = 11, .syncfs_works = 1};
	f->result = xcalloc(1, sizeof(*f->result));
	f->order = (struct workload_order){.spec = &f->spec, .plan = f->plan};
	for (unsigned i = 0; i < f->plan->n_workloads; i++)
		if (!strcmp(f->plan->workloads[i].name, "x")) {
			f->spec.workload = i;
			f->order.w = &f->plan->workloads[i];
		}
	if (f->order.w->kind == WORKLOAD_STREAM)
		assert_ok(stream_spec_fill(f->plan, f->order.w, &f->spec, &f->e), f->e);
}

static void teardown(struct fixture *f)
{
	struct err e;

	assert_ok(fs_remove_tree(f->dir, &e), e);
	strv_free(&f->spec.names);
	detail_clear(&f->result->detail);
	free(f->result);
	plan_free(f->plan);
}

static void on_sample(void *arg, const struct sample *s)
{
	struct fixture *f = arg;
	struct hist *h = xmalloc(sizeof(*h));
	struct err e;

	assert_ok(hist_decode(s->hist, s->hist_len, h, &e), e);
	assert_int_equal(s->start_ns, f->end_ns);
	assert_true(s->end_ns > s->start_ns);
	assert_int_equal(h->count, s->ops);
	f->end_ns = s->end_ns;
	f->ops += s->ops;
	f->bytes += s->bytes;
	f->samples++;
	free(h);
}

static int make(struct fixture *f)
{
	return workload_find(f->order.w->kind)->make(&f->order, &f->e);
}

static int run(struct fixture *f)
{
	const struct workload_engine *engine = workload_find(f->order.w->kind);
	void *state;
	int rc;

	if (engine->prepare(&f->order, &state, &f->e))
		return -1;
	rc = engine->run(state, 0, on_sample, f, f->result, &f->e);
	engine->clear(state);
	if (rc == 0) {
		assert_int_equal(f->bytes, f->result->bytes);
		assert_int_equal(f->ops, f->result->ops);
		assert_int_equal(f->result->hist.count, f->result->ops);
		assert_true(f->end_ns >= f->result->elapsed_ns);
	}
	return rc;
}

static const struct trial_part *part(const struct fixture *f, const char *name)
{
	const struct trial_detail *d = &f->result->detail;

	for (size_t i = 0; i < d->n_parts; i++)
		if (!strcmp(d->parts[i].name, name))
			return &d->parts[i];
	fail_msg("there is no part %s", name);
	return NULL;
}

static void test_timed_stream(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, "  x: {stream: {op: write, size: 512K, block-size: 64K, files: 2, sync: none}, "
		  "duration: 1s}");
	assert_ok(run(&f), f.e);
	assert_true(f.result->elapsed_ns >= NS_PER_S);
	assert_true(f.result->bytes > 1024 * K); /* more than two rounds */
	assert_int_equal(f.result->bytes, f.result->ops * 64 * K);
	teardown(&f);
}

/* Nothing that was written stands there again: else a volume could leave a round out. */
static void test_rounds_differ(void **state)
{
	const struct datagen first = {.kind = DATA_RANDOM, .seed = 11};
	struct buf got = {0};
	struct fixture f;
	char path[96];
	uint64_t bad;

	(void)state;
	setup(&f, "  x: {stream: {op: write, size: 256K, block-size: 64K, sync: none}, duration: "
		  "1s}");
	assert_ok(run(&f), f.e);
	snprintf(path, sizeof(path), "%s/x", f.dir);
	assert_ok(fs_read_file(path, 256 * K, &got, &f.e), f.e);
	assert_int_equal(got.len, 256 * K);
	assert_int_equal(datagen_verify(&first, 0, 0, got.data, got.len, &bad), -1);
	assert_int_equal(bad, 0);
	buf_free(&got);
	teardown(&f);
}

/* Paced, the blocks that are due in a second are moved, and at most one more a thread. */
static void test_file_rate(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, "  x: {stream: {op: write, size: 1M, block-size: 16K, files: 4, threads: 4, "
		  "file-rate: 64K, sync: none}, duration: 1s}");
	assert_int_equal(f.spec.rate, 256 * K);
	assert_ok(run(&f), f.e);
	assert_true(f.result->bytes <= 256 * K + 4 * 16 * K);
	assert_true(f.result->bytes > 0);
	teardown(&f);
}

#define READER "{stream: {op: read, files: 4, threads: 4, size: 1M, block-size: 64K}}"
#define WRITER "{stream: {op: write, files: 2, threads: 2, size: 2M, block-size: 64K}}"

static void test_members_add_up(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, "  x: {parallel: [" READER ", " WRITER "]}");
	assert_ok(make(&f), f.e);
	assert_ok(run(&f), f.e);
	assert_int_equal(f.result->bytes, 3 * 1024 * K);
	assert_int_equal(f.result->ops, 48);
	assert_string_equal(part(&f, "x.1")->kind, "member");
	assert_int_equal(part(&f, "x.1")->bytes, 1024 * K);
	assert_int_equal(part(&f, "x.2")->bytes, 2048 * K);
	assert_int_equal(part(&f, "x.2")->ops, 32);
	assert_true(part(&f, "x.2")->hist_len > 0);
	assert_true(f.result->elapsed_ns >= part(&f, "x.1")->elapsed_ns);
	assert_true(f.result->elapsed_ns >= part(&f, "x.2")->elapsed_ns);
	teardown(&f);
}

/* Each moved something, and all at the same time for a while. */
static int all_were_at_work(const struct fixture *f)
{
	return part(f, "x.1")->bytes && part(f, "x.2")->bytes && part(f, "x.3")->bytes &&
	       f->samples >= 2 && detail_find_fact(&f->result->detail, "common_window");
}

/* On a busy host some member may not come to work within a second: then a longer run is taken. */
static void run_until_all_work(struct fixture *f, int64_t *ret_ns)
{
	for (unsigned seconds = 1;; seconds *= 3) {
		char *text = xasprintf(
			"  x: {parallel: [" READER ", " WRITER ", " WRITER "], duration: %us}", seconds);

		setup(f, text);
		free(text);
		assert_ok(make(f), f->e);
		assert_ok(run(f), f->e);
		*ret_ns = seconds * NS_PER_S;
		if (all_were_at_work(f) || seconds > 20)
			return;
		teardown(f);
	}
}

static void test_timed_members(void **state)
{
	const struct trial_fact *window;
	struct fixture f;
	int64_t ns;

	(void)state;
	run_until_all_work(&f, &ns);
	for (unsigned i = 1; i <= 3; i++) {
		char name[8];

		snprintf(name, sizeof(name), "x.%u", i);
		assert_true(part(&f, name)->bytes > 0);
		assert_true(part(&f, name)->elapsed_ns >= ns);
	}
	assert_int_equal(f.result->bytes,
		part(&f, "x.1")->bytes + part(&f, "x.2")->bytes + part(&f, "x.3")->bytes);
	assert_true(f.samples >= 2);
	window = detail_find_fact(&f.result->detail, "common_window");
	assert_non_null(window);
	assert_true(window->value * NS_PER_S <= (double)f.result->elapsed_ns + 0.5);
	assert_non_null(detail_find_fact(&f.result->detail, "common_throughput"));
	teardown(&f);
}

/* Made once; what is there and large enough stays. */
static void test_files_are_made_once(void **state)
{
	struct stat before, after;
	struct fixture f;
	char path[96];

	(void)state;
	setup(&f, "  x: {parallel: [" READER "]}");
	snprintf(path, sizeof(path), "%s/x.1.4", f.dir);
	assert_int_equal(run(&f), -1); /* nobody made them */
	assert_has(f.e.text, "member x.1 (stream)");
	assert_ok(make(&f), f.e);
	assert_int_equal(stat(path, &before), 0);
	assert_int_equal(before.st_size, 256 * K);
	assert_ok(make(&f), f.e);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(truncate(path, 100), 0);
	assert_ok(make(&f), f.e);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(after.st_size, 256 * K);
	teardown(&f);
}

/* The reader would go on for an hour. */
static void test_one_fails_all_end(void **state)
{
	struct rlimit old, small = {.rlim_cur = 1024 * K, .rlim_max = RLIM_INFINITY};
	struct fixture f;

	(void)state;
	setup(&f, "  x: {parallel: [" READER ", {stream: {op: write, size: 8M, block-size: 64K}}], "
		  "duration: 1h}");
	assert_ok(make(&f), f.e);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small.rlim_max = old.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(run(&f), -1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_has(f.e.text, "member x.2 (stream): writing 'x.2' in");
	assert_has(f.e.text, "at byte 1048576");
	assert_int_equal(part(&f, "x.2")->errors, 1);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timed_stream),
		cmocka_unit_test(test_rounds_differ),
		cmocka_unit_test(test_file_rate),
		cmocka_unit_test(test_members_add_up),
		cmocka_unit_test(test_timed_members),
		cmocka_unit_test(test_files_are_made_once),
		cmocka_unit_test(test_one_fails_all_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
