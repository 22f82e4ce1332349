/*
 * Verification proved by damage: blocks are flipped, swapped, zeroed and put back under the engine,
 * and each time it says what it found, where.
 */
#include "tests/unit/random_kit.h"

#include <math.h>

#include "agent/workload/random_pick.h"

#define BLOCK 4096
#define BLOCKS 64

static const char *const engines[] = {"pread", "io_uring, depth: 8"};

#define FOR_ENGINES(i) for (unsigned i = 0; i < ARRAY_LEN(engines) && (i == 0 || kit_has_uring()); i++)

static char first[BLOCKS * BLOCK]; /* of w.random.1 as it was laid out */

static void copy(struct kit *k, const char *file, void *b, size_t len, off_t at, int writes)
{
	int fd = kit_file(k, file);

	assert_int_equal(writes ? pwrite(fd, b, len, at) : pread(fd, b, len, at), len);
	close(fd);
}

static void remember(struct kit *k)
{
	copy(k, "w.random.1", first, sizeof(first), 0, 0);
}

/* ---- the damage, all at block 5 of the second file, byte 20480 ---- */

static void no_damage(struct kit *k)
{
	(void)k;
}

static void zero_it(struct kit *k)
{
	char b[BLOCK] = {0};

	copy(k, "w.random.2", b, BLOCK, 5 * BLOCK, 1);
}

static void flip_a_bit_of_the_head(struct kit *k)
{
	char c;

	copy(k, "w.random.2", &c, 1, 5 * BLOCK + 17, 0);
	c ^= 4;
	copy(k, "w.random.2", &c, 1, 5 * BLOCK + 17, 1);
}

static void flip_the_last_bit(struct kit *k)
{
	char c;

	copy(k, "w.random.2", &c, 1, 6 * BLOCK - 1, 0);
	c ^= 1;
	copy(k, "w.random.2", &c, 1, 6 * BLOCK - 1, 1);
}

static void take_a_neighbours(struct kit *k)
{
	char b[BLOCK];

	copy(k, "w.random.2", b, BLOCK, 9 * BLOCK, 0);
	copy(k, "w.random.2", b, BLOCK, 5 * BLOCK, 1);
}

static void take_another_files(struct kit *k)
{
	char b[BLOCK];

	copy(k, "w.random.1", b, BLOCK, 5 * BLOCK, 0);
	copy(k, "w.random.2", b, BLOCK, 5 * BLOCK, 1);
}

static void write_garbage(struct kit *k)
{
	char b[BLOCK];

	memset(b, 0xa7, BLOCK);
	copy(k, "w.random.2", b, BLOCK, 5 * BLOCK, 1);
}

static void half_of_another(struct kit *k)
{
	char b[BLOCK];

	copy(k, "w.random.2", b, BLOCK, 9 * BLOCK, 0);
	copy(k, "w.random.2", b + BLOCK / 2, BLOCK / 2, 5 * BLOCK + BLOCK / 2, 1);
}

static void cut_it(struct kit *k)
{
	int fd = kit_file(k, "w.random.2");

	assert_int_equal(ftruncate(fd, 5 * BLOCK), 0);
	close(fd);
}

static const struct {
	void (*damage)(struct kit *k);
	const char *says;
} damages[] = {
	{no_damage, NULL},
	{zero_it, "at byte 20480: found zeros where generation %u was written"},
	{flip_a_bit_of_the_head, "at byte 20480: found garbage ("},
	{flip_the_last_bit, "at byte 20480: found the head of generation %u with other contents"},
	{half_of_another, "at byte 20480: found the head of generation %u with other contents"},
	{take_a_neighbours,
		"at byte 20480: found the block of byte 36864 of 'w.random.2' (generation %u)"},
	{take_another_files,
		"at byte 20480: found the block of byte 20480 of 'w.random.1' (generation %u)"},
	{write_garbage, "at byte 20480: found garbage (a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7…) where "
			"generation %u was written"},
};

static void expect(struct kit *k, unsigned i, int rc, unsigned generation)
{
	char text[200];

	if (!damages[i].says) {
		assert_ok(rc, k->e);
		return;
	}
	assert_int_equal(rc, -1);
	assert_int_equal(k->e.code, ERR_IO);
	assert_has(k->e.text, "'w.random.2' in /tmp/arraymark-random-");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof(text), damages[i].says, generation);
#pragma GCC diagnostic pop
	assert_has(k->e.text, text);
}

static void plan_of(struct kit *k, const char *engine, const char *options)
{
	char *text = xasprintf("  w: {random: {engine: %s, size: 512K, files: 2, verify: true, %s}}\n",
		engine, options);

	kit_plan(k, text);
	free(text);
}

static void a_read_checks_as_it_reads(void **state)
{
	struct kit *k = *state;

	FOR_ENGINES(g) for (unsigned i = 0; i < ARRAY_LEN(damages); i++) {
		plan_of(k, engines[g], "op: read");
		k->spec.seed = 100 * (g + 1) + i; /* of another trial, so the files are made anew */
		k->before = damages[i].damage;
		expect(k, i, kit_run(k, 0), 1);
	}
}

/* The last sample is cut when all is written and synced, and before it is read again. */
static void a_write_is_checked_at_its_end(void **state)
{
	struct kit *k = *state;

	FOR_ENGINES(g) for (unsigned i = 0; i < ARRAY_LEN(damages); i++) {
		plan_of(k, engines[g], i % 2 ? "op: write, data: zero" : "op: write, threads: 3");
		k->at_sample = damages[i].damage;
		expect(k, i, kit_run(k, 0), 2);
	}
}

static void put_back(struct kit *k)
{
	copy(k, "w.random.1", first + 7 * BLOCK, BLOCK, 7 * BLOCK, 1);
}

static void a_lost_write_shows_as_an_old_generation(void **state)
{
	struct kit *k = *state;

	FOR_ENGINES(g) {
		plan_of(k, engines[g], "op: write");
		k->before = remember;
		k->at_sample = put_back;
		assert_int_equal(kit_run(k, 0), -1);
		assert_has(k->e.text, "'w.random.1' in ");
		assert_has(k->e.text, "at byte 28672: found an old generation, 1 where 2 was written "
				      "last: a write was lost");
	}
}

static void blocks_of_another_trial_are_told(void **state)
{
	struct kit *k = *state;

	plan_of(k, "pread", "op: write");
	k->before = remember;
	assert_ok(kit_run(k, 0), k->e);
	k->spec.seed = 8;
	k->before = NULL;
	k->at_sample = put_back;
	assert_int_equal(kit_run(k, 0), -1);
	assert_has(k->e.text, "at byte 28672: found a block of another trial");
}

static void a_file_that_became_shorter_is_told(void **state)
{
	struct kit *k = *state;

	plan_of(k, "pread", "op: write");
	k->at_sample = cut_it;
	assert_int_equal(kit_run(k, 0), -1);
	assert_has(k->e.text, "'w.random.2' in ");
	assert_has(k->e.text, "ends at byte 20480: it was longer");
}

/* Many writes to few blocks, several under way: generations never get confused. */
static void verified_writes_may_overlap_in_time(void **state)
{
	struct kit *k = *state;

	FOR_ENGINES(g) {
		plan_of(k, engines[g],
			"op: mixed, reads: 50%, ops: 20000, threads: 16, distribution: zipf:1.2");
		assert_ok(kit_run(k, 0), k->e);
		assert_int_equal(k->r->ops, 20000);
	}
}

/* ---- which block comes next ---- */

static void each_once_is_a_permutation(void **state)
{
	static const uint64_t sizes[] = {1, 2, 3, 4, 5, 63, 64, 65, 1000, 4097};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		char *seen = xcalloc(sizes[i], 1);
		struct picker p;
		unsigned in_place = 0;

		picker_init(&p, PICK_EACH_ONCE, i + 5, 100, sizes[i], 0);
		for (uint64_t k = 0; k < sizes[i]; k++) {
			uint64_t b = picker_next(&p);

			assert_in_range(b, 100, 99 + sizes[i]);
			assert_false(seen[b - 100]++);
			in_place += b - 100 == k;
		}
		assert_true(picker_next(&p) == PICK_NONE);
		assert_true(sizes[i] < 60 || in_place < 10); /* one is expected */
		free(seen);
	}
}

static void uniform_draws_fill_the_range_evenly(void **state)
{
	unsigned count[16] = {0};
	struct picker p;

	(void)state;
	picker_init(&p, PICK_UNIFORM, 1, 32, 16, 0);
	for (unsigned i = 0; i < 160000; i++)
		count[picker_next(&p) - 32]++;
	for (unsigned i = 0; i < 16; i++) /* 10,000 each, standard deviation 97 */
		assert_in_range(count[i], 9500, 10500);
}

/* Counts, sorted, against n * r^-s / sum of r^-s, within five standard deviations. */
static int more(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x < y) - (x > y);
}

static void zipf_follows_its_law(void **state)
{
	static const double exponents[] = {0.5, 0.99, 1.0, 1.1, 2.0};
	enum { RANGE = 200, DRAWS = 400000 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(exponents); i++) {
		unsigned count[RANGE] = {0};
		double sum = 0;
		struct picker p;

		picker_init(&p, PICK_ZIPF, 3, 0, RANGE, exponents[i]);
		for (unsigned k = 0; k < DRAWS; k++)
			count[picker_next(&p)]++;
		qsort(count, RANGE, sizeof(count[0]), more);
		for (unsigned r = 1; r <= RANGE; r++)
			sum += pow(r, -exponents[i]);
		for (unsigned r = 1; r <= 4; r++) {
			double want = DRAWS * pow(r, -exponents[i]) / sum;

			assert_true(fabs(count[r - 1] - want) < 5 * sqrt(want));
		}
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, kit_open, kit_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_read_checks_as_it_reads),
		TEST(a_write_is_checked_at_its_end),
		TEST(a_lost_write_shows_as_an_old_generation),
		TEST(blocks_of_another_trial_are_told),
		TEST(a_file_that_became_shorter_is_told),
		TEST(verified_writes_may_overlap_in_time),
		cmocka_unit_test(each_once_is_a_permutation),
		cmocka_unit_test(uniform_draws_fill_the_range_evenly),
		cmocka_unit_test(zipf_follows_its_law),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
