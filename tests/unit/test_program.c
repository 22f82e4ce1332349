/* What is said of a program that failed: the storage's error, wherever the program printed it. */
#include "agent/workload/program.h"
#include "tests/unit/test.h"

static void the_storages_error_is_told(void **state)
{
	static const struct {
		const char *err, *said;
		enum err_code code;
	} rows[] = {
		{"dd: error writing 'fill': No space left on device\n53+0 records in\n52428800 bytes copied\n",
			"/bin/x ended with status 1: dd: error writing 'fill': No space left on device",
			ERR_FULL},
		{"read: Input/output error\nbye\n", "read: Input/output error", ERR_IO},
		{"one\nthe last\n", "/bin/x ended with status 1: the last", ERR_FAILED},
		{"", "/bin/x ended with status 1", ERR_FAILED},
	};
	struct strv argv = {0};
	struct program p = {.argv = &argv};
	struct err e;

	(void)state;
	strv_add(&argv, "/bin/x");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct program_end r = {.exited = 1, .exit_status = 1};

		buf_adds(&r.err, rows[i].err);
		assert_int_equal(program_check(&p, &r, &e), -1);
		assert_has(e.text, rows[i].said);
		assert_int_equal(e.code, rows[i].code);
		program_end_clear(&r);
	}
	strv_free(&argv);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_storages_error_is_told)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
