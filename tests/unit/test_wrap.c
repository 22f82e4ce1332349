/* base: lines for terminals. */
#include "tests/unit/test.h"

#include "common/base/wrap.h"

static const struct {
	const char *name, *text;
	unsigned width;
	const char *wrapped;
} cases[] = {
	{"any width", "one two three four\n", 0, "one two three four\n"},
	{"it fits", "one two\n", 7, "one two\n"},
	{"words", "one two three four\n", 9, "one two\n  three\n  four\n"},
	{"below the text behind a gap", "warning    V17 order unknown\n", 22,
		"warning    V17 order\n           unknown\n"},
	{"colours take no room", "\x1b[33mwarning   \x1b[0m V17 order unknown\n", 22,
		"\x1b[33mwarning   \x1b[0m V17 order\n           unknown\n"},
	{"a gap too far to the right", "a heading of that length  and more of it\n", 30,
		"a heading of that length  and\n  more of it\n"},
	{"dots end lines", "raidz · done · cold and\n", 12, "raidz ·\n  done ·\n  cold and\n"},
	{"what stands between dots stays together", "demo · 3 blocks in random order · cold\n", 29,
		"demo ·\n  3 blocks in random order ·\n  cold\n"},
	{"also behind the last one", "raidz · done · took 12 min\n", 22, "raidz · done ·\n  took 12 min\n"},
	{"unless it fits no line", "raidz · one two three four · cold\n", 14,
		"raidz · one\n  two three\n  four · cold\n"},
	{"behind a label", "warning    V17 order unknown · V23 these builds only\n", 45,
		"warning    V17 order unknown ·\n           V23 these builds only\n"},
	{"two columns of bytes are one", "Zürich Zürich Zürich\n", 13, "Zürich Zürich\n  Zürich\n"},
	{"wide characters are two", "硬盘 硬盘 硬盘 硬盘\n", 10, "硬盘 硬盘\n  硬盘\n  硬盘\n"},
	{"combining ones none", "e\xcc\x81te\xcc\x81 e\xcc\x81te\xcc\x81 x\n", 9,
		"e\xcc\x81te\xcc\x81 e\xcc\x81te\xcc\x81 x\n"},
	{"a word that is wider", "a 0123456789abcdef b\n", 8, "a\n  0123456789abcdef\n  b\n"},
	{"blanks in front", "    V12 is a rule\n", 10, "    V12 is\n  a rule\n"},
	{"several lines", "one two\n\nthree four\n", 7, "one two\n\nthree\n  four\n"},
	{"no newline at the end", "one two", 3, "one\n  two"},
	{"nothing", "", 80, ""},
};

static void lines_are_wrapped(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf out = {0};

		wrap_lines(cases[i].text, cases[i].width, &out);
		if (strcmp(buf_str(&out), cases[i].wrapped))
			fail_msg("%s: '%s'", cases[i].name, buf_str(&out));
		buf_free(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_wrapped),
	};

	return cmocka_run_group_tests_name("wrap", tests, NULL, NULL);
}
