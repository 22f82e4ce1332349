/* Byte credit: what may be sent, what comes back, and the cap over all peers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proto/window.h"

#define KIB 1024ULL

static void test_may_send(void **state)
{
	static const struct {
		const char *name;
		struct window w;
		uint64_t bytes;
		int may;
	} cases[] = {
		{"fits exactly", {100, 40}, 60, 1},
		{"one byte too many", {100, 40}, 61, 0},
		{"nothing under way: always", {10, 0}, 1000, 1},
		{"no credit yet, nothing under way", {0, 0}, 1, 1},
		{"no credit, something under way", {0, 1}, 1, 0},
		{"credit was lowered below what is under way", {10, 40}, 1, 0},
		{"no overflow", {UINT64_MAX, 1}, UINT64_MAX, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (window_may_send(&cases[i].w, cases[i].bytes) != cases[i].may)
			fail_msg("%s", cases[i].name);
}

static void test_counts(void **state)
{
	struct window w = {0};

	(void)state;
	window_grant(&w, 1000);
	window_sent(&w, 600);
	assert_false(window_may_send(&w, 500));
	window_acked(&w, 200);
	assert_true(window_may_send(&w, 500));
	window_acked(&w, 5000); /* a peer that acks more than was sent */
	assert_int_equal(w.used, 0);
}

static void test_pool(void **state)
{
	struct window_pool p = {.limit = 1000 * KIB};
	uint64_t a, b, c;

	(void)state;
	a = window_pool_take(&p, 600 * KIB);
	assert_int_equal(a, 600 * KIB);
	b = window_pool_take(&p, 600 * KIB);
	assert_int_equal(b, 400 * KIB);
	c = window_pool_take(&p, 600 * KIB);
	assert_int_equal(c, 64 * KIB);
	assert_int_equal(p.peers, 3);
	window_pool_give(&p, a);
	window_pool_give(&p, b);
	window_pool_give(&p, c);
	assert_int_equal(p.granted, 0);
	assert_int_equal(p.peers, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_may_send),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
