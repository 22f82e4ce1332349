/* json: repaired output, capped strict input, getters. */
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/json.h"
#include "common/base/mem.h"

static void escapes(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"plain", "\"plain\""},
		{"", "\"\""},
		{"a\"b\\c\n", "\"a\\\"b\\\\c\\n\""},
		{"\x01\x1f", "\"\\u0001\\u001F\""},
		{"Zürich", "\"Zürich\""},
		{"a\xff"
		 "b",
			"\"a\xef\xbf\xbd"
			"b\""},
		{"\xc3", "\"\xef\xbf\xbd\""},
		{"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xf0\x9f\x90\x9f", "\"\xf0\x9f\x90\x9f\""},
		{NULL, "null"},
	};
	struct buf out = {0};
	json_t *text;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		buf_reset(&out);
		text = json_text(cases[i].in);
		json_line(text, &out);
		json_decref(text);
		assert_string_equal(out.data, cases[i].out);
	}
	buf_free(&out);
}

static void lines_and_documents(void **state)
{
	json_t *o = json_object();
	struct buf out = {0};

	(void)state;
	json_object_set_new(o, "z", json_number(0.1));
	json_object_set_new(o, "a", json_number(NAN));
	json_object_set_new(o, "i", json_number(-INFINITY));
	json_object_set_new(o, "t", json_text_n("a\0b", 3));
	json_line(o, &out);
	assert_string_equal(
		out.data, "{\"z\":0.10000000000000001,\"a\":null,\"i\":null,\"t\":\"a\\u0000b\"}");
	buf_reset(&out);
	json_object_clear(o);
	json_object_set_new(o, "z", json_number(0.1));
	json_document(o, &out);
	assert_string_equal(out.data, "{\n  \"z\": 0.1\n}\n");
	json_decref(o);
	buf_free(&out);
}

static void wrong_input(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"", "x:1:0: not valid JSON"},
		{"{", "not valid JSON"},
		{"{\"a\":1,\"a\":2}", "duplicate"},
		{"{} {}", "end of file expected"},
		{"{\"a\":\n\n tru}", "x:3:"},
		{"[\"\xff\"]", "unable to decode byte 0xff"},
		{"[\"\\u0000\"]", "not valid JSON"},
		{"[1e999]", "overflow"},
		{"[99999999999999999999]", "too big"},
		{"NaN", "not valid JSON"},
	};
	json_t *v = NULL;
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(
			json_parse("x", cases[i].text, strlen(cases[i].text), 1000, &v, &e), -1);
		assert_int_equal(e.code, ERR_INPUT);
		assert_has(e.text, cases[i].says);
		assert_null(v);
	}
	assert_int_equal(json_parse("x", "[1, 2]", 6, 5, &v, &e), -1);
	assert_has(e.text, "limit is 5");
	assert_null(v);
}

static void depth_is_capped(void **state)
{
	size_t n = 100000;
	char *text = xmalloc(n);
	json_t *v = NULL;
	struct err e;

	(void)state;
	memset(text, '[', n);
	assert_int_equal(json_parse("deep", text, n, n, &v, &e), -1);
	assert_null(v);
	assert_has(e.text, "depth");
	free(text);
}

static void getters_have_defaults(void **state)
{
	static const char text[] = "{\"s\":\"x\",\"i\":7,\"r\":1.5,\"b\":true,\"n\":null}";
	json_t *o;
	struct err e;

	(void)state;
	assert_ok(json_parse("x", text, strlen(text), 100, &o, &e), e);
	assert_string_equal(json_get_str(o, "s", "d"), "x");
	assert_string_equal(json_get_str(o, "i", "d"), "d");
	assert_null(json_get_str(o, "gone", NULL));
	assert_int_equal(json_get_int(o, "i", 1), 7);
	assert_int_equal(json_get_int(o, "r", 1), 1);
	assert_true(json_get_num(o, "i", 0) == 7 && json_get_num(o, "r", 0) == 1.5);
	assert_true(isnan(json_get_num(o, "n", NAN)));
	assert_int_equal(json_get_bool(o, "b", 0), 1);
	assert_int_equal(json_get_bool(o, "i", 0), 0);
	assert_int_equal(json_get_int(NULL, "i", 3), 3);
	json_decref(o);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes),
		cmocka_unit_test(lines_and_documents),
		cmocka_unit_test(wrong_input),
		cmocka_unit_test(depth_is_capped),
		cmocka_unit_test(getters_have_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
