/* err: codes from errno, one clean line whatever was formatted, prefixes, cutting. */
#include "tests/unit/test.h"

#include <errno.h>

#include "common/base/err.h"

static void texts_are_clean(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"plain", "plain"},
		{"two\nlines\tand\x7f", "two lines and\\x7f"},
		{"Zürich €", "Zürich €"},
		{"bad \xff\xc3", "bad \\xff\\xc3"},
		{"overlong \xc0\xaf", "overlong \\xc0\\xaf"},
		{"surrogate \xed\xa0\x80", "surrogate \\xed\\xa0\\x80"},
		{"C1 \xc2\x9b[31m", "C1 \\xc2\\x9b[31m"},
		{"turned \xe2\x80\xae" "cba\xe2\x81\xa6.", "turned \\u{202e}cba\\u{2066}."},
		{"a mark \xe2\x80\x8f.", "a mark \\u{200f}."},
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(err_set(&e, ERR_INPUT, "%s", cases[i].in), -1);
		assert_string_equal(e.text, cases[i].out);
		assert_int_equal(e.code, ERR_INPUT);
	}
}

static void codes_follow_errno(void **state)
{
	static const struct {
		int number;
		enum err_code code;
	} cases[] = {
		{ENOSPC, ERR_FULL},
		{EDQUOT, ERR_FULL},
		{ENOENT, ERR_NOTFOUND},
		{EACCES, ERR_DENIED},
		{EPERM, ERR_DENIED},
		{EBUSY, ERR_BUSY},
		{EIO, ERR_IO},
		{EINVAL, ERR_IO},
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		errno = cases[i].number;
		assert_int_equal(err_sys(&e, "cannot open %s", "/x"), -1);
		assert_int_equal(e.code, cases[i].code);
		assert_has(e.text, "cannot open /x: ");
	}
	errno = ENOENT;
	(void)err_sys(&e, "cannot open /x");
	assert_string_equal(e.text, "cannot open /x: No such file or directory");
	errno = ENOSPC;
	assert_int_equal(err_io(&e, "writing '%s' at byte %d", "f", 5), -1);
	assert_string_equal(e.text, "writing 'f' at byte 5: No space left on device (ENOSPC)");
	assert_int_equal(e.code, ERR_FULL);
	errno = 4095; /* of no name */
	(void)err_io(&e, "writing");
	assert_string_equal(e.text, "writing: Unknown error 4095");
}

static void prefix_keeps_the_code(void **state)
{
	struct err e, copy;

	(void)state;
	(void)err_set(&e, ERR_BUSY, "disk is mounted");
	assert_int_equal(err_prefix(&e, "host %s", "knew"), -1);
	assert_string_equal(e.text, "host knew: disk is mounted");
	assert_int_equal(e.code, ERR_BUSY);
	(void)err_prefix(&e, "%s", e.text);
	assert_string_equal(e.text, "host knew: disk is mounted: host knew: disk is mounted");
	err_copy(&copy, &e);
	assert_string_equal(copy.text, e.text);
	err_clear(&e);
	assert_int_equal(e.code, ERR_NONE);
	assert_string_equal(e.text, "");
}

static void long_texts_are_cut_at_a_character(void **state)
{
	char text[3 * ERR_TEXT_MAX];
	struct err e;
	size_t len;

	(void)state;
	for (size_t i = 0; i + 3 < sizeof(text); i += 3)
		memcpy(text + i, "€", 4);
	(void)err_set(&e, ERR_INPUT, "%s", text);
	len = strlen(e.text);
	assert_true(len < ERR_TEXT_MAX && len > ERR_TEXT_MAX - 4);
	assert_int_equal(len % 3, 0);
}

static void every_code_has_a_name(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ERR_CODE_COUNT; i++) {
		assert_non_null(err_code_name((enum err_code)i));
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(
				err_code_name((enum err_code)i), err_code_name((enum err_code)k));
		assert_int_equal(err_code_checked(i), i);
	}
	assert_string_equal(err_code_name(ERR_DENIED), "denied");
	assert_int_equal(err_code_checked(ERR_CODE_COUNT), ERR_FAILED);
	assert_int_equal(err_code_checked(UINT32_MAX), ERR_FAILED);
	assert_string_equal(err_code_name((enum err_code)9999), "failed");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_clean),
		cmocka_unit_test(codes_follow_errno),
		cmocka_unit_test(prefix_keeps_the_code),
		cmocka_unit_test(long_texts_are_cut_at_a_character),
		cmocka_unit_test(every_code_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
