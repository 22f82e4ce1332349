/* Rate limits by address. */
#include "tests/unit/test.h"

#include <arpa/inet.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/bucket.h"

static struct in6_addr address(const char *text)
{
	struct in6_addr a;

	assert_int_equal(inet_pton(AF_INET6, text, &a), 1);
	return a;
}

static void test_rules(void **state)
{
	/* From this address, so many seconds after the row before: is it let through? */
	static const struct {
		const char *from;
		double wait_s;
		int pass;
	} rows[] = {
		{"::ffff:10.0.0.1", 0, 1}, {"::ffff:10.0.0.1", 0, 1}, {"::ffff:10.0.0.1", 0, 0},
		{"::ffff:10.0.0.2", 0, 1}, {"::ffff:10.0.0.1", 0.5, 0}, {"::ffff:10.0.0.1", 0.5, 1},
		{"::ffff:10.0.0.1", 0, 0}, {"2001:db8::1", 0, 1}, {"2001:db8::2", 0, 1},
		{"2001:db8::3", 0, 0}, /* one /64 is one peer */
		{"2001:db8:0:1::1", 0, 1}, {"::ffff:10.0.0.1", 3600, 1}, {"::ffff:10.0.0.1", 0, 1},
		{"::ffff:10.0.0.1", 0, 0}, /* no more than the burst gathers */
	};
	struct bucket_table *t = xcalloc(1, sizeof(*t));
	int64_t now = NS_PER_S;

	(void)state;
	t->each = (struct bucket_rule){.burst = 2, .per_s = 1};
	t->all = (struct bucket_rule){.burst = 100, .per_s = 100};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct in6_addr a = address(rows[i].from);

		now += (int64_t)(rows[i].wait_s * NS_PER_S);
		if (bucket_take(t, &a, now) != rows[i].pass)
			fail_msg("row %zu (%s)", i, rows[i].from);
	}
	free(t);
}

static void test_flood_of_addresses(void **state)
{
	struct bucket_table *t = xcalloc(1, sizeof(*t));
	unsigned passed = 0;

	(void)state;
	t->each = (struct bucket_rule){.burst = 2, .per_s = 1};
	t->all = (struct bucket_rule){.burst = 50, .per_s = 10};
	for (unsigned i = 0; i < 100000; i++) {
		struct in6_addr a = {{{0x20, 1, 0x0d, 0xb8, (uint8_t)(i >> 16), (uint8_t)(i >> 8),
			(uint8_t)i}}};

		passed += (unsigned)bucket_take(t, &a, NS_PER_S);
	}
	assert_int_equal(passed, 50);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_flood_of_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
