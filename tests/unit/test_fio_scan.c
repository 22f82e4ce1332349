/* formats: long documents of fio in pieces; what is left out of them, and where they break. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/formats/fio_scan.h"
#include "common/formats/formats.h"
#include "tests/unit/formats_kit.h"

static void documents_are_split(void **state)
{
	static const char text[] = "{ \"a\" : \"}]\\\"{\",\n\"jobs\" : [ {\"x\":[1,2]} ,\n\n"
				   "\"a,]\", 5],\n\"b\" : {\"jobs\" : [7]} } and more";
	struct fio_pieces p = {0};
	size_t line;
	const char *what;

	(void)state;
	assert_int_equal(fio_split(text, strlen(text), &p, &line, &what), 0);
	assert_string_equal(p.rest.data,
		"{ \"a\" : \"}]\\\"{\",\n\"jobs\" : [\n\n],\n\"b\" : {\"jobs\" : [7]} }");
	assert_int_equal(p.used, strlen(text) - strlen(" and more"));
	assert_true(p.jobs.is_there);
	assert_false(p.clients.is_there);
	assert_int_equal(p.jobs.n, 3);
	assert_memory_equal(text + p.jobs.v[0].from, "{\"x\":[1,2]}", 11);
	assert_int_equal(p.jobs.v[0].line, 1);
	assert_memory_equal(text + p.jobs.v[1].from, "\"a,]\"", 5);
	assert_int_equal(p.jobs.v[1].line, 3);
	assert_int_equal(p.jobs.v[2].to - p.jobs.v[2].from, 1);
	fio_pieces_clear(&p);
}

static void broken_documents_are_named(void **state)
{
	static const struct {
		const char *text, *what;
		size_t line;
	} cases[] = {
		{"{", "it is cut off", 0},
		{"{\"a\"", "it is cut off", 0},
		{"{\"a", "it is cut off", 0},
		{"{\"a\":\n", "it is cut off", 1},
		{"{\"a\":1", "it is cut off", 0},
		{"{\"a\":{\"b\"\n:[1,{", "it is cut off", 1},
		{"{\"jobs\":[", "it is cut off", 0},
		{"{\"jobs\":[{}", "it is cut off", 0},
		{"{\"jobs\":[{},", "it is cut off", 0},
		{"{\"jobs\":[\n{}{}]}", "',' or ']' is expected", 1},
		{"{\"jobs\":[,{}]}", "a value is expected", 0},
		{"{\"jobs\":[{},]}", "a value is expected", 0},
		{"{\"jobs\":[{}]\n\n\"a\":1}", "',' or '}' is expected", 2},
		{"{1:2}", "a name in quotes is expected", 0},
		{"{\"a\" 1}", "':' is expected", 0},
		{"{\"a\":1,}", "a name in quotes is expected", 0},
		{"{\"a\\\"", "it is cut off", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fio_pieces p = {0};
		size_t line = 99;
		const char *what = NULL;

		if (!fio_split(cases[i].text, strlen(cases[i].text), &p, &line, &what) ||
			strcmp(what, cases[i].what) || line != cases[i].line)
			fail_msg("%s: '%s' in line %zu", cases[i].text, what ? what : "read", line);
		fio_pieces_clear(&p);
	}
}

static void texts_are_made_lean(void **state)
{
	static const struct {
		const char *text, *lean;
		size_t bins;
	} cases[] = {
		{"{ \"a b\" :\t[ 1 ,\r\n 2 ] }", "{\"a b\":[1,\n2]}", 0},
		{"{\"bins\" : {\"1\" : 2,\n\"30\":4}}", "{\"bins\":0\n}", 1},
		{"{\"bins\":{}}", "{\"bins\":0}", 1},
		{"[{\"bins\":{\"1\":1}},{\"bins\":{\"1\":0}}]", "[{\"bins\":0},{\"bins\":1}]", 2},
		{"{\"bins\" : 0}", "{\"no bins\":0}", 0},
		{"[\"bins\", 1]", "[\"bins\",1]", 0},
		{"{\"a\" : \"bins\"}", "{\"a\":\"bins\"}", 0},
		/* Whatever is not quite what fio prints is left to the JSON reader. */
		{"{\"bins\":{\"2\":1,\"1\":1}}", "{\"bins\":{\"2\":1,\"1\":1}}", 0},
		{"{\"bins\":{\"1\":1,\"1\":1}}", "{\"bins\":{\"1\":1,\"1\":1}}", 0},
		{"{\"bins\":{\"1\":1.5}}", "{\"bins\":{\"1\":1.5}}", 0},
		{"{\"bins\":{\"1\":1e3}}", "{\"bins\":{\"1\":1e3}}", 0},
		{"{\"bins\":{\"1\":-1}}", "{\"bins\":{\"1\":-1}}", 0},
		{"{\"bins\":{\"1\":01}}", "{\"bins\":{\"1\":01}}", 0},
		{"{\"bins\":{\"x\":1}}", "{\"bins\":{\"x\":1}}", 0},
		{"{\"bins\":{\"1\":1,}}", "{\"bins\":{\"1\":1,}}", 0},
		{"{\"bins\":{\"1\":1234567890123456}}", "{\"bins\":{\"1\":1234567890123456}}", 0},
		{"{\"bins\":{\"1\":1", "{\"bins\":{\"1\":1", 0},
		{"{\"bins\":{", "{\"bins\":{", 0},
		{"\"bins\"", "\"bins\"", 0},
		{"\"cut", "\"cut", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fio_bins bins = {0};
		struct buf out = {0};

		fio_lean(cases[i].text, strlen(cases[i].text), &out, &bins);
		assert_string_equal(buf_str(&out), cases[i].lean);
		assert_int_equal(bins.n, cases[i].bins);
		fio_bins_clear(&bins);
		buf_free(&out);
	}
}

static void bins_are_read_beside_the_json(void **state)
{
	static const char text[] = "{\"bins\" : { \"5\" : 2,\n \"100000\" : 3 }}";
	struct fio_bins bins = {0};
	struct buf out = {0};

	(void)state;
	fio_lean(text, strlen(text), &out, &bins);
	assert_int_equal(bins.v[0]->count, 5);
	assert_int_equal(bins.v[0]->sum, 300010);
	assert_int_equal(bins.v[0]->bucket[hist_index(100000)], 3);
	fio_bins_clear(&bins);
	buf_free(&out);
}

#define JOB(name, bins)                                                                            \
	"{\"jobname\" : \"" name "\", \"read\" : {\"io_bytes\" : 4096, \"io_kbytes\" : 4, "        \
	"\"runtime\" : 10, \"total_ios\" : 3, \"clat_ns\" : {\"min\" : 4, \"max\" : 9000, "        \
	"\"mean\" : 5, \"N\" : 3, \"bins\" : " bins "}}}"

/* The same bins in two spellings, of which one goes through the JSON reader. */
static void both_ways_give_the_same(void **state)
{
	static const char *const texts[] = {
		"{\"fio version\" : \"x\", \"jobs\" : [" JOB("a", "{\"5\" : 2, \"9024\" : 1}") "]}",
		"{\"fio version\" : \"x\", \"jobs\" : [" JOB("a", "{\"9024\" : 1, \"5\" : 2}") "]}"};
	struct format_found f[2] = {0};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		kit_good(texts[i], "fio", &f[i]);
		assert_int_equal(f[i].n_records, 1);
		assert_true(f[i].records[0].hist_len > 0);
	}
	assert_int_equal(f[0].records[0].hist_len, f[1].records[0].hist_len);
	assert_memory_equal(
		f[0].records[0].hist, f[1].records[0].hist, f[0].records[0].hist_len);
	format_found_clear(&f[0]);
	format_found_clear(&f[1]);
	/* A number instead of bins is no histogram of somebody else's. */
	kit_good("{\"fio version\" : \"x\", \"jobs\" : [" JOB("a", "0") "]}", "fio", &f[0]);
	assert_null(f[0].records[0].hist);
	format_found_clear(&f[0]);
}

static void places_are_told(void **state)
{
	struct format_found f = {0};

	(void)state;
	kit_bad("{\"fio version\" : \"x\",\n\"jobs\" : [\n" JOB("a", "{}") ",\n{\"read\" : {\n} oops}\n]}",
		NULL, "x:5: not whole JSON");
	kit_bad("{\"fio version\" : \"x\",\n\"jobs\" : [\n" JOB("a", "{\"5\" : 2,\n\"8\" : 1}") ",\n"
		"{\"read\" : {} oops}\n]}",
		NULL, "x:5: not whole JSON");
	kit_bad("{\"fio version\" : \"x\",\n\"jobs\" : [\n" JOB("a", "{}") "\n],\n\"b\" : oops}", NULL,
		"x:5: not whole JSON");
	kit_bad("{\"fio version\" : \"x\", \"jobs\" : [" JOB("a", "{\"5\" : 1.5}") "]}", NULL,
		"bins that are no histogram");
	kit_bad("{\"fio version\" : \"x\", \"jobs\" : [" JOB("a", "{\"5\" : 80000000000000000}") "]}",
		NULL, "bins that are no histogram");
	kit_bad("{\"fio version\" : \"x\", \"jobs\" : [[]]}", NULL, "a fio job that is no object");
	/* The last of two lists counts, and what is no list is none. */
	kit_good("{\"fio version\" : \"x\", \"jobs\" : [" JOB("a", "{}") "], \"jobs\" : [" JOB("b", "{}")
			 "]}",
		"fio", &f);
	assert_int_equal(f.n_records, 1);
	assert_string_equal(f.records[0].workload, "b read");
	format_found_clear(&f);
	kit_good("{\"fio version\" : \"x\", \"jobs\" : 5, \"client_stats\" : [" JOB("c", "{}") "]}",
		"fio", &f);
	assert_string_equal(f.records[0].workload, "c read");
	format_found_clear(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(documents_are_split),
		cmocka_unit_test(broken_documents_are_named),
		cmocka_unit_test(texts_are_made_lean),
		cmocka_unit_test(bins_are_read_beside_the_json),
		cmocka_unit_test(both_ways_give_the_same),
		cmocka_unit_test(places_are_told),
	};

	return cmocka_run_group_tests_name("fio_scan", tests, NULL, NULL);
}
