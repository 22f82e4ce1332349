/* units: what parses to what, what is refused, how numbers look. Known answers are arithmetic. */
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "common/base/mem.h"
#include "common/base/units.h"

#define WRONG INT64_MIN

typedef int (*parser)(const char *, int64_t *, struct err *);

struct number_case {
	const char *in;
	int64_t out;
};

static void check_numbers(parser parse, const struct number_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t got = WRONG;
		struct err e;
		int status = parse(cases[i].in, &got, &e);

		if (got != cases[i].out)
			fail_msg("'%s' gives %lld", cases[i].in, (long long)got);
		assert_int_equal(status, cases[i].out == WRONG ? -1 : 0);
		if (status)
			assert_true(e.code == ERR_INPUT && e.text[0]);
	}
}

static void sizes(void **state)
{
	static const struct number_case cases[] = {
		{"0", 0},
		{"512", 512},
		{"512B", 512},
		{"64K", 65536},
		{"1M", 1048576},
		{"30G", 32212254720},
		{"30GB", 30000000000},
		{"8KB", 8000},
		{"2T", 2199023255552},
		{"2TB", 2000000000000},
		{"1P", 1125899906842624},
		{"1PB", 1000000000000000},
		{"1.5G", 1610612736},
		{"1.5GiB", 1610612736},
		{"0.5K", 512},
		{"1.3K", 1331},
		{"9223372036854775807", INT64_MAX},
		{"8191P", 9222246136947933184},
		{"8192P", WRONG},
		{"9223372036854775808", WRONG},
		{"18446744073709551616", WRONG},
		{"99999999999999999999999999", WRONG},
		{"1.5", WRONG},
		{"", WRONG},
		{"K", WRONG},
		{"64k", WRONG},
		{"64 K", WRONG},
		{" 64K", WRONG},
		{"64K ", WRONG},
		{"-1K", WRONG},
		{"+1K", WRONG},
		{"1.K", WRONG},
		{".5K", WRONG},
		{"1..5K", WRONG},
		{"1,5K", WRONG},
		{"1e3", WRONG},
		{"0x10", WRONG},
		{"1.0000000000000001K", WRONG},
		{"10Q", WRONG},
		{"1KK", WRONG},
	};

	(void)state;
	check_numbers(units_parse_size, cases, ARRAY_LEN(cases));
}

static void times(void **state)
{
	static const struct number_case cases[] = {
		{"0s", 0},
		{"500ms", 500000000},
		{"30s", 30000000000},
		{"5m", 300000000000},
		{"2h", 7200000000000},
		{"3d", 259200000000000},
		{"1.5h", 5400000000000},
		{"0.25s", 250000000},
		{"3653d", 3653LL * 86400 * NS_PER_S},
		{"3654d", WRONG},
		{"18446744073709551615d", WRONG},
		{"5", WRONG},
		{"1h30m", WRONG},
		{"5 m", WRONG},
		{"-5m", WRONG},
		{"5min", WRONG},
		{"5M", WRONG},
		{"", WRONG},
	};

	(void)state;
	check_numbers(units_parse_time, cases, ARRAY_LEN(cases));
}

static int parse_small_int(const char *s, int64_t *ret, struct err *e)
{
	return units_parse_int(s, -5, 100, ret, e);
}

static void integers(void **state)
{
	static const struct number_case cases[] = {
		{"0", 0},
		{"100", 100},
		{"-5", -5},
		{"007", 7},
		{"101", WRONG},
		{"-6", WRONG},
		{"", WRONG},
		{"-", WRONG},
		{"+5", WRONG},
		{" 5", WRONG},
		{"5 ", WRONG},
		{"5.0", WRONG},
		{"0x5", WRONG},
		{"99999999999999999999", WRONG},
		{"-99999999999999999999", WRONG},
	};
	int64_t v;
	struct err e;

	(void)state;
	check_numbers(parse_small_int, cases, ARRAY_LEN(cases));
	assert_ok(units_parse_int("-9223372036854775808", INT64_MIN, INT64_MAX, &v, &e), e);
	assert_true(v == INT64_MIN);
	assert_int_equal(units_parse_int("9223372036854775808", INT64_MIN, INT64_MAX, &v, &e), -1);
	assert_has(e.text, "out of range");
}

static void doubles_and_percents(void **state)
{
	static const char *const bad[] = {"", "nan", "inf", "1,5", "0x1p3", "1e999", "1.5x", " 1",
		"+1", ".", "e5", "-", "--1"};
	static const char *const bad_percents[] = {"2", "%", "101%", "-1%", "2 %", "x%",
		"1111111111111111111111111111111111111%", "nan%", "2%%"};
	double v = -7;
	struct err e;

	(void)state;
	assert_ok(units_parse_double("-1.5e2", &v, &e), e);
	assert_true(v == -150);
	v = -7;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (units_parse_double(bad[i], &v, &e) != -1)
			fail_msg("'%s' is taken as a number", bad[i]);
	for (size_t i = 0; i < ARRAY_LEN(bad_percents); i++)
		if (units_parse_percent(bad_percents[i], &v, &e) != -1)
			fail_msg("'%s' is taken as a percentage", bad_percents[i]);
	assert_true(v == -7);
	assert_ok(units_parse_percent("2%", &v, &e), e);
	assert_true(v == 0.02);
	assert_ok(units_parse_percent("12.5%", &v, &e), e);
	assert_true(v == 0.125);
	assert_ok(units_parse_percent("100%", &v, &e), e);
	assert_true(v == 1);
}

static void sizes_as_text(void **state)
{
	static const struct {
		int64_t bytes;
		const char *text;
	} cases[] = {
		{0, "0 B"},
		{512, "512 B"},
		{1023, "1023 B"},
		{1024, "1 KiB"},
		{1536, "1.5 KiB"},
		{65536, "64 KiB"},
		{1048575, "1 MiB"},
		{1610612736, "1.5 GiB"},
		{102297, "99.9 KiB"},
		{1127428915, "1.05 GiB"},
		{1073741824LL * 1021, "1021 GiB"},
		{1073741824LL * 1024, "1 TiB"},
		{102400, "100 KiB"},
		{INT64_MAX, "8 EiB"},
		{-1536, "-1.5 KiB"},
		{INT64_MIN, "-8 EiB"},
	};
	/* 30720 MiB in 28, 30 and 29 s among them */
	static const struct {
		double mib;
		const char *text;
	} rates[] = {
		{1097.142857, "1097 MiB/s"},
		{1024, "1024 MiB/s"},
		{1059.310344, "1059 MiB/s"},
		{9999.4, "9999 MiB/s"},
		{9999.6, "9.77 GiB/s"},
		{12400, "12.1 GiB/s"},
		{99.96, "100 MiB/s"},
		{1.5, "1.5 MiB/s"},
		{1.234, "1.23 MiB/s"},
		{0.5, "512 KiB/s"},
		{9, "9 MiB/s"},
		{0.01, "10.2 KiB/s"},
	};
	char out[UNITS_LEN];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(units_size(cases[i].bytes, out), cases[i].text);
	assert_string_equal(units_rate(549.0 * 1048576, out), "549 MiB/s");
	for (size_t i = 0; i < ARRAY_LEN(rates); i++)
		assert_string_equal(units_rate(rates[i].mib * 1048576, out), rates[i].text);
	assert_string_equal(units_rate(0, out), "0 B/s");
	assert_string_equal(units_rate(300.4, out), "300 B/s");
	assert_string_equal(units_rate(NAN, out), "-");
	assert_string_equal(units_rate(INFINITY, out), "-");
	assert_string_equal(units_rate(1e30, out), "-");
}

static void numbers_as_text(void **state)
{
	static const struct {
		double v;
		int digits;
		const char *text;
	} cases[] = {{1150287872, 9, "1150287872"}, {12400.4, 4, "12400"}, {547.64, 4, "547.6"}, {56, 9, "56"},
		{524.251, 9, "524.251"}, {555.487333333, 9, "555.487333"}, {0, 4, "0"}, {-1.25, 3, "-1.25"},
		{1e300, 4, "1e+300"}, {1e-300, 4, "1e-300"}};
	char out[UNITS_LEN];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(units_number(cases[i].v, cases[i].digits, out), cases[i].text);
}

static void durations_as_text(void **state)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
		{0, "0s"},
		{12, "12ns"},
		{1500, "1.5us"},
		{56000, "56us"},
		{56 * NS_PER_MS, "56ms"},
		{56 * NS_PER_MS + 400000, "56.4ms"},
		{12345, "12.3us"},
		{99949, "99.9us"},
		{99950, "100us"},
		{123456, "123us"},
		{4200000, "4.2ms"},
		{9960000, "9.96ms"},
		{9996000, "10ms"},
		{1140000, "1.14ms"},
		{999499999, "999ms"},
		{999999999, "1.00s"},
		{3210000000, "3.21s"},
		{30 * NS_PER_S, "30s"},
		{59999999999, "1m00.00s"},
		{1102990000000, "18m22.99s"},
		{300 * NS_PER_S, "5m00s"},
		{3599999999999, "1h00m00s"},
		{7384 * NS_PER_S, "2h03m04s"},
		{90061 * NS_PER_S, "1d01h01m"},
		{-3210000000, "-3.21s"},
		{INT64_MIN, "-106751d23h47m"},
	};
	char out[UNITS_LEN];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(units_duration(cases[i].ns, out), cases[i].text);
}

/* 1796042282 is 2026-11-30 12:38:02 UTC: date -u -d @1796042282. */
static void wall_time(void **state)
{
	char out[UNITS_LEN];

	(void)state;
	assert_string_equal(units_wall_rfc3339(0, out), "1970-01-01T00:00:00.000Z");
	assert_string_equal(units_wall_rfc3339(-1, out), "1969-12-31T23:59:59.999Z");
	assert_string_equal(
		units_wall_rfc3339(1796042282123999999, out), "2026-11-30T12:38:02.123Z");
	assert_string_equal(units_wall_rfc3339(INT64_MAX, out), "2262-04-11T23:47:16.854Z");
	setenv("TZ", "XST-2", 1);
	tzset();
	assert_string_equal(units_wall(0, out), "1970-01-01 02:00:00");
	unsetenv("TZ");
	tzset();
}

static void clocks(void **state)
{
	int64_t a = clock_mono_ns(), b = clock_mono_ns();

	(void)state;
	assert_true(a > 0 && b >= a);
	assert_true(llabs(clock_wall_ns() / NS_PER_S - (int64_t)time(NULL)) <= 2);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),
		cmocka_unit_test(times),
		cmocka_unit_test(integers),
		cmocka_unit_test(doubles_and_percents),
		cmocka_unit_test(sizes_as_text),
		cmocka_unit_test(numbers_as_text),
		cmocka_unit_test(durations_as_text),
		cmocka_unit_test(wall_time),
		cmocka_unit_test(clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
