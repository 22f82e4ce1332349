/*
 * Rule V11 in simulation: how often it calls a disk slow where all are alike, and how often it finds one
 * that is slow.
 *
 * A disk's wait in a trial is lognormal. Its deviation is such that a disk is twice as slow as its median
 * peer in 0.2 % of the trials, which is the share of disk hours that Hao et al. (The Tail at Store, FAST
 * 2016) found over 857 million of them: ln 2 / 2.878.
 */
#include "tests/unit/test.h"

#include "tests/unit/rules_kit.h"

#define SIGMA (M_LN2 / 2.878)
#define MIRROR "{pool: {level: mirror, disks: 2}}"
#define RUNS 150 /* each with two layouts */

static uint64_t state_of_dice;

static double uniform(void)
{
	uint64_t z = (state_of_dice += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	z ^= z >> 31;
	return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* The part of the rows, of `trials` trials each, in which a disk was called slow. The first disk's wait is
 * `factor` times the others'. */
static double called(int pair, unsigned trials, double factor)
{
	double waits[2][10][4];
	struct scene scene = {.n = trials, .pair = pair, .waits = waits};
	unsigned found = 0;

	for (unsigned i = 0; i < ARRAY_LEN(scene.ms); i++)
		scene.ms[i] = 1000 + 10 * i;
	if (pair)
		scene.left = scene.right = MIRROR;
	state_of_dice = 7;
	for (unsigned run = 0; run < RUNS; run++) {
		struct result_set set;
		struct analysis a;

		for (unsigned i = 0; i < 2 * 10 * 4; i++)
			waits[i / 40][i / 4 % 10][i % 4] =
				0.2 * exp(SIGMA * normal()) * (i % 4 ? 1 : factor);
		analysis_of(&scene, &set, &a);
		for (size_t i = 0; i < a.findings.n; i++)
			found += !strcmp(a.findings.v[i].rule->id, "V11") && !a.findings.v[i].unknown;
		analysis_clear(&a);
		result_set_clear(&set);
	}
	return found / (2.0 * RUNS);
}

static void equal_disks_are_seldom_called(void **state)
{
	static const unsigned trials[] = {2, 3, 5, 10};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(trials); i++)
		for (int pair = 0; pair <= 1; pair++) {
			double part = called(pair, trials[i], 1);

			if (part > 0.01)
				fail_msg("%u trials, %s: %.2f%%", trials[i],
					pair ? "two disks" : "four disks", 100 * part);
		}
}

static void a_slow_disk_is_found(void **state)
{
	(void)state;
	for (int pair = 0; pair <= 1; pair++) {
		double part = called(pair, 4, 3.5);

		if (part < 0.95)
			fail_msg("%s: found in %.1f%%", pair ? "two disks" : "four disks", 100 * part);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(equal_disks_are_seldom_called),
		cmocka_unit_test(a_slow_disk_is_found)};

	return cmocka_run_group_tests_name("slow disks", tests, NULL, NULL);
}
