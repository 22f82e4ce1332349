/* datagen: contents are reproducible, never repeat, and compress by what was asked. */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "agent/workload/datagen.h"
#include "common/base/mem.h"

#define SIZE (64 * 1024)

static void any_cut_gives_the_same_bytes(void **state)
{
	static const size_t cuts[] = {1, 7, 512, 4095, 4096, 4097, 10000, SIZE};
	struct datagen g = {.kind = DATA_RANDOM, .seed = 42};
	char *whole = xmalloc(SIZE), *part = xmalloc(SIZE);

	(void)state;
	datagen_fill(&g, 3, 8192, whole, SIZE);
	for (size_t i = 0; i < ARRAY_LEN(cuts); i++) {
		for (size_t at = 0; at < SIZE; at += cuts[i]) {
			size_t n = SIZE - at < cuts[i] ? SIZE - at : cuts[i];
			datagen_fill(&g, 3, 8192 + at, part + at, n);
		}
		assert_memory_equal(whole, part, SIZE);
	}
	free(whole);
	free(part);
}

static int compare_words(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* 2^17 random 64-bit words hold two equal ones with probability 5e-10. */
static void random_words_never_repeat_across_units_and_files(void **state)
{
	struct datagen g = {.kind = DATA_RANDOM, .seed = 1};
	size_t n = 131072;
	uint64_t *v = xmalloc(n * sizeof(*v));

	(void)state;
	datagen_fill(&g, 0, 0, v, n * 4);
	datagen_fill(&g, 1, 0, v + n / 2, n * 4);
	qsort(v, n, sizeof(*v), compare_words);
	for (size_t i = 1; i < n; i++)
		assert_true(v[i] != v[i - 1]);
	free(v);
}

/* Every byte value of 64 Ki random bytes stands 256 times, give or take 6 standard deviations. */
static void random_bytes_are_even(void **state)
{
	struct datagen g = {.kind = DATA_RANDOM, .seed = 7};
	unsigned char *p = xmalloc(SIZE);
	unsigned count[256] = {0};

	(void)state;
	datagen_fill(&g, 0, 0, p, SIZE);
	for (size_t i = 0; i < SIZE; i++)
		count[p[i]]++;
	for (size_t i = 0; i < 256; i++)
		assert_in_range(count[i], 256 - 96, 256 + 96);
	free(p);
}

static void compressible_data_has_its_share_of_zeros(void **state)
{
	static const unsigned shares[] = {0, 25, 50, 90, 100};
	unsigned char *p = xmalloc(SIZE);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(shares); i++) {
		struct datagen g = {DATA_COMPRESSIBLE, shares[i], 9};
		size_t zeros = 0;

		datagen_fill(&g, 0, 0, p, SIZE);
		for (size_t k = 0; k < SIZE; k++)
			zeros += p[k] == 0;
		/* random bytes are zero once in 256 */
		assert_in_range(zeros * 100, (size_t)SIZE * shares[i] * 99 / 100,
			(size_t)SIZE * shares[i] + SIZE);
	}
	free(p);
}

static void zeros_are_zeros(void **state)
{
	struct datagen g = {.kind = DATA_ZERO};
	char p[5000];

	(void)state;
	memset(p, 1, sizeof(p));
	datagen_fill(&g, 0, 100, p, sizeof(p));
	for (size_t i = 0; i < sizeof(p); i++)
		assert_int_equal(p[i], 0);
}

static void one_changed_byte_is_found_with_its_unit(void **state)
{
	struct datagen g = {.kind = DATA_RANDOM, .seed = 3};
	char *p = xmalloc(SIZE);
	uint64_t bad = 0;

	(void)state;
	datagen_fill(&g, 2, 4096, p, SIZE);
	assert_int_equal(datagen_verify(&g, 2, 4096, p, SIZE, &bad), 0);
	p[20000] ^= 1;
	assert_int_equal(datagen_verify(&g, 2, 4096, p, SIZE, &bad), -1);
	assert_int_equal(bad, 4096 + 16384);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_cut_gives_the_same_bytes),
		cmocka_unit_test(random_words_never_repeat_across_units_and_files),
		cmocka_unit_test(random_bytes_are_even),
		cmocka_unit_test(compressible_data_has_its_share_of_zeros),
		cmocka_unit_test(zeros_are_zeros),
		cmocka_unit_test(one_changed_byte_is_found_with_its_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
