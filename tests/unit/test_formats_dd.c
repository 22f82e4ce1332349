/* dd among other commands: which time is its, and whether its command did well. */
#include <stdio.h>

#include "tests/unit/test.h"

#include "tests/unit/formats_kit.h"

/* A time is a dd's where nothing else could have taken it. */
static void times_of_other_commands_are_no_dd(void **state)
{
#define GOOD "9437184 bytes (9.4 MB, 9.0 MiB) copied, 0.6 s, 15.7 MB/s\n"
#define COUNTS "9+0 records in\n9+0 records out\n"
	static const struct {
		const char *text;
		size_t records, doubts;
		double last;
	} table[] = {
		{COUNTS GOOD "$ time sync\nreal\t0m3.500s\n", 1, 1, 0.6},
		{COUNTS GOOD "copied\nreal\t0m3.500s\n", 1, 1, 0.6},
		{COUNTS GOOD "\nreal\t0m3.500s\nreal\t0m4.500s\n", 1, 1, 3.5},
		{COUNTS GOOD "$ time dd if=/dev/zero of=/t/a status=none\nreal\t0m3.500s\n", 2, 0, 3.5},
		{COUNTS "copied\nreal\t0m3.500s\n", 1, 0, 3.5},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct format_found f = {0};
		size_t doubts = 0;

		kit_good(table[i].text, "dd", &f);
		for (size_t k = 0; k < f.n_notes; k++)
			doubts += f.notes[k].doubt != 0;
		if (f.n_records != table[i].records || doubts != table[i].doubts)
			fail_msg("%s: %zu records, %zu doubts", table[i].text, f.n_records, doubts);
		kit_near(f.records[f.n_records - 1].seconds, table[i].last, table[i].text);
		format_found_clear(&f);
	}
#undef GOOD
#undef COUNTS
}

/* GNU time's words on its command, which may be more than the dd in it. */
static void a_dd_whose_command_failed_failed(void **state)
{
#define GOOD "9437184 bytes (9.4 MB, 9.0 MiB) copied, 0.6 s, 15.7 MB/s\n"
#define VERBOSE                                                                                    \
	"\tCommand being timed: \"sh -c dd if=/dev/zero of=/t/a && sync\"\n\tUser time (seconds): 0.10\n" \
	"\tSystem time (seconds): 0.10\n\tPercent of CPU this job got: 5%\n"                         \
	"\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:03.50\n\tMaximum resident set size (kbytes): 9\n"
	static const struct {
		const char *text, *error;
	} table[] = {
		{GOOD VERBOSE "\tExit status: 0\n", NULL},
		{GOOD VERBOSE "\tExit status: 3\n", "exit status was 3"},
		{GOOD "Command exited with non-zero status 3\n" VERBOSE "\tExit status: 3\n",
			"non-zero status 3"},
		{GOOD "Command exited with non-zero status 3\n0.10user 0.10system 0:03.50elapsed 5%CPU\n",
			"non-zero status 3"},
		{GOOD "0.10user 0.10system 0:03.50elapsed 5%CPU\n", NULL},
		{"9+0 records in\n9+0 records out\nCommand terminated by signal 9\n"
		 "0.10user 0.10system 0:03.50elapsed 5%CPU\n",
			"terminated by signal 9"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct format_found f = {0};
		char text[1024];

		snprintf(text, sizeof(text), "%s# next\n9+0 records in\n9+0 records out\n%s", table[i].text, GOOD);
		kit_good(text, "dd", &f);
		assert_int_equal(f.n_records, 2);
		assert_null(f.records[1].error);
		for (size_t k = 1; k < f.n_notes; k++)
			assert_true(f.notes[k].first > f.notes[k - 1].last);
		if (table[i].error) {
			assert_non_null(f.records[0].error);
			assert_has(f.records[0].error, table[i].error);
		} else {
			assert_null(f.records[0].error);
			kit_near(f.records[0].seconds, 3.5, table[i].text);
		}
		format_found_clear(&f);
	}
#undef GOOD
#undef VERBOSE
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_of_other_commands_are_no_dd),
		cmocka_unit_test(a_dd_whose_command_failed_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
