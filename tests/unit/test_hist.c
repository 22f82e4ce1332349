/* hist: bucket layout, percentiles against sorted data, merging, wire form and its refusals. */
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/measure/hist.h"

#define VALUES 20000

/* xorshift64: the same numbers on each machine. */
static uint64_t next_random(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static double next_unit(uint64_t *s)
{
	return ((double)(next_random(s) >> 11) + 0.5) / 9007199254740992.0;
}

static void buckets_tile_the_range(void **state)
{
	(void)state;
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		uint64_t low = hist_bucket_low(i), mid = hist_bucket_mid(i);

		assert_int_equal(hist_index(low), i);
		assert_int_equal(hist_index(mid), i);
		if (i > 0)
			assert_int_equal(hist_index(low - 1), i - 1);
		if (i + 1 < HIST_BUCKETS) {
			uint64_t high = hist_bucket_low(i + 1) - 1;

			assert_int_equal(hist_index(high), i);
			assert_true((double)(mid - low) <= 0.0079 * (double)low);
			assert_true((double)(high - mid) <= 0.0079 * (double)high);
		}
	}
	assert_int_equal(hist_index(0), 0);
	assert_int_equal(hist_index(127), 127);
	assert_int_equal(hist_index(128), 128);
	assert_int_equal(hist_index((1ULL << 42) - 1), HIST_BUCKETS - 1);
	assert_int_equal(hist_index(1ULL << 42), HIST_BUCKETS - 1);
	assert_int_equal(hist_index(UINT64_MAX), HIST_BUCKETS - 1);
}

static uint64_t uniform(uint64_t *s)
{
	return next_random(s) % 10000000;
}

static uint64_t exponential(uint64_t *s)
{
	return (uint64_t)(-log(next_unit(s)) * 200000);
}

static uint64_t lognormal(uint64_t *s)
{
	double n = sqrt(-2 * log(next_unit(s))) * cos(2 * 3.141592653589793 * next_unit(s));

	return (uint64_t)exp(11 + 2 * n);
}

static uint64_t two_peaks(uint64_t *s)
{
	return next_random(s) % 10 ? 90000 + next_random(s) % 1000
				   : 8000000 + next_random(s) % 99999;
}

static uint64_t tiny(uint64_t *s)
{
	return next_random(s) % 100;
}

/* From 1 ns to 1 h, every octave alike. */
static uint64_t any_size(uint64_t *s)
{
	return (uint64_t)exp(next_unit(s) * log(3600e9));
}

/* On the edges of the buckets, where they are widest for what they hold. */
static uint64_t edges(uint64_t *s)
{
	uint64_t power = 1ULL << (7 + next_random(s) % 34);

	return power + (power >> 6) * (next_random(s) % 64) - next_random(s) % 2;
}

/* Tails without a mean: one in a hundred is a thousand times the median. */
static uint64_t pareto(uint64_t *s)
{
	double v = 20000 * pow(next_unit(s), -1.5);

	return v < 3600e9 ? (uint64_t)v : 3600000000000;
}

/* Mostly one value, and an hour now and then: at rank 0.999 it is one or the other. */
static uint64_t stalls(uint64_t *s)
{
	return next_random(s) % 1000 ? 50000 : 3600000000000;
}

static uint64_t constant(uint64_t *s)
{
	(void)s;
	return 123456789;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void percentiles_match_sorted_data(void **state)
{
	static uint64_t (*const shapes[])(uint64_t *) = {
		uniform, exponential, lognormal, two_peaks, tiny, any_size, edges, pareto, stalls,
		constant};
	static const double ps[] = {0, 0.001, 0.01, 0.07, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999, 1};
	uint64_t *values = xcalloc(VALUES, sizeof(*values)), seed = 88172645463325252ULL;
	struct hist *h = xmalloc(sizeof(*h));

	(void)state;
	for (size_t k = 0; k < ARRAY_LEN(shapes); k++) {
		uint64_t sum = 0;

		hist_clear(h);
		for (size_t i = 0; i < VALUES; i++) {
			values[i] = shapes[k](&seed);
			sum += values[i];
			hist_add(h, values[i]);
		}
		qsort(values, VALUES, sizeof(*values), compare);
		assert_int_equal(h->count, VALUES);
		assert_int_equal(h->sum, sum);
		assert_int_equal(h->min, values[0]);
		assert_int_equal(h->max, values[VALUES - 1]);
		assert_true(fabs(hist_mean(h) - (double)sum / VALUES) < 1e-6 * (double)sum);
		for (size_t i = 0; i < ARRAY_LEN(ps); i++) {
			size_t rank = (size_t)ceil(ps[i] * VALUES - 1e-9);
			double want = (double)values[rank ? rank - 1 : 0];
			double got = (double)hist_percentile(h, ps[i]);

			if (fabs(got - want) > 0.01 * want)
				fail_msg("shape %zu p %g: %.0f instead of %.0f", k, ps[i], got,
					want);
		}
	}
	free(values);
	free(h);
}

/* Values below 128 are exact, so ranks can be checked to the number. */
static void ranks_are_exact(void **state)
{
	static const struct {
		double p;
		uint64_t value;
	} cases[] = {{0, 1}, {0.01, 1}, {0.07, 7}, {0.071, 8}, {0.29, 29}, {0.5, 50}, {0.57, 57},
		{0.58, 58}, {0.99, 99}, {0.991, 100}, {1, 100}, {2, 100}, {-1, 1}};
	struct hist *h = xcalloc(1, sizeof(*h));

	(void)state;
	assert_int_equal(hist_percentile(h, 0.5), 0);
	assert_true(hist_mean(h) == 0);
	for (uint64_t v = 1; v <= 100; v++)
		hist_add(h, v);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(hist_percentile(h, cases[i].p), cases[i].value);
	assert_int_equal(hist_percentile(h, NAN), 1);
	free(h);
}

static void extremes(void **state)
{
	struct hist *h = xcalloc(1, sizeof(*h));

	(void)state;
	hist_add(h, UINT64_MAX);
	hist_add(h, 5);
	assert_true(h->max == UINT64_MAX && h->min == 5 && h->sum == UINT64_MAX);
	assert_int_equal(hist_percentile(h, 0.1), 5);
	hist_clear(h);
	hist_add(h, 1000000);
	assert_int_equal(hist_percentile(h, 0.5), 1000000);
	hist_add_n(h, 7, 0);
	assert_int_equal(h->min, 1000000);
	hist_add_n(h, 3, 10);
	assert_int_equal(h->count, 11);
	assert_int_equal(h->sum, 1000030);
	hist_add_n(h, 1ULL << 41, UINT64_MAX);
	assert_true(h->count == UINT64_MAX && h->sum == UINT64_MAX);
	free(h);
}

static void merging_equals_adding_all(void **state)
{
	struct hist *a = xcalloc(1, sizeof(*a)), *b = xcalloc(1, sizeof(*b)),
		    *both = xcalloc(1, sizeof(*both));
	uint64_t seed = 42;

	(void)state;
	for (int i = 0; i < 5000; i++) {
		uint64_t v = lognormal(&seed);

		hist_add(i % 3 ? a : b, v);
		hist_add(both, v);
	}
	hist_merge(a, b);
	assert_memory_equal(a, both, sizeof(*a));
	hist_clear(b);
	hist_merge(a, b);
	assert_memory_equal(a, both, sizeof(*a));
	hist_merge(b, a);
	assert_memory_equal(b, both, sizeof(*a));
	free(a);
	free(b);
	free(both);
}

static void the_wire_form_comes_back(void **state)
{
	struct hist *h = xcalloc(1, sizeof(*h)), *back = xmalloc(sizeof(*back));
	struct buf bytes = {0};
	uint64_t seed = 7;
	struct err e;

	(void)state;
	hist_encode(h, &bytes);
	assert_int_equal(bytes.len, 4);
	assert_ok(hist_decode(bytes.data, bytes.len, back, &e), e);
	assert_memory_equal(h, back, sizeof(*h));
	for (int i = 0; i < 20000; i++) {
		hist_add(h, i % 2 ? lognormal(&seed) : next_random(&seed) >> (i % 64));
		if (i % 997)
			continue;
		memset(back, 0xff, sizeof(*back));
		buf_reset(&bytes);
		hist_encode(h, &bytes);
		assert_ok(hist_decode(bytes.data, bytes.len, back, &e), e);
		assert_memory_equal(h, back, sizeof(*h));
	}
	free(h);
	free(back);
	buf_free(&bytes);
}

/* A second of 20,000 writes around 50 us must stay small: that is what the sparse form is for. */
static void a_usual_sample_is_small(void **state)
{
	struct hist *h = xcalloc(1, sizeof(*h));
	struct buf bytes = {0};
	uint64_t seed = 3;

	(void)state;
	for (int i = 0; i < 20000; i++)
		hist_add(h, 50000 + exponential(&seed) / 10);
	hist_encode(h, &bytes);
	assert_true(bytes.len < 1000);
	free(h);
	buf_free(&bytes);
}

static void damaged_bytes_are_refused(void **state)
{
	/* count, sum, min, max, then step and count of each bucket; steps count from -1. */
	static const struct {
		const char *bytes;
		size_t len;
		const char *says;
	} cases[] = {
		{"", 0, "no bytes"},
		{"\x00\x00\x00", 3, "cut off"},
		{"\x80", 1, "cut off"},
		{"\x01\x05\x05\x05", 4, "do not add up"},
		{"\x01\x05\x05\x05\x06\x02", 6, "do not add up"},
		{"\x02\x0a\x05\x05\x06\x01", 6, "do not add up"},
		{"\x01\x05\x05\x05\x06\x01\x01", 7, "cut off"},
		{"\x01\x05\x05\x05\x06\x01\x01\x01", 8, "do not add up"},
		{"\x01\x05\x05\x05\x00\x01", 6, "out of range"},
		{"\x01\x05\x05\x05\x06\x00", 6, "do not add up"},
		{"\x01\x05\x05\x05\xc1\x12\x01", 7, "out of range"},
		{"\x01\x05\x05\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01", 15,
			"out of range"},
		{"\x01\x05\x05\x05\x07\x01", 6, "outside the buckets"},
		{"\x01\x05\x06\x05\x06\x01", 6, "outside the buckets"},
		{"\x01\x05\x04\x05\x06\x01", 6, "outside the buckets"},
		{"\x01\x06\x05\x05\x06\x01", 6, "sum does not fit"},
		{"\x02\x09\x05\x05\x06\x02", 6, "sum does not fit"},
		{"\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x05\x05\x06\x01", 15,
			"sum does not fit"},
		{"\x00\x01\x00\x00", 4, "empty but has sums"},
		{"\x00\x00\x00\x00\x01\x00", 6, "do not add up"},
		{"\x81\x00\x05\x05\x05\x06\x01", 7, "malformed"},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x05\x05\x05\x06\x01", 15, "malformed"},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x05\x05\x05", 14, "malformed"},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x05\x05\x05\x06\x01", 15,
			"count is impossible"},
	};
	struct hist *h = xmalloc(sizeof(*h)), *same = xmalloc(sizeof(*same));
	struct err e;

	(void)state;
	memset(h, 0x5a, sizeof(*h));
	memset(same, 0x5a, sizeof(*same));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		if (hist_decode(cases[i].bytes, cases[i].len, h, &e) != -1)
			fail_msg("case %zu is taken", i);
		assert_int_equal(e.code, ERR_PROTOCOL);
		assert_has(e.text, cases[i].says);
		assert_memory_equal(h, same, sizeof(*h));
	}
	assert_ok(hist_decode("\x01\x05\x05\x05\x06\x01", 6, h, &e), e);
	assert_int_equal(h->bucket[5], 1);
	assert_int_equal(h->lo, 5);
	assert_int_equal(h->hi, 6);
	free(h);
	free(same);
}

/* Whatever decodes must encode to the very same bytes; nothing may be read beyond the end. */
static void random_damage_never_passes_changed(void **state)
{
	struct hist *h = xcalloc(1, sizeof(*h));
	struct buf good = {0}, again = {0};
	uint64_t seed = 99;
	struct err e;
	unsigned refused = 0;

	(void)state;
	for (int i = 0; i < 300; i++)
		hist_add(h, lognormal(&seed));
	hist_encode(h, &good);
	for (int i = 0; i < 20000; i++) {
		size_t len = i % 2 ? good.len : next_random(&seed) % (good.len + 1);
		char *bad = xmemdup(good.data, len);

		if (len)
			bad[next_random(&seed) % len] ^= (char)(1 << next_random(&seed) % 8);
		if (hist_decode(bad, len, h, &e) == 0) {
			buf_reset(&again);
			hist_encode(h, &again);
			assert_int_equal(again.len, len);
			assert_memory_equal(again.data, bad, len);
		} else {
			refused++;
		}
		free(bad);
	}
	assert_true(refused > 15000);
	free(h);
	buf_free(&good);
	buf_free(&again);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_tile_the_range),
		cmocka_unit_test(percentiles_match_sorted_data),
		cmocka_unit_test(ranks_are_exact),
		cmocka_unit_test(extremes),
		cmocka_unit_test(merging_equals_adding_all),
		cmocka_unit_test(the_wire_form_comes_back),
		cmocka_unit_test(a_usual_sample_is_small),
		cmocka_unit_test(damaged_bytes_are_refused),
		cmocka_unit_test(random_damage_never_passes_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
