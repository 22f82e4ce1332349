/* json: repaired output, capped strict input, getters. */
#include "tests/unit/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_out.h"
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
		{"\x7f", "\"\\u007F\""},
		{"\xc2\x80\xc2\x9f\xc2\xa0", "\"\\u0080\\u009F\xc2\xa0\""},
		{"a\xd8\x9c" "b", "\"a\\u061Cb\""},
		{"\xe2\x80\x8b\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\x90", "\"\\u200B\\u200E\\u200F\xe2\x80\x90\""},
		{"\xe2\x80\xa8\xe2\x80\xaa\xe2\x80\xae", "\"\\u2028\\u202A\\u202E\""},
		{"\xe2\x81\xa6\xe2\x81\xa9", "\"\\u2066\\u2069\""},
		{"\xef\xbb\xbf", "\"\\uFEFF\""},
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

static void encode(unsigned c, char out[4])
{
	size_t n = 0;

	if (c >= 0x800)
		out[n++] = (char)(0xe0 | c >> 12);
	if (c >= 0x80)
		out[n++] = (char)(c >= 0x800 ? 0x80 | (c >> 6 & 0x3f) : 0xc0 | c >> 6);
	out[n++] = (char)(c >= 0x80 ? 0x80 | (c & 0x3f) : c);
	out[n] = '\0';
}

/* Every writer: the bytes have no such character, and a reader gets the value that went in. */
static void what_is_not_seen_is_escaped(void **state)
{
	static const unsigned unseen[] = {0x7f, 0x80, 0x85, 0x9b, 0x9f, 0x61c, 0x200b, 0x200d, 0x200e, 0x200f,
		0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2060, 0x2066, 0x2067, 0x2068, 0x2069,
		0xfeff};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(unseen); i++) {
		char text[4], key[8], escape[8];
		struct buf out = {0}, streamed = {0};
		struct json_out w = {.out = &streamed};
		json_t *o = json_object(), *back;
		struct err e;

		encode(unseen[i], text);
		snprintf(key, sizeof(key), "k%s", text);
		snprintf(escape, sizeof(escape), "\\u%04X", unseen[i]);
		json_object_set_new(o, key, json_text(text));
		json_line(o, &out);
		assert_null(strstr(out.data, text));
		assert_has(out.data, escape);
		assert_ok(json_parse("x", out.data, out.len, 1000, &back, &e), e);
		assert_true(json_equal(o, back));
		json_decref(back);
		buf_reset(&out);
		json_document(o, &out);
		json_out_value(&w, NULL, o);
		assert_null(strstr(out.data, text));
		assert_null(strstr(streamed.data, text));
		assert_has(out.data, buf_str(&streamed));
		buf_free(&out);
		buf_free(&streamed);
	}
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
		cmocka_unit_test(what_is_not_seen_is_escaped),
		cmocka_unit_test(lines_and_documents),
		cmocka_unit_test(wrong_input),
		cmocka_unit_test(depth_is_capped),
		cmocka_unit_test(getters_have_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
