/* base: a document that is written as it is made has the same bytes as its tree. */
#include "tests/unit/test.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "common/base/json_out.h"
#include "common/base/mem.h"

static const double reals[] = {0, -0.0, 1, -1, 0.1, -2.5, 1.0 / 3, 1e15, 999999999999999, 123456789.125, 1e16,
	1e-5, 1e-4, 5e-324, DBL_MAX, -1e300, 1e21, 299792458, 2.0 / 3e9, 1e14 + 0.5};
static const char *const texts[] = {"", "plain", "two words", "a \"quoted\" one", "back\\slash",
	"line\nbreak",
	"caf\xc3\xa9", "no UTF-8: \xff", "\x7f", "\xe2\x80\xaegnp\xc2\x9b", "tab\there", NULL};

static json_t *tree(void)
{
	json_t *doc = json_object(), *list = json_array(), *deep = json_object(), *in = json_array();

	for (size_t i = 0; i < ARRAY_LEN(reals); i++)
		json_array_append_new(list, json_number(reals[i]));
	json_array_append_new(list, json_number(NAN));
	json_array_append_new(list, json_number(INFINITY));
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		json_array_append_new(list, json_text(texts[i]));
	json_object_set_new(doc, "list", list);
	json_array_append_new(in, json_integer(INT64_MAX));
	json_array_append_new(in, json_integer(INT64_MIN));
	json_array_append_new(in, json_integer(0));
	json_array_append_new(in, json_object());
	json_object_set_new(deep, "in", in);
	json_object_set_new(deep, "empty", json_array());
	json_object_set_new(deep, "yes", json_true());
	json_object_set_new(deep, "no", json_false());
	json_object_set_new(deep, "nothing", json_null());
	json_object_set_new(doc, "deep", deep);
	return doc;
}

static void write_all(struct json_out *w, json_t *given)
{
	json_out_object(w, NULL);
	json_out_list(w, "list");
	for (size_t i = 0; i < ARRAY_LEN(reals); i++) {
		json_out_real(w, NULL, reals[i]);
		json_out_drain(w);
	}
	json_out_real(w, NULL, NAN);
	json_out_real(w, NULL, INFINITY);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		json_out_text(w, NULL, texts[i]);
	json_out_end(w);
	if (given) {
		json_out_value(w, "deep", given);
	} else {
		json_out_object(w, "deep");
		json_out_list(w, "in");
		json_out_int(w, NULL, INT64_MAX);
		json_out_int(w, NULL, INT64_MIN);
		json_out_int(w, NULL, 0);
		json_out_object(w, NULL);
		json_out_end(w);
		json_out_end(w);
		json_out_list(w, "empty");
		json_out_end(w);
		json_out_bool(w, "yes", 1);
		json_out_bool(w, "no", 0);
		json_out_null(w, "nothing");
		json_out_end(w);
	}
	json_out_end(w);
}

static void the_bytes_are_those_of_the_tree(void **state)
{
	(void)state;
	for (int whole = 0; whole < 2; whole++) {
		struct buf expected = {0}, out = {0};
		struct json_out w = {.out = &out};
		json_t *doc = tree();
		struct err e;

		json_document(doc, &expected);
		write_all(&w, whole ? json_incref(json_object_get(doc, "deep")) : NULL);
		assert_string_equal(out.data, expected.data);
		assert_int_equal(json_out_status(&w, &e), 0);
		json_decref(doc);
		buf_free(&expected);
		buf_free(&out);
	}
}

static void what_was_written_is_written_again(void **state)
{
	struct buf out = {0}, again = {0};
	struct json_out w = {.out = &out};
	size_t from;

	(void)state;
	json_out_list(&w, NULL);
	json_out_object(&w, NULL);
	json_out_int(&w, "first", 1);
	from = out.len;
	json_out_text(&w, "more", "x");
	buf_add(&again, out.data + from, out.len - from);
	json_out_end(&w);
	json_out_object(&w, NULL);
	json_out_int(&w, "first", 2);
	json_out_again(&w, again.data, again.len);
	json_out_end(&w);
	json_out_end(&w);
	assert_string_equal(out.data, "[\n  {\n    \"first\": 1,\n    \"more\": \"x\"\n  },\n"
				      "  {\n    \"first\": 2,\n    \"more\": \"x\"\n  }\n]\n");
	buf_free(&out);
	buf_free(&again);
}

struct drained {
	struct buf all;
	unsigned times, fail_at;
	size_t most;
};

static int take(void *arg, struct buf *out, struct err *e)
{
	struct drained *d = arg;

	if (++d->times == d->fail_at)
		return err_set(e, ERR_FULL, "the disk is full");
	d->most = out->len > d->most ? out->len : d->most;
	buf_add(&d->all, out->data, out->len);
	buf_reset(out);
	return 0;
}

static void write_long(struct json_out *w)
{
	json_out_list(w, NULL);
	for (int i = 0; i < 200000; i++) {
		json_out_int(w, NULL, i);
		json_out_drain(w);
	}
	json_out_end(w);
}

static void a_long_one_takes_little_memory(void **state)
{
	struct buf out = {0}, whole = {0};
	struct drained d = {.times = 0};
	struct json_out w = {.out = &out, .drain = take, .arg = &d}, plain = {.out = &whole};
	struct err e;

	(void)state;
	write_long(&w);
	write_long(&plain);
	assert_int_equal(json_out_status(&w, &e), 0);
	assert_true(d.times > 2);
	assert_true(d.most < 300 * 1024);
	buf_add(&d.all, out.data, out.len);
	assert_string_equal(d.all.data, whole.data);
	buf_free(&d.all);
	buf_free(&out);
	buf_free(&whole);
}

static void a_failed_drain_is_told_once(void **state)
{
	struct buf out = {0};
	struct drained d = {.fail_at = 2};
	struct json_out w = {.out = &out, .drain = take, .arg = &d};
	struct err e;

	(void)state;
	write_long(&w);
	assert_int_equal(json_out_status(&w, &e), -1);
	assert_int_equal(e.code, ERR_FULL);
	assert_string_equal(e.text, "the disk is full");
	assert_int_equal(d.times, 2);
	assert_true(out.len < 600 * 1024);
	buf_free(&d.all);
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bytes_are_those_of_the_tree),
		cmocka_unit_test(what_was_written_is_written_again),
		cmocka_unit_test(a_long_one_takes_little_memory),
		cmocka_unit_test(a_failed_drain_is_told_once),
	};

	return cmocka_run_group_tests_name("json_out", tests, NULL, NULL);
}
