/* Texts as they come: marks, encodings, line ends, sizes, formats named and found. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "tests/unit/formats_kit.h"

static void test_encodings(void **state)
{
	static const struct {
		const char *name, *text;
		size_t len;
	} texts[] = {
		{"plain", "56s\n57s\n", 8},
		{"CRLF", "56s\r\n57s\r\n", 10},
		{"no end of line", "56s\n57s", 7},
		{"BOM",
			"\xef\xbb\xbf"
			"56s\n57s\n",
			11},
		{"UTF-16, little end first",
			"\xff\xfe"
			"5\0"
			"6\0"
			"s\0"
			"\n\0"
			"5\0"
			"7\0"
			"s\0"
			"\n\0",
			18},
		{"UTF-16, big end first",
			"\xfe\xff"
			"\0"
			"5\0"
			"6\0"
			"s\0"
			"\n\0"
			"5\0"
			"7\0"
			"s\0"
			"\n",
			18},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct format_found f = {0};
		struct err e = {0};

		if (kit_read_n(texts[i].text, texts[i].len, NULL, &f, &e) != 0)
			fail_msg("%s: %s", texts[i].name, e.text);
		assert_int_equal(f.n_records, 2);
		kit_near(f.records[1].v[0].value, 57, texts[i].name);
		format_found_clear(&f);
	}
}

static void test_utf16_names(void **state)
{
	/* "layout: é😀" and a time */
	static const char text[] = "\xff\xfel\0a\0y\0o\0u\0t\0:\0 \0\xe9\0\x3d\xd8\x00\xde\n\0"
				   "5\0s\0\n";
	struct format_found f = {0};
	struct err e = {0};

	(void)state;
	assert_ok(kit_read_n(text, sizeof(text), NULL, &f, &e), e);
	assert_string_equal(f.records[0].layout, "\303\251\360\237\230\200");
	format_found_clear(&f);
	/* A surrogate alone; half a character. */
	assert_int_equal(kit_read_n("\xff\xfe\x3d\xd8"
				    "5\0",
				 6, NULL, &f, &e),
		-1);
	assert_has(e.text, "x: UTF-16 that is damaged at byte 2");
	assert_int_equal(kit_read_n("\xff\xfe"
				    "5\0s",
				 5, NULL, &f, &e),
		-1);
	assert_has(e.text, "damaged at byte 4");
}

static void test_not_text(void **state)
{
	struct format_found f = {0};
	struct err e = {0};

	(void)state;
	kit_bad("", NULL, "x: it is empty");
	kit_bad(" \r\n\n", NULL, "x: it is empty");
	kit_bad("\xef\xbb\xbf\n", NULL, "x: it is empty");
	assert_int_equal(kit_read_n("56s\n5\0s\n", 8, NULL, &f, &e), -1);
	assert_has(e.text, "x:2: a NUL byte: this is a binary file");
	assert_int_equal(kit_read_n("\x7f"
				    "ELF\1\1\1\0\0",
				 9, NULL, &f, &e),
		-1);
	assert_has(e.text, "x:1: a NUL byte");
	kit_bad("hello\nworld\n", NULL, "x: not a result that is known here");
	kit_bad("hello\nworld\n", NULL,
		"arraymark, fio, elbencho, iozone, bonnie++, filebench, dd, time");
	kit_bad("hello\nworld\n", NULL, "'layout: NAME' and below it a time a line, such as 10.2s");
	kit_bad("hello\nworld\n", NULL, "arraymark-results(5)");
}

/* A line that does not end is refused by its length; beside JSON, which may be one line. */
static void test_long_lines(void **state)
{
	struct buf b = {0};
	struct format_found f = {0};
	struct err e = {0};

	(void)state;
	buf_adds(&b, "56s\n");
	while (b.len < FORMAT_LINE_MAX + 100)
		buf_adds(&b, "57s ");
	assert_int_equal(kit_read_n(b.data, b.len, NULL, &f, &e), -1);
	assert_has(e.text, "x:2: a line of");
	assert_has(e.text, "the limit is 1048576");
	buf_reset(&b);
	buf_adds(&b, "{\"fio version\" : \"fio-3.33\", \"pad\" : \"");
	while (b.len < FORMAT_LINE_MAX + 100)
		buf_adds(&b, "0123456789abcdef");
	buf_adds(&b, "\", \"jobs\" : [{\"jobname\" : \"g\", \"read\" : {\"io_bytes\" : 4096, "
		     "\"io_kbytes\" : 4, \"runtime\" : 10}}]}");
	assert_ok(kit_read_n(b.data, b.len, NULL, &f, &e), e);
	assert_int_equal(f.n_records, 1);
	format_found_clear(&f);
	buf_free(&b);
}

/* `n` lines of that text, and one of the other. */
static void add_lines(struct buf *b, size_t n, const char *line, const char *last)
{
	buf_reset(b);
	while (n--)
		buf_adds(b, line);
	buf_adds(b, last);
}

/* The line too many ends the reading: what stands behind it is not looked at. */
static void test_too_many_results(void **state)
{
	static const struct {
		const char *format, *line;
		size_t n;
		const char *last, *expected;
	} table[] = {
		{"list", "5.25\n", FORMAT_RECORDS_MAX, "6\nno time\n",
			"x:200001: the text has more than 200000 results"},
		{"list", "1 2\n", FORMAT_RECORDS_MAX / 2, "\n6 7 8\nno time\n",
			"x:100002: the text has more than 200000 results"},
		{"summary", "n=3 mean=5s min=4s max=6s\n", FORMAT_RECORDS_MAX,
			"n=3 mean=5s min=4s max=6s\nn=no\n",
			"x:200001: the text has more than 200000 results"},
		{"list", "layout: a\n", FORMAT_NOTES_MAX, "layout: b\n5s\n",
			"x:1000001: the text has more than 1000000 lines that say something"},
	};
	struct format_found f = {0};
	struct buf b = {0};
	struct err e = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		add_lines(&b, table[i].n, table[i].line, table[i].last);
		kit_bad(b.data, table[i].format, table[i].expected);
	}
	add_lines(&b, FORMAT_RECORDS_MAX - 1, "5.25\n", "7\n");
	assert_ok(kit_read(b.data, "list", &f, &e), e);
	assert_int_equal(f.n_records, FORMAT_RECORDS_MAX);
	kit_near(f.records[f.n_records - 1].v[0].value, 7, "the last one");
	format_found_clear(&f);
	buf_free(&b);
}

static void test_named_format(void **state)
{
	struct format_found f = {0};
	struct err e = {0};

	(void)state;
	assert_null(format_find("nonsense"));
	for (size_t i = 0; format_table[i]; i++)
		assert_ptr_equal(format_find(format_table[i]->name), format_table[i]);
	/* A log that holds both: dd by content, time when it is asked for. */
	const char *both = "1000 bytes (1.0 kB) copied, 1.5 s, 0.7 kB/s\nreal\t0m2.000s\n";
	kit_good(both, "dd", &f);
	assert_int_equal(f.records[0].bytes, 1000);
	format_found_clear(&f);
	assert_ok(kit_read(both, "time", &f, &e), e);
	assert_int_equal(f.records[0].bytes, 0);
	kit_near(f.records[0].v[0].value, 2, "elapsed");
	format_found_clear(&f);
	kit_bad("{\"type\":\"run\",\"run\":1}\n", NULL, "an export of arraymark is not read here");
}

/* What a file names cannot drive a terminal. */
static void test_names_are_clean(void **state)
{
	struct format_found f = {0};

	(void)state;
	kit_good("layout: a\033[31mb\xff"
		 "c\n56s\n",
		"list", &f);
	assert_string_equal(f.records[0].layout, "a\\x1b[31mb\\xffc");
	format_found_clear(&f);
}

static void test_load(void **state)
{
	char path[] = "/tmp/arraymark-load-XXXXXX";
	int fd = mkstemp(path);
	struct buf b = {0};
	struct err e = {0};

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "56s\n", 4), 4);
	assert_ok(format_load(path, &b, &e), e);
	assert_string_equal(b.data, "56s\n");
	buf_reset(&b);
	/* Sparse, and longer than the limit: refused by its size. */
	assert_int_equal(ftruncate(fd, (off_t)FORMAT_MAX_BYTES + 1), 0);
	assert_int_equal(format_load(path, &b, &e), -1);
	assert_has(e.text, "268435456");
	close(fd);
	unlink(path);
	assert_int_equal(format_load(path, &b, &e), -1);
	buf_free(&b);
}

/* Each format, and each key of the lines that name what is measured, is in the manual; and what the
 * manual calls the shortest file can be read. */
static void test_manual(void **state)
{
	static const char *const keys[] = {
		"run", "host", "layout", "workload", "op", "cache", "data", "bytes", "metric"};
	struct format_found f = {0};
	struct buf text = {0};
	char item[64], *from, *end;
	struct err e = {0};

	(void)state;
	assert_ok(fs_read_file("deploy/man/arraymark-results.5", 1 << 20, &text, &e), e);
	for (size_t i = 0; format_table[i]; i++) {
		snprintf(item, sizeof(item), "\n.It Cm %s\n", format_table[i]->name);
		assert_has(text.data, item);
	}
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		snprintf(item, sizeof(item), "\n.It Cm %s\n", keys[i]);
		assert_has(text.data, item);
	}
	for (from = text.data; (from = strstr(from, ".Bd -literal -offset indent\n")); from = end) {
		from = strchr(from, '\n') + 1;
		end = strstr(from, ".Ed\n");
		assert_non_null(end);
		if (*from != '$' && kit_read_n(from, (size_t)(end - from), NULL, &f, &e))
			fail_msg("%s: %.*s", e.text, (int)(end - from), from);
		format_found_clear(&f);
	}
	buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_utf16_names),
		cmocka_unit_test(test_not_text),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_too_many_results),
		cmocka_unit_test(test_named_format),
		cmocka_unit_test(test_names_are_clean),
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_manual),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
