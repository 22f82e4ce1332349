/* Order of layouts in a block: the same everywhere, every order equally likely. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/mem.h"
#include "common/plan/order.h"

static int is_permutation(const unsigned *order, unsigned n)
{
	uint64_t seen = 0;

	for (unsigned i = 0; i < n; i++)
		seen |= order[i] < n ? 1ULL << order[i] : 0;
	return seen == (1ULL << n) - 1;
}

/* Values that other versions and machines must find too: an agreed order may never change. They
 * come from an implementation in Python of what the head of order.c says. */
static void test_known(void **state)
{
	static const struct {
		uint64_t seed;
		const char *host;
		unsigned block;
		unsigned order[5];
	} table[] = {
		{0x0ULL, "a", 1, {0, 1, 2, 3, 4}},
		{0x1ULL, "knew", 1, {0, 4, 3, 2, 1}},
		{0x1ULL, "knew", 2, {2, 4, 0, 3, 1}},
		{0xffffffffffffffffULL, "v440.example.org", 10000, {3, 2, 0, 1, 4}},
		{0x123456789abcdef0ULL, "", 7, {4, 0, 1, 2, 3}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct plan p = {.n_layouts = 5};
		unsigned order[5];

		plan_block_order(&p, table[i].seed, table[i].host, table[i].block, order);
		assert_memory_equal(order, table[i].order, sizeof(order));
	}
}

static void test_as_written(void **state)
{
	struct plan p = {.n_layouts = 4, .order = ORDER_AS_WRITTEN};
	unsigned order[4], expected[4] = {0, 1, 2, 3};

	(void)state;
	for (unsigned block = 1; block < 20; block++) {
		plan_block_order(&p, block, "h", block, order);
		assert_memory_equal(order, expected, sizeof(order));
	}
}

static void test_together_leaves_host_out(void **state)
{
	struct plan p = {.n_layouts = 20, .start = START_TOGETHER};
	unsigned a[20], b[20];

	(void)state;
	plan_block_order(&p, 7, "one", 3, a);
	plan_block_order(&p, 7, "two", 3, b);
	assert_memory_equal(a, b, sizeof(a));
	p.start = START_FREE;
	plan_block_order(&p, 7, "one", 3, a);
	plan_block_order(&p, 7, "two", 3, b);
	assert_memory_not_equal(a, b, sizeof(a));
}

/* All 24 orders of 4 layouts over 48,000 draws: chi-squared with 23 degrees of freedom stays under
 * 49.7 with probability 0.999; the draws are fixed, so the outcome is too. */
static void check_uniform(uint64_t seed_step, unsigned block_step)
{
	struct plan p = {.n_layouts = 4};
	unsigned count[256] = {0}, order[4], draws = 48000, kinds = 0;
	double chi = 0, expected = draws / 24.0;

	for (unsigned i = 0; i < draws; i++) {
		plan_block_order(&p, seed_step * i + 1, "knew", block_step * i + 1, order);
		assert_true(is_permutation(order, 4));
		count[order[0] << 6 | order[1] << 4 | order[2] << 2 | order[3]]++;
	}
	for (unsigned i = 0; i < 256; i++) {
		if (!count[i])
			continue;
		kinds++;
		chi += (count[i] - expected) * (count[i] - expected) / expected;
	}
	assert_int_equal(kinds, 24);
	assert_true(chi < 49.7);
}

static void test_uniform(void **state)
{
	(void)state;
	check_uniform(1, 0);
	check_uniform(0, 1);
}

static void test_one(void **state)
{
	struct plan p = {.n_layouts = 1};
	unsigned order = 9;

	(void)state;
	plan_block_order(&p, 1, "", 1, &order);
	assert_int_equal(order, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_as_written),
		cmocka_unit_test(test_together_leaves_host_out),
		cmocka_unit_test(test_uniform),
		cmocka_unit_test(test_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
