/* Offsets of a peer's clocks from pings. */
#include "tests/unit/test.h"

#include "common/base/mem.h"
#include "coordinator/clock.h"

static void test_shortest_counts(void **state)
{
	/* A peer 1000 ahead (wall 5000); the way there takes `there`, the way back `back`. */
	static const int64_t pings[][2] = {{100, 300}, {10, 10}, {500, 20}, {30, 40}};
	struct clock_offset c = {0};
	int64_t mono, wall, rtt, sent = 1000000;

	(void)state;
	assert_int_equal(clock_offset_get(&c, &mono, &wall, &rtt), -1);
	for (size_t i = 0; i < ARRAY_LEN(pings); i++, sent += 10000) {
		int64_t there = pings[i][0], now = sent + there + pings[i][1];

		clock_offset_add(&c, sent, now, now + 777, sent + there + 1000, sent + there + 777 + 5000);
	}
	assert_int_equal(clock_offset_get(&c, &mono, &wall, &rtt), 0);
	assert_int_equal(rtt, 20);
	assert_int_equal(mono, 1000);
	assert_int_equal(wall, 5000);
}

static void test_old_pings_are_forgotten(void **state)
{
	struct clock_offset c = {0};
	int64_t mono, wall, rtt;

	(void)state;
	clock_offset_add(&c, 100, 102, 102, 1101, 1101);
	for (int i = 0; i < CLOCK_PINGS; i++)
		clock_offset_add(&c, 1000, 1100, 1100, 3050, 3050);
	assert_int_equal(clock_offset_get(&c, &mono, &wall, &rtt), 0);
	assert_int_equal(rtt, 100);
	assert_int_equal(mono, 2000);
}

static void test_nonsense(void **state)
{
	static const int64_t sent[] = {0, -5, 200, INT64_MAX, INT64_MIN};
	struct clock_offset c = {0};
	int64_t mono, wall, rtt;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sent); i++)
		clock_offset_add(&c, sent[i], 100, 100, 50, 50);
	assert_int_equal(clock_offset_get(&c, &mono, &wall, &rtt), -1);
	clock_offset_add(&c, 90, 100, 100, INT64_MIN, INT64_MAX); /* any number is a number */
	assert_int_equal(clock_offset_get(&c, &mono, &wall, &rtt), 0);
	assert_int_equal(rtt, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shortest_counts),
		cmocka_unit_test(test_old_pings_are_forgotten),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
