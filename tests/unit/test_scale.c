/* results: numbers of a column share a unit, and as many digits show as tell them apart. */
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/scale.h"

#define MIB 1048576.0
#define GIB 1073741824.0

struct column {
	const char *unit;
	double resolution, v[6];
	const char *text[6], *number[6]; /* number NULL: as text */
};

static void columns_share_a_unit(void **state)
{
	static const struct column columns[] = {
		/* the H700 and H800 tests: 30720 MiB over whole seconds, then those seconds */
		{"B/s", 0, {30720 * MIB / 28, 30720 * MIB / 30, 30720 * MIB / 29, 30720 * MIB / 305},
			{"1097 MiB/s", "1024 MiB/s", "1059 MiB/s", "101 MiB/s"}, {"1097", "1024", "1059", "101"}},
		{"s", 1, {305, 265, 342, 56, 29}, {"305s", "265s", "342s", "56s", "29s"},
			{"305", "265", "342", "56", "29"}},
		{"s", 0.001, {1102.9915, 524.251, 56}, {"18m22.99s", "8m44.25s", "56.00s"}, {NULL}},
		{"s", 0.001, {555.795, 0.125}, {"555.80s", "0.125s"}, {"555.80", "0.125"}},
		{"s", 0, {3600, 59.999, 599.999}, {"1h00m00s", "1m00.00s", "10m00.00s"}, {NULL}},
		{"s", 0, {90061.25, 12}, {"1d01h01m01s", "12.00s"}, {NULL}},
		{"s", 0, {1.02, 0.993, 0.0625}, {"1.02s", "0.993s", "62.5ms"}, {"1.02", "0.993", "62.5ms"}},
		{"s", 0, {100, 0.00002}, {"100.00s", "20.0us"}, {"100.00", "20.0us"}},
		{"ns", 0, {4230000, 56000, 316}, {"4.23ms", "56us", "316ns"}, {"4.23", "56us", "316ns"}},
		{"ns", 0, {999600, 1200}, {"1.00ms", "1.20us"}, {"1.00", "1.20us"}},
		{"ops/s", 0.1, {7294.35, 98.76, 6.5}, {"7294 ops/s", "98.8 ops/s", "6.5 ops/s"},
			{"7294", "98.8", "6.5"}},
		{"ops/s", 1, {709, 12}, {"709 ops/s", "12 ops/s"}, {"709", "12"}},
		{"B/s", 0, {12400 * MIB, 1024 * MIB}, {"12.1 GiB/s", "1 GiB/s"}, {"12.1", "1"}},
		{"B/s", 0, {9999.4 * MIB, 1.5 * MIB}, {"9999 MiB/s", "1.50 MiB/s"}, {"9999", "1.50"}},
		{"B", 0, {1.05 * GIB, 512 * MIB}, {"1.05 GiB", "0.500 GiB"}, {"1.05", "0.500"}},
		{"us/op", 0, {12.345, 0}, {"12.3 us/op", "0 us/op"}, {"12.3", "0"}},
		{"", 0, {99.96}, {"100"}, {NULL}},
	};
	char out[UNITS_LEN];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		const struct column *c = &columns[i];
		struct scale s;

		scale_init(&s, c->unit);
		for (size_t k = 0; k < 6 && c->text[k]; k++)
			scale_take(&s, c->v[k]);
		for (size_t k = 0; k < 6 && c->text[k]; k++) {
			assert_string_equal(scale_text(&s, c->v[k], c->resolution, out), c->text[k]);
			assert_string_equal(scale_number(&s, c->v[k], c->resolution, out),
				c->number[k] ? c->number[k] : c->text[k]);
		}
	}
}

static void nothing_is_a_dash(void **state)
{
	struct scale s;
	char out[UNITS_LEN];

	(void)state;
	scale_init(&s, "s");
	scale_take(&s, NAN);
	assert_string_equal(scale_text(&s, NAN, 0, out), "-");
	assert_string_equal(scale_text(&s, 0, 0, out), "0s");
	assert_string_equal(scale_text(&s, -0.0, 0, out), "0s");
}

/* What no benchmark measures, but a file may say. */
static void extremes_are_not_wrong(void **state)
{
	static const struct {
		const char *unit;
		double v;
		const char *text;
	} extremes[] = {{"ops/s", 1e-300, "1.00e-300 ops/s"}, {"ops/s", 1e300, "1.00e+300 ops/s"},
		{"s", 1e300, "1.00e+300s"}, {"s", 2e-12, "0.00200ns"}, {"s", 1e-300, "1.00e-291ns"},
		{"B/s", 1e300, "8.67e+281 EiB/s"},
		{"s", 9e14, "10416666666d16h00m00s"}, {"s", INFINITY, "infs"}};
	char out[UNITS_LEN];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(extremes); i++) {
		struct scale s;

		scale_init(&s, extremes[i].unit);
		scale_take(&s, extremes[i].v);
		assert_string_equal(scale_text(&s, extremes[i].v, 0, out), extremes[i].text);
	}
}

static void what_differs_looks_different(void **state)
{
	static const struct {
		const char *unit;
		double a, b, resolution;
		const char *a_text, *b_text;
	} pairs[] = {
		{"B/s", 101.21 * MIB, 101.36 * MIB, 0, "101.2 MiB/s", "101.4 MiB/s"},
		{"B/s", 1059.31 * MIB, 1059.34 * MIB, 0, "1059.31 MiB/s", "1059.34 MiB/s"},
		{"s", 1102.991, 1102.994, 0.001, "18m22.991s", "18m22.994s"},
		{"s", 1102.991, 1102.994, 0.01, "18m22.99s", "18m22.99s"}, /* no digit that was not read */
		{"s", 7384.1, 7384.3, 0, "2h03m04.1s", "2h03m04.3s"},
		{"ops/s", 7294, 7294.4, 0, "7294.0 ops/s", "7294.4 ops/s"},
		{"ops/s", 7294, 7294, 0, "7294 ops/s", "7294 ops/s"},
	};
	char a[UNITS_LEN], b[UNITS_LEN];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct scale s;

		scale_init(&s, pairs[i].unit);
		scale_take(&s, pairs[i].a);
		scale_take(&s, pairs[i].b);
		scale_tell_apart(&s, pairs[i].a, pairs[i].resolution, pairs[i].b, pairs[i].resolution);
		assert_string_equal(scale_text(&s, pairs[i].a, pairs[i].resolution, a), pairs[i].a_text);
		assert_string_equal(scale_text(&s, pairs[i].b, pairs[i].resolution, b), pairs[i].b_text);
	}
}

/* Digits of a number but zeros in front. */
static unsigned digits_of(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += *text >= '0' && *text <= '9' && (n || *text != '0');
	return n;
}

/* Over all magnitudes: three digits at least, not wrong by more than half of the last one, and what is 1 %
 * apart looks different. */
static void three_digits_of_everything(void **state)
{
	static const char *const units[] = {"s", "ns", "B", "B/s", "ops/s"};

	(void)state;
	for (size_t u = 0; u < ARRAY_LEN(units); u++)
		for (double v = 1.0371; v < 5e14; v *= 1.117) {
			char text[UNITS_LEN], more[UNITS_LEN];
			struct scale s;

			scale_init(&s, units[u]);
			scale_take(&s, v);
			scale_take(&s, 1.01 * v);
			scale_number(&s, v, 0, text);
			scale_number(&s, 1.01 * v, 0, more);
			if (digits_of(text) < 3 && v >= 1000)
				fail_msg("%g %s is printed as %s", v, units[u], text);
			if (digits_of(text) >= 3 && strcmp(text, more) == 0)
				fail_msg("%g and %g %s are both %s", v, 1.01 * v, units[u], text);
			if (!s.clock && fabs(strtod(text, NULL) * s.unit - v) > 0.006 * v)
				fail_msg("%g %s is printed as %s", v, units[u], text);
			if (strlen(scale_text(&s, v, 0, text)) >= UNITS_LEN - 1)
				fail_msg("%g %s is cut off", v, units[u]);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_share_a_unit),
		cmocka_unit_test(nothing_is_a_dash),
		cmocka_unit_test(extremes_are_not_wrong),
		cmocka_unit_test(what_differs_looks_different),
		cmocka_unit_test(three_digits_of_everything),
	};

	return cmocka_run_group_tests_name("scale", tests, NULL, NULL);
}
