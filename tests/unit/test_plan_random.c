/* Right plans with `random`: what the struct holds, what it asks of a host. */
#include "tests/unit/test.h"

#include "common/base/units.h"
#include "common/plan/plan.h"
#include "common/plan/work_random.h"
#include "common/plan/workload.h"

#define GIB (1LL << 30)
#define HEAD "name: p\nhosts: [all]\ntrials: 5\n"
#define EXISTING "layouts:\n  a: {existing: /tank/bench/}\n"

static struct plan *parse(const char *text)
{
	struct yaml_errors errs = {0};
	struct plan *p = NULL;
	struct err e;

	assert_ok(plan_parse("plan.yaml", text, strlen(text), NULL, &p, &errs, &e), e);
	yaml_errors_free(&errs);
	return p;
}

static void test_random(void **state)
{
	struct plan *p = parse(HEAD EXISTING
		"workloads:\n"
		"  w: {stream: {op: write, size: 1G, files: 4, engine: io_uring, depth: 16}}\n"
		"  a: {random: {op: read, of: w, duration: 30s}}\n"
		"  b: {random: {op: mixed, reads: 70%, size: ram / 2, block-size: 8K, files: 2, "
		"threads: 3, depth: 32, engine: io_uring, direct: true, ops: 10000, rate: 500, "
		"distribution: 'zipf:1.1', data: {compressible: 40%}, sync: {every: 9}, verify: true}}\n"
		"  c: {random: {op: write, size: 10000000}, duration: 1m}\n"
		"  d: {random: {op: read, size: 1M}}\n");
	const struct work_random *a = p->workloads[1].random, *b = p->workloads[2].random;
	struct workload_needs n;
	struct err e;

	(void)state;
	assert_int_equal(p->workloads[0].stream.depth, 16);
	assert_int_equal(p->workloads[0].stream.engine, IO_URING);
	assert_int_equal(a->of_index, 0);
	assert_int_equal(a->files, 4);
	assert_int_equal(a->block_size, 4096);
	assert_int_equal(a->depth, 1);
	assert_int_equal(a->sync, SYNC_NONE);
	assert_int_equal(p->workloads[1].duration_ns, 30 * NS_PER_S);
	assert_int_equal(workload_needs(p, 1, 0, &n, &e), 0);
	assert_int_equal(n.kept_bytes, 0);
	assert_int_equal(n.duration_ns, 30 * NS_PER_S);
	assert_true(b->reads > 0.69 && b->reads < 0.71);
	assert_true(b->zipf > 1.09 && b->zipf < 1.11);
	assert_int_equal(b->depth, 32);
	assert_int_equal(b->ops, 10000);
	assert_int_equal(b->rate, 500);
	assert_int_equal(b->data, DATA_COMPRESSIBLE);
	assert_int_equal(b->compressible_percent, 40);
	assert_int_equal(b->fsync_every, 9);
	assert_int_equal(b->sync, SYNC_ALL);
	assert_int_equal(b->verify && b->direct, 1);
	assert_int_equal(workload_needs(p, 2, 8 * GIB, &n, &e), 0);
	assert_int_equal(n.space_bytes, 4 * GIB);
	assert_int_equal(n.written_bytes + n.read_bytes, 10000 * 8192);
	assert_int_equal(n.duration_ns, 20 * NS_PER_S);
	assert_int_equal(p->workloads[3].duration_ns, 60 * NS_PER_S);
	assert_int_equal(workload_needs(p, 3, 0, &n, &e), 0);
	assert_int_equal(n.space_bytes, 10000000 / 4096 * 4096);
	assert_int_equal(workload_needs(p, 4, 0, &n, &e), 0);
	assert_int_equal(n.read_bytes, 1 << 20);
	assert_string_equal(workload_headline(&p->workloads[4]), "ops_per_s");
	assert_string_equal(workload_op(&p->workloads[2]), "mixed");
	assert_int_equal(workload_syncs(&p->workloads[3]), 1);
	assert_int_equal(workload_syncs(&p->workloads[4]), -1);
	plan_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
