/*
 * The table of the job's state machine: what may follow what, as properties that a wrong entry
 * breaks.
 */
#include "tests/unit/test.h"

#include "agent/job.h"

/* What can be reached from a phase by legal moves, as a bitmask with the phase itself. */
static unsigned reach(enum job_phase from)
{
	unsigned seen = 1u << from, before;

	do {
		before = seen;
		for (int p = 0; p < JOB_PHASE_COUNT; p++)
			for (int q = 0; q < JOB_PHASE_COUNT; q++)
				if ((seen & (1u << p)) && job_phase_may_follow(p, q))
					seen |= 1u << q;
	} while (seen != before);
	return seen;
}

static void test_names(void **state)
{
	(void)state;
	for (int p = 0; p < JOB_PHASE_COUNT; p++) {
		assert_non_null(job_phase_name(p));
		for (int q = 0; q < p; q++)
			assert_string_not_equal(job_phase_name(p), job_phase_name(q));
	}
}

static void test_all_phases_are_used(void **state)
{
	(void)state;
	assert_int_equal(reach(JOB_NEW), (1u << JOB_PHASE_COUNT) - 1);
}

static void test_every_phase_can_end(void **state)
{
	(void)state;
	for (int p = 0; p < JOB_PHASE_COUNT; p++)
		assert_true(reach(p) & (1u << JOB_ENDED));
	for (int q = 0; q < JOB_PHASE_COUNT; q++)
		assert_false(job_phase_may_follow(JOB_ENDED, q));
}

/* Without this phase, is `to` out of reach? */
static int must_pass(enum job_phase from, enum job_phase through, enum job_phase to)
{
	unsigned seen = 1u << from, before;

	do {
		before = seen;
		for (int p = 0; p < JOB_PHASE_COUNT; p++)
			for (int q = 0; q < JOB_PHASE_COUNT; q++)
				if (p != (int)through && (seen & (1u << p)) &&
					job_phase_may_follow(p, q))
					seen |= 1u << q;
	} while (seen != before);
	return !(seen & (1u << to));
}

static void test_safety(void **state)
{
	(void)state;
	/* nothing ends without the look at what is left, from whatever was begun */
	for (int p = 0; p < JOB_CLEAR; p++)
		assert_true(must_pass(p, JOB_CLEAR, JOB_ENDED));
	/* what is looked at before the first build is not looked at again */
	for (int p = JOB_AWAIT_UNIT; p < JOB_PHASE_COUNT; p++)
		assert_false(reach(p) & (1u << JOB_INPUTS));
	/* a worker runs only after the cache state and the mount's identity were seen to */
	assert_true(must_pass(JOB_NEW, JOB_CACHE, JOB_RUN));
	assert_true(must_pass(JOB_NEW, JOB_PREPARE, JOB_RUN));
	/* a worker's end is awaited before anything is taken down */
	assert_true(must_pass(JOB_RUN, JOB_ENDING, JOB_TEARDOWN));
	assert_true(must_pass(JOB_RUN, JOB_ENDING, JOB_CLEAR));
	assert_true(must_pass(JOB_AWAIT_TRIAL, JOB_ENDING, JOB_CLEAR));
	/* nothing is built or run after the last teardown */
	assert_int_equal(reach(JOB_CLEAR),
		(1u << JOB_CLEAR) | (1u << JOB_AFTER) | (1u << JOB_ENDED));
}

static void test_table(void **state)
{
	static const struct {
		enum job_phase from, to;
		int legal;
	} cases[] = {
		{JOB_NEW, JOB_INSPECT, 1},
		{JOB_NEW, JOB_RUN, 0},
		{JOB_INSPECT, JOB_BEFORE, 1},
		{JOB_BEFORE, JOB_INPUTS, 1},
		{JOB_INPUTS, JOB_BUILD, 1},
		{JOB_INPUTS, JOB_BEFORE, 0},
		{JOB_BUILD, JOB_CACHE, 1},
		{JOB_BUILD, JOB_TEARDOWN, 1},
		{JOB_BUILD, JOB_RUN, 0},
		{JOB_CACHE, JOB_PREPARE, 1},
		{JOB_PREPARE, JOB_AWAIT_TRIAL, 1},
		{JOB_PREPARE, JOB_RUN, 1},
		{JOB_AWAIT_TRIAL, JOB_RUN, 1},
		{JOB_RUN, JOB_CHECK, 0},
		{JOB_ENDING, JOB_CHECK, 1},
		{JOB_CHECK, JOB_CACHE, 1},
		{JOB_CHECK, JOB_TEARDOWN, 1},
		{JOB_TEARDOWN, JOB_BUILD, 1},
		{JOB_TEARDOWN, JOB_PREPARE, 0},
		{JOB_CLEAR, JOB_AFTER, 1},
		{JOB_AFTER, JOB_ENDED, 1},
		{JOB_AFTER, JOB_BUILD, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (job_phase_may_follow(cases[i].from, cases[i].to) != cases[i].legal)
			fail_msg("%s -> %s", job_phase_name(cases[i].from),
				job_phase_name(cases[i].to));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_all_phases_are_used),
		cmocka_unit_test(test_every_phase_can_end),
		cmocka_unit_test(test_safety),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
