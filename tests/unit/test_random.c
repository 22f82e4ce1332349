/* The random engine on real files: which blocks, how many, how counted; what ends it. */
#include "tests/unit/random_kit.h"

#include "common/plan/workload.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#define K 1024

static const char *const engines[] = {"pread", "io_uring, depth: 8"};

/* Runs it by each engine that this machine has. options: more of the map. */
#define FOR_ENGINES(i) for (unsigned i = 0; i < ARRAY_LEN(engines) && (i == 0 || kit_has_uring()); i++)

static void plan_of(struct kit *k, const char *engine, const char *options)
{
	char *text = xasprintf("  w: {random: {engine: %s, %s}}\n", engine, options);

	kit_plan(k, text);
	free(text);
}

/* Each block of the laid out files has other contents afterwards, whatever shares the work. */
static void without_an_end_each_block_is_written_once(void **state)
{
	static const struct {
		const char *options;
		unsigned files, blocks; /* of each */
		unsigned bytes;
	} cases[] = {
		{"op: write, size: 1M", 1, 256, 4096},
		{"op: write, size: 1M, threads: 3", 1, 256, 4096},
		{"op: write, size: 1M, files: 3, threads: 2", 3, 85, 4096},
		{"op: write, size: 1M, block-size: 96K, verify: true, threads: 2", 1, 10, 98304},
		{"op: write, size: 1000000, block-size: 1000, files: 2", 2, 500, 1000},
	};
	struct kit *k = *state;

	FOR_ENGINES(g) for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct datagen gen = {.kind = DATA_RANDOM, .seed = 7};
		char *was = xmalloc(cases[i].bytes), *is = xmalloc(cases[i].bytes);

		plan_of(k, engines[g], cases[i].options);
		assert_ok(kit_run(k, 0), k->e);
		assert_int_equal(k->r->ops, cases[i].files * cases[i].blocks);
		assert_int_equal(k->r->bytes, (uint64_t)k->r->ops * cases[i].bytes);
		assert_int_equal(kit_part(k, "write")->ops, k->r->ops);
		assert_null(kit_part(k, "read"));
		for (unsigned f = 0; f < cases[i].files; f++) {
			char name[32] = "w.random";
			int fd;

			if (cases[i].files > 1)
				snprintf(name, sizeof(name), "w.random.%u", f + 1);
			fd = kit_file(k, name);
			for (unsigned b = 0; b < cases[i].blocks; b++) {
				uint64_t at = (uint64_t)b * cases[i].bytes;

				datagen_fill(&gen, f, at, was, cases[i].bytes);
				assert_int_equal(pread(fd, is, cases[i].bytes, (off_t)at),
					cases[i].bytes);
				assert_memory_not_equal(was, is, cases[i].bytes);
			}
			close(fd);
		}
		free(was);
		free(is);
	}
}

static void a_number_of_operations_is_kept_to(void **state)
{
	struct kit *k = *state;

	FOR_ENGINES(g) {
		plan_of(k, engines[g], "op: read, size: 256K, ops: 1001, threads: 4");
		assert_ok(kit_run(k, 0), k->e);
		assert_int_equal(k->r->ops, 1001);
		assert_int_equal(k->r->sync_ns < k->r->elapsed_ns, 1);
		assert_int_equal(kit_part(k, "read")->ops, 1001);
	}
}

/* 10,000 draws at 70 %: five standard deviations are 2.3 %. */
static void a_mixed_one_reads_its_share_and_tells_both_apart(void **state)
{
	struct kit *k = *state;

	FOR_ENGINES(g) {
		const struct trial_part *reads, *writes;

		plan_of(k, engines[g],
			"op: mixed, reads: 70%, size: 1M, ops: 10000, threads: 2, verify: true, "
			"sync: {every: 50}");
		assert_ok(kit_run(k, 0), k->e);
		reads = kit_part(k, "read");
		writes = kit_part(k, "write");
		assert_in_range(reads->ops, 6770, 7230);
		assert_int_equal(reads->ops + writes->ops, 10000);
		assert_int_equal(writes->bytes, writes->ops * 4096);
		/* Each thread counts by itself, to 50 at most before it ends. */
		assert_in_range(kit_part(k, "fsync")->ops, writes->ops / 50 - 1, writes->ops / 50);
		assert_int_equal((int)detail_find_fact(&k->r->detail, "blocks_verified")->value, 256);
	}
}

/* All are due at once, so each waits for those before it; a clock around each call would tell
 * microseconds. */
static void latency_counts_from_when_an_operation_was_due(void **state)
{
	struct kit *k = *state;

	FOR_ENGINES(g) {
		plan_of(k, engines[g], "op: read, size: 1M, ops: 20000, rate: 100000000");
		assert_ok(kit_run(k, 0), k->e);
		assert_true(k->r->hist.max > (uint64_t)k->r->elapsed_ns / 4);
		assert_true(hist_mean(&k->r->hist) > (double)k->r->elapsed_ns / 16);
	}
}

static void nothing_is_done_before_it_is_due(void **state)
{
	struct kit *k = *state;

	FOR_ENGINES(g) {
		plan_of(k, engines[g], "op: read, size: 1M, ops: 51, rate: 500");
		assert_ok(kit_run(k, 0), k->e);
		assert_int_equal(k->r->ops, 51);
		assert_true(k->r->elapsed_ns >= 100 * NS_PER_MS);
		assert_true(k->r->hist.max < (uint64_t)k->r->elapsed_ns);
	}
}

static void a_duration_ends_it(void **state)
{
	struct kit *k = *state;

	FOR_ENGINES(g) {
		plan_of(k, engines[g], "op: mixed, reads: 50%, size: 1M, duration: 1s, rate: 8, "
				       "distribution: zipf:1.1");
		assert_ok(kit_run(k, 0), k->e);
		assert_in_range(k->r->ops, 1, 8);
		assert_true(k->r->elapsed_ns >= NS_PER_S);
	}
}

static void limit_file_size(struct kit *k)
{
	struct rlimit l = {128 * K, RLIM_INFINITY};

	(void)k;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

static void truncate_file(struct kit *k)
{
	int fd = kit_file(k, "w.random");

	assert_int_equal(ftruncate(fd, 100 * K), 0);
	close(fd);
}

/* Real errors of the kernel in the middle of a trial: a limit on what may be written, a file that
 * somebody cut. */
static void an_error_names_what_file_and_where(void **state)
{
	struct rlimit old, none = {RLIM_INFINITY, RLIM_INFINITY};
	struct kit *k = *state;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	FOR_ENGINES(g) {
		plan_of(k, engines[g], "op: write, size: 1M, threads: 2");
		k->before = limit_file_size;
		assert_int_equal(kit_run(k, 0), -1);
		setrlimit(RLIMIT_FSIZE, &none);
		assert_has(k->e.text, "writing 'w.random' in /tmp/arraymark-random-");
		assert_has(k->e.text, "File too large");
		assert_true(k->r->errors >= 1);
		assert_true(strtoull(strstr(k->e.text, "at byte ") + 8, NULL, 10) >= 128 * K);
		plan_of(k, engines[g], "op: read, size: 1M");
		k->before = truncate_file;
		assert_int_equal(kit_run(k, 0), -1);
		assert_has(k->e.text, "reading 'w.random' in /tmp/arraymark-random-");
		assert_has(k->e.text, "ended early at byte ");
	}
	setrlimit(RLIMIT_FSIZE, &old);
}

static void no_room_for_the_files_is_an_error_before_the_time(void **state)
{
	struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
	struct kit *k = *state;

	signal(SIGXFSZ, SIG_IGN);
	kit_plan(k, "  w: {random: {op: read, size: 4M}}\n");
	limit_file_size(k);
	assert_int_equal(kit_run(k, 0), -1);
	setrlimit(RLIMIT_FSIZE, &none);
	assert_has(k->e.text, "laying out 'w.random'");
	assert_has(k->e.text, "at byte 131072: File too large");
}

static void files_of_a_stream_are_read_where_they_are(void **state)
{
	struct kit *k = *state;

	kit_plan(k, "  s: {stream: {op: write, size: 1M, block-size: 64K, files: 3}}\n"
		    "  r: {random: {op: read, of: s, verify: true}}\n"
		    "  w: {random: {op: write, of: s, size: 96K, data: zero}}\n");
	plan_stream_names(k->plan, 0, 1, 1, &k->spec.names);
	k->spec.op = OP_WRITE;
	k->spec.size = 1024 * K;
	k->spec.block_size = 64 * K;
	k->spec.threads = 1;
	k->spec.files = 3;
	assert_ok(kit_run(k, 0), k->e);
	assert_ok(kit_run(k, 1), k->e);
	assert_int_equal(k->r->ops, 3 * 5 * 16); /* the files have 6, 5 and 5 blocks of 64K */
	assert_ok(kit_run(k, 2), k->e);
	assert_int_equal(k->r->ops, 24);
	assert_int_equal(kit_run(k, 1), -1);
	assert_has(k->e.text, "found zeros, not what was written");
}

/* Made once, before the caches: neither another trial nor preparing writes them again. */
static void files_that_are_there_are_left_alone(void **state)
{
	struct kit *k = *state;
	struct stat was, is;
	char path[300];

	kit_plan(k, "  w: {random: {op: read, size: 1M}}\n"
		    "  v: {random: {op: read, size: 1M, verify: true}}\n");
	for (unsigned i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s.random", k->dir, i ? "v" : "w");
		assert_ok(kit_make(k, i), k->e);
		assert_int_equal(stat(path, &was), 0);
		assert_ok(kit_make(k, i), k->e);
		assert_ok(kit_run(k, i), k->e);
		assert_int_equal(stat(path, &is), 0);
		assert_int_equal(was.st_ino, is.st_ino);
		assert_int_equal(was.st_mtim.tv_nsec, is.st_mtim.tv_nsec);
	}
	k->spec.seed = 8;
	assert_ok(kit_run(k, 1), k->e); /* verified ones are of the trial */
	assert_int_equal(truncate(path, 4096), 0);
	assert_ok(kit_make(k, 1), k->e);
	assert_int_equal(stat(path, &is), 0);
	assert_int_equal(is.st_size, 1024 * K);
}

/* What is written and verified: made before the caches are emptied, and good for one trial. */
static void files_to_be_written_are_made_once_a_trial(void **state)
{
	struct kit *k = *state;
	struct stat made, used;
	char path[300];

	kit_plan(k, "  w: {random: {op: mixed, reads: 50%, size: 1M, ops: 100, verify: true}}\n");
	assert_true(workload_makes(&k->plan->workloads[0]));
	snprintf(path, sizeof(path), "%s/w.random", k->dir);
	assert_ok(kit_make(k, 0), k->e);
	assert_int_equal(stat(path, &made), 0);
	assert_ok(kit_run(k, 0), k->e);
	assert_int_equal(stat(path, &used), 0);
	assert_int_equal(made.st_ino, used.st_ino);
	assert_true(detail_find_fact(&k->r->detail, "verified_from_disks") != NULL);
	snprintf(path, sizeof(path), "%s/w.random.made", k->dir);
	assert_int_equal(stat(path, &used), -1);
	assert_ok(kit_run(k, 0), k->e); /* without them: makes its own */
	assert_ok(kit_make(k, 0), k->e);
	k->spec.seed = 8;
	assert_ok(kit_run(k, 0), k->e); /* those are of another trial */
}

static void a_place_on_another_device_is_refused(void **state)
{
	struct kit *k = *state;
	struct workload_order o;
	void *engine;

	kit_plan(k, "  w: {random: {op: read, size: 64K}}\n");
	k->spec.directory = k->dir;
	k->spec.dev = 1;
	k->spec.sample_ns = NS_PER_S;
	o = (struct workload_order){
		.spec = &k->spec, .plan = k->plan, .w = &k->plan->workloads[0]};
	assert_int_equal(workload_find(WORKLOAD_RANDOM)->prepare(&o, &engine, &k->e), -1);
	assert_int_equal(k->e.code, ERR_WRONG_STATE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, kit_open, kit_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_an_end_each_block_is_written_once),
		TEST(a_number_of_operations_is_kept_to),
		TEST(a_mixed_one_reads_its_share_and_tells_both_apart),
		TEST(latency_counts_from_when_an_operation_was_due),
		TEST(nothing_is_done_before_it_is_due),
		TEST(a_duration_ends_it),
		TEST(an_error_names_what_file_and_where),
		TEST(no_room_for_the_files_is_an_error_before_the_time),
		TEST(files_of_a_stream_are_read_where_they_are),
		TEST(files_that_are_there_are_left_alone),
		TEST(a_place_on_another_device_is_refused),
		TEST(files_to_be_written_are_made_once_a_trial),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
